"""The mirror at work: rounds of fetches from the source, each written before the next.

Rules:
- Each round fetches from all partitions that have more, and writes what came; so several partitions
  share requests, and memory holds one round.
- Without `follow` it ends at the source's ends as they were at the start.
- With it, every REFRESH_S seconds new topics and partitions are looked for, and groups are copied.
- A topic that is deleted in the source is left as it is in the target.
- What retention took from the source before it was read is passed over.

What a mirror writes to: the same few verbs for a cluster and for a directory.

Committed offsets of groups, copied: they mean the same where offsets are kept.

A group that has members in the target is left alone: it has moved over. Offsets only go forward: a
group that has gone on in the target, and is not running at the moment, would read again what it has
read. An offset that the target has not reached yet is left until it has.

The source's topics in the target: created with their partitions and configs, and grown.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Protocol

from .....wire.records import read_records
from ..broker import (
    EARLIEST,
    LATEST,
    Cluster,
    Fetched,
    NoTopic,
    OffsetGone,
    Place,
    Topic,
    create_topic,
    fetch,
    fetch_round,
    find_topics,
    offsets,
    topic_configs,
)
from ..broker.coordinator import GroupInUse, commit_offsets, committed_offsets, consumer_groups
from ..broker.topics import add_partitions
from ..errors import PipelineError
from ..progress_line import ProgressLine
from ..stopping import Stop
from .pieces import pieces


class Target(Protocol):
    """Where a mirror goes. All of it raises BrokerError or PipelineError."""

    cluster: Cluster
    """For topics, configs and groups."""

    written: int
    """Records so far."""

    filled: int
    """Offsets that were filled so far."""

    def open(self, places: list[Place]) -> dict[Place, int | None]:
        """Get ready to write to these partitions. The source's offset from which each of them goes
        on; None for one that is empty."""

    def start_at(self, place: Place, offset: int) -> None:
        """Make an empty partition begin at the source's first offset."""

    def write(self, fetched: Mapping[Place, tuple[Fetched, int]]) -> None:
        """Write what was fetched, of each partition what is there from an offset on. It is kept
        when this returns."""

    def caught_up(self, positions: Mapping[Place, int]) -> None:
        """There is nothing more up to these offsets of the source."""

    def close(self) -> None:
        """Nothing more is written."""


@dataclass
class Copied:
    offsets: dict[str, int] = field(default_factory=dict)
    """How many of each group are in the target."""
    in_use: set[str] = field(default_factory=set)
    """Groups that have members in the target."""
    unmatched: set[str] = field(default_factory=set)
    """Patterns that no group of the source has."""


def copy_groups(
    source: Cluster, target: Cluster, patterns: Sequence[str], places: Iterable[Place]
) -> Copied:
    """Copy what these groups have committed for these partitions."""
    mirrored = set(places)
    there = consumer_groups(source)
    names = [name for name in there if any(fnmatchcase(name, pattern) for pattern in patterns)]
    copied = Copied()
    copied.unmatched |= {
        pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in there)
    }
    ends = offsets(target, mirrored, LATEST) if names else {}
    for name in names:
        theirs = committed_offsets(source, name)
        known = committed_offsets(target, name)
        wanted = {
            place: offset
            for place, offset in theirs.items()
            if place in mirrored and known.get(place, -1) < offset <= ends[place]
        }
        try:
            if wanted:
                commit_offsets(target, name, wanted)
        except GroupInUse:
            copied.in_use.add(name)
            continue
        copied.offsets[name] = sum(
            place in mirrored and offset <= ends[place] for place, offset in theirs.items()
        )
    return copied


TIMESTAMP_TYPE = "message.timestamp.type"
_MIN_ISR = "min.insync.replicas"
# Of the source's brokers, or of where its replicas are.
NOT_COPIED = (
    "follower.replication.throttled.replicas",
    "leader.replication.throttled.replicas",
    "message.downconversion.enable",
    "message.format.version",
    "remote.storage.enable",
)


def copied_configs(configs: dict[str, str], replicas: int) -> dict[str, str]:
    """The configs with which a topic of the target is created.

    Times are always those of the records: with LogAppendTime the target would give its own.
    """
    found = {name: value for name, value in configs.items() if name not in NOT_COPIED}
    found.pop(TIMESTAMP_TYPE, None)
    if int(found.get(_MIN_ISR, 1)) > replicas:
        del found[_MIN_ISR]
    return found


def ensure_topics(source: Cluster, target: Cluster, topics: Iterable[Topic]) -> list[str]:
    """Make the target have these topics of the source. The names of those that are new."""
    wanted = list(topics)
    there = {
        topic.name: topic for topic in find_topics(target, [t.name for t in wanted], none=True)
    }
    missing = [topic for topic in wanted if topic.name not in there]
    configs = topic_configs(source, [topic.name for topic in missing]) if missing else {}
    for topic in missing:
        replicas = max(1, min(topic.replicas, len(target.brokers.nodes)))
        create_topic(
            target,
            topic.name,
            len(topic.partitions),
            configs=copied_configs(configs[topic.name], replicas),
            replicas=replicas,
        )
    for topic in wanted:
        known = there.get(topic.name)
        if known is not None and len(known.partitions) < len(topic.partitions):
            add_partitions(target, topic.name, len(topic.partitions))
    return [topic.name for topic in missing]


REFRESH_S = 5.0
_IDLE_S = 0.5


@dataclass
class MirrorSettings:
    topics: Sequence[str]
    groups: Sequence[str] = ()
    committed: bool = True
    follow: bool = False
    refresh_s: float = REFRESH_S
    kept: bool = True
    only: frozenset[Place] | None = None
    """A task's partitions, of topics that are there; None for all."""


@dataclass
class Done:
    topics: set[str] = field(default_factory=set)
    created: list[str] = field(default_factory=list)
    deleted: set[str] = field(default_factory=set)
    """Topics that went in the source meanwhile."""
    groups: dict[str, int] = field(default_factory=dict)
    groups_in_use: set[str] = field(default_factory=set)
    groups_unmatched: set[str] = field(default_factory=set)
    read_bytes: int = 0
    lag: int = 0
    passed_over: int = 0
    """Offsets that retention took first."""


class Mirror:
    def __init__(
        self,
        source: Cluster,
        target: Target,
        settings: MirrorSettings,
        stop: Stop,
        progress: ProgressLine,
    ) -> None:
        self.done = Done()
        self._source = source
        self._target = target
        self._asked = settings
        self._stop = stop
        self._telling = progress
        self._refreshed = 0.0
        self._positions: dict[Place, int] = {}
        self._goals: dict[Place, int] = {}

    def run(self) -> Done:
        """Mirror until everything is there, or to stop. Raises PipelineError, BrokerError."""
        self._refresh()
        while not self._stop:
            try:
                if not self._step():
                    break
            except NoTopic as gone:
                if not self._asked.follow:
                    raise
                self._forget(gone.topic)
        self._copy_groups()
        self.done.lag = self._lag()
        return self.done

    def _step(self) -> bool:
        """Write what comes next; False at the end."""
        pending = self._pending()
        if pending:
            self._round(pending)
            self._tell()
        elif not self._asked.follow:
            return False
        else:
            self._stop.wait(min(_IDLE_S, self._asked.refresh_s))
        is_due = time.monotonic() - self._refreshed >= self._asked.refresh_s
        if self._asked.follow and is_due:
            self._refresh()
        return True

    def _forget(self, topic: str) -> None:
        """The source has deleted it. If it comes again, `_open` looks at what the target has."""
        self.done.deleted.add(topic)
        for place in [place for place in self._positions if place[0] == topic]:
            del self._positions[place]
            self._goals.pop(place, None)

    def _pending(self) -> dict[Place, int]:
        if self._asked.follow:
            return dict(self._positions)
        return {
            place: position
            for place, position in self._positions.items()
            if position < self._goals[place]
        }

    def _lag(self) -> int:
        return sum(max(goal - self._positions[place], 0) for place, goal in self._goals.items())

    def _tell(self) -> None:
        written, lag = self._target.written, self._lag()
        self._telling.tell(
            f"{len(self._positions)} partitions, {written:,} records, lag {lag:,}",
            self.done.read_bytes,
        )

    # Topics

    def _refresh(self) -> None:
        """Look which topics and partitions there are, and get ready for those that are new."""
        self._refreshed = time.monotonic()
        found = find_topics(self._source, self._asked.topics, none=self._asked.follow)
        only = self._asked.only
        if only is None:
            self.done.created += ensure_topics(self._source, self._target.cluster, found)
        self.done.topics |= {topic.name for topic in found}
        every = [place for topic in found for place in topic.places]
        places = [place for place in every if only is None or place in only]
        new = [place for place in places if place not in self._positions]
        self._goals |= self._ends(places)
        if new:
            self._open(new)
        if self._asked.follow:
            self._copy_groups()

    def _ends(self, places: Iterable[Place]) -> dict[Place, int]:
        return offsets(self._source, places, LATEST, committed=self._asked.committed)

    def _open(self, places: list[Place]) -> None:
        firsts = offsets(self._source, places, EARLIEST)
        ends = offsets(self._source, places, LATEST)
        for place, position in self._target.open(places).items():
            first = firsts[place]
            if position is None:
                if first:
                    self._target.start_at(place, first)
                position = first
            elif self._asked.kept:
                self._check(place, position, first, ends[place])
            self._positions[place] = position

    def _check(self, place: Place, position: int, first: int, end: int) -> None:
        name = f"{place[0]}-{place[1]}"
        if position > end:
            raise PipelineError(
                f"{name}: the target ends at {position}, the source at {end}: was the topic "
                "deleted and created again? Delete it in the target, too"
            )
        if first < position and self._last(self._source, place, position) != self._last(
            self._target.cluster, place, position
        ):
            raise PipelineError(
                f"{name}: the target has another record than the source before offset {position}: "
                "it is no mirror of it"
            )

    def _last(self, cluster: Cluster, place: Place, end: int) -> list[object]:
        found: list[object] = []
        stable = min(end, offsets(cluster, [place], LATEST, committed=True)[place])
        for each in fetch(cluster, place, end - 1, stable):
            for piece in pieces(each, end - 1, committed=True):
                if piece.offset == end - 1:
                    found += read_records(piece.batch)[:1]
        return found

    # Records

    def _round(self, positions: Mapping[Place, int]) -> None:
        wait_ms = 500 if self._asked.follow else 50
        try:
            answered = fetch_round(
                self._source, positions, committed=self._asked.committed, wait_ms=wait_ms
            )
        except OffsetGone as gone:
            self._pass_over(gone)
            return
        some = {each.place: (each, positions[each.place]) for each in answered if each.records}
        if some:
            self._target.write(some)
        caught_up = {}
        for each in answered:
            place, readable = each.place, self._readable(each)
            self.done.read_bytes += len(each.records)
            self._goals[place] = readable if self._asked.follow else self._goals[place]
            position = each.next_offset
            if not each.records and readable >= self._goals[place]:
                position = self._goals[place]  # compaction removed what was there
            self._positions[place] = max(position, self._positions[place])
            if self._positions[place] >= self._goals[place]:
                caught_up[place] = self._positions[place]
        self._target.caught_up(caught_up)

    def _readable(self, each: Fetched) -> int:
        stable = each.last_stable_offset
        return stable if self._asked.committed and stable >= 0 else each.high_watermark

    def _pass_over(self, gone: OffsetGone) -> None:
        if gone.first <= gone.offset:
            raise PipelineError(
                f"{gone}: was the topic deleted and created again? Delete it in the target, too"
            )
        self.done.passed_over += gone.first - gone.offset
        self._positions[gone.place] = gone.first

    def _copy_groups(self) -> None:
        if self._asked.groups:
            copied = copy_groups(
                self._source, self._target.cluster, self._asked.groups, self._positions
            )
            self.done.groups |= copied.offsets
            self.done.groups_in_use = copied.in_use
            self.done.groups_unmatched = copied.unmatched
