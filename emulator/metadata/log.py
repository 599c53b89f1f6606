"""`__cluster_metadata-0`: every change of the cluster, in KRaft's records: Kafka can read them.

The cluster is what this log says. A change takes effect in one way only, while running and at a
start:
- Its records are written. What cannot be written is refused, and changes nothing.
- The image replays them.
- Subscribers get what was touched: one delta for each append (delta.py), in the order in which
  they subscribed. A new subscriber gets everything at once, so a start is a change of an
  empty cluster.

What is read at the start: the newest snapshot and the log after it.

What is written: one batch per change, in the leader epoch of the last record read or a later one,
in the record versions of the directory's metadata.version. A new log begins with the features that
a new Kafka 4.3 has, or with those asked for, in one transaction as Kafka's. A transaction left open
is aborted first. maintenance/metadata_snapshots.py says when snapshots are written, and when what
precedes them is deleted. There is no snapshot where records were skipped: it would lose them.

Left out: Kafka's LeaderChange, registrations of controllers, and NoOps: it needs none of them and
writes its own when it opens the directory.
Source: KIP-595, KIP-630, KIP-631; directories of Kafka 4.3.1.

`quorum-state`: the last epoch and vote of a KRaft node, in JSON, next to its metadata log.

    {"clusterId":"","leaderId":7,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,
     "currentVoters":[{"voterId":7}],"data_version":0}

Without it Kafka opens a log, but warns that the log is ahead of the vote. So it is written, with
this node as the leader of the epoch in which the log is written, unless there is one of that epoch
or a later one. A file that cannot be read, with which Kafka would not start, is replaced.

Left out: elections; the form with `data_version` 1, of quorums whose voters are in the log, is kept
as it is, since no epoch is begun here. Source: KIP-595; directories of Kafka 4.3.1.

Reading the metadata log at a start: the newest snapshot, and the log after it.

Rules:
- The newest snapshot counts. A damaged one is skipped with a warning; then the one before it
  counts, and more of the log, if the log still has it.
- A directory that was formatted and never started has its features in `bootstrap.checkpoint`.
- A record that is not known here (a newer Kafka's) is skipped with a warning.

Left out: repairs; the storage has already truncated a torn tail. Source: KIP-630.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypedDict

from ...storage import Directory, Log, LogConfig, LogDirectory, LogDirectoryError
from ...wire import Error, Refused
from ...wire.batch import read_header
from ...wire.errors import WireError
from ...wire.records import Record, read_records
from ...wire.stored.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    ConfigRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    MetadataRecord,
    PartitionRecord,
    ProducerIdsRecord,
    ZkMigrationStateRecord,
    read_record,
)
from ...wire.stored.control import ControlRecord, read_control_record
from ..base.clock import Clock
from ..base.logger import log
from ..base.release import KAFKA_4_3, Release
from ..config.configs import BrokerConfig
from .delta import MetadataDelta, Subscriber
from .features import METADATA_VERSION, NEW_FEATURES, check_known, initial_features
from .image import BROKER_RESOURCE, MetadataImage
from .snapshot import (
    MIGRATION_SINCE,
    Contents,
    SnapshotId,
    control_batch,
    data_batch,
    read_snapshot,
    snapshots_in,
    write_snapshot,
)

QUORUM_STATE = "quorum-state"


def keep_quorum_state(home: Directory, node_id: int, epoch: int) -> None:
    """Write the file unless there is one of `epoch` or later. Raises OSError."""
    if _stored_epoch(home) >= epoch:
        return
    state = {
        "clusterId": "",
        "leaderId": node_id,
        "leaderEpoch": epoch,
        "votedId": -1,
        "appliedOffset": 0,
        "currentVoters": [{"voterId": node_id}],
        "data_version": 0,
    }
    home.write_atomic(QUORUM_STATE, json.dumps(state, separators=(",", ":")).encode())


def is_malformed(home: Directory) -> bool:
    """Whether there is a file that cannot be read. Raises OSError."""
    try:
        return home.exists(QUORUM_STATE) and type(_read(home)) is not int
    except (ValueError, KeyError, TypeError):
        return True


def _read(home: Directory) -> object:
    return json.loads(home.read_bytes(QUORUM_STATE))["leaderEpoch"]


def _stored_epoch(home: Directory) -> int:
    """The epoch on disk; -1 if there is none that can be read."""
    if not home.exists(QUORUM_STATE):
        return -1
    try:
        epoch = _read(home)
    except (ValueError, KeyError, TypeError) as error:
        log.warning(
            "%s of the metadata log is replaced, it cannot be read: %r", QUORUM_STATE, error
        )
        return -1
    return epoch if isinstance(epoch, int) else -1


BOOTSTRAP = "bootstrap.checkpoint"
NO_SNAPSHOT = SnapshotId(0, 0)


@dataclass
class Replayed:
    image: MetadataImage = field(default_factory=MetadataImage)
    snapshot: SnapshotId = NO_SNAPSHOT
    """The one that counted."""
    snapshots: list[SnapshotId] = field(default_factory=list)
    """Those that are left for the next start, up to that one."""
    last_timestamp: int = 0
    """Of the last record, in ms."""
    log_bytes: int = 0
    """How much of the log comes after the snapshot."""


def replay(root: Directory, home: Directory, stored: Log) -> Replayed:
    """Read everything: `root` is the log directory, `home` that of the metadata log in it.

    Raises LogDirectoryError if the log begins where no snapshot ends, Refused
    (KAFKA_STORAGE_ERROR) for a log that cannot be read, OSError.
    """
    found = Replayed()
    _replay_newest_snapshot(home, found)
    if stored.log_start_offset > found.snapshot.end:
        raise LogDirectoryError(
            f"the metadata log of {root.path} begins at offset {stored.log_start_offset}, "
            "and there is no snapshot that reaches it"
        )
    _replay_log(stored, found)
    if not found.image.features and root.exists(BOOTSTRAP):
        contents = read_snapshot(root, BOOTSTRAP)
        if contents is not None:
            _replay_contents(contents, found.image)
    return found


def _replay_newest_snapshot(home: Directory, found: Replayed) -> None:
    candidates = snapshots_in(home)
    while candidates:
        contents = read_snapshot(home, candidates[-1].name)
        if contents is not None:
            _replay_contents(contents, found.image)
            found.snapshot, found.snapshots = candidates[-1], candidates
            found.last_timestamp = contents.last_timestamp
            return
        candidates.pop()


def _replay_contents(contents: Contents, image: MetadataImage) -> None:
    for control in contents.controls:
        image.replay_control(control)
    _replay_records(contents.records, 0, image)


def _replay_log(stored: Log, found: Replayed) -> None:
    """Replay what the log has after the snapshot. Raises Refused for damage."""
    first = found.snapshot.end
    for header, chunk, pos in stored.reader.batches_from(first):
        records = read_records(chunk, pos)
        if header.is_control:
            _replay_controls(records, first, found.image)
        else:
            _replay_records(records, first, found.image)
        found.last_timestamp = header.max_timestamp
        found.log_bytes += header.size


def _replay_controls(records: Iterable[Record], first: int, image: MetadataImage) -> None:
    for record in records:
        if record.offset < first:
            continue
        try:
            image.replay_control(read_control_record(record.key or b"", record.value or b""))
        except WireError as error:
            image.is_partial = True
            log.warning("metadata log, offset %d: passed over: %s", record.offset, error)


def _replay_records(records: Iterable[Record], first: int, image: MetadataImage) -> None:
    delta = MetadataDelta()  # nobody has subscribed yet
    for record in records:
        if record.offset < first:
            continue
        try:
            message, _ = read_record(record.value or b"")
        except WireError as error:
            image.is_partial = True
            log.warning("metadata log, offset %d: passed over: %s", record.offset, error)
            continue
        image.replay(message, delta)


TOPIC = "__cluster_metadata"
TOPIC_ID = bytes(15) + b"\1"
PRODUCER_IDS_PER_BLOCK = 1000

_FIRST_EPOCH = 1
_NO_MIGRATION = 0
_RECORDS_MAX = 10_000  # in one batch, as in Kafka
# Nothing is deleted from it that no snapshot has.
LOG_CONFIG = LogConfig(retention_ms=-1, retention_bytes=-1)


def metadata_log_config(config: BrokerConfig) -> LogConfig:
    size = config.get("internal.metadata.log.segment.bytes")
    return replace(
        LOG_CONFIG,
        segment_bytes=size or config.get("metadata.log.segment.bytes"),
        segment_ms=config.get("metadata.log.segment.ms"),
        file_delete_delay_ms=config.get("internal.metadata.delete.delay.millis"),
    )


class _Place(TypedDict):
    offset: int
    epoch: int
    now: int


class MetadataLog:
    """The metadata log of an open log directory; use `MetadataLog.open`."""

    def __init__(
        self, log_dir: LogDirectory, stored: Log, clock: Clock, replayed: Replayed
    ) -> None:
        self.image = replayed.image
        """The image up to the log's end."""
        self.snapshots = replayed.snapshots
        """Those that the next start may read, oldest first."""
        self.bytes_since_snapshot = replayed.log_bytes
        self._subscribers: list[Subscriber] = []
        self._is_publishing = False
        self._node_id = log_dir.properties.node_id
        self._directory_id = log_dir.properties.directory_id
        self._home = log_dir.directory.child(log_dir.naming.directory(TOPIC, 0))
        self._log = stored
        self._clock = clock
        self._snapshot_end = replayed.snapshot.end
        self._last_timestamp = replayed.last_timestamp
        self._times: dict[SnapshotId, int] = {}
        self._unlink_at: int | None = None
        self.halted = ""
        """Why nothing can be written: there is no controller."""
        self.epoch = max(replayed.snapshot.epoch, stored.epochs.latest, _FIRST_EPOCH)
        """The leader epoch in which records are written."""

    @classmethod
    def open(
        cls,
        log_dir: LogDirectory,
        clock: Clock,
        *,
        config: LogConfig = LOG_CONFIG,
        features: Mapping[str, int] | None = None,
        release: Release | None = None,
    ) -> MetadataLog:
        """Read everything, and begin the log if it is new.

        `features`: levels that are to differ from those of a new cluster, or from those found.
        `release`: which levels are allowed, and which a new cluster has; without it, 4.3 and any
        level. Raises LogDirectoryError, Refused (KAFKA_STORAGE_ERROR), OSError, and
        ConfigError when the release does not know a level that is there.
        """
        stored = log_dir.open_log(TOPIC, 0, TOPIC_ID, config, clock.now())
        home = log_dir.directory.child(log_dir.naming.directory(TOPIC, 0))
        metadata_log = cls(log_dir, stored, clock, replay(log_dir.directory, home, stored))
        if release is not None:
            check_known(metadata_log.image.features, release)
        metadata_log._begin(features or {}, release or KAFKA_4_3)
        keep_quorum_state(home, log_dir.properties.node_id, metadata_log.epoch)
        return metadata_log

    @property
    def start_offset(self) -> int:
        """Where the log begins; what was before it is in a snapshot."""
        return self._log.log_start_offset

    @property
    def end_offset(self) -> int:
        return max(self._log.log_end_offset, self._snapshot_end)

    def subscribe(self, *subscribers: Subscriber) -> None:
        """Tell subscribers of everything there is, and from now on of each change."""
        self._publish(MetadataDelta.of_all(self.image), subscribers)
        self._subscribers += subscribers

    def append(self, records: Sequence[MetadataRecord]) -> None:
        """Write a change, and put it into effect: one batch, all of it or nothing.

        More records than Kafka's batches may have (10,000) are several batches; those that were
        written before one that could not be take effect. Raises Refused: KAFKA_STORAGE_ERROR,
        REQUEST_TIMED_OUT while it is `halted`.
        """
        if self.halted and records:
            raise Refused(Error.REQUEST_TIMED_OUT, self.halted)
        for record in records:
            if isinstance(record, PartitionRecord) and not record.directories:
                record.directories = [self._directory_id or bytes(16)] * len(record.replicas)
        delta = MetadataDelta()
        first = 0
        try:
            while first < len(records):
                some = records[first : first + _RECORDS_MAX]
                self._write(data_batch(some, self._level, **self._place()))
                first += len(some)
                for record in some:
                    self.image.replay(record, delta)
        finally:
            if first:
                self._publish(delta, self._subscribers)

    def begin_epoch(self) -> None:
        """Another controller leads: what is written from now on is in its epoch."""
        self.epoch += 1

    def append_controls(self, records: Sequence[ControlRecord]) -> None:
        """Write records of the quorum itself. Raises Refused (KAFKA_STORAGE_ERROR)."""
        self._write(control_batch(records, **self._place()))
        delta = MetadataDelta()
        for record in records:
            self.image.replay_control(record, delta)
        self._publish(delta, self._subscribers)

    def next_producer_block(self, node_id: int) -> range:
        """Producer ids that were never used; the log has their broker before it uses the first.

        Raises Refused: KAFKA_STORAGE_ERROR, COORDINATOR_LOAD_IN_PROGRESS while it is `halted`.
        """
        if self.halted:
            raise Refused(Error.COORDINATOR_LOAD_IN_PROGRESS, self.halted)
        first = self.image.next_producer_id
        after = first + PRODUCER_IDS_PER_BLOCK
        known = self.image.brokers.get(node_id)
        record = ProducerIdsRecord(broker_id=node_id, next_producer_id=after)
        if known is not None:
            record.broker_epoch = known.broker_epoch
        self.append([record])
        return range(first, after)

    # Snapshots

    def take_snapshot(self) -> SnapshotId | None:
        """Write a snapshot of the whole image. None if there is one, or if there must not be one: a
        transaction is open, or records were skipped. Raises OSError."""
        snapshot = SnapshotId(self.end_offset, self.epoch)
        image = self.image
        if snapshot in self.snapshots or image.is_in_transaction or image.is_partial:
            return None
        now = self._clock.now()
        write_snapshot(self._home, snapshot, image, last_timestamp=self._last_timestamp, now=now)
        self.snapshots.append(snapshot)
        self._times[snapshot] = self._last_timestamp
        self.bytes_since_snapshot = 0
        return snapshot

    def delete_old(self, *, retention_ms: int, retention_bytes: int) -> int:
        """Delete the oldest snapshots, and the log before those that are left; return how many
        snapshots were deleted.

        One is deleted if its last record is older than `retention_ms`, or while log and snapshots
        are larger than `retention_bytes` (-1 is no limit for either). The newest is kept.
        Raises Refused (KAFKA_STORAGE_ERROR), OSError.
        """
        count = 0
        now = self._clock.now()
        for oldest, following in list(pairwise(self.snapshots)):
            is_large = 0 <= retention_bytes < self._log.size + self._snapshot_bytes()
            if not is_large and not 0 <= retention_ms < now - self._last_in(oldest):
                break
            self._log.delete_records(following.end)
            if self._log.delete_old_segments(now):
                self._unlink_at = now + self._log.config.file_delete_delay_ms
            self._home.remove(oldest.name)
            self.snapshots.remove(oldest)
            self._times.pop(oldest, None)
            count += 1
        if self._unlink_at is not None and now >= self._unlink_at:
            self._unlink_at = None
            self._log.unlink_deleted(now)
        return count

    def next_deletion(self, *, retention_ms: int) -> int | None:
        """When `delete_old` next finds something because of its age; None for never. Raises
        OSError."""
        times = [] if self._unlink_at is None else [self._unlink_at]
        if retention_ms >= 0 and len(self.snapshots) > 1:
            times.append(self._last_in(self.snapshots[0]) + retention_ms + 1)
        return min(times, default=None)

    # Within

    @property
    def _level(self) -> int:
        """Of metadata.version: it says in which versions records are written."""
        return self.image.features.get(METADATA_VERSION, NEW_FEATURES[METADATA_VERSION])

    def _place(self) -> _Place:
        return {"offset": self.end_offset, "epoch": self.epoch, "now": self._clock.now()}

    def _publish(self, delta: MetadataDelta, subscribers: Sequence[Subscriber]) -> None:
        self._is_publishing = True
        try:
            for subscriber in subscribers:
                subscriber(delta, self.image)
        finally:
            self._is_publishing = False

    def _write(self, batch: bytearray) -> None:
        if self._is_publishing:
            raise RuntimeError("a subscriber of the metadata log may not append to it")
        now = self._clock.now()
        self._log.append(batch, read_header(batch), now)
        self._last_timestamp = now
        self.bytes_since_snapshot += len(batch)

    def _snapshot_bytes(self) -> int:
        sizes = self._home.files()
        return sum(sizes.get(each.name, 0) for each in self.snapshots)

    def _last_in(self, snapshot: SnapshotId) -> int:
        """When the last record in it was written, in ms; 0 for a damaged one."""
        if snapshot not in self._times:
            contents = read_snapshot(self._home, snapshot.name)
            self._times[snapshot] = contents.last_timestamp if contents is not None else 0
        return self._times[snapshot]

    def _begin(self, asked: Mapping[str, int], release: Release) -> None:
        """Write the first records of a log, if it has none yet."""
        records: list[MetadataRecord] = []
        image = self.image
        if image.is_in_transaction:
            records.append(AbortTransactionRecord(reason="The writer stopped in between."))
        is_known = METADATA_VERSION in image.features
        if self.end_offset == 0 or not is_known:
            found = initial_features(asked, release)
            if is_known:
                found = {**image.features, **asked}
            records += _bootstrap(found, release)
        else:
            records += _levels(asked, image.features)
        if records:
            self.append(records)


def _levels(levels: Mapping[str, int], before: Mapping[str, int]) -> list[MetadataRecord]:
    """The changes between levels of features."""
    return [
        FeatureLevelRecord(name=name, feature_level=level)
        for name, level in levels.items()
        if level != before.get(name, 0)
    ]


def _bootstrap(features: Mapping[str, int], release: Release) -> list[MetadataRecord]:
    """The first records of a cluster. Up to 3.9 one says that it did not come from ZooKeeper. With
    eligible leader replicas the least number of replicas in sync is set for all brokers at once, so
    Kafka sets it."""
    records: list[MetadataRecord] = [BeginTransactionRecord(name="Bootstrap records")]
    records += _levels(features, {})
    if release.records_zookeeper_migration and features[METADATA_VERSION] >= MIGRATION_SINCE:
        records.append(ZkMigrationStateRecord(zk_migration_state=_NO_MIGRATION))
    if features.get("eligible.leader.replicas.version", 0) > 0:
        records.append(
            ConfigRecord(
                resource_type=BROKER_RESOURCE,
                resource_name="",
                name="min.insync.replicas",
                value="1",
            )
        )
    return [*records, EndTransactionRecord()]
