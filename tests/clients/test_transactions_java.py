"""Exactly once with Kafka's own Java client, in both generations of the protocol of transactions
and both protocols of groups: commits, aborts, zombies, time, and applications that die."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat import CLIENTS, Client, NewRecord, RealKafka
from odradek.compat import client as client_named
from odradek.compat.clients.java_client import java_clients
from odradek.compat.java.client import JavaClients, JavaError, JavaThing
from odradek.compat.java.process import to_base64
from odradek.compat.real_kafka import VERSION
from odradek.wire.api.update_features import UpdateFeaturesRequest

from tests.clients.support.java_transactional_app import (
    JavaMember,
    JavaMemberOfConsumerProtocol,
    JavaTransformer,
)
from tests.clients.support.transactional_apps import Fenced
from tests.clients.support.wanted import WANT_REAL
from tests.support.connection import ask

pytestmark = [pytest.mark.client, pytest.mark.slow]

VALUES = [b"a", b"b", b"c", b"d", b"e", b"f"]
UPPER = [value.upper() for value in VALUES]
CONFIGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "200",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
}
PROTOCOLS = {"classic": JavaMember, "consumer": JavaMemberOfConsumerProtocol}
_numbers = count()


class Place:
    """A broker, and a level of transaction.version."""

    def __init__(self, bootstrap: str, level: int) -> None:
        self.bootstrap = bootstrap
        self.level = level


class Work:
    """Two topics, a group, a transactional id."""

    def __init__(self, place: Place) -> None:
        number = next(_numbers)
        self.bootstrap = place.bootstrap
        self.level = place.level
        self.source, self.target = f"source-{number}", f"target-{number}"
        self.group, self.name = f"group-{number}", f"transformer-{number}"
        java = client_named("java")
        java.create_topic(self.bootstrap, self.source)
        java.create_topic(self.bootstrap, self.target)
        java.produce(self.bootstrap, self.source, [NewRecord(v) for v in VALUES], partition=0)

    @property
    def arguments(self) -> tuple[str, str, str, str, str]:
        return self.bootstrap, self.name, self.group, self.source, self.target

    def read(self, client: Client, isolation: Any = "read_committed") -> list[bytes | None]:
        """What a client reads of the target once nothing is open."""
        found = client.consume(self.bootstrap, self.target, isolation=isolation)
        return [record.value for record in found]

    def producer(self, **more: Any) -> JavaThing:
        """A producer of the transactional id that does no more than it is told."""
        config = {"bootstrap.servers": self.bootstrap, "transactional.id": self.name}
        producer = java_clients().producer({**config, **more})
        producer.do("init_transactions")
        return producer

    def send(self, producer: JavaThing, value: bytes) -> None:
        row = {"partition": 0, "key": None, "value": to_base64(value), "headers": []}
        producer.do("send", topic=self.target, records=[row])


BROKERS = [("odradek", 2), ("odradek", 1)]
REAL = [pytest.param(("real", level), marks=pytest.mark.real) for level in (2, 1) if WANT_REAL]


@pytest.fixture(
    scope="module", params=[*BROKERS, *REAL], ids=lambda param: "-TV".join(map(str, param))
)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Each broker, at each level of transaction.version."""
    kind, level = request.param
    java_clients()
    with ExitStack() as stack:
        if kind == "real":
            bootstrap = stack.enter_context(RealKafka(config=CONFIGS)).bootstrap_servers
            update = UpdateFeaturesRequest.FeatureUpdate(
                feature="transaction.version", max_version_level=level, upgrade_type=2
            )
            if level != 2:
                ask(bootstrap, UpdateFeaturesRequest(feature_updates=[update]), 1)
        else:
            emulator = Emulator(CONFIGS, features={"transaction.version": level})
            bootstrap = stack.enter_context(emulator).bootstrap_servers
        yield Place(bootstrap, level)


@pytest.fixture
def work(place: Place) -> Work:
    return Work(place)


Start = Callable[..., JavaTransformer]


@pytest.fixture
def start(work: Work) -> Iterator[Start]:
    """Start instances of an application; they are closed at the end."""
    started: list[JavaTransformer] = []

    def begin(
        kind: type[JavaTransformer] = JavaTransformer, name: str | None = None
    ) -> JavaTransformer:
        bootstrap, own_name, *more = work.arguments
        started.append(kind(bootstrap, name or own_name, *more))
        return started[-1]

    yield begin
    for each in started:
        each.close()


def refused(step: Callable[..., Any], *arguments: Any, **more: Any) -> str:
    with pytest.raises(JavaError) as raised:
        step(*arguments, **more)
    return raised.value.kind


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_members_of_a_group_write_each_result_once(work: Work, start: Start, protocol: str) -> None:
    application = start(PROTOCOLS[protocol])
    for number, commit in ((2, True), (3, False), (1, True), (2, False), (3, True)):
        application.work(number)
        application.end(commit=commit)
    for name in CLIENTS:
        assert work.read(client_named(name)) == UPPER, name
    everything = [b"A", b"B", b"C", b"D", b"E", b"C", b"D", b"E", b"D", b"E", b"F"]
    assert work.read(client_named("java"), "read_uncommitted") == everything


def test_a_zombie_is_fenced(work: Work, start: Start) -> None:
    zombie = start()
    zombie.work(2)
    successor = start()
    with pytest.raises(Fenced) as raised:
        zombie.end(commit=True)
    successor.work(6)
    successor.end(commit=True)
    assert work.read(client_named("java")) == UPPER
    assert str(raised.value) == "ProducerFencedException"


def test_a_zombie_that_writes_is_fenced(work: Work) -> None:
    zombie = work.producer()
    zombie.do("begin_transaction")
    work.send(zombie, b"zombie")
    successor = work.producer()
    kinds = [refused(work.send, zombie, b"zombie"), refused(zombie.do, "commit_transaction")]
    successor.do("begin_transaction")
    work.send(successor, b"result")
    successor.do("commit_transaction")
    assert work.read(client_named("java")) == [b"result"]
    assert kinds == ["InvalidProducerEpochException"] * 2


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_member_whose_group_has_gone_on_cannot_commit(
    work: Work, start: Start, protocol: str
) -> None:
    """Two transactional ids in one group (KIP-447): the group fences, not the id."""
    zombie = start(PROTOCOLS[protocol])
    values, position = zombie.take(2)
    known = zombie.consumer.do("poll", ms=0)
    zombie.producer.do("begin_transaction")
    work.send(zombie.producer, values[0].upper())
    zombie.consumer.close()  # its partition goes over; what it was is all that its producer knows
    successor = start(PROTOCOLS[protocol], f"{work.name}-b")
    successor.work(6)
    successor.end(commit=True)
    kind = refused(
        zombie.producer.do,
        "send_offsets",
        offsets=[(work.source, 0, position)],
        group=work.group,
        generation=known["generation"],
        member=known["member"],
    )
    zombie.producer.do("abort_transaction")
    assert work.read(client_named("java")) == UPPER
    assert kind == "CommitFailedException"


def test_an_application_that_dies_is_taken_over(work: Work, start: Start) -> None:
    with JavaClients(VERSION) as doomed:
        dying = type("Dying", (JavaTransformer,), {"jvm": staticmethod(lambda: doomed)})
        dying(*work.arguments).work(3)
    successor = start()
    successor.work(6)
    successor.end(commit=True)
    assert work.read(client_named("java")) == UPPER


def test_the_broker_ends_what_takes_too_long(work: Work, start: Start) -> None:
    slow = work.producer(**{"transaction.timeout.ms": 1000})
    slow.do("begin_transaction")
    work.send(slow, b"too slow")
    # A committed reader gets to the end when nothing is open any more.
    assert work.read(client_named("java")) == []
    kind = refused(slow.do, "commit_transaction")
    quick = start()
    quick.work(6)
    quick.end(commit=True)
    assert work.read(client_named("java")) == UPPER
    # In the second generation who was fenced by time may abort, and needs no new producer.
    assert kind == ("InvalidTxnStateException" if work.level == 2 else "ProducerFencedException")
