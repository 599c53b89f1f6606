"""Transactions of stock producers, as views show them.

A real Kafka answers the end of a transaction before its markers are written: so tests wait.
"""

from __future__ import annotations

import pytest
from confluent_kafka import Producer
from odradek import Emulator
from odradek.compat import Client, NewRecord
from odradek.compat.clients import wait_until

pytestmark = pytest.mark.kafka(topics={"orders": 1})


def has_ended(kafka: Emulator, *ids: str) -> None:
    """Wait until the last transactions of these ids are over in every partition."""

    def is_over() -> bool:
        return {each.transactional_id for each in kafka.transactions() if not each.is_open} == {
            *ids
        }

    wait_until(is_over, f"the transactions of {', '.join(ids)} are over")


def test_committed_and_aborted(kafka: Emulator, stock: Client) -> None:
    orders, address = kafka.topic("orders"), kafka.bootstrap_servers
    stock.produce(address, orders.name, [NewRecord(b"kept")], transactional_id="a")
    has_ended(kafka, "a")
    stock.produce(address, orders.name, [NewRecord(b"dropped")], transactional_id="b", abort=True)
    has_ended(kafka, "a", "b")
    stock.produce(address, orders.name, [NewRecord(b"plain")])

    assert orders.values() == [b"kept", b"plain"]
    kept, dropped, plain = orders.records("read_uncommitted")
    assert [kept.state, dropped.state, plain.state] == ["committed", "aborted", "committed"]
    assert [kept.is_transactional, plain.is_transactional] == [True, False]
    assert kept.offset == 0
    assert dropped.offset == 2  # after the first one's marker
    read = stock.consume(address, orders.name, isolation="read_committed")
    assert [each.value for each in read] == orders.values()


def test_transactional_ids(kafka: Emulator, stock: Client) -> None:
    orders, address = kafka.topic("orders"), kafka.bootstrap_servers
    stock.produce(address, orders.name, [NewRecord(b"kept")], transactional_id="tx")
    has_ended(kafka, "tx")
    (transaction,) = kafka.transactions()
    assert (transaction.transactional_id, transaction.is_open) == ("tx", False)
    assert transaction.state == "CompleteCommit"
    assert transaction.partitions == ()


def test_an_open_transaction(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    orders.produce("before")
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": "tx"})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(orders.name, b"open")
    producer.flush()
    orders.produce("after")

    (transaction,) = kafka.transactions()
    assert (transaction.state, transaction.is_open) == ("Ongoing", True)
    assert transaction.partitions == ((orders.name, 0),)
    assert orders.values() == [b"before"]
    states = [each.state for each in orders.records("read_uncommitted")]
    assert states == ["committed", "open", "committed"]
    assert (orders[0].last_stable_offset, orders[0].high_watermark) == (1, 3)
    (known,) = kafka.producers("orders")
    assert known.transaction_start_offset == 1

    producer.commit_transaction()
    has_ended(kafka, "tx")
    assert orders.values() == [b"before", b"open", b"after"]


def test_a_second_use_of_a_transactional_id(kafka: Emulator, stock: Client) -> None:
    orders, address = kafka.topic("orders"), kafka.bootstrap_servers
    for value in (b"one", b"two"):
        stock.produce(address, orders.name, [NewRecord(value)], transactional_id="tx")
        has_ended(kafka, "tx")
    first, second = orders.records()
    assert (first.producer_id, first.producer_epoch) != (second.producer_id, second.producer_epoch)
    assert len(kafka.transactions()) == 1
