"""assert_processed_in_order: repeats are legal, what overtakes and what comes late is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from odradek.emulator import Emulator, NewRecord, TopicView, assert_processed_in_order
from odradek.storage import MemoryDisk


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    topics = {"orders": 2, "invoices": 2}
    with Emulator(disk=MemoryDisk(), topics=topics) as kafka:
        yield kafka


@pytest.fixture
def orders(kafka: Emulator) -> TopicView:
    orders = kafka.topic("orders")
    for number in range(3):
        orders[0].produce({"id": f"a{number}"}, key="a")
        orders[0].produce({"id": f"b{number}"}, key="b")
    return orders


@pytest.fixture
def invoices(kafka: Emulator) -> TopicView:
    return kafka.topic("invoices")


def by_id(record: Any) -> Any:
    return record.json()["id"]


def check(orders: TopicView, invoices: TopicView) -> list[str]:
    try:
        assert_processed_in_order(orders, invoices, key=by_id)
    except AssertionError as error:
        return str(error).splitlines()
    return []


@pytest.mark.parametrize(
    "order",
    [
        "a0 b0 a1 b1 a2 b2",
        "b0 b1 b2 a0 a1 a2",  # keys have no order between them
        "a0 a1 a0 a1 a2",  # read again from what was committed
        "a0 a1 a2 a1 a2",
        "a0 a2",  # which may be lost: that is another question
        "a1",
    ],
)
def test_what_is_in_order(orders: TopicView, invoices: TopicView, order: str) -> None:
    for each in order.split():
        invoices[0].produce({"id": each})
    assert check(orders, invoices) == []


def test_what_overtakes_is_told(orders: TopicView, invoices: TopicView) -> None:
    for each in ("a0", "a2", "b0", "a1"):
        invoices[0].produce({"id": each})
    lines = check(orders, invoices)
    assert lines[:2] == [
        "6 records of orders in invoices are not processed in order:",
        '  overtaken: orders-0@4 (<invoices-0@1 value=b\'{"id": "a2"}\'>) overtook orders-0@2 '
        '(<invoices-0@3 value=b\'{"id": "a1"}\'>)',
    ]
    assert lines[2] == "The last events that concern them:"


def test_an_old_one_that_comes_last_is_told(orders: TopicView, invoices: TopicView) -> None:
    for each in ("a0", "a1", "a2", "a1"):
        invoices[0].produce({"id": each})
    assert check(orders, invoices)[1] == (
        '  an old one is the last: orders-0@2 came again (<invoices-0@3 value=b\'{"id": "a1"}\'>) '
        'after orders-0@4 (<invoices-0@2 value=b\'{"id": "a2"}\'>)'
    )


def test_one_key_in_two_partitions_has_no_order(orders: TopicView, invoices: TopicView) -> None:
    invoices[0].produce({"id": "a0"})
    invoices[1].produce({"id": "a1"})
    assert check(orders, invoices)[1].startswith("  no order: those of b'a' lie in 2 partitions")


def test_what_is_to_stay_in_order_is_said(orders: TopicView, invoices: TopicView) -> None:
    for each in ("a0", "b1", "b0"):
        invoices[0].produce({"id": each})
    with pytest.raises(AssertionError, match=r"orders-0@3 .* overtook orders-0@1"):
        assert_processed_in_order(orders, invoices, key=by_id, per=lambda record: None)
    assert_processed_in_order(orders, invoices, key=by_id, per=by_id)


def test_what_each_becomes(orders: TopicView, invoices: TopicView) -> None:
    def into(record: Any) -> Any:
        return [NewRecord(by_id(record), key=record.key), f"copy {by_id(record)}"]

    first = [NewRecord(value, key="a", partition=0) for value in ("a0", "a1")]
    invoices.produce_all([NewRecord("copy a0", partition=0), *first])
    assert_processed_in_order(orders, invoices, into=into)
    invoices.produce_all([NewRecord(f"copy a{n}", partition=0) for n in (2, 1)])
    with pytest.raises(AssertionError, match="orders-0@2 came again"):
        assert_processed_in_order(orders, invoices, into=into)


def test_inputs_that_cannot_be_told_apart(orders: TopicView, invoices: TopicView) -> None:
    with pytest.raises(TypeError, match="give key or into"):
        assert_processed_in_order(orders, invoices)
    with pytest.raises(ValueError, match=r"orders-0@0 and orders-0@2 cannot be told apart"):
        assert_processed_in_order(orders, invoices, key=lambda record: record.key)
