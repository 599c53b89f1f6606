"""EndTxn (semantics H2, H5, H6): the answer of each version; transactions/test_ending.py has the
tables of states."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.transaction import Producer, State
from odradek.wire import Error
from odradek.wire.api.end_txn import EndTxnRequest

from tests.requests.transactions import NOBODY, end_request
from tests.support.cluster import client_of
from tests.support.consumer import read
from tests.support.transactional_producer import TxnClient
from tests.support.versions import first_and_last

Make = Callable[..., TxnClient]
OVER = {True: State.COMPLETE_COMMIT, False: State.COMPLETE_ABORT}


@pytest.fixture(autouse=True)
def _topic(cluster: Cluster) -> None:
    cluster.create_topic("t", 1, {})


@pytest.mark.parametrize("version", [*first_and_last(EndTxnRequest), 4])
@pytest.mark.parametrize("commit", [True, False])
def test_a_transaction_ends_as_asked(
    producer: Make, cluster: Cluster, version: int, commit: bool
) -> None:
    x = producer(generation=2 if version >= 5 else 1)
    assert x.write(b"v") is Error.NONE
    answer = client_of(cluster).ask(end_request(x.producer, commit), version)
    assert answer.error_code == 0
    assert x.state.state is OVER[commit]
    assert read(cluster, committed=True) == ([b"v"] if commit else [])
    # Only the second generation is told with which epoch to go on.
    producer_text = Producer(answer.producer_id, answer.producer_epoch)
    following = Producer(x.producer.producer_id, x.producer.epoch + 1)
    assert producer_text == (following if version >= 5 else NOBODY)
    assert x.state.epoch == (following.epoch if version >= 5 else x.producer.epoch)


@pytest.mark.parametrize("version", first_and_last(EndTxnRequest))
@pytest.mark.parametrize(
    ("name", "change", "error"),
    [
        ("unknown", (0, 0), Error.INVALID_PRODUCER_ID_MAPPING),
        ("x", (1, 0), Error.INVALID_PRODUCER_ID_MAPPING),
        ("", (0, 0), Error.INVALID_REQUEST),
    ],
)
def test_who_it_is_must_be_known(
    producer: Make, cluster: Cluster, version: int, name: str, change: tuple[int, int], error: Error
) -> None:
    x = producer()
    who = Producer(x.producer.producer_id + change[0], x.producer.epoch + change[1])
    answer = client_of(cluster).ask(end_request(who, name=name), version)
    assert Error(answer.error_code) is error
    assert Producer(answer.producer_id, answer.producer_epoch) == NOBODY


@pytest.mark.parametrize(
    ("version", "error"),
    [
        (1, Error.INVALID_PRODUCER_EPOCH),
        (2, Error.PRODUCER_FENCED),
        (5, Error.PRODUCER_FENCED),
    ],
)
def test_a_fenced_producer_has_another_error_before_version_2(
    producer: Make, cluster: Cluster, version: int, error: Error
) -> None:
    x = producer()
    x.write(b"v")
    zombie = end_request(Producer(x.producer.producer_id, x.producer.epoch + 1))
    assert Error(client_of(cluster).ask(zombie, version).error_code) is error
    assert x.state.state is State.ONGOING


def test_there_must_be_something_to_commit(producer: Make) -> None:
    assert producer().end(True) is Error.INVALID_TXN_STATE
