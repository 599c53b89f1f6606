"""Classic groups, as `__consumer_offsets` keeps them: key and value of a record.

A key begins with its record type, a value with its version (keyed.py). A null value deletes the
group.
"""

from __future__ import annotations

from ..schema import Message, Struct, i32, i64, v
from .keyed import Key


class GroupMetadataKey(Key, record_types="2", versions="0"):
    """The group."""

    group: str


class GroupMetadataValue(Message, versions="0-4", flexible="4+"):
    """A generation, written when its assignment is complete. Times in ms."""

    protocol_type: str
    generation: i32
    protocol: str | None
    leader: str | None
    current_state_timestamp: i64 = v("2+", default=-1)
    members: list[MemberMetadata]

    class MemberMetadata(Struct):
        member_id: str
        group_instance_id: str | None = v("3+", default=None)
        client_id: str
        client_host: str
        rebalance_timeout: i32 = v("1+", default=-1)
        session_timeout: i32
        subscription: bytes
        assignment: bytes
