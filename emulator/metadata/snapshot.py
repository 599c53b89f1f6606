"""Snapshots of the metadata log: everything it says up to an offset, in one file next to it.

    00000000000000000123-0000000001.checkpoint    the records before offset 123, written in epoch 1

It is a file of batches like a log's. Rules:
- Its offsets count from 0, its batches carry the epoch of the name.
- A control batch comes first: SnapshotHeader with the time of the last record contained and, where
  the voters are kept in the log, KRaftVersion and KRaftVoters. Another comes last: SnapshotFooter.
- In between: features, `metadata.version` first; brokers, controllers; each topic with its
  partitions; configs; quotas; producer ids; access rules; SCRAM credentials; tokens.
- It is written under another name and renamed when complete, read-only (mode 0400).
- A snapshot with a wrong checksum, or without its end, is skipped with a warning.

Source: KIP-630, KIP-853; snapshots of Kafka 4.3.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from ...storage import Directory
from ...wire.batch import batches, checksum
from ...wire.errors import WireError
from ...wire.primitives import Buffer
from ...wire.records import NewRecord, Record, build_batch, read_records
from ...wire.stored.cluster import (
    BrokerRegistrationChangeRecord,
    ClientQuotaRecord,
    ConfigRecord,
    FeatureLevelRecord,
    MetadataRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    TopicRecord,
    ZkMigrationStateRecord,
    frame_record,
)
from ...wire.stored.control import (
    ControlRecord,
    KRaftVersion,
    SnapshotFooter,
    SnapshotHeader,
    control_record,
    read_control_record,
)
from ..base.logger import log
from .features import METADATA_VERSION, NEW_FEATURES
from .image import MetadataImage, PartitionImage

_NAME = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint")
_RECORDS_IN_A_BATCH = 1024

# First levels of metadata.version.
MIGRATION_SINCE = 8
_DIRECTORIES_SINCE = 17
_ELIGIBLE_LEADERS_SINCE = 23
_CORDONED_SINCE = 30


class SnapshotId(NamedTuple):
    """Which snapshot: the first offset it does not contain, and the epoch of its last record."""

    end: int
    epoch: int

    @property
    def name(self) -> str:
        return f"{self.end:020}-{self.epoch:010}.checkpoint"


class Contents(NamedTuple):
    """The contents of a snapshot. The time is that of the last record before its end, in ms."""

    last_timestamp: int
    controls: list[ControlRecord]
    records: list[Record]


def snapshots_in(home: Directory) -> list[SnapshotId]:
    """The snapshots in the metadata log's directory, oldest first, damaged ones too."""
    found = map(_NAME.fullmatch, home.files() if home.exists() else ())
    return sorted(SnapshotId(int(match[1]), int(match[2])) for match in found if match)


def read_snapshot(home: Directory, name: str) -> Contents | None:
    """Read a snapshot; None, and a warning, if it is damaged. Raises OSError."""
    try:
        return _decode(home.read_bytes(name))
    except WireError as error:
        log.warning("metadata snapshot %s is passed over: %s", name, error)
        return None


def write_snapshot(
    home: Directory, snapshot: SnapshotId, image: MetadataImage, *, last_timestamp: int, now: int
) -> int:
    """Write a snapshot of `image`, times in ms; return its size in bytes. Raises OSError."""
    data = encode(image, snapshot.epoch, last_timestamp=last_timestamp, now=now)
    home.write_atomic(snapshot.name, data)
    home.set_read_only(snapshot.name)
    return len(data)


def encode(image: MetadataImage, epoch: int, *, last_timestamp: int, now: int) -> bytes:
    """The bytes of a snapshot."""
    first: list[ControlRecord] = [
        SnapshotHeader(version=0, last_contained_log_timestamp=last_timestamp)
    ]
    if image.kraft_version > 0 and image.voters is not None:
        first += [KRaftVersion(version=0, kraft_version=image.kraft_version), image.voters]
    parts = [control_batch(first, offset=0, epoch=epoch, now=now)]
    offset = len(first)
    level = image.features.get(METADATA_VERSION, NEW_FEATURES[METADATA_VERSION])
    records = image_records(image)
    while some := list(islice(records, _RECORDS_IN_A_BATCH)):
        parts.append(data_batch(some, level, offset=offset, epoch=epoch, now=now))
        offset += len(some)
    parts.append(control_batch([SnapshotFooter(version=0)], offset=offset, epoch=epoch, now=now))
    return b"".join(parts)


def data_batch(
    records: Sequence[MetadataRecord], level: int, *, offset: int, epoch: int, now: int
) -> bytearray:
    values = [
        NewRecord(now, None, frame_record(record, record_version(record, level)))
        for record in records
    ]
    return build_batch(values, base_offset=offset, leader_epoch=epoch)


def control_batch(
    records: Sequence[ControlRecord], *, offset: int, epoch: int, now: int
) -> bytearray:
    """A batch of the quorum's own records."""
    values = [NewRecord(now, *control_record(record)) for record in records]
    return build_batch(values, base_offset=offset, leader_epoch=epoch, control=True)


def record_version(record: MetadataRecord, level: int) -> int:
    match record:
        case PartitionRecord() | PartitionChangeRecord():
            return (level >= _DIRECTORIES_SINCE) + (level >= _ELIGIBLE_LEADERS_SINCE)
        case RegisterBrokerRecord():
            since = (MIGRATION_SINCE, _DIRECTORIES_SINCE, _CORDONED_SINCE)
            return 1 + sum(level >= first for first in since)
        case BrokerRegistrationChangeRecord():
            if record.cordoned_log_dirs is not None:
                return 3
            return 2 if record.log_dirs else int(bool(record.in_controlled_shutdown))
    return 0


# From an image to records


def image_records(image: MetadataImage) -> Iterator[MetadataRecord]:
    """The records that give an image when replayed, in a snapshot's order."""
    features = sorted(image.features.items(), key=lambda pair: pair[0] != METADATA_VERSION)
    for name, level in features:
        yield FeatureLevelRecord(name=name, feature_level=level)
    if image.zk_migration_state is not None:
        yield ZkMigrationStateRecord(zk_migration_state=image.zk_migration_state)
    yield from image.brokers.values()
    yield from image.controllers.values()
    for topic in image.topics.values():
        yield TopicRecord(name=topic.name, topic_id=topic.topic_id)
        for index, partition in topic.partitions.items():
            yield partition_record(topic.topic_id, index, partition)
    for (resource, owner), texts in image.configs.items():
        for name, text in texts.items():
            yield ConfigRecord(resource_type=resource, resource_name=owner, name=name, value=text)
    for entity, values in image.quotas.items():
        names = [ClientQuotaRecord.Entity(entity_type=t, entity_name=n) for t, n in entity]
        for key, value in values.items():
            yield ClientQuotaRecord(entity=names, key=key, value=value, remove=False)
    if image.next_producer_id > 0:
        yield ProducerIdsRecord(broker_id=-1, next_producer_id=image.next_producer_id)
    yield from image.acls.values()
    for credentials in image.scram.values():
        yield from credentials.values()
    yield from image.tokens.values()


def partition_record(topic_id: bytes, index: int, partition: PartitionImage) -> PartitionRecord:
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=partition.replicas,
        isr=partition.isr,
        removing_replicas=partition.removing,
        adding_replicas=partition.adding,
        leader=partition.leader,
        leader_recovery_state=partition.recovery_state,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        directories=partition.directories,
        eligible_leader_replicas=partition.eligible_leaders or None,
        last_known_elr=partition.last_eligible_leaders or None,
    )


# From bytes


def _decode(data: Buffer) -> Contents:
    """Raises WireError for damage, or if the end is missing."""
    contents = Contents(0, [], [])
    end = 0
    for pos, header in batches(data):
        if checksum(data, pos, header.size) != header.crc:
            raise WireError(f"wrong CRC at byte {pos}")
        records = read_records(data, pos)
        if header.is_control:
            contents.controls.extend(
                read_control_record(record.key or b"", record.value or b"") for record in records
            )
        else:
            contents.records.extend(records)
        end = pos + header.size
    if end != len(data) or not (
        contents.controls and isinstance(contents.controls[-1], SnapshotFooter)
    ):
        raise WireError(f"it ends at byte {end}, without its footer")
    first = contents.controls[0]
    if not isinstance(first, SnapshotHeader):
        raise WireError("it does not begin with its header")
    return contents._replace(last_timestamp=first.last_contained_log_timestamp)
