"""Summaries of records: small ones of splits, joined by topic and by partition.

Counts over time and over sizes, which can be joined, and stay small whatever is counted.

Times are counted in steps of a second, or as many seconds as are needed for at most `STEPS_MAX`
steps that are not empty: when there are more, two become one. Sizes are counted by powers of two.

What JSON values look like: which paths there are, of which types, in how many values.

Only some values of each batch are looked at, evenly spread, and none that is very long: `sampled`
says how many. Paths are written as `$.user.id` and `$.items[].price`; past `PATHS_MAX` paths, or
deeper than `DEPTH_MAX`, no more are distinguished.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...segments.wanted import Wanted
from ..sketches import Distinct, Frequent, counted, lengths
from ..splits import Split

STEPS_MAX = 1_024
SECOND_MS = 1_000
_SIZES = 33


@dataclass
class Times:
    """How many records there are at which time."""

    step_ms: int = SECOND_MS
    counts: dict[int, int] = field(default_factory=dict)
    """Number of a step since 1970 -> records."""

    def add(self, ms: npt.NDArray[np.int64]) -> None:
        """Add times in milliseconds."""
        steps, counts = np.unique(ms // self.step_ms, return_counts=True)
        self._add(steps, counts)

    def join(self, other: Times) -> None:
        step = max(self.step_ms, other.step_ms)
        self._widen(step)
        factor = step // other.step_ms
        for number, count in other.counts.items():
            self.counts[number // factor] = self.counts.get(number // factor, 0) + count
        self._shrink()

    def bars(self, most: int) -> tuple[int, int, list[int]]:
        """Where they begin (ms), how long each bar is (ms), and at most so many bars."""
        if not self.counts:
            return 0, self.step_ms, []
        first, last = min(self.counts), max(self.counts)
        width = -(-(last - first + 1) // most)
        found = [0] * (-(-(last - first + 1) // width))
        for number, count in self.counts.items():
            found[(number - first) // width] += count
        return first * self.step_ms, width * self.step_ms, found

    def _add(self, steps: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> None:
        while len(steps) > STEPS_MAX:
            self._widen(self.step_ms * 2)
            steps, inverse = np.unique(steps // 2, return_inverse=True)
            counts = np.bincount(inverse, counts).astype(np.int64)
        for number, count in zip(steps.tolist(), counts.tolist(), strict=True):
            self.counts[number] = self.counts.get(number, 0) + count
        self._shrink()

    def _shrink(self) -> None:
        while len(self.counts) > STEPS_MAX:
            self._widen(self.step_ms * 2)

    def _widen(self, step: int) -> None:
        factor = step // self.step_ms
        if factor > 1:
            wider: dict[int, int] = {}
            for number, count in self.counts.items():
                wider[number // factor] = wider.get(number // factor, 0) + count
            self.step_ms, self.counts = step, wider


@dataclass
class Sizes:
    """How many values there are of which size."""

    counts: list[int] = field(default_factory=lambda: [0] * _SIZES)
    """By the number of bits of the size: 0, 1, 2 to 3, 4 to 7 bytes, and so on."""
    total: int = 0
    largest: int = 0

    def add(self, sizes: npt.NDArray[np.int64]) -> None:
        """Add sizes in bytes."""
        if len(sizes):
            bits = np.frexp(sizes.astype(np.float64))[1]
            found = np.bincount(bits, minlength=_SIZES)
            self.counts = [one + int(two) for one, two in zip(self.counts, found, strict=True)]
            self.total += int(sizes.sum())
            self.largest = max(self.largest, int(sizes.max()))

    def join(self, other: Sizes) -> None:
        self.counts = [one + two for one, two in zip(self.counts, other.counts, strict=True)]
        self.total += other.total
        self.largest = max(self.largest, other.largest)

    def bars(self) -> tuple[int, list[int]]:
        """The least size (bytes), and the counts from there on, each for twice the size before."""
        there = [at for at, count in enumerate(self.counts) if count]
        if not there:
            return 0, []
        first, last = there[0], there[-1]
        return (1 << first) >> 1, self.counts[first : last + 1]


PATHS_MAX = 200
DEPTH_MAX = 8
SAMPLED_OF_A_BATCH = 256
_LONGEST = 64 << 10
_NAME_MAX = 100
_NODES_MAX = 2_000
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


@dataclass
class Shapes:
    sampled: int = 0
    parsed: int = 0
    """How many of them are JSON."""
    paths: dict[str, dict[str, int]] = field(default_factory=dict)
    """Path -> type -> how many values have it."""
    is_cut: bool = False
    """Whether there were more paths."""

    def add(self, values: pa.Array) -> None:
        """Look at some values of a column of bytes without nulls."""
        step = max(1, -(-len(values) // SAMPLED_OF_A_BATCH))
        for value in values.take(pa.array(np.arange(0, len(values), step))).to_pylist():
            self.sampled += 1
            if len(value) <= _LONGEST:
                self._look(value)

    def join(self, other: Shapes) -> None:
        self.sampled += other.sampled
        self.parsed += other.parsed
        self.is_cut |= other.is_cut
        for path, types in other.paths.items():
            for kind, count in types.items():
                self._count(path, kind, count)

    def _look(self, value: bytes) -> None:
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            return
        self.parsed += 1
        for path, kind in set(_walk(found)):
            self._count(path, kind, 1)

    def _count(self, path: str, kind: str, count: int) -> None:
        types = self.paths.get(path)
        if types is None:
            if len(self.paths) >= PATHS_MAX:
                self.is_cut = True
                return
            types = self.paths[path] = {}
        types[kind] = types.get(kind, 0) + count


def _walk(value: Any) -> Iterator[tuple[str, str]]:
    waiting: list[tuple[str, Any, int]] = [("$", value, 0)]
    for _ in range(_NODES_MAX):
        if not waiting:
            return
        path, found, depth = waiting.pop()
        if isinstance(found, dict):
            yield path, "object"
            inside: Iterable[tuple[str, Any]] = (
                (f"{path}.{name[:_NAME_MAX]}", each) for name, each in found.items()
            )
        elif isinstance(found, list):
            yield path, "array"
            inside = ((f"{path}[]", each) for each in found)
        else:
            yield path, _TYPES[type(found)]
            continue
        if depth < DEPTH_MAX:
            for name, each in inside:
                if len(waiting) >= _NODES_MAX:
                    break
                waiting.append((name, each, depth + 1))


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
        return self.split.name


def profile_split(task: ProfileTask) -> Profile:
    """Look at a split. Raises what reading it raises."""
    found: Profile = {}
    for batch in task.split.read(replace(task.wanted, columns=COLUMNS)):
        for topic, partition, part in _parts(batch):
            found.setdefault(topic, TopicProfile()).add(part, partition)
    return found


def _parts(batch: pa.RecordBatch) -> list[tuple[str, int, pa.RecordBatch]]:
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
