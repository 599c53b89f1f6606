"""TxnOffsetCommit (semantics H4): offsets that count once the transaction is committed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.transaction import Producer, State
from odradek.wire import Error
from odradek.wire.api.txn_offset_commit import TxnOffsetCommitRequest

from tests.requests.groups import stable
from tests.requests.transactions import add_offsets_request, txn_commit_request
from tests.support.cluster import Client, client_of
from tests.support.consumer import committed_offset
from tests.support.transactional_producer import TxnClient
from tests.support.versions import first_and_last

Make = Callable[..., TxnClient]


@pytest.fixture(autouse=True)
def _topics(cluster: Cluster) -> None:
    cluster.create_topic("t", 2, {})
    cluster.groups.ensure_topic()


def asked(client: Client, request: TxnOffsetCommitRequest, version: int = 5) -> list[Any]:
    """Topic, partition and error of each partition, in the order of the answer."""
    return [
        (topic.name, part.partition_index, part.error_code)
        for topic in client.ask(request, version).topics
        for part in topic.partitions
    ]


@pytest.mark.parametrize("version", first_and_last(TxnOffsetCommitRequest))
@pytest.mark.parametrize("commit", [True, False])
def test_offsets_count_once_the_transaction_is_committed(
    producer: Make, cluster: Cluster, version: int, commit: bool
) -> None:
    x = producer(generation=2 if version >= 5 else 1)
    client = client_of(cluster)
    if version < 5:
        assert client.ask(add_offsets_request(x.producer), 3).error_code == 0
    request = txn_commit_request(x.producer, ("t", 0, 7), ("t", 1, 8))
    assert asked(client, request, version) == [("t", 0, 0), ("t", 1, 0)]
    assert committed_offset(cluster) is Error.UNSTABLE_OFFSET_COMMIT
    assert committed_offset(cluster, stable=False) == -1
    assert x.end(commit) is Error.NONE
    assert committed_offset(cluster) == (7 if commit else -1)


def test_partitions_that_do_not_exist_come_first_and_do_not_keep_the_others(
    producer: Make, cluster: Cluster
) -> None:
    x = producer()
    request = txn_commit_request(x.producer, ("t", 0, 7), ("none", 0, 1), ("t", 9, 1))
    unknown = Error.UNKNOWN_TOPIC_OR_PARTITION
    assert asked(client_of(cluster), request) == [
        ("none", 0, unknown),
        ("t", 9, unknown),
        ("t", 0, 0),
    ]


def test_where_no_partition_exists_no_transaction_begins(producer: Make, cluster: Cluster) -> None:
    x = producer()
    request = txn_commit_request(x.producer, ("none", 0, 1))
    assert asked(client_of(cluster), request) == [("none", 0, Error.UNKNOWN_TOPIC_OR_PARTITION)]
    assert x.state.state is State.EMPTY


@pytest.mark.parametrize(
    ("more", "change", "error"),
    [
        ({"group": ""}, (0, 0), Error.INVALID_GROUP_ID),
        ({"name": ""}, (0, 0), Error.INVALID_REQUEST),
        ({}, (1, 0), Error.INVALID_PRODUCER_ID_MAPPING),
        ({}, (0, 1), Error.INVALID_PRODUCER_EPOCH),
        ({"metadata": "m" * 4097}, (0, 0), Error.OFFSET_METADATA_TOO_LARGE),
    ],
)
def test_what_refuses_every_partition(
    producer: Make, cluster: Cluster, more: dict[str, Any], change: tuple[int, int], error: Error
) -> None:
    x = producer()
    who = Producer(x.producer.producer_id + change[0], x.producer.epoch + change[1])
    request = txn_commit_request(who, ("t", 0, 7), ("t", 1, 8), **more)
    assert asked(client_of(cluster), request) == [("t", 0, error), ("t", 1, error)]
    assert committed_offset(cluster, stable=False) == -1


@pytest.mark.parametrize(
    ("version", "error"), [(3, Error.INVALID_TXN_STATE), (4, Error.TRANSACTION_ABORTABLE)]
)
def test_the_first_generation_must_have_added_the_offsets(
    producer: Make, cluster: Cluster, version: int, error: Error
) -> None:
    x = producer(generation=1)
    request = txn_commit_request(x.producer, ("t", 0, 7))
    assert asked(client_of(cluster), request, version) == [("t", 0, error)]


@pytest.mark.parametrize(
    ("member_id", "shift", "error"),
    [
        ("its own", 0, Error.NONE),
        ("its own", 1, Error.ILLEGAL_GENERATION),
        ("another", 0, Error.UNKNOWN_MEMBER_ID),
        ("", 0, Error.UNKNOWN_MEMBER_ID),
    ],
)
def test_a_member_must_be_who_it_says(
    producer: Make, cluster: Cluster, member_id: str, shift: int, error: Error
) -> None:
    x, client = producer(), client_of(cluster)
    member = stable(client)
    request = txn_commit_request(
        x.producer,
        ("t", 0, 7),
        member_id=member.member_id if member_id == "its own" else member_id,
        generation_id=member.generation_id + shift,
    )
    assert asked(client, request) == [("t", 0, error)]
    # The transaction is joined before the member is looked at.
    assert x.state.state is State.ONGOING
