"""`odradek proxy` as a user runs it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.emulator.control.traffic.files import load

from tests.requests.produce import batch, produce
from tests.support.connection import Connection

PROXY = [sys.executable, "-m", "odradek.compat.cli", "proxy"]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["jsonl", "pcapng"])
def test_it_stands_in_front_of_a_kafka_until_it_is_stopped(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"field.{ending}"
    with Emulator(topics={"t": 1}) as kafka:
        process = subprocess.Popen(
            [*PROXY, "--to", kafka.bootstrap_servers, "--port", "0", "--journal", path],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        line = process.stdout.readline().split()
        assert line[:4] == ["odradek", "proxy", "ready", "at"]
        with Connection(line[4].rstrip(",")) as client:
            produce(client, batch(b"x"), topic="t")
            produce(client, batch(b"x"), topic="none")
        process.send_signal(signal.SIGTERM)
        rest, errors = process.communicate(timeout=60)
        assert kafka.topic("t").values() == [b"x"]
    assert (process.returncode, rest) == (0, "")
    assert "by hand was refused Produce (none-0): UNKNOWN_TOPIC_OR_PARTITION" in errors
    assert [each.api for each in load(path).exchanges] == ["Produce", "Produce"]


@pytest.mark.parametrize(
    ("options", "status", "text"),
    [
        (["--to", "127.0.0.1:1"], 1, "no broker at 127.0.0.1:1"),
        (["--to", "nowhere:x"], 2, "not an address"),
        ([], 2, "--to"),
        (["--to", "127.0.0.1:1", "--journal", "j.txt"], 2, ".jsonl or .pcapng"),
        (["--to", "127.0.0.1:1", "--journal", "/none/j.jsonl"], 1, "/none/j.jsonl: No such file"),
    ],
)
def test_what_is_wrong_is_said(
    options: list[str], status: int, text: str, command: Callable[..., Any]
) -> None:
    ended = command("proxy", *options)
    assert (ended.status, text in ended.errors) == (status, True), ended.errors
