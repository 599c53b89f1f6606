"""Kafka's server.properties: the format, and what each config means here."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek.emulator.cli.serving.properties import parse, read_properties
from odradek.emulator.cli.serving.settings import Settings, SettingsError
from odradek.emulator.config.configs import BrokerConfig


def read(directory: Path, text: str) -> Settings:
    path = directory / "server.properties"
    path.write_text(text)
    return read_properties(path)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a=b\n# c=d\n! e=f\n\n  g = h", {"a": "b", "g": "h"}),
        ("a b\nc:d\ne\n", {"a": "b", "c": "d", "e": ""}),
        ("a=b=c", {"a": "b=c"}),
        ("a=1,\\\n   2,\\\n\t3\nb=4", {"a": "1,2,3", "b": "4"}),
        ("a=C:\\\\\nb=1", {"a": "C:\\", "b": "1"}),
        ("a\\=b=\\u00e9\\t", {"a=b": "é\t"}),
        ("a=1\r\na=2", {"a": "2"}),
        ("a=1\\", {"a": "1"}),
        ("#no\\\na=1", {"a": "1"}),
    ],
)
def test_the_format_is_javas(text: str, found: dict[str, str]) -> None:
    assert parse(text) == found


IN_KRAFT = """
process.roles=broker,controller
node.id=7
controller.quorum.bootstrap.servers=localhost:9093
listeners=CLIENTS://:9192,CONTROLLER://:9093
inter.broker.listener.name=CLIENTS
advertised.listeners=CLIENTS://kafka.test:9192,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,CLIENTS:PLAINTEXT
num.network.threads=3
log.dirs=/var/kafka,/mnt/kafka
num.partitions=2
log.retention.hours=168
log.retention.hourss=1
"""


def test_a_file_as_kafka_brings_it(tmp_path: Path) -> None:
    found = read(tmp_path, IN_KRAFT)
    assert found.options == {
        "host": "0.0.0.0",
        "port": 9192,
        "advertised": "kafka.test:9192",
        "data-dir": "/var/kafka",
    }
    assert found.configs == {
        "node.id": "7",
        "num.network.threads": "3",
        "num.partitions": "2",
        "log.retention.hours": "168",
    }
    assert {
        "process.roles",
        "controller.quorum.bootstrap.servers",
        "num.network.threads",
        "log.dirs: /mnt/kafka",
        "listeners: CONTROLLER://:9093",
    } <= found.not_obeyed.keys()
    assert found.not_obeyed["num.network.threads"] == "one thread serves everything"
    assert found.not_obeyed["log.retention.hourss"] == (
        "Kafka has no such broker config; is log.retention.hours meant?"
    )


TWO_LISTENERS = """
listeners=INSIDE://:19092,OUTSIDE://127.0.0.1:19093,CONTROLLER://:9093
advertised.listeners=INSIDE://kafka.test:19092,OUTSIDE://localhost:19093,CONTROLLER://x:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=INSIDE:PLAINTEXT,OUTSIDE:SASL_PLAINTEXT,CONTROLLER:SSL
inter.broker.listener.name=INSIDE
sasl.enabled.mechanisms=PLAIN
listener.name.outside.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.\\
    PlainLoginModule required user_alice="secret";
listener.name.controller.ssl.keystore.location=/x
"""


def test_several_listeners_are_configs(tmp_path: Path) -> None:
    found = read(tmp_path, TWO_LISTENERS)
    assert found.options == {}
    assert found.configs == {
        "listeners": "INSIDE://:19092,OUTSIDE://127.0.0.1:19093",
        "advertised.listeners": "INSIDE://kafka.test:19092,OUTSIDE://localhost:19093",
        "listener.security.protocol.map": "INSIDE:PLAINTEXT,OUTSIDE:SASL_PLAINTEXT",
        "inter.broker.listener.name": "INSIDE",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.outside.plain.sasl.jaas.config": (
            'org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret";'
        ),
    }
    assert {
        "listeners: CONTROLLER://:9093",
        "controller.listener.names",
        "listener.name.controller.ssl.keystore.location",
    } == found.not_obeyed.keys()
    assert BrokerConfig(found.configs).get("sasl.enabled.mechanisms") == ["PLAIN"]


def test_one_that_clients_log_in_to_is_a_config_too(tmp_path: Path) -> None:
    found = read(tmp_path, "listeners=SASL_PLAINTEXT://:9092")
    assert (found.options, found.configs) == ({}, {"listeners": "SASL_PLAINTEXT://:9092"})


def test_what_only_such_listeners_need_is_named_where_there_are_none(tmp_path: Path) -> None:
    found = read(tmp_path, "listeners=PLAINTEXT://:9092\nsasl.enabled.mechanisms=PLAIN")
    assert found.not_obeyed == {"sasl.enabled.mechanisms": "the listener speaks plain text"}


def test_an_address_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as raised:
        read(tmp_path, "listeners=9092")
    said = "listeners: '9092' is not of the form NAME://HOST:PORT"
    assert str(raised.value) == f"{tmp_path / 'server.properties'}: {said}"
