"""A mirror that catches up on Spark: each partition is a task; with new offsets each topic.

A task does what the mirror does in one process (copying.py), of its partitions alone. Topics are
made, and groups copied, before and after the tasks. The producers of topics are the same with both
engines, so either may go on after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..broker import EARLIEST, LATEST, Cluster, Identity, Place, Topic, find_topics, offsets
from ..broker.coordinator import committed_offsets
from ..engine import Engine
from ..progress import Progress
from ..progress_line import ProgressLine
from ..stopping import Stop
from ..topics import ROW_BYTES, partition_sizes
from .copying import Done, Mirror, MirrorSettings, copy_groups, ensure_topics
from .kept_offsets import GROUP, KeptOffsets, NewOffsets

Sizes = Mapping[Place, int]


@dataclass(frozen=True)
class Part:
    places: tuple[Place, ...]
    identity: Identity | None
    """The topic's producer, if offsets are kept."""
    size: int
    """About how many bytes are left."""

    @property
    def name(self) -> str:
        (topic, index), *others = self.places
        return topic if others else f"{topic}-{index}"


@dataclass(frozen=True)
class MirrorPart:
    source: str
    target: str
    committed: bool
    fill_limit: int

    def __call__(self, part: Part) -> Copied:
        cluster = Cluster(self.target)
        target: KeptOffsets | NewOffsets
        if part.identity is None:
            target = NewOffsets(cluster, committed=self.committed)
        else:
            target = KeptOffsets(
                cluster,
                committed=self.committed,
                fill_limit=self.fill_limit,
                identity=part.identity,
            )
        settings = MirrorSettings(
            [part.places[0][0]],
            committed=self.committed,
            kept=part.identity is not None,
            only=frozenset(part.places),
        )
        try:
            with Cluster(self.source) as source:
                done = Mirror(source, target, settings, Stop(), ProgressLine(quiet=True)).run()
        finally:
            target.close()
        return Copied(target.written, target.filled, done.read_bytes, done.lag, done.passed_over)


@dataclass(frozen=True)
class Copied:
    """The work of a task, in records, offsets and bytes."""

    written: int
    filled: int
    read_bytes: int
    lag: int
    passed_over: int


def bytes_left(source: Cluster, target: Cluster, topics: Sequence[Topic], *, kept: bool) -> Sizes:
    """About how many bytes of each partition the target does not have yet."""
    places = [place for topic in topics for place in topic.places]
    firsts, ends = offsets(source, places, EARLIEST), offsets(source, places, LATEST)
    if kept:
        names = [topic.name for topic in topics]
        there = {place for each in find_topics(target, names, none=True) for place in each.places}
        positions = offsets(target, there & set(places), LATEST)
    else:
        positions = committed_offsets(target, GROUP)
    sizes = partition_sizes(source, places)
    found = {}
    for place in places:
        rows = ends[place] - firsts[place]
        left = ends[place] - max(firsts[place], positions.get(place, 0))
        found[place] = sizes.get(place, rows * ROW_BYTES) * max(left, 0) // max(rows, 1)
    return found


def mirror_on(
    engine: Engine,
    source: Cluster,
    target: KeptOffsets | NewOffsets,
    settings: MirrorSettings,
    fill_limit: int,
    bar: Progress,
) -> Done:
    """Mirror what is there. Raises PipelineError, BrokerError."""
    done = Done()
    topics = find_topics(source, settings.topics)
    sizes = bytes_left(source, target.cluster, topics, kept=settings.kept)
    engine.start()
    done.created += ensure_topics(source, target.cluster, topics)
    done.topics |= {topic.name for topic in topics}
    parts = list(_parts(topics, target, sizes))
    task = MirrorPart(source.addresses, target.cluster.addresses, settings.committed, fill_limit)
    bar.begin("mirror", sum(sizes.values()))
    for number, copied in engine.run(task, parts, sum(sizes.values())):
        target.written += copied.written
        target.filled += copied.filled
        done.read_bytes += copied.read_bytes
        done.lag += copied.lag
        done.passed_over += copied.passed_over
        bar.advance(parts[number].size)
    if settings.groups:
        copied_groups = copy_groups(source, target.cluster, settings.groups, sizes)
        done.groups |= copied_groups.offsets
        done.groups_in_use = copied_groups.in_use
        done.groups_unmatched = copied_groups.unmatched
    return done


def _parts(
    topics: Sequence[Topic], target: KeptOffsets | NewOffsets, sizes: Sizes
) -> Iterator[Part]:
    if isinstance(target, NewOffsets):
        for topic in topics:
            yield Part(tuple(topic.places), None, sum(sizes[place] for place in topic.places))
        return
    identities = target.identities([topic.name for topic in topics])
    for topic in topics:
        for place in topic.places:
            yield Part((place,), identities[topic.name], sizes[place])
