"""`odradek journal` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.cli.main import main
from odradek.emulator.control.traffic.files import load
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.headers import RequestHeader, write_request_header

from tests.requests.produce import batch, produce
from tests.support.connection import Connection


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal of four requests: two of them produce, the second to a topic that is not there; the
    last is of no API."""
    with Emulator(topics={"orders": 1}, journal=True) as kafka:
        with Connection(kafka.bootstrap_servers) as client:
            client.ask(MetadataRequest(topics=None), 12)
            produce(client, batch(b"espresso"), topic="orders")
            produce(client, batch(b"x"), topic="none")
            header = write_request_header(RequestHeader(99, 0, 1, "stranger"))
            client._socket.sendall(len(header).to_bytes(4, "big") + header)
            client._stream.read()
        return kafka.journal.save(tmp_path_factory.mktemp("kept") / "journal.jsonl")


def said(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> list[str]:
    assert main(["journal", *map(str, arguments)]) == status
    out, errors = capsys.readouterr()
    return (errors if status else out).splitlines()


def test_a_line_for_each_request(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, kept)
    assert [line.split()[2] for line in lines] == ["Metadata", "Produce", "Produce", "API"]
    assert " v9 of none from by hand (127.0.0.1:" in lines[2]
    assert lines[2].endswith("bytes, UNKNOWN_TOPIC_OR_PARTITION for none-0")
    assert "API 99 v0 from stranger" in lines[3]
    assert "malformed" in lines[3]


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ("--api produce", [2, 3]),
        ("--api Produce --api Metadata", [1, 2, 3]),
        ("--topic orders", [1, 2]),
        ("--client stranger", [4]),
        ("--error UNKNOWN_TOPIC_OR_PARTITION", [3]),
        ("--outcome malformed", [4]),
        ("--connection 1 --api Metadata", [1]),
        ("--since 2026-01-01T00:00", [1, 2, 3, 4]),
        ("--until 9999-01-01", [1, 2, 3, 4]),
    ],
)
def test_which_are_wanted(
    kept: Path, capsys: pytest.CaptureFixture[str], options: str, numbers: list[int]
) -> None:
    found = map(json.loads, said(capsys, kept, "--json", *options.split()))
    assert [each["number"] for each in found] == numbers


@pytest.mark.parametrize("options", ["--until 2020-01-01", "--since 9999-01-01", "--topic nothing"])
def test_status_1_if_nothing_fits(
    kept: Path, capsys: pytest.CaptureFixture[str], options: str
) -> None:
    assert said(capsys, kept, *options.split(), status=1) == []


def test_one_in_full(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(said(capsys, kept, "--show", 2))
    assert "connection 1 from 127.0.0.1:" in text
    assert "ProduceRequest v9, " in text
    assert "ProduceResponse v9, " in text
    assert "espresso" in text
    assert "base_offset" in text
    assert "there is no request 7" in said(capsys, kept, "--show", 7, status=1)[0]
    assert "no API has the key 99" in "\n".join(said(capsys, kept, "--show", 4))


def test_a_journal_becomes_a_capture_and_back(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capture, again = tmp_path / "a.pcapng", tmp_path / "b.jsonl"
    said(capsys, kept, "--api", "Produce", "--save", capture)
    said(capsys, capture, "--save", again)
    frames = [each.request_frame for each in load(kept).exchanges][1:3]
    assert [each.request_frame for each in load(again).exchanges] == frames


@pytest.mark.parametrize(
    ("options", "status", "text"),
    [
        ("--api Fech", 2, "there is no API 'Fech'; do you mean Fetch"),
        ("--error OOPS", 2, "there is no error 'OOPS'"),
        ("--save x.txt", 2, ".jsonl or .pcapng"),
        ("--save /none/x.jsonl", 1, "/none/x.jsonl: No such file"),
    ],
)
def test_what_is_wrong_is_said(
    kept: Path, capsys: pytest.CaptureFixture[str], options: str, status: int, text: str
) -> None:
    assert text in said(capsys, kept, *options.split(), status=status)[0]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"hello", "neither a journal in JSON Lines nor a capture"),
        (b'{"odradek": "journal", "format": 99}\n', "not a journal of requests in format 1"),
        (b'{"odradek": "journal", "format": 1}\n{}\n', "line 2: KeyError"),
        (b'{"odradek": "journal", "format": 1}\n[]\n', "line 2 is not an object"),
        (bytes.fromhex("0a0d0d0a 0f000000 4d3c2b1a 00000000"), "a block of 15 bytes"),
        (None, "No such file"),
    ],
)
def test_a_file_that_is_no_journal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, text: str
) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    (line,) = said(capsys, path, status=1)
    assert line.startswith(f"odradek: {path}: ")
    assert text in line
