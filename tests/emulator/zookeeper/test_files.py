"""A ZooKeeper's own files: a tree written and read, transactions after a snapshot, damage; and a
directory in use, which has what was answered whatever happens to the process."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from zlib import adler32

import pytest
from kazoo.client import KazooClient
from odradek import Emulator
from odradek.emulator import parameters
from odradek.emulator.cluster import Cluster
from odradek.emulator.security.authorizer.acl import Acl as Rule
from odradek.emulator.zookeeper import jute
from odradek.emulator.zookeeper.acl import ALL, OPEN, Acl, Id, encoded
from odradek.emulator.zookeeper.data_dir import DataDir
from odradek.emulator.zookeeper.files import DirectoryError, load, save
from odradek.emulator.zookeeper.transactions import TransactionLog
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
    tree = Tree(lambda: TIME)
    change(tree, seed)
    return tree


def change(tree: Tree, seed: int) -> None:
    random = Random(seed)
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
        tree.transact(random.choices(operations, k=random.choice([1, 1, 3])), Who(SESSION))


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


@pytest.mark.parametrize("seed", range(10))
def test_what_was_answered_is_there_when_the_process_is_killed(seed: int, tmp_path: Path) -> None:
    """Without a stop, and with one: each copy is of a process that is killed at that moment."""
    directory = tmp_path / "0"
    for run in range(4):
        kept_here = DataDir(directory, lambda: TIME)
        tree = Tree(lambda: TIME)
        if kept_here.tree is not None:
            tree.restore(kept_here.tree.nodes, kept_here.tree.zxid)
        kept_here.follow(tree)
        change(tree, seed * 10 + run)
        if run % 2:
            kept_here.close()
        directory = Path(shutil.copytree(directory, tmp_path / str(run + 1)))
        found = load(directory, lambda: TIME)
        assert found is not None
        assert found.zxid == tree.zxid
        nodes = kept(tree)
        for path, node in nodes.items():
            node.pzxid = found.nodes[path].pzxid
        assert found.nodes == nodes
        zxid = found.zxid
        kept_here.close()
    for snapshot in (directory / "version-2").glob("snapshot.*"):
        snapshot.unlink()  # all of it is in the logs, too
    from_logs = load(directory, lambda: TIME)
    assert from_logs is not None
    assert from_logs.zxid == zxid
    for path, node in nodes.items():
        node.pzxid = from_logs.nodes[path].pzxid
    assert from_logs.nodes == nodes


def test_a_sequence_goes_on_where_children_were_deleted(tmp_path: Path) -> None:
    """The files have how many children there ever were: a real ZooKeeper's, and ours."""
    tree = Tree(lambda: TIME)
    tree.apply(Create("/p"))
    for number in range(5):
        tree.apply(Create("/p/s-", mode=Mode.PERSISTENT_SEQUENTIAL))
        tree.apply(Delete(f"/p/s-{number:010d}"))
    save(tree, tmp_path)
    body = created("/p/s-0000000005", cversion=6)
    (tmp_path / "version-2" / f"log.{tree.zxid + 1:x}").write_bytes(
        log_of(transaction(tree.zxid + 1, 1, body))
    )
    found = load(tmp_path, lambda: TIME)
    assert found is not None
    made = found.apply(Create("/p/s-", mode=Mode.PERSISTENT_SEQUENTIAL))
    assert made.path == "/p/s-0000000006"


def test_a_full_disk_is_caught_up_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kept_here, tree = DataDir(tmp_path, lambda: TIME), Tree(lambda: TIME)
    kept_here.follow(tree)
    tree.apply(Create("/one"))
    there = {path.name for path in (tmp_path / "version-2").iterdir()}
    assert there == {".lock", "log.1", "snapshot.0"}  # a real one refuses a log without a snapshot

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(TransactionLog, "append", full)
        tree.apply(Create("/two"))
    assert "a transaction is not kept" in caplog.text
    for path in ("/three", "/four"):
        tree.apply(Create(path))
        found = load(tmp_path, lambda: TIME)
        assert found is not None
        assert found.nodes.keys() == tree.nodes.keys()
    kept_here.close()


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


def cut(data: bytes) -> bytes:
    return data[:-20]


def flipped(data: bytes) -> bytes:
    return data.replace(b"text", b"tExt")


@pytest.mark.parametrize("damage", [cut, flipped])
def test_damage_is_never_read(
    damage: Callable[[bytes], bytes], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An older snapshot is taken in place of a damaged one, and damage in a log is refused."""
    tree = Tree(lambda: TIME)
    tree.apply(Create("/one", b"text"))
    save(tree, tmp_path)
    tree.apply(Create("/two", b"text"))
    save(tree, tmp_path)
    home = tmp_path / "version-2"
    newest, older = home / "snapshot.2", home / "snapshot.1"
    newest.write_bytes(damage(newest.read_bytes()))
    found = load(tmp_path, lambda: TIME)
    assert found is not None
    assert sorted(found.children("/")) == ["one", "zookeeper"]
    assert f"{newest} is damaged" in caplog.text
    older.write_bytes(damage(older.read_bytes()))
    with pytest.raises(DirectoryError, match=r"no snapshot can be read: .*snapshot.2 is damaged"):
        load(tmp_path, lambda: TIME)
    newest.unlink(), older.unlink()
    entries = log_of(transaction(1, 1, created("/one")), transaction(2, 1, created("/two")))
    (home / "log.1").write_bytes(entries.replace(b"/one", b"/oNe"))
    with pytest.raises(DirectoryError, match=r"log.1 is damaged: a wrong checksum at 16"):
        load(tmp_path, lambda: TIME)


def test_another_directory_is_refused(tmp_path: Path) -> None:
    assert load(tmp_path, lambda: TIME) is None
    (tmp_path / "myid").write_text("1")
    with pytest.raises(DirectoryError, match="no dataDir of a ZooKeeper"):
        Emulator(version="2.7", zookeeper=tmp_path).start()
    with pytest.raises(DirectoryError, match=r"cannot be used: .*Not a directory"):
        Emulator(version="2.7", zookeeper=tmp_path / "myid" / "zookeeper").start()


def test_a_directory_has_one_user(tmp_path: Path) -> None:
    """Also after a start that failed: a kill and a start that fails leave it free."""
    given: dict[str, Any] = {"version": "2.7", "zookeeper": tmp_path / "zookeeper"}
    with Emulator(**given), pytest.raises(DirectoryError, match="in use by another ZooKeeper"):
        Emulator(**given).start()
    (tmp_path / "meta.properties").write_text("nonsense")
    with pytest.raises(LogDirectoryError):
        Emulator(data_dir=tmp_path, **given).start()
    with Emulator(**given):
        pass


def test_digits_are_a_port() -> None:
    """As to `odradek serve --zookeeper`; a Path is none."""
    release = parameters.release("2.7")
    assert parameters.zookeeper("2181", release) == (2181, None)
    assert parameters.zookeeper(Path("2181"), release) == (0, Path("2181").absolute())


def copied(start: Path, end: Path) -> dict[str, Any]:
    """What a process that is killed now leaves."""
    for name in ("logs", "zookeeper"):
        shutil.copytree(start / name, end / name)
    return of(end)


def of(home: Path) -> dict[str, Any]:
    return {"version": "2.7", "data_dir": home / "logs", "zookeeper": home / "zookeeper"}


def test_nothing_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    with Emulator(**of(tmp_path / "a")) as kafka:
        kafka.topics.create("a", 1)
        kafka.topics.create("gone", 1)
    with Emulator(**of(tmp_path / "a")) as kafka:
        kafka.topics.create("b", 2, config={"retention.ms": "7"}).produce("x")
        kafka.topic("a").set_config({"retention.ms": "8"})
        kafka.topic("a").add_partitions(2)
        kafka.delete_topic("gone")
        before, left = kafka.run(known), copied(tmp_path / "a", tmp_path / "b")
    for _ in range(2):
        with Emulator(**left) as kafka:
            assert kafka.run(known) == before
            assert kafka.topic("b").values() == [b"x"]
            assert not [each for each in kafka.notices if "does not know" in each]


@pytest.mark.parametrize("has_other", [False, True])
def test_a_topic_of_a_run_without_the_zookeeper_is_kept(
    has_other: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One without a record might have been deleted by another server that had the files since."""
    given = of(tmp_path)
    with Emulator(**given) as kafka:
        kafka.topics.create("a", 1, config={"retention.ms": "7"})
        kafka.topics.create("deleted", 1).produce("x")
    with Emulator(version="2.7", data_dir=given["data_dir"]) as kafka:
        kafka.topics.create("b", 1, config={"retention.ms": "8"}).produce("x")
        kafka.topics.create("empty", 1)
        kafka.topic("a").set_config({"retention.ms": "9"})
        kafka.delete_topic("deleted")
    if has_other:
        session = transaction(1000, -10, jute.i32(6000))
        (given["zookeeper"] / "version-2" / "log.3e8").write_bytes(log_of(session))
    for _ in range(2):
        with Emulator(**given) as kafka:
            assert kafka.topic("b").values() == [b"x"]
            assert kafka.run(known)["configs"][2, "b"] == {"retention.ms": "8"}
            assert kafka.run(known)["configs"][2, "a"] == {"retention.ms": "7"}
            assert kafka.topic("deleted").values() == []
            assert ("empty" in kafka) is not has_other
    assert caplog.text.count("does not know topic b") == 1
    assert caplog.text.count("topic a has the configs that its node has") == 1


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
