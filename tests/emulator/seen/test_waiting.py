"""Waits for records: what ends them, what they say at the end of their time, and that they leave
nothing behind."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import trio
from odradek.emulator import Emulator, SeenRecord, WaitTimeout
from odradek.emulator.cluster import Cluster
from odradek.emulator.seen.waiting import Wait, polled, polled_async
from odradek.storage import MemoryDisk
from odradek.wire import Error, Refused

LONG_S = 30.0
"""More than any test takes."""
SHORT_S = 0.05


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(disk=MemoryDisk(), topics={"orders": 2}) as kafka:
        kafka.timeout = LONG_S
        yield kafka


def watchers(kafka: Emulator) -> int:
    return kafka.run(lambda cluster: len(cluster.watchers))


def until_it_waits(kafka: Emulator) -> None:
    while not watchers(kafka):
        time.sleep(0.001)


class InThread:
    """Something that waits in a thread of its own."""

    def __init__(self, kafka: Emulator, action: Callable[[], Any]) -> None:
        self._result: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(action,))
        self._thread.start()
        until_it_waits(kafka)

    def _run(self, action: Callable[[], Any]) -> None:
        try:
            self._result = action()
        except BaseException as error:
            self._error = error

    def result(self) -> Any:
        self._thread.join(LONG_S)
        assert not self._thread.is_alive()
        if self._error is not None:
            raise self._error
        return self._result


def told(action: Callable[[], Any]) -> list[str]:
    """The lines of the time-out that this raises."""
    with pytest.raises(WaitTimeout) as raised:
        action()
    return str(raised.value).splitlines()


# What they return


def test_what_is_there_already(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    orders.produce_all(["a", "b", "c"])
    assert [each.value for each in orders.wait_for(2)] == [b"a", b"c"]
    assert orders.wait_for(value="b").partition == 1
    assert orders[1].wait_for().value == b"b"
    assert orders.wait_for(where=lambda each: each.offset == 1).value == b"c"
    assert [each.value for each in orders.wait_for(1, value="c")] == [b"c"]
    assert watchers(kafka) == 0


def test_what_comes_later(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    orders.produce("before", "k", partition=1)
    waiting = InThread(kafka, lambda: orders.wait_for(2, key="k"))
    orders.produce("other", "l", partition=0)
    orders.produce("after", "k", partition=0)
    assert [each.value for each in waiting.result()] == [b"after", b"before"]
    assert watchers(kafka) == 0


def test_a_partition_that_is_added(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    waiting = InThread(kafka, lambda: orders.wait_for(value="x"))
    orders.add_partitions(1)
    orders.produce("x", partition=2)
    assert waiting.result().partition == 2


def test_since(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    noon = datetime(2020, 5, 1, 12, tzinfo=UTC)
    for number in range(3):
        orders.produce(f"{number}", timestamp=noon + timedelta(hours=number), partition=0)
    assert orders.wait_for(since=2).value == b"2"
    assert orders.wait_for(since=noon + timedelta(minutes=1)).value == b"1"
    waiting = InThread(kafka, lambda: orders.wait_for(since=noon + timedelta(hours=9)))
    orders.produce("late", timestamp=noon + timedelta(hours=10), partition=1)
    assert waiting.result().value == b"late"
    waiting = InThread(kafka, lambda: orders[0].wait_for(since=4))
    orders.produce_all(["three", "four", "five"])
    orders.produce("at 4", partition=0)
    assert waiting.result().offset == 4


# What they say


def test_at_the_end_of_the_time_the_nearest_are_told(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    orders.produce({"id": 1, "items": [{"price": 3}]}, "41", partition=0)
    orders.produce("text", partition=1)
    begin = time.monotonic()
    lines = told(lambda: orders.wait_for(key="41", json={"items": [{"price": 4}]}, timeout=SHORT_S))
    assert time.monotonic() - begin >= SHORT_S
    assert lines[:6] == [
        "waited 0.05 s for a record in orders with key='41', json={'items': [{'price': 4}]}.",
        "There are 2 records, 0 with key='41', json={'items': [{'price': 4}]}.",
        "The nearest:",
        """  <orders-0@0 key=b'41' value=b'{"id": 1, "items": [{"price": 3}]}'>""",
        "    $.items[0].price: 3, expected 4",
        "  <orders-1@0 value=b'text'>",
    ]
    assert watchers(kafka) == 0


def test_records_of_a_number_are_told(kafka: Emulator) -> None:
    kafka.topic("orders").produce_all(map(str, range(14)))
    lines = told(lambda: kafka.topic("orders")[0].wait_for(9, timeout=SHORT_S))
    assert lines[:4] == [
        "waited 0.05 s for 9 records in orders-0.",
        "There are 7 records.",
        "  (2 more)",
        "  <orders-0@2 value=b'4'>",
    ]


def test_where_it_begins_is_told(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    orders.produce("a", partition=0)
    lines = told(lambda: orders.wait_for(value="b", since=1, timeout=SHORT_S))
    assert lines[:2] == [
        "waited 0.05 s for a record in orders with value='b' since offset 1.",
        "There are no records.",
    ]
    lines = told(lambda: orders.wait_for(since=datetime(2100, 1, 1), timeout=SHORT_S))
    assert lines[0] == "waited 0.05 s for a record in orders since 2100-01-01 00:00:00."


def test_the_last_events_are_told(kafka: Emulator) -> None:
    def happen(cluster: Cluster) -> None:
        for number in range(12):
            cluster.journal.add(f"event {number}", topic="orders")
        cluster.journal.add("something else", topic="others")

    kafka.run(happen)
    lines = told(lambda: kafka.topic("orders").wait_for(timeout=SHORT_S))
    begin = lines.index("The last events that concern it:")
    assert len(lines) - begin == 1 + 10


def test_a_time_out_is_an_assertion_and_a_time_out(kafka: Emulator) -> None:
    assert issubclass(WaitTimeout, AssertionError)
    assert issubclass(WaitTimeout, TimeoutError)


def test_the_time_is_that_of_the_broker_unless_told_otherwise(kafka: Emulator) -> None:
    assert Emulator().timeout == 10.0
    kafka.timeout = SHORT_S
    assert told(lambda: kafka.topic("orders").wait_for())[0].startswith("waited 0.05 s for")
    with pytest.raises(ValueError, match="timeout is a number of seconds from 0 on, not -1"):
        kafka.timeout = -1


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"vale": 1}, "wait_for has no argument 'vale': .* did you mean value="),
        ({"count": -1}, "count is a whole number from 1 on, not -1"),
        ({"count": 0}, "count is a whole number from 1 on, not 0"),
        ({"count": 1.5}, "count is a whole number, not 1.5"),
        ({"count": True}, "count is a whole number, not True"),
        ({"timeout": "x"}, "timeout is a number of seconds, not 'x'"),
        ({"timeout": -1}, "timeout is a number of seconds from 0 on, not -1"),
        ({"timeout": float("nan")}, "timeout is a number of seconds from 0 on, not nan"),
        ({"timeout": float("inf")}, "timeout is a number of seconds from 0 on, not inf"),
        ({"since": -1}, "since is an offset from 0 on, or a time, not -1"),
        ({"since": "x"}, r"since is an offset \(int\) or a time \(datetime\), not 'x'"),
        ({"isolation": "x"}, "isolation is 'read_committed' or 'read_uncommitted', not 'x'"),
    ],
)
def test_what_makes_no_sense_is_refused(kafka: Emulator, given: dict[str, Any], text: str) -> None:
    with pytest.raises((TypeError, ValueError), match=text):
        kafka.topic("orders").wait_for(**given)


# What else ends them


def test_what_looking_raises_ends_it(kafka: Emulator) -> None:
    def fails(record: SeenRecord[Any, Any]) -> bool:
        raise LookupError("no such thing")

    orders = kafka.topic("orders")
    waiting = InThread(kafka, lambda: orders.wait_for(where=fails))
    orders.produce("x", partition=0)
    with pytest.raises(LookupError, match="no such thing") as raised:
        waiting.result()
    assert raised.value.__notes__[0].startswith("raised for <orders-0@0 value=b'x'>")
    assert orders.values() == [b"x"]  # the broker is well
    assert watchers(kafka) == 0


def test_even_what_is_no_exception_does_not_end_the_broker(kafka: Emulator) -> None:
    def fails(record: SeenRecord[Any, Any]) -> bool:
        pytest.fail("not this one")

    orders = kafka.topic("orders")
    waiting = InThread(kafka, lambda: orders.wait_for(where=fails))
    orders.produce("x")
    with pytest.raises(pytest.fail.Exception, match="not this one"):
        waiting.result()
    assert orders.values() == [b"x"]


def test_a_topic_that_is_deleted_ends_it(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    waiting = InThread(kafka, lambda: orders.wait_for())
    kafka.delete_topic("orders")
    with pytest.raises(Refused, match="there is no topic 'orders'") as raised:
        waiting.result()
    assert raised.value.error == Error.UNKNOWN_TOPIC_OR_PARTITION


def test_a_broker_that_is_stopped_ends_it(kafka: Emulator) -> None:
    waiting = InThread(kafka, lambda: kafka.topic("orders").wait_for(value="x"))
    begin = time.monotonic()
    kafka.stop()
    text = "the broker was stopped during a wait for a record in orders with value='x'"
    with pytest.raises(RuntimeError, match=text):
        waiting.result()
    assert time.monotonic() - begin < LONG_S / 2
    with pytest.raises(RuntimeError, match="the broker is not running"):
        kafka.wait_idle()


def test_an_interrupt_ends_it(kafka: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        assert watchers(kafka) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr("odradek.emulator.seen.inside.wait_for_futures", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kafka.topic("orders").wait_for()
    assert watchers(kafka) == 0


def test_the_brokers_own_thread_does_not_wait(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    with pytest.raises(RuntimeError, match="a wait for a record in orders in the broker's own"):
        kafka.run(lambda cluster: orders.wait_for())


# What they cost


def test_nothing_is_read_while_the_ends_stay(kafka: Emulator) -> None:
    looks = 0
    orders = kafka.topic("orders")

    def look() -> bool | None:
        nonlocal looks
        looks += 1
        return None if orders.values() != [b"x"] else True

    wait = Wait("x", look, str, topic="orders", reads_records=True)
    waiting = InThread(kafka, lambda: kafka._inside.wait(wait))
    before = looks
    other = kafka.create_topic("other")
    for _ in range(20):
        other.produce("y")
    assert looks == before
    orders.produce("x")
    assert waiting.result() is True


@pytest.mark.slow
def test_fifty_wait_at_once(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    found: list[bytes | None] = []
    threads = [
        threading.Thread(
            target=lambda number=number: found.append(orders.wait_for(json={"n": number}).key)
        )
        for number in range(0, 200, 4)
    ]
    for thread in threads:
        thread.start()
    for number in range(200):
        orders.produce({"n": number}, f"{number}")
    for thread in threads:
        thread.join(LONG_S)
    assert sorted(found, key=lambda key: int(key or b"")) == [
        b"%d" % number for number in range(0, 200, 4)
    ]
    assert watchers(kafka) == 0


# Coroutines


def test_a_coroutine_does_not_block_its_loop(kafka: Emulator) -> None:
    orders = kafka.topic("orders")

    async def main() -> None:
        waiting = asyncio.create_task(orders.await_for(key="k"))
        turns = 0
        while not await asyncio.to_thread(watchers, kafka):
            turns += 1
        assert turns > 0
        await asyncio.to_thread(orders.produce, "x", "k")
        record = await waiting
        assert record.value == b"x"
        assert [each.value for each in await orders.await_for(1)] == [b"x"]

    asyncio.run(main())


def test_a_coroutine_needs_none_of_the_loops_threads(kafka: Emulator) -> None:
    orders, ends = kafka.topic("orders"), threading.Event()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        service = loop.run_in_executor(None, ends.wait)  # as a service under test may do
        orders.produce("x")
        assert (await orders.await_for()).value == b"x"
        with pytest.raises(WaitTimeout):
            await orders.await_for(2, timeout=SHORT_S)
        ends.set()
        await service

    asyncio.run(main())


def test_the_time_of_a_coroutine_is_over(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    orders.produce("x")

    async def main() -> None:
        with pytest.raises(WaitTimeout, match=r"(?s)waited 0.05 s .*value: 'x', expected 'y'"):
            await orders.await_for(value="y", timeout=SHORT_S)

    asyncio.run(main())
    assert watchers(kafka) == 0


def test_a_coroutine_that_is_cancelled_waits_no_more(kafka: Emulator) -> None:
    orders = kafka.topic("orders")

    async def main() -> None:
        waiting = asyncio.create_task(orders.await_for())
        await asyncio.to_thread(until_it_waits, kafka)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())
    kafka.run(lambda cluster: None)
    assert watchers(kafka) == 0


def test_what_looking_raises_ends_a_coroutine(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    orders.produce("x")

    async def main() -> None:
        with pytest.raises(ValueError, match="is not JSON"):
            await orders.await_for(where=lambda each: each.json())

    asyncio.run(main())


def test_other_loops_that_anyio_knows(kafka: Emulator) -> None:
    orders = kafka.topic("orders")

    async def produce() -> None:
        await trio.to_thread.run_sync(until_it_waits, kafka)
        await trio.to_thread.run_sync(orders.produce, "x", "k")

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(produce)
            assert (await orders.await_for(key="k")).value == b"x"
        with pytest.raises(WaitTimeout, match=r"waited 0.05 s for a record"):
            await orders.await_for(key="l", timeout=SHORT_S)
        with trio.move_on_after(SHORT_S) as scope:
            await orders.await_for(key="l")
        assert scope.cancelled_caught

    trio.run(main)
    kafka.run(lambda cluster: None)
    assert watchers(kafka) == 0


def test_fifty_coroutines_wait_at_once(kafka: Emulator) -> None:
    orders = kafka.topic("orders")

    async def main() -> list[SeenRecord[Any, Any]]:
        waits = [orders.await_for(key=str(number)) for number in range(50)]
        tasks = [asyncio.create_task(each) for each in waits]
        for number in range(50):
            await asyncio.to_thread(orders.produce, "x", str(number))
        return await asyncio.gather(*tasks)

    assert [each.key for each in asyncio.run(main())] == [b"%d" % n for n in range(50)]


# Of a broker that tells nothing


def test_one_can_ask_again_and_again() -> None:
    looks = iter([None, None, "there"])
    wait = Wait("x", lambda: next(looks), lambda: "Nothing is there.")
    assert polled(wait, LONG_S, every=0.001) == "there"
    wait = Wait("x", lambda: None, lambda: "Nothing is there.")
    with pytest.raises(WaitTimeout) as raised:
        polled(wait, 0.01, every=0.001)
    assert str(raised.value) == "waited 0.01 s for x.\nNothing is there."


def test_one_can_ask_again_and_again_in_a_coroutine() -> None:
    looks = iter([None, None, "there"])
    wait = Wait("x", lambda: next(looks), str)
    assert asyncio.run(polled_async(wait, LONG_S, every=0.001)) == "there"
    with pytest.raises(WaitTimeout, match=r"waited 0.01 s for y"):
        asyncio.run(polled_async(Wait("y", lambda: None, str), 0.01, every=0.001))


def test_what_is_there_may_not_be_readable() -> None:
    def there() -> str:
        raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION, "there is no topic 't'")

    with pytest.raises(WaitTimeout, match=r"What is there could not be read: .*no topic 't'"):
        polled(Wait("x", lambda: None, there), 0)
