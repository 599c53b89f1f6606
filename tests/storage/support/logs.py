"""Logs to play with, and what Kafka's own rules say should be in their files."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from struct import pack, unpack_from

from odradek.storage.config import LogConfig
from odradek.storage.disk.directory import Directory
from odradek.storage.log import Log
from odradek.storage.naming import KAFKA, Naming
from odradek.wire.batch import BatchHeader, assign, batches, read_header
from odradek.wire.primitives import Buffer
from odradek.wire.records import Record, build_batch, end_transaction_batch, read_records

TOPIC_ID = bytes(range(16))


def open_log(
    path: Path | Directory,
    config: LogConfig | None = None,
    *,
    clean: bool = False,
    now_ms: int = 0,
    recovery_point: int = 0,
    log_start_offset: int = 0,
    cleaned_offset: int | None = None,
    naming: Naming = KAFKA,
) -> Log:
    """Partition 0 of topic `t` below `path`."""
    return Log.open(
        path if isinstance(path, Directory) else Directory(path),
        "t",
        0,
        topic_id=TOPIC_ID,
        config=config or LogConfig(),
        now_ms=now_ms,
        clean=clean,
        recovery_point=recovery_point,
        log_start_offset=log_start_offset,
        cleaned_offset=cleaned_offset,
        naming=naming,
    )


def home(path: Path) -> Path:
    return path / "t-0"


def file(path: Path, base_offset: int, suffix: str) -> Path:
    """A segment's file, or a snapshot."""
    return home(path) / f"{base_offset:020d}{suffix}"


def place(path: Path, segments: Mapping[int, bytes]) -> None:
    """Put `.log` files (base offset to bytes) where that log has them, with nothing beside them."""
    home(path).mkdir()
    for base, data in segments.items():
        file(path, base, ".log").write_bytes(data)
    (home(path) / "partition.metadata").write_text("version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw")


def append(
    log: Log,
    *values: bytes,
    timestamps: Iterable[int] | None = None,
    offset: int | None = None,
    epoch: int = 0,
    now_ms: int = 0,
    producer_id: int = -1,
    sequence: int = -1,
    transactional: bool = False,
    size: int | None = None,
) -> BatchHeader:
    """Append one batch of these values (default: one of `size` bytes in all) to the log."""
    if size is not None:
        values = (bytes(size - len(build_batch([(0, None, b"", ())])) - 10),)
    times = list(timestamps) if timestamps is not None else [0] * len(values)
    batch = build_batch(
        [(time, None, value, ()) for time, value in zip(times, values, strict=True)],
        base_offset=log.log_end_offset if offset is None else offset,
        leader_epoch=epoch,
        producer_id=producer_id,
        producer_epoch=0 if producer_id >= 0 else -1,
        base_sequence=sequence,
        transactional=transactional,
    )
    return put(log, batch, now_ms=now_ms)


def put(log: Log, batch: bytearray, *, now_ms: int = 0) -> BatchHeader:
    header = read_header(batch)
    log.append(batch, header, now_ms)
    return header


def put_at_end(log: Log, batch: bytearray, *, epoch: int = 0) -> BatchHeader:
    """Append a batch that has no offset yet."""
    assign(batch, 0, log.log_end_offset, epoch)
    return put(log, batch)


def end_transaction(log: Log, producer_id: int, *, commit: bool, epoch: int = 0) -> BatchHeader:
    marker = end_transaction_batch(
        commit,
        base_offset=log.log_end_offset,
        timestamp=0,
        producer_id=producer_id,
        producer_epoch=0,
        coordinator_epoch=0,
        leader_epoch=epoch,
    )
    return put(log, marker)


def records(data: Buffer) -> list[Record]:
    """The records of all whole batches."""
    return [record for at, _ in batches(data) for record in read_records(data, at)]


def read_all(log: Log, *, max_bytes: int = 1 << 20) -> list[tuple[int, bytes | None]]:
    """Offset and value of each record, read chunk by chunk as a consumer does."""
    found: list[tuple[int, bytes | None]] = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        data = log.read(offset, max_bytes)
        if not data:  # a gap at the end
            break
        found += [(one.offset, one.value) for one in records(data) if one.offset >= offset]
        *_, (_, last) = batches(data)
        assert last.last_offset >= offset
        offset = last.last_offset + 1
    return found


def expected_indexes(log_file: Path, interval: int, *, stopped: bool) -> tuple[bytes, bytes]:
    """What `.index` and `.timeindex` hold, by the rules seen in Kafka's files, spelled out anew."""
    base, data = int(log_file.name.split(".")[0]), log_file.read_bytes()
    offsets = times = b""
    since_entry, latest, indexed, position = 0, (-1, base), -1, 0
    while position < len(data):
        first, length = unpack_from(">qi", data, position)
        (delta,), (time,) = (
            unpack_from(">i", data, position + 23),
            unpack_from(">q", data, position + 35),
        )
        if time > latest[0]:
            latest = (time, first + delta)
        if since_entry > interval:
            offsets += pack(">ii", first + delta - base, position)
            if latest[0] > indexed:
                times, indexed = times + pack(">qi", latest[0], latest[1] - base), latest[0]
            since_entry = 0
        since_entry += 12 + length
        position += 12 + length
    if stopped and latest[0] > indexed:
        times += pack(">qi", latest[0], latest[1] - base)
    return offsets, times


@contextmanager
def disk_full_at(size: int) -> Iterator[None]:
    """No file can grow past `size` bytes: the write that would ends short, the next one fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def flip(path: Path, position: int) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)


def cut(path: Path, count: int) -> None:
    """Take away the last bytes of a file."""
    os.truncate(path, path.stat().st_size - count)
