"""DescribeTransactions (semantics H11): what the coordinator knows of transactional ids."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.describe_transactions import DescribeTransactionsRequest

from tests.support.clock import NOW
from tests.support.cluster import client_of
from tests.support.transactional_producer import TxnClient
from tests.support.versions import first_and_last

Make = Callable[..., TxnClient]


@pytest.fixture(autouse=True)
def _topic(cluster: Cluster) -> None:
    cluster.create_topic("t", 3, {})


def test_an_open_transaction_is_described(producer: Make, cluster: Cluster) -> None:
    x = producer(timeout_ms=5_000)
    x.write(b"v", partition=2)
    x.write(b"v", partition=0)
    asked = DescribeTransactionsRequest(transactional_ids=["x", "none", "", "x"])
    answers = client_of(cluster).ask(asked, 0).transaction_states
    assert [each.error_code for each in answers] == [
        Error.NONE,
        Error.TRANSACTIONAL_ID_NOT_FOUND,
        Error.INVALID_REQUEST,
        Error.NONE,
    ]
    found = answers[0]
    assert (found.transaction_state, found.transaction_timeout_ms) == ("Ongoing", 5_000)
    assert (found.producer_id, found.producer_epoch) == x.producer
    assert found.transaction_start_time_ms == NOW
    assert [(each.topic, each.partitions) for each in found.topics] == [("t", [2, 0])]


(VERSION,) = first_and_last(DescribeTransactionsRequest)


@pytest.mark.parametrize(("commit", "state"), [(True, "CompleteCommit"), (False, "CompleteAbort")])
def test_a_transaction_that_is_over_has_no_topics(
    producer: Make, cluster: Cluster, commit: bool, state: str
) -> None:
    x = producer()
    x.write(b"v")
    x.end(commit)
    request = DescribeTransactionsRequest(transactional_ids=["x"])
    (found,) = client_of(cluster).ask(request, VERSION).transaction_states
    assert (found.transaction_state, found.topics) == (state, [])
    assert found.transaction_start_time_ms == NOW


def test_an_idle_id_has_no_start(producer: Make, cluster: Cluster) -> None:
    producer()
    request = DescribeTransactionsRequest(transactional_ids=["x"])
    (found,) = client_of(cluster).ask(request, VERSION).transaction_states
    assert (found.transaction_state, found.transaction_start_time_ms) == ("Empty", -1)
