"""For how many of the requests that match a rule takes effect, and how a sentence is shown."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.cluster import Cluster
from odradek.fixtures.kafka.rule_builder import RuleBuilder
from odradek.wire import Error
from odradek.wire.api.heartbeat import HeartbeatRequest

from tests.support.cluster import Client
from tests.support.ruled import Ruled

BEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


@pytest.fixture(autouse=True)
def coordinator(cluster: Cluster) -> None:
    cluster.groups.ensure_topic()


Counted = Callable[[RuleBuilder], RuleBuilder]


def taken(cluster: Cluster, client: Client, counted: Counted, count: int = 12) -> list[int]:
    """Of so many requests, those for which a rule takes effect."""
    rule = counted(Ruled(cluster).on("Heartbeat", group="g")).fail(Error.NOT_COORDINATOR)
    found = [
        number
        for number in range(1, count + 1)
        if client.ask(BEAT, 4).error_code == Error.NOT_COORDINATOR
    ]
    assert (rule.hits, len(rule.requests)) == (len(found), len(found))
    return found


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        (lambda on: on, [*range(1, 13)]),
        (lambda on: on.once(), [1]),
        (lambda on: on.times(3), [1, 2, 3]),
        (lambda on: on.after(10), [11, 12]),
        (lambda on: on.after(0).once(), [1]),
        (lambda on: on.every(4), [4, 8, 12]),
        (lambda on: on.after(2).every(3), [5, 8, 11]),
        (lambda on: on.every(3).after(2).times(2), [5, 8]),
        (lambda on: on.after(4).once(), [5]),
        (lambda on: on.with_probability(0), []),
        (lambda on: on.with_probability(1), [*range(1, 13)]),
        (lambda on: on.with_probability(0.5, seed=7).times(2), [1, 2]),
        (lambda on: on.optional().once(), [1]),
    ],
)
def test_counted(cluster: Cluster, client: Client, counted: Counted, expected: list[int]) -> None:
    assert taken(cluster, client, counted) == expected


def test_the_same_seed_makes_the_same_choices(cluster: Cluster, client: Client) -> None:
    def chosen(seed: int) -> list[int]:
        found = taken(cluster, client, lambda on: on.with_probability(0.5, seed=seed), 40)
        cluster.chain.clear()
        return found

    assert chosen(1) == chosen(1) != chosen(2)


@pytest.mark.parametrize("make", [threading.Event, asyncio.Event])
def test_until_an_event(cluster: Cluster, client: Client, make: Any) -> None:
    event = make()
    rule = Ruled(cluster).on("Heartbeat").until(event).fail(Error.NOT_COORDINATOR)
    client.ask(BEAT, 4)
    event.set()
    client.ask(BEAT, 4)
    event.clear()  # what is over is over
    client.ask(BEAT, 4)
    assert (rule.hits, cluster.chain) == (1, [])


def test_until_a_function_says_so(cluster: Cluster, client: Client) -> None:
    seen: list[int] = []
    rule = Ruled(cluster).on("Heartbeat").until(lambda: len(seen) > 1).throttle(1, mute=False)
    for _ in range(4):
        client.ask(BEAT, 4)
        seen.append(1)
    assert rule.hits == 2


def test_during_some_time_of_the_broker(cluster: Cluster, client: Client) -> None:
    assert isinstance(cluster.clock, ManualClock)
    rule = Ruled(cluster).on("Heartbeat").during(2.5).throttle(1)
    client.ask(BEAT, 4)
    cluster.advance(2499)
    client.ask(BEAT, 4)
    cluster.advance(1)
    client.ask(BEAT, 4)
    assert rule.hits == 2


def test_a_beginning_may_be_used_again(cluster: Cluster) -> None:
    beats = Ruled(cluster).on("Heartbeat", group="g")
    first, second = beats.once().throttle(1), beats.after(2).drop_reply()
    assert str(first) == "kafka.on('Heartbeat', group='g').once().throttle(1)"
    assert str(second) == "kafka.on('Heartbeat', group='g').after(2).drop_reply()"


def gone(*_: Any) -> bool:
    return False


@pytest.mark.parametrize(
    ("say", "end"),
    [
        (lambda on: on.once().drop_reply(), "once().drop_reply()"),
        (lambda on: on.times(2).drop_request(), "times(2).drop_request()"),
        (lambda on: on.after(2).every(3).disconnect(), "after(2).every(3).disconnect()"),
        (lambda on: on.disconnect("after"), "disconnect('after')"),
        (
            lambda on: on.with_probability(0.5, seed=7).delay(2),
            "with_probability(0.5, seed=7).delay(2)",
        ),
        (lambda on: on.during(3).delay(0.5, "after"), "during(3).delay(0.5, 'after')"),
        (lambda on: on.until(gone).hold(), "until(gone).hold()"),
        (lambda on: on.until(threading.Event()).hold("after"), "until(Event).hold('after')"),
        (lambda on: on.throttle(100), "throttle(100)"),
        (lambda on: on.answer(gone), "answer(gone)"),
        (lambda on: on.edit(lambda response: None), "edit(<lambda>)"),
        (lambda on: on.truncate_reply(-1), "truncate_reply(-1)"),
        (lambda on: on.repeat_reply(), "repeat_reply()"),
        (lambda on: on.corrupt_records("cut"), "corrupt_records('cut')"),
        (lambda on: on.fail(Error.OFFSET_OUT_OF_RANGE), "fail(Error.OFFSET_OUT_OF_RANGE)"),
        (
            lambda on: on.fail("NETWORK_EXCEPTION", anyway=True),
            "fail(Error.NETWORK_EXCEPTION, anyway=True)",
        ),
        (lambda on: on.optional().drop_reply(), "optional().drop_reply()"),
    ],
)
def test_a_rule_is_shown_as_the_sentence_that_made_it(
    cluster: Cluster, say: Callable[[RuleBuilder], Any], end: str
) -> None:
    rule = say(Ruled(cluster).on("Fetch", topic="t", where=gone))
    assert str(rule) == f"kafka.on('Fetch', topic='t', where=gone).{end}"


@pytest.mark.parametrize(
    ("say", "error", "text"),
    [
        (lambda on: on.times(0), ValueError, "times is a whole number from 1 on, not 0"),
        (lambda on: on.times("2"), TypeError, "times is a whole number, not '2'"),
        (lambda on: on.after(-1), ValueError, "after is a whole number from 0 on"),
        (lambda on: on.every(0), ValueError, "every is a whole number from 1 on"),
        (lambda on: on.with_probability(1.5), ValueError, "probability is a number from 0 to 1"),
        (lambda on: on.with_probability("x"), TypeError, "probability is a number from 0 to 1"),
        (lambda on: on.until(7), TypeError, "until takes a function of nothing, or a threading"),
        (lambda on: on.during(-1), ValueError, "seconds is a number of seconds from 0 to"),
        (lambda on: on.delay(float("inf")), ValueError, "seconds is a number of seconds from 0 to"),
        (lambda on: on.disconnect("now"), ValueError, "when is 'before' or 'after', not 'now'"),
        (lambda on: on.answer(7), TypeError, "answer takes a function of the request, not 7"),
        (lambda on: on.edit(None), TypeError, "edit takes a function of the response, not None"),
        (lambda on: on.throttle(-1), ValueError, "milliseconds is a whole number from 0 on"),
        (lambda on: on.truncate_reply(0.5), TypeError, "length is a whole number, not 0.5"),
        (lambda on: on.corrupt_records("all"), ValueError, "how is 'crc' or 'cut', not 'all'"),
        (lambda on: on.fail(3), TypeError, "an error is one of Error, or its name, not 3"),
        (lambda on: on.fail(Error.NONE), ValueError, "Error.NONE is no error"),
        (
            lambda on: on.fail("OFFSET_OUT_OF_RANG"),
            ValueError,
            "there is no error 'OFFSET_OUT_OF_RANG'; do you mean OFFSET_OUT_OF_RANGE",
        ),
        (
            lambda on: on.fail(Error.REBALANCE_IN_PROGRESS),
            ValueError,
            r"no broker answers REBALANCE_IN_PROGRESS to Fetch \(it is answered to OffsetCommit",
        ),
    ],
)
def test_a_mistake_is_named(
    cluster: Cluster, say: Callable[[RuleBuilder], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        say(Ruled(cluster).on("Fetch"))
    assert cluster.chain == []


def test_an_error_that_no_broker_answers_is_answered_anyway(
    cluster: Cluster, client: Client
) -> None:
    Ruled(cluster).on("Heartbeat").fail(Error.OFFSET_OUT_OF_RANGE, anyway=True)
    assert client.ask(BEAT, 4).error_code == Error.OFFSET_OUT_OF_RANGE
