"""Kafka 2.7's own programs at our ZooKeeper: its tools with --zookeeper, and a broker of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from kazoo.client import KazooClient
from odradek import Emulator
from odradek.compat import RealKafka
from odradek.compat.clients import wait_until
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
    told = _tool(
        *(kafka, TOPICS, "--create", "--topic", "made", "--partitions", "3"),
        *("--replication-factor", "2", "--config", "retention.ms=1000"),
    )
    assert "Created topic made." in told
    assert len(list(kafka.topic("made"))) == 3
    assert _configs(kafka, "made")["retention.ms"] == "1000"
    told = _tool(kafka, TOPICS, "--alter", "--topic", "made", "--partitions", "5")
    assert "Adding partitions succeeded!" in told
    told = _tool(kafka, TOPICS, "--describe", "--topic", "made")
    assert "PartitionCount: 5\tReplicationFactor: 2\tConfigs: retention.ms=1000" in told
    assert told.count("Leader: ") == 5
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
    told = _tool(kafka, CONFIGS, "--describe", *user)
    assert "producer_byte_rate=1000" in told
    assert "SCRAM-SHA-256=salt=" in told
    _tool(kafka, CONFIGS, "--alter", *user, "--delete-config", "producer_byte_rate,SCRAM-SHA-256")
    image = kafka.run(lambda cluster: cluster.metadata.image)
    assert not image.quotas
    assert not image.scram


def test_partitions_move_and_leaders_are_elected(kafka: Emulator, tmp_path: Path) -> None:
    kafka.create_topic("moved", 2, replicas=1)
    wanted = [{"topic": "moved", "partition": 0, "replicas": [3, 2]}]
    path = tmp_path / "moves.json"
    path.write_text(json.dumps({"version": 1, "partitions": wanted}))
    told = _tool(kafka, MOVES, "--reassignment-json-file", str(path), "--execute")
    assert "Successfully started partition reassignment for moved-0" in told
    told = _tool(kafka, MOVES, "--reassignment-json-file", str(path), "--verify")
    assert "Reassignment of partition moved-0 is complete." in told
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
