"""Stock clients that are told their rack read from the replica that is there (KIP-392)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from odradek.compat import Client
from odradek.compat.clients import Consumer, wait_until

from tests.clients.support.ground import Emulated

pytestmark = pytest.mark.client

LEADER, OWN = 1, 3


def _confluent(bootstrap: str, topic: str) -> Consumer:
    from odradek.compat.clients.confluent_client import ConfluentConsumer

    options = {"bootstrap.servers": bootstrap, "group.id": topic, "client.rack": "c"}
    return ConfluentConsumer(topic, topic, {**options, "auto.offset.reset": "earliest"})


def _java(bootstrap: str, topic: str) -> Consumer:
    from odradek.compat.clients.java_client import JavaConsumer

    config = {"bootstrap.servers": bootstrap, "group.id": topic, "client.rack": "c"}
    return JavaConsumer(topic, {**config, "auto.offset.reset": "earliest"}, None)


def _kafka_python(bootstrap: str, topic: str) -> Consumer:
    from odradek.compat.clients.kafka_python_client import KafkaPythonConsumer

    return KafkaPythonConsumer(
        bootstrap, topic, group_id=topic, client_rack="c", auto_offset_reset="earliest"
    )


def _aiokafka(bootstrap: str, topic: str) -> Consumer:
    from odradek.compat.clients.aiokafka_client import AiokafkaConsumer

    return AiokafkaConsumer(
        bootstrap, topic, group_id=topic, client_rack="c", auto_offset_reset="earliest"
    )


IN_RACK: dict[str, Callable[[str, str], Consumer]] = {
    "aiokafka": _aiokafka,
    "confluent-kafka": _confluent,
    "java": _java,
    "kafka-python": _kafka_python,
}


@pytest.fixture
def ground() -> Iterator[Emulated]:
    with Emulated() as ground:
        yield ground


def test_records_come_from_the_own_rack_and_from_the_leader_when_it_is_down(
    client: Client, ground: Emulated
) -> None:
    ground.create("racks", (LEADER, 2, OWN))
    journal = ground.kafka.journal
    journal.start()
    with IN_RACK[client.name](ground.bootstrap_servers, "racks") as consumer:

        def read(value: bytes) -> set[int]:
            """Write it, and read it: who has given it."""
            ground.kafka.topic("racks").produce(value)
            found: list[bytes | None] = []

            def has_come() -> bool:
                found.extend(each.value for each in consumer.poll(client.poll_s))
                return value in found

            wait_until(has_come, f"{value!r} is read")
            fetches = journal.of("Fetch")
            return {
                each.connection.node_id for each in fetches if value in (each.response_frame or b"")
            }

        read(b"first")
        assert read(b"second") == {OWN}
        ground.do("stop", OWN)
        assert read(b"third") <= {LEADER, 2}
