"""The share coordinators of a cluster: `__share_group_state`, and which broker coordinates what.

The leader of a partition of the topic coordinates the states that it keeps. When another broker
leads it, the old one drops them from memory and the new one loads them from the log. The topic is
created when a coordinator is first looked for: by FindCoordinator, or when a group's first state is
initialised.

Brokers ask each other here without a connection: what a real one sends to the coordinator, and
sends again for a while, is a call, which raises Refused(COORDINATOR_NOT_AVAILABLE) while the broker
that coordinates is down.

Where logs are flushed by number (flush.messages), a record is on disk before anything follows from
it: an answer to a member, a higher delivery count, the group's record that a state is initialised.

Of what one partition of the topic keeps, calls return the record to write; it takes effect when it
is replayed, after it was written.

Rules (semantics N24, N25):
- A state has to be initialised before it is read or written (42). A summary of none has offset -1.
- A lower state epoch than the last is 124, a lower leader epoch 74; -1 is not looked at. The topic
  and the partition have to exist (3), which is checked last.
- Reading as a new leader writes its epoch.
- An update follows a snapshot; when there are `share.coordinator.snapshot.update.records.per.
  snapshot` of them, the next change is a snapshot.

There may be hundreds of thousands, of which few change: one without batches is kept as bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...storage import Log
from ...wire import Error, Refused
from ...wire.batch import read_header
from ...wire.records import build_batch
from ..base.call import as_coordinator
from ..base.java_order import partition_for
from ..config.internal_topics import SHARE_GROUP_STATE
from ..partitions.partition import NO_LEADER
from .state import (
    NO_EPOCH,
    NO_OFFSET,
    UNINITIALIZED,
    Change,
    ShareGroupOffset,
    SharePartitionKey,
    StateRecord,
    Update,
    combined,
    decoded,
)

if TYPE_CHECKING:
    from ..broker import ClusterState
    from ..metadata.delta import MetadataDelta
    from ..metadata.image import MetadataImage
    from ..partitions.partition import Partition

_MESSAGES = {
    Error.FENCED_LEADER_EPOCH: (
        "The leader epoch in the request is older than the epoch on the broker."
    ),
    Error.FENCED_STATE_EPOCH: (
        "The share coordinator rejected the request because the share-group state epoch did not"
        " match."
    ),
    Error.UNKNOWN_TOPIC_OR_PARTITION: "This server does not host this topic-partition.",
}
_PACKED = struct.Struct("<4i4q3i")
_PART = struct.Struct(">16si")
_NONE = -(2**31)
NO_STATE = ShareGroupOffset(0, 0, 0, NO_OFFSET, UNINITIALIZED)


class _Kept(NamedTuple):
    """A state, and what is known besides: the highest epochs, how many updates there were since the
    last snapshot, and where that is. _NONE and NO_OFFSET where there is nothing."""

    state: ShareGroupOffset
    leader_epoch: int = _NONE
    state_epoch: int = _NONE
    updates: int = 0
    snapshot_at: int = NO_OFFSET

    def packed(self) -> bytes | _Kept:
        """In fewer bytes, if there are no batches."""
        state = self.state
        if state.batches:
            return self
        return _PACKED.pack(
            *(state.snapshot_epoch, state.state_epoch, state.leader_epoch, state.complete_count),
            *(state.start_offset, state.created, state.written, self.snapshot_at),
            *(self.leader_epoch, self.state_epoch, self.updates),
        )


_NOTHING = _Kept(NO_STATE)


def _unpacked(kept: bytes | _Kept) -> _Kept:
    if isinstance(kept, _Kept):
        return kept
    numbers = _PACKED.unpack(kept)
    epoch, state_epoch, leader_epoch, complete, start, created, written = numbers[:7]
    at, highest_leader, highest_state, updates = numbers[7:]
    state = ShareGroupOffset(
        epoch, state_epoch, leader_epoch, start, complete, (), created, written
    )
    return _Kept(state, highest_leader, highest_state, updates, at)


def _name(key: SharePartitionKey) -> bytes:
    return key.group_id.encode(errors="surrogatepass") + _PART.pack(key.topic_id, key.partition)


def _key(name: bytes) -> SharePartitionKey:
    group_id = name[: -_PART.size].decode(errors="surrogatepass")
    return SharePartitionKey(group_id, *_PART.unpack(name[-_PART.size :]))


class ShareCoordinatorShard:
    """The states of one partition of the topic. `count`: how many partitions a topic has, by its
    id; 0 if there is no such topic."""

    def __init__(
        self,
        count: Callable[[bytes], int],
        updates_per_snapshot: int,
        *,
        counts_from_start: bool = True,
        counts: bool = True,
        anybody_reads: bool = True,
    ) -> None:
        self.updates_per_snapshot = updates_per_snapshot
        self._counts_from_start, self._counts = counts_from_start, counts
        self._anybody_reads = anybody_reads
        self._count = count
        self._kept: dict[bytes, bytes | _Kept] = {}
        self._removed_at: int | None = None

    def __len__(self) -> int:
        return len(self._kept)

    def redundant_below(self) -> int | None:
        """The offset below which no record is needed any more: where the oldest of the last
        snapshots is, or, without any, the last removal."""
        found = (_unpacked(kept).snapshot_at for kept in self._kept.values())
        return min((at for at in found if at != NO_OFFSET), default=self._removed_at)

    def _find(self, key: SharePartitionKey) -> _Kept | None:
        kept = self._kept.get(_name(key))
        return None if kept is None else _unpacked(kept)

    def _all(self) -> Iterator[tuple[SharePartitionKey, ShareGroupOffset]]:
        for name, kept in self._kept.items():
            yield _key(name), _unpacked(kept).state

    # What is asked

    def initialize(
        self, key: SharePartitionKey, state_epoch: int, start_offset: int, now: int
    ) -> StateRecord:
        """Begin anew, at this offset. Raises Refused."""
        _check_partition(key)
        self._check_state_epoch(key, state_epoch)
        self._check_exists(key)
        before = self._find(key)
        epoch = 0 if before is None else before.state.snapshot_epoch + 1
        is_counted = self._counts_from_start and start_offset != NO_OFFSET
        complete = 0 if is_counted else UNINITIALIZED
        state = ShareGroupOffset(epoch, state_epoch, 0, start_offset, complete, (), now, now)
        return StateRecord(key, state)

    def write(
        self, key: SharePartitionKey, state_epoch: int, leader_epoch: int, change: Change, now: int
    ) -> StateRecord:
        """Note a change. Raises Refused."""
        _check_partition(key)
        state = self._state(key, "Write")
        self._check_leader_epoch(key, leader_epoch)
        self._check_state_epoch(key, state_epoch)
        self._check_exists(key)
        if not self._counts:
            change = change._replace(complete_count=UNINITIALIZED)
        return self._change(key, state, state.leader_epoch, change, now)

    def read(
        self, key: SharePartitionKey, leader_epoch: int, now: int
    ) -> tuple[ShareGroupOffset, StateRecord | None]:
        """The state, for a leader of this epoch (NO_EPOCH: for anybody), and the record that notes
        a new leader. Raises Refused."""
        _check_partition(key)
        state = self._state(key, "Read")
        if not self._anybody_reads and leader_epoch == NO_EPOCH < self._leader_epoch(key):
            raise _refused(Error.FENCED_LEADER_EPOCH)
        self._check_leader_epoch(key, leader_epoch)
        self._check_exists(key)
        if leader_epoch in (NO_EPOCH, (self._find(key) or _NOTHING).leader_epoch):
            return state, None
        change = Change(state.start_offset, state.complete_count, ())
        return state, self._change(key, state, leader_epoch, change, now)

    def summary(self, key: SharePartitionKey) -> ShareGroupOffset:
        """The state, or NO_STATE. Raises Refused."""
        _check_partition(key)
        self._check_exists(key)
        return (self._find(key) or _NOTHING).state

    def delete(self, key: SharePartitionKey) -> StateRecord | None:
        """Remove the state, if there is one. Raises Refused."""
        _check_partition(key)
        self._check_exists(key)
        return None if self._find(key) is None else StateRecord(key, None)

    # What follows without a request

    def of_topics(self, topic_ids: set[bytes]) -> list[StateRecord]:
        return [StateRecord(key, None) for key, _ in self._all() if key.topic_id in topic_ids]

    def cold(self, now: int, interval_ms: int) -> list[StateRecord]:
        """Snapshots of what was not written in so long, unless all was snapshot so already."""
        if all(state.created != state.written for _, state in self._all()):
            return []
        return [
            StateRecord(key, state._replace(snapshot_epoch=state.snapshot_epoch + 1, written=now))
            for key, state in self._all()
            if now - state.written >= interval_ms
        ]

    def replay(self, record: StateRecord, offset: int) -> None:
        key, value = record
        name = _name(key)
        if value is None:
            self._kept.pop(name, None)
            self._removed_at = offset
            return
        before = self._find(key) or _NOTHING
        leader_epoch = max(before.leader_epoch, value.leader_epoch)
        if isinstance(value, Update):
            state = before.state.changed(value.leader_epoch, value.change)
            if name not in self._kept:
                state = ShareGroupOffset(value.snapshot_epoch, 0, value.leader_epoch, *value.change)
            updates = before.updates + 1
            after = before._replace(state=state, leader_epoch=leader_epoch, updates=updates)
        else:
            updates = 0 if before.updates >= self.updates_per_snapshot else before.updates
            state_epoch = max(before.state_epoch, value.state_epoch)
            after = _Kept(value, leader_epoch, state_epoch, updates, offset)
        self._kept[name] = after.packed()

    # Parts

    def _change(
        self,
        key: SharePartitionKey,
        state: ShareGroupOffset,
        leader_epoch: int,
        change: Change,
        now: int,
    ) -> StateRecord:
        if (self._find(key) or _NOTHING).updates < self.updates_per_snapshot:
            merged = tuple(combined((), change.batches, change.start_offset))
            change = change._replace(batches=merged)
            return StateRecord(key, Update(state.snapshot_epoch, leader_epoch, change))
        after = state.changed(leader_epoch, change)
        return StateRecord(
            key,
            after._replace(snapshot_epoch=state.snapshot_epoch + 1, created=now, written=now),
        )

    def _state(self, key: SharePartitionKey, what: str) -> ShareGroupOffset:
        kept = self._find(key)
        if kept is None:
            message = f"{what} operation on uninitialized share partition not allowed."
            raise Refused(Error.INVALID_REQUEST, message)
        return kept.state

    def _check_state_epoch(self, key: SharePartitionKey, state_epoch: int) -> None:
        if NO_EPOCH != state_epoch < (self._find(key) or _NOTHING).state_epoch:
            raise _refused(Error.FENCED_STATE_EPOCH)

    def _check_leader_epoch(self, key: SharePartitionKey, leader_epoch: int) -> None:
        known = max(NO_EPOCH, self._leader_epoch(key))
        if NO_EPOCH != leader_epoch < known:
            raise _refused(Error.FENCED_LEADER_EPOCH)

    def _leader_epoch(self, key: SharePartitionKey) -> int:
        """The highest that is known."""
        return (self._find(key) or _NOTHING).leader_epoch

    def _check_exists(self, key: SharePartitionKey) -> None:
        if key.partition >= self._count(key.topic_id):
            raise _refused(Error.UNKNOWN_TOPIC_OR_PARTITION)


def _check_partition(key: SharePartitionKey) -> None:
    if key.partition < 0:
        raise Refused(Error.INVALID_REQUEST, "The partition id cannot be a negative number.")


def _refused(error: Error) -> Refused:
    return Refused(error, _MESSAGES[error])


class ShareCoordinators:
    """The share coordinators, one for each broker, on their topic."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        # By partition: the node that has it loaded, and the states.
        self._shards: dict[int, tuple[int, ShareCoordinatorShard]] = {}
        if state.environment.release.has_share_coordinator:
            now = state.environment.clock.now()
            for check in (_Pruning(self, state), _Snapshots(self, state)):
                state.environment.timers.every(now + check.interval_ms(), check)

    def ensure_topic(self) -> None:
        """Create `__share_group_state` if there is none yet. Raises Refused."""
        self._state.topics.ensure_internal(SHARE_GROUP_STATE)

    def leader_of(self, key: str) -> int:
        """The id of the node that coordinates what a key (SharePartitionKey.text) names, or -1."""
        index = self._index(key)
        return NO_LEADER if index not in self._shards else self._shards[index][0]

    # What is asked of a state. Each raises Refused as its shard does, and as the write fails.

    def initialize(
        self, key: SharePartitionKey, state_epoch: int, start_offset: int, asked: int | None = None
    ) -> None:
        """Begin anew, at this offset. `asked`: the broker that was asked by a request; it has to
        coordinate the state (NOT_COORDINATOR). Else brokers ask each other."""
        shard = self._shard(key, asked)
        self._write(shard, [shard.initialize(key, state_epoch, start_offset, self._now())])

    def write(
        self,
        key: SharePartitionKey,
        state_epoch: int,
        leader_epoch: int,
        change: Change,
        asked: int | None = None,
    ) -> None:
        shard = self._shard(key, asked)
        self._write(shard, [shard.write(key, state_epoch, leader_epoch, change, self._now())])

    def read(
        self, key: SharePartitionKey, leader_epoch: int, asked: int | None = None
    ) -> ShareGroupOffset:
        """The state, for a leader of this epoch."""
        shard = self._shard(key, asked)
        state, record = shard.read(key, leader_epoch, self._now())
        if record is not None:
            self._write(shard, [record])
        return state

    def summary(self, key: SharePartitionKey, asked: int | None = None) -> ShareGroupOffset:
        """The state without regard to who leads; NO_STATE if there is none."""
        return self._shard(key, asked).summary(key)

    def delete(self, key: SharePartitionKey, asked: int | None = None) -> None:
        shard = self._shard(key, asked)
        record = shard.delete(key)
        if record is not None:
            self._write(shard, [record])

    # Changes of the metadata

    def __call__(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Follow the leaders of the topic, and remove the states of deleted topics."""
        self._follow(delta)
        if delta.removed:
            for _, shard in list(self._shards.values()):
                self._try(shard, shard.of_topics(set(delta.removed)))

    def _follow(self, delta: MetadataDelta) -> None:
        topic = self._state.topics.get(SHARE_GROUP_STATE)
        if topic is None:
            self._shards.clear()
            return
        if not delta.reaches(topic.id):
            return
        for partition in topic.partitions:
            loaded = self._shards.get(partition.index)
            if loaded is not None and loaded[0] == partition.leader:
                continue
            self._shards.pop(partition.index, None)
            if partition.leader in self._state.brokers:
                self._load(partition)

    def _load(self, partition: Partition) -> None:
        config = self._state.brokers[partition.leader].config
        most = config.get("share.coordinator.snapshot.update.records.per.snapshot")
        release = self._state.environment.release
        shard = ShareCoordinatorShard(
            *(self._count, most),
            counts_from_start=release.counts_completed_from_start,
            counts=release.counts_completed_deliveries,
            anybody_reads=release.lets_anybody_read_share_states,
        )
        self._shards[partition.index] = partition.leader, shard
        partition.replay(lambda record: shard.replay(decoded(record), record.offset))

    # Parts

    def _now(self) -> int:
        return self._state.environment.clock.now()

    def _count(self, topic_id: bytes) -> int:
        topic = self._state.topics.by_id(topic_id)
        return 0 if topic is None else len(topic.partitions)

    def _index(self, key: str) -> int:
        topic = self._state.topics.get(SHARE_GROUP_STATE)
        return NO_LEADER if topic is None else partition_for(key, len(topic.partitions))

    def _shard(self, key: SharePartitionKey, asked: int | None) -> ShareCoordinatorShard:
        """Who coordinates a state. Raises Refused: NOT_COORDINATOR if the broker that was asked
        does not, COORDINATOR_NOT_AVAILABLE if no broker that is up does."""
        if asked is None:
            try:
                self.ensure_topic()
            except Refused as refused:
                raise Refused(Error.COORDINATOR_NOT_AVAILABLE, refused.message) from refused
        node_id, shard = self._shards.get(self._index(key.text), (NO_LEADER, None))
        if asked is not None and asked != node_id:
            raise Refused(Error.NOT_COORDINATOR)
        if shard is None or not self._state.replication.is_up(node_id):
            raise Refused(Error.COORDINATOR_NOT_AVAILABLE)
        return shard

    def _write(self, shard: ShareCoordinatorShard, records: Sequence[StateRecord]) -> None:
        """Append records of states that one partition keeps, then apply them. Raises Refused."""
        partition = self._state.topics.named(SHARE_GROUP_STATE).partitions[
            self._index(records[0].key.text)
        ]
        now = self._now()
        batch = build_batch([record.encoded(now) for record in records], base_sequence=0)
        try:
            partition.check_in_sync()
            if len(batch) > partition.topic.config.max_message_bytes:
                raise Refused(Error.MESSAGE_TOO_LARGE)
            first = partition.append(batch, read_header(batch), now)
            self._flush(partition.log)
        except Refused as refused:
            raise as_coordinator(refused) from refused
        for offset, record in enumerate(records, first):
            shard.replay(record, offset)

    def _flush(self, stored: Log) -> None:
        """Wait until what was appended is on disk, if configs ask for that. Raises Refused."""
        if stored.awaited_offset is not None:
            self._state.log_manager.flusher.drain()
            if stored.flush_failure is not None:
                raise stored.flush_failure

    def _try(self, shard: ShareCoordinatorShard, records: Iterable[StateRecord]) -> bool:
        """Write what nobody waits for. Returns whether there was anything, and it is written."""
        wanted = list(records)
        if not wanted:
            return False
        try:
            self._write(shard, wanted)
        except Refused:
            return False
        return True

    @property
    def has_states(self) -> bool:
        """Whether any state is kept."""
        return any(len(shard) for _, shard in self._shards.values())

    def prune(self) -> bool:
        found = False
        for index, (_, shard) in self._shards.items():
            before = shard.redundant_below()
            partition = self._state.topics.named(SHARE_GROUP_STATE).partitions[index]
            if before and before > partition.log_start_offset:
                try:
                    partition.delete_records(before)
                    found = True
                except Refused:
                    continue
        return found

    def snapshot_cold(self, interval_ms: int) -> bool:
        """Snapshot the states that were not written for so long."""
        now = self._now()
        shards = [shard for _, shard in self._shards.values()]
        found = [self._try(shard, shard.cold(now, interval_ms)) for shard in shards]
        return any(found)


class _Pruning:
    """Regularly deletes records that are not needed any more."""

    def __init__(self, coordinators: ShareCoordinators, state: ClusterState) -> None:
        self._coordinators = coordinators
        self._state = state

    def interval_ms(self) -> int:
        config = self._state.environment.config
        interval_ms: int = config.get("share.coordinator.state.topic.prune.interval.ms")
        return interval_ms

    def run(self, now: int) -> bool:
        return self._coordinators.prune()

    def due(self, now: int) -> int | None:
        return None


class _Snapshots:
    """Regularly snapshots what is not written any more, so that what is before can be deleted."""

    def __init__(self, coordinators: ShareCoordinators, state: ClusterState) -> None:
        self._coordinators = coordinators
        self._state = state

    def interval_ms(self) -> int:
        config = self._state.environment.config
        interval_ms: int = config.get("share.coordinator.cold.partition.snapshot.interval.ms")
        return interval_ms

    def run(self, now: int) -> bool:
        return self._coordinators.snapshot_cold(self.interval_ms())

    def due(self, now: int) -> int | None:
        return now if self._coordinators.has_states else None
