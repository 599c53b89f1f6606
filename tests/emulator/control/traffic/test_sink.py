"""A journal that is written to a file while a broker runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from odradek import Proxy
from odradek.compat.cli.journal_file import write_to_file
from odradek.emulator.control.traffic import jsonl
from odradek.emulator.control.traffic import sink as module
from odradek.emulator.control.traffic.exchange import Address, Exchange, NotAJournal
from odradek.emulator.control.traffic.files import load
from odradek.emulator.control.traffic.sink import FileSink
from odradek.emulator.control.traffic.traffic import FRAME_BYTES, Traffic
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.headers import RequestHeader, write_request_header

from tests.requests.produce import batch, produce_all
from tests.requests.topics import create_topics, new_topic
from tests.support.connection import Connection

FRAME = write_request_header(RequestHeader(3, 9, 5, "me")) + MetadataRequest(topics=None).encode(9)
SERVE = [sys.executable, "-m", "odradek.compat.cli", "serve", "--port", "0", "--quiet"]


def exchanges(sink: FileSink, count: int) -> None:
    traffic = Traffic()
    traffic.sink = sink
    peer = traffic.peer(Address("127.0.0.1", 5), Address("127.0.0.1", 9092))
    for _ in range(count):
        traffic.end(traffic.begin(peer, FRAME), "no reply")


def kept(path: Path) -> list[Exchange]:
    """What a file has that is being written, which may end anywhere."""
    with suppress(NotAJournal, OSError):
        return list(load(path).exchanges)
    return []


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["jsonl", "pcapng"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_serve_writes_what_it_is_asked(tmp_path: Path, ending: str, number: signal.Signals) -> None:
    path = tmp_path / f"journal.{ending}"
    process = subprocess.Popen([*SERVE, "--journal", path], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline().split()[3]
    with Connection(address) as client:
        for _ in range(3):
            client.ask(MetadataRequest(topics=None), 12)
        if number == signal.SIGKILL:  # what there was half a second before is there
            until(lambda: len(kept(path)) == 3)
        process.send_signal(number)
        process.communicate(timeout=60)
    found = load(path).exchanges
    assert [(each.api, each.client_id, each.outcome) for each in found] == [
        ("Metadata", "by hand", "answered")
    ] * 3


@pytest.mark.slow
def test_long_frames_are_whole_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    process = subprocess.Popen([*SERVE, "--journal", path], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with Connection(process.stdout.readline().split()[3]) as client:
        create_topics(client, new_topic("t", 2))
        parts = [("t", index, batch(b"x" * 900_000)) for index in range(2)]
        client.ask(produce_all(*parts), 9)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    last = load(path).exchanges[-1]
    assert len(last.request_frame) == last.request_size > FRAME_BYTES


def test_serve_refuses_what_it_cannot_write(tmp_path: Path) -> None:
    def said(name: str) -> tuple[int, str]:
        done = subprocess.run([*SERVE, "--journal", name], capture_output=True, text=True)
        return done.returncode, done.stderr

    assert said("j.txt")[0] == 2
    status, errors = said(str(tmp_path / "none" / "j.jsonl"))
    assert (status, "No such file" in errors) == (1, True)


def held(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """What is written waits for this."""
    go_on, pieces = threading.Event(), jsonl.line_in_pieces

    def slow(exchange: Exchange) -> Iterator[str]:
        go_on.wait()
        yield from pieces(exchange)

    monkeypatch.setattr(jsonl, "line_in_pieces", slow)
    return go_on


def test_answers_that_come_too_fast_are_cut_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    go_on = held(monkeypatch)
    monkeypatch.setattr(module, "_WAITING_BYTES", 1000)
    sink, traffic = FileSink(tmp_path / "j.jsonl", {}), Traffic()
    traffic.sink = sink
    peer = traffic.peer(Address("127.0.0.1", 5), Address("127.0.0.1", 9092))
    for exchange in [traffic.begin(peer, FRAME) for _ in range(4)]:
        traffic.answered(exchange, [bytes(900)])
    go_on.set()
    sink.close()
    kept = load(sink.path).exchanges
    assert [len(each.response_frame or b"") for each in kept] == [900, 900, 0, 0]
    assert {each.response_size for each in kept} == {900}
    assert f"not whole in {sink.path} because they came too fast: 2 answers" in caplog.text


@pytest.mark.parametrize("ending", ["jsonl", "pcapng"])
def test_a_large_answer_is_in_memory_once_and_only_until_it_is_written(
    tmp_path: Path, ending: str
) -> None:
    proxy = Proxy("127.0.0.1:1")
    sink = FileSink(tmp_path / f"j.{ending}", {})
    write_to_file(proxy.journal, sink)
    traffic = proxy.journal.traffic
    peer = traffic.peer(Address("127.0.0.1", 5), Address("127.0.0.1", 9092))
    answer, size = [(5).to_bytes(4), *[bytes(500_000)] * 20], 20 * 500_000
    tracemalloc.start()
    try:
        traffic.answered(traffic.begin(peer, FRAME), answer)
        until(lambda: not sink._waiting_bytes)
        until(lambda: tracemalloc.get_traced_memory()[0] < size / 10)
        assert size < tracemalloc.get_traced_memory()[1] < 1.5 * size
    finally:
        tracemalloc.stop()
        sink.close()
    [found] = load(sink.path).exchanges
    assert found.response_frame == b"".join(answer)
    assert len(traffic.exchanges) == 0


def test_what_comes_too_fast_is_left_out_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    go_on = held(monkeypatch)
    monkeypatch.setattr(module, "_WAITING_MAX", 10)
    sink = FileSink(tmp_path / "j.jsonl", {})
    exchanges(sink, 100)
    go_on.set()
    sink.close()
    kept = load(sink.path).exchanges
    assert 10 <= len(kept) <= 12
    assert len(kept) + sink.left_out == 100
    assert f"not in {sink.path} because they came too fast: {sink.left_out} requests" in caplog.text


def test_a_disk_that_is_full_ends_the_file_and_is_said(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    full = tmp_path / "full.jsonl"
    os.symlink("/dev/full", full)
    with pytest.raises(OSError, match="No space left"):
        FileSink(full, {})
    sink = FileSink(tmp_path / "j.jsonl", {})
    broken = open("/dev/full", "wb")  # noqa: SIM115
    sink._file.close()
    sink._file = broken
    exchanges(sink, 1000)
    sink.close()
    assert "is not complete: No space left on device" in caplog.text
    with pytest.raises(OSError, match="No space left"):
        broken.close()
