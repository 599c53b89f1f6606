"""The embedded protocol of consumers in a classic group, inside JoinGroup and SyncGroup.

Each message begins with its version, as int16 (keyed.py). An unknown version is read as the newest
known one, since new fields are only added at the end.
"""

from __future__ import annotations

from ..schema import Message, Struct, i32, v


class ConsumerProtocolSubscription(Message, versions="0-3"):
    """The topics that a member subscribes to, and the partitions it has."""

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
