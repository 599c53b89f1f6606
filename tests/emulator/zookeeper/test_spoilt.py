"""What clients put in the way of Kafka's nodes hurts no broker, and brokers that come back, are put
back or are copied have their nodes again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import APIError, KazooException
from odradek import Emulator
from odradek.emulator.zookeeper.tree import Limits

VERSION = "2.7"


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(version=VERSION, zookeeper=True, topics={"a": 2}) as kafka:
        yield kafka


@pytest.fixture
def zk(kafka: Emulator) -> Iterator[Any]:
    client = KazooClient(kafka.zookeeper_connect)
    client.start(timeout=10)
    yield client
    client.stop()
    client.close()


def _state(zk: Any, topic: str, partition: int = 0) -> dict[str, Any]:
    path = f"/brokers/topics/{topic}/partitions/{partition}/state"
    found: dict[str, Any] = json.loads(zk.get(path)[0])
    return found


def test_an_ephemeral_node_in_the_place_of_a_topic(kafka: Emulator, zk: Any) -> None:
    zk.create("/brokers/topics/b", b"{}", ephemeral=True)
    kafka.create_topic("b")
    assert "b" in kafka
    kafka.delete_topic("b")
    kafka.create_topic("b")
    assert _state(zk, "b")["leader"] == 1


@pytest.mark.parametrize("data", [b"", b"nonsense", b"[" * 100_000, b'{"controller_epoch":[]}'])
def test_a_state_that_a_client_has_spoilt_is_written_again(
    kafka: Emulator, zk: Any, data: bytes
) -> None:
    zk.set("/brokers/topics/a/partitions/0/state", data)
    zk.set("/brokers/topics/a", data)
    kafka.topic("a").add_partitions(1)
    assert len(json.loads(zk.get("/brokers/topics/a")[0])["partitions"]) == 3


def test_nodes_that_a_client_has_deleted_come_back(kafka: Emulator, zk: Any) -> None:
    for path in ("/config/changes", "/config/topics", "/brokers/topics", "/admin"):
        zk.delete(path, recursive=True)
    kafka.topic("a").set_config({"retention.ms": 1000})
    kafka.create_topic("b")
    assert _state(zk, "b")["isr"] == [1]
    assert zk.get_children("/config/changes") == ["config_change_0000000000"]
    kafka.delete_topic("b")
    assert zk.get_children("/brokers/topics") == []


def test_topics_are_shown_when_clients_have_filled_the_tree(
    kafka: Emulator, zk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(_: object) -> None:
        thread: Any = kafka._thread
        tree = thread.serving.zookeeper.keeper.tree
        tree._limits = Limits(nodes=len(tree.nodes))

    kafka.run(fill)
    with pytest.raises(APIError):
        zk.create("/mine")
    kafka.create_topic("b")
    assert _state(zk, "b")["leader"] == 1


def test_a_controller_that_a_client_deletes_is_there_again(kafka: Emulator, zk: Any) -> None:
    zk.delete("/controller")
    assert json.loads(zk.get("/controller")[0])["brokerid"] == 1
    assert zk.get("/controller_epoch")[0] == b"2"


@pytest.mark.parametrize("seed", range(3))
def test_drawn_writes_leave_a_broker_that_works(kafka: Emulator, zk: Any, seed: int) -> None:
    random = Random(seed)
    paths = [
        *("/brokers/topics/x", "/brokers/topics/a", "/brokers/topics", "/controller"),
        *("/controller_epoch", "/admin/delete_topics/a", "/admin/reassign_partitions"),
        *("/admin/preferred_replica_election", "/config/changes/config_change_9"),
        *("/config/topics/a", "/config/users/u", "/config/brokers/1", "/brokers/ids/1"),
        *("/brokers/topics/a/partitions/0/state", "/config/clients/c", "/config/changes"),
    ]
    values = [
        *(b"", b"{}", b"[]", b"null", b"9" * 5000, b"{" * 3000, b'{"partitions":{"0":[1,2,9]}}'),
        *(b'{"version":2,"partitions":{"0":[1],"1":[99999999999]}}', b'{"partitions":[7]}'),
        b'{"partitions":[{"topic":"a","partition":0,"replicas":[1,1]}]}',
        b'{"partitions":[{"topic":"a","partition":-1,"replicas":[1e400]}]}',
        b'{"version":1,"config":{"producer_byte_rate":"nan","retention.ms":"x"}}',
        b'{"version":1,"config":{"SCRAM-SHA-256":"salt=,iterations=x","k":null}}',
        *(b'{"entity_path":"%s"}' % each for each in (b"users/u", b"brokers/x", b"topics/a", b"/")),
    ]
    refused = 0
    for number in range(150):
        path, value = random.choice(paths), random.choice(values)
        try:
            if random.random() < 0.3:
                zk.delete(path, recursive=random.random() < 0.5)
            elif zk.exists(path):
                zk.set(path, value)
            else:
                zk.create(path, value, ephemeral=random.random() < 0.2, makepath=True)
        except KazooException:
            refused += 1
        if number % 30 == 0:
            kafka.create_topic(f"t{number}").produce(b"x")
    assert kafka.topic("t120").values() == [b"x"]
    assert refused < 100


def test_a_broker_that_is_killed_is_gone_until_it_is_back(kafka: Emulator, zk: Any) -> None:
    kafka.kill()
    assert zk.get_children("/brokers/ids") == []
    assert not zk.exists("/controller")
    kafka.restart()
    assert zk.get_children("/brokers/ids") == ["1"]
    assert zk.get("/controller_epoch")[0] == b"2"
    assert _state(zk, "a")["leader"] == 1


def test_after_a_reset_the_nodes_are_those_of_the_cluster_then(kafka: Emulator, zk: Any) -> None:
    zk.create("/mine", b"x")
    kafka.create_topic("b")
    kafka.reset()
    assert zk.get_children("/brokers/topics") == ["a"]
    assert zk.get("/mine")[0] == b"x"


def test_a_copy_has_a_zookeeper_of_its_own(kafka: Emulator, zk: Any) -> None:
    with kafka.fork() as other:
        assert other.zookeeper_connect != kafka.zookeeper_connect
        other.create_topic("b")
        assert zk.get_children("/brokers/topics") == ["a"]
        own = KazooClient(other.zookeeper_connect)
        own.start(timeout=10)
        assert sorted(own.get_children("/brokers/topics")) == ["a", "b"]
        own.stop()
