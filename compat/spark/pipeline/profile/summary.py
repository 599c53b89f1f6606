"""What is known of records: small summaries of splits, joined by topic and by partition."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...segments.wanted import Wanted
from ..sketches import Distinct, Frequent, counted, lengths
from ..splits import Split
from .histograms import Sizes, Times
from .shapes import Shapes

COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "headers", "codec")
NO_TIME = -1


@dataclass
class Counts:
    """Plain numbers of a partition, or of a topic."""

    records: int = 0
    key_bytes: int = 0
    value_bytes: int = 0
    null_keys: int = 0
    null_values: int = 0
    with_headers: int = 0
    without_time: int = 0
    first_offset: int | None = None
    last_offset: int | None = None
    first_ms: int | None = None
    last_ms: int | None = None

    def join(self, other: Counts) -> None:
        """Add those of another piece."""
        for name in (
            *("records", "key_bytes", "value_bytes", "null_keys", "null_values"),
            *("with_headers", "without_time"),
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name, choose in (
            ("first_offset", min),
            ("first_ms", min),
            ("last_offset", max),
            ("last_ms", max),
        ):
            both = [
                each for each in (getattr(self, name), getattr(other, name)) if each is not None
            ]
            setattr(self, name, choose(both, default=None))


@dataclass
class TopicProfile:
    """What is known of a topic."""

    counts: Counts = field(default_factory=Counts)
    times: Times = field(default_factory=Times)
    key_sizes: Sizes = field(default_factory=Sizes)
    value_sizes: Sizes = field(default_factory=Sizes)
    codecs: dict[str, int] = field(default_factory=dict)
    """Records by codec."""
    keys: Distinct = field(default_factory=Distinct)
    frequent: Frequent = field(default_factory=Frequent)
    shapes: Shapes = field(default_factory=Shapes)
    partitions: dict[int, Counts] = field(default_factory=dict)

    def join(self, other: TopicProfile) -> None:
        """Add those of another piece."""
        self.counts.join(other.counts)
        self.times.join(other.times)
        self.key_sizes.join(other.key_sizes)
        self.value_sizes.join(other.value_sizes)
        for codec, count in other.codecs.items():
            self.codecs[codec] = self.codecs.get(codec, 0) + count
        self.keys.join(other.keys)
        self.frequent.join(other.frequent)
        self.shapes.join(other.shapes)
        for number, counts in other.partitions.items():
            self.partitions.setdefault(number, Counts()).join(counts)

    def add(self, batch: pa.RecordBatch, partition: int) -> None:
        """Add records of one partition; the columns are `COLUMNS`."""
        key, value = batch["key"], batch["value"]
        counts = _counts(batch)
        self.counts.join(counts)
        self.partitions.setdefault(partition, Counts()).join(counts)
        self.times.add(_times(batch))
        self.key_sizes.add(lengths(key.drop_null()))
        self.value_sizes.add(lengths(value.drop_null()))
        for codec, count in zip(*_values(batch["codec"].cast(pa.string())), strict=True):
            self.codecs[codec] = self.codecs.get(codec, 0) + count
        keys, numbers = counted(key)
        self.keys.add(keys)
        self.frequent.add(keys, numbers)
        self.shapes.add(value.drop_null())


Profile = dict[str, TopicProfile]
"""By topic."""


@dataclass(frozen=True)
class ProfileTask:
    """One split to look at. Picklable."""

    split: Split
    wanted: Wanted

    @property
    def name(self) -> str:
        """What people call it."""
        return self.split.name


def profile_split(task: ProfileTask) -> Profile:
    """Look at a split. Raises what reading it raises."""
    found: Profile = {}
    for batch in task.split.read(replace(task.wanted, columns=COLUMNS)):
        for topic, partition, part in _parts(batch):
            found.setdefault(topic, TopicProfile()).add(part, partition)
    return found


def _parts(batch: pa.RecordBatch) -> list[tuple[str, int, pa.RecordBatch]]:
    """The records of each partition; mostly there is one."""
    if not batch.num_rows:
        return []
    found = []
    for topic in pc.unique(batch["topic"]).to_pylist():
        of_topic = batch.filter(pc.equal(batch["topic"], topic))
        for partition in pc.unique(of_topic["partition"]).to_pylist():
            part = of_topic.filter(pc.equal(of_topic["partition"], partition))
            found.append((topic, partition, part))
    return found


def _counts(batch: pa.RecordBatch) -> Counts:
    times = _times(batch)
    offsets = pc.min_max(batch["offset"])
    return Counts(
        records=batch.num_rows,
        key_bytes=int(lengths(batch["key"]).sum()),
        value_bytes=int(lengths(batch["value"]).sum()),
        null_keys=batch["key"].null_count,
        null_values=batch["value"].null_count,
        with_headers=_with_headers(batch["headers"]),
        without_time=batch.num_rows - len(times),
        first_offset=offsets["min"].as_py(),
        last_offset=offsets["max"].as_py(),
        first_ms=int(times.min()) if len(times) else None,
        last_ms=int(times.max()) if len(times) else None,
    )


def _with_headers(column: pa.Array) -> int:
    found = pc.sum(pc.greater(pc.fill_null(pc.list_value_length(column), 0), 0))
    return int(found.as_py() or 0)


def _times(batch: pa.RecordBatch) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """In milliseconds, without those that have none."""
    found = batch["timestamp"].drop_null().cast(pa.int64()).to_numpy(zero_copy_only=False)
    ms = np.asarray(found, np.int64) // 1_000
    return np.compress(ms != NO_TIME, ms)


def _values(column: pa.Array) -> tuple[list[str], list[int]]:
    found = pc.value_counts(column.drop_null())
    return found.field("values").to_pylist(), found.field("counts").to_pylist()
