"""Quotas at a real Kafka and at an Emulator: throttle times are those that two real brokers have
among themselves, which differ by the time that passes between requests."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, TypeAlias

import pytest
from odradek.compat.real_kafka import RealKafka
from odradek.wire import Error
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest

from tests.differential.ask.cluster import alter_quotas, quota
from tests.differential.engine.asker import Asker
from tests.differential.engine.brokers import CONFIG, EmulatedBroker
from tests.requests.fetch import asked, fetch_request
from tests.requests.produce import batch, produce_request
from tests.requests.topics import create_topics, new_topic

from .secured import until

pytestmark = [pytest.mark.real, pytest.mark.slow]

Brokers: TypeAlias = tuple[RealKafka, EmulatedBroker]
_TOLERANCE = 0.35
"""Of a throttle time, besides a second: on a busy machine requests are far apart."""
_ANONYMOUS = [("user", "ANONYMOUS")]


@pytest.fixture(scope="module")
def brokers(real_kafka: RealKafka) -> Iterator[Brokers]:
    with EmulatedBroker(CONFIG) as ours:
        for each in (real_kafka, ours):
            create_topics(_asker(each), new_topic("t"), new_topic("u"))
            until(lambda: _ask(each, produce_request(batch(b"x"), topic="u"), 9) is not None)  # noqa: B023
        yield real_kafka, ours


def _asker(broker: Any) -> Asker:
    host, _, port = broker.bootstrap_servers.rpartition(":")
    return Asker((host, int(port)))


def _ask(broker: Any, request: Any, version: int) -> Any:
    """On a connection of its own, which nothing has muted."""
    asker = _asker(broker)
    answer = asker.ask(request, version)
    asker.close()
    return answer


def _alike(one: int, other: int) -> bool:
    return abs(one - other) <= 1000 + _TOLERANCE * max(one, other)


def _set(broker: Any, key: str, value: float) -> None:
    entry = quota(_ANONYMOUS, (key, value))
    assert _ask(broker, alter_quotas(entry), 1).entries[0].error_code == 0


def _unset(broker: Any, key: str) -> None:
    _ask(broker, alter_quotas(quota(_ANONYMOUS, (key, 0.0, True))), 1)


def test_produce(brokers: Brokers) -> None:
    def times(broker: Any) -> list[int]:
        _set(broker, "producer_byte_rate", 2000.0)
        request = produce_request(batch(b"x" * 15_000))
        found: list[int] = []

        def is_throttled() -> bool:  # a real broker learns of quotas a moment later
            found.append(_ask(broker, request, 9).throttle_time_ms)
            return found[-1] > 0

        until(is_throttled)
        found += [_ask(broker, request, 9).throttle_time_ms for _ in range(3)]
        _unset(broker, "producer_byte_rate")
        return found[-4:]

    real, ours = map(times, brokers)
    growth = [[b - a for a, b in pairwise(each)] for each in (real, ours)]
    assert all(_alike(*pair) for pair in zip(*growth, strict=True)), (real, ours)


def test_fetch(brokers: Brokers) -> None:
    def times(broker: Any) -> list[tuple[bool, int]]:
        for _ in range(4):
            _ask(broker, produce_request(batch(b"y" * 4000), topic="u"), 9)
        _set(broker, "consumer_byte_rate", 1000.0)
        request = fetch_request(asked(offset=0), topic="u", max_wait_ms=0)
        found: list[tuple[bool, int]] = []

        def is_throttled() -> bool:
            answer = _ask(broker, request, 12)
            found.append((bool(answer.responses), answer.throttle_time_ms))
            return found[-1][1] > 0

        until(is_throttled)
        _unset(broker, "consumer_byte_rate")
        return found[-1:]

    real, ours = map(times, brokers)
    assert real[0][0] is ours[0][0] is False
    assert _alike(real[0][1], ours[0][1]), (real, ours)


def test_changes_of_topics(brokers: Brokers) -> None:
    def times(broker: Any) -> list[tuple[int, str | None, int]]:
        _set(broker, "controller_mutation_rate", 1.0)
        found = []
        number = 0

        def is_refused() -> bool:
            nonlocal number
            number += 1
            answer = _ask(broker, _create(f"m{number}", 15), 7)
            (topic,) = answer.topics
            found.append((topic.error_code, topic.error_message, answer.throttle_time_ms))
            return bool(topic.error_code)

        until(is_refused)
        last = found[-1:]
        for request, version in (
            (_create("old", 1), 5),
            (DeleteTopicsRequest(topic_names=["t"], timeout_ms=9000), 5),
        ):
            answer = _ask(broker, request, version)
            each = (getattr(answer, "topics", None) or answer.responses)[0]
            last.append((each.error_code, each.error_message, answer.throttle_time_ms))
        _unset(broker, "controller_mutation_rate")
        return last

    real, ours = map(times, brokers)
    assert [each[:2] for each in real] == [each[:2] for each in ours]
    assert real[0][0] == Error.THROTTLING_QUOTA_EXCEEDED
    # How much was taken before a real broker knew of the quota is left to chance.
    assert all(each[2] > 0 for each in (*real, *ours)), (real, ours)


def _create(name: str, partitions: int) -> Any:
    return CreateTopicsRequest(topics=[new_topic(name, partitions)], timeout_ms=9000)
