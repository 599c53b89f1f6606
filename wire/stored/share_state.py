"""The positions of share groups, as `__share_group_state` keeps them: keys and values.

A snapshot (type 0) holds the state of a partition, an update (type 1) what has changed since. A
key begins with its record type, a value with its version (keyed.py). A null value deletes the
state.
Source: KIP-932.
"""

from __future__ import annotations

from ..schema import UUID, Message, Struct, i8, i16, i32, i64, tag
from .keyed import Key


class ShareSnapshotKey(Key, record_types="0", versions="0"):
    """The group and the partition."""

    group_id: str
    topic_id: UUID
    partition: i32


class ShareSnapshotValue(Message, versions="0", flexible="0+"):
    """The start offset, and the batches after it whose delivery is not settled. Times in ms."""

    snapshot_epoch: i32
    state_epoch: i32
    leader_epoch: i32
    start_offset: i64
    delivery_complete_count: i32 = tag(0, "0+", default=-1)
    create_timestamp: i64
    write_timestamp: i64
    state_batches: list[StateBatch]

    class StateBatch(Struct):
        first_offset: i64
        last_offset: i64
        delivery_state: i8
        delivery_count: i16


class ShareUpdateKey(Key, record_types="1", versions="0"):
    """The group and the partition."""

    group_id: str
    topic_id: UUID
    partition: i32


class ShareUpdateValue(Message, versions="0", flexible="0+"):
    """The change since the snapshot of this epoch."""

    snapshot_epoch: i32
    leader_epoch: i32
    start_offset: i64
    delivery_complete_count: i32 = tag(0, "0+", default=-1)
    state_batches: list[StateBatch]

    class StateBatch(Struct):
        first_offset: i64
        last_offset: i64
        delivery_state: i8
        delivery_count: i16
