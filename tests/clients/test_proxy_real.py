"""A proxy in front of a real Apache Kafka: stock clients do everything through it, and see it in
place of the broker; what passed is a journal that can be replayed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek.compat import Client, RealKafka, scenarios
from odradek.compat import client as client_named
from odradek.compat.commands import main
from odradek.emulator import Emulator, Proxy

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
