"""kazoo's recipes, at ours and at the ZooKeeper of Kafka 2.7."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError, NodeExistsError, NoNodeError, RolledBackError
from kazoo.recipe.watchers import ChildrenWatch
from odradek import Emulator
from odradek.compat import RealZooKeeper
from odradek.compat.clients import wait_until


@pytest.fixture(scope="module", params=["odradek", "real"])
def connect(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "real":
        with RealZooKeeper() as real:
            yield real.connect
    else:
        with Emulator(version="3.9", zookeeper=True) as kafka:
            yield kafka.zookeeper_connect


@pytest.fixture
def clients(connect: str) -> Iterator[list[Any]]:
    made = [KazooClient(connect) for _ in range(3)]
    for each in made:
        each.start(timeout=10)
    made[0].delete("/recipes", recursive=True)
    yield made
    for each in made:
        each.stop()
        each.close()


def test_nodes(clients: list[Any]) -> None:
    zk = clients[0]
    zk.create("/recipes/a", b"x", makepath=True)
    with pytest.raises(NodeExistsError):
        zk.create("/recipes/a")
    assert zk.set("/recipes/a", b"y").version == 1
    with pytest.raises(BadVersionError):
        zk.set("/recipes/a", b"z", version=0)
    with pytest.raises(NoNodeError):
        zk.get("/recipes/b")
    assert zk.create("/recipes/q-", sequence=True) == "/recipes/q-0000000001"
    transaction = zk.transaction()
    transaction.create("/recipes/c")
    transaction.delete("/recipes/none")
    first, second = transaction.commit()
    assert isinstance(first, RolledBackError)
    assert isinstance(second, NoNodeError)
    assert not zk.exists("/recipes/c")


def test_a_lock_is_held_by_one(clients: list[Any]) -> None:
    inside, most = 0, 0
    guard = threading.Lock()

    def work(zk: Any) -> None:
        nonlocal inside, most
        for _ in range(5):
            with zk.Lock("/recipes/lock", "me"):
                with guard:
                    inside += 1
                    most = max(most, inside)
                with guard:
                    inside -= 1

    threads = [threading.Thread(target=work, args=(zk,)) for zk in clients]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert most == 1
    assert clients[0].get_children("/recipes/lock") == []


def test_an_election_has_one_leader_after_the_other(clients: list[Any]) -> None:
    led: list[int] = []
    threads = [
        threading.Thread(
            target=zk.Election("/recipes/election", str(number)).run, args=(led.append, number)
        )
        for number, zk in enumerate(clients)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert sorted(led) == [0, 1, 2]


def test_a_counter_counts_each(clients: list[Any]) -> None:
    def count(zk: Any) -> None:
        counter = zk.Counter("/recipes/counter")
        for _ in range(10):
            counter += 1

    threads = [threading.Thread(target=count, args=(zk,)) for zk in clients]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert clients[0].Counter("/recipes/counter").value == 30


def test_watches_tell_of_data_and_children(clients: list[Any]) -> None:
    writer, reader = clients[:2]
    writer.create("/recipes/watched", b"0", makepath=True)
    values: list[bytes | None] = []
    children: list[list[str]] = []
    reader.DataWatch("/recipes/watched", lambda data, stat: values.append(data))
    ChildrenWatch(reader, "/recipes/watched", lambda names: children.append(sorted(names)))
    for number in (b"1", b"2"):
        writer.set("/recipes/watched", number)
        wait_until(lambda: values[-1] == number, "the watch has rung")  # noqa: B023
    writer.create("/recipes/watched/a", ephemeral=True)
    wait_until(lambda: children[-1] == ["a"], "the watch has rung")
    writer.delete("/recipes/watched", recursive=True)
    wait_until(lambda: values[-1] is None, "the watch has rung")


def test_a_barrier_opens_for_all(clients: list[Any]) -> None:
    barriers = [zk.DoubleBarrier("/recipes/barrier", 3) for zk in clients]
    threads = [threading.Thread(target=each.enter) for each in barriers]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert all(each.participating for each in barriers)
    threads = [threading.Thread(target=each.leave) for each in barriers]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert not clients[0].get_children("/recipes/barrier")


def test_ephemeral_nodes_go_with_their_session(connect: str, clients: list[Any]) -> None:
    own = KazooClient(connect)
    own.start(timeout=10)
    own.create("/recipes/mine", ephemeral=True, makepath=True)
    gone = threading.Event()
    assert clients[0].exists("/recipes/mine", watch=lambda event: gone.set())
    own.stop()
    own.close()
    assert gone.wait(10)
    assert not clients[0].exists("/recipes/mine")


def test_a_queue_and_a_party(clients: list[Any]) -> None:
    queue = clients[0].Queue("/recipes/queue")
    for value in (b"a", b"b"):
        queue.put(value)
    assert [clients[1].Queue("/recipes/queue").get() for _ in range(3)] == [b"a", b"b", None]
    party = clients[0].Party("/recipes/party", "one")
    party.join()
    assert list(clients[1].Party("/recipes/party", "two")) == ["one"]


def test_rules_keep_others_out(connect: str, clients: list[Any]) -> None:
    from kazoo.exceptions import NoAuthError
    from kazoo.security import make_digest_acl

    rules = [make_digest_acl("bob", "x", all=True)]
    clients[0].ensure_path("/recipes")
    clients[0].create("/recipes/secret", acl=rules)
    with pytest.raises(NoAuthError):
        clients[0].get("/recipes/secret")
    clients[1].add_auth("digest", "bob:x")
    assert clients[1].get("/recipes/secret")[0] == b""
    clients[1].delete("/recipes/secret")
