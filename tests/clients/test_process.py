"""Stock clients over a broker that dies and comes back at its address."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from odradek import Emulator
from odradek.compat import Client, NewRecord
from odradek.compat.clients import wait_until
from odradek.compat.clients.verbs import Consumer

pytestmark = [pytest.mark.client]


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(topics={"orders": 1}) as kafka:
        yield kafka


def killed(kafka: Emulator) -> None:
    kafka.kill()
    time.sleep(0.2)  # so that it finds nobody there
    kafka.restart()


def restarted(kafka: Emulator) -> None:
    kafka.restart()


@pytest.mark.parametrize("happens", [killed, restarted])
def test_a_consumer_goes_on_behind_what_it_has_read(
    kafka: Emulator, client: Client, happens: Callable[[Emulator], None]
) -> None:
    orders = kafka.topic("orders")
    found: list[bytes | None] = []

    def reads(consumer: Consumer, count: int) -> bool:
        found.extend(record.value for record in consumer.poll(client.poll_s))
        return len(found) >= count

    with client.consumer(kafka.bootstrap_servers, "orders") as consumer:
        orders.produce(b"before")
        wait_until(lambda: reads(consumer, 1), "it has read")
        happens(kafka)
        orders.produce(b"after")
        wait_until(lambda: reads(consumer, 2), "it has come back")
    assert found == [b"before", b"after"]


def test_a_producer_whose_broker_is_away_delivers_when_it_is_back(kafka: Emulator) -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "enable.idempotence": True,
            "log_level": 0,
            "linger.ms": 0,
        }
    )
    sent = [b"%d" % number for number in range(6)]
    for number, value in enumerate(sent):
        producer.produce("orders", value)
        if number in (1, 3):
            producer.flush(0.05)
            kafka.restart(clean=False)
    assert producer.flush(30) == 0
    assert kafka.topic("orders").values() == sent


def test_new_clients_of_each_kind_produce_after_a_crash(kafka: Emulator, client: Client) -> None:
    kafka.crash(power=True, seed=1)
    kafka.restart()
    client.produce(kafka.bootstrap_servers, "orders", [NewRecord(b"x")])
    assert kafka.topic("orders").values() == [b"x"]
