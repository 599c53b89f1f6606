"""Kafka's nodes after each of some sixty changes, beside those that three brokers of Kafka 2.7
had left (recorded.json, by record.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient
from odradek import Emulator
from odradek.wire import Request

from tests.emulator.zookeeper.changes import CHANGES
from tests.emulator.zookeeper.nodes import Nodes, changed, nodes_of
from tests.support.connection import Connection

RECORDED: list[Any] = json.loads((Path(__file__).parent / "recorded.json").read_text())
RELEASES = json.loads((Path(__file__).parent / "recorded_releases.json").read_text())
VERSION = "2.7"


class OurGround:
    """Three brokers of ours."""

    def __init__(self, kafka: Emulator, zk: Any) -> None:
        self.zk, self._kafka = zk, kafka
        self._addresses = dict(enumerate(kafka.bootstrap_servers.split(","), 1))

    def ask(self, request: Request, version: int, broker: int | None = None) -> Any:
        address = self._addresses[broker or self._kafka.controller]
        with Connection(address) as connection:
            return connection.ask(request, version)

    def stop(self, broker: int) -> None:
        self._kafka.brokers[broker].stop()

    def start(self, broker: int) -> None:
        self._kafka.brokers[broker].start()


def test_the_changes_are_those_that_were_recorded() -> None:
    assert [name for name, _ in RECORDED] == [name for name, _ in CHANGES]


def test_each_leaves_the_nodes_that_kafka_leaves() -> None:
    differences, compared = [], 0
    with Emulator(version=VERSION, zookeeper=True, brokers=3) as kafka:
        zk = KazooClient(kafka.zookeeper_connect)
        zk.start(timeout=10)
        ground = OurGround(kafka, zk)
        theirs: Nodes = {}
        for (name, change), (_, recorded) in zip(CHANGES, RECORDED, strict=True):
            change(ground)
            for path, node in recorded.items():
                if node is None:
                    theirs.pop(path, None)
                else:
                    theirs[path] = node
            ours = nodes_of(zk)
            compared += len(theirs)
            differences += [
                f"{name}: {path}: {nodes_of_text}, not {theirs.get(path)}"
                for path, nodes_of_text in changed(_plain(theirs), _plain(ours)).items()
            ]
        zk.stop()
    assert not differences, f"of {compared} nodes:\n" + "\n".join(differences)


@pytest.mark.parametrize(("release", "recorded"), RELEASES, ids=lambda each: str(each)[:6])
def test_each_release_has_nodes_of_its_own(release: str, recorded: Nodes) -> None:
    """A topic is created, and has one more partition then."""
    with Emulator(version=release, zookeeper=True, topics={"a": 1}) as kafka:
        kafka.topic("a").add_partitions(1)
        zk = KazooClient(kafka.zookeeper_connect)
        zk.start(timeout=10)
        ours = nodes_of(zk)
        zk.stop()
    differences = changed(_of_topics(_plain(recorded)), _of_topics(_plain(ours)))
    assert differences == {}


def _of_topics(nodes: Nodes) -> Nodes:
    """A tool writes a topic's configs when the topic grows, without notice."""
    for path in [*nodes]:
        if path.startswith("/config/topics/"):
            nodes[path][2] = 0
        if path == "/brokers/topics/a":
            nodes[path][0].pop("topic_id", None)
    return nodes


def _plain(nodes: Nodes) -> Nodes:
    """Without what KRaft's rules count otherwise than ZooKeeper's for the same changes: the epochs
    of leaders, in which order replicas came to be in sync, and how often states were written."""
    found: Nodes = {}
    for path, (value, is_ephemeral, version) in nodes.items():
        if path.startswith("/brokers/topics/") and value is not None:
            value, version = dict(value), 0
            value.pop("leader_epoch", None)
            if "isr" in value:
                value["isr"] = sorted(value["isr"])
        if path == "/latest_producer_id_block":  # each broker takes one when it starts
            value, version = sorted(value), 0
        found[path] = [value, is_ephemeral, version]
    return found


@pytest.mark.parametrize("value", [b"", b"{", b"[]", b'{"partitions":{"1":[1]}}', b"\xff", None])
@pytest.mark.parametrize(
    "path",
    [
        "/brokers/topics/odd",
        "/admin/reassign_partitions",
        "/admin/preferred_replica_election",
        "/config/changes/config_change_x",
    ],
)
def test_what_no_tool_writes_does_nothing(path: str, value: bytes | None) -> None:
    with Emulator(version=VERSION, zookeeper=True, topics={"a": 1}) as kafka:
        zk = KazooClient(kafka.zookeeper_connect)
        zk.start(timeout=10)
        zk.create(path, value)
        assert list(kafka.topics) == ["a"]
        zk.stop()
