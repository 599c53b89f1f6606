"""Kafka Streams 4.3.1 with `group.protocol=streams` (KIP-1071) and `classic`: a word count and a
windowed join with exactly_once_v2, of which an instance is killed, and interactive queries across
two instances with standbys.

What comes out follows from what went in, and is the same at any broker. With ODRADEK_REAL=1 the
same tests run at Apache Kafka too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat import RealKafka
from odradek.compat import client as client_named
from odradek.compat.clients import wait_until

from tests.clients.streams.application import Application
from tests.clients.streams.counted import CUSTOMERS, ENOUGH_S, PARTITIONS, Output, Shop, Text
from tests.clients.streams.word_count import CLASSIC
from tests.clients.streams.word_count import CONFIG as WORD_COUNT
from tests.clients.support.wanted import WANT_REAL

pytestmark = [pytest.mark.client, pytest.mark.slow]

BROKER = {
    "group.streams.min.session.timeout.ms": "3000",
    "group.streams.session.timeout.ms": "6000",
    "group.streams.min.heartbeat.interval.ms": "300",
    "group.streams.heartbeat.interval.ms": "300",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.assignment.interval.ms": "0",
    "group.streams.num.standby.replicas": "1",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
}
TOPICS = ("lines", "counted", "orders", "payments", "paid")
ORDERS: dict[str, Any] = {
    "application.id": "orders",
    "processing.guarantee": "exactly_once_v2",
    "commit.interval.ms": 100,
    "auto.offset.reset": "earliest",
    "producer.transaction.timeout.ms": 10_000,
}
PROTOCOLS: dict[str, dict[str, Any]] = {
    "streams": {"group.protocol": "streams"},
    "classic": {"group.protocol": "classic", "num.standby.replicas": 1, **CLASSIC},
}


@pytest.fixture(
    params=["odradek", *([pytest.param("real", marks=pytest.mark.real)] if WANT_REAL else [])]
)
def bootstrap(request: pytest.FixtureRequest) -> Iterator[str]:
    """A broker with short sessions, and empty topics."""
    with ExitStack() as stack:
        broker: Any = Emulator(BROKER) if request.param == "odradek" else RealKafka(config=BROKER)
        found: str = stack.enter_context(broker).bootstrap_servers
        client = client_named("confluent-kafka")
        for name in TOPICS:
            client.create_topic(found, name, partitions=PARTITIONS)
        yield found


Start = Callable[..., Application]


@pytest.fixture(params=["streams", pytest.param("classic", marks=pytest.mark.long)])
def start(request: pytest.FixtureRequest, bootstrap: str, tmp_path: Path) -> Iterator[Start]:
    """Starts one more instance of an application, with either protocol."""
    made: list[Application] = []

    def start(name: str, config: dict[str, Any], **more: Any) -> Application:
        settings = {**config, **PROTOCOLS[request.param], "replication.factor": 1, **more}
        made.append(Application(name, bootstrap, tmp_path / f"{len(made)}", settings))
        return made[-1]

    yield start
    for each in made:
        each.kill()


def test_each_word_is_counted_once_though_an_instance_is_killed(
    bootstrap: str, start: Start
) -> None:
    text, counted = Text(bootstrap), Output(bootstrap, "counted")
    text.write()
    first, second = (start("WordCount", WORD_COUNT) for _ in range(2))
    first.await_running()
    second.await_running()
    text.write()
    counted.read(text.counts.total())
    text.write()
    first.kill()
    text.write()
    third = start("WordCount", WORD_COUNT)
    third.await_running()
    text.write()
    counted.read(text.counts.total())
    for each in (second, third):
        each.close()
    counted.close()
    assert counted.counts() == text.counted_once()


def test_each_order_is_joined_once_though_an_instance_is_killed(
    bootstrap: str, start: Start
) -> None:
    shop, paid = Shop(bootstrap), Output(bootstrap, "paid")
    shop.write()
    first, second = (start("Orders", ORDERS) for _ in range(2))
    first.await_running()
    second.await_running()
    paid.read(shop.paid_once().total())
    shop.write()
    first.kill()
    shop.write()
    paid.read(shop.paid_once().total())
    second.close()
    paid.close()
    assert Counter(paid.found) == shop.paid_once()


def test_counts_are_found_at_the_instance_that_has_them(bootstrap: str, start: Start) -> None:
    shop = Shop(bootstrap)
    shop.write()
    servers = ("first.example:80", "second.example:81")
    instances = {
        server: start("Orders", ORDERS, **{"application.server": server}) for server in servers
    }
    for each in instances.values():
        each.await_running()
    _await_counts(instances, shop.counts())
    for each in instances.values():
        _await_hosts(each, servers)
        for customer in CUSTOMERS:
            _await_places(each, customer, servers)
    gone, left = servers
    instances.pop(gone).kill()
    _await_counts(instances, shop.counts())
    assert {_found(instances[left], customer)[0] for customer in CUSTOMERS} == {left}
    shop.write()
    _await_counts(instances, shop.counts())
    instances[left].close()


def _await_hosts(instance: Application, servers: tuple[str, ...]) -> None:
    """Wait until an instance knows all."""

    def are_known() -> bool:
        return instance.ask("hosts")[1:] == [*servers]

    wait_until(are_known, f"{servers} are known: {instance.said}", ENOUGH_S)


def _found(instance: Application, customer: str) -> tuple[str, str]:
    """Where the customer's count is kept, and where there is a standby of it."""
    _, _, active, standbys = instance.ask("find", customer)
    return active, standbys


def _await_places(instance: Application, customer: str, servers: tuple[str, ...]) -> None:
    """Wait until an instance knows one of the two as the active one, the other as the standby."""

    def are_known() -> bool:
        return sorted(_found(instance, customer)) == [*servers]

    wait_until(are_known, f"{customer} at both: {instance.said}", ENOUGH_S)


def _await_counts(instances: dict[str, Application], counts: Counter[str]) -> None:
    """Wait until every count is found where the instances say that it is, and nowhere else."""

    def are_right() -> bool:
        for customer, count in counts.items():
            places = {_found(each, customer)[0] for each in instances.values()}
            if len(places) != 1 or not places <= instances.keys():
                return False
            for server, each in instances.items():
                expected = str(count) if server in places else "null"
                if each.ask("get", customer) != ["count", customer, expected]:
                    return False
        return True

    said = {server: each.said[-5:] for server, each in instances.items()}
    wait_until(are_right, f"the counts are {counts}: {said}", ENOUGH_S)
