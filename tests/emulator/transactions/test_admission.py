"""What a transactional batch or offset needs to be let in (semantics B4, B17, B23, H3, H4, H7)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.admission import Marker, write_marker
from odradek.emulator.transactions.transaction import Producer, State
from odradek.wire import Error, Refused
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.api.write_txn_markers import WriteTxnMarkersRequest

from tests.requests.produce import batch, produce
from tests.support.cluster import client_of, open_cluster
from tests.support.consumer import committed_offset, read
from tests.support.transactional_producer import TxnClient

Make = Callable[..., TxnClient]


@pytest.mark.parametrize(
    ("version", "error"),
    [(9, Error.INVALID_TXN_STATE), (11, Error.TRANSACTION_ABORTABLE), (12, Error.NONE)],
)
def test_a_partition_that_was_not_added(producer: Make, version: int, error: Error) -> None:
    x = producer(generation=1)
    x.add(1)
    assert x.write(b"v", version=version) is error
    assert x.write(b"v", partition=1, version=version) is Error.NONE


def test_verification_can_be_turned_off() -> None:
    config = {"transaction_partition_verification_enable": "false"}
    cluster = open_cluster(**config)
    cluster.create_topic("t", 1, {})
    x = TxnClient(cluster, generation=1).begin()
    assert x.write(b"v", version=11) is Error.NONE
    assert x.state.state is State.EMPTY
    cluster.close()


@pytest.mark.parametrize(
    ("name", "error"), [("", Error.INVALID_REQUEST), ("y", Error.INVALID_PRODUCER_ID_MAPPING)]
)
def test_the_id_must_be_that_of_the_producer(producer: Make, name: str, error: Error) -> None:
    x = producer()
    x.name = name
    assert x.write(b"v") is error


def test_without_an_id_the_whole_request_is_refused(producer: Make, cluster: Cluster) -> None:
    x = producer()
    data = batch(
        b"v",
        producer_id=x.producer.producer_id,
        producer_epoch=0,
        base_sequence=0,
        transactional=True,
    )
    result = produce(client_of(cluster), data, version=12)
    assert result.error_code == Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_several_producers_in_a_request_refuse_all_of_it(producer: Make, cluster: Cluster) -> None:
    x, y = producer("x"), producer("y")
    entries = [
        ProduceRequest.Topic.Partition(
            index=index,
            records=batch(
                b"v",
                producer_id=who.producer_id,
                producer_epoch=0,
                base_sequence=0,
                transactional=True,
            ),
        )
        for index, who in enumerate((x.producer, y.producer))
    ]
    asked = ProduceRequest(
        transactional_id="x",
        acks=-1,
        timeout_ms=1000,
        topic_data=[ProduceRequest.Topic(name="t", partition_data=entries)],
    )
    answer = client_of(cluster).ask(asked, 12)
    found = [each.error_code for each in answer.responses[0].partition_responses]
    assert found == [Error.INVALID_PRODUCER_ID_MAPPING] * 2


def test_a_refused_batch_leaves_the_transaction_open(producer: Make, cluster: Cluster) -> None:
    x = producer()
    assert x.write(b"v", sequence=5) is Error.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert x.state.state is State.ONGOING
    assert x.end(True) is Error.NONE
    assert cluster.partition("t", 0).log_end_offset == 1, "a marker alone"


def test_plain_batches_wait_until_the_transaction_is_over(producer: Make) -> None:
    x = producer(generation=1)
    x.write(b"a")
    assert x.write(b"b", transactional=False, version=11) is Error.INVALID_TXN_STATE
    x.end(True)
    assert x.write(b"b", transactional=False, version=11) is Error.NONE


def test_a_partition_that_knows_a_later_epoch_asks_nobody(producer: Make, cluster: Cluster) -> None:
    x = producer()
    marker = Marker(x.producer.producer_id, 5, False, 0, 0)
    write_marker(cluster.partition("t", 0), marker, cluster.clock.now(), cluster.groups)
    assert x.write(b"v") is Error.INVALID_PRODUCER_EPOCH
    assert x.state.state is State.EMPTY


def test_a_batch_does_not_overtake_the_one_that_was_refused(producer: Make) -> None:
    x = producer(generation=1)
    assert x.write(b"first", version=11) is Error.TRANSACTION_ABORTABLE
    x.add(0)
    assert x.write(b"second", sequence=1, version=11) is Error.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert x.write(b"first", sequence=0, version=11) is Error.NONE
    assert x.write(b"second", sequence=1, version=11) is Error.NONE


@pytest.mark.parametrize("generation", [1, 2])
def test_sequences_start_again_only_in_a_new_epoch(producer: Make, generation: int) -> None:
    x = producer(generation=generation)
    x.write(b"a", b"b")
    x.end(True)
    expected = 2 if generation == 1 else 0
    if generation == 1:
        x.add(0)
    version = 10 + generation
    wrong = x.write(b"c", sequence=1 + expected, version=version)
    assert wrong is Error.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert x.write(b"c", sequence=expected, version=version) is Error.NONE


@pytest.mark.parametrize("generation", [1, 2])
@pytest.mark.parametrize("commit", [True, False])
def test_offsets_count_when_the_transaction_is_committed(
    producer: Make, cluster: Cluster, generation: int, commit: bool
) -> None:
    x = producer(generation=generation)
    assert x.commit_offset(5) is Error.NONE
    assert committed_offset(cluster) is Error.UNSTABLE_OFFSET_COMMIT
    assert committed_offset(cluster, stable=False) == -1
    x.end(commit)
    assert committed_offset(cluster) == (5 if commit else -1)


def test_offsets_of_a_fenced_producer_are_refused(producer: Make, cluster: Cluster) -> None:
    old = producer()
    TxnClient(cluster).begin()
    assert old.commit_offset(5) is Error.INVALID_PRODUCER_EPOCH
    old.producer = Producer(4711, 0)
    assert old.commit_offset(5) is Error.INVALID_PRODUCER_ID_MAPPING
    assert committed_offset(cluster) == -1


def test_adding_is_all_or_nothing(producer: Make) -> None:
    x = producer(generation=1)
    assert x.add(0) is Error.NONE
    assert x.add(0, topic="__consumer_offsets") is Error.TOPIC_AUTHORIZATION_FAILED
    assert x.add(7) is Error.UNKNOWN_TOPIC_OR_PARTITION
    assert x.add(0, topic="none") is Error.UNKNOWN_TOPIC_OR_PARTITION
    assert x.state.partitions == (("t", 0),)


def test_a_marker_of_an_older_coordinator_or_producer_is_refused(
    producer: Make, cluster: Cluster
) -> None:
    x = producer()
    partition, pid = cluster.partition("t", 0), x.producer.producer_id
    write_marker(partition, Marker(pid, 3, True, 7, 0), cluster.clock.now(), cluster.groups)
    for marker, error in (
        (Marker(pid, 3, True, 6, 0), Error.TRANSACTION_COORDINATOR_FENCED),
        (Marker(pid, 2, True, 7, 0), Error.INVALID_PRODUCER_EPOCH),
        (Marker(-1, 3, True, 7, 0), Error.UNKNOWN_SERVER_ERROR),
    ):
        with pytest.raises(Refused) as refused:
            write_marker(partition, marker, cluster.clock.now(), cluster.groups)
        assert refused.value.error is error
    assert partition.log_end_offset == 1


def test_an_end_is_held_by_a_partition_that_knows_a_later_coordinator(
    producer: Make, cluster: Cluster
) -> None:
    x = producer()
    Topic = WriteTxnMarkersRequest.Marker.Topic
    marker = WriteTxnMarkersRequest.Marker(
        producer_id=x.producer.producer_id,
        producer_epoch=0,
        transaction_result=True,
        coordinator_epoch=100,
        topics=[Topic(name="t", partition_indexes=[0]), Topic(name="none", partition_indexes=[0])],
    )
    answer = client_of(cluster).ask(WriteTxnMarkersRequest(markers=[marker]), 1)
    codes = [topic.partitions[0].error_code for topic in answer.markers[0].topics]
    assert codes == [Error.NONE, Error.UNKNOWN_TOPIC_OR_PARTITION]
    x.write(b"v")
    x.write(b"w", partition=1)
    assert x.end(True) is Error.NONE
    assert (x.state.state, x.state.partitions) == (State.PREPARE_COMMIT, (("t", 0),))
    assert read(cluster, committed=True) == []
    assert read(cluster, committed=True, partition=1) == [b"w"]
    for error in (x.init(), x.write(b"v"), x.end(True), x.commit_offset(1)):
        assert error is Error.CONCURRENT_TRANSACTIONS
    cluster.advance(600_000)
    assert x.state.state is State.PREPARE_COMMIT


def test_a_partition_that_is_gone_does_not_hold_the_end(producer: Make, cluster: Cluster) -> None:
    cluster.create_topic("gone", 1, {})
    x = producer()
    x.write(b"v", topic="gone")
    x.write(b"v")
    cluster.topics.delete(cluster.topic("gone"))
    assert x.end(True) is Error.NONE
    assert x.state.state is State.COMPLETE_COMMIT


def test_without_the_feature_only_the_first_generation_works(
    producer: Make, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = producer(generation=1)
    monkeypatch.setattr(cluster.features, "level", lambda _: 0)
    assert x.write(b"v", version=12) is Error.UNSUPPORTED_VERSION
    assert x.write(b"v") is Error.NONE
    assert x.end(True, version=5) is Error.UNSUPPORTED_VERSION
    assert x.state.state is State.ONGOING
    assert x.init() is Error.CONCURRENT_TRANSACTIONS
    assert (x.state.epoch, x.state.client_version) == (1, 0)
