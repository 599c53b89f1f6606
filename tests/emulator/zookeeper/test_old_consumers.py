"""Consumers that share partitions as the documents say, over the registries alone: they register
below /consumers, watch each other and the topic, and each owns its slice of the partitions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from threading import Lock
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import (
    ConnectionClosedError,
    ConnectionLoss,
    NodeExistsError,
    NoNodeError,
    SessionExpiredError,
)
from odradek import Emulator
from odradek.compat.clients import wait_until

GROUP, TOPIC = "/consumers/g", "orders"


class OldConsumer:
    """One consumer of a group: the algorithm of the documents' chapter "Consumer rebalancing"."""

    def __init__(self, connect: str, name: str) -> None:
        self.name = name
        self.owned: list[int] = []
        self.is_closed = False
        self._guard = Lock()
        self.zk: Any = KazooClient(connect)
        self.zk.start(timeout=10)
        value = {"version": 1, "subscription": {TOPIC: 1}, "pattern": "static", "timestamp": "1"}
        ids = f"{GROUP}/ids"
        self.zk.create(f"{ids}/{name}", json.dumps(value).encode(), ephemeral=True, makepath=True)
        self.zk.ChildrenWatch(ids, lambda _: self._rebalance())
        self.zk.DataWatch(f"/brokers/topics/{TOPIC}", lambda *_: self._rebalance())

    def close(self) -> None:
        self.is_closed = True
        self.zk.stop()
        self.zk.close()

    def commit(self, partition: int, offset: int) -> None:
        path = f"{GROUP}/offsets/{TOPIC}/{partition}"
        self.zk.ensure_path(path)
        self.zk.set(path, str(offset).encode())

    def _rebalance(self) -> None:
        self.zk.handler.spawn(self._share)

    def _share(self) -> None:
        with self._guard:
            try:
                self._release()
                self._claim()
            except (ConnectionClosedError, ConnectionLoss, SessionExpiredError, ValueError):
                if not self.is_closed:
                    raise

    def _release(self) -> None:
        for partition in self.owned:
            with suppress(NoNodeError):
                self.zk.delete(f"{GROUP}/owners/{TOPIC}/{partition}")
        self.owned = []

    def _claim(self) -> None:
        while not self.is_closed and sorted(self.owned) != (mine := self._slice()):
            try:
                for partition in mine:
                    if partition not in self.owned:
                        path = f"{GROUP}/owners/{TOPIC}/{partition}"
                        self.zk.create(path, self.name.encode(), ephemeral=True, makepath=True)
                        self.owned.append(partition)
            except NodeExistsError:  # who had it has not let it go yet
                self.zk.handler.sleep_func(0.05)
            if sorted(self.owned) != self._slice():
                self._release()

    def _slice(self) -> list[int]:
        """Partitions and consumers in order: each takes its slice, the first ones one more."""
        consumers = sorted(self.zk.get_children(f"{GROUP}/ids"))
        topic = json.loads(self.zk.get(f"/brokers/topics/{TOPIC}")[0])
        partitions = sorted(map(int, topic["partitions"]))
        place = consumers.index(self.name)
        count, more = divmod(len(partitions), len(consumers))
        begin = place * count + min(place, more)
        return partitions[begin : begin + count + (place < more)]


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(version="2.7", zookeeper=True, topics={TOPIC: 5}) as kafka:
        yield kafka


def _share(consumers: list[OldConsumer], *expected: list[int]) -> None:
    def is_right() -> bool:
        return [sorted(each.owned) for each in consumers] == list(expected)

    wait_until(is_right, f"{expected} are shared")


def test_partitions_are_shared_anew_when_consumers_come_and_go(kafka: Emulator) -> None:
    one = OldConsumer(kafka.zookeeper_connect, "c1")
    _share([one], [0, 1, 2, 3, 4])
    two = OldConsumer(kafka.zookeeper_connect, "c2")
    _share([one, two], [0, 1, 2], [3, 4])
    one.close()
    _share([two], [0, 1, 2, 3, 4])
    two.close()


def test_partitions_are_shared_anew_when_there_are_more(kafka: Emulator) -> None:
    consumers = [OldConsumer(kafka.zookeeper_connect, name) for name in ("c1", "c2")]
    _share(consumers, [0, 1, 2], [3, 4])
    kafka.topic(TOPIC).add_partitions(2)
    _share(consumers, [0, 1, 2, 3], [4, 5, 6])
    for each in consumers:
        each.close()


def test_offsets_stay_when_their_consumer_has_gone(kafka: Emulator) -> None:
    one = OldConsumer(kafka.zookeeper_connect, "c1")
    one.commit(0, 42)
    _share([one], [0, 1, 2, 3, 4])
    one.close()
    two = OldConsumer(kafka.zookeeper_connect, "c2")
    _share([two], [0, 1, 2, 3, 4])
    assert two.zk.get(f"{GROUP}/offsets/{TOPIC}/0")[0] == b"42"
    assert two.zk.get_children(f"{GROUP}/ids") == ["c2"]
    two.close()
