"""Snapshots of the metadata log: when they are written, what they hold, what goes with them."""

from __future__ import annotations

import logging
import stat
from pathlib import Path
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.metadata.image import MetadataImage
from odradek.emulator.metadata.log import MetadataLog, Replayed
from odradek.emulator.metadata.snapshot import (
    SnapshotId,
    encode,
    image_records,
    read_snapshot,
    snapshots_in,
)
from odradek.storage import Directory, LogDirectoryError, MemoryDisk
from odradek.wire.batch import batches
from odradek.wire.records import read_records
from odradek.wire.stored.cluster import (
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    ClientQuotaRecord,
    ConfigRecord,
    FeatureLevelRecord,
    MetadataRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UnregisterBrokerRecord,
    read_record,
)
from odradek.wire.stored.control import KRaftVersion, KRaftVoters

from tests.support.clock import NOW
from tests.support.cluster import open_cluster
from tests.support.metadata_records import EPOCH, ID, acl, broker, controller, credential, token

HOME = "__cluster_metadata-0"
OTHER = bytes(range(1, 17))
HOUR_MS = 3_600_000


def quota(value: float, *, remove: bool = False, key: str = "producer_byte_rate") -> MetadataRecord:
    entity = [ClientQuotaRecord.Entity(entity_type="user", entity_name=None)]
    return ClientQuotaRecord(entity=entity, key=key, value=value, remove=remove)


def partition(**more: Any) -> PartitionRecord:
    fields: dict[str, Any] = {
        "partition_id": 0,
        "topic_id": ID,
        "replicas": [1, 2],
        "isr": [1],
        "removing_replicas": [2],
        "adding_replicas": [3],
        "leader": 1,
        "leader_epoch": 4,
        "partition_epoch": 9,
        "directories": [ID, OTHER],
        "eligible_leader_replicas": [2],
        "last_known_elr": [3],
        "leader_recovery_state": 1,
    }
    return PartitionRecord(**{**fields, **more})


EVERYTHING: list[MetadataRecord] = [
    FeatureLevelRecord(name="transaction.version", feature_level=2),
    FeatureLevelRecord(name="metadata.version", feature_level=30),
    controller(),
    broker(),
    BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=EPOCH, fenced=-1, log_dirs=[ID]),
    TopicRecord(name="t", topic_id=ID),
    partition(),
    ConfigRecord(resource_type=2, resource_name="t", name="retention.ms", value="5"),
    ConfigRecord(resource_type=16, resource_name="m", name="metrics", value="*"),
    quota(5.0),
    ProducerIdsRecord(broker_id=1, broker_epoch=EPOCH, next_producer_id=3000),
    acl(),
    credential(),
    credential("u", 2),
    token(),
]


def image_of(*records: MetadataRecord) -> MetadataImage:
    image = MetadataImage()
    for record in records:
        image.replay(record)
    return image


def kinds(image: MetadataImage) -> list[str]:
    return [type(record).__name__ for record in image_records(image)]


# What they hold


def test_a_snapshot_holds_every_kind_of_state_in_kafkas_order() -> None:
    assert kinds(image_of(*EVERYTHING)) == [
        "FeatureLevelRecord",
        "FeatureLevelRecord",
        "RegisterBrokerRecord",
        "RegisterControllerRecord",
        "TopicRecord",
        "PartitionRecord",
        "ConfigRecord",
        "ConfigRecord",
        "ClientQuotaRecord",
        "ProducerIdsRecord",
        "AccessControlEntryRecord",
        "UserScramCredentialRecord",
        "UserScramCredentialRecord",
        "DelegationTokenRecord",
    ]
    first = next(iter(image_records(image_of(*EVERYTHING))))
    assert first == FeatureLevelRecord(name="metadata.version", feature_level=30)


def test_what_a_snapshot_says_amounts_to_the_same_image() -> None:
    image = image_of(*EVERYTHING)
    assert vars(image_of(*image_records(image))) == vars(image)


@pytest.mark.parametrize(
    ("change", "gone"),
    [
        (RemoveUserScramCredentialRecord(name="u", mechanism=1), 1),
        (quota(0.0, remove=True), 1),
        (RemoveAccessControlEntryRecord(id=ID), 1),
        (RemoveDelegationTokenRecord(token_id="a"), 1),
        (UnregisterBrokerRecord(broker_id=1, broker_epoch=EPOCH), 1),
        (FeatureLevelRecord(name="transaction.version", feature_level=0), 1),
        (RemoveUserScramCredentialRecord(name="nobody", mechanism=1), 0),
    ],
    ids=lambda change: type(change).__name__,
)
def test_what_was_taken_away_is_not_in_it(change: MetadataRecord, gone: int) -> None:
    before, after = image_of(*EVERYTHING), image_of(*EVERYTHING, change)
    assert len(kinds(after)) == len(kinds(before)) - gone


def test_eligible_leaders_that_were_cleared_are_not_in_it() -> None:
    image = image_of(*EVERYTHING, ClearElrRecord(topic_name="t"))
    (found,) = (each for each in image_records(image) if isinstance(each, PartitionRecord))
    assert found == partition(eligible_leader_replicas=None, last_known_elr=None)


def test_a_change_that_moves_a_partition_is_in_it() -> None:
    change = PartitionChangeRecord(
        partition_id=0,
        topic_id=ID,
        replicas=[3],
        removing_replicas=[],
        adding_replicas=[],
        leader=3,
    )
    image = image_of(*EVERYTHING, change)
    (found,) = (each for each in image_records(image) if isinstance(each, PartitionRecord))
    assert (found.replicas, found.removing_replicas, found.adding_replicas) == ([3], [], [])
    assert (found.leader, found.leader_epoch, found.partition_epoch) == (3, 5, 10)


def test_offsets_count_from_zero_and_epochs_are_those_of_the_name() -> None:
    data = encode(image_of(*EVERYTHING), 6, last_timestamp=NOW, now=NOW + 1)
    found = [(h.base_offset, h.leader_epoch, h.is_control) for _, h in batches(data)]
    assert found == [(0, 6, True), (1, 6, False), (15, 6, True)]


def test_a_large_snapshot_has_several_batches() -> None:
    records = [TopicRecord(name=f"t{n}", topic_id=n.to_bytes(16, "big")) for n in range(2000)]
    data = encode(image_of(*records), 1, last_timestamp=NOW, now=NOW)
    counts = [header.count for _, header in batches(data)]
    assert counts == [1, 1024, 976, 1]


@pytest.mark.parametrize(("level", "version"), [(7, 1), (8, 2), (17, 3), (30, 4)])
def test_records_have_the_versions_of_the_level(level: int, version: int) -> None:
    image = image_of(FeatureLevelRecord(name="metadata.version", feature_level=level), broker())
    data = encode(image, 1, last_timestamp=NOW, now=NOW)
    pos = next(pos for pos, header in batches(data) if not header.is_control)
    versions = [read_record(record.value or b"")[1] for record in read_records(data, pos)]
    assert versions == [0, version]


# When they are written


def home(cluster: Cluster) -> Directory:
    return cluster.log_dir.directory.child(HOME)


def test_one_is_written_after_so_many_bytes(tmp_path: Path) -> None:
    cluster = open_cluster(tmp_path, metadata_log_max_record_bytes_between_snapshots="1000")
    assert snapshots_in(home(cluster)) == []

    cluster.create_topic("t", 20, {})

    (snapshot,) = snapshots_in(home(cluster))
    assert snapshot.end == cluster.metadata.end_offset
    mode = (tmp_path / HOME / snapshot.name).stat().st_mode
    assert stat.S_IMODE(mode) == 0o400
    cluster.close()


def test_one_is_written_every_hour_if_there_is_anything_new() -> None:
    cluster = open_cluster()
    cluster.advance(HOUR_MS)
    first = snapshots_in(home(cluster))
    assert len(first) == 1

    cluster.advance(5 * HOUR_MS)
    assert snapshots_in(home(cluster)) == first

    cluster.create_topic("t", 1, {})
    cluster.advance(HOUR_MS)
    assert len(snapshots_in(home(cluster))) == 2
    cluster.close()


def test_none_is_written_by_time_if_that_is_turned_off() -> None:
    cluster = open_cluster(metadata_log_max_snapshot_interval_ms="0")
    cluster.advance(10 * HOUR_MS)
    assert snapshots_in(home(cluster)) == []
    cluster.close()


def test_none_is_written_where_records_were_not_understood() -> None:
    cluster = open_cluster()
    cluster.metadata.image.is_partial = True
    assert not cluster.metadata_upkeep.take_snapshot()
    cluster.close()


def test_a_full_disk_is_logged_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    disk = MemoryDisk()
    cluster = open_cluster(disk.directory())
    disk.fill()
    with caplog.at_level(logging.ERROR):
        assert not cluster.metadata_upkeep.take_snapshot()
    assert "no snapshot of the metadata log could be written" in caplog.text

    disk.heal()
    assert cluster.metadata_upkeep.take_snapshot()
    cluster.close()


# Reading them


def filled(path: Path, **configs: str) -> Cluster:
    """A cluster with something of everything that is set at run time."""
    cluster = open_cluster(path, **configs)
    cluster.create_topic("a", 2, {"retention.ms": "7"})
    cluster.metadata.append([credential(), quota(5.0)])
    cluster.brokers[1].next_producer_id()
    return cluster


def test_a_start_reads_the_snapshot_and_the_log_behind_it(tmp_path: Path) -> None:
    cluster = filled(tmp_path)
    cluster.metadata_upkeep.take_snapshot()
    cluster.create_topic("b", 1, {})
    before = vars(cluster.metadata.image)
    cluster.close()
    for topic in before["topics"].values():
        for partition in topic.partitions.values():
            partition.leader, partition.isr = 1, [1]
            partition.eligible_leaders = partition.last_eligible_leaders = []
            partition.leader_epoch += 1
            partition.partition_epoch += 1

    again = open_cluster(tmp_path)
    assert vars(again.metadata.image) == before
    assert [topic.name for topic in again.topics] == ["a", "b"]
    assert again.brokers[1].next_producer_id() == 1000
    again.close()


def test_a_broken_snapshot_is_passed_over_for_the_one_before(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cluster = filled(tmp_path)
    cluster.metadata_upkeep.take_snapshot()
    cluster.create_topic("b", 1, {})
    cluster.metadata_upkeep.take_snapshot()
    cluster.close()
    newest = snapshots_in(Directory(tmp_path / HOME))[-1]
    path = tmp_path / HOME / newest.name
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.unlink()
    path.write_bytes(data)

    with caplog.at_level(logging.WARNING):
        again = open_cluster(tmp_path)
    assert f"metadata snapshot {newest.name} is passed over" in caplog.text
    assert [topic.name for topic in again.topics] == ["a", "b"]
    again.close()


def test_the_voters_are_handed_on(disk: MemoryDisk) -> None:
    cluster = open_cluster(disk)
    voters = KRaftVoters(version=0, voters=[])
    cluster.metadata.append_controls([KRaftVersion(version=0, kraft_version=1), voters])
    cluster.metadata_upkeep.take_snapshot()
    cluster.close()

    again = open_cluster(disk)
    assert again.features.level("kraft.version") == 1
    assert again.metadata.image.voters == voters
    again.close()


# Letting go of old ones

SMALL = {
    "internal_metadata_log_segment_bytes": "2000",
    "metadata_max_retention_bytes": "4000",
}


def test_old_snapshots_and_the_log_before_them_go(tmp_path: Path) -> None:
    cluster = filled(tmp_path, **SMALL)
    for number in range(6):
        cluster.create_topic(f"t{number}", 10, {})
        cluster.metadata_upkeep.take_snapshot()
    cluster.metadata_upkeep.delete_old()

    kept = snapshots_in(home(cluster))
    metadata_log: MetadataLog = cluster.metadata
    assert len(kept) < 6
    assert metadata_log.start_offset == kept[0].end > 0
    cluster.close()

    again = open_cluster(tmp_path, **SMALL)
    assert len(list(again.topics)) == 7
    again.create_topic("one-more", 1, {})
    again.close()
    third = open_cluster(tmp_path, **SMALL)
    assert len(list(third.topics)) == 8
    third.close()


def test_old_snapshots_go_after_their_time(tmp_path: Path) -> None:
    cluster = filled(tmp_path, metadata_max_retention_ms=str(2 * HOUR_MS))
    cluster.metadata_upkeep.take_snapshot()
    cluster.advance(3 * HOUR_MS)
    cluster.create_topic("b", 1, {})
    cluster.advance(HOUR_MS)

    (kept,) = snapshots_in(home(cluster))
    assert kept.end == cluster.metadata.end_offset
    cluster.close()


def test_a_log_that_no_snapshot_reaches_is_refused(tmp_path: Path) -> None:
    cluster = filled(tmp_path, **SMALL)
    for number in range(6):
        cluster.create_topic(f"t{number}", 10, {})
        cluster.metadata_upkeep.take_snapshot()
    cluster.metadata_upkeep.delete_old()
    cluster.close()
    for snapshot in snapshots_in(Directory(tmp_path / HOME)):
        (tmp_path / HOME / snapshot.name).unlink()

    with pytest.raises(LogDirectoryError, match="no snapshot that reaches it"):
        open_cluster(tmp_path, **SMALL)


def test_a_name_tells_end_and_epoch(tmp_path: Path) -> None:
    assert SnapshotId(12, 3).name == "00000000000000000012-0000000003.checkpoint"
    assert read_snapshot(Directory(tmp_path), _empty(tmp_path)) is None
    assert Replayed().snapshot == SnapshotId(0, 0)


def _empty(path: Path) -> str:
    name = SnapshotId(12, 3).name
    (path / name).write_bytes(b"")
    return name
