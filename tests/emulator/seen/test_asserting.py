"""Assertions about records, and what they say when they fail."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from odradek.emulator import Emulator, NewRecord, TopicView, assert_exactly_once
from odradek.storage import MemoryDisk

from tests.support.sessions import run as run_session

SHORT_S = 0.05


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(disk=MemoryDisk(), topics={"orders": 1, "wide": 2}) as kafka:
        yield kafka


@pytest.fixture
def orders(kafka: Emulator) -> TopicView:
    return kafka.topic("orders")


def told(action: Callable[[], Any]) -> list[str]:
    """The lines of the error that this raises, but for the events of which it tells."""
    with pytest.raises(AssertionError) as raised:
        action()
    told, _, events = str(raised.value).partition("\nThe last events that concern it:\n")
    assert all(line.startswith("  +") for line in events.splitlines())
    return told.splitlines()


def later(action: Callable[[], Any]) -> threading.Timer:
    timer = threading.Timer(SHORT_S, action)
    timer.start()
    return timer


# assert_produced


def test_produced(orders: TopicView) -> None:
    later(lambda: orders.produce({"id": 1}, "k", headers={"h": "1"})).join()
    record = orders.assert_produced(key="k", json={"id": 1}, headers={"h": "1"})
    assert record.offset == 0
    timer = later(lambda: orders.produce({"id": 2}, "k"))
    assert orders.assert_produced(key="k", times=2).offset == 0
    timer.join()


def test_not_produced(orders: TopicView) -> None:
    orders.produce({"id": 1}, "k")
    assert told(lambda: orders.assert_produced(key="k", json={"id": 2}, within=SHORT_S)) == [
        "waited 0.05 s for a record in orders with key='k', json={'id': 2}.",
        "There is 1 record, 0 with key='k', json={'id': 2}.",
        "The nearest:",
        """  <orders-0@0 key=b'k' value=b'{"id": 1}'>""",
        "    $.id: 1, expected 2",
    ]


def test_produced_too_often(orders: TopicView) -> None:
    orders.produce_all(["a", "b", "a"])
    assert told(lambda: orders.assert_produced(value="a")) == [
        "orders was to have 1 record with value='a', but has 2:",
        "  <orders-0@0 value=b'a'>",
        "  <orders-0@2 value=b'a'>",
    ]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"times": 0}, "times is a whole number from 1 on, not 0: use assert_nothing_produced"),
        ({"times": -1}, "times is a whole number from 1 on, not -1"),
        ({"within": "x"}, "within is a number of seconds, not 'x'"),
        ({"withn": 1}, r"assert_produced has no argument 'withn': .* did you mean within=\?"),
    ],
)
def test_what_makes_no_sense_is_refused(
    orders: TopicView, given: dict[str, Any], text: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=text):
        orders.assert_produced(**given)


# assert_produced_in_order


def test_in_order(kafka: Emulator, orders: TopicView) -> None:
    orders.produce_all(["a", "x", NewRecord({"n": 1}, "k", headers={"h": "1"}), "c"])
    orders.assert_produced_in_order(["a", {"n": 1}, "c"])
    orders[0].assert_produced_in_order([NewRecord({"n": 1}, "k", headers={"h": "1"}), "c"])
    wide = kafka.topic("wide")
    wide.produce("1", "a", partition=1)
    wide.produce("2", "b", partition=0)
    timer = later(lambda: wide.produce("2", "a", partition=1))
    wide.assert_produced_in_order([("a", "1"), NewRecord("2", "b"), ("a", "2")], by_key=True)
    timer.join()


def test_not_in_order(orders: TopicView) -> None:
    orders.produce_all(["a", "c", "b", "d"])
    assert told(lambda: orders.assert_produced_in_order(["a", "b", "c"], within=SHORT_S)) == [
        "waited 0.05 s for 3 records in orders in this order.",
        "There are 4 records.",
        "Missing is number 3 of 3 in order, value='c' after <orders-0@2 value=b'b'>.",
        "It is there, but earlier:",
        "  <orders-0@1 value=b'c'>",
        "The nearest:",
        "  <orders-0@3 value=b'd'>",
        "    value: 'd', expected 'c'",
    ]


def test_not_in_order_of_a_key(kafka: Emulator) -> None:
    wide = kafka.topic("wide")
    wide.produce("1", "a", partition=1)
    wide.produce("1", "b", partition=1)
    expected = [("a", "1"), ("a", "2"), ("b", "1")]
    assert told(lambda: wide.assert_produced_in_order(expected, by_key=True, within=SHORT_S)) == [
        "waited 0.05 s for 3 records in wide in order of each key.",
        "There are 2 records.",
        "Missing is number 2 of key b'a' of 2 in order, key='a', value='2' after "
        "<wide-1@0 key=b'a' value=b'1'>.",
    ]


@pytest.mark.parametrize(
    ("expected", "by_key", "text"),
    [
        ("abc", False, "expected is a list of records, not 'abc'"),
        ([], False, "no record is expected: use assert_nothing_produced"),
        (["a"], False, r"wide has 2 partitions, .* use by_key=True, or .* wide\[0\]"),
        (["a"], True, r"with by_key=True each record is a pair \(key, value\) or .* not 'a'"),
        ([NewRecord("a")], True, "with by_key=True each record is a pair"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(
    kafka: Emulator, expected: Any, by_key: bool, text: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=text):
        kafka.topic("wide").assert_produced_in_order(expected, by_key=by_key)


# assert_nothing_produced


def test_nothing_produced(orders: TopicView) -> None:
    orders.produce_all(["before", "a"])
    orders.assert_nothing_produced(within=SHORT_S)
    orders.assert_nothing_produced(within=0, since=2)
    orders.assert_nothing_produced(within=0, since=0, value="b")
    timer = later(lambda: orders.produce("other"))
    orders.assert_nothing_produced(within=4 * SHORT_S, value="b")
    timer.join()


def test_something_produced(orders: TopicView) -> None:
    orders.produce("before")
    timer = later(lambda: orders.produce("after"))
    assert told(lambda: orders.assert_nothing_produced(within=30)) == [
        "orders was to get no record within 30 s, but got 1:",
        "  <orders-0@1 value=b'after'>",
    ]
    timer.join()
    assert told(lambda: orders.assert_nothing_produced(since=0, value="before"))[0] == (
        "orders was to get no record with value='before' within 0.2 s, but got 1:"
    )


# Coroutines


def test_the_twins(orders: TopicView) -> None:
    async def main() -> None:
        orders.produce_all(["a", "b"])
        assert (await orders.aassert_produced(value="b")).offset == 1
        await orders.aassert_produced_in_order(["a", "b"])
        await orders.aassert_nothing_produced(within=SHORT_S)
        with pytest.raises(AssertionError, match="orders was to have 1 record, but has 2"):
            await orders.aassert_produced()
        with pytest.raises(AssertionError, match="Missing is number 2 of 2 in order, value='a'"):
            await orders.aassert_produced_in_order(["b", "a"], within=SHORT_S)
        with pytest.raises(AssertionError, match=r"was to get no record within .* but got 2"):
            await orders.aassert_nothing_produced(since=0)

    asyncio.run(main())


# assert_exactly_once


class Message:
    """As confluent-kafka has them."""

    def __init__(self, offset: int, value: bytes) -> None:
        self._offset = offset
        self._value = value

    def topic(self) -> str:
        return "orders"

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return self._offset

    def value(self) -> bytes:
        return self._value


def test_exactly_once(kafka: Emulator, orders: TopicView) -> None:
    orders.produce_all(["a", {"n": 1}, "a"])
    assert_exactly_once(["a", "a", {"n": 1}], orders)
    assert_exactly_once([b"a", "a", {"n": 1}], orders[0], read=orders.records())
    messages = [Message(0, b"a"), Message(1, b'{"n": 1}'), Message(2, b"a")]
    assert_exactly_once(["a", "a", {"n": 1}], orders, read=messages)
    assert_exactly_once(["a", "a", {"n": 1}], orders, read=["a", b"a", b'{"n": 1}'])
    assert_exactly_once([], kafka.topic("wide"))


def test_keys_count_if_they_are_given(orders: TopicView) -> None:
    orders.produce("a", "k")
    assert_exactly_once([NewRecord("a", "k")], orders)
    assert told(lambda: assert_exactly_once([NewRecord("a", "l")], orders)) == [
        "1 record was to be in orders exactly once each, but:",
        "  lost: key b'l', value b'a' is not committed in orders",
        "  never sent: <orders-0@0 key=b'k' value=b'a'>",
    ]


def test_each_fault_is_named(orders: TopicView) -> None:
    orders.produce_all(["a", "b", "b", "e"])
    read = [Message(0, b"a"), Message(0, b"a"), Message(1, b"b"), Message(9, b"z")]
    assert told(lambda: assert_exactly_once(["a", "b", "c", "d", "d"], orders, read=read)) == [
        "5 records were to be in orders exactly once each, but:",
        "  duplicate: b'b' is there 2 times, but was sent once: "
        "<orders-0@1 value=b'b'>, <orders-0@2 value=b'b'>",
        "  lost: b'c' is not committed in orders",
        "  lost: b'd' is not committed in orders, 2 of 2 times",
        "  never sent: <orders-0@3 value=b'e'>",
        "  read 2 times: <orders-0@0 value=b'a'>",
        "  not read: <orders-0@2 value=b'b'>",
        "  not read: <orders-0@3 value=b'e'>",
        "  read, but not there: ('orders', 0, 9)",
    ]


def test_of_many_faults_some_are_named(orders: TopicView) -> None:
    lines = told(lambda: assert_exactly_once(map(str, range(100)), orders))
    assert len(lines) == 22
    assert lines[-1] == "  (80 more)"


@pytest.mark.parametrize(
    ("sent", "view", "text"),
    [
        ("x", None, "sent is a list of records, not 'x'"),
        (5, None, "sent is a list of records, not 5: put a single one in a list"),
        ([], 3, "orders is a view of a topic, .*, not 3"),
    ],
)
def test_what_is_no_list_or_view_is_refused(
    orders: TopicView, sent: Any, view: Any, text: str
) -> None:
    with pytest.raises(TypeError, match=text):
        assert_exactly_once(sent, view or orders)


# In pytest's report


@pytest.mark.slow
def test_a_report_shows_the_text_and_none_of_our_files(pytester: pytest.Pytester) -> None:
    module = pytester.makepyfile(
        """
        import asyncio
        import pytest
        from odradek import assert_exactly_once

        def test_wait(kafka):
            kafka.create_topic("orders").wait_for(key="k", timeout=0.01)

        def test_produced(kafka):
            kafka.create_topic("orders").assert_produced(key="k", within=0.01)

        def test_too_often(kafka):
            kafka.create_topic("orders").produce_all(["a", "a"])
            kafka.topic("orders").assert_produced(value="a")

        def test_order(kafka):
            kafka.create_topic("orders").assert_produced_in_order(["a"], within=0.01)

        def test_nothing(kafka):
            kafka.create_topic("orders").produce("a")
            kafka.topic("orders").assert_nothing_produced(since=0)

        def test_group(kafka):
            kafka.group("billing").wait_stable(timeout=0.01)

        def test_committed(kafka):
            kafka.group("billing").assert_committed({("orders", 0): 1}, within=0.01)

        def test_once(kafka):
            assert_exactly_once(["a"], kafka.create_topic("orders"))

        def test_connected(kafka):
            kafka.wait_connected("app", timeout=0.01)

        def test_coroutine(kafka):
            asyncio.run(kafka.create_topic("orders").await_for(key="k", timeout=0.01))
        """
    )
    result = run_session(pytester)
    result.assert_outcomes(failed=10)
    shown = result.stdout.str()
    places = re.findall(r"^(\S+\.py):\d+: ", shown, re.MULTILINE)
    assert {place for place in places if "asyncio" not in place} == {module.name}
    result.stdout.fnmatch_lines(
        [
            "E*odradek.WaitTimeout: waited 0.01 s for a record in orders with key='k'.",
            "E*There are no records.",
            "E*waited 0.01 s for group 'billing' to be stable.",
            "E*There is <group billing: Dead, generation None, no members, lag 0>.",
            "E*its state is Dead, not Stable",
        ]
    )
