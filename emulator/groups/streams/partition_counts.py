"""How many partitions the internal topics of a topology are to have (KIP-1071).

- A repartition topic has the number that the application gives it, else the largest number of the
  topics that the subtopology which writes it reads.
- Topics that are joined must have the same number: repartition topics take that of the topics of
  users in their group, or else the largest.
- A changelog has the largest number of the topics that its subtopology reads.

Numbers are worked out again and again until all are known, in the order of a broker's hash maps,
which decides where they depend on each other. Source: Kafka 4.3.1 (RepartitionTopics,
CopartitionedTopicsEnforcer, ChangelogTopics).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ....wire.errors import Error, Refused
from ...base.java_order import hash_map_order
from .states import Status, StatusCode
from .topology import Subtopology, Topology, source_topics

Counts = Mapping[str, int]
"""Numbers of partitions, by topic."""
_UNKNOWN = "Failed to compute number of partitions for all repartition topics"


class NotReady(Exception):
    """The topics do not fit the topology: nothing is assigned until they do."""

    def __init__(self, code: StatusCode, detail: str) -> None:
        super().__init__(detail)
        self.status = Status(code, detail)


def partition_counts(
    topology: Topology, together: Mapping[str, Sequence[Collection[str]]], existing: Counts
) -> dict[str, int]:
    """The numbers of partitions of all internal topics. `together`: by subtopology, the groups of
    topics that are joined; `existing`: the numbers of topics that are there. Raises NotReady, and
    Refused: STREAMS_INVALID_TOPOLOGY with a message, UNKNOWN_SERVER_ERROR."""
    decided = _of_repartition_topics(topology, existing)
    internal = [t for each in topology.subtopologies for t in each.repartition_source_topics]
    fixed = hash_map_order([topic.name for topic in internal if topic.partitions])
    flexible = {topic.name for topic in internal if not topic.partitions}
    for groups in together.values():
        for names in filter(None, groups):
            decided |= _of_joined(names, fixed, flexible, {**decided, **existing})
    return decided | _of_changelogs(topology, {**decided, **existing})


def _of_repartition_topics(topology: Topology, existing: Counts) -> dict[str, int]:
    internal = [t for each in topology.subtopologies for t in each.repartition_source_topics]
    counts = {topic.name: topic.partitions for topic in internal if topic.partitions}
    is_complete = False
    while not is_complete:
        is_complete, progresses = True, False
        for each in topology.subtopologies:
            for sink in each.repartition_sink_topics:
                if sink in counts:
                    continue
                found = _largest(each, counts, existing)
                if found is None:
                    is_complete = False
                else:
                    counts[sink], progresses = found, True
        if not is_complete and not progresses:
            raise _invalid(
                f"{_UNKNOWN}. There may be loops in the topology that cannot be resolved."
            )
    if not all(topic.name in counts for topic in internal):
        raise _invalid(
            f"{_UNKNOWN}, because a repartition source topic is never used as a sink topic."
        )
    return counts


def _largest(subtopology: Subtopology, counts: Counts, existing: Counts) -> int | None:
    """Of the topics that a subtopology reads, as far as their numbers are known yet."""
    repartition = (topic.name for topic in subtopology.repartition_source_topics)
    known = [counts[name] for name in repartition if name in counts]
    known += [existing[name] for name in subtopology.source_topics if name in existing]
    return max(known, default=None)


def _of_joined(
    names: Collection[str], fixed: Sequence[str], flexible: Collection[str], counts: Counts
) -> dict[str, int]:
    if not all(name in counts for name in names):
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    ordered = hash_map_order(names)
    repartition = [name for name in ordered if name in fixed or name in flexible]
    users = [name for name in ordered if name not in repartition]
    if users:
        count = _same(users, users, counts)
    elif fixed:
        count = _same(fixed, repartition, counts)
    else:
        count = max((counts[name] for name in repartition), default=0)
    for name in repartition:
        if name in fixed and counts[name] != count:
            text = (
                f"Number of partitions [{counts[name]}] of repartition topic [{name}] doesn't match"
                f" number of partitions [{count}] of the source topic."
            )
            raise NotReady(StatusCode.INCORRECTLY_PARTITIONED_TOPICS, text)
    return dict.fromkeys(repartition, count)


def _same(names: Sequence[str], told: Sequence[str], counts: Counts) -> int:
    """The number that all these topics have; `told`: those that are named where they differ."""
    if not all(name in counts for name in names):
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    if len({counts[name] for name in names}) > 1:
        listed = ", ".join(f"{name}={counts[name]}" for name in sorted(told))
        text = f"Following topics do not have the same number of partitions: [{{{listed}}}]"
        raise NotReady(StatusCode.INCORRECTLY_PARTITIONED_TOPICS, text)
    return counts[names[0]]


def _of_changelogs(topology: Topology, counts: Counts) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in topology.subtopologies:
        read = source_topics(each)
        if not read:
            raise _invalid(f"No source topics found for subtopology {each.subtopology_id}")
        if not all(name in counts for name in read):
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
        largest = max(counts[name] for name in read)
        found |= {topic.name: largest for topic in each.state_changelog_topics}
    return found


def _invalid(message: str) -> Refused:
    return Refused(Error.STREAMS_INVALID_TOPOLOGY, message)
