"""What consumers of a classic group tell each other, inside JoinGroup and SyncGroup.

Each is led by its version, as int16 (keyed.py); a version not known yet is read as the newest one
known, for new fields only ever come last.
"""

from __future__ import annotations

from ..schema import Message, Struct, i32, v


class ConsumerProtocolSubscription(Message, versions="0-3"):
    """The topics a member wants, and the partitions it has."""

    topics: list[str]
    user_data: bytes | None = None
    owned_partitions: list[OwnedPartition] = v("1+", default=[])
    generation_id: i32 = v("2+", default=-1)
    rack_id: str | None = v("3+", default=None)

    class OwnedPartition(Struct):
        topic: str
        partitions: list[i32]


class ConsumerProtocolAssignment(Message, versions="0-3"):
    """The partitions a member gets."""

    assigned_partitions: list[AssignedPartition]
    user_data: bytes | None = None

    class AssignedPartition(Struct):
        topic: str
        partitions: list[i32]
