"""Records of committed offsets: one key for each partition of a group.

Written as 4.3 writes them: values in v4, with the topic's id, or in v1 if the client asked for a
retention of its own. Before 4.0 values were in v3, without the id. Every version is read. Times are
milliseconds since 1970.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ....wire.primitives import NO_ID, Buffer
from ....wire.stored.keyed import keyed, read_key, read_value
from ....wire.stored.offsets import OffsetCommitKey, OffsetCommitValue
from ..records import Decode

OFFSET_TYPES = (0, 1)
"""The record types of an offset. Written is the last; both are the same."""
_VERSION, _VERSION_WITHOUT_ID, _VERSION_WITH_EXPIRY = 4, 3, 1


class OffsetRecord(NamedTuple):
    """OffsetCommitValue with its key. `expire_timestamp` is set only when the client asked for a
    retention of its own (OffsetCommit v2-4). `topic_id` is None where ids are not kept."""

    group_id: str
    topic: str
    partition: int
    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp: int
    expire_timestamp: int | None = None
    topic_id: bytes | None = NO_ID

    @property
    def record_type(self) -> int:
        """The number that leads its key."""
        return OFFSET_TYPES[-1]

    def encoded(self) -> tuple[bytes, bytes | None]:
        """Key and value."""
        version = _VERSION if self.topic_id is not None else _VERSION_WITHOUT_ID
        if self.expire_timestamp is not None:
            version = _VERSION_WITH_EXPIRY
        return _key(self.group_id, self.topic, self.partition), keyed(_value(self), version)


class OffsetTombstone(NamedTuple):
    """A null value: the group has no offset for the partition any more."""

    group_id: str
    topic: str
    partition: int

    @property
    def record_type(self) -> int:
        """The number that leads its key."""
        return OFFSET_TYPES[-1]

    def encoded(self) -> tuple[bytes, bytes | None]:
        """Key and value; a tombstone has no value."""
        return _key(*self), None


def decode_offset(key: Buffer, value: Buffer | None) -> OffsetRecord | OffsetTombstone:
    """The record in these bytes. Raises WireError."""
    named, _ = read_key((OffsetCommitKey,), key)
    if value is None:
        return OffsetTombstone(named.group, named.topic, named.partition)
    stored, _ = read_value(OffsetCommitValue, value)
    return OffsetRecord(
        group_id=named.group,
        topic=named.topic,
        partition=named.partition,
        offset=stored.offset,
        leader_epoch=stored.leader_epoch,
        metadata=stored.metadata,
        commit_timestamp=stored.commit_timestamp,
        expire_timestamp=None if stored.expire_timestamp == -1 else stored.expire_timestamp,
        topic_id=stored.topic_id,
    )


DECODERS: dict[int, Decode] = dict.fromkeys(OFFSET_TYPES, decode_offset)


@lru_cache(maxsize=1024)  # a group commits again and again
def _key(group_id: str, topic: str, partition: int) -> bytes:
    key = OffsetCommitKey(group=group_id, topic=topic, partition=partition)
    return keyed(key, OFFSET_TYPES[-1])


def _value(record: OffsetRecord) -> OffsetCommitValue:
    return OffsetCommitValue(
        offset=record.offset,
        leader_epoch=record.leader_epoch,
        metadata=record.metadata,
        commit_timestamp=record.commit_timestamp,
        expire_timestamp=-1 if record.expire_timestamp is None else record.expire_timestamp,
        topic_id=record.topic_id or NO_ID,
    )
