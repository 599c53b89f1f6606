"""Kafka's server.properties: the format, and what each config means here."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek.compat.cli.serving.apply import DEFAULT_PORT
from odradek.compat.cli.serving.properties import parse, read_properties
from odradek.compat.cli.serving.settings import Settings, SettingsError
from odradek.compat.cli.serving.start import emulator_of, merged, wrong_with
from odradek.emulator.config.configs import BrokerConfig

from tests.support.serve_options import serve_options


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
    assert found.ignored["listener.name.controller.ssl.keystore.location"] == "/x"
    assert BrokerConfig(found.configs).get("sasl.enabled.mechanisms") == ["PLAIN"]


def test_one_that_clients_log_in_to_is_a_config_too(tmp_path: Path) -> None:
    found = read(tmp_path, "listeners=SASL_PLAINTEXT://:9092")
    assert (found.options, found.configs) == ({}, {"listeners": "SASL_PLAINTEXT://:9092"})


def test_what_only_such_listeners_need_is_named_where_there_are_none(tmp_path: Path) -> None:
    found = read(tmp_path, "listeners=PLAINTEXT://:9092\nsasl.enabled.mechanisms=PLAIN")
    assert found.not_obeyed == {"sasl.enabled.mechanisms": "the listener speaks plain text"}


def test_a_listener_of_plain_text_may_limit_its_connections(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "listeners=CLIENTS://:9092\nlistener.security.protocol.map=CLIENTS:PLAINTEXT\n"
        "listener.name.clients.max.connection.creation.rate=5\n"
        "listener.name.clients.ssl.client.auth=none\nlistener.name.other.max.connections=4",
    )
    assert found.configs == {"max.connection.creation.rate": "5"}
    assert found.not_obeyed == {
        "listener.name.clients.ssl.client.auth": "the listener speaks plain text",
        "listener.name.other.max.connections": "there is no listener OTHER",
    }


BEGINNING = """
node.id=1
controller.listener.names=CONTROLLER
controller.quorum.voters=1@kafka:9093
"""
JAAS = "org.apache.kafka.common.security.plain.PlainLoginModule required"
AS_OTHERS_HAVE_THEM = {
    "combined": """
process.roles=broker,controller
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:0,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,\
SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
num.recovery.threads.per.data.dir=2
""",
    "only a controller": """
process.roles=controller
listeners=CONTROLLER://:9093
advertised.listeners=CONTROLLER://localhost:9093
""",
    "zookeeper": """
broker.id=0
zookeeper.connect=localhost:2181
zookeeper.connection.timeout.ms=18000
zookeeper.set.acl=true
authorizer.class.name=kafka.security.authorizer.AclAuthorizer
super.users=User:ANONYMOUS
""",
    "advertised without a host": """
listeners=PLAINTEXT://:0,CONTROLLER://:9093
advertised.listeners=PLAINTEXT://:9092
segment.bytes=26214400
""",
    "two advertised without a host": """
listeners=PLAINTEXT://:0,OTHER://:0,CONTROLLER://:9093
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT,CONTROLLER:PLAINTEXT
advertised.listeners=PLAINTEXT://:9092,OTHER://localhost:9094
""",
    "of three nodes": """
listeners=PLAINTEXT://0.0.0.0:0,EXTERNAL://0.0.0.0:0,CONTROLLER://0.0.0.0:9093
advertised.listeners=PLAINTEXT://kafka-1:29092,EXTERNAL://localhost:9092
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
default.replication.factor=3
min.insync.replicas=2
offsets.topic.replication.factor=3
""",
    "of a vendor": """
listeners=PLAINTEXT://0.0.0.0:0,PLAINTEXT_HOST://0.0.0.0:0
advertised.listeners=PLAINTEXT://broker:29092,PLAINTEXT_HOST://localhost:9092
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,PLAINTEXT_HOST:PLAINTEXT
metric.reporters=io.confluent.metrics.reporter.ConfluentMetricsReporter
confluent.metrics.reporter.bootstrap.servers=broker:29092
confluent.license.topic.replication.factor=1
jmx.port=9101
""",
    "with a log-in at one of two": f"""
listeners=CLIENT://127.0.0.1:0,ADMIN://127.0.0.1:0,CONTROLLER://127.0.0.1:9093
listener.security.protocol.map=CLIENT:PLAINTEXT,ADMIN:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=ADMIN
sasl.enabled.mechanisms=PLAIN
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.admin.plain.sasl.jaas.config={JAAS} username="a" password="b" user_a="b";
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:a
allow.everyone.if.no.acl.found=true
""",
    "of listeners that are not there": f"""
listeners=CLIENT://127.0.0.1:0,ADMIN://127.0.0.1:0
listener.security.protocol.map=CLIENT:PLAINTEXT,ADMIN:SASL_PLAINTEXT,SECURE:SASL_SSL
inter.broker.listener.name=ADMIN
sasl.enabled.mechanisms=PLAIN
listener.name.admin.plain.sasl.jaas.config={JAAS} user_a="b";
listener.name.sasl.plaintext.plain.sasl.jaas.config={JAAS} user_a="b";
listener.name.secure.ssl.keystore.location=/none/kafka.jks
listener.name.secure.no.such=1
""",
}


@pytest.mark.parametrize("text", AS_OTHERS_HAVE_THEM.values(), ids=list(AS_OTHERS_HAVE_THEM))
def test_files_of_others_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Those of Kafka's distribution, and what images make of public compose files."""
    (tmp_path / "server.properties").write_text(BEGINNING + text)
    given = ["--no-file", "--properties", "server.properties", "--data-dir", str(tmp_path / "d")]
    found = serve_options(monkeypatch, tmp_path, *given)
    if found.port == DEFAULT_PORT:
        found.port = 0
    settings = merged(found.settings, found)
    assert wrong_with(found, settings) == []
    with emulator_of(found, settings) as kafka:
        assert kafka.run(lambda cluster: len(cluster.nodes)) == 1


def test_an_address_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as raised:
        read(tmp_path, "listeners=9092")
    said = "listeners: '9092' is not of the form NAME://HOST:PORT"
    assert str(raised.value) == f"{tmp_path / 'server.properties'}: {said}"


def test_the_address_of_old_releases(tmp_path: Path) -> None:
    """Up to 2.8 a file may have `port` and `host.name`; `listeners` comes first."""
    path = tmp_path / "server.properties"
    path.write_text("broker.id=0\nport=9095\nhost.name=127.0.0.1\nadvertised.port=9096\n")
    found = read_properties(path)
    assert (found.options["host"], found.options["port"]) == ("127.0.0.1", 9095)
    assert found.options["advertised"] == "127.0.0.1:9096"
    assert not found.not_obeyed
    path.write_text("port=9095\nlisteners=PLAINTEXT://:9097\nquota.producer.default=5\n")
    found = read_properties(path)
    assert (found.options["port"], "advertised" in found.options) == (9097, False)
    assert found.not_obeyed == {"port": "listeners says where to listen"}
    assert found.configs["quota.producer.default"] == "5"
