"""Three brokers, of the emulator or of a real Kafka: what a test does to them, and asks of them.

What it asks goes over the wire, to any broker that runs, so that it is the same of both.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from odradek import Emulator
from odradek.compat import RealCluster
from odradek.compat.clients import wait_until
from odradek.wire import Error, Request
from odradek.wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.elect_leaders import ElectLeadersRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.support.connection import Connection

IDS = (1, 2, 3)
RACKS = ["a", "b", "c"]
CONFIG = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "auto.leader.rebalance.enable": "false",
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.heartbeat.interval.ms": "500",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "transaction.state.log.min.isr": "2",
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
}
REAL_CONFIG = CONFIG | {
    "broker.session.timeout.ms": "4000",
    "broker.heartbeat.interval.ms": "400",
    "replica.lag.time.max.ms": "3000",
    "unclean.leader.election.interval.ms": "2000",
}
SETTLED_S = 90.0
GROUP, TRANSACTION = 0, 1
PREFERRED, UNCLEAN = 0, 1
_LATEST = -1


class Place(NamedTuple):
    """A partition, as a broker tells of it."""

    leader: int
    replicas: list[int]
    isr: list[int]


class Ground(ABC):
    """Three brokers with the ids 1 to 3, in the racks a, b and c."""

    def __init__(self) -> None:
        self._running = dict.fromkeys(IDS, True)

    @abstractmethod
    def __enter__(self) -> Self: ...

    @abstractmethod
    def __exit__(self, *_: object) -> None: ...

    @abstractmethod
    def address(self, node_id: int) -> str:
        """A broker's "host:port"."""

    @abstractmethod
    def _do(self, verb: str, node_id: int) -> None: ...

    @property
    def bootstrap_servers(self) -> str:
        """The addresses of all three."""
        return ",".join(map(self.address, IDS))

    # What is done to brokers

    def do(self, verb: str, node_id: int) -> None:
        """Stop, kill, start, pause or resume a broker."""
        if verb not in ("start", "resume"):
            self._running[node_id] = False
        self._do(verb, node_id)
        if verb in ("start", "resume"):
            self._running[node_id] = True

    def start_all(self) -> None:
        """Start those that were stopped or killed, and wait until all replicas are in sync."""
        for node_id, runs in self._running.items():
            if not runs:
                self.do("start", node_id)
        self.await_whole()

    def running(self) -> list[int]:
        """The ids of those that answer."""
        return [node_id for node_id, runs in self._running.items() if runs]

    # What is asked

    def ask(self, request: Request, version: int, at: int | None = None) -> Any:
        """The answer of a broker, by default of any that runs. Raises OSError, EOFError."""
        node_id = random.choice(self.running()) if at is None else at
        with Connection(self.address(node_id)) as connection:
            return connection.ask(request, version)

    def create(self, topic: str, *replicas: Sequence[int], **configs: object) -> None:
        """Create a topic whose partitions are on these brokers; all of them know it then. Configs
        are given with "_" for "."."""
        made = CreateTopicsRequest.Topic
        places = [
            made.Assignment(partition_index=number, broker_ids=list(ids))
            for number, ids in enumerate(replicas)
        ]
        texts = [
            made.Config(name=name.replace("_", "."), value=str(value))
            for name, value in configs.items()
        ]
        wanted = made(
            name=topic,
            num_partitions=-1,
            replication_factor=-1,
            assignments=places,
            configs=texts,
        )
        (answer,) = self.ask(CreateTopicsRequest(topics=[wanted], timeout_ms=30_000), 5).topics
        assert answer.error_code == 0, Error(answer.error_code)
        self._until(
            lambda: all(len(self.places(topic, at=each)) == len(replicas) for each in IDS),
            f"every broker lists {topic}",
        )

    def places(self, topic: str, at: int | None = None) -> list[Place]:
        """Its partitions, in order; none if a broker does not know it, or says it has no leader."""
        asked = [MetadataRequest.Topic(name=topic)]
        request = MetadataRequest(topics=asked, allow_auto_topic_creation=False)
        (found,) = self.ask(request, 9, at).topics
        if found.error_code:
            return []
        partitions = sorted(found.partitions, key=lambda each: each.partition_index)
        return [Place(each.leader_id, each.replica_nodes, each.isr_nodes) for each in partitions]

    def place(self, topic: str, partition: int = 0) -> Place:
        """One partition. Waits for a broker that tells of it."""
        found: list[Place] = []

        def is_listed() -> bool:
            found[:] = self.places(topic)
            return len(found) > partition

        self._until(is_listed, f"{topic}-{partition} is listed")
        return found[partition]

    def end(self, topic: str, partition: int = 0, *, committed: bool = False) -> int:
        """The high watermark, or the last stable offset; -1 while its leader does not tell."""
        leader = self.place(topic, partition).leader
        if leader not in self.running():
            return -1
        asked = ListOffsetsRequest.Topic
        place = asked.Partition(partition_index=partition, timestamp=_LATEST)
        request = ListOffsetsRequest(
            replica_id=-1,
            isolation_level=1 if committed else 0,
            topics=[asked(name=topic, partitions=[place])],
        )
        found = self.ask(request, 7, leader).topics[0].partitions[0]
        return int(found.offset)

    def coordinator(self, key: str, kind: int = GROUP) -> int:
        """The id of the broker that coordinates a group or a transactional id."""
        request = FindCoordinatorRequest(key=key, key_type=kind)
        found: list[int] = []

        def is_found() -> bool:
            answer = self.ask(request, 2)
            found[:] = [] if answer.error_code else [answer.node_id]
            return bool(found)

        self._until(is_found, f"{key} has a coordinator")
        return found[0]

    # What is changed

    def elect(self, topic: str, kind: int = PREFERRED) -> None:
        """Have its first partition led by its first replica, or, UNCLEAN, by any that runs."""
        asked = [ElectLeadersRequest.Topic(topic=topic, partitions=[0])]
        request = ElectLeadersRequest(election_type=kind, topic_partitions=asked, timeout_ms=30_000)

        def is_done() -> bool:
            found = self.ask(request, 2).replica_election_results
            codes = {part.error_code for each in found for part in each.partition_result}
            return codes <= {0, Error.ELECTION_NOT_NEEDED}

        self._until(is_done, f"{topic} has an election")

    def reassign(self, topic: str, replicas: Sequence[int]) -> None:
        """Put its first partition on these brokers, and wait until it is there."""
        asked = AlterPartitionReassignmentsRequest.Topic
        place = asked.Partition(partition_index=0, replicas=list(replicas))
        topics = [asked(name=topic, partitions=[place])]
        request = AlterPartitionReassignmentsRequest(topics=topics, timeout_ms=30_000)
        answer = self.ask(request, 0)
        assert answer.error_code == 0, Error(answer.error_code)
        asking = ListPartitionReassignmentsRequest(topics=None)
        self._until(lambda: not self.ask(asking, 0).topics, f"{topic} is on {replicas}")
        self.await_isr(topic, replicas)

    # What is waited for

    def await_led(self, topic: str, *, but_not_by: int, partition: int = 0) -> int:
        """Wait until another broker leads; return its id."""
        found: list[int] = []

        def is_led() -> bool:
            found[:] = [self.place(topic, partition).leader]
            return found[0] not in (-1, but_not_by)

        self._until(is_led, f"{topic}-{partition} has another leader")
        return found[0]

    def await_coordinated(self, key: str, kind: int = GROUP, *, but_not_by: int) -> None:
        """Wait until another broker coordinates it."""
        self._until(
            lambda: self.coordinator(key, kind) != but_not_by, f"{key} has another coordinator"
        )

    def await_isr(self, topic: str, isr: Sequence[int], partition: int = 0) -> None:
        """Wait until these are in sync, and no others."""
        self._until(
            lambda: sorted(self.place(topic, partition).isr) == sorted(isr),
            f"{list(isr)} are in sync in {topic}-{partition}",
        )

    def await_whole(self) -> None:
        """Wait until every broker lists all of them, and says that all replicas are in sync."""
        self._until(lambda: all(map(self._is_whole, IDS)), "all brokers and replicas are there")

    def _is_whole(self, node_id: int) -> bool:
        found = self.ask(MetadataRequest(topics=None), 9, node_id)
        return len(found.brokers) == len(IDS) and all(
            part.leader_id != -1 and sorted(part.isr_nodes) == sorted(part.replica_nodes)
            for topic in found.topics
            for part in topic.partitions
        )

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        def holds() -> bool:
            try:
                return condition()
            except (OSError, EOFError):  # it has just ended, or is not ready yet
                return False

        wait_until(holds, what, SETTLED_S)


class Emulated(Ground):
    """Of the emulator, in this process."""

    def __init__(self, config: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.kafka = Emulator({**CONFIG, **(config or {})}, brokers=len(IDS), racks=RACKS)

    def __enter__(self) -> Self:
        self.kafka.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kafka.stop()

    def address(self, node_id: int) -> str:
        return self.kafka.brokers[node_id].address

    def _do(self, verb: str, node_id: int) -> None:
        getattr(self.kafka.brokers[node_id], verb)()


class Real(Ground):
    """Of Apache Kafka, with a controller of its own, so that any broker may go."""

    def __init__(self, config: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._cluster = RealCluster(
            len(IDS),
            config={**REAL_CONFIG, **(config or {})},
            racks=RACKS,
            has_own_controller=True,
        )

    def __enter__(self) -> Self:
        self._cluster.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.close()

    def address(self, node_id: int) -> str:
        return self._cluster.nodes[node_id].bootstrap_servers

    def _do(self, verb: str, node_id: int) -> None:
        getattr(self._cluster.nodes[node_id], verb)()
