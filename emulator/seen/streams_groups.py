"""A view of a streams group (KIP-1071): a Kafka Streams application whose tasks the broker assigns.

Topology, members and tasks come from StreamsGroupDescribe, offsets from OffsetFetch, and which
topics are missing from Metadata: a view works at a real Kafka, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...wire import Error
from ...wire.api.metadata import MetadataRequest
from ...wire.api.streams_group_describe import StreamsGroupDescribeRequest
from ..base.words import Guessable
from .group_views import GroupConfigs, GroupOffsets, seen_member
from .group_waits import GroupWaits, MemberWaits
from .groups import GroupView
from .members import DEAD, Described, Place, SeenMember, SeenOffset
from .source import Source, check, described

_DESCRIBE, _METADATA = 0, 9
_NOT_HERE = (Error.NOT_COORDINATOR, Error.COORDINATOR_NOT_AVAILABLE, Error.GROUP_ID_NOT_FOUND)
STREAMS = "streams"


@dataclass(frozen=True, slots=True)
class SeenSubtopology:
    """A part of an application's topology, the topics of each kind by name."""

    subtopology_id: str
    source_topics: tuple[str, ...]
    repartition_topics: tuple[str, ...]
    """Those that it reads."""
    repartition_sinks: tuple[str, ...]
    """Those that it writes."""
    changelogs: tuple[str, ...]

    @property
    def topics(self) -> tuple[str, ...]:
        """All that must be there for it."""
        return (*self.source_topics, *self.repartition_topics, *self.changelogs)


@dataclass(frozen=True, slots=True)
class SeenTask:
    """A task that a member has: the partitions of one number of all topics that a subtopology
    reads."""

    subtopology_id: str
    partition: int
    is_active: bool
    """False for a standby, which only keeps a copy of the state."""
    member_id: str
    client_id: str
    process_id: str

    def __repr__(self) -> str:
        kind = "task" if self.is_active else "standby of task"
        return f"<{kind} {self.subtopology_id}_{self.partition} at client {self.client_id!r}>"


class StreamsGroupView(MemberWaits, GroupWaits, GroupOffsets, GroupConfigs, Guessable):
    """A streams group, read anew at each call; it need not exist yet. Methods raise Refused as the
    broker would answer."""

    def __init__(self, source: Source, group_id: str) -> None:
        self._source = source
        self.group_id = group_id

    def __repr__(self) -> str:
        return described(f"streams group {self.group_id}", self._about)

    @property
    def state(self) -> str:
        """As Kafka names it: "Stable", "NotReady" while topics are missing, "Assigning",
        "Reconciling", "Empty", "Dead" if there is none."""
        return self._described().state

    @property
    def epoch(self) -> int | None:
        """It rises when members, their processes or the topics change. None if there is no such
        group."""
        return self._described().epoch

    @property
    def members(self) -> tuple[SeenMember, ...]:
        """Its members, each with the partitions of its active tasks."""
        return self._described().members

    @property
    def tasks(self) -> tuple[SeenTask, ...]:
        """The tasks that members have: first the active ones, then standbys, by subtopology and
        number."""
        found = self._found()
        tasks = (
            SeenTask(each.subtopology_id, number, is_active, *_identity(member))
            for member in (() if found is None else found.members)
            for is_active, kind in (
                (True, member.assignment.active_tasks),
                (False, member.assignment.standby_tasks),
            )
            for each in kind
            for number in each.partitions
        )
        return tuple(sorted(tasks, key=_in_order))

    @property
    def topology(self) -> tuple[SeenSubtopology, ...]:
        """The subtopologies of the application, by id; none if there is no such group."""
        found = self._found()
        return () if found is None else tuple(map(_subtopology, found.topology.subtopologies))

    @property
    def missing_topics(self) -> tuple[str, ...]:
        """The topics of the topology that are not there, in order: nothing is assigned before they
        are."""
        names = sorted({name for each in self.topology for name in each.topics})
        there = self._partition_counts(names)
        return tuple(name for name in names if name not in there)

    def committed(self) -> dict[Place, SeenOffset]:
        """The committed offsets with their metadata, by topic and partition."""
        return GroupView(self._source, self.group_id).committed()

    # What a test does to it

    def rebalance(self) -> None:
        """Have the tasks assigned anew: each member gets a new epoch, and what the assignor gives
        it. An emulator's only. Raises Refused: GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID if it has no
        members."""
        self._source.powers.rebalance(self.group_id)

    # Helpers

    def _found(self) -> Any:
        """What StreamsGroupDescribe says; None if there is no such group."""
        request = StreamsGroupDescribeRequest(
            group_ids=[self.group_id], include_authorized_operations=False
        )
        (found,) = self._source.ask(request, _DESCRIBE).groups
        if found.error_code in _NOT_HERE:
            return None
        check(found.error_code, f"streams group {self.group_id!r}", found.error_message)
        return found

    def _described(self) -> Described:
        found = self._found()
        if found is None:
            return Described(STREAMS, DEAD, "", None)
        reads = {
            each.subtopology_id: (*each.source_topics, *each.repartition_topics)
            for each in map(_subtopology, found.topology.subtopologies)
        }
        names = sorted({name for each in reads.values() for name in each})
        counts = self._partition_counts(names)
        members = tuple(self._member(each, reads, counts) for each in found.members)
        return Described(STREAMS, found.group_state, "", found.group_epoch, members)

    def _member(
        self, found: Any, reads: dict[str, tuple[str, ...]], counts: dict[str, int]
    ) -> SeenMember:
        places = sorted(
            (topic, number)
            for each in found.assignment.active_tasks
            for topic in reads.get(each.subtopology_id, ())
            for number in each.partitions
            if number < counts.get(topic, 0)
        )
        return seen_member(self._source, found, None, places, found.member_epoch)

    def _partition_counts(self, names: list[str]) -> dict[str, int]:
        """Of those of these topics that are there."""
        if not names:
            return {}
        asked = [MetadataRequest.Topic(name=name) for name in names]
        request = MetadataRequest(topics=asked, allow_auto_topic_creation=False)
        topics = self._source.ask(request, _METADATA).topics
        return {each.name: len(each.partitions) for each in topics if not each.error_code}

    def _about(self) -> str:
        found = self._described()
        members = ", ".join(map(repr, found.members)) or "no members"
        return f"{found.state}, epoch {found.epoch}, {members}"


def _in_order(task: SeenTask) -> tuple[bool, str, int, str]:
    return not task.is_active, task.subtopology_id, task.partition, task.member_id


def _identity(member: Any) -> tuple[str, str, str]:
    return member.member_id, member.client_id, member.process_id


def _subtopology(found: Any) -> SeenSubtopology:
    return SeenSubtopology(
        found.subtopology_id,
        tuple(found.source_topics),
        tuple(each.name for each in found.repartition_source_topics),
        tuple(found.repartition_sink_topics),
        tuple(each.name for each in found.state_changelog_topics),
    )
