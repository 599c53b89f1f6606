"""What a change of the metadata touched, and who is told of it."""

from __future__ import annotations

from dataclasses import fields
from itertools import count

import pytest
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.cluster import Cluster
from odradek.emulator.metadata.delta import MetadataDelta
from odradek.emulator.metadata.image import MetadataImage
from odradek.emulator.metadata.log import MetadataLog
from odradek.storage import LogDirectory, MemoryDisk
from odradek.wire import Error, Refused
from odradek.wire.stored.cluster import (
    BeginTransactionRecord,
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    ClientQuotaRecord,
    ConfigRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    MetadataRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UnregisterBrokerRecord,
)
from odradek.wire.stored.control import KRaftVersion

from tests.requests import administration as ask
from tests.requests.administration import errors
from tests.support.clock import NOW
from tests.support.cluster import client_of
from tests.support.metadata_records import EPOCH, ID, acl, broker, controller, credential, token

OTHER = bytes(range(1, 17))


def topic(name: str = "t", topic_id: bytes = ID) -> TopicRecord:
    return TopicRecord(name=name, topic_id=topic_id)


def partition(number: int, topic_id: bytes = ID) -> PartitionRecord:
    return PartitionRecord(
        partition_id=number,
        topic_id=topic_id,
        replicas=[1],
        isr=[1],
        removing_replicas=[],
        adding_replicas=[],
        leader=1,
        leader_epoch=0,
        partition_epoch=0,
    )


def change(number: int, **what: object) -> PartitionChangeRecord:
    return PartitionChangeRecord(partition_id=number, topic_id=ID, **what)  # type: ignore[arg-type]


def quota(remove: bool = False) -> ClientQuotaRecord:
    user = ClientQuotaRecord.Entity(entity_type="user", entity_name="u")
    return ClientQuotaRecord(entity=[user], key="k", value=5.0, remove=remove)


BEFORE = [topic(), partition(0), quota(), broker(), controller(7), credential(), acl(), token()]


def touched(*records: MetadataRecord) -> dict[str, object]:
    """The fields of a delta that are not empty, with the keys in them."""
    image = MetadataImage()
    for record in BEFORE:
        image.replay(record)
    delta = MetadataDelta()
    for record in records:
        image.replay(record, delta)
    return shown(delta)


def shown(delta: MetadataDelta) -> dict[str, object]:
    values = {each.name: getattr(delta, each.name) for each in fields(delta)}
    return {
        name: value if value is True else list(value) for name, value in values.items() if value
    }


@pytest.mark.parametrize(
    ("records", "keys"),
    [
        ([], {}),
        ([NoOpRecord()], {}),
        ([topic("u", OTHER), partition(0, OTHER)], {"created": [OTHER]}),
        ([RemoveTopicRecord(topic_id=ID)], {"removed": [ID]}),
        ([RemoveTopicRecord(topic_id=OTHER)], {}),
        ([topic("u", OTHER), RemoveTopicRecord(topic_id=OTHER)], {}),
        (
            [RemoveTopicRecord(topic_id=ID), topic("t", OTHER)],
            {"created": [OTHER], "removed": [ID]},
        ),
        ([change(0, leader=2), RemoveTopicRecord(topic_id=ID)], {"removed": [ID]}),
        ([partition(1), change(0, leader=2)], {"partitions": [(ID, 1), (ID, 0)]}),
        ([ClearElrRecord(topic_name="")], {"partitions": [(ID, 0)]}),
        (
            [
                ConfigRecord(resource_type=2, resource_name="t", name="n", value=v)
                for v in ("1", None)
            ],
            {"configs": [(2, "t")]},
        ),
        ([quota(remove=True)], {"quotas": [(("user", "u"),)]}),
        ([credential()], {"credentials": ["u"]}),
        ([RemoveUserScramCredentialRecord(name="u", mechanism=1)], {"credentials": ["u"]}),
        ([acl(), RemoveAccessControlEntryRecord(id=ID)], {"acls": [ID]}),
        ([RemoveDelegationTokenRecord(token_id="a")], {"tokens": ["a"]}),
        ([broker(2), UnregisterBrokerRecord(broker_id=1, broker_epoch=EPOCH)], {"brokers": [2, 1]}),
        (
            [BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=EPOCH, fenced=1)],
            {"brokers": [1]},
        ),
        ([BrokerRegistrationChangeRecord(broker_id=9, broker_epoch=EPOCH, fenced=1)], {}),
        ([controller(7)], {"controllers": [7]}),
        ([FeatureLevelRecord(name="f", feature_level=0)], {"features": ["f"]}),
        ([ProducerIdsRecord(broker_id=1, next_producer_id=5)], {"has_producer_ids": True}),
        ([BeginTransactionRecord(), FeatureLevelRecord(name="f", feature_level=1)], {}),
        (
            [
                BeginTransactionRecord(),
                FeatureLevelRecord(name="f", feature_level=1),
                EndTransactionRecord(),
            ],
            {"features": ["f"]},
        ),
    ],
)
def test_a_delta_names_what_records_touch(
    records: list[MetadataRecord], keys: dict[str, object]
) -> None:
    assert touched(*records) == keys


def test_everything_of_an_image_is_a_change_of_an_empty_one() -> None:
    image, delta = MetadataImage(), MetadataDelta()
    for record in [*BEFORE, FeatureLevelRecord(name="f", feature_level=1)]:
        image.replay(record, delta)
    assert MetadataDelta.of_all(image) == delta
    assert {each.name for each in fields(delta)} - shown(delta).keys() == {
        *("removed", "partitions", "configs", "has_producer_ids")
    }


# Who is told


class Recorder:
    """A subscriber that writes down what it was told."""

    def __init__(self) -> None:
        self.deltas: list[dict[str, object]] = []

    def __call__(self, delta: MetadataDelta, image: MetadataImage) -> None:
        self.deltas.append(shown(delta))


@pytest.fixture
def recorder(cluster: Cluster) -> Recorder:
    recorder = Recorder()
    cluster.metadata.subscribe(recorder)
    recorder.deltas.clear()
    return recorder


def test_a_request_is_one_delta_however_much_it_changes(
    cluster: Cluster, recorder: Recorder
) -> None:
    cluster.topics.add_all([cluster.topics.plan(f"t{number}") for number in range(1000)])
    (created,) = recorder.deltas
    assert created == {"created": [cluster.topic(f"t{number}").id for number in range(1000)]}
    client = client_of(cluster)
    names = [f"t{number}" for number in range(1000)]
    requests = [
        ask.grow(2, *names),
        ask.alter(*[(ask.TOPIC, name, "retention.ms", "5") for name in names]),
        ask.delete(*names),
    ]
    for number, asked in enumerate(requests, 2):
        assert errors(client, asked) == {0}
        assert len(recorder.deltas) == number


def test_what_changes_nothing_is_published_to_nobody(cluster: Cluster, recorder: Recorder) -> None:
    cluster.topics.create("t", configs={"retention.ms": "5"})
    generation = cluster.topics.generation
    recorder.deltas.clear()
    client = client_of(cluster)
    for asked in (
        ask.alter((ask.TOPIC, "t", "retention.ms", "5")),
        ask.move("t", 0, [1]),
        ask.quota("u", None),
    ):
        assert errors(client, asked) == {0}
    assert (recorder.deltas, cluster.topics.generation) == ([], generation)


def test_a_new_subscriber_learns_of_everything(cluster: Cluster) -> None:
    made = cluster.topics.create("t")
    recorder = Recorder()
    cluster.metadata.subscribe(recorder)
    (everything,) = recorder.deltas
    assert everything["created"] == [made.id]
    assert "metadata.version" in everything["features"]  # type: ignore[operator]


def test_a_level_of_the_quorum_is_reported_too(cluster: Cluster, recorder: Recorder) -> None:
    cluster.metadata.append_controls([KRaftVersion(version=0, kraft_version=1)])
    assert recorder.deltas == [{"features": ["kraft.version"]}]


def test_a_subscriber_may_not_append(cluster: Cluster) -> None:
    def append(delta: MetadataDelta, image: MetadataImage) -> None:
        cluster.metadata.append([NoOpRecord()])

    with pytest.raises(RuntimeError, match="may not append"):
        cluster.metadata.subscribe(append)
    cluster.topics.create("t")


@pytest.mark.slow
def test_of_a_change_of_several_batches_those_that_were_written_take_effect() -> None:
    disk = MemoryDisk()

    def opened() -> tuple[LogDirectory, MetadataLog]:
        log_dir = LogDirectory.open(disk.directory(), node_id=1)
        return log_dir, MetadataLog.open(log_dir, ManualClock(NOW))

    _, metadata = opened()
    recorder = Recorder()
    metadata.subscribe(recorder)
    ids = (number.to_bytes(16, "big") for number in count(1))
    disk.fill(after_bytes=800_000)
    with pytest.raises(Refused) as refused:
        metadata.append([topic(f"t{number}", next(ids)) for number in range(25_000)])
    assert refused.value.error is Error.KAFKA_STORAGE_ERROR
    in_force = {each.name for each in metadata.image.topics.values()}
    assert len(in_force) in (10_000, 20_000)
    assert len(recorder.deltas) == 2
    assert len(recorder.deltas[1]["created"]) == len(in_force)  # type: ignore[arg-type]

    disk = disk.kill()
    log_dir, again = opened()
    assert {each.name for each in again.image.topics.values()} == in_force
    log_dir.close()
