"""A ZooKeeper's own files: a tree written and read, transactions after a snapshot, and damage."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random
from typing import Any
from zlib import adler32

import pytest
from kazoo.client import KazooClient
from odradek import Emulator
from odradek.emulator.cluster import Cluster
from odradek.emulator.security.authorizer.acl import Acl as Rule
from odradek.emulator.zookeeper import jute
from odradek.emulator.zookeeper.acl import ALL, OPEN, Acl, Id, encoded
from odradek.emulator.zookeeper.files import DirectoryError, load, save
from odradek.emulator.zookeeper.tree import (
    Create,
    Delete,
    Mode,
    Node,
    Operation,
    SetAcl,
    SetData,
    Tree,
    Who,
)
from odradek.storage import LogDirectoryError

ACL = b"""{"version": 1, "acls": [{"principal": "User:ann", "permissionType": "Allow",
    "operation": "DescribeConfigs", "host": "*"}]}"""
RULE = "(principal=User:ann, host=*, operation=DESCRIBE_CONFIGS, permissionType=ALLOW)"
OWN = (Acl(ALL, Id("ip", "127.0.0.1")),)
SESSION = 7
TIME = 5


def drawn(seed: int) -> Tree:
    """A tree after some operations."""
    random, tree = Random(seed), Tree(lambda: TIME)
    for _ in range(60):
        above = random.choice([path for path, node in tree.nodes.items() if not node.owner])
        path = f"{above.rstrip('/')}/{random.randrange(4)}"
        mode = random.choice([*Mode][:5])
        is_container = mode == Mode.CONTAINER
        data = random.choice([None, b"", b"text"])
        operations: list[Operation] = [
            Create(path, data, mode, random.choice([OPEN, OWN]), is_container=is_container),
            SetData(path, data),
            SetAcl(path, OWN),
            Delete(path),
        ]
        tree.transact([random.choice(operations)], Who(SESSION))
    return tree


def kept(tree: Tree) -> dict[str, Node]:
    tree.end_session(SESSION)
    return tree.nodes


@pytest.mark.parametrize("seed", range(20))
def test_a_tree_is_read_as_it_was_written(seed: int, tmp_path: Path) -> None:
    """But for nodes of sessions: as if these had ended."""
    tree = drawn(seed)
    save(tree, tmp_path)
    found = load(tmp_path, lambda: TIME)
    assert found is not None
    assert found.zxid == tree.zxid
    nodes = kept(tree)
    for path, node in nodes.items():
        node.pzxid = found.nodes[path].pzxid  # the end of the session is a transaction more
    assert found.nodes == nodes
    assert (found.size, found.containers.keys()) == (tree.size, tree.containers.keys())


def transaction(zxid: int, kind: int, body: bytes, session: int = 1) -> bytes:
    content = jute.i64(session) + jute.i32(0) + jute.i64(zxid, TIME) + jute.i32(kind) + body
    return jute.i64(adler32(content)) + jute.buffer(content) + b"B"


def created(path: str, *, is_ephemeral: bool = False, cversion: int = -1) -> bytes:
    body = jute.text(path) + jute.buffer(b"x") + encoded(OPEN)
    return body + jute.flag(is_ephemeral) + jute.i32(cversion)


def log_of(*transactions: bytes) -> bytes:
    return b"ZKLG" + jute.i32(2) + jute.i64(0) + b"".join(transactions) + bytes(64)


def test_transactions_after_the_snapshot_are_done_once_more(tmp_path: Path) -> None:
    """Also those that it has already, as it may be written while they are done; what was cut off at
    the end of a log was never answered."""
    tree = Tree(lambda: TIME)
    tree.apply(Create("/there", b"old"))
    save(tree, tmp_path)
    home = tmp_path / "version-2"
    multi = jute.vector(
        [
            jute.i32(5) + jute.buffer(jute.text("/there") + jute.buffer(b"new") + jute.i32(3)),
            jute.i32(2) + jute.buffer(jute.text("/gone")),
        ],
        2,
    )
    failed = jute.vector([jute.i32(-1) + jute.buffer(jute.i32(-101))], 1)
    (home / "log.1").write_bytes(
        log_of(
            transaction(1, 1, created("/there")),
            transaction(2, -10, jute.i32(1000), session=9),
            transaction(3, 1, created("/gone")),
            transaction(4, 1, created("/mine", is_ephemeral=True), session=9),
            transaction(5, 14, multi),
            transaction(6, 14, failed),
            transaction(7, 1, created("/there"), session=9),
            transaction(8, 7, jute.text("/there") + encoded(OWN) + jute.i32(1)),
            transaction(9, 1, created("/cut"))[:-9],
        )
    )
    found = load(tmp_path, lambda: TIME)
    assert found is not None
    assert found.zxid == 8
    assert sorted(found.children("/")) == ["there", "zookeeper"]
    there = found.node("/there")
    assert (there.data, there.version, there.acl) == (b"new", 3, OWN)


def test_a_snapshot_that_is_cut_off_is_passed_over(tmp_path: Path) -> None:
    tree = Tree(lambda: TIME)
    tree.apply(Create("/one"))
    save(tree, tmp_path)
    tree.apply(Create("/two"))
    save(tree, tmp_path)
    newest = tmp_path / "version-2" / "snapshot.2"
    newest.write_bytes(newest.read_bytes()[:-20])
    found = load(tmp_path, lambda: TIME)
    assert found is not None
    assert sorted(found.children("/")) == ["one", "zookeeper"]
    (tmp_path / "version-2" / "snapshot.1").write_bytes(b"ZKSN")
    with pytest.raises(DirectoryError, match="no snapshot can be read"):
        load(tmp_path, lambda: TIME)


def test_another_directory_is_refused(tmp_path: Path) -> None:
    assert load(tmp_path, lambda: TIME) is None
    (tmp_path / "myid").write_text("1")
    with pytest.raises(DirectoryError, match="no dataDir of a ZooKeeper"):
        Emulator(version="2.7", zookeeper=tmp_path).start()


def known(cluster: Cluster) -> dict[str, Any]:
    """The metadata that ZooKeeper has, too."""
    image = cluster.metadata.image
    topics = {
        topic.name: [(each.replicas, each.isr, each.leader) for each in topic.partitions.values()]
        for topic in image.topics.values()
    }
    return {
        "cluster": cluster.cluster_id,
        "topics": topics,
        "configs": dict(image.configs),
        "quotas": dict(image.quotas),
        "users": dict(image.scram),
        "producer ids": image.next_producer_id,
    }


def test_what_only_zookeeper_knows_is_known_again(tmp_path: Path) -> None:
    """Without the metadata log: a real broker has none."""
    logs, zookeeper = tmp_path / "logs", tmp_path / "zookeeper"
    given: dict[str, Any] = {"version": "2.7", "data_dir": logs, "zookeeper": zookeeper}
    given |= {"users": {"ann": "secret"}, "security": "SASL_PLAINTEXT", "acls": True}
    with Emulator(**given) as kafka:
        kafka.topics.create("t", 3, config={"retention.ms": "7"})
        kafka.topics.create("going", 1)
        kafka.throttle(user="ann", produce=1000)
        kafka.throttle(client_id="app", requests=50)
        kafka.run(lambda cluster: cluster.metadata.next_producer_block(1))
        before = kafka.run(known)
        client = KazooClient(kafka.zookeeper_connect)
        client.start()
        client.create("/kafka-acl/Topic/t", ACL, makepath=True)
        client.create("/kafka-acl-extended/prefixed/Group/g", ACL, makepath=True)
        client.create("/kafka-acl/Topic/none", b"[]")
        client.create("/brokers/topics/none", b"nonsense")
        client.stop()
        kafka.run(lambda cluster: cluster.topics.delete(cluster.topic("going")))
    del before["topics"]["going"]
    shutil.rmtree(logs / "__cluster_metadata-0")
    with Emulator(**given) as kafka:
        assert kafka.run(known) == before
        rules = kafka.run(lambda c: [str(Rule.of(a)) for a in c.metadata.image.acls.values()])
        assert rules == [RULE, RULE]
    with Emulator(**given) as kafka:  # they are not taken twice
        assert len(kafka.run(lambda cluster: cluster.metadata.image.acls)) == len(rules)
        other = kafka.run(lambda cluster: cluster.cluster_id)
    path = logs / "meta.properties"
    path.write_text(path.read_text().replace(other, "another"))
    for _ in range(2):  # the refusal unlocks it again
        with pytest.raises(LogDirectoryError, match=f"belongs to cluster another, not to {other}"):
            Emulator(**given).start()
