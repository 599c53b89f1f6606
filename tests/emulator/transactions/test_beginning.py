"""InitProducerId of a transactional id (semantics H1), and what becomes of an open transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.transaction import Producer, State
from odradek.wire import Error
from odradek.wire.api.init_producer_id import InitProducerIdRequest

from tests.support.cluster import client_of
from tests.support.consumer import read
from tests.support.transactional_producer import TxnClient

Make = Callable[..., TxnClient]


def test_each_begin_takes_the_next_epoch(producer: Make) -> None:
    x = producer()
    first = x.producer
    assert first.epoch == 0
    x.begin()
    assert x.producer == Producer(first.producer_id, 1)


def test_a_producer_that_names_its_epoch_may_ask_again(producer: Make) -> None:
    x = producer()
    own = x.producer
    for _ in range(3):
        assert x.init(own) is Error.NONE
        assert x.producer == Producer(own.producer_id, 1)


@pytest.mark.parametrize("version", [3, 4])
def test_one_that_was_overtaken_is_fenced(producer: Make, version: int) -> None:
    x = producer()
    own = x.producer
    x.begin()
    x.begin()
    fenced = Error.INVALID_PRODUCER_EPOCH if version == 3 else Error.PRODUCER_FENCED
    assert x.init(own, version=version) is fenced
    assert x.init(Producer(own.producer_id, 9), version=version) is fenced
    assert x.init(Producer(own.producer_id + 1, 2), version=version) is fenced


def test_an_unknown_id_gets_a_fresh_producer_whatever_it_says(cluster: Cluster) -> None:
    x = TxnClient(cluster)
    assert x.init(Producer(700, 5)) is Error.NONE
    assert x.producer.epoch == 0
    assert x.producer.producer_id != 700


@pytest.mark.parametrize(
    ("timeout_ms", "error"),
    [
        (0, Error.INVALID_TRANSACTION_TIMEOUT),
        (-1, Error.INVALID_TRANSACTION_TIMEOUT),
        (1, Error.NONE),
        (900_000, Error.NONE),
        (900_001, Error.INVALID_TRANSACTION_TIMEOUT),
    ],
)
def test_timeouts_have_bounds(cluster: Cluster, timeout_ms: int, error: Error) -> None:
    assert TxnClient(cluster).init(timeout_ms=timeout_ms) is error


def test_before_anyone_looked_for_the_coordinator_there_is_none(cluster: Cluster) -> None:
    request = InitProducerIdRequest(transactional_id="x", transaction_timeout_ms=1000)
    answer: Any = client_of(cluster).ask(request, 4)
    assert answer.error_code == Error.NOT_COORDINATOR
    assert cluster.topics.get("__transaction_state") is None


def test_an_open_transaction_is_aborted_and_its_producer_fenced(
    producer: Make, cluster: Cluster
) -> None:
    old = producer()
    old.write(b"lost")
    new = TxnClient(cluster)
    assert new.init() is Error.CONCURRENT_TRANSACTIONS
    assert new.state.state is State.COMPLETE_ABORT
    assert new.init() is Error.NONE
    assert new.producer == Producer(old.producer.producer_id, 2)
    assert old.write(b"zombie", sequence=1) is Error.INVALID_PRODUCER_EPOCH
    assert old.end(True) is Error.PRODUCER_FENCED
    new.write(b"kept")
    new.end(True)
    assert read(cluster, committed=True) == [b"kept"]
    assert read(cluster, committed=False) == [b"lost", b"kept"]


def test_the_producer_itself_comes_back_in_the_epoch_of_the_abort(producer: Make) -> None:
    x = producer()
    own = x.producer
    x.write(b"lost")
    assert x.init(own) is Error.CONCURRENT_TRANSACTIONS
    assert x.init(own) is Error.NONE
    assert x.producer.epoch == own.epoch + 1


def test_a_fence_that_uses_up_the_epochs_brings_another_id(
    producer: Make, cluster: Cluster
) -> None:
    x = producer()
    known = x.state.initialized(32766, -1, 60_000, cluster.clock.now())
    cluster.transactions.coordinator_for("x").replay("x", known)
    x.producer = old = known.producer
    x.write(b"lost")
    assert x.init(old) is Error.CONCURRENT_TRANSACTIONS
    assert x.state.epoch == 0
    assert x.state.producer_id != old.producer_id
    assert cluster.partition("t", 0).log.producers.states[old.producer_id].epoch == 32767
    assert x.init(old) is Error.NONE
    assert x.producer == x.state.producer
    assert x.producer.epoch == 0
    assert read(cluster, committed=True) == []


def test_epochs_that_are_used_up_bring_another_id(producer: Make, cluster: Cluster) -> None:
    x = producer()
    coordinator = cluster.transactions.coordinator_for("x")
    coordinator.replay("x", x.state.initialized(32766, -1, 1000, cluster.clock.now()))
    old = Producer(x.producer.producer_id, 32766)
    assert x.init(old) is Error.NONE
    assert x.producer.epoch == 0
    assert x.producer.producer_id != old.producer_id
