"""Rules as stock clients meet them: what each recovers from, it recovers from."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from odradek import Emulator, Error, RuleView
from odradek.compat import Client, NewRecord
from odradek.storage import MemoryDisk

pytestmark = [pytest.mark.client]

SOON = {"group.initial.rebalance.delay.ms": 0}
ESPRESSO = NewRecord(b"espresso")


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(SOON, disk=MemoryDisk(), topics={"orders": 1}) as kafka:
        kafka.timeout = 60
        yield kafka


def produce(client: Client, kafka: Emulator, **more: Any) -> None:
    client.produce(kafka.bootstrap_servers, "orders", [ESPRESSO], **more)


def read(client: Client, kafka: Emulator) -> list[bytes | None]:
    found = client.consume(kafka.bootstrap_servers, "orders", group="billing", count=1)
    return [record.value for record in found]


# Said of a beginning; the request is tried again.
PASSING: dict[str, Callable[[Emulator], RuleView]] = {
    "not the leader": lambda k: k.on("Produce").once().fail(Error.NOT_LEADER_OR_FOLLOWER),
    "too few replicas": lambda k: k.on("Produce").once().fail(Error.NOT_ENOUGH_REPLICAS),
    "not sent": lambda k: k.on("Produce").once().disconnect(),
    "late": lambda k: k.on("Produce").once().delay(0.2),
    "throttled": lambda k: k.on("Produce").once().throttle(50),
    "no metadata yet": lambda k: (
        k.on("Metadata", topic="orders").once().fail(Error.LEADER_NOT_AVAILABLE)
    ),
    "cut": lambda k: k.on("Metadata", topic="orders").once().truncate_reply(20),
}


@pytest.mark.parametrize("what", PASSING)
def test_a_producer_gets_over(client: Client, kafka: Emulator, what: str) -> None:
    rule = PASSING[what](kafka)
    produce(client, kafka)
    assert kafka.topic("orders").values() == [b"espresso"]
    assert rule.hits == 1


def test_an_older_broker(client: Client, kafka: Emulator) -> None:
    """Clients that ask in a newer version than v0 ask again; aiokafka asks in v0."""
    newer = kafka.on("ApiVersions", version=range(1, 9)).once().optional()
    rule = newer.fail(Error.UNSUPPORTED_VERSION)
    produce(client, kafka)
    assert kafka.topic("orders").values() == [b"espresso"]
    assert rule.hits == (client.name != "aiokafka")


def test_a_lost_acknowledgement_does_not_duplicate(client: Client, kafka: Emulator) -> None:
    lost = kafka.on("Produce", topic="orders").once().disconnect("after")
    produce(client, kafka, idempotent=True)
    assert kafka.topic("orders").values() == [b"espresso"]
    assert lost.hits == 1


READING: dict[str, Callable[[Emulator], RuleView]] = {
    "not the leader": lambda k: (
        k.on("Fetch", topic="orders").once().fail(Error.NOT_LEADER_OR_FOLLOWER)
    ),
    "no session": lambda k: k.on("Fetch").once().fail(Error.FETCH_SESSION_ID_NOT_FOUND),
    "cut off": lambda k: k.on("Fetch").once().disconnect("after"),
    "coordinator loads": lambda k: (
        k.on("FindCoordinator", group="billing").once().fail(Error.COORDINATOR_NOT_AVAILABLE)
    ),
    "join again": lambda k: (
        k.on("JoinGroup", group="billing").once().fail(Error.COORDINATOR_LOAD_IN_PROGRESS)
    ),
    "sync again": lambda k: (
        k.on("SyncGroup", group="billing").once().fail(Error.REBALANCE_IN_PROGRESS)
    ),
    "offsets not yet": lambda k: (
        k.on("OffsetFetch", group="billing").once().fail(Error.COORDINATOR_LOAD_IN_PROGRESS)
    ),
    "late": lambda k: k.on("Fetch").once().delay(0.2, "after"),
}


@pytest.mark.parametrize("what", READING)
def test_a_consumer_gets_over(client: Client, kafka: Emulator, what: str) -> None:
    kafka.topic("orders").produce("espresso")
    rule = READING[what](kafka)
    assert read(client, kafka) == [b"espresso"]
    assert rule.hits == 1


def test_a_gate(client: Client, kafka: Emulator) -> None:
    gate = kafka.on("Produce", topic="orders").hold()
    thread = threading.Thread(target=produce, args=(client, kafka))
    thread.start()
    gate.wait_hit()
    assert kafka.topic("orders").values() == []
    gate.release()
    thread.join(60)
    assert kafka.topic("orders").values() == [b"espresso"]
