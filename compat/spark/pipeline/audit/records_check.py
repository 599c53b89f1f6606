"""The records of a segment: how keys and sizes are spread.

They are summed up in a few kilobytes a segment (sketches.py), which are joined by topic and
partition. Findings about them are remarks: a key that many records have, a partition that is much
larger than the others of its topic, a record that is much larger than the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from ..sketches import Frequent, counted, lengths
from .findings import Finding

COLUMNS = ("key", "value", "offset", "position")
LEAST_RECORDS = 1_000
"""Fewer are no skew."""
KEY_SHARE = 0.2
PARTITION_TIMES = 3
RECORD_TIMES = 100
_SHOWN = 60


@dataclass
class RecordsSummary:
    """Keys and sizes of some records. Picklable, and small."""

    records: int = 0
    without_key: int = 0
    size: int = 0
    """Bytes of all keys and values."""
    largest: int = -1
    largest_at: tuple[str, int | None, int | None] = ("", None, None)
    """File, byte and offset."""
    keys: Frequent = field(default_factory=Frequent)

    def add(self, batch: pa.RecordBatch, file: str) -> None:
        """Add records; the columns are `COLUMNS`."""
        if not batch.num_rows:
            return
        key = batch.column("key")
        sizes = lengths(key) + lengths(batch.column("value"))
        at = int(np.argmax(sizes))
        if sizes[at] > self.largest:
            where = batch.column("position")[at].as_py(), batch.column("offset")[at].as_py()
            self.largest, self.largest_at = int(sizes[at]), (file, *where)
        self.records += batch.num_rows
        self.without_key += key.null_count
        self.size += int(sizes.sum())
        self.keys.add(*counted(key))

    def join(self, other: RecordsSummary) -> None:
        self.records += other.records
        self.without_key += other.without_key
        self.size += other.size
        if other.largest > self.largest:
            self.largest, self.largest_at = other.largest, other.largest_at
        self.keys.join(other.keys)

    def without_keys(self) -> RecordsSummary:
        """The same without the keys: a topic's are enough, and partitions are many."""
        return replace(self, keys=Frequent())


def skew(
    topic: str, whole: RecordsSummary, partitions: Mapping[int, RecordsSummary]
) -> Iterator[Finding]:
    """Remarks on one topic: the `whole` of it, and its partitions by number, without keys."""
    if whole.records < LEAST_RECORDS:
        return
    for key, count in whole.keys.top(3):
        if count >= KEY_SHARE * whole.records:
            what = f"skewed: {count / whole.records:.0%} of the records have the key {shown(key)}"
            yield Finding(topic, "", what, is_damage=False)
    for what, sizes in (
        ("records", {number: each.records for number, each in partitions.items()}),
        ("bytes", {number: each.size for number, each in partitions.items()}),
    ):
        number = max(sizes, key=lambda each: sizes[each])
        mean = sum(sizes.values()) / len(sizes)
        if len(sizes) > 1 and sizes[number] > min(PARTITION_TIMES, len(sizes) * 0.8) * mean:
            text = f"skewed: it has {sizes[number] / mean:.1f} times as many {what} as the mean"
            yield Finding(f"{topic}-{number}", "", text, is_damage=False)
            break
    yield from _large(topic, partitions, whole)


def _large(
    topic: str, partitions: Mapping[int, RecordsSummary], whole: RecordsSummary
) -> Iterator[Finding]:
    mean = whole.size / whole.records
    for number, summary in partitions.items():
        if summary.largest > max(RECORD_TIMES * mean, 10_000):
            file, byte, offset = summary.largest_at
            times = summary.largest / mean
            what = f"a record of {summary.largest} bytes, {times:.0f} times the topic's mean"
            yield Finding(f"{topic}-{number}", file, what, byte, offset, is_damage=False)


def shown(key: bytes) -> str:
    """A key for people: text, or hexadecimal digits."""
    try:
        text = key.decode()
    except UnicodeDecodeError:
        text = key.hex()
    else:
        text = text if text.isprintable() else repr(text)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
