"""The metadata log: KRaft's records, replayed from snapshot and log, cut at a torn tail."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.metadata.features import NEW_FEATURES
from odradek.emulator.metadata.image import MetadataImage, PartitionImage, TopicImage
from odradek.emulator.metadata.log import TOPIC_ID, MetadataLog
from odradek.emulator.metadata.snapshot import record_version
from odradek.storage import LogDirectory, LogDirectoryError
from odradek.wire.batch import batches
from odradek.wire.records import build_batch, read_records
from odradek.wire.stored.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    ConfigRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    MetadataRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
    frame_record,
    read_record,
)
from odradek.wire.stored.control import (
    KRaftVersion,
    LeaderChange,
    SnapshotFooter,
    SnapshotHeader,
    control_record,
)

from tests.support.clock import NOW

ID = bytes(range(16))
OTHER = bytes(range(1, 17))
DIRECTORY = bytes(range(2, 18))
HOME = "__cluster_metadata-0"
MIN_INSYNC = {(4, ""): {"min.insync.replicas": "1"}}


class World:
    """A log directory that is opened and closed again."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def open(self) -> tuple[LogDirectory, MetadataLog, MetadataImage]:
        log_dir = LogDirectory.open(self.path, node_id=1, new_id=lambda: DIRECTORY)
        metadata_log = MetadataLog.open(log_dir, ManualClock(NOW))
        return log_dir, metadata_log, metadata_log.image

    def image(self) -> MetadataImage:
        """What a start finds."""
        log_dir, _, image = self.open()
        log_dir.close()
        return image

    def append(self, *records: MetadataRecord) -> None:
        """What one run writes."""
        log_dir, metadata_log, _ = self.open()
        metadata_log.append(records)
        log_dir.close()

    def written(self) -> list[tuple[int, int, list[tuple[MetadataRecord, int]]]]:
        """Base offset, leader epoch and records of every batch on disk."""
        data = (self.path / HOME / f"{0:020}.log").read_bytes()
        return [
            (
                header.base_offset,
                header.leader_epoch,
                [read_record(record.value or b"") for record in read_records(data, pos)],
            )
            for pos, header in batches(data)
            if not header.is_control
        ]

    def write_snapshot(self, end: int, *records: MetadataRecord, epoch: int = 3) -> Path:
        path = self.path / HOME / f"{end:020}-{epoch:010}.checkpoint"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(snapshot(records))
        return path


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "data")


def snapshot(records: Sequence[MetadataRecord]) -> bytes:
    """A snapshot as Kafka writes it: header, records, footer."""
    head = [SnapshotHeader(version=0, last_contained_log_timestamp=NOW)]
    parts = [
        build_batch([(NOW, *control_record(m), ()) for m in messages], control=True)
        for messages in (head, [SnapshotFooter(version=0)])
    ]
    data = build_batch([(NOW, None, frame_record(r, 0), ()) for r in records], base_offset=1)
    return bytes(parts[0] + data + parts[1]) if records else bytes(parts[0] + parts[1])


def partition(index: int = 0, topic_id: bytes = ID, leader: int = 1) -> PartitionRecord:
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=[1],
        isr=[1],
        removing_replicas=[],
        adding_replicas=[],
        leader=leader,
        leader_epoch=0,
        partition_epoch=0,
        directories=[DIRECTORY],
    )


def config(name: str, value: str | None, topic: str = "t") -> ConfigRecord:
    return ConfigRecord(resource_type=2, resource_name=topic, name=name, value=value)


FEATURES = FeatureLevelRecord(name="metadata.version", feature_level=30)
TOPIC = TopicRecord(name="t", topic_id=ID)


# Writing


def test_a_new_log_begins_with_kafkas_bootstrap_transaction(world: World) -> None:
    image = world.image()

    (base_offset, epoch, records), *others = world.written()
    assert others == []
    assert (base_offset, epoch) == (0, 1)
    assert [message for message, _ in records] == [
        BeginTransactionRecord(name="Bootstrap records"),
        *(FeatureLevelRecord(name=n, feature_level=v) for n, v in NEW_FEATURES.items()),
        ConfigRecord(resource_type=4, resource_name="", name="min.insync.replicas", value="1"),
        EndTransactionRecord(),
    ]
    assert image.features == NEW_FEATURES
    assert image.configs == MIN_INSYNC
    assert (world.path / HOME / "partition.metadata").read_text().endswith("AAAAAAAAAAAAAAAAAAAAAQ")
    assert TOPIC_ID[-1] == 1


def test_a_start_without_changes_writes_nothing(world: World) -> None:
    world.image()
    before = world.written()
    world.image()
    assert world.written() == before


def test_a_change_is_one_batch_behind_the_last(world: World) -> None:
    world.append(TOPIC, config("retention.ms", "1"), partition())

    assert [(base, epoch) for base, epoch, _ in world.written()] == [(0, 1), (9, 1)]
    assert world.written()[1][2] == [(TOPIC, 0), (config("retention.ms", "1"), 0), (partition(), 2)]


@pytest.mark.parametrize(
    ("metadata_version", "version"), [(7, 0), (16, 0), (17, 1), (22, 1), (23, 2), (30, 2)]
)
def test_record_versions_follow_the_metadata_version(metadata_version: int, version: int) -> None:
    assert record_version(partition(), metadata_version) == version
    assert record_version(PartitionChangeRecord(topic_id=ID), metadata_version) == version
    assert record_version(TOPIC, metadata_version) == 0


def test_an_old_directory_is_written_in_its_own_versions(world: World) -> None:
    world.write_snapshot(5, FeatureLevelRecord(name="metadata.version", feature_level=17))
    world.append(partition())
    assert world.written() == [(5, 3, [(partition(), 1)])]


def test_producer_ids_come_in_blocks_that_nobody_has_had(world: World) -> None:
    log_dir, metadata_log, _ = world.open()
    assert metadata_log.next_producer_block(1) == range(1000)
    assert metadata_log.next_producer_block(1) == range(1000, 2000)
    log_dir.close()

    log_dir, metadata_log, _ = world.open()
    assert metadata_log.next_producer_block(1) == range(2000, 3000)
    log_dir.close()
    assert world.written()[-1][2] == [(ProducerIdsRecord(broker_id=1, next_producer_id=3000), 0)]


@pytest.mark.slow
def test_a_change_of_ten_thousand_records_and_more_is_several_batches(world: World) -> None:
    world.append(*(partition(index) for index in range(10_001)))
    assert [len(records) for _, _, records in world.written()] == [9, 10_000, 1]


# Reading


def test_what_was_written_is_replayed(world: World) -> None:
    world.append(TOPIC, config("retention.ms", "1"), partition(0), partition(1))
    world.append(NoOpRecord())

    image = world.image()

    one = PartitionImage([1], [1], 1, 0, 0, directories=[DIRECTORY])
    assert image.topics == {ID: TopicImage("t", ID, {0: one, 1: one})}
    assert image.configs == {**MIN_INSYNC, (2, "t"): {"retention.ms": "1"}}


def test_a_torn_tail_is_cut(world: World) -> None:
    world.append(TOPIC, partition())
    world.append(TopicRecord(name="torn", topic_id=OTHER), partition(0, OTHER))
    path = world.path / HOME / f"{0:020}.log"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])

    assert list(world.image().topics) == [ID]
    world.append(TopicRecord(name="later", topic_id=OTHER), partition(0, OTHER))
    assert [topic.name for topic in world.image().topics.values()] == ["t", "later"]


def test_a_damaged_batch_ends_the_log_even_after_a_clean_stop(world: World) -> None:
    world.append(TOPIC, partition())
    path = world.path / HOME / f"{0:020}.log"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)

    assert world.image().topics == {}


def test_control_batches_of_a_real_quorum_are_passed_over(world: World) -> None:
    home = world.path / HOME
    home.mkdir(parents=True)
    change = control_record(LeaderChange(version=1, leader_id=1, voters=[], granting_voters=[]))
    version = control_record(KRaftVersion(version=0, kraft_version=1))
    values = [(NOW, None, frame_record(r, 0), ()) for r in (FEATURES, TOPIC, partition())]
    data = build_batch(
        [(NOW, *change, ()), (NOW, *version, ())], control=True, leader_epoch=4
    ) + build_batch(values, base_offset=2, leader_epoch=4)
    (home / f"{0:020}.log").write_bytes(data)

    log_dir, metadata_log, image = world.open()
    metadata_log.append([NoOpRecord()])
    log_dir.close()

    assert list(image.topics) == [ID]
    assert world.written()[-1] == (5, 4, [(NoOpRecord(), 0)])


def test_the_newest_snapshot_and_the_log_behind_it_are_the_state(world: World) -> None:
    world.append(TopicRecord(name="below", topic_id=OTHER), partition(0, OTHER))  # offsets 9, 10
    world.append(RemoveTopicRecord(topic_id=ID))  # offset 11, behind the snapshot
    world.write_snapshot(5, FEATURES)
    world.write_snapshot(11, FEATURES, TOPIC, partition(), config("retention.ms", "1"))

    image = world.image()

    assert image.topics == {}
    assert image.configs == {}
    assert image.features == {"metadata.version": 30}


def test_a_snapshot_alone_is_enough_and_the_log_goes_on_behind_it(world: World) -> None:
    world.write_snapshot(41, FEATURES, TOPIC, partition(), epoch=7)

    world.append(config("retention.ms", "1"))

    assert world.written() == [(41, 7, [(config("retention.ms", "1"), 0)])]
    image = world.image()
    assert list(image.topics) == [ID]
    assert image.configs == {(2, "t"): {"retention.ms": "1"}}


def test_a_damaged_bootstrap_snapshot_is_done_without(world: World) -> None:
    world.path.mkdir()
    (world.path / "bootstrap.checkpoint").write_bytes(snapshot([FEATURES])[:-1])
    assert world.image().features == NEW_FEATURES


@pytest.mark.parametrize("damage", ["torn", "flipped"])
def test_a_damaged_snapshot_is_passed_over_for_an_older_one(
    world: World, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    world.write_snapshot(5, FEATURES, TOPIC, partition())
    path = world.write_snapshot(9, FEATURES)
    data = bytearray(path.read_bytes())
    if damage == "torn":
        del data[-1]
    else:
        data[200] ^= 1
    path.write_bytes(data)

    with caplog.at_level(logging.WARNING):
        assert list(world.image().topics) == [ID]
    assert path.name in caplog.text


def test_a_log_whose_beginning_is_gone_is_refused(world: World) -> None:
    home = world.path / HOME
    home.mkdir(parents=True)
    data = build_batch([(NOW, None, frame_record(TOPIC, 0), ())], base_offset=50)
    (home / f"{50:020}.log").write_bytes(data)
    world.write_snapshot(49, FEATURES)

    log_dir = LogDirectory.open(world.path, node_id=1)
    with pytest.raises(LogDirectoryError, match="begins at offset 50"):
        MetadataLog.open(log_dir, ManualClock(NOW))
    log_dir.close()


def test_a_directory_that_was_only_formatted_starts_with_its_features(world: World) -> None:
    world.path.mkdir()
    old = FeatureLevelRecord(name="metadata.version", feature_level=17)
    (world.path / "bootstrap.checkpoint").write_bytes(snapshot([old]))

    image = world.image()

    assert image.features == {"metadata.version": 17}
    assert [message for message, _ in world.written()[0][2]] == [
        BeginTransactionRecord(name="Bootstrap records"),
        old,
        EndTransactionRecord(),
    ]
    assert world.image().features == {"metadata.version": 17}


def test_a_record_of_a_newer_kafka_is_passed_over(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    unknown = b"\x01\xff\x01\x00\x00"  # frame version 1, record type 255
    home = world.path / HOME
    home.mkdir(parents=True)
    values = [frame_record(FEATURES, 0), unknown, frame_record(TOPIC, 0)]
    data = build_batch([(NOW, None, value, ()) for value in values], leader_epoch=1)
    (home / f"{0:020}.log").write_bytes(data)

    with caplog.at_level(logging.WARNING):
        assert list(world.image().topics) == [ID]
    assert "offset 1: passed over" in caplog.text


# Transactions


def test_records_of_a_transaction_count_together_or_not_at_all(world: World) -> None:
    world.append(BeginTransactionRecord(), TOPIC, partition(), AbortTransactionRecord())
    assert world.image().topics == {}
    world.append(BeginTransactionRecord(), TOPIC, partition())
    world.append(EndTransactionRecord())
    assert world.image().topics == {}  # the start in between has aborted it


def test_a_finished_transaction_counts() -> None:
    image = MetadataImage()
    for record in (BeginTransactionRecord(), TOPIC, partition()):
        image.replay(record)
        assert image.topics == {}
    image.replay(EndTransactionRecord())
    assert list(image.topics) == [ID]


def test_a_transaction_left_open_is_aborted_before_anything_else(world: World) -> None:
    world.append(BeginTransactionRecord(), TOPIC, partition())

    image = world.image()

    assert image.topics == {}
    ((aborted, _),) = world.written()[-1][2]
    assert isinstance(aborted, AbortTransactionRecord)


# What single records mean


def changed(**change: Any) -> PartitionImage:
    """A partition of the brokers 1 and 2, led by 1 in epoch 5, after one change."""
    image = MetadataImage()
    image.replay(TOPIC)
    start = partition()
    start.directories = []
    start.replicas, start.isr, start.leader_epoch, start.partition_epoch = [1, 2], [1, 2], 5, 7
    image.replay(start)
    image.replay(PartitionChangeRecord(partition_id=0, topic_id=ID, **change))
    return image.topics[ID].partitions[0]


@pytest.mark.parametrize(
    ("change", "after"),
    [
        ({}, PartitionImage([1, 2], [1, 2], 1, 5, 8)),
        ({"leader": 2}, PartitionImage([1, 2], [1, 2], 2, 6, 8)),
        ({"leader": 1}, PartitionImage([1, 2], [1, 2], 1, 6, 8)),
        ({"leader": -1, "isr": []}, PartitionImage([1, 2], [], -1, 6, 8)),
        ({"isr": [1]}, PartitionImage([1, 2], [1], 1, 5, 8)),
        ({"replicas": [2, 3]}, PartitionImage([2, 3], [1, 2], 1, 5, 8)),
        ({"eligible_leader_replicas": [2]}, PartitionImage([1, 2], [1, 2], 1, 5, 8, [2])),
        ({"eligible_leader_replicas": []}, PartitionImage([1, 2], [1, 2], 1, 5, 8)),
    ],
)
def test_a_change_counts_epochs_and_keeps_what_it_does_not_name(
    change: dict[str, Any], after: PartitionImage
) -> None:
    assert changed(**change) == after


def test_removing_a_topic_takes_its_configs_along() -> None:
    image = MetadataImage()
    for record in (TOPIC, partition(), config("retention.ms", "1"), RemoveTopicRecord(topic_id=ID)):
        image.replay(record)
    assert image.topics == {}
    assert image.configs == {}


def test_a_config_without_a_value_is_unset() -> None:
    image = MetadataImage()
    image.replay(config("a", "1"))
    image.replay(config("b", "2"))
    image.replay(config("a", None))
    assert image.configs == {(2, "t"): {"b": "2"}}
    image.replay(config("b", None))
    assert image.configs == {}


@pytest.mark.parametrize(
    "record",
    [
        partition(0, OTHER),
        PartitionChangeRecord(partition_id=0, topic_id=OTHER, leader=1),
        PartitionChangeRecord(partition_id=9, topic_id=ID, leader=1),
        RemoveTopicRecord(topic_id=OTHER),
        RegisterBrokerRecord(
            broker_id=1,
            incarnation_id=ID,
            broker_epoch=1,
            end_points=[],
            features=[],
            rack=None,
        ),
    ],
    ids=lambda record: type(record).__name__,
)
def test_what_means_nothing_here_changes_nothing(record: MetadataRecord) -> None:
    image = MetadataImage()
    image.replay(TOPIC)
    image.replay(partition())
    image.replay(record)
    assert image.topics == {
        ID: TopicImage("t", ID, {0: PartitionImage([1], [1], 1, 0, 0, directories=[DIRECTORY])})
    }
