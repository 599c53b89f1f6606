"""Settings that make stock clients quick: each client takes them, and names are checked."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest
from odradek.emulator import Emulator
from odradek.emulator.facets.client_config import KINDS

LONG_S = 30.0


def test_they_are_for_a_client_and_for_a_kind() -> None:
    with Emulator() as kafka:
        config = kafka.client_config("confluent", "consumer")
        assert config["bootstrap.servers"] == kafka.bootstrap_servers
        assert config["heartbeat.interval.ms"] == 100
        assert "linger.ms" not in config
        common = kafka.client_config("confluent")
        assert common.items() <= config.items()
        assert common == kafka.client_config("confluent", "admin")
        common["bootstrap.servers"] = "mine"  # a dict of one's own
        assert kafka.client_config("confluent")["bootstrap.servers"] == kafka.bootstrap_servers
        assert kafka.client_config("aiokafka")["bootstrap_servers"] == kafka.bootstrap_servers


def test_others_are_refused_by_name() -> None:
    with Emulator() as kafka:
        with pytest.raises(ValueError, match="client is one of aiokafka, confluent, java, k"):
            kafka.client_config("pykafka")
        with pytest.raises(ValueError, match="kind is one of consumer, producer, admin, not"):
            kafka.client_config("java", "streams")


def test_a_certificate_is_one_of_those_that_were_made() -> None:
    with Emulator(security="SSL") as kafka:
        pem: Any = kafka.certificates.client("alice").key
        with pytest.raises(TypeError, match=r"certificate is one of kafka\.") as refused:
            kafka.client_config("confluent", certificate=pem)
        assert pem not in str(refused.value)
        with pytest.raises(TypeError, match="user is a str, not None"):
            kafka.unsecured_token(None)  # type: ignore[arg-type]


def test_librdkafka_takes_them_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    kafka_of = pytest.importorskip("confluent_kafka")
    admin = pytest.importorskip("confluent_kafka.admin")
    with Emulator(topics={"t": 1}) as kafka:
        config = partial(kafka.client_config, "confluent")
        producer = kafka_of.Producer(config("producer"))
        producer.produce("t", b"x")
        assert producer.flush(LONG_S) == 0
        more = {"group.id": "g", "auto.offset.reset": "earliest"}
        consumer = kafka_of.Consumer({**config("consumer"), **more})
        consumer.subscribe(["t"])
        assert consumer.consume(1, LONG_S)[0].value() == b"x"
        consumer.close()
        assert "t" in admin.AdminClient(config("admin")).list_topics(timeout=LONG_S).topics
    assert "CONFWARN" not in capfd.readouterr().err


@pytest.mark.parametrize("kind", KINDS)
def test_kafka_python_takes_them(kind: str) -> None:
    kafka_python = pytest.importorskip("kafka")
    make = getattr(kafka_python, f"Kafka{kind.capitalize()}" + "Client" * (kind == "admin"))
    with Emulator() as kafka:
        client = make(**kafka.client_config("kafka-python", kind))
        client.close()


@pytest.mark.parametrize("kind", KINDS)
def test_aiokafka_takes_them(kind: str) -> None:
    aiokafka = pytest.importorskip("aiokafka")
    admin = pytest.importorskip("aiokafka.admin")
    kinds = {
        "admin": admin.AIOKafkaAdminClient,
        "consumer": aiokafka.AIOKafkaConsumer,
        "producer": aiokafka.AIOKafkaProducer,
    }

    async def come_and_go(config: dict[str, Any]) -> None:
        topic = ["t"] * (kind == "consumer")
        client = kinds[kind](*topic, **config)
        await client.start()
        await (client.close() if kind == "admin" else client.stop())

    with Emulator(topics={"t": 1}) as kafka:
        asyncio.run(come_and_go(kafka.client_config("aiokafka", kind)))


@pytest.mark.real
@pytest.mark.parametrize("kind", KINDS)
def test_the_java_client_takes_them(kind: str) -> None:
    from odradek.compat.clients.java_client import java_clients

    with Emulator() as kafka:
        client = getattr(java_clients(), kind)(
            {**kafka.client_config("java", kind), "group.id": "g"}
        )
        client.close()


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("confluent-kafka", "confluent"),
        ("confluent_kafka", "confluent"),
        ("Confluent", "confluent"),
        ("kafka_python", "kafka-python"),
        ("kafka", "kafka-python"),
        ("rdkafka", "librdkafka"),
        ("pyspark", "spark"),
    ],
)
def test_a_client_goes_by_the_name_of_its_package_too(said: str, meant: str) -> None:
    with Emulator() as kafka:
        assert kafka.client_config(said) == kafka.client_config(meant)
        assert kafka.client_config(said, "consumer") == kafka.client_config(meant, "consumer")
