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
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...storage import Log
from ...wire import Error, Refused, WireError
from ...wire.batch import read_header
from ...wire.records import build_batch, read_records
from ..base.coordinator_errors import as_coordinator
from ..base.java_order import partition_for
from ..base.logger import log
from ..config.internal_topics import SHARE_GROUP_STATE
from ..partitions.partition import NO_LEADER
from .shard import StateShard
from .state import Change, ShareKey, ShareState, StateRecord, decoded

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..metadata.delta import MetadataDelta
    from ..metadata.image import MetadataImage
    from ..partitions.partition import Partition


class ShareCoordinators:
    """The share coordinators, one for each broker, on their topic."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        # By partition: the node that has it loaded, and the states.
        self._shards: dict[int, tuple[int, StateShard]] = {}
        if cluster.release.has_share_coordinator:
            now = cluster.clock.now()
            for check in (_Pruning(self, cluster), _Snapshots(self, cluster)):
                cluster.timers.every(now + check.interval_ms(), check)

    def ensure_topic(self) -> None:
        """Create `__share_group_state` if there is none yet. Raises Refused."""
        self._cluster.topics.ensure_internal(SHARE_GROUP_STATE)

    def leader_of(self, key: str) -> int:
        """The id of the node that coordinates what a key (ShareKey.text) names, or -1."""
        index = self._index(key)
        return NO_LEADER if index not in self._shards else self._shards[index][0]

    # What is asked of a state. Each raises Refused as shard.py says, and as the write fails.

    def initialize(
        self, key: ShareKey, state_epoch: int, start_offset: int, asked: int | None = None
    ) -> None:
        """Begin anew, at this offset. `asked`: the broker that was asked by a request; it has to
        coordinate the state (NOT_COORDINATOR). Else brokers ask each other."""
        shard = self._shard(key, asked)
        self._write(shard, [shard.initialize(key, state_epoch, start_offset, self._now())])

    def write(
        self,
        key: ShareKey,
        state_epoch: int,
        leader_epoch: int,
        change: Change,
        asked: int | None = None,
    ) -> None:
        """Note a change."""
        shard = self._shard(key, asked)
        self._write(shard, [shard.write(key, state_epoch, leader_epoch, change, self._now())])

    def read(self, key: ShareKey, leader_epoch: int, asked: int | None = None) -> ShareState:
        """The state, for a leader of this epoch."""
        shard = self._shard(key, asked)
        state, record = shard.read(key, leader_epoch, self._now())
        if record is not None:
            self._write(shard, [record])
        return state

    def summary(self, key: ShareKey, asked: int | None = None) -> ShareState:
        """The state without regard to who leads; NO_STATE if there is none."""
        return self._shard(key, asked).summary(key)

    def delete(self, key: ShareKey, asked: int | None = None) -> None:
        """Remove the state, if there is one."""
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
        topic = self._cluster.topics.get(SHARE_GROUP_STATE)
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
            if partition.leader in self._cluster.brokers:
                self._load(partition)

    def _load(self, partition: Partition) -> None:
        config = self._cluster.brokers[partition.leader].config
        most = config.get("share.coordinator.snapshot.update.records.per.snapshot")
        shard = StateShard(self._count, most)
        self._shards[partition.index] = partition.leader, shard
        stored = partition.log
        for header, chunk, pos in stored.reader.batches_from(stored.log_start_offset):
            if header.is_control:
                continue
            for record in read_records(chunk, pos):
                try:
                    shard.replay(decoded(record), record.offset)
                except WireError as error:
                    log.error("%s: record %d skipped: %s", partition.name, record.offset, error)

    # Parts

    def _now(self) -> int:
        return self._cluster.clock.now()

    def _count(self, topic_id: bytes) -> int:
        topic = self._cluster.topics.by_id(topic_id)
        return 0 if topic is None else len(topic.partitions)

    def _index(self, key: str) -> int:
        topic = self._cluster.topics.get(SHARE_GROUP_STATE)
        return NO_LEADER if topic is None else partition_for(key, len(topic.partitions))

    def _shard(self, key: ShareKey, asked: int | None) -> StateShard:
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
        if shard is None or not self._cluster.replication.is_up(node_id):
            raise Refused(Error.COORDINATOR_NOT_AVAILABLE)
        return shard

    def _write(self, shard: StateShard, records: Sequence[StateRecord]) -> None:
        """Append records of states that one partition keeps, then apply them. Raises Refused."""
        partition = self._cluster.topic(SHARE_GROUP_STATE).partitions[
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
            self._cluster.log_manager.flusher.drain()
            if stored.flush_failure is not None:
                raise stored.flush_failure

    def _try(self, shard: StateShard, records: Iterable[StateRecord]) -> bool:
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
        """Delete records that later ones have made redundant."""
        found = False
        for index, (_, shard) in self._shards.items():
            before = shard.redundant_below()
            partition = self._cluster.topic(SHARE_GROUP_STATE).partitions[index]
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

    def __init__(self, coordinators: ShareCoordinators, cluster: Cluster) -> None:
        self._coordinators = coordinators
        self._cluster = cluster

    def interval_ms(self) -> int:
        config = self._cluster.config
        interval_ms: int = config.get("share.coordinator.state.topic.prune.interval.ms")
        return interval_ms

    def run(self, now: int) -> bool:
        return self._coordinators.prune()

    def due(self, now: int) -> int | None:
        return None


class _Snapshots:
    """Regularly snapshots what is not written any more, so that what is before can be deleted."""

    def __init__(self, coordinators: ShareCoordinators, cluster: Cluster) -> None:
        self._coordinators = coordinators
        self._cluster = cluster

    def interval_ms(self) -> int:
        config = self._cluster.config
        interval_ms: int = config.get("share.coordinator.cold.partition.snapshot.interval.ms")
        return interval_ms

    def run(self, now: int) -> bool:
        return self._coordinators.snapshot_cold(self.interval_ms())

    def due(self, now: int) -> int | None:
        return now if self._coordinators.has_states else None
