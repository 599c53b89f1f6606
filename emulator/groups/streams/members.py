"""A member of a streams group (KIP-1071): what it has reported of itself, and its tasks.

A member is an immutable value. Each active task it has is kept with the group's epoch in which it
was assigned (KIP-1251).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ....wire.stored.streams_groups import (
    StreamsGroupCurrentMemberAssignmentValue as CurrentValue,
)
from ....wire.stored.streams_groups import StreamsGroupMemberMetadataValue as MemberValue
from .states import MemberState
from .tasks import NONE_HELD, Epochs, Held, Tasks

JOINING_EPOCH = 0
LEAVE_EPOCH = -1
NO_TIMEOUT = -1
NO_TOPOLOGY_EPOCH = -1


class Endpoint(NamedTuple):
    """Where a member answers interactive queries."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class StreamsMember:
    """One member."""

    member_id: str
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = NO_TIMEOUT
    topology_epoch: int = NO_TOPOLOGY_EPOCH
    process_id: str = ""
    endpoint: Endpoint | None = None
    client_tags: Mapping[str, str] = field(default_factory=dict)
    epoch: int = JOINING_EPOCH
    previous_epoch: int = JOINING_EPOCH
    state: MemberState = MemberState.STABLE
    assigned: Held = NONE_HELD
    revoking: Held = NONE_HELD

    @property
    def instance_id(self) -> None:
        """Members of streams groups are never static."""
        return None

    def is_reconciled_to(self, epoch: int) -> bool:
        """True if it has reached the target assignment of this epoch."""
        return self.state is MemberState.STABLE and self.epoch == epoch

    def moved(
        self, state: MemberState, epoch: int, assigned: Held, revoking: Held = NONE_HELD
    ) -> StreamsMember:
        """The member after a step of reconciliation."""
        return replace(
            self,
            state=state,
            epoch=epoch,
            previous_epoch=self.epoch,
            assigned=assigned,
            revoking=revoking,
        )

    def given_in(self, subtopology: str, partition: int) -> int | None:
        """The epoch in which an active task was assigned that it has, or has not given up yet."""
        given = self.assigned.active.get(subtopology, {}).get(partition)
        return self.revoking.active.get(subtopology, {}).get(partition) if given is None else given


def member_value(member: StreamsMember) -> MemberValue:
    """The value of record 19 of a member."""
    at = member.endpoint
    return MemberValue(
        instance_id=None,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=None if at is None else MemberValue.Endpoint(host=at.host, port=at.port),
        client_tags=[
            MemberValue.KeyValue(key=key, value=value)
            for key, value in sorted(member.client_tags.items())
        ],
    )


def with_member_value(member: StreamsMember, value: MemberValue) -> StreamsMember:
    """The member with the value of record 19; its tasks stay."""
    at = value.user_endpoint
    return replace(
        member,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        topology_epoch=value.topology_epoch,
        process_id=value.process_id,
        endpoint=None if at is None else Endpoint(at.host, at.port),
        client_tags={tag.key: tag.value for tag in value.client_tags},
    )


def current_value(member: StreamsMember) -> CurrentValue:
    """The value of record 22 of a member."""
    return CurrentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=member.state,
        active_tasks=_stored_epochs(member.assigned.active),
        standby_tasks=_stored(member.assigned.standby),
        warmup_tasks=[],
        active_tasks_pending_revocation=_stored_epochs(member.revoking.active),
        standby_tasks_pending_revocation=_stored(member.revoking.standby),
        warmup_tasks_pending_revocation=[],
    )


def with_current_value(member: StreamsMember, value: CurrentValue) -> StreamsMember:
    """The member with the value of record 22."""
    is_known = value.state in MemberState.__members__.values()
    epoch = value.member_epoch
    active, revoking = value.active_tasks, value.active_tasks_pending_revocation
    return replace(
        member,
        epoch=epoch,
        previous_epoch=value.previous_member_epoch,
        state=MemberState(value.state) if is_known else MemberState.UNKNOWN,
        assigned=Held(_restored_epochs(active, epoch), _restored(value.standby_tasks)),
        revoking=Held(
            _restored_epochs(revoking, epoch), _restored(value.standby_tasks_pending_revocation)
        ),
    )


def _stored_epochs(held: Epochs) -> list[CurrentValue.TaskIds]:
    return [
        CurrentValue.TaskIds(
            subtopology_id=subtopology,
            partitions=sorted(held[subtopology]),
            assignment_epochs=[held[subtopology][each] for each in sorted(held[subtopology])],
        )
        for subtopology in sorted(held)
    ]


def _stored(held: Tasks) -> list[CurrentValue.TaskIds]:
    return [
        CurrentValue.TaskIds(subtopology_id=each, partitions=sorted(held[each]))
        for each in sorted(held)
    ]


def _restored_epochs(stored: list[CurrentValue.TaskIds], member_epoch: int) -> Epochs:
    held = {}
    for tasks in stored:
        epochs = tasks.assignment_epochs or ()
        if len(epochs) != len(tasks.partitions):  # written before KIP-1251
            epochs = [member_epoch] * len(tasks.partitions)
        held[tasks.subtopology_id] = dict(zip(tasks.partitions, epochs, strict=True))
    return held


def _restored(stored: list[CurrentValue.TaskIds]) -> Tasks:
    return {tasks.subtopology_id: frozenset(tasks.partitions) for tasks in stored}
