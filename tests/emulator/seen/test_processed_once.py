"""assert_processed_once: what an application has read and written, and what it says of faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Producer
from odradek.emulator import (
    Emulator,
    NewRecord,
    TopicView,
    assert_processed_at_least_once,
    assert_processed_at_most_once,
    assert_processed_once,
)
from odradek.storage import MemoryDisk


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    topics = {"orders": 2, "invoices": 1}
    with Emulator(disk=MemoryDisk(), topics=topics) as kafka:
        orders = kafka.topic("orders")
        orders[0].produce({"id": 0}, key="a")
        orders[1].produce({"id": 1}, key="b")
        orders[1].produce({"id": 2}, key="c")
        yield kafka


@pytest.fixture
def orders(kafka: Emulator) -> TopicView:
    return kafka.topic("orders")


@pytest.fixture
def invoices(kafka: Emulator) -> TopicView:
    return kafka.topic("invoices")


def by_id(record: Any) -> Any:
    return record.json()["id"]


def told(action: Callable[[], Any]) -> list[str]:
    with pytest.raises(AssertionError) as raised:
        action()
    return str(raised.value).splitlines()


def test_each_took_effect_once(orders: TopicView, invoices: TopicView) -> None:
    invoices.produce_all([{"id": 2}, {"id": 0}, {"id": 1}])
    assert_processed_once(orders, invoices, key=by_id)


def test_the_records_keys_tell_unless_something_else_is_given(
    orders: TopicView, invoices: TopicView
) -> None:
    invoices.produce_all([NewRecord(b"x", key=key) for key in "abc"])
    assert_processed_once([orders[0], orders[1]], [invoices])


def test_a_lost_one_a_duplicate_and_one_from_nothing_are_told_with_the_events(
    orders: TopicView, invoices: TopicView
) -> None:
    invoices.produce_all([{"id": 0}, {"id": 2}, {"id": 2}, {"id": 7}])
    lines = told(lambda: assert_processed_once(orders, invoices, key=by_id))
    assert lines[:5] == [
        "3 records of orders in invoices are not processed exactly once each:",
        "  lost: orders-1@0 took no effect",
        "  duplicate: orders-1@1 took effect 2 times for 1 input: "
        "<invoices-0@1 value=b'{\"id\": 2}'>, <invoices-0@2 value=b'{\"id\": 2}'>",
        "  from nothing: <invoices-0@3 value=b'{\"id\": 7}'> belongs to no input",
        "The last events that concern them:",
    ]
    assert any("invoices" in line for line in lines[5:])


def test_inputs_that_are_alike_need_as_many_outputs(invoices: TopicView, kafka: Emulator) -> None:
    twice = kafka.create_topic("twice")
    twice.produce_all([NewRecord("x", key="k"), NewRecord("y", key="k")])
    invoices.produce("z", key="k")
    assert told(lambda: assert_processed_once(twice, invoices))[1] == (
        "  lost: twice-0@0, twice-0@1 took effect 1 of 2 times: <invoices-0@0 key=b'k' value=b'z'>"
    )
    invoices.produce("z", key="k")
    assert_processed_once(twice, invoices)


def test_a_function_says_what_an_input_becomes(orders: TopicView, invoices: TopicView) -> None:
    def into(record: Any) -> Any:
        number = by_id(record)
        return {0: None, 1: f"bill {number}", 2: [NewRecord("copy", key="c"), "bill 2"]}[number]

    invoices.produce_all(["bill 1", NewRecord("bill 2", key="any"), NewRecord("copy", key="c")])
    assert_processed_once(orders, invoices, into=into)
    invoices.produce("copy", key="d")  # not the key that it is to have
    assert told(lambda: assert_processed_once(orders, invoices, into=into))[1] == (
        "  from nothing: <invoices-0@3 key=b'd' value=b'copy'> belongs to no input"
    )


def test_decoded_outputs_are_compared_as_they_are_stored(
    orders: TopicView, invoices: TopicView
) -> None:
    invoices.produce_all([{"id": n} for n in range(3)])
    both = orders.decoded(value="json"), invoices.decoded(value="json")
    assert_processed_once(*both, into=lambda record: record.value)
    with pytest.raises(AssertionError, match="lost: orders-0@0 took no effect"):
        assert_processed_once(*both, into=lambda record: {"number": record.value["id"]})


def test_what_the_group_will_read_again_is_told(
    kafka: Emulator, orders: TopicView, invoices: TopicView
) -> None:
    invoices.produce_all([{"id": n} for n in range(3)])
    billing = kafka.group("billing")
    billing.commit({("orders", 1): 1})
    assert told(lambda: assert_processed_once(orders, invoices, key=by_id, group=billing))[1:3] == [
        "  to be read again: orders-0@0 took effect: <invoices-0@0 value=b'{\"id\": 0}'>"
        "; the group has committed nothing in orders-0",
        "  to be read again: orders-1@1 took effect: <invoices-0@2 value=b'{\"id\": 2}'>"
        "; the group has committed 1 in orders-1",
    ]
    billing.commit({("orders", 0): 1, ("orders", 1): 2})
    assert_processed_once(orders, invoices, key=by_id, group=billing)


def test_aborted_outputs_do_not_count_and_are_shown_with_their_transaction(
    kafka: Emulator, orders: TopicView, invoices: TopicView
) -> None:
    servers = kafka.bootstrap_servers
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "billing-1"})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce("invoices", b'{"id": 0}')
    producer.flush()
    producer.abort_transaction()
    invoices.produce_all([{"id": 1}, {"id": 2}])
    lines = told(lambda: assert_processed_once(orders, invoices, key=by_id))
    (transaction,) = kafka.transactions()
    who = f"producer {transaction.producer_id}"
    assert lines[1:3] == [
        "  lost: orders-0@0 took no effect: only "
        f"<invoices-0@0 value=b'{{\"id\": 0}}' aborted> of {who} epoch "
        f"{invoices.records('read_uncommitted')[0].producer_epoch}",
        f"{who} is transactional id 'billing-1'",
    ]
    assert any("billing-1" in line and "aborted" in line for line in lines[3:])


def test_inputs_that_were_aborted_are_not_to_take_effect(
    kafka: Emulator, invoices: TopicView
) -> None:
    given = kafka.create_topic("given")
    servers = kafka.bootstrap_servers
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "gives"})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce("given", b"x", key=b"k")
    producer.flush()
    producer.abort_transaction()
    assert_processed_once(given, invoices)
    invoices.produce("read uncommitted", key="k")
    assert "from nothing" in told(lambda: assert_processed_once(given, invoices))[1]


def test_what_is_wrong_with_the_arguments(orders: TopicView, invoices: TopicView) -> None:
    wrong: Any = "orders"
    with pytest.raises(TypeError, match=r'inputs are views of topics, kafka.topic\("orders"\)'):
        assert_processed_once(wrong, invoices)
    with pytest.raises(TypeError, match="outputs are views of topics"):
        assert_processed_once(orders, [])
    with pytest.raises(TypeError, match="key is a function of a record, not 'orders'"):
        assert_processed_once(orders, invoices, key=wrong)
    with pytest.raises(TypeError, match="key and into exclude each other"):
        assert_processed_once(orders, invoices, key=by_id, into=by_id)
    with pytest.raises(TypeError, match="group is a view of a group"):
        assert_processed_once(orders, invoices, group=wrong)
    with pytest.raises(ValueError, match=r"key has failed for <orders-0@0 .*KeyError\('number'\)"):
        assert_processed_once(orders, invoices, key=lambda record: record.json()["number"])
    with pytest.raises(TypeError, match="key is to return what can be a key of a dict"):
        assert_processed_once(orders, invoices, key=lambda record: record.json())


# At least once, at most once


def test_at_least_once_takes_what_came_twice(orders: TopicView, invoices: TopicView) -> None:
    invoices.produce_all([{"id": n} for n in (0, 1, 1, 2, 2, 2)])
    assert_processed_at_least_once(orders, invoices, key=by_id)
    invoices.produce({"id": 7})
    assert told(lambda: assert_processed_at_least_once(orders, invoices, key=by_id))[:2] == [
        "3 records of orders in invoices are not processed at least once each:",
        "  from nothing: <invoices-0@6 value=b'{\"id\": 7}'> belongs to no input",
    ]


def test_at_least_once_names_what_was_lost(
    kafka: Emulator, orders: TopicView, invoices: TopicView
) -> None:
    invoices.produce({"id": 1})
    assert told(lambda: assert_processed_at_least_once(orders, invoices, key=by_id))[1:3] == [
        "  lost: orders-0@0 took no effect",
        "  lost: orders-1@1 took no effect",
    ]
    billing = kafka.group("billing")
    billing.commit({("orders", 1): 1})  # it will read the others, after a rebalance too
    assert_processed_at_least_once(orders, invoices, key=by_id, group=billing)
    billing.commit({("orders", 1): 2})
    assert told(lambda: assert_processed_at_least_once(orders, invoices, key=by_id, group=billing))[
        1
    ] == ("  lost: orders-1@1 took no effect; the group has committed 2 in orders-1")


def test_at_most_once_takes_what_was_lost(
    kafka: Emulator, orders: TopicView, invoices: TopicView
) -> None:
    invoices.produce({"id": 1})
    assert_processed_at_most_once(orders, invoices, key=by_id)
    billing = kafka.group("billing")
    billing.commit({("orders", 0): 1, ("orders", 1): 1})
    assert_processed_at_most_once(orders, invoices, key=by_id, group=billing)
    billing.commit({("orders", 1): 0})
    assert told(lambda: assert_processed_at_most_once(orders, invoices, key=by_id, group=billing))[
        :2
    ] == [
        "3 records of orders in invoices are not processed at most once each:",
        "  to be read again: orders-1@0 took effect: <invoices-0@0 value=b'{\"id\": 1}'>"
        "; the group has committed 0 in orders-1",
    ]


def test_at_most_once_names_what_came_twice(orders: TopicView, invoices: TopicView) -> None:
    invoices.produce_all([{"id": n} for n in (1, 1)])
    assert told(lambda: assert_processed_at_most_once(orders, invoices, key=by_id))[1].startswith(
        "  duplicate: orders-1@0 took effect 2 times for 1 input"
    )
