"""A proxy in front of a real Apache Kafka: stock clients do everything through it, and see it in
place of the broker; what passed is a journal that can be replayed."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from odradek import Emulator, Proxy
from odradek.compat import Client, NewRecord, RealKafka, scenarios
from odradek.compat import client as client_named
from odradek.compat.clients import wait_until
from odradek.compat.clients.verbs import Consumer
from odradek.compat.commands import main

from tests.requests.offsets import look_up
from tests.requests.produce import batch, produce
from tests.support.connection import BrokerAt, Connection

pytestmark = [pytest.mark.real, pytest.mark.client]
# Members of groups of the new protocol hear of a change by their heartbeat; 5 s is the default.
SOON = {
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.heartbeat.interval.ms": "500",
}
NOT_READY = {
    "CONCURRENT_TRANSACTIONS",
    "COORDINATOR_LOAD_IN_PROGRESS",
    "COORDINATOR_NOT_AVAILABLE",
    "LEADER_NOT_AVAILABLE",
    "NOT_COORDINATOR",
    "UNKNOWN_TOPIC_OR_PARTITION",
}


@pytest.fixture(scope="module")
def real() -> Iterator[RealKafka]:
    with RealKafka(config=SOON) as kafka:
        yield kafka


@pytest.fixture(scope="module")
def proxy(real: RealKafka) -> Iterator[Proxy]:
    with Proxy(real.bootstrap_servers, journal=True) as proxy:
        yield proxy


@pytest.mark.parametrize("scenario", scenarios.SCENARIOS)
def test_a_stock_client_through_the_proxy(client: Client, proxy: Proxy, scenario: str) -> None:
    proxy.journal.clear()
    scenarios.run(scenario, client, proxy.bootstrap_servers)
    passed = proxy.journal.all()
    assert {each.connection.broker.port for each in passed} == {
        int(proxy.bootstrap_servers.rsplit(":", 1)[1])
    }
    undecoded = [each for each in passed if each.request is None]
    assert undecoded == []
    assert len(passed.of("ApiVersions")) > 0


def test_what_passed_is_replayed_against_an_emulator_and_a_real_kafka(
    proxy: Proxy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Answers differ where one of the brokers was not ready yet, and nowhere else."""
    proxy.journal.clear()
    for name in ("produces_idempotently", "keeps_transactions_apart"):
        scenarios.run(name, client_named("confluent-kafka"), proxy.bootstrap_servers)
    path = proxy.journal.save(tmp_path / "field.pcapng")
    topics = {name for each in proxy.journal.of("Produce") for name in each.topics}
    ends = {name: end_of(proxy.bootstrap_servers, name) for name in topics}
    with Emulator() as kafka:
        assert differences(path, kafka.bootstrap_servers, capsys) <= NOT_READY
        assert {name: end_of(kafka.bootstrap_servers, name) for name in topics} == ends
    with RealKafka(config=SOON) as other:
        assert differences(path, other.bootstrap_servers, capsys) <= NOT_READY
        assert {name: end_of(other.bootstrap_servers, name) for name in topics} == ends


def differences(path: Path, address: str, capsys: pytest.CaptureFixture[str]) -> set[str]:
    """The errors in answers of one of the two brokers, and not in those of the other."""
    capsys.readouterr()
    status = main(["replay", str(path), "--to", address, "--speed", "max"])
    found = set(re.findall(r"[A-Z]+(?:_[A-Z]+)+", capsys.readouterr()[0]))
    assert status == bool(found)
    return found


def end_of(address: str, topic: str) -> int:
    """Where partition 0 of a topic ends, for all that is in it."""
    return look_up(BrokerAt(address), -1, topic=topic).offset


def test_the_timeline_of_a_real_kafka(proxy: Proxy) -> None:
    with Connection(proxy.bootstrap_servers) as client:
        produce(client, batch(b"x"), topic="none")
    assert "by hand was refused Produce (none-0): UNKNOWN_TOPIC_OR_PARTITION" in proxy.timeline()


@pytest.mark.parametrize("idempotent", [True, False], ids=["idempotent", "not idempotent"])
def test_an_acknowledgement_that_is_lost_on_the_way(
    client: Client, real: RealKafka, proxy: Proxy, idempotent: bool
) -> None:
    """The record is there, and the client sends it again: a real Kafka drops it the second time,
    if the producer is idempotent."""
    topic = f"lost-{client.name}-{idempotent}"
    client.create_topic(real.bootstrap_servers, topic)
    with proxy.on("Produce", topic=topic).once().disconnect("after"):
        client.produce(proxy.bootstrap_servers, topic, [NewRecord(b"x")], idempotent=idempotent)
    assert end_of(real.bootstrap_servers, topic) == (1 if idempotent else 2)


def confluent(address: str, topic: str, *, idempotent: bool) -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    settings = {
        "bootstrap.servers": address,
        "enable.idempotence": idempotent,
        "socket.timeout.ms": 500,
        "log_level": 0,
    }
    producer = confluent_kafka.Producer(settings)
    producer.produce(topic, b"x")
    assert producer.flush(30) == 0


def aiokafka(address: str, topic: str, *, idempotent: bool) -> None:
    aio = pytest.importorskip("aiokafka")

    async def main() -> None:
        producer = aio.AIOKafkaProducer(
            bootstrap_servers=address, enable_idempotence=idempotent, request_timeout_ms=2000
        )
        async with producer:
            await producer.send_and_wait(topic, b"x")

    asyncio.run(main())


@pytest.mark.parametrize(
    ("send", "idempotent"), [(confluent, True), (confluent, False), (aiokafka, True)]
)
def test_an_acknowledgement_that_never_comes(
    real: RealKafka,
    proxy: Proxy,
    any_client: Client,
    send: Callable[..., None],
    idempotent: bool,
) -> None:
    """As above, where the client finds out by its own time for a request. (In this time aiokafka
    gives up what is not idempotent.)"""
    topic = f"silent-{send.__name__}-{idempotent}"
    any_client.create_topic(real.bootstrap_servers, topic)
    with proxy.on("Produce", topic=topic).once().drop_reply():
        send(proxy.bootstrap_servers, topic, idempotent=idempotent)
    assert end_of(real.bootstrap_servers, topic) == (1 if idempotent else 2)


def test_a_client_that_is_cut_off_from_a_real_kafka_goes_on_when_it_is_healed(
    client: Client, real: RealKafka, proxy: Proxy
) -> None:
    topic = f"cut-{client.name}"
    client.create_topic(real.bootstrap_servers, topic)
    client.produce(real.bootstrap_servers, topic, [NewRecord(b"before")])
    with client.consumer(proxy.bootstrap_servers, topic, group=topic) as consumer:
        assert reads(client, consumer) == [b"before"]
        with proxy.cut_off() as cut:
            client.produce(real.bootstrap_servers, topic, [NewRecord(b"meanwhile")])
            end = time.monotonic() + 1
            while time.monotonic() < end:
                assert consumer.poll(0.1) == []
            assert cut.hits
        assert reads(client, consumer) == [b"meanwhile"]


def reads(client: Client, consumer: Consumer) -> list[bytes | None]:
    found: list[bytes | None] = []

    def has_read() -> bool:
        found.extend(record.value for record in consumer.poll(client.poll_s))
        return bool(found)

    wait_until(has_read, "it has read")
    return found


def test_a_network_that_is_slow_and_passes_on_little_at_a_time(
    client: Client, real: RealKafka, proxy: Proxy
) -> None:
    topic = f"slow-{client.name}"
    client.create_topic(real.bootstrap_servers, topic)
    network = proxy.network
    with network.latency(0.05, stream="both") as slow, network.dribble(500) as little:
        client.produce(proxy.bootstrap_servers, topic, [NewRecord(b"x")], idempotent=True)
    assert slow.hits
    assert little.hits
    assert end_of(real.bootstrap_servers, topic) == 1
