"""A view of a consumer group: its members, what it has committed, how far it lags.

A group of the consumer protocol (KIP-848) is described by ConsumerGroupDescribe, one of the classic
protocol by DescribeGroups. A view of a group that does not exist is in the state "Dead", as Kafka
has it: a test may take it before its consumers start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from ...wire import Error, Refused, WireError
from ...wire.api.consumer_group_describe import ConsumerGroupDescribeRequest
from ...wire.api.describe_groups import DescribeGroupsRequest
from ...wire.api.find_coordinator import FindCoordinatorRequest
from ...wire.api.leave_group import LeaveGroupRequest
from ...wire.api.offset_commit import OffsetCommitRequest
from ...wire.api.offset_fetch import OffsetFetchRequest
from ...wire.stored.consumer_protocol import ConsumerProtocolAssignment
from ...wire.stored.keyed import read_value
from ..base.words import Guessable
from .group_views import GroupConfigs, GroupOffsets, offsets_of, seen_member
from .group_waits import GroupWaits, MemberWaits, of_another_type, places_of
from .members import DEAD, Described, Place, SeenMember, SeenOffset
from .moving import GROUP, CoordinatorPartition
from .produced import to_ms
from .reading import EARLIEST, LATEST, partition_count
from .source import Source, check, described
from .waiting import in_thread

# Versions that all of these releases serve.
_DESCRIBE, _CONSUMER_DESCRIBE, _OFFSET_FETCH, _OFFSET_COMMIT, _LEAVE, _FIND = 5, 0, 8, 8, 5, 4
_NOT_HERE = (Error.NOT_COORDINATOR, Error.COORDINATOR_NOT_AVAILABLE)
_NO_CONSUMER_GROUP = (*_NOT_HERE, Error.GROUP_ID_NOT_FOUND, Error.UNSUPPORTED_VERSION)
_ANY_GENERATION = -1
_NO_OFFSET = -1
CLASSIC = "classic"
CONSUMER = "consumer"


class GroupView(MemberWaits, GroupWaits, GroupOffsets, GroupConfigs, Guessable):
    """A group, read anew at each call. Methods raise Refused as the broker would answer."""

    def __init__(self, source: Source, group_id: str) -> None:
        self._source = source
        self.group_id = group_id

    def __repr__(self) -> str:
        return described(f"group {self.group_id}", self._about)

    @property
    def type(self) -> str:
        """The protocol of its members: "classic", or "consumer" (KIP-848)."""
        return self._described().type

    @property
    def state(self) -> str:
        """As Kafka names it: "Stable", "PreparingRebalance", "Empty", "Dead" if there is none."""
        return self._described().state

    @property
    def protocol(self) -> str:
        """The assignor that is in use, for instance "range"; "" while there is none."""
        return self._described().protocol

    @property
    def generation(self) -> int | None:
        """The generation of a classic group, the epoch of one of the consumer protocol: it rises
        with each rebalance. None if there is no such group."""
        return self._described().epoch

    @property
    def members(self) -> tuple[SeenMember, ...]:
        """Its members."""
        return self._described().members

    def committed(self) -> dict[Place, SeenOffset]:
        """The committed offsets with their metadata, by topic and partition."""
        asked = OffsetFetchRequest.Group(group_id=self.group_id, topics=None)
        (found,) = self._source.ask(OffsetFetchRequest(groups=[asked]), _OFFSET_FETCH).groups
        if found.error_code in _NOT_HERE:
            return {}
        check(found.error_code, f"the offsets of group {self.group_id!r}")
        offsets = {
            (topic.name, each.partition_index): SeenOffset(each.committed_offset, each.metadata)
            for topic in found.topics
            for each in topic.partitions
        }
        return dict(sorted(offsets.items()))

    # What a test does to it

    def commit(self, offsets: Mapping[Place, int | tuple[int, str]]) -> None:
        """Commit offsets, or pairs of an offset and its metadata, as an administrator: the group
        may have no members. Raises Refused: UNKNOWN_MEMBER_ID while it has some, UNKNOWN_TOPIC_
        OR_PARTITION; TypeError, ValueError."""
        given = {place: _to_commit(place, each) for place, each in places_of(offsets).items()}
        found = self._source.ask(FindCoordinatorRequest(coordinator_keys=[self.group_id]), _FIND)
        for each in found.coordinators:
            check(each.error_code, f"the coordinator of group {self.group_id!r}")
        topics: dict[str, Any] = {}
        for (named, index), (offset, metadata) in given.items():
            topic = self._source.topic_name(named)
            entry = topics.setdefault(topic, OffsetCommitRequest.Topic(name=topic, partitions=[]))
            entry.partitions.append(
                OffsetCommitRequest.Topic.Partition(
                    partition_index=index, committed_offset=offset, committed_metadata=metadata
                )
            )
        request = OffsetCommitRequest(
            group_id=self.group_id,
            generation_id_or_member_epoch=_ANY_GENERATION,
            topics=list(topics.values()),
        )
        for answered in self._source.ask(request, _OFFSET_COMMIT).topics:
            for each in answered.partitions:
                self._check_commit(each.error_code, f"{answered.name}-{each.partition_index}")

    def reset(
        self, to: str | int | datetime, topics: str | Iterable[str] | None = None
    ) -> dict[Place, int]:
        """Commit other offsets: to "earliest", "latest", an offset (an int), or the first record at
        or after a time (a datetime; the end, if there is none). Of all partitions of these topics,
        by default of those for which it has committed. Returns the offsets. Raises Refused as
        `commit` does, ValueError."""
        places = self._to_reset(topics)
        if isinstance(to, int) and not isinstance(to, bool):
            offsets = dict.fromkeys(places, to)
        elif isinstance(to, datetime):
            found, ends = (
                offsets_of(self._source, places, to_ms(to, 0)),
                offsets_of(self._source, places, LATEST),
            )
            offsets = {place: at if at >= 0 else ends[place] for place, at in found.items()}
        elif to in ("earliest", "latest"):
            offsets = offsets_of(self._source, places, EARLIEST if to == "earliest" else LATEST)
        else:
            kinds = '"earliest", "latest", an offset or a datetime'
            raise ValueError(f"to is {kinds}, not {to!r}")
        self.commit(offsets)
        return offsets

    def rebalance(self) -> None:
        """Have its members rebalance: in the classic protocol each is told so by its next heartbeat
        and joins again, in the consumer protocol each gets a new epoch, and what the assignor gives
        it. Raises Refused: GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID if it has no members."""
        self._source.powers.rebalance(self.group_id)

    def kick(self, member: SeenMember | str) -> None:
        """Remove a member, given by itself or by its id, as an administrator does; its client
        joins again. Raises Refused(UNKNOWN_MEMBER_ID), TypeError."""
        member_id = member.member_id if isinstance(member, SeenMember) else member
        if not isinstance(member_id, str):
            raise TypeError(f"member is one of the group's members, or its id, not {member!r}")
        asked = LeaveGroupRequest.Member(member_id=member_id, reason="kicked by a test")
        request = LeaveGroupRequest(group_id=self.group_id, members=[asked])
        answer = self._source.ask(request, _LEAVE)
        what = f"kicking {member_id} out of group {self.group_id!r}"
        code = answer.error_code or answer.members[0].error_code
        if code in (*_NOT_HERE, Error.UNKNOWN_MEMBER_ID):
            members = ", ".join(each.member_id for each in self.members) or "none"
            raise Refused(Error.UNKNOWN_MEMBER_ID, f"{what}: its members are {members}")
        check(code, what)

    def move_coordinator(self, to: int, *, timeout: float | None = None) -> None:
        """Have another broker coordinate it: one with a replica, in sync, of the partition of
        `__consumer_offsets` that keeps it, which that broker then leads. Members, generation and
        offsets stay. Raises ValueError, RuntimeError as `PartitionView.move_leader` does."""
        __tracebackhide__ = True
        CoordinatorPartition(self._source, GROUP, self.group_id).move_leader(to, timeout=timeout)

    async def amove_coordinator(self, to: int, *, timeout: float | None = None) -> None:
        """`move_coordinator` in a coroutine."""
        __tracebackhide__ = True
        kept = await in_thread(partial(CoordinatorPartition, self._source, GROUP, self.group_id))
        await kept.amove_leader(to, timeout=timeout)

    # Helpers

    def _described(self) -> Described:
        request = ConsumerGroupDescribeRequest(
            group_ids=[self.group_id], include_authorized_operations=False
        )
        (found,) = self._source.ask(request, _CONSUMER_DESCRIBE).groups
        if found.error_code in _NO_CONSUMER_GROUP:
            return self._described_as_classic()
        check(found.error_code, f"group {self.group_id!r}", found.error_message)
        members = tuple(
            seen_member(
                self._source, each, each.instance_id, _places(each.assignment), each.member_epoch
            )
            for each in found.members
        )
        state, epoch = found.group_state, found.group_epoch
        return Described(CONSUMER, state, found.assignor_name, epoch, members)

    def _described_as_classic(self) -> Described:
        request = DescribeGroupsRequest(groups=[self.group_id])
        (found,) = self._source.ask(request, _DESCRIBE).groups
        if found.error_code in _NOT_HERE:
            return Described(CLASSIC, DEAD, "", None)
        check(found.error_code, f"group {self.group_id!r}")
        members = tuple(
            seen_member(
                self._source,
                each,
                each.group_instance_id,
                _assigned(found.protocol_type, each),
                None,
            )
            for each in found.members
        )
        state, generation = found.group_state, self._source.generation(self.group_id)
        return Described(CLASSIC, state, found.protocol_data, generation, members)

    def _about(self) -> str:
        found = self._described()
        members = ", ".join(map(repr, found.members)) or "no members"
        lag = sum(self.lags().values())
        return f"{found.state}, generation {found.epoch}, {members}, lag {lag}"

    def _to_reset(self, topics: str | Iterable[str] | None) -> list[Place]:
        if topics is None:
            places = list(self.offsets())
            if not places:
                text = f"group {self.group_id!r} has committed nothing: name the topics to reset"
                raise ValueError(f"{text}, reset(..., topics=[...])")
            return places
        given = [topics] if isinstance(topics, str) else topics
        names = [self._source.topic_name(name) for name in given]
        return [
            (name, index) for name in names for index in range(partition_count(self._source, name))
        ]

    def _check_commit(self, code: int, place: str) -> None:
        what = f"committing {place} for group {self.group_id!r}"
        if code == Error.UNKNOWN_MEMBER_ID:
            members = ", ".join(map(repr, self.members))
            why = "Kafka takes offsets from outside only while a group has no members"
            todo = "close its consumers, or kick them, first"
            has = f"It has {members}: {todo}" if members else "; ".join(of_another_type(self))
            raise Refused(Error.UNKNOWN_MEMBER_ID, f"{what}: {why}. {has}")
        check(code, what)


def _to_commit(place: Place, given: Any) -> tuple[int, str]:
    """An offset and its metadata."""
    offset, metadata = given if isinstance(given, tuple) and len(given) == 2 else (given, "")
    if type(offset) is not int or not isinstance(metadata, str):
        kinds = "an offset (int), or a pair of an offset and its metadata (str)"
        raise TypeError(f"what is committed of {place!r} is {kinds}, not {given!r}")
    if offset < 0:
        raise ValueError(f"the offset of {place!r} is from 0 on, not {offset}")
    return offset, metadata


def _places(assignment: Any) -> tuple[Place, ...]:
    return tuple(
        sorted(
            (each.topic_name, at) for each in assignment.topic_partitions for at in each.partitions
        )
    )


def _assigned(protocol_type: str, member: Any) -> tuple[Place, ...]:
    """What the leader has assigned to a member, if it speaks the consumers' embedded protocol."""
    if protocol_type != CONSUMER or not member.member_assignment:
        return ()
    try:
        told, _ = read_value(ConsumerProtocolAssignment, member.member_assignment, newer=True)
    except WireError:
        return ()  # an assignor with a format of its own
    entries = told.assigned_partitions
    return tuple(sorted((each.topic, index) for each in entries for index in each.partitions))
