"""ListTransactions (semantics H11): by state, producer, age and name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.list_transactions import ListTransactionsRequest

from tests.support.cluster import Client, client_of
from tests.support.transactional_producer import TxnClient
from tests.support.versions import first_and_last

Make = Callable[..., TxnClient]


@pytest.fixture(autouse=True)
def _topic(cluster: Cluster) -> None:
    cluster.create_topic("t", 3, {})


def listed(cluster: Cluster, version: int = 2, **filters: Any) -> tuple[list[str], list[str]]:
    """The ids that are listed, and the filters that are unknown."""
    filters.setdefault("state_filters", [])
    filters.setdefault("producer_id_filters", [])
    answer = client_of(cluster).ask(ListTransactionsRequest(**filters), version)
    if answer.error_code:
        return [], [Error(answer.error_code).name]
    ids = sorted(each.transactional_id for each in answer.transaction_states)
    return ids, sorted(answer.unknown_state_filters)


def test_transactions_are_listed_by_state_producer_age_and_name(
    producer: Make, cluster: Cluster
) -> None:
    x, _ = producer("x"), producer("yy")
    x.write(b"v")
    cluster.advance(1_000)
    assert listed(cluster, 0) == (["x", "yy"], [])
    assert listed(cluster, state_filters=["Ongoing", "empty"]) == (["x"], ["empty"])
    assert listed(cluster, state_filters=["PrepareEpochFence"]) == ([], [])
    assert listed(cluster, producer_id_filters=[x.producer.producer_id]) == (["x"], [])
    assert listed(cluster, duration_filter=1_000) == (["x", "yy"], [])
    assert listed(cluster, duration_filter=1_001) == (["yy"], [])
    assert listed(cluster, transactional_id_pattern="y") == ([], [])
    assert listed(cluster, transactional_id_pattern="y+") == (["yy"], [])
    assert listed(cluster, transactional_id_pattern="") == (["x", "yy"], [])
    assert listed(cluster, transactional_id_pattern="(") == ([], ["INVALID_REGULAR_EXPRESSION"])


@pytest.mark.parametrize("version", first_and_last(ListTransactionsRequest))
def test_an_id_is_listed_with_its_producer(producer: Make, client: Client, version: int) -> None:
    x = producer()
    request = ListTransactionsRequest(state_filters=[], producer_id_filters=[])
    (found,) = client.ask(request, version).transaction_states
    assert (found.transactional_id, found.transaction_state) == ("x", "Empty")
    assert found.producer_id == x.producer.producer_id
