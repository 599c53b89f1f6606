"""The layout of a data directory now: each selected partition with its segments and its two ends.

A `Layout` is asked again and again by a stream. It remembers how far it has walked through each
partition's batches, so that it reads only what was added since; what it keeps grows with partitions
and with aborted transactions, not with records.

Rules:

- The end is that of the last complete batch of the last segment, which is the high watermark of a
  partition with one replica. Of several replicas the last records may yet be replaced: there the
  end is the high watermark that the broker has noted, some seconds ago (`readUpTo` says otherwise).
- For read_committed it is the last stable offset: nothing of an open transaction, or after it.
- A directory is read as it is; nothing in it is locked or changed, so a broker may write to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import groupby
from typing import TypeAlias

from ..segments.damaged import Damaged
from ..segments.listing import Segment, list_segments
from ..segments.outcomes import Outcomes, TransactionWalk, noted_high_watermark
from ..segments.runs import FileSource, Run, last_offsets, runs
from .options import OptionError, ReadOptions, Selection
from .topics import TopicPartition, Topics


@dataclass(frozen=True)
class PartitionNow:
    segments: tuple[Segment, ...]
    start: int
    """The log start offset."""
    end: int
    """The offset after the last that a reader of this isolation level sees."""
    log_end: int
    """The offset after the last complete batch."""
    outcomes: Outcomes | None
    """None if nobody needs to know what became of transactions."""

    def up_to(self, end: int) -> PartitionNow:
        """The same, ending there if it goes further."""
        return replace(self, end=min(self.end, end))


_TRIES = 5

Now: TypeAlias = dict[TopicPartition, PartitionNow]


class Layout:
    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._committed = options.isolation == "read_committed"
        self._transactions = self._committed or "outcome" in options.columns
        self._walks: dict[TopicPartition, _Walk] = {}
        self._topics = Topics(options.path)

    def now(self) -> Now:
        """Every selected partition. Raises OptionError for a topic that is not there, PlaceError,
        Damaged, OSError."""
        for _ in range(_TRIES - 1):
            # A broker may remove a segment just after it was listed.
            with suppress(FileNotFoundError):
                return self._looked_at()
        return self._looked_at()

    def _looked_at(self) -> Now:
        replicas = self._topics.replicas()
        found = _selected(self._options.path, self._options.selection, replicas)
        for gone in self._walks.keys() - found.keys():
            del self._walks[gone]
        return {
            key: self._partition(key, segments, replicas.get(key, 1))
            for key, segments in found.items()
        }

    def forget_before(self, positions: dict[TopicPartition, int]) -> None:
        """Forget aborted transactions that end before these offsets, which were read."""
        for key, walk in self._walks.items():
            walk.forget_before(positions.get(key, 0))

    def _partition(
        self, key: TopicPartition, segments: tuple[Segment, ...], replicas: int
    ) -> PartitionNow:
        if not segments:
            return PartitionNow((), 0, 0, 0, Outcomes() if self._transactions else None)
        walk = self._walks.get(key)
        if walk is None or not walk.continues_in(segments):
            walk = self._walks[key] = _Walk(self._transactions)
        walk.go_on(segments)
        base = segments[0].base_offset
        start = max(base, segments[0].log_start)
        outcomes = walk.outcomes() if self._transactions else None
        end = walk.end
        if self._options.read_up_to == "highWatermark" or (
            self._options.read_up_to is None and replicas > 1
        ):
            noted = noted_high_watermark(segments[-1])
            end = end if noted is None else min(end, noted)
        if self._committed and outcomes is not None and outcomes.first_open is not None:
            end = min(end, outcomes.first_open)
        return PartitionNow(segments, start, max(start, end), max(base, walk.end), outcomes)


@dataclass
class _Walk:
    """How far one partition's batches have been looked at."""

    transactions: bool
    end: int = 0
    _base: int = -1
    """The base offset of the segment that was looked at last."""
    _position: int = 0
    _found: TransactionWalk = field(default_factory=TransactionWalk)

    def continues_in(self, segments: tuple[Segment, ...]) -> bool:
        """Whether the log only grew since: else it was truncated, or is another one."""
        last = segments[-1]
        if last.base_offset == self._base:
            return last.size >= self._position
        return last.base_offset > self._base and last.base_offset >= self.end

    def go_on(self, segments: tuple[Segment, ...]) -> None:
        """Look at what was added. Where transactions do not matter, only at the last segment."""
        looked_at = segments if self.transactions else segments[-1:]
        for segment in looked_at:
            if segment.base_offset >= self._base:
                self._walk(segment)

    def _walk(self, segment: Segment) -> None:
        if segment.base_offset > self._base:
            self._base, self._position = segment.base_offset, 0
            self.end = max(self.end, segment.base_offset)
        with FileSource(segment.path, segment.size) as source:
            for run in runs(source, self._position, heads_only=True):
                self._add(run)
                if run.problem is not None and segment.last and not run.problem.is_torn:
                    raise Damaged(segment.path, run.problem.position, self.end, run.problem.what)

    def _add(self, run: Run) -> None:
        if not len(run.heads):
            return
        if self.transactions:
            self._found.add(run)
        last = run.heads[-1]
        self.end = max(self.end, int(last_offsets(run.heads)[-1]) + 1)
        self._position = int(last["position"]) + int(last["batch_length"]) + 12

    def outcomes(self) -> Outcomes:
        return self._found.outcomes()

    def forget_before(self, offset: int) -> None:
        self._found.aborted = [each for each in self._found.aborted if each[2] >= offset]


def within(outcomes: Outcomes | None, start: int, end: int) -> Outcomes | None:
    """The outcomes that concern a reader of this range."""
    if outcomes is None:
        return None
    aborted = tuple(each for each in outcomes.aborted if each[2] >= start and each[1] < end)
    still = tuple(each for each in outcomes.open if each[1] < end)
    return replace(outcomes, aborted=aborted, open=still)


def _selected(
    path: str, selection: Selection, known: Iterable[TopicPartition]
) -> dict[TopicPartition, tuple[Segment, ...]]:
    """The selected partitions with their segments; those without a record have none."""
    topics = sorted({*selection.names, *(topic for topic, _ in selection.assigned)})
    wanted = [_literally(each) for each in topics] or list(selection.wildcards) or None
    there: dict[TopicPartition, tuple[Segment, ...]] = dict.fromkeys(known, ())
    listed = list_segments(path, wanted)
    for key, segments in groupby(listed, key=lambda each: (each.topic, each.partition)):
        there[key] = tuple(segments)
    _check_there(path, selection, there)
    return {key: there[key] for key in sorted(there) if _wants(selection, key)}


def _literally(topic: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", topic)


def _wants(selection: Selection, key: TopicPartition) -> bool:
    topic = key[0]
    if selection.assigned:
        return key in selection.assigned
    if selection.pattern is not None:
        return re.fullmatch(selection.pattern, topic) is not None
    if selection.wildcards:
        return any(fnmatchcase(topic, each) for each in selection.wildcards)
    return topic in selection.names if selection.names else not topic.startswith("__")


def _check_there(path: str, selection: Selection, there: Iterable[TopicPartition]) -> None:
    keys = set(there)
    topics = {topic for topic, _ in keys}
    missing = [name for name in selection.names if name not in topics]
    missing += [f"{topic}-{n}" for topic, n in selection.assigned if (topic, n) not in keys]
    if missing:
        known = sorted({*topics, *(segment.topic for segment in list_segments(path))})
        there_are = f"there are {', '.join(known)}" if known else "it is empty"
        raise OptionError(f"{path} has no {', '.join(missing)}: {there_are}")
