"""AddPartitionsToTxn (semantics H2, H3): one bad partition refuses all, and who may ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.transaction import Producer, State
from odradek.wire import Error
from odradek.wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest

from tests.requests.transactions import add_request
from tests.support.cluster import client_of
from tests.support.transactional_producer import NOT_KNOWN, TxnClient
from tests.support.versions import first_and_last

Make = Callable[..., TxnClient]
Codes = list[tuple[str, list[tuple[int, int]]]]


@pytest.fixture(autouse=True)
def _topic(cluster: Cluster) -> None:
    cluster.create_topic("t", 3, {})


def codes(results: list[Any]) -> Codes:
    """Topic, and each of its partitions with its error."""
    return [
        (
            topic.name,
            [(p.partition_index, p.partition_error_code) for p in topic.results_by_partition],
        )
        for topic in results
    ]


def asked(x: TxnClient, request: AddPartitionsToTxnRequest, version: int) -> Codes:
    answer = client_of(x.cluster).ask(request, version)
    assert answer.error_code == 0
    if version < 4:
        return codes(answer.results_by_topic_v3_and_below)
    (of_transaction,) = answer.results_by_transaction
    assert of_transaction.transactional_id == x.name
    return codes(of_transaction.topic_results)


@pytest.mark.parametrize("version", [*first_and_last(AddPartitionsToTxnRequest), 3, 4])
def test_partitions_join_the_transaction(producer: Make, version: int) -> None:
    x = producer(generation=1)
    request = add_request(x.producer, [("t", [2, 0])])
    assert asked(x, request, version) == [("t", [(2, 0), (0, 0)])]
    assert x.state.state is State.ONGOING
    assert x.state.partitions == (("t", 2), ("t", 0))


def test_one_that_is_in_already_is_no_error(producer: Make) -> None:
    x = producer()
    assert [x.add(1), x.add(1, 2)] == [Error.NONE] * 2
    assert x.state.partitions == (("t", 1), ("t", 2))


def test_one_bad_partition_refuses_all(producer: Make, cluster: Cluster) -> None:
    x = producer()
    request = add_request(x.producer, [("t", [0, 9]), ("none", [0]), ("__transaction_state", [0])])
    assert asked(x, request, 3) == [
        ("t", [(0, Error.OPERATION_NOT_ATTEMPTED), (9, Error.UNKNOWN_TOPIC_OR_PARTITION)]),
        ("none", [(0, Error.UNKNOWN_TOPIC_OR_PARTITION)]),
        ("__transaction_state", [(0, Error.TOPIC_AUTHORIZATION_FAILED)]),
    ]
    assert x.state.state is State.EMPTY


def test_no_topics_have_no_results_but_begin_a_transaction(producer: Make) -> None:
    x = producer()
    assert asked(x, add_request(x.producer, []), 3) == []
    assert x.state.state is State.ONGOING


@pytest.mark.parametrize(("name", "change", "error"), NOT_KNOWN)
def test_who_it_is_must_be_known(
    producer: Make, name: str, change: tuple[int, int], error: Error
) -> None:
    x = producer()
    who = Producer(x.producer.producer_id + change[0], x.producer.epoch + change[1])
    assert asked(x, add_request(who, [("t", [0])], name), 3) == [("t", [(0, error)])]


def test_before_version_2_a_fenced_producer_has_another_error(producer: Make) -> None:
    x = producer()
    zombie = add_request(Producer(x.producer.producer_id, 9), [("t", [0])])
    assert asked(x, zombie, 1) == [("t", [(0, Error.INVALID_PRODUCER_EPOCH)])]
    assert asked(x, zombie, 2) == [("t", [(0, Error.PRODUCER_FENCED)])]


def test_brokers_verify_without_adding(producer: Make) -> None:
    x = producer()
    assert x.add(1) is Error.NONE
    request = add_request(x.producer, [("t", [0, 1])], verify_only=True)
    assert asked(x, request, 4) == [("t", [(0, Error.TRANSACTION_ABORTABLE), (1, 0)])]
    assert x.state.partitions == (("t", 1),)


def test_a_request_that_names_no_transaction_is_answered(producer: Make, cluster: Cluster) -> None:
    nothing = AddPartitionsToTxnRequest(transactions=[])
    answer = client_of(cluster).ask(nothing, 5)
    assert (answer.error_code, answer.results_by_transaction) == (0, [])
