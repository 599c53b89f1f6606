"""Logs of records with keys, and what is left of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from odradek.storage.config import LogConfig
from odradek.storage.disk.directory import Directory
from odradek.storage.log import Log
from odradek.wire.batch import BatchHeader, batches, read_header
from odradek.wire.records import Record, build_batch, read_records

from tests.storage.support.logs import open_log

DAY_MS = 86_400_000
ONE_BATCH = LogConfig(segment_bytes=1, cleanup_policy=frozenset({"compact"}))
"""Each batch gets a segment of its own."""
TWO_BATCHES = LogConfig(segment_bytes=150, cleanup_policy=frozenset({"compact"}))
"""Each two batches of a short record get a segment of their own."""
COMPACT = LogConfig(cleanup_policy=frozenset({"compact"}))

Pair = tuple[bytes | None, bytes | None]


def keyed(path: Path | Directory, config: LogConfig = COMPACT, **more: Any) -> Log:
    return open_log(path, config, **more)


def write(log: Log, *pairs: Pair, time: int = 0, now_ms: int = 0, **more: Any) -> BatchHeader:
    """Append a batch of these keys and values."""
    batch = build_batch(
        [(time, key, value, ()) for key, value in pairs],
        **{"base_offset": log.log_end_offset, "leader_epoch": 0, **more},
    )
    header = read_header(batch)
    log.append(batch, header, now_ms)
    return header


def produce(log: Log, producer_id: int, sequence: int, *pairs: Pair, **more: Any) -> BatchHeader:
    """The same, by an idempotent producer."""
    numbered = {"producer_id": producer_id, "producer_epoch": 0, "base_sequence": sequence}
    return write(log, *pairs, **numbered, **more)


def roll(log: Log) -> None:
    """Let the next batch begin a segment."""
    log.begin_segment(0)


class Found(NamedTuple):
    """A batch as it is on disk, and its records."""

    header: BatchHeader
    records: list[Record]
    data: bytes


def stored(log: Log) -> list[Found]:
    found = []
    for segment in log.segments:
        data = bytes(segment.file.read(0, segment.size)) if segment.size else b""
        for at, header in batches(data):
            batch = data[at : at + header.size]
            found.append(Found(header, read_records(batch), batch))
    return found


def content(log: Log) -> list[tuple[int, bytes | None, bytes | None]]:
    """Offset, key and value of all records but markers."""
    return [
        (one.offset, one.key, one.value)
        for batch in stored(log)
        if not batch.header.is_control
        for one in batch.records
    ]
