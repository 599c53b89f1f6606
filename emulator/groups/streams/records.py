"""The records of a streams group (KIP-1071), before they are encoded.

A record type is its number in `__consumer_offsets`; a null value deletes what the key names. They
are written in this order (semantics N39): a member 19, the topology 23, the group 17, targets 21
and 20, a member's tasks 22; when a member leaves 22, 21, 19, 17.
"""

from __future__ import annotations

from ....wire.stored import streams_groups as stored
from ..modern.records import GroupRecords, tombstones
from ..records import MessageRecord
from .members import Target, Tasks

RECORDS = GroupRecords(
    group=(stored.StreamsGroupMetadataKey, stored.StreamsGroupMetadataValue),
    member=(stored.StreamsGroupMemberMetadataKey, stored.StreamsGroupMemberMetadataValue),
    target_epoch=(
        stored.StreamsGroupTargetAssignmentMetadataKey,
        stored.StreamsGroupTargetAssignmentMetadataValue,
    ),
    target=(
        stored.StreamsGroupTargetAssignmentMemberKey,
        stored.StreamsGroupTargetAssignmentMemberValue,
    ),
    current=(
        stored.StreamsGroupCurrentMemberAssignmentKey,
        stored.StreamsGroupCurrentMemberAssignmentValue,
    ),
    others={stored.StreamsGroupTopologyKey: stored.StreamsGroupTopologyValue},
)


def target_value(target: Target) -> stored.StreamsGroupTargetAssignmentMemberValue:
    """21: the target of a member."""
    return stored.StreamsGroupTargetAssignmentMemberValue(
        active_tasks=_stored(target.active), standby_tasks=_stored(target.standby), warmup_tasks=[]
    )


def _stored(tasks: Tasks) -> list[stored.StreamsGroupTargetAssignmentMemberValue.TaskIds]:
    return [
        stored.StreamsGroupTargetAssignmentMemberValue.TaskIds(
            subtopology_id=each, partitions=sorted(tasks[each])
        )
        for each in sorted(tasks)
    ]


def topology_record(group_id: str, topology: stored.StreamsGroupTopologyValue) -> MessageRecord:
    """23: the topology."""
    return MessageRecord(stored.StreamsGroupTopologyKey(group_id=group_id), topology)


def group_tombstones(group_id: str) -> list[MessageRecord]:
    """All records of a group without members, deleted: 20, 17 and 23."""
    return tombstones(
        group_id, RECORDS.target_epoch_key, RECORDS.group_key, stored.StreamsGroupTopologyKey
    )
