"""A log whose every byte is known: what it is filled with, and what its files should hold.

It has batches of one record, five to a segment: bases 0, 5, 10, and the last batch is that of
offset 12. Values are the offsets, producer 7 wrote everything but the odd ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from odradek.storage.config import LogConfig
from odradek.storage.log import Log
from odradek.wire.primitives import Buffer
from odradek.wire.records import build_batch

from tests.storage.support.logs import append, expected_indexes, home, open_log

SIZE = 200
SEGMENT = 5 * SIZE
CONFIG = LogConfig(segment_bytes=SEGMENT, index_interval_bytes=300)
END = 13
INDEXES = (".index", ".timeindex")


def value(offset: int) -> bytes:
    return b"%d" % offset + bytes(SIZE - 70 - len(b"%d" % offset))


def fill(log: Log, count: int = END) -> Log:
    for number in range(count):
        even = number % 2 == 0
        header = append(
            log,
            value(number),
            timestamps=[number * 10],
            epoch=number // 4,
            producer_id=7 if even else -1,
            sequence=number // 2 if even else -1,
        )
        assert header.size == SIZE
    return log


def reopen(path: Path, *, clean: bool, recovery_point: int = 0, **more: Any) -> Log:
    return open_log(path, CONFIG, clean=clean, recovery_point=recovery_point, **more)


def assert_indexes(path: Path) -> None:
    """The index files are what Kafka would have written."""
    for log_file in home(path).glob("*.log"):
        found = tuple(log_file.with_suffix(suffix).read_bytes() for suffix in INDEXES)
        expected = expected_indexes(log_file, CONFIG.index_interval_bytes, stopped=True)
        assert found == expected, log_file.name


def without_epoch(data: Buffer) -> bytes:
    """A batch without its leader epoch, which no checksum covers."""
    return bytes(data[:12]) + bytes(data[16:])


def build(offset: int) -> bytes:
    even = offset % 2 == 0
    return bytes(
        build_batch(
            [(offset * 10, None, value(offset), ())],
            base_offset=offset,
            leader_epoch=offset // 4,
            producer_id=7 if even else -1,
            producer_epoch=0 if even else -1,
            base_sequence=offset // 2 if even else -1,
        )
    )
