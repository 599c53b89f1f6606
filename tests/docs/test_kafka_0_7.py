"""docs/kafka-0.7.md: its example runs, with a client of a few lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.sessions import run as run_session

TEXT = (Path(__file__).parents[2] / "docs/kafka-0.7.md").read_text()
[EXAMPLE] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
CLIENT = """
import socket
from odradek.wire.legacy.kafka_0_7 import build_old_message
from odradek.wire.legacy.requests_0_7 import Kind, OldOffsets, OldProduce, encode_request

class my_old_client:
    def __init__(self, address, connect):
        host, port = address.split(":")
        self.socket = socket.create_connection((host, int(port)))

    def produce(self, topic, payload):
        produce = [OldProduce(topic, 0, build_old_message(payload))]
        self.socket.sendall(encode_request(Kind.PRODUCE, produce))
        self.socket.sendall(encode_request(Kind.OFFSETS, OldOffsets(topic, 0, -1, 1)))
        self.socket.recv(100)
        self.socket.close()
"""


def test_the_example_passes(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(CLIENT + EXAMPLE)
    run_session(pytester).assert_outcomes(passed=1)
