"""InitProducerId (semantics H1, H2): what each id gets.

How a transactional id begins anew: transactions/test_beginning.py.
"""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.transaction import Producer
from odradek.wire import Error
from odradek.wire.api.init_producer_id import InitProducerIdRequest

from tests.requests.transactions import NOBODY, init_request
from tests.support.cluster import Client
from tests.support.transactional_producer import TxnClient
from tests.support.versions import first_and_last


@pytest.mark.parametrize("version", first_and_last(InitProducerIdRequest))
def test_without_a_transactional_id_each_gets_a_fresh_producer_id(
    client: Client, version: int
) -> None:
    answers = [client.ask(init_request(None, timeout_ms=0), version) for _ in range(3)]
    assert {(each.error_code, each.producer_epoch) for each in answers} == {(0, 0)}
    first = answers[0].producer_id
    assert [each.producer_id for each in answers] == [first, first + 1, first + 2]


def test_what_it_was_is_of_no_account_without_a_transactional_id(client: Client) -> None:
    known = Producer(client.ask(init_request(None), 5).producer_id, 0)
    again = client.ask(init_request(None, known), 5)
    assert (again.error_code, again.producer_id, again.producer_epoch) == (0, known[0] + 1, 0)


@pytest.mark.parametrize("version", first_and_last(InitProducerIdRequest))
def test_a_transactional_id_keeps_its_producer_and_raises_its_epoch(
    cluster: Cluster, version: int
) -> None:
    producer = TxnClient(cluster)
    assert producer.init(version=version) is Error.NONE
    first = producer.producer
    assert producer.init(version=version) is Error.NONE
    assert producer.producer == Producer(first.producer_id, first.epoch + 1)


@pytest.mark.parametrize("name", [None, "x"])
@pytest.mark.parametrize("who", [Producer(5, -1), Producer(-1, 5)])
def test_half_a_producer_is_refused(client: Client, name: str | None, who: Producer) -> None:
    answer = client.ask(init_request(name, who), 3)
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (
        Error.INVALID_REQUEST,
        *NOBODY,
    )


def test_an_empty_transactional_id_is_refused(cluster: Cluster) -> None:
    assert TxnClient(cluster, "").init() is Error.INVALID_REQUEST


@pytest.mark.parametrize(
    ("version", "error"), [(3, Error.INVALID_PRODUCER_EPOCH), (4, Error.PRODUCER_FENCED)]
)
def test_a_fenced_producer_has_another_error_before_version_4(
    cluster: Cluster, version: int, error: Error
) -> None:
    producer = TxnClient(cluster).begin()
    old = producer.producer
    producer.begin().begin()
    assert producer.init(old, version=version) is error
