"""What the coordinator writes to __consumer_offsets, before it becomes Kafka's bytes.

One record is one key: a group, or one partition's offset in a group; a Tombstone removes either.
The records of KIP-848 consumer groups are key and value as they are stored
(groups/consumer/records.py). Times are milliseconds since 1970. Left out: the records of share
groups and streams groups, and every matter of encoding (value versions, -1 for "none").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .consumer.records import Stored

NO_ID = bytes(16)


class MemberRecord(NamedTuple):
    """A member inside a GroupRecord; `subscription` is its metadata for the chosen protocol."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """GroupMetadataValue: what is known of a group after its last Sync, or when it fell empty.

    A group that was just created, and a group that only commits, has protocol type "".
    """

    group_id: str
    protocol_type: str
    generation: int
    protocol_name: str | None
    leader: str | None
    state_timestamp: int | None
    members: tuple[MemberRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class OffsetRecord:
    """OffsetCommitValue with its key. `expire_timestamp` is set only when the client asked for a
    retention of its own (OffsetCommit v2-4)."""

    group_id: str
    topic: str
    partition: int
    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp: int
    expire_timestamp: int | None = None
    topic_id: bytes = NO_ID


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A null value: for one partition's offset or, without a topic, for the group itself."""

    group_id: str
    topic: str | None = None
    partition: int = -1


Record = GroupRecord | OffsetRecord | Tombstone | Stored
