"""Share groups with stock clients: Kafka's Java KafkaShareConsumer and confluent-kafka's."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import confluent_kafka
import pytest
from odradek import Emulator
from odradek.compat import NewRecord, RealKafka
from odradek.compat import client as client_named
from odradek.compat.real_kafka import VERSION

from tests.clients.share.share_client import Got, ShareClients
from tests.clients.share.work import Work
from tests.clients.support.rows import ACKNOWLEDGES, SHARES
from tests.clients.support.wanted import WANT_REAL

pytestmark = [pytest.mark.client, pytest.mark.slow]

_ENOUGH_S = 60.0
_EXPLICIT = {"share.acknowledgement.mode": "explicit"}


@pytest.fixture(scope="module", params=["odradek", pytest.param("real", marks=pytest.mark.real)])
def bootstrap(request: pytest.FixtureRequest) -> Iterator[str]:
    """The emulator, and Apache Kafka where it is wanted."""
    if request.param == "real" and not WANT_REAL:
        pytest.skip("ODRADEK_REAL is not set")
    with ExitStack() as stack:
        broker: Any = Emulator() if request.param == "odradek" else RealKafka()
        yield stack.enter_context(broker).bootstrap_servers


@pytest.fixture(scope="module")
def java() -> Iterator[ShareClients]:
    with ShareClients(VERSION) as clients:
        yield clients


def _values(got: list[Got]) -> list[str]:
    return sorted((each.value for each in got), key=int)


def test_java_accepts_what_it_has_got_with_the_next_poll(
    bootstrap: str, java: ShareClients, seen_by: Any
) -> None:
    seen_by("java", VERSION, SHARES)
    work = Work(bootstrap, partitions=2)
    first = java.consumer(*work.names)
    assert _values(first.get(10)) == work.values
    assert set(first.commit()) <= {"0", "1"}
    first.close()
    second = java.consumer(*work.names)
    assert second.poll() == [], "all was accepted"
    client_named("confluent-kafka").produce(bootstrap, work.topic, [NewRecord(b"99")], partition=1)
    assert _values(second.get(1)) == ["99"]
    second.close()


def test_java_acknowledges_one_by_one(bootstrap: str, java: ShareClients, seen_by: Any) -> None:
    seen_by("java", VERSION, ACKNOWLEDGES)
    work = Work(bootstrap, values=4)
    consumer = java.consumer(*work.names, _EXPLICIT)
    got = consumer.get(4)
    assert {each.delivery for each in got} == {1}
    for each, kind in zip(got, ["ACCEPT", "RELEASE", "REJECT", "RELEASE"], strict=True):
        consumer.acknowledge(each, kind)
    assert consumer.commit() == {"0": None}
    again = consumer.get(2)
    assert [(each.value, each.delivery) for each in again] == [("1", 2), ("3", 2)]
    for each in again:
        consumer.acknowledge(each, "ACCEPT")
    assert consumer.commit() == {"0": None}
    consumer.close()
    other = java.consumer(*work.names)
    assert other.poll() == []
    other.close()


def test_what_a_java_consumer_has_got_is_another_s_when_it_leaves(
    bootstrap: str, java: ShareClients
) -> None:
    work = Work(bootstrap, values=3)
    first = java.consumer(*work.names, _EXPLICIT)
    got = first.get(3)
    first.acknowledge(got[0], "ACCEPT")
    for each in got[1:]:
        first.acknowledge(each, "RENEW")
    assert first.commit() == {"0": None}
    first.close()
    second = java.consumer(*work.names, _EXPLICIT)
    again = second.get(2)
    assert [(each.value, each.delivery) for each in again] == [("1", 2), ("2", 2)]
    second.close()


def test_confluent_gets_and_accepts(bootstrap: str, seen_by: Any) -> None:
    client = client_named("confluent-kafka")
    seen_by(client.name, client.version, SHARES)
    work = Work(bootstrap, values=20, partitions=2)
    config: dict[str, Any] = {"bootstrap.servers": bootstrap, "group.id": work.group}
    consumer = confluent_kafka.ShareConsumer(config)
    try:
        consumer.subscribe([work.topic])
        found: list[str] = []
        end = time.monotonic() + _ENOUGH_S
        while len(found) < len(work.values):
            found += [message.value().decode() for message in consumer.poll(0.5)]
            assert time.monotonic() < end, found
        assert sorted(found, key=int) == work.values
    finally:
        consumer.close()
