"""`__cluster_metadata-0`: every change of the cluster, in KRaft's records: Kafka can read them.

What is read at the start: the newest snapshot that is whole (`<end>-<epoch>.checkpoint`, all state
up to the offset `end`), then the log behind it, whose torn tail the storage has cut off. A record
that is not known here (a newer Kafka's) is passed over with a warning.

What is written: one batch per change, no older leader epoch than the last one read, in the record
versions of the directory's metadata.version. A new log begins with the features that a new
Kafka 4.3 has, in the transaction that it writes. A transaction left open is aborted first.

Left out: Kafka's LeaderChange and registration records, and its NoOps: it needs none of them and
writes its own when it opens the directory. Snapshots are read, never written.
Source: KIP-595, KIP-630, KIP-631; directories of Kafka 4.3.1.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence

from ..storage import Log, LogConfig, LogDirectory, LogDirectoryError
from ..storage.directory import Directory
from ..storage.naming import KAFKA
from ..wire.batch import batches, checksum, read_header
from ..wire.errors import WireError
from ..wire.primitives import Buffer
from ..wire.records import NewRecord, Record, build_batch, read_records
from ..wire.stored.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    ConfigRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    MetadataRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    frame_record,
    read_record,
)
from ..wire.stored.control import SnapshotFooter, read_control_record
from .clock import Clock
from .features import METADATA_VERSION, NEW_FEATURES
from .metadata_image import BROKER_RESOURCE, MetadataImage
from .quorum_state import keep_quorum_state

log = logging.getLogger("odradek")

TOPIC = "__cluster_metadata"
TOPIC_ID = bytes(15) + b"\1"
BOOTSTRAP = "bootstrap.checkpoint"
PRODUCER_IDS_PER_BLOCK = 1000

_DIRECTORIES_SINCE = 17
_ELIGIBLE_LEADERS_SINCE = 23

_FIRST_EPOCH = 1
_CHUNK = 1 << 20
_RECORDS_MAX = 10_000  # in one batch, as in Kafka
_SNAPSHOT = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint")
# Nothing is ever deleted from it.
_LOG_CONFIG = LogConfig(retention_ms=-1, retention_bytes=-1)


class MetadataLog:
    """The metadata log of an open log directory; `open` also returns what it says."""

    def __init__(
        self,
        stored: Log,
        clock: Clock,
        image: MetadataImage,
        *,
        node_id: int,
        snapshot_end: int,
        epoch: int,
    ) -> None:
        self.image = image
        """What the log says up to its end."""
        self._node_id = node_id
        self._log = stored
        self._clock = clock
        self._snapshot_end = snapshot_end
        self._epoch = epoch

    @classmethod
    def open(cls, log_dir: LogDirectory, clock: Clock) -> tuple[MetadataLog, MetadataImage]:
        """Read everything, and begin the log if it is new.

        Raises LogDirectoryError, Refused (KAFKA_STORAGE_ERROR), OSError.
        """
        stored = log_dir.open_log(TOPIC, 0, TOPIC_ID, _LOG_CONFIG, clock.now())
        directory = log_dir.directory
        image = MetadataImage()
        end, epoch = _replay_snapshot(directory.child(KAFKA.directory(TOPIC, 0)), image)
        if stored.log_start_offset > end:
            raise LogDirectoryError(
                f"the metadata log of {log_dir.path} begins at offset {stored.log_start_offset}, "
                "and there is no snapshot that reaches it"
            )
        _replay_log(stored, end, image)
        if not image.features and directory.exists(BOOTSTRAP):  # formatted, never started
            _replay_records(_read_snapshot(directory, BOOTSTRAP) or [], 0, image)
        epoch = max(epoch, stored.epochs.latest, _FIRST_EPOCH)
        node_id = log_dir.properties.node_id
        metadata_log = cls(stored, clock, image, node_id=node_id, snapshot_end=end, epoch=epoch)
        metadata_log._begin()
        keep_quorum_state(directory.child(KAFKA.directory(TOPIC, 0)), node_id, epoch)
        return metadata_log, image

    @property
    def end_offset(self) -> int:
        """Where the next record goes."""
        return max(self._log.log_end_offset, self._snapshot_end)

    def append(self, records: Sequence[MetadataRecord]) -> None:
        """Write a change; one batch, unless it is larger than Kafka's batches may be.

        Raises Refused (KAFKA_STORAGE_ERROR).
        """
        now = self._clock.now()
        level = self.image.features.get(METADATA_VERSION, NEW_FEATURES[METADATA_VERSION])
        for first in range(0, len(records), _RECORDS_MAX):
            values = [
                NewRecord(now, None, frame_record(record, record_version(record, level)))
                for record in records[first : first + _RECORDS_MAX]
            ]
            batch = build_batch(values, base_offset=self.end_offset, leader_epoch=self._epoch)
            self._log.append(batch, read_header(batch), now)
        for record in records:
            self.image.replay(record)

    def next_producer_block(self) -> range:
        """Producer ids that nobody has had, noted as given to a broker before they are used.

        Raises Refused (KAFKA_STORAGE_ERROR).
        """
        first = self.image.next_producer_id
        after = first + PRODUCER_IDS_PER_BLOCK
        self.append([ProducerIdsRecord(broker_id=self._node_id, next_producer_id=after)])
        return range(first, after)

    def _begin(self) -> None:
        """Write what has to come before anything else, if it is not there yet."""
        records: list[MetadataRecord] = []
        if self.image.is_in_transaction:
            records.append(AbortTransactionRecord(reason="The writer stopped in between."))
        if self.end_offset == 0 or METADATA_VERSION not in self.image.features:
            is_known = METADATA_VERSION in self.image.features
            records += _bootstrap(self.image.features if is_known else NEW_FEATURES)
        if records:
            self.append(records)


def record_version(record: MetadataRecord, metadata_version: int) -> int:
    """The version in which a record is written at a level of metadata.version."""
    if isinstance(record, PartitionRecord | PartitionChangeRecord):
        return (metadata_version >= _DIRECTORIES_SINCE) + (
            metadata_version >= _ELIGIBLE_LEADERS_SINCE
        )
    return 0


def _bootstrap(features: dict[str, int]) -> list[MetadataRecord]:
    """The first records of a cluster. With eligible leader replicas the least number of replicas
    in sync is set for all brokers at once, so Kafka sets it."""
    records: list[MetadataRecord] = [BeginTransactionRecord(name="Bootstrap records")]
    records += [
        FeatureLevelRecord(name=name, feature_level=level)
        for name, level in features.items()
        if level > 0
    ]
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


def _replay_log(stored: Log, offset: int, image: MetadataImage) -> None:
    """Replay what the log has from `offset` on. Raises Refused for damage."""
    while offset < stored.log_end_offset:
        chunk = stored.read(offset, _CHUNK)
        for pos, header in batches(chunk):
            if not header.is_control:
                _replay_records(read_records(chunk, pos), offset, image)
            offset = max(offset, header.last_offset + 1)


def _replay_records(records: list[Record], first_offset: int, image: MetadataImage) -> None:
    for record in records:
        if record.offset < first_offset:
            continue
        try:
            message, _ = read_record(record.value or b"")
        except WireError as error:
            log.warning("metadata log, offset %d: passed over: %s", record.offset, error)
            continue
        image.replay(message)


def _replay_snapshot(home: Directory, image: MetadataImage) -> tuple[int, int]:
    """Replay the newest whole snapshot; return its end offset and epoch, or 0 and 0."""
    for name in sorted(home.files() if home.exists() else (), reverse=True):
        match = _SNAPSHOT.fullmatch(name)
        if match is None:
            continue
        records = _read_snapshot(home, name)
        if records is not None:
            _replay_records(records, 0, image)
            return int(match[1]), int(match[2])
    return 0, 0


def _read_snapshot(directory: Directory, name: str) -> list[Record] | None:
    """The data records of a snapshot; None, and a warning, if it is damaged."""
    try:
        return list(_snapshot_records(directory.read_bytes(name)))
    except WireError as error:
        log.warning("metadata snapshot %s is passed over: %s", name, error)
        return None


def _snapshot_records(data: Buffer) -> Iterator[Record]:
    """The data records of a snapshot. Raises WireError for damage, or if its end is missing."""
    end, is_complete = 0, False
    for pos, header in batches(data):
        if checksum(data, pos, header.size) != header.crc:
            raise WireError(f"wrong CRC at byte {pos}")
        records = read_records(data, pos)
        if header.is_control:
            last = records[-1]
            control = read_control_record(last.key or b"", last.value or b"")
            is_complete = isinstance(control, SnapshotFooter)
        else:
            yield from records
        end = pos + header.size
    if end != len(data) or not is_complete:
        raise WireError(f"it ends at byte {end}, without its footer")
