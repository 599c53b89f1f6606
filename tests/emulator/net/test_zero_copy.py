"""A batch is written from the very memory that it was received into, and sent from its file; short
answers to requests that came together are sent together."""

from __future__ import annotations

import random
import struct
import tracemalloc
from mmap import mmap
from pathlib import Path
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.net.connection import Connection
from odradek.storage.disk.directory import File
from odradek.wire import Buffer
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.batch import read_header
from odradek.wire.compression import Codec
from odradek.wire.frames import SIZE, Part, pieces
from odradek.wire.headers import RequestHeader, write_request_header

from tests.requests.fetch import asked, fetch_request
from tests.requests.produce import batch, produce_request
from tests.support.clock import NOW
from tests.support.cluster import open_cluster
from tests.support.releases import KAFKA_3_9

LARGE = random.Random(1).randbytes(400_000)


class Socket:
    """The server's half of a connection: bytes go into the buffer that is offered for them."""

    def __init__(self, cluster: Cluster) -> None:
        self.connection = Connection(cluster, self, "127.0.0.1", 1)
        self.offered: list[object] = []
        self.sent: list[Buffer] = []
        self.writes: list[list[int]] = []
        """For each, the correlation ids of its answers."""
        self.is_closed = False

    def receive_at_once(self, *frames: bytes) -> None:
        """What one read from a socket gives."""
        self.connection.feed(b"".join(SIZE.pack(len(frame)) + frame for frame in frames))
        self.connection.work()

    def receive(self, frame: bytes) -> None:
        """As many bytes at a time as one read from a socket may give."""
        rest = memoryview(SIZE.pack(len(frame)) + frame)
        while rest:
            room = self.connection.frames.buffer()
            self.offered.append(room.obj)
            count = min(len(room), len(rest), 100_000)
            room[:count], rest = rest[:count], rest[count:]
            del room
            self.connection.frames.received(count)
            self.connection.work()

    def send(self, parts: list[Part]) -> None:
        sent = list(pieces(parts, lambda: 1 << 20))
        self.sent += sent
        data, ids = b"".join(sent), []
        while data:
            (size, correlation_id), data = struct.unpack_from(">ii", data), data[4:]
            ids.append(correlation_id)
            data = data[size:]
        self.writes.append(ids)

    def ends(self) -> None:
        """There is no socket."""

    def read_on(self) -> None:
        """There is always room."""

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is handed to the operating system, as it is at that moment."""
    found: list[Any] = []
    write = File.write

    def noted(file: File, data: Buffer, position: int) -> None:
        if file.path.endswith(".log") and "/t-0/" in file.path:
            found.append((data, bytes(data)))
        write(file, data, position)

    monkeypatch.setattr(File, "write", noted)
    return found


def encoded(message: Any, version: int, correlation_id: int = 1) -> bytes:
    header = RequestHeader(message.api_key, version, correlation_id, "test")
    return bytes(write_request_header(header) + message.encode(version))


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP, Codec.LZ4])
@pytest.mark.parametrize("time_type", ["CreateTime", "LogAppendTime"])
def test_a_batch_is_written_from_the_buffer_that_the_socket_filled(
    tmp_path: Path, written: list[Any], codec: Codec, time_type: str
) -> None:
    cluster = open_cluster(tmp_path)
    cluster.create_topic("t", 1, {"message.timestamp.type": time_type})
    socket = Socket(cluster)
    for number in range(3):
        sent = batch(LARGE, LARGE, codec=codec, time=NOW)
        socket.receive(encoded(produce_request(sent), 9))

        data, content = written[number]
        assert isinstance(data, memoryview)
        assert data.obj is socket.offered[-1], "it was copied on the way"
        # Offset, leader epoch and time are put in where it lies.
        header = read_header(content)
        assert (header.base_offset, header.leader_epoch) == (2 * number, 0)
        assert content[61:] == sent[61:]
    cluster.close()


def test_a_fetched_batch_is_sent_from_a_mapping_of_its_file(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    cluster.create_topic("t", 1, {})
    socket = Socket(cluster)
    socket.receive(encoded(produce_request(batch(LARGE)), 9))
    socket.sent.clear()

    socket.receive(encoded(fetch_request(asked(offset=0, max_bytes=1 << 20)), 12))

    [records] = [each for each in socket.sent if len(each) > len(LARGE)]
    assert isinstance(records, memoryview)
    assert isinstance(records.obj, mmap)
    path = tmp_path / "t-0" / f"{0:020}.log"
    assert records == path.read_bytes()
    cluster.close()


def test_an_answer_to_an_old_client_is_made_as_it_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = open_cluster(tmp_path, release=KAFKA_3_9)
    cluster.create_topic("t", 1, {})
    socket = Socket(cluster)
    for _ in range(20):
        socket.receive(encoded(produce_request(batch(LARGE, time=NOW)), 9))
    answers: list[list[Part]] = []
    monkeypatch.setattr(Socket, "send", lambda _, parts: answers.append(parts))
    tracemalloc.start()
    try:
        socket.receive(encoded(fetch_request(asked(max_bytes=50 << 20), max_bytes=50 << 20), 3))
        assert tracemalloc.get_traced_memory()[1] < 4 * len(LARGE)
        size, most = 0, 0
        for piece in pieces(answers[0], lambda: 1 << 20):
            size += len(piece)
            most = max(most, tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert size == sum(map(len, answers[0])) > 20 * len(LARGE)
    assert most < 5 * len(LARGE)
    cluster.close()


def asked_for(topic: str, number: int) -> bytes:
    return encoded(MetadataRequest(topics=[MetadataRequest.Topic(name=topic)]), 9, number)


def test_short_answers_to_requests_that_came_together_are_one_write(tmp_path: Path) -> None:
    """Each write is a system call, and may wake the client."""
    cluster = open_cluster(tmp_path)
    cluster.create_topic("t", 1, {})
    socket = Socket(cluster)

    socket.receive_at_once(*(asked_for("t", number) for number in range(5)))
    socket.receive_at_once(asked_for("t", 5))
    assert socket.writes == [[0, 1, 2, 3, 4], [5]]
    cluster.close()


def test_answers_before_one_that_is_large_or_late_are_sent_before_it(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path)
    cluster.create_topic("t", 1, {})
    socket = Socket(cluster)
    socket.receive_at_once(encoded(produce_request(batch(LARGE)), 9, 0))
    large = encoded(fetch_request(asked(offset=0, max_bytes=1 << 20)), 12, 2)
    parked = encoded(fetch_request(asked(offset=1), max_wait_ms=60_000), 12, 4)

    socket.receive_at_once(asked_for("t", 1), large, asked_for("t", 3), parked, asked_for("t", 5))
    assert socket.writes == [[0], [1, 2], [3]]
    cluster.advance(60_000)
    assert socket.writes[3:] == [[4], [5]]
    cluster.close()


def test_what_was_answered_is_sent_before_a_malformed_request_ends_the_connection(
    tmp_path: Path,
) -> None:
    cluster = open_cluster(tmp_path)
    cluster.create_topic("t", 1, {})
    socket = Socket(cluster)
    malformed = asked_for("t", 3)[:-4]

    socket.receive_at_once(asked_for("t", 1), asked_for("t", 2), malformed, asked_for("t", 4))
    assert (socket.writes, socket.is_closed) == ([[1, 2]], True)
    cluster.close()
