"""A full disk: clients are told, nothing acknowledged is lost, and with room again it goes on."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from odradek import Emulator
from odradek.emulator.cluster import Cluster
from odradek.storage import MemoryDisk
from odradek.wire import NO_ID, Error, Request
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_records import DeleteRecordsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.batch import batches
from odradek.wire.records import read_records

from tests.requests.committed_offsets import commit, committed
from tests.requests.configs import change_request
from tests.requests.groups import join_request
from tests.requests.produce import batch, produce
from tests.support.cluster import Client, client_of, open_cluster

HOUR_MS = 3_600_000
CONFIGS = {
    "log_retention_ms": "1000",
    "log_segment_bytes": "1048576",
    "offsets_topic_num_partitions": "1",
    "offsets_retention_minutes": "2",
    "offsets_retention_check_interval_ms": "60000",
    "transaction_state_log_num_partitions": "1",
    "producer_id_expiration_ms": "60000",
}


@pytest.fixture
def disk() -> MemoryDisk:
    return MemoryDisk()


@pytest.fixture
def cluster(disk: MemoryDisk) -> Iterator[Cluster]:
    cluster = open_cluster(disk.directory(), **CONFIGS)
    cluster.create_topic("t", 1, {})
    yield cluster
    disk.heal()
    cluster.close()


@pytest.fixture
def client(cluster: Cluster) -> Client:
    return client_of(cluster)


def values(cluster: Cluster) -> list[bytes | None]:
    log = cluster.partition("t", 0).log
    data = log.read(log.log_start_offset, 1 << 20)
    return [record.value for at, _ in batches(data) for record in read_records(data, at)]


@pytest.mark.parametrize("room", [0, 1, 40, 61, 100])
def test_produce_is_refused_until_there_is_room(
    cluster: Cluster, client: Client, disk: MemoryDisk, room: int
) -> None:
    assert produce(client, batch(b"before")).error_code == 0
    disk.fill(after_bytes=room)
    refused = [produce(client, batch(b"x" * 60)) for _ in range(3)]
    assert [answer.error_code for answer in refused] == [Error.KAFKA_STORAGE_ERROR] * 3
    assert {answer.base_offset for answer in refused} == {-1}
    assert values(cluster) == [b"before"]

    disk.heal()
    assert produce(client, batch(b"after")).base_offset == 1
    assert values(cluster) == [b"before", b"after"]


def test_a_full_disk_is_logged_once_and_again_after_a_minute(
    cluster: Cluster, client: Client, disk: MemoryDisk, caplog: pytest.LogCaptureFixture
) -> None:
    disk.fill()
    for seconds in (0, 1, 59, 1, 1):
        cluster.advance(seconds * 1000)
        assert produce(client, batch(b"x")).error_code == Error.KAFKA_STORAGE_ERROR
    said = [one.getMessage() for one in caplog.records if "takes no records" in one.getMessage()]
    assert len(said) == 2
    assert said[0].startswith("<t-0> takes no records: KAFKA_STORAGE_ERROR: t-0: ")


def test_a_disk_that_filled_up_comes_back_with_all_that_was_acknowledged(
    cluster: Cluster, client: Client, disk: MemoryDisk
) -> None:
    disk.fill(after_bytes=5000)
    sent = [b"%d" % number for number in range(100)]
    acknowledged = [value for value in sent if produce(client, batch(value)).error_code == 0]
    assert 0 < len(acknowledged) < 100

    again = open_cluster(disk.kill().directory(), **CONFIGS)

    assert values(again) == acknowledged
    assert produce(client_of(again), batch(b"more")).base_offset == len(acknowledged)
    again.close()


def test_retention_makes_room(cluster: Cluster, client: Client, disk: MemoryDisk) -> None:
    assert produce(client, batch(b"x" * 1000)).error_code == 0
    disk.fill(after_bytes=500)
    assert produce(client, batch(b"y" * 1000)).error_code == Error.KAFKA_STORAGE_ERROR

    cluster.advance(400_000)  # retention, and then the delay until files are unlinked

    assert produce(client, batch(b"y" * 1000)).base_offset == 1
    assert values(cluster) == [b"y" * 1000]


def test_a_group_keeps_what_it_committed(client: Client, disk: MemoryDisk) -> None:
    client.ask(FindCoordinatorRequest(key="g"), 2)
    assert commit(client, 1) == 0
    disk.fill()
    assert commit(client, 2) is Error.NOT_COORDINATOR
    assert committed(client).committed_offset == 1

    disk.heal()
    assert commit(client, 3) == 0
    assert committed(client).committed_offset == 3


def administration() -> list[tuple[Request, int]]:
    new = CreateTopicsRequest.Topic(
        name="new", num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    more = CreatePartitionsRequest.Topic(name="t", count=5, assignments=None)
    return [
        (CreateTopicsRequest(topics=[new], timeout_ms=1000), 5),
        (CreatePartitionsRequest(topics=[more], timeout_ms=1000, validate_only=False), 2),
        (
            change_request(
                (2, "t", [("retention.ms", 0, "5000")]),
                (4, "1", [("log.retention.ms", 0, "5000")]),
            ),
            1,
        ),
        (InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000), 3),
        (
            DeleteTopicsRequest(
                topics=[DeleteTopicsRequest.Topic(name="t", topic_id=NO_ID)], timeout_ms=1000
            ),
            6,
        ),
    ]


def errors(answer: Any) -> list[int]:
    for name in ("topics", "results", "responses"):
        if hasattr(answer, name):
            return [each.error_code for each in getattr(answer, name)]
    return [answer.error_code]


def test_administration_is_refused_and_changes_nothing(
    cluster: Cluster, client: Client, disk: MemoryDisk
) -> None:
    disk.fill()
    for request, version in administration():
        found = errors(client.ask(request, version))
        assert set(found) == {Error.KAFKA_STORAGE_ERROR}, request
    assert [topic.name for topic in cluster.topics] == ["t"]
    assert len(cluster.topic("t").partitions) == 1

    disk.heal()
    for request, version in administration():
        assert set(errors(client.ask(request, version))) == {0}, request
    assert [topic.name for topic in cluster.topics] == ["new"]


@pytest.mark.parametrize("key_type", [0, 1])
def test_a_coordinator_whose_topic_cannot_be_made_is_not_available(
    client: Client, disk: MemoryDisk, key_type: int
) -> None:
    disk.fill()
    answer = client.ask(FindCoordinatorRequest(key="g", key_type=key_type), 2)
    assert (answer.error_code, answer.node_id) == (Error.COORDINATOR_NOT_AVAILABLE, -1)
    disk.heal()
    assert client.ask(FindCoordinatorRequest(key="g", key_type=key_type), 2).node_id == 1


def test_deleting_records_is_refused_or_done_but_never_undone(
    cluster: Cluster, client: Client, disk: MemoryDisk
) -> None:
    produce(client, batch(b"a", b"b", b"c"))
    Topic = DeleteRecordsRequest.Topic
    at = Topic.Partition(partition_index=0, offset=2)
    request = DeleteRecordsRequest(topics=[Topic(name="t", partitions=[at])], timeout_ms=1000)
    disk.fill()
    refused = client.ask(request, 2).topics[0].partitions[0]
    assert refused.error_code == Error.KAFKA_STORAGE_ERROR
    disk.heal()
    assert client.ask(request, 2).topics[0].partitions[0].low_watermark == 2

    again = open_cluster(disk.kill().directory(), **CONFIGS)
    assert again.partition("t", 0).log_start_offset == 2
    again.close()


@pytest.mark.parametrize("where", ["*", "t-0/*", "__*", "*.index", "*-checkpoint*"])
def test_the_broker_lives_on_whatever_cannot_be_written(
    cluster: Cluster,
    client: Client,
    disk: MemoryDisk,
    where: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    client.ask(FindCoordinatorRequest(key="g"), 2)
    client.ask(FindCoordinatorRequest(key="tx", key_type=1), 2)
    commit(client, 1)
    client.ask(InitProducerIdRequest(transactional_id="tx", transaction_timeout_ms=1000), 3)
    client.send(join_request(group_id="members"), 3)
    produce(client_of(cluster), batch(b"x" * 100))
    cluster.advance(5000)
    client.answers()

    disk.fail_writes(where)
    disk.fail_syncs(where)
    for _ in range(3):
        produce(client_of(cluster), batch(b"x" * 600_000))
    cluster.advance(HOUR_MS)  # sessions, transactions, offsets, segments and checkpoints
    disk.heal()

    assert not [one for one in caplog.records if one.exc_info], "a defect, not a full disk"
    cluster.advance(HOUR_MS)
    fresh = client_of(cluster)
    assert produce(fresh, batch(b"last")).error_code == 0
    assert values(cluster)[-1] == b"last"
    assert commit(fresh, 5) == 0
    again = open_cluster(disk.kill().directory(), **CONFIGS)
    assert values(again)[-1] == b"last"
    assert committed(client_of(again)).committed_offset == 5
    again.close()


def test_a_broker_can_be_stopped_on_a_full_disk_and_comes_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    disk = MemoryDisk()
    with Emulator(disk=disk, topics={"t": 1}) as kafka:
        kafka.run(lambda cluster: produce(client_of(cluster), batch(b"x")))
        disk.fill()
    assert [one.levelno for one in caplog.records] == [logging.ERROR]
    assert "not closed cleanly" in caplog.text
    disk.heal()
    with Emulator(disk=disk) as kafka:
        assert kafka.topic("t")[0].values() == [b"x"]
