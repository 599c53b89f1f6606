"""After any changes, what is in force is what a restart shows, and what the metadata log says.

The changes are drawn, and come as requests; some of them find the disk full. Leaders are elected
anew at a restart, so each partition is then led by its first replica, two leader epochs later.
"""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.node import Node
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig
from odradek.emulator.metadata.image import BROKER_RESOURCE, TOPIC_RESOURCE
from odradek.storage import MemoryDisk
from odradek.wire import Error

from tests.requests import administration as ask
from tests.requests.administration import BROKER, CLIENT_METRICS, GROUP, TOPIC, Asked, errors
from tests.support.clock import NOW
from tests.support.cluster import client_of
from tests.support.drawn import examples
from tests.support.in_force import in_force, leaders, partitions

BROKERS = (1, 2, 3)
NAMES = st.sampled_from(["a", "a.b", "a_b", "c"])
USERS = st.sampled_from(["u", "v"])
REPLICAS = st.lists(st.sampled_from(BROKERS), min_size=1, max_size=3, unique=True)
# What resources set, or with None do not: some of it cannot be, or goes with something else only.
TEXTS = {
    TOPIC: {
        "retention.ms": ["5", "6", "x", None],
        "cleanup.policy": ["compact", None],
        "min.compaction.lag.ms": ["5", None],
        "max.compaction.lag.ms": ["4", None],
        "unknown": ["5", None],
    },
    BROKER: {
        "log.retention.ms": ["7", "8", "0", None],
        "log.cleaner.min.compaction.lag.ms": ["9", None],
        "group.consumer.assignment.interval.ms": ["2000", "90000", None],
        "min.insync.replicas": ["2", None],
        "my.plugin": ["x", None],
    },
    GROUP: {
        "consumer.session.timeout.ms": ["46000", "4", None],
        "consumer.assignment.interval.ms": ["3000", None],
    },
    CLIENT_METRICS: {"interval.ms": ["200", "1", None], "match": ["client_id=x", None]},
}
RESOURCES = {TOPIC: NAMES, BROKER: st.sampled_from(["", "1"]), GROUP: USERS, CLIENT_METRICS: USERS}
LEVELS = {
    "transaction.version": (0, 2),
    "group.version": (0, 1),
    "eligible.leader.replicas.version": (0, 1),
    "kraft.version": (0, 1),
    "metadata.version": (29, 30),
}
DONE, FULL = 0, Error.KAFKA_STORAGE_ERROR


@st.composite
def changed_config(draw: st.DrawFn) -> tuple[int, str, str, str | None]:
    kind = draw(st.sampled_from(sorted(TEXTS)))
    key = draw(st.sampled_from(sorted(TEXTS[kind])))
    return kind, draw(RESOURCES[kind]), key, draw(st.sampled_from(TEXTS[kind][key]))


class Metadata(RuleBasedStateMachine):
    """A cluster of three brokers, and one after the other on the same disk."""

    def __init__(self) -> None:
        super().__init__()
        self.disk = MemoryDisk()
        self.full_for = 0
        self.cluster = self.opened()

    def opened(self) -> Cluster:
        return Cluster(
            BrokerConfig({"group.max.session.timeout.ms": "1800000"}),
            data_dir=self.disk.directory(),
            brokers=[Node(node_id, "localhost", 9090 + node_id) for node_id in BROKERS],
            clock=ManualClock(NOW),
        )

    def ask(self, asked: Asked) -> None:
        before = in_force(self.cluster), leaders(self.cluster)
        found = errors(client_of(self.cluster), asked)
        assert self.full_for or FULL not in found
        if DONE not in found:
            assert (in_force(self.cluster), leaders(self.cluster)) == before
        self.full_for -= bool(self.full_for)
        if not self.full_for:
            self.heal()

    # Changes

    @initialize()
    def begin(self) -> None:
        self.ask(ask.create("c", [[1, 2], [2, 3, 1]]))

    @rule(
        name=NAMES,
        replicas=st.lists(REPLICAS, min_size=1, max_size=3),
        configs=st.dictionaries(st.sampled_from(["retention.ms", "flush.ms"]), st.just("5")),
    )
    def create(self, name: str, replicas: list[list[int]], configs: dict[str, str]) -> None:
        self.ask(ask.create(name, replicas, configs))

    @rule(names=st.lists(NAMES, min_size=1, max_size=2, unique=True))
    def delete(self, names: list[str]) -> None:
        self.ask(ask.delete(*names))

    @rule(names=st.lists(NAMES, min_size=1, max_size=2, unique=True), count=st.integers(1, 5))
    def grow(self, names: list[str], count: int) -> None:
        self.ask(ask.grow(count, *names))

    @rule(changes=st.lists(changed_config(), min_size=1, max_size=3, unique_by=lambda c: c[:2]))
    def alter(self, changes: list[tuple[int, str, str, str | None]]) -> None:
        self.ask(ask.alter(*changes))

    @rule(change=changed_config())
    def replace(self, change: tuple[int, str, str, str | None]) -> None:
        kind, name, key, text = change
        self.ask(ask.replace(kind, name, {} if text is None else {key: text}))

    @rule(user=USERS, value=st.sampled_from([5.0, 6.0, -1.0, None]))
    def limit(self, user: str, value: float | None) -> None:
        self.ask(ask.quota(user, value))

    @rule(user=USERS, mechanism=st.sampled_from([1, 2]), goes=st.booleans())
    def identify(self, user: str, mechanism: int, goes: bool) -> None:
        self.ask((ask.no_credential if goes else ask.credential)(user, mechanism))

    @rule(name=st.sampled_from(sorted(LEVELS)), is_up=st.booleans())
    def agree(self, name: str, is_up: bool) -> None:
        kind = ask.UPGRADE if is_up else ask.DOWNGRADE
        self.ask(ask.level(name, LEVELS[name][is_up], kind))

    @rule(name=NAMES, index=st.integers(0, 2), replicas=REPLICAS, elects=st.booleans())
    def move(self, name: str, index: int, replicas: list[int], elects: bool) -> None:
        self.ask(ask.move(name, index, replicas))
        if elects:
            self.ask(ask.elect(name, index))

    @rule(ids=st.sampled_from([1, 1000]))
    def identify_producers(self, ids: int) -> None:
        first = self.cluster.metadata.image.next_producer_id
        self.ask(ask.producer_id())
        if self.cluster.metadata.image.next_producer_id > first:  # a new block: use it up
            for _ in range(ids - 1):
                self.cluster.brokers[1].next_producer_id()

    # The disk, and restarts

    @precondition(lambda self: not self.full_for)
    @rule(room=st.sampled_from([0, 50, 500]), changes=st.integers(1, 4))
    def fill(self, room: int, changes: int) -> None:
        """Until so many changes have been asked for."""
        self.disk.fill(after_bytes=room)
        self.full_for = changes

    def heal(self) -> None:
        self.disk.heal()
        self.full_for = 0

    @rule()
    def snapshot(self) -> None:
        self.cluster.metadata_upkeep.take_snapshot()

    @rule(is_kill=st.booleans())
    def restart(self, is_kill: bool) -> None:
        self.heal()
        before, led = in_force(self.cluster), leaders(self.cluster)
        if is_kill:
            self.disk = self.disk.kill()
        else:
            self.cluster.close()
        self.cluster = self.opened()
        assert in_force(self.cluster) == before
        assert leaders(self.cluster) == {
            name: (partition.replicas[0], led[name][1] + 2)
            for name, partition in partitions(self.cluster).items()
        }

    # What always holds

    @invariant()
    def in_force_is_what_the_log_says(self) -> None:
        cluster, image = self.cluster, self.cluster.metadata.image
        said = {topic.name: topic for topic in image.topics.values()}
        assert {topic.name: topic.id for topic in cluster.topics} == {
            name: topic.topic_id for name, topic in said.items()
        }
        for topic in cluster.topics:
            assert topic.config.overrides == image.configs_of(TOPIC_RESOURCE, topic.name)
            for partition, known in zip(
                topic.partitions, said[topic.name].partitions.values(), strict=True
            ):
                assert partition.leader == known.leader
                assert partition.leader_epoch == known.leader_epoch
                assert (partition.replicas, partition.isr) == (known.replicas, known.isr)
                assert partition.log.epochs.latest <= partition.leader_epoch
        assert cluster.config.dynamic == {
            name: texts for (kind, name), texts in image.configs.items() if kind == BROKER_RESOURCE
        }

    def teardown(self) -> None:
        self.heal()
        self.cluster.close()


TestMetadata = Metadata.TestCase
TestMetadata.settings = examples(12, stateful_step_count=40)


@pytest.mark.long
def test_more_of_the_same() -> None:
    many = settings(
        max_examples=60, stateful_step_count=40, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(Metadata, settings=many)
