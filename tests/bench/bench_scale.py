"""How it grows: partitions to open, connections to hold, a topic of 100 GB to open.

    python -m tests.bench.bench_scale [--partitions 10000] [--connections 5000] [--gigabytes 100]

Each part has a process of its own, `odradek serve` on a directory of its own:

- partitions: topics of a hundred partitions with one record each, cleanly closed, are opened again:
  from the start of the process to its first answer, less the same of an empty directory; the memory
  that a partition takes; and what a second clean stop takes.
- connections: TCP connections, each of which has asked for ApiVersions and stays open: how long all
  of them take, memory of one, and a round of requests on all of them at once.
- gigabytes: a topic of sealed segments of 1 GiB, each of one large record between two small ones.
  They are valid, their checksums too, but sparse: they take a few KB of the disk. What is counted
  is the time, and what the process has read until it is ready (`/proc/PID/io`).

Memory is the resident set. Linux only.
"""

from __future__ import annotations

import argparse
import resource
import selectors
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from crc32c import crc32c
from odradek import Emulator
from odradek.storage.config import LogConfig
from odradek.storage.disk.directory import Directory
from odradek.storage.log import Log
from odradek.wire.batch import HEADER_SIZE, OVERHEAD, assign, read_header
from odradek.wire.primitives import parse_id, write_varint
from odradek.wire.records import NewRecord, build_batch

from tests.support.processes import memory

from .brokers import Odradek
from .frames import API_VERSIONS, CORRELATION_ID, TIMEOUT_S

GIB = 1 << 30
PARTITIONS_A_TOPIC = 100
_CRC_AT = 17  # in a batch
_PIECE = 1 << 24


class OnDirectory(Odradek):
    """`odradek serve` on a directory that stays when it is stopped."""

    def __init__(self, data: Path) -> None:
        super().__init__()
        self._data = data

    def command(self) -> Sequence[str]:
        return [*super().command(), "--data-dir", str(self._data), "--quiet"]


def partitions(home: Path, count: int) -> None:
    """Print what opening that many partitions takes."""
    topics = {f"topic-{n:04}": PARTITIONS_A_TOPIC for n in range(count // PARTITIONS_A_TOPIC)}
    with Emulator(data_dir=home / "data", topics=topics) as kafka:
        for topic in topics:
            for partition in range(PARTITIONS_A_TOPIC):
                kafka.topic(topic).produce(b"x", partition=partition)
    ready, resident = {}, {}
    for name in ("empty", "data"):
        broker = OnDirectory(home / name)
        broker.start()
        assert broker.pid is not None
        ready[name], resident[name] = broker.ready_s, memory(broker.pid).resident
        begin = time.perf_counter()
        broker.stop()
        stopped = time.perf_counter() - begin
    opened = len(topics) * PARTITIONS_A_TOPIC
    kib = (resident["data"] - resident["empty"]) / opened / 1024
    print(
        f"{opened} partitions: open in {ready['data'] - ready['empty']:.2f} s more than none "
        f"({ready['data']:.2f} s to ready), {kib:.1f} KiB each, stopped in {stopped:.2f} s"
    )


def connections(home: Path, count: int) -> None:
    """Print what that many connections take."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    broker = OnDirectory(home / "data")
    broker.start()
    assert broker.pid is not None
    before = memory(broker.pid).resident
    host, _, port = broker.address.rpartition(":")
    opened: list[socket.socket] = []
    try:
        begin = time.perf_counter()
        for _ in range(count):
            opened.append(socket.create_connection((host, int(port)), TIMEOUT_S))
            opened[-1].sendall(_API_VERSIONS)
        _answers(opened)
        took = time.perf_counter() - begin
        each = (memory(broker.pid).resident - before) / count / 1024
        begin = time.perf_counter()
        for connection in opened:
            connection.sendall(_API_VERSIONS)
        _answers(opened)
        again = time.perf_counter() - begin
    finally:
        for connection in opened:
            connection.close()
        broker.stop()
    print(
        f"{count} connections: open and answered in {took:.2f} s, {each:.1f} KiB each, "
        f"a request on each of them in {again:.2f} s"
    )


_API_VERSIONS = struct.pack(">ihhih", 10, API_VERSIONS, 0, CORRELATION_ID, -1)


def _answers(opened: list[socket.socket]) -> None:
    """Read one answer from each. Raises TimeoutError, EOFError."""
    with selectors.DefaultSelector() as selector:
        for connection in opened:
            selector.register(connection, selectors.EVENT_READ, bytearray())
        while selector.get_map():
            found = selector.select(TIMEOUT_S)
            if not found:
                raise TimeoutError(f"{len(selector.get_map())} connections got no answer")
            for key, _ in found:
                _take(selector, key)


def _take(selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    connection = key.fileobj
    assert isinstance(connection, socket.socket)
    data = connection.recv(1 << 16)
    if not data:
        raise EOFError("a connection was closed")
    key.data.extend(data)
    if len(key.data) >= 4 and len(key.data) == 4 + struct.unpack_from(">i", key.data)[0]:
        selector.unregister(connection)


def gigabytes(home: Path, count: int) -> None:
    """Print what opening a topic of that many GiB takes."""
    data = home / "data"
    with Emulator(data_dir=data, topics={"big": 1}) as kafka:
        kafka.topic("big").produce(b"first")
    files = _segments(data, count)
    broker = OnDirectory(data)
    broker.start()
    try:
        assert broker.pid is not None
        read = _bytes_read(broker.pid)
        last = _last_value(broker.address)
    finally:
        broker.stop()
    size = sum(path.stat().st_size for path in files)
    print(
        f"{size / 1e9:.0f} GB in {len(files)} segments: ready in {broker.ready_s:.2f} s, "
        f"{read / 1e6:.1f} MB read by then (its own code included); the last record is {last!r}"
    )


def _segments(data: Path, count: int) -> list[Path]:
    """Lengthen the topic's log to that many full segments and an active one."""
    metadata = (data / "big-0" / "partition.metadata").read_text()
    topic_id = metadata.split("topic_id: ")[1].split()[0]
    place = Directory(data), "big", 0
    config = LogConfig(segment_bytes=(1 << 31) - 1, index_interval_bytes=0)
    now = time.time_ns() // 1_000_000
    log = Log.open(*place, topic_id=parse_id(topic_id), config=config, now_ms=now, clean=True)
    log.begin_segment(now)
    for _ in range(count):
        for value in (b"small", b"in place of the large one", b"small"):
            _append(log, now, value)
        log.begin_segment(now)
    _append(log, now, b"last")
    log.close()
    files = sorted((data / "big-0").glob("*.log"))
    head, zeros = _large_batch(now)
    for path in files[1:-1]:
        _fill(path, head, zeros)
    return files


def _append(log: Log, now: int, value: bytes) -> None:
    batch = build_batch([NewRecord(now, None, value)])
    assign(batch, 0, log.log_end_offset, 0)
    log.append(batch, read_header(batch), now)


def _large_batch(now: int) -> tuple[bytearray, int]:
    """A batch of one record, nearly a GiB of zeros: its beginning, and how many zeros follow."""
    zeros = GIB - 4096
    batch = build_batch([NewRecord(now, None, b"")])[:HEADER_SIZE]
    value = b"\0\0\0" + write_varint(-1) + write_varint(zeros - 1)  # the last is "no headers"
    batch += write_varint(len(value) + zeros) + value
    struct.pack_into(">i", batch, 8, len(batch) + zeros - OVERHEAD)
    crc = crc32c(batch[_CRC_AT + 4 :])
    for begin in range(0, zeros, _PIECE):
        crc = crc32c(bytes(min(_PIECE, zeros - begin)), crc)
    struct.pack_into(">I", batch, _CRC_AT, crc)
    return batch, zeros


def _fill(path: Path, head: bytearray, zeros: int) -> None:
    """Put the large batch in the place of the segment's second of three, and the third behind it,
    the last that the offset index knows."""
    batches = path.read_bytes()
    second = read_header(batches).size
    third = second + read_header(batches, second).size
    assign(head, 0, read_header(batches, second).base_offset, 0)
    at = second + len(head) + zeros
    with path.open("r+b") as file:
        file.seek(second)
        file.write(head)
        file.truncate(second + len(head))
        file.seek(at)
        file.write(batches[third:])
    index = path.with_suffix(".index")
    entries = index.read_bytes()
    index.write_bytes(entries[:-4] + struct.pack(">i", at))


def _bytes_read(pid: int) -> int:
    text = Path(f"/proc/{pid}/io").read_text()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("rchar")))


def _last_value(address: str) -> bytes | None:
    consumer = Consumer({"bootstrap.servers": address, "group.id": "bench"})
    try:
        _, end = consumer.get_watermark_offsets(TopicPartition("big", 0), TIMEOUT_S)
        consumer.assign([TopicPartition("big", 0, end - 1)])
        message = consumer.poll(TIMEOUT_S)
        return message.value() if message is not None and not message.error() else None
    finally:
        consumer.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_scale")
    parser.add_argument("--partitions", type=int, default=10_000, metavar="COUNT")
    parser.add_argument("--connections", type=int, default=5_000, metavar="COUNT")
    parser.add_argument("--gigabytes", type=int, default=100, metavar="COUNT")
    options = parser.parse_args(arguments)
    for part in (partitions, connections, gigabytes):
        count = getattr(options, part.__name__)
        if count:
            with tempfile.TemporaryDirectory(prefix="odradek-bench-") as home:
                part(Path(home), count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
