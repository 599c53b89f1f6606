"""Which records each internal topic of the coordinators holds: record type, key and value.

The metadata log has another framing (cluster.py, control.py). Type 0 of `__consumer_offsets` is an
offset of brokers before 0.9; its value is that of type 1 in version 0.
"""

from __future__ import annotations

from typing import TypeAlias

from ..primitives import Buffer
from ..schema import Message
from . import consumer_groups as consumer
from . import groups, offsets, share_groups, share_state, streams_groups, transactions
from .keyed import Key, read_key, read_value

Records: TypeAlias = dict[int, tuple[type[Key], type[Message]]]


CONSUMER_OFFSETS: Records = {
    0: (offsets.OffsetCommitKey, offsets.OffsetCommitValue),
    1: (offsets.OffsetCommitKey, offsets.OffsetCommitValue),
    2: (groups.GroupMetadataKey, groups.GroupMetadataValue),
    3: (consumer.ConsumerGroupMetadataKey, consumer.ConsumerGroupMetadataValue),
    4: (consumer.ConsumerGroupPartitionMetadataKey, consumer.ConsumerGroupPartitionMetadataValue),
    5: (consumer.ConsumerGroupMemberMetadataKey, consumer.ConsumerGroupMemberMetadataValue),
    6: (
        consumer.ConsumerGroupTargetAssignmentMetadataKey,
        consumer.ConsumerGroupTargetAssignmentMetadataValue,
    ),
    7: (
        consumer.ConsumerGroupTargetAssignmentMemberKey,
        consumer.ConsumerGroupTargetAssignmentMemberValue,
    ),
    8: (
        consumer.ConsumerGroupCurrentMemberAssignmentKey,
        consumer.ConsumerGroupCurrentMemberAssignmentValue,
    ),
    10: (share_groups.ShareGroupMemberMetadataKey, share_groups.ShareGroupMemberMetadataValue),
    11: (share_groups.ShareGroupMetadataKey, share_groups.ShareGroupMetadataValue),
    12: (
        share_groups.ShareGroupTargetAssignmentMetadataKey,
        share_groups.ShareGroupTargetAssignmentMetadataValue,
    ),
    13: (
        share_groups.ShareGroupTargetAssignmentMemberKey,
        share_groups.ShareGroupTargetAssignmentMemberValue,
    ),
    14: (
        share_groups.ShareGroupCurrentMemberAssignmentKey,
        share_groups.ShareGroupCurrentMemberAssignmentValue,
    ),
    15: (
        share_groups.ShareGroupStatePartitionMetadataKey,
        share_groups.ShareGroupStatePartitionMetadataValue,
    ),
    16: (consumer.ConsumerGroupRegularExpressionKey, consumer.ConsumerGroupRegularExpressionValue),
    17: (streams_groups.StreamsGroupMetadataKey, streams_groups.StreamsGroupMetadataValue),
    19: (
        streams_groups.StreamsGroupMemberMetadataKey,
        streams_groups.StreamsGroupMemberMetadataValue,
    ),
    20: (
        streams_groups.StreamsGroupTargetAssignmentMetadataKey,
        streams_groups.StreamsGroupTargetAssignmentMetadataValue,
    ),
    21: (
        streams_groups.StreamsGroupTargetAssignmentMemberKey,
        streams_groups.StreamsGroupTargetAssignmentMemberValue,
    ),
    22: (
        streams_groups.StreamsGroupCurrentMemberAssignmentKey,
        streams_groups.StreamsGroupCurrentMemberAssignmentValue,
    ),
    23: (streams_groups.StreamsGroupTopologyKey, streams_groups.StreamsGroupTopologyValue),
}
TRANSACTION_STATE: Records = {
    0: (transactions.TransactionLogKey, transactions.TransactionLogValue),
}
SHARE_GROUP_STATE: Records = {
    0: (share_state.ShareSnapshotKey, share_state.ShareSnapshotValue),
    1: (share_state.ShareUpdateKey, share_state.ShareUpdateValue),
}

INTERNAL_TOPICS: dict[str, Records] = {
    "__consumer_offsets": CONSUMER_OFFSETS,
    "__transaction_state": TRANSACTION_STATE,
    "__share_group_state": SHARE_GROUP_STATE,
}


def read_pair(records: Records, key: Buffer, value: Buffer | None) -> tuple[Key, Message | None]:
    """Decode key and value of a record of one of these types; a null value stays None.

    Raises WireError for damage, and for types and versions not known.
    """
    decoded, record_type = read_key((pair[0] for pair in records.values()), key)
    return decoded, None if value is None else read_value(records[record_type][1], value)[0]
