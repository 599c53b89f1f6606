"""Committed offsets, as `__consumer_offsets` keeps them: key and value of a record.

A key begins with its record type, a value with its version (keyed.py). A null value deletes the
offset. Type 0 is the key of brokers before 0.9, with the same fields.
"""

from __future__ import annotations

from ..primitives import NO_ID
from ..schema import UUID, Message, i32, i64, tag, v
from .keyed import Key


class OffsetCommitKey(Key, record_types="0-1", versions="0"):
    """The group and the partition."""

    group: str
    topic: str
    partition: i32


class OffsetCommitValue(Message, versions="0-4", flexible="4+"):
    """The offset, when it was committed (ms), and in v1 when it expires."""

    offset: i64
    leader_epoch: i32 = v("3+", default=-1)
    metadata: str = ""
    commit_timestamp: i64
    expire_timestamp: i64 = v("1", default=-1)
    topic_id: UUID = tag(0, "4+", default=NO_ID)
