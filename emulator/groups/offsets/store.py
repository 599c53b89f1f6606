"""The offsets of every group the coordinator keeps, by partition of `__consumer_offsets`, and their
records: one key for each partition of a group.

Records are written as 4.3 writes them: values in v4, with the topic's id, or in v1 if the client
asked for a retention of its own. Before 4.0 values were in v3, without the id. Every version is
read. Times are milliseconds since 1970.

Offsets are changed only by records that are replayed, from the log or just written. An offset
creates its group if there is none: a simple group. Of each group there are those that are
committed, and those that are pending in transactions that are still open.

Rules (semantics F4, F5, F6, F8, F9):
- A commit is checked partition by partition: metadata of more than 4096 characters (UTF-16 units,
  as Java counts) is refused with 12, the others succeed. Null metadata is stored as "".
- A transactional commit is pending until its producer's transaction ends. A COMMIT applies it only
  if it was written after the offset that is committed by then, so a later plain commit survives.
- A fetch that requires stable offsets answers a pending partition with 88 instead of an older
  commit. Unknown partitions have offset -1 and no error. A fetch of all partitions returns
  committed offsets only, not partitions that are only pending.
- A tombstone also drops pending offsets of its partition.
- Expiry: an offset with an expire time of its own expires at that time; others after the retention,
  counted from the commit or, in an Empty group that has had members, from when it became Empty.
  Topics that a Stable consumer group reads are spared, and partitions pending in a transaction.

Synchronous. `order` is any number that grows with the position in the log. Left out: whether a
topic exists (the handler checks it), and whether the member may commit (the group does).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ....wire.errors import Error
from ....wire.primitives import NO_ID, Buffer, wrapped
from ....wire.stored.keyed import keyed, read_key, read_value
from ....wire.stored.offsets import OffsetCommitKey, OffsetCommitValue
from ..group import NO_LEADER_EPOCH, NO_RETENTION, NO_TIME, CommitRequest, Group
from ..records import Decode, TransactionEnd
from ..runtime import Runtime, Shard

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
        return OFFSET_TYPES[-1]

    def encoded(self) -> tuple[bytes, bytes | None]:
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
        return OFFSET_TYPES[-1]

    def encoded(self) -> tuple[bytes, bytes | None]:
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


NO_OFFSET = -1


class FetchedOffset(NamedTuple):
    topic: str
    partition: int
    offset: int = NO_OFFSET
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    error: Error = Error.NONE


class _Written(NamedTuple):
    record: OffsetRecord
    order: int


Key = tuple[str, int]


class Offsets:
    def __init__(self) -> None:
        self._committed: dict[Key, _Written] = {}
        self._pending: dict[int, dict[Key, _Written]] = {}

    def __iter__(self) -> Iterator[OffsetRecord]:
        return (written.record for written in self._committed.values())

    @property
    def open_transactions(self) -> frozenset[int]:
        """The ids of producers with an open transaction that has offsets here."""
        return frozenset(self._pending)

    def get(self, topic: str, partition: int) -> OffsetRecord | None:
        """The committed offset of the partition, or None."""
        written = self._committed.get((topic, partition))
        return None if written is None else written.record

    def is_pending(self, topic: str, partition: int) -> bool:
        """True if an open transaction has an offset for the partition."""
        return any((topic, partition) in pending for pending in self._pending.values())

    def apply(self, record: OffsetRecord, order: int, producer_id: int | None = None) -> None:
        """Apply a record, inside a producer's transaction or outside of any."""
        key = record.topic, record.partition
        if producer_id is None:
            self._committed[key] = _Written(record, order)
        else:
            self._pending.setdefault(producer_id, {})[key] = _Written(record, order)

    def forget(self, topic: str, partition: int) -> None:
        self._committed.pop((topic, partition), None)
        for pending in self._pending.values():
            pending.pop((topic, partition), None)

    def end_transaction(self, producer_id: int, commit: bool) -> None:
        """The producer's transaction has ended; harmless if it has no offsets here."""
        for key, written in self._pending.pop(producer_id, {}).items():
            existing = self._committed.get(key)
            if commit and (existing is None or written.order > existing.order):
                self._committed[key] = written

    def fetch(
        self, partitions: Iterable[Key] | None, *, require_stable: bool
    ) -> list[FetchedOffset]:
        """OffsetFetch: these partitions in their order, or all with an offset, topic by topic."""
        if partitions is None:
            by_topic: dict[str, list[Key]] = {}
            for key in self._committed:
                by_topic.setdefault(key[0], []).append(key)
            partitions = [key for together in by_topic.values() for key in together]
        return [self.fetch_one(topic, partition, require_stable) for topic, partition in partitions]

    def fetch_one(self, topic: str, partition: int, require_stable: bool) -> FetchedOffset:
        if require_stable and self.is_pending(topic, partition):
            return FetchedOffset(topic, partition, error=Error.UNSTABLE_OFFSET_COMMIT)
        written = self._committed.get((topic, partition))
        if written is None:
            return FetchedOffset(topic, partition)
        record = written.record
        return FetchedOffset(topic, partition, record.offset, record.leader_epoch, record.metadata)

    def tombstones(self, group_id: str, keys: Iterable[Key] | None = None) -> list[OffsetTombstone]:
        """The tombstones that delete the offsets of these partitions or of all, pending ones too;
        none for a partition without an offset, and two for one that is named twice, as Kafka has
        them."""
        present = dict.fromkeys(self._committed)
        for pending in self._pending.values():
            present |= dict.fromkeys(pending)
        chosen = present if keys is None else [key for key in keys if key in present]
        return [OffsetTombstone(group_id, topic, partition) for topic, partition in chosen]

    def expired(self, group: Group, now: int, retention_ms: int) -> list[Key]:
        return [key for key, when in self._expiries(group, retention_ms) if now >= when]

    def expiries(self, group: Group, retention_ms: int) -> list[int]:
        """When each offset has outlived its retention, of those that may expire now."""
        return [when for _, when in self._expiries(group, retention_ms)]

    def _expiries(self, group: Group, retention_ms: int) -> list[tuple[Key, int]]:
        if not self._committed or not group.offsets_may_expire:
            return []
        since = group.offsets_expire_since
        return [
            (key, _expiry(record, since, retention_ms))
            for key, (record, _) in self._committed.items()
            if not group.is_subscribed(record.topic) and not self.is_pending(*key)
        ]

    def has_more_than(self, keys: Sequence[Key]) -> bool:
        """True if there are offsets besides these, or an open transaction."""
        return len(keys) < len(self._committed) or bool(self._pending)


def _expiry(record: OffsetRecord, since: int | None, retention_ms: int) -> int:
    if record.expire_timestamp is not None:
        return record.expire_timestamp
    return (record.commit_timestamp if since is None else since) + retention_ms


def commit_records(
    group_id: str, request: CommitRequest, now: int, metadata_max_chars: int, *, keeps_ids: bool
) -> tuple[list[Error], list[OffsetRecord]]:
    """One error for each partition, in their order, and the records of those without an error,
    with the ids of their topics if `keeps_ids`."""
    expires = None if request.retention_ms == NO_RETENTION else wrapped(now + request.retention_ms)
    errors: list[Error] = []
    records: list[OffsetRecord] = []
    for topic, partition, offset, leader_epoch, metadata, topic_id, timestamp in request.commits:
        text = metadata or ""
        if _java_length(text, metadata_max_chars) > metadata_max_chars:
            errors.append(Error.OFFSET_METADATA_TOO_LARGE)
            continue
        errors.append(Error.NONE)
        when = now if timestamp == NO_TIME else timestamp
        kept = topic_id if keeps_ids else None
        records.append(
            OffsetRecord(
                group_id, topic, partition, offset, leader_epoch, text, when, expires, kept
            )
        )
    return errors, records


def _java_length(text: str, limit: int) -> int:
    """The UTF-16 units of a text; not counted if it cannot exceed the limit."""
    if 2 * len(text) <= limit:
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


NO_OFFSETS = Offsets()


class ShardOffsets:
    """The offsets of one shard's groups. A group without offsets has no entry."""

    def __init__(self) -> None:
        self.by_group: dict[str, Offsets] = {}
        # Rises with every record: of two records the later has the higher number.
        self._order = 0

    def put(self, record: OffsetRecord, producer_id: int | None) -> None:
        self._order += 1
        offsets = self.by_group.get(record.group_id)
        if offsets is None:
            offsets = self.by_group[record.group_id] = Offsets()
        offsets.apply(record, self._order, producer_id)


class OffsetStore:
    """All offsets. `create_group` creates a simple group in a shard."""

    def __init__(self, runtime: Runtime, create_group: Callable[[Shard, str, int], Group]) -> None:
        self.decoders = DECODERS
        self.create_group = create_group
        self._shards: dict[int, ShardOffsets] = {}
        runtime.register(self)

    def begin(self, partition: int) -> None:
        self._shards[partition] = ShardOffsets()

    def resign(self, partition: int) -> None:
        self._shards.pop(partition, None)

    def of(self, shard: Shard, group_id: str) -> Offsets:
        """The group's offsets; none if it has never committed, or does not exist any more."""
        if group_id not in shard.groups:
            return NO_OFFSETS
        return self._shards[shard.partition].by_group.get(group_id, NO_OFFSETS)

    def visible(self, shard: Shard, group_id: str) -> Offsets:
        """The group's offsets, for calls that only look at them."""
        return NO_OFFSETS if shard.visible(group_id) is None else self.kept(shard, group_id)

    def kept(self, shard: Shard, group_id: str) -> Offsets:
        """The offsets of a group that there is, or that can still be looked at."""
        return self._shards[shard.partition].by_group.get(group_id, NO_OFFSETS)

    def all_in(self, shard: Shard) -> list[tuple[str, Offsets]]:
        """Each group's id and offsets."""
        return list(self._shards[shard.partition].by_group.items())

    def forget(self, shard: Shard, group_id: str) -> None:
        """Remove a group's offsets from memory, pending ones too."""
        self._shards[shard.partition].by_group.pop(group_id, None)

    def replay(
        self,
        shard: Shard,
        record: OffsetRecord | OffsetTombstone,
        now: int,
        producer_id: int | None,
    ) -> None:
        of_shard = self._shards[shard.partition]
        if isinstance(record, OffsetRecord):
            if record.group_id not in shard.groups:
                self.create_group(shard, record.group_id, now)
            of_shard.put(record, producer_id)
        elif record.group_id in of_shard.by_group:
            of_shard.by_group[record.group_id].forget(record.topic, record.partition)

    def end_transaction(self, shard: Shard, end: TransactionEnd) -> None:
        """A transaction's pending offsets become committed, or are dropped."""
        shard.written()
        for offsets in self._shards[shard.partition].by_group.values():
            offsets.end_transaction(end.producer_id, end.commit)
