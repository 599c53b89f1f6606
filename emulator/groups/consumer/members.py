"""A member of a consumer group (KIP-848): what it has reported of itself, and what it has.

A member is an immutable value. `assigned` and `revoking` map a topic's id to its partitions, and
each of those to the group's epoch in which it was assigned (KIP-1251). `classic` is set for a
member that speaks the classic protocol (semantics G26).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ....wire.stored.consumer_groups import (
    ConsumerGroupCurrentMemberAssignmentValue as CurrentValue,
)
from ....wire.stored.consumer_groups import ConsumerGroupMemberMetadataValue as MemberValue
from ..classic.messages import Protocols
from .states import MemberState

Epochs = Mapping[bytes, Mapping[int, int]]
Assignment = Mapping[bytes, frozenset[int]]

JOINING_EPOCH = 0
LEAVE_EPOCH = -1
STATIC_LEAVE_EPOCH = -2
NO_TIMEOUT = -1


class ClassicSide(NamedTuple):
    """What a member sent in its JoinGroup."""

    session_timeout_ms: int
    protocols: Protocols

    @property
    def protocol_name(self) -> str:
        """The protocol that its Join is answered: its first."""
        return self.protocols[0][0]


@dataclass(frozen=True, slots=True)
class ConsumerMember:
    """One member."""

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    names: frozenset[str] = frozenset()
    regex: str = ""
    rebalance_timeout_ms: int = NO_TIMEOUT
    assignor: str | None = None
    classic: ClassicSide | None = None
    epoch: int = JOINING_EPOCH
    previous_epoch: int = JOINING_EPOCH
    state: MemberState = MemberState.STABLE
    assigned: Epochs = field(default_factory=dict)
    revoking: Epochs = field(default_factory=dict)

    def is_reconciled_to(self, epoch: int) -> bool:
        """True if it has reached the target assignment of this epoch."""
        return self.state is MemberState.STABLE and self.epoch == epoch

    def moved(
        self, state: MemberState, epoch: int, assigned: Epochs, revoking: Epochs
    ) -> ConsumerMember:
        """The member after a step of reconciliation."""
        return replace(
            self,
            state=state,
            epoch=epoch,
            previous_epoch=self.epoch,
            assigned=assigned,
            revoking=revoking,
        )

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


def same_partitions(left: Epochs, right: Epochs) -> bool:
    """True if both have the same partitions, whatever the epochs."""
    return left.keys() == right.keys() and all(
        partitions.keys() == right[topic_id].keys() for topic_id, partitions in left.items()
    )


def member_value(member: ConsumerMember) -> MemberValue:
    """The value of record 5 of a member."""
    classic = None
    if member.classic is not None:
        side = MemberValue.ClassicMemberMetadata
        classic = side(
            session_timeout_ms=member.classic.session_timeout_ms,
            supported_protocols=[
                side.ClassicProtocol(name=name, metadata=metadata)
                for name, metadata in member.classic.protocols
            ],
        )
    return MemberValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.names),
        subscribed_topic_regex=member.regex,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        server_assignor=member.assignor,
        classic_member_metadata=classic,
    )


def with_member_value(member: ConsumerMember, value: MemberValue) -> ConsumerMember:
    """The member with the value of record 5; its partitions stay."""
    side = value.classic_member_metadata
    classic = None
    if side is not None:
        protocols = tuple((p.name, bytes(p.metadata)) for p in side.supported_protocols)
        classic = ClassicSide(side.session_timeout_ms, protocols)
    return replace(
        member,
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


def current_value(member: ConsumerMember) -> CurrentValue:
    """The value of record 8 of a member."""
    return CurrentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=member.state,
        assigned_partitions=_stored(member.assigned),
        partitions_pending_revocation=_stored(member.revoking),
    )


def with_current_value(member: ConsumerMember, value: CurrentValue) -> ConsumerMember:
    """The member with the value of record 8. An unknown state counts as stable."""
    known = value.state in MemberState.__members__.values()
    return replace(
        member,
        epoch=value.member_epoch,
        previous_epoch=value.previous_member_epoch,
        state=MemberState(value.state) if known else MemberState.STABLE,
        assigned=_restored(value.assigned_partitions, value.member_epoch),
        revoking=_restored(value.partitions_pending_revocation, value.member_epoch),
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
