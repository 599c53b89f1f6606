"""A large answer that is read slowly is right to its end, whatever happens to its files."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator

import pytest
from odradek import Emulator, ManualClock
from odradek.emulator.cluster import Cluster
from odradek.emulator.net.connection import UNSENT_BYTES
from odradek.emulator.net.protocol import ClientProtocol
from odradek.storage import MemoryDisk
from odradek.wire import Buffer
from odradek.wire.api.fetch import FetchRequest, FetchResponse
from odradek.wire.headers import RequestHeader, read_response_header, write_request_header
from odradek.wire.records import build_batch

from tests.requests.fetch import asked, fetch_request, only
from tests.requests.produce import produce_request
from tests.support.connection import Connection
from tests.support.sockets import connect, framed

MEGABYTES = 12
SEGMENT = 64 << 20
VALUES = [random.Random(number).randbytes(1_000_000) for number in range(MEGABYTES)]
DAY_MS = 24 * 60 * 60 * 1000


def retained(cluster: Cluster) -> None:
    log, now = cluster.topic("t").partitions[0].log, cluster.clock.now()
    log.begin_segment(now)
    assert log.delete_old_segments(now, policy=lambda *_: 1) == 1
    log.unlink_deleted(now + DAY_MS)


def deleted(cluster: Cluster) -> None:
    cluster.topics.delete(cluster.topic("t"))
    cluster.advance(DAY_MS)


def truncated(cluster: Cluster) -> None:
    cluster.topic("t").partitions[0].log.truncate(0)


@pytest.mark.parametrize("happens", [retained, deleted, truncated])
@pytest.mark.parametrize("in_memory", [False, True])
def test_its_bytes_are_those_that_were_there(
    happens: Callable[[Cluster], None], in_memory: bool
) -> None:
    clock = ManualClock()
    disk = MemoryDisk() if in_memory else None
    with Emulator(disk=disk, clock=clock) as kafka:
        kafka.create_topic("t", 1, {"segment.bytes": SEGMENT})
        with Connection(kafka.bootstrap_servers) as filling:
            for value in VALUES:
                batch = build_batch([(clock.now(), b"k", value, ())])
                answer = filling.ask(produce_request(batch, "t"), 9)
                assert answer.responses[0].partition_responses[0].error_code == 0
        request = fetch_request(asked(max_bytes=50 << 20), topic="t", max_bytes=50 << 20)
        header = RequestHeader(FetchRequest.api_key, 12, 1, "slow")
        with connect(kafka) as slow:
            slow.sendall(framed(write_request_header(header) + request.encode(12)))
            head = slow.recv(4)  # the answer has begun, and fills every buffer on its way
            kafka.run(happens)
            data = bytearray()
            while len(data) < struct.unpack(">i", head)[0]:
                piece = slow.recv(1 << 20)
                assert piece, "the connection was closed"
                data += piece
        _, position = read_response_header(data, FetchRequest.api_key, 12)
        answer, _ = FetchResponse.decode_from(bytes(data), 12, position)
        records = bytes(only(answer).records or b"")
        assert all(value in records for value in VALUES)


def test_a_record_of_any_size_is_one_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each write is a system call, and may wake the client."""
    writes: list[list[int]] = []
    some = ClientProtocol._some

    def noted(self: ClientProtocol, rest: Iterator[Buffer]) -> list[Buffer]:
        self._copies_lines = False
        if found := some(self, rest):
            writes.append([len(piece) for piece in found])
        return found

    monkeypatch.setattr(ClientProtocol, "_some", noted)
    with Emulator() as kafka, Connection(kafka.bootstrap_servers) as client:
        kafka.create_topic("t", 1)
        for value in VALUES[:4]:
            client.ask(produce_request(build_batch([(1, b"k", value, ())]), "t"), 9)
        one, several = (
            client.ask(fetch_request(asked(max_bytes=size), topic="t", max_bytes=size), 12)
            for size in (1 << 10, 50 << 20)
        )
    assert len(only(one).records or b"") < 1_100_000 < 4_000_000 < len(only(several).records or b"")
    assert [len(write) for write in writes[:1]] == [3]
    for write in writes:
        assert sum(size > UNSENT_BYTES for size in write) == 1
    assert writes[-1][-1] < 100
