"""What a full disk refuses is not in force, nor after a restart; with room again it is made.

For every kind of change there is.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.node import Node
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig
from odradek.storage import MemoryDisk
from odradek.wire import Error

from tests.requests import administration as ask
from tests.requests.administration import BROKER, CLIENT_METRICS, GROUP, TOPIC, Asked, errors
from tests.support.clock import NOW
from tests.support.cluster import client_of
from tests.support.in_force import in_force, leaders

ELR = "eligible.leader.replicas.version"
BEFORE = [
    ask.create("t", [[1, 2], [2, 3]], {"retention.ms": "9"}),
    ask.create("u"),
    ask.move("t", 1, [3, 2]),
    ask.alter(
        (BROKER, "", "log.retention.ms", "7"),
        (GROUP, "g", "share.isolation.level", "read_committed"),
    ),
    ask.quota("u", 5.0),
    ask.credential("u"),
    ask.producer_id(),
]


class Change(NamedTuple):
    name: str
    asked: Asked
    lasts: bool = True
    """Whether a restart shows it: a broker registers again."""


CHANGES = [
    Change("create a topic", ask.create("new", [[1], [2]], {"retention.ms": "5"})),
    Change("delete topics", ask.delete("t", "u")),
    Change("add partitions", ask.grow(5, "t", "u")),
    Change("a topic's configs", ask.alter((TOPIC, "t", "retention.ms", "5"))),
    Change("a topic's configs, all", ask.replace(TOPIC, "t", {"flush.ms": "5"})),
    Change("a broker's configs", ask.alter((BROKER, "1", "log.retention.ms", "5"))),
    Change("all brokers' configs", ask.alter((BROKER, "", "log.retention.ms", None))),
    Change("all brokers' configs, all", ask.replace(BROKER, "", {"log.flush.interval.ms": "5"})),
    Change("a group's configs", ask.alter((GROUP, "g", "consumer.session.timeout.ms", "46000"))),
    Change(
        "a new group's configs", ask.alter((GROUP, "h", "consumer.session.timeout.ms", "47000"))
    ),
    Change("a metrics subscription", ask.alter((CLIENT_METRICS, "m", "interval.ms", "500"))),
    Change(
        "several configs",
        ask.alter((TOPIC, "u", "retention.ms", "5"), (BROKER, "1", "log.retention.ms", "5")),
    ),
    Change("a quota", ask.quota("u", 6.0)),
    Change("no quota", ask.quota("u", None)),
    Change("a credential", ask.credential("u", 2)),
    Change("no credential", ask.no_credential("u")),
    Change("a higher feature", ask.level(ELR, 1)),
    Change("a lower feature", ask.level("transaction.version", 1, ask.DOWNGRADE)),
    Change("the voters", ask.level("kraft.version", 1)),
    Change("an election", ask.elect("t", 1)),
    Change("a move", ask.move("t", 0, [2, 3])),
    Change("an unregistered broker", ask.unregister(2), lasts=False),
    Change("producer ids", ask.producer_id()),
]


def opened(disk: MemoryDisk) -> Cluster:
    return Cluster(
        BrokerConfig(),
        data_dir=disk.directory(),
        brokers=[Node(node_id, "localhost", 9090 + node_id) for node_id in (1, 2, 3)],
        clock=ManualClock(NOW),
        features={ELR: 0} if not disk.files() else {},
    )


def after_a_kill(disk: MemoryDisk) -> dict[str, object]:
    cluster = opened(disk.kill())
    found = in_force(cluster)
    cluster.close()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("room", [0, 30])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_a_full_disk_refuses_a_change_as_a_whole(change: Change, room: int) -> None:
    disk = MemoryDisk()
    cluster = opened(disk)
    client = client_of(cluster)
    for asked in BEFORE:
        assert errors(client, asked) == {0}
    for _ in range(999):  # the block of producer ids is used up
        cluster.brokers[1].next_producer_id()
    before = in_force(cluster), leaders(cluster), cluster.topics.generation
    at_a_start = after_a_kill(disk)

    disk.fill(after_bytes=room)
    assert errors(client, change.asked) == {Error.KAFKA_STORAGE_ERROR}

    assert (in_force(cluster), leaders(cluster), cluster.topics.generation) == before
    assert after_a_kill(disk) == at_a_start

    disk.heal()
    assert errors(client, change.asked) == {0}
    assert (in_force(cluster), leaders(cluster)) != before[:2]
    assert (after_a_kill(disk) == in_force(cluster)) is change.lasts
    cluster.close()
