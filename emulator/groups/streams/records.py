"""The records of a streams group (KIP-1071), before they are encoded.

A record type is its number in `__consumer_offsets`; a null value deletes what the key names. They
are written in this order (semantics N39): a member 19, the topology 23, the group 17, targets 21
and 20, a member's tasks 22; when a member leaves 22, 21, 19, 17.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....wire.stored import streams_groups as stored
from ....wire.stored.keyed import Key
from ..records import MessageRecord, message_decoders
from .members import StreamsMember, current_value, member_value
from .tasks import Target, Tasks

DECODERS = message_decoders(
    {
        stored.StreamsGroupMetadataKey: stored.StreamsGroupMetadataValue,
        stored.StreamsGroupMemberMetadataKey: stored.StreamsGroupMemberMetadataValue,
        stored.StreamsGroupTargetAssignmentMetadataKey: (
            stored.StreamsGroupTargetAssignmentMetadataValue
        ),
        stored.StreamsGroupTargetAssignmentMemberKey: (
            stored.StreamsGroupTargetAssignmentMemberValue
        ),
        stored.StreamsGroupCurrentMemberAssignmentKey: (
            stored.StreamsGroupCurrentMemberAssignmentValue
        ),
        stored.StreamsGroupTopologyKey: stored.StreamsGroupTopologyValue,
    }
)


def group_record(
    group_id: str,
    epoch: int,
    metadata_hash: int,
    validated_epoch: int,
    configs: Mapping[str, str],
) -> MessageRecord:
    """17: the group's epoch, a hash of its topics, the epoch of the topology that they fit (-1 for
    none), and the configs of its assignment."""
    value = stored.StreamsGroupMetadataValue(
        epoch=epoch,
        metadata_hash=metadata_hash,
        validated_topology_epoch=validated_epoch,
        last_assignment_configs=[
            stored.StreamsGroupMetadataValue.Config(key=key, value=configs[key])
            for key in sorted(configs)
        ],
    )
    return MessageRecord(stored.StreamsGroupMetadataKey(group_id=group_id), value)


def member_record(group_id: str, member: StreamsMember) -> MessageRecord:
    """19: what a member has reported of itself."""
    key = stored.StreamsGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id)
    return MessageRecord(key, member_value(member))


def target_epoch_record(group_id: str, epoch: int, timestamp: int) -> MessageRecord:
    """20: the epoch of the target assignment, and when it was computed."""
    key = stored.StreamsGroupTargetAssignmentMetadataKey(group_id=group_id)
    value = stored.StreamsGroupTargetAssignmentMetadataValue(
        assignment_epoch=epoch, assignment_timestamp=timestamp
    )
    return MessageRecord(key, value)


def target_record(group_id: str, member_id: str, target: Target) -> MessageRecord:
    """21: the target of a member."""
    key = stored.StreamsGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id)
    value = stored.StreamsGroupTargetAssignmentMemberValue(
        active_tasks=_stored(target.active), standby_tasks=_stored(target.standby), warmup_tasks=[]
    )
    return MessageRecord(key, value)


def _stored(tasks: Tasks) -> list[stored.StreamsGroupTargetAssignmentMemberValue.TaskIds]:
    return [
        stored.StreamsGroupTargetAssignmentMemberValue.TaskIds(
            subtopology_id=each, partitions=sorted(tasks[each])
        )
        for each in sorted(tasks)
    ]


def restored_target(value: stored.StreamsGroupTargetAssignmentMemberValue) -> Target:
    """What record 21 says."""
    return Target(
        {each.subtopology_id: frozenset(each.partitions) for each in value.active_tasks},
        {each.subtopology_id: frozenset(each.partitions) for each in value.standby_tasks},
    )


def current_record(group_id: str, member: StreamsMember) -> MessageRecord:
    """22: what a member has."""
    key = stored.StreamsGroupCurrentMemberAssignmentKey(
        group_id=group_id, member_id=member.member_id
    )
    return MessageRecord(key, current_value(member))


def topology_record(group_id: str, topology: stored.StreamsGroupTopologyValue) -> MessageRecord:
    """23: the topology."""
    return MessageRecord(stored.StreamsGroupTopologyKey(group_id=group_id), topology)


def member_tombstones(group_id: str, member_id: str) -> list[MessageRecord]:
    """22, 21 and 19 of one member, deleted."""
    return [
        MessageRecord(key(group_id=group_id, member_id=member_id), None)
        for key in (
            stored.StreamsGroupCurrentMemberAssignmentKey,
            stored.StreamsGroupTargetAssignmentMemberKey,
            stored.StreamsGroupMemberMetadataKey,
        )
    ]


def group_tombstones(group_id: str) -> list[MessageRecord]:
    """All records of a group without members, deleted: 20, 17 and 23."""
    keys: list[Key] = [
        stored.StreamsGroupTargetAssignmentMetadataKey(group_id=group_id),
        stored.StreamsGroupMetadataKey(group_id=group_id),
        stored.StreamsGroupTopologyKey(group_id=group_id),
    ]
    return [MessageRecord(key, None) for key in keys]
