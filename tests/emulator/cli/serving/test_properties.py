"""Kafka's server.properties: the format, and what each config means here."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek.emulator.cli.serving.properties import parse, read_properties
from odradek.emulator.cli.serving.settings import Settings, SettingsError


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
        "inter.broker.listener.name": "CLIENTS",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,CLIENTS:PLAINTEXT",
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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("listeners=SASL_SSL://:9092", "listeners: SASL_SSL://:9092: SASL_SSL is not served"),
        ("listeners=9092", "listeners: '9092' is not of the form NAME://HOST:PORT"),
    ],
)
def test_what_cannot_be_served_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SettingsError) as raised:
        read(tmp_path, text)
    assert str(raised.value) == f"{tmp_path / 'server.properties'}: {said}"
