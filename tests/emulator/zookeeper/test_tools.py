"""Kafka's own programs at our ZooKeeper: tools of 2.7 with --zookeeper, a broker, consumers of
0.8."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError
from odradek import Emulator
from odradek.compat import RealKafka
from odradek.compat.clients import wait_until
from odradek.compat.java.jars import classpath, jars, java
from odradek.compat.real_kafka import run_tool
from odradek.emulator.metadata.image import TOPIC_RESOURCE
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.support.connection import Connection

KAFKA = "2.7.2"
TOPICS, CONFIGS = "kafka.admin.TopicCommand", "kafka.admin.ConfigCommand"
MOVES = "kafka.admin.ReassignPartitionsCommand"
ELECTIONS = "kafka.admin.PreferredReplicaLeaderElectionCommand"


@pytest.fixture(scope="module")
def kafka() -> Iterator[Emulator]:
    with Emulator(version="2.7", zookeeper=True, brokers=3) as kafka:
        yield kafka


def _tool(kafka: Emulator, name: str, *arguments: str) -> str:
    done = run_tool(KAFKA, name, "--zookeeper", kafka.zookeeper_connect, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


def _configs(kafka: Emulator, topic: str) -> Mapping[str, str]:
    return kafka.run(lambda cluster: cluster.metadata.image.configs_of(TOPIC_RESOURCE, topic))


def test_topics(kafka: Emulator) -> None:
    output = _tool(
        *(kafka, TOPICS, "--create", "--topic", "made", "--partitions", "3"),
        *("--replication-factor", "2", "--config", "retention.ms=1000"),
    )
    assert "Created topic made." in output
    assert len(list(kafka.topic("made"))) == 3
    assert _configs(kafka, "made")["retention.ms"] == "1000"
    output = _tool(kafka, TOPICS, "--alter", "--topic", "made", "--partitions", "5")
    assert "Adding partitions succeeded!" in output
    output = _tool(kafka, TOPICS, "--describe", "--topic", "made")
    assert "PartitionCount: 5\tReplicationFactor: 2\tConfigs: retention.ms=1000" in output
    assert output.count("Leader: ") == 5
    _tool(kafka, TOPICS, "--delete", "--topic", "made")
    assert "made" not in kafka
    assert "made" not in _tool(kafka, TOPICS, "--list").split()


def test_configs(kafka: Emulator) -> None:
    kafka.create_topic("configured")
    topic = ("--entity-type", "topics", "--entity-name", "configured")
    _tool(kafka, CONFIGS, "--alter", *topic, "--add-config", "max.message.bytes=5000")
    assert _configs(kafka, "configured")["max.message.bytes"] == "5000"
    assert "max.message.bytes=5000" in _tool(kafka, CONFIGS, "--describe", *topic)
    user = ("--entity-type", "users", "--entity-name", "bob")
    wanted = "producer_byte_rate=1000,SCRAM-SHA-256=[iterations=4096,password=secret]"
    _tool(kafka, CONFIGS, "--alter", *user, "--add-config", wanted)
    image = kafka.run(lambda cluster: cluster.metadata.image)
    assert image.quotas[("user", "bob"),] == {"producer_byte_rate": 1000.0}
    assert [*image.scram["bob"]] == [1]
    output = _tool(kafka, CONFIGS, "--describe", *user)
    assert "producer_byte_rate=1000" in output
    assert "SCRAM-SHA-256=salt=" in output
    _tool(kafka, CONFIGS, "--alter", *user, "--delete-config", "producer_byte_rate,SCRAM-SHA-256")
    image = kafka.run(lambda cluster: cluster.metadata.image)
    assert not image.quotas
    assert not image.scram


def test_partitions_move_and_leaders_are_elected(kafka: Emulator, tmp_path: Path) -> None:
    kafka.create_topic("moved", 2, replicas=1)
    wanted = [{"topic": "moved", "partition": 0, "replicas": [3, 2]}]
    path = tmp_path / "moves.json"
    path.write_text(json.dumps({"version": 1, "partitions": wanted}))
    output = _tool(kafka, MOVES, "--reassignment-json-file", str(path), "--execute")
    assert "Successfully started partition reassignment for moved-0" in output
    output = _tool(kafka, MOVES, "--reassignment-json-file", str(path), "--verify")
    assert "Reassignment of partition moved-0 is complete." in output
    assert kafka.topic("moved")[0].replicas == [3, 2]
    assert "Successfully started preferred replica election" in _tool(kafka, ELECTIONS)
    assert kafka.topic("moved")[0].leader == 3


def _topics(address: str) -> list[str]:
    with Connection(address) as connection:
        return [each.name for each in connection.ask(MetadataRequest(topics=None), 1).topics]


def test_a_broker_keeps_its_metadata_there(kafka: Emulator) -> None:
    """Below a path of its own; it is stopped, started, and has what it had."""
    config = {
        "zookeeper.connect": f"{kafka.zookeeper_connect}/real",
        "broker.id": "7",
        "zookeeper.session.timeout.ms": "6000",
    }
    of = CreateTopicsRequest.Topic
    topic = of(name="kept", num_partitions=2, replication_factor=1, assignments=[], configs=[])
    zk = KazooClient(kafka.zookeeper_connect)
    zk.start(timeout=10)
    with RealKafka(KAFKA, config) as real:
        with Connection(real.bootstrap_servers) as connection:
            answer = connection.ask(CreateTopicsRequest(topics=[topic]), 4)
            assert [each.error_code for each in answer.topics] == [0]
        assert zk.get_children("/real/brokers/ids") == ["7"]
        assert sorted(zk.get_children("/real/brokers/topics/kept/partitions")) == ["0", "1"]
        real.stop()
        assert zk.get_children("/real/brokers/ids") == []
        real.start()
        wait_until(lambda: _topics(real.bootstrap_servers) == ["kept"], "it lists what it had")
    zk.stop()
    assert "kept" not in kafka


OLD_KAFKA = "0.8.2.2"


class ScalaConsumer:
    """A console consumer of Kafka 0.8.2."""

    def __init__(self, kafka: Emulator, config: Path) -> None:
        command = [java(), "-cp", classpath(jars(OLD_KAFKA)), "kafka.tools.ConsoleConsumer"]
        asked = ["--topic", "orders", "--consumer.config", str(config)]
        self._process = subprocess.Popen(
            [*command, "--zookeeper", kafka.zookeeper_connect, *asked],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(30)


def test_consumers_of_0_8_share_partitions_and_offsets(tmp_path: Path) -> None:
    config = tmp_path / "consumer.properties"
    config.write_text(
        "group.id=g\nauto.commit.interval.ms=500\nrebalance.backoff.ms=500\nauto.offset.reset=smallest\n"
    )

    def owners() -> list[int]:
        """How many partitions each consumer owns."""
        with suppress(NoNodeError):
            path = "/consumers/g/owners/orders"
            owned = [zk.get(f"{path}/{name}")[0] for name in zk.get_children(path)]
            return sorted(Counter(owned).values())
        return []

    def offsets() -> list[int]:
        with suppress(NoNodeError):
            path = "/consumers/g/offsets/orders"
            return [int(zk.get(f"{path}/{name}")[0]) for name in zk.get_children(path)]
        return []

    with Emulator(version="0.8.2", zookeeper=True, topics={"orders": 4}) as kafka:
        for number in range(20):
            kafka.topic("orders").produce(value=b"%d" % number, partition=number % 4)
        zk = KazooClient(kafka.zookeeper_connect)
        zk.start(timeout=10)
        one = ScalaConsumer(kafka, config)
        wait_until(lambda: owners() == [4], "one owns all", 60)
        wait_until(lambda: offsets() == [5] * 4, "it commits what it has read", 60)
        other = ScalaConsumer(kafka, config)
        wait_until(lambda: owners() == [2, 2], "two share them", 60)
        one.stop()
        wait_until(lambda: owners() == [4], "the other owns all", 60)
        kafka.topic("orders").produce(value=b"later", partition=0)
        wait_until(lambda: sum(offsets()) == 21, "the other commits it", 60)
        other.stop()
        assert zk.get_children("/consumers/g/ids") == []
        zk.stop()
