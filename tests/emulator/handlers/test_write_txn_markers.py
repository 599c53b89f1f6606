"""WriteTxnMarkers (semantics H8): transactions are ended in partitions, each for itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.transaction import Producer
from odradek.wire import Error
from odradek.wire.api.write_txn_markers import WriteTxnMarkersRequest
from odradek.wire.batch import batches
from odradek.wire.records import read_marker

from tests.requests.transactions import NOBODY, marker
from tests.support.cluster import Client
from tests.support.consumer import read
from tests.support.transactional_producer import TxnClient
from tests.support.versions import first_and_last

Make = Callable[..., TxnClient]
SOMEBODY = Producer(4711, 3)


@pytest.fixture(autouse=True)
def _topic(cluster: Cluster) -> None:
    cluster.create_topic("t", 2, {})


def write(client: Client, *markers: WriteTxnMarkersRequest.Marker, version: int = 2) -> list[Any]:
    """Producer id, topic, partition and error of each partition, in the order of the answer."""
    answer = client.ask(WriteTxnMarkersRequest(markers=list(markers)), version)
    return [
        (each.producer_id, topic.name, part.partition_index, part.error_code)
        for each in answer.markers
        for topic in each.topics
        for part in topic.partitions
    ]


@pytest.mark.parametrize("version", first_and_last(WriteTxnMarkersRequest))
@pytest.mark.parametrize("commit", [True, False])
def test_a_marker_ends_a_transaction_where_it_is_written(
    producer: Make, cluster: Cluster, client: Client, version: int, commit: bool
) -> None:
    x = producer()
    x.write(b"ended")
    x.write(b"open", partition=1)
    mark = marker(x.producer, commit=commit)
    assert write(client, mark, version=version) == [(x.producer.producer_id, "t", 0, 0)]
    assert read(cluster, committed=True) == ([b"ended"] if commit else [])
    assert read(cluster, committed=True, partition=1) == []


def test_a_marker_is_written_though_nothing_is_open(cluster: Cluster, client: Client) -> None:
    mark = marker(SOMEBODY, coordinator_epoch=7)
    assert write(client, mark) == [(SOMEBODY.producer_id, "t", 0, 0)]
    data = bytes(cluster.partition("t", 0).log.read(0, 1 << 20))
    ((pos, header),) = batches(data)
    found = read_marker(data, pos)
    assert found is not None
    assert (header.is_control, header.is_transactional, header.size) == (True, True, 78)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (*SOMEBODY, -1)
    assert (found.commit, found.coordinator_epoch) == (True, 7)


def test_each_partition_is_answered_for_itself(client: Client) -> None:
    other = Producer(5000, 0)
    found = write(
        client,
        marker(SOMEBODY, [("t", [1, 9]), ("none", [0])]),
        marker(other, [("t", [0, 0])]),
        marker(SOMEBODY, [("t", [0])]),
    )
    unknown = Error.UNKNOWN_TOPIC_OR_PARTITION
    assert sorted(found) == [
        (4711, "none", 0, unknown),
        (4711, "t", 0, 0),
        (4711, "t", 1, 0),
        (4711, "t", 9, unknown),
        (5000, "t", 0, 0),
    ]
    # Markers of one producer share an entry.
    assert [each[0] for each in found] == [4711] * 4 + [5000]


@pytest.mark.parametrize(
    ("transaction_version", "equal"),
    [(0, Error.NONE), (1, Error.NONE), (2, Error.INVALID_PRODUCER_EPOCH)],
)
def test_the_second_generation_ends_an_open_transaction_in_a_later_epoch(
    producer: Make, client: Client, transaction_version: int, equal: Error
) -> None:
    x = producer()
    x.write(b"open")

    def code(shift: int) -> int:
        who = Producer(x.producer.producer_id, x.producer.epoch + shift)
        ((*_, found),) = write(client, marker(who, transaction_version=transaction_version))
        return int(found)

    assert [code(0), code(1)] == [equal, Error.NONE]


def test_an_earlier_epoch_is_refused_and_the_same_one_again_is_not(client: Client) -> None:
    """As a real broker answers in every version of transactions, if nothing is open."""
    for transaction_version in (0, 1, 2):
        producer_id = 4711 + transaction_version
        marks = [
            marker(Producer(producer_id, epoch), transaction_version=transaction_version)
            for epoch in (3, 2, 3, 4, 4)
        ]
        codes = [write(client, mark)[0][3] for mark in marks]
        assert codes == [0, Error.INVALID_PRODUCER_EPOCH, 0, 0, 0]


def test_an_older_coordinator_is_fenced(client: Client) -> None:
    assert write(client, marker(SOMEBODY, coordinator_epoch=5))[0][3] == 0
    assert write(client, marker(SOMEBODY, coordinator_epoch=4))[0][3] == (
        Error.TRANSACTION_COORDINATOR_FENCED
    )
    assert write(client, marker(SOMEBODY, coordinator_epoch=5))[0][3] == 0


@pytest.mark.parametrize("nobody", [NOBODY, Producer(-1, 0), Producer(7, -1)])
def test_nobodys_marker_fails_the_whole_request(client: Client, nobody: Producer) -> None:
    found = write(client, marker(SOMEBODY), marker(nobody, [("t", [1])]))
    assert [each[3] for each in found] == [Error.UNKNOWN_SERVER_ERROR] * 2
