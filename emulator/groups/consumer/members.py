"""A member of a consumer group (KIP-848), one step of it towards the target assignment, and the
records of a group.

`assigned` and `revoking` map a topic's id to its partitions, and each of those to the group's epoch
in which it was assigned (KIP-1251). `classic` is set for a member that speaks the classic protocol
(semantics G26).

Rules of a step (semantics G18, G19), by the state of the member:
- STABLE: a newer target moves it; a changed subscription alone only removes topics that it no
  longer subscribes to.
- UNREVOKED: it stays until it reports partitions without those it has to give up.
- Partitions it shall not keep are given up first, in its old epoch. With none to give up it enters
  the target's epoch and gets the partitions that are free. For those that other members still have
  it waits (UNRELEASED).
- A topic that it does not subscribe to is not in its target, whatever the assignor returned.

A record type is its number in `__consumer_offsets`; a null value deletes what the key names. They
are written in this order (semantics F3, G27): a member 5, the group 3, targets 7 and 6, a member's
assignment 8; when it leaves 8, 7, 5, 3. The topics of a regular expression are 16. Type 4 is only
written to delete it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import NamedTuple

from ....wire.stored import consumer_groups as stored
from ....wire.stored.consumer_groups import (
    ConsumerGroupCurrentMemberAssignmentValue as CurrentValue,
)
from ....wire.stored.consumer_groups import ConsumerGroupMemberMetadataValue as MemberValue
from ..classic.members import Protocols
from ..modern.member import MemberState, ModernMember
from ..modern.records import GroupRecords, tombstones
from ..records import MessageRecord
from ..topics_view import StoredTopic

Epochs = Mapping[bytes, Mapping[int, int]]
Assignment = Mapping[bytes, frozenset[int]]


class ClassicSide(NamedTuple):
    """The fields of a member's JoinGroup."""

    session_timeout_ms: int
    protocols: Protocols

    @property
    def protocol_name(self) -> str:
        """The protocol that its Join is answered: its first."""
        return self.protocols[0][0]


@dataclass(frozen=True, slots=True)
class ConsumerMember(ModernMember[Epochs]):
    names: frozenset[str] = frozenset()
    regex: str = ""
    assignor: str | None = None
    classic: ClassicSide | None = None

    @property
    def is_classic(self) -> bool:
        return self.classic is not None

    @property
    def own_session_timeout_ms(self) -> int | None:
        """Its session timeout, if it speaks the classic protocol."""
        return None if self.classic is None else self.classic.session_timeout_ms

    def given_in(self, topic_id: bytes, partition: int) -> int | None:
        """The epoch in which a partition was assigned that it has, or has not given up yet."""
        given = self.assigned.get(topic_id, {}).get(partition)
        return self.revoking.get(topic_id, {}).get(partition) if given is None else given

    def partitions(self) -> Iterable[tuple[bytes, int]]:
        """All partitions it has or has not given up yet: no other member may have them."""
        for held in (self.assigned, self.revoking):
            for topic_id, partitions in held.items():
                for partition in partitions:
                    yield topic_id, partition

    def reported_value(self) -> MemberValue:
        """The value of its record 5."""
        classic = None
        if self.classic is not None:
            side = MemberValue.ClassicMemberMetadata
            classic = side(
                session_timeout_ms=self.classic.session_timeout_ms,
                supported_protocols=[
                    side.ClassicProtocol(name=name, metadata=metadata)
                    for name, metadata in self.classic.protocols
                ],
            )
        return MemberValue(
            instance_id=self.instance_id,
            rack_id=self.rack_id,
            client_id=self.client_id,
            client_host=self.client_host,
            subscribed_topic_names=sorted(self.names),
            subscribed_topic_regex=self.regex,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            server_assignor=self.assignor,
            classic_member_metadata=classic,
        )

    def with_reported(self, value: MemberValue) -> ConsumerMember:
        """The member with the value of record 5; its partitions stay."""
        side = value.classic_member_metadata
        classic = None
        if side is not None:
            protocols = tuple((p.name, bytes(p.metadata)) for p in side.supported_protocols)
            classic = ClassicSide(side.session_timeout_ms, protocols)
        return replace(
            self,
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            names=frozenset(value.subscribed_topic_names),
            regex=value.subscribed_topic_regex or "",
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            assignor=value.server_assignor,
            classic=classic,
        )

    def current_value(self) -> CurrentValue:
        """The value of its record 8."""
        return CurrentValue(
            member_epoch=self.epoch,
            previous_member_epoch=self.previous_epoch,
            state=self.state,
            assigned_partitions=_stored(self.assigned),
            partitions_pending_revocation=_stored(self.revoking),
        )

    def with_current(self, value: CurrentValue) -> ConsumerMember:
        """The member with the value of record 8. An unknown state counts as stable."""
        is_known = value.state in _STORED_STATES
        return replace(
            self,
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            state=MemberState(value.state) if is_known else MemberState.STABLE,
            assigned=_restored(value.assigned_partitions, value.member_epoch),
            revoking=_restored(value.partitions_pending_revocation, value.member_epoch),
        )


_STORED_STATES = (MemberState.STABLE, MemberState.UNREVOKED, MemberState.UNRELEASED)


def same_partitions(left: Epochs, right: Epochs) -> bool:
    """True if both have the same partitions, whatever the epochs."""
    return left.keys() == right.keys() and all(
        partitions.keys() == right[topic_id].keys() for topic_id, partitions in left.items()
    )


def _stored(held: Epochs) -> list[CurrentValue.TopicPartitions]:
    return [
        CurrentValue.TopicPartitions(
            topic_id=topic_id,
            partitions=list(partitions),
            assignment_epochs=list(partitions.values()),
        )
        for topic_id, partitions in held.items()
    ]


def _restored(stored: list[CurrentValue.TopicPartitions], member_epoch: int) -> Epochs:
    held = {}
    for topic in stored:
        # Before KIP-1251 the epochs were not written: the member's own is used.
        epochs = topic.assignment_epochs or [member_epoch] * len(topic.partitions)
        held[topic.topic_id] = dict(zip(topic.partitions, epochs, strict=False))
    return held


Owned = Mapping[bytes, Collection[int]]


class Goal(NamedTuple):
    """The target of a member, and what its next step depends on."""

    epoch: int
    target: Assignment
    subscribed: Set[bytes]
    """Those of the topics it subscribes to that exist."""
    asks: bool
    """Whether it subscribes to any topic."""
    subscription_changed: bool
    is_held: Callable[[bytes, int], bool]
    owned: Owned | None
    """The partitions that the member reports; None if it reports none."""
    frees_own: bool = True
    """Whether what it has not given up yet is free for itself, and what it no longer subscribes to
    is taken from it at once."""


def reconcile(member: ConsumerMember, goal: Goal) -> ConsumerMember:
    """The member after this step; the same object if nothing changes."""
    if member.state is MemberState.STABLE:
        if member.epoch != goal.epoch:
            return _next(member, goal)
        return _unsubscribed(member, goal) if goal.subscription_changed else member
    if member.state is MemberState.UNREVOKED and _still_has(member.revoking, goal.owned):
        is_taken = goal.subscription_changed and goal.frees_own
        return _unsubscribed(member, goal) if is_taken else member
    return _next(member, goal)


def _still_has(partitions: Epochs, owned: Owned | None) -> bool:
    """Whether a member may still have any of these; a member that does not report may."""
    if owned is None:
        return True
    return any(not partitions.get(topic, {}).keys().isdisjoint(own) for topic, own in owned.items())


def _unsubscribed(member: ConsumerMember, goal: Goal) -> ConsumerMember:
    kept = {topic: parts for topic, parts in member.assigned.items() if topic in goal.subscribed}
    if not member.assigned and not member.revoking and not goal.asks:
        # Nothing to remove, but a real broker counts it as a step and writes a record.
        return member.moved(member.state, member.epoch, {}, {})
    if len(kept) == len(member.assigned):
        return member
    revoking = {topic: dict(parts) for topic, parts in member.revoking.items()}
    for topic, parts in member.assigned.items():
        if topic not in kept:
            revoking.setdefault(topic, {}).update(parts)
    if _still_has(revoking, goal.owned):
        return member.moved(MemberState.UNREVOKED, member.epoch, kept, revoking)
    return member.moved(member.state, member.epoch, kept, member.revoking)


def _next(member: ConsumerMember, goal: Goal) -> ConsumerMember:
    kept: dict[bytes, dict[int, int]] = {}
    revoking: dict[bytes, dict[int, int]] = {}
    free: dict[bytes, list[int]] = {}
    is_waiting = False
    for topic in dict.fromkeys((*goal.target, *member.assigned)):
        is_wanted = topic in goal.subscribed or not goal.frees_own
        target = goal.target.get(topic, frozenset()) if is_wanted else frozenset()
        for partition, epoch in member.assigned.get(topic, {}).items():
            place = kept if partition in target else revoking
            place.setdefault(topic, {})[partition] = epoch
        for partition in sorted(target.difference(kept.get(topic, ()))):
            # A partition that it has not given up yet itself is free for it.
            is_own = goal.frees_own and partition in member.revoking.get(topic, ())
            if goal.is_held(topic, partition) and not is_own:
                is_waiting = True
            else:
                free.setdefault(topic, []).append(partition)
    if revoking and _still_has(revoking, goal.owned):
        return member.moved(MemberState.UNREVOKED, member.epoch, kept, revoking)
    for topic, partitions in free.items():
        kept.setdefault(topic, {}).update(dict.fromkeys(partitions, goal.epoch))
    state = MemberState.UNRELEASED if is_waiting else MemberState.STABLE
    return member.moved(state, goal.epoch, kept, {})


RECORDS = GroupRecords(
    group=(stored.ConsumerGroupMetadataKey, stored.ConsumerGroupMetadataValue),
    member=(stored.ConsumerGroupMemberMetadataKey, stored.ConsumerGroupMemberMetadataValue),
    target_epoch=(
        stored.ConsumerGroupTargetAssignmentMetadataKey,
        stored.ConsumerGroupTargetAssignmentMetadataValue,
    ),
    target=(
        stored.ConsumerGroupTargetAssignmentMemberKey,
        stored.ConsumerGroupTargetAssignmentMemberValue,
    ),
    current=(
        stored.ConsumerGroupCurrentMemberAssignmentKey,
        stored.ConsumerGroupCurrentMemberAssignmentValue,
    ),
    others={
        stored.ConsumerGroupPartitionMetadataKey: stored.ConsumerGroupPartitionMetadataValue,
        stored.ConsumerGroupRegularExpressionKey: stored.ConsumerGroupRegularExpressionValue,
    },
)


class ResolvedRegex(NamedTuple):
    """The topics that a regular expression matched, in a version of the metadata, at a time."""

    topics: frozenset[str]
    version: int
    timestamp: int


def target_value(target: Assignment) -> stored.ConsumerGroupTargetAssignmentMemberValue:
    """7: the target of a member."""
    part = stored.ConsumerGroupTargetAssignmentMemberValue.TopicPartition
    return stored.ConsumerGroupTargetAssignmentMemberValue(
        topic_partitions=[part(topic_id=t, partitions=sorted(parts)) for t, parts in target.items()]
    )


def regex_record(group_id: str, regex: str, resolved: ResolvedRegex) -> MessageRecord:
    """16: the topics that a regular expression matches."""
    key = stored.ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex)
    value = stored.ConsumerGroupRegularExpressionValue(
        topics=sorted(resolved.topics), version=resolved.version, timestamp=resolved.timestamp
    )
    return MessageRecord(key, value)


def regex_tombstone(group_id: str, regex: str) -> MessageRecord:
    """16, deleted: nobody subscribes to it any more."""
    key = stored.ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex)
    return MessageRecord(key, None)


def partition_metadata_record(group_id: str, topics: Iterable[StoredTopic]) -> MessageRecord:
    """4: the topics that a group reads; 4.0 too writes no racks of their partitions."""
    topic = stored.ConsumerGroupPartitionMetadataValue.Topic
    value = stored.ConsumerGroupPartitionMetadataValue(
        topics=[
            topic(
                topic_id=each.id,
                topic_name=each.name,
                num_partitions=len(each.partitions),
                partition_metadata=[],
            )
            for each in topics
        ]
    )
    return MessageRecord(stored.ConsumerGroupPartitionMetadataKey(group_id=group_id), value)


def partition_metadata_tombstone(group_id: str) -> MessageRecord:
    """4, deleted: a broker before 4.1 wrote it."""
    return MessageRecord(stored.ConsumerGroupPartitionMetadataKey(group_id=group_id), None)


def group_tombstones(
    group_id: str, member_ids: Iterable[str], regexes: Iterable[str]
) -> list[MessageRecord]:
    """All records of a group, deleted: 8, 7, 6, 5, 16, 4 and 3."""
    members = [RECORDS.member_tombstones(group_id, member_id) for member_id in member_ids]
    return [
        *(current for current, _, _ in members),
        *(target for _, target, _ in members),
        *tombstones(group_id, RECORDS.target_epoch_key),
        *(member for _, _, member in members),
        *(regex_tombstone(group_id, regex) for regex in regexes),
        *tombstones(group_id, stored.ConsumerGroupPartitionMetadataKey, RECORDS.group_key),
    ]
