"""What is not sent: requests after which a broker may well be mute for everybody."""

from __future__ import annotations

import pytest
from odradek.wire import Request
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from odradek.wire.headers import RequestHeader, write_request_header

from tests.fuzz.spared import is_spared
from tests.requests.configs import change_request

_TOPIC, _BROKER = 2, 4


def frame(request: Request, version: int) -> bytes:
    header = RequestHeader(request.api_key, version, 1, "fuzz")
    return write_request_header(header) + request.encode(version)


def alter(kind: int, name: str) -> IncrementalAlterConfigsRequest:
    return change_request((kind, "", [(name, 0, "0")]))


@pytest.mark.parametrize(
    ("kind", "name", "spared"),
    [
        (_BROKER, "message.max.bytes", True),
        (_BROKER, "max.connections", True),
        (_BROKER, "log.retention.ms", False),
        (_TOPIC, "max.message.bytes", False),
    ],
)
def test_configs_of_the_broker(kind: int, name: str, spared: bool) -> None:
    assert is_spared(frame(alter(kind, name), 1)) is spared
