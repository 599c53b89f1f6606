"""DescribeTransactions, ListTransactions and FindCoordinator; records at every level (H10, H11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.encoding import decoded, encoded_key, encoded_value
from odradek.emulator.transactions.states import State
from odradek.emulator.transactions.transaction import TV2, Transaction
from odradek.wire import Error
from odradek.wire.api.describe_transactions import DescribeTransactionsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.list_transactions import ListTransactionsRequest
from odradek.wire.records import Record

from tests.support.clock import NOW
from tests.support.cluster import client_of
from tests.support.transactional_producer import TxnClient

Make = Callable[..., TxnClient]


def listed(cluster: Cluster, version: int = 2, **filters: Any) -> tuple[list[str], list[str]]:
    """The ids that are listed, and the filters that are unknown."""
    filters.setdefault("state_filters", [])
    filters.setdefault("producer_id_filters", [])
    answer = client_of(cluster).ask(ListTransactionsRequest(**filters), version)
    if answer.error_code:
        return [], [Error(answer.error_code).name]
    ids = sorted(each.transactional_id for each in answer.transaction_states)
    return ids, sorted(answer.unknown_state_filters)


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


@pytest.mark.parametrize("version", range(1, 7))
def test_the_coordinator_of_an_id_is_this_broker(cluster: Cluster, version: int) -> None:
    asked = FindCoordinatorRequest(key="x", key_type=1, coordinator_keys=["x", ""])
    answer = client_of(cluster).ask(asked, version)
    found = answer.coordinators if version >= 4 else [answer]
    assert [(each.error_code, each.node_id) for each in found] == [(0, 1)] * len(found)
    assert len(cluster.topic("__transaction_state").partitions) == 3


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("state", list(State))
def test_a_record_comes_back_as_it_was_written(level: int, state: State) -> None:
    written = Transaction(
        "x",
        5,
        60_000,
        previous_producer_id=5 if level else -1,
        next_producer_id=6 if level else -1,
        epoch=7,
        state=state,
        partitions=() if state is State.EMPTY else (("a", 2), ("a", 0), ("b", 1)),
        last_update_ms=NOW,
        start_ms=NOW - 5,
        client_version=TV2 if level else 0,
    )
    key, value = encoded_key("x"), encoded_value(written, level)
    assert value[:2] == (b"\0\0" if level == 0 else b"\0\1")
    record = Record(0, NOW, key, value, ())
    assert decoded(record) == ("x", written)
    assert decoded(record._replace(value=None)) == ("x", None)


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
