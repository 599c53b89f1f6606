"""What a cluster says of itself: settled when both clusters say the same.

Asked of every broker that runs: the brokers that it lists; leader, leader epoch, ISR and offline
replicas of each partition of the sequence's own topics, as it knows them, and whether it serves
them and up to which high watermark. Asked of one: eligible leaders, reassignments. Of the leaders
of the internal topics: who they are, which replicas are in sync, what groups have committed and in
which states transactions are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from odradek.wire import Request
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.describe_transactions import DescribeTransactionsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest

from ..engine.asker import Asker
from ..engine.side import Side
from .clusters import RACKS, Brokers

INTERNAL = ("__consumer_offsets", "__transaction_state")
AUTO = "auto"
"""In the names of topics whose replicas the controller places: on which brokers, is a draw."""
_NO_SESSION = -1
_LATEST = -1


class Viewer:
    """Asks the brokers of one side, each on a connection that is kept."""

    def __init__(self, side: Side, brokers: Brokers) -> None:
        self._side = side
        self._brokers = brokers
        self._askers: dict[int, Asker] = {}

    def ask(self, node: int, request: Request, version: int) -> Any:
        """What a broker answers. Raises OSError."""
        try:
            if node not in self._askers:
                self._askers[node] = Asker(self._side.addresses[node - 1])
            return self._askers[node].ask(request, version)
        except OSError:
            self.forget(node)
            raise

    def ask_any(self, request: Request, version: int) -> Any:
        """What a broker that runs answers. Raises OSError."""
        return self.ask(self.running()[0], request, version)

    def forget(self, node: int) -> None:
        """Its process ends or begins: connect again when it is asked next."""
        asker = self._askers.pop(node, None)
        if asker is not None:
            asker.close()

    def close(self) -> None:
        for node in list(self._askers):
            self.forget(node)

    def running(self) -> list[int]:
        return [node for node, runs in self._brokers.running.items() if runs]

    def listed(self) -> list[list[int]]:
        """Which brokers each broker lists. Raises OSError."""
        answers = [self.ask(node, MetadataRequest(topics=[]), 9) for node in self.running()]
        return [[each.node_id for each in answer.brokers] for answer in answers]

    def view(
        self, topics: Iterable[str], groups: Iterable[str], transactional_ids: Iterable[str]
    ) -> dict[str, Any]:
        """All that is compared; what a broker does not answer is told as it is."""
        names = sorted({*topics} - {*INTERNAL})
        try:
            found = {f"broker {node}": self._seen_by(node, names) for node in self.running()}
            return found | self._of_all(names) | self._coordinated(groups, transactional_ids)
        except OSError:
            return {"error": "a broker does not answer yet"}

    # Within

    def _metadata(self, node: int, names: Iterable[str]) -> Any:
        wanted = [MetadataRequest.Topic(name=name) for name in names]
        return self.ask(node, MetadataRequest(topics=wanted, allow_auto_topic_creation=False), 9)

    def _seen_by(self, node: int, names: list[str]) -> dict[str, Any]:
        metadata = self._metadata(node, names)
        of_interest = [topic for topic in metadata.topics if AUTO not in topic.name]
        places = [(t.name, p.partition_index) for t in of_interest for p in t.partitions]
        seen: dict[str, Any] = {"brokers": [each.node_id for each in metadata.brokers]}
        for topic in metadata.topics:
            seen[topic.name] = topic.error_code
            if AUTO in topic.name:
                seen[topic.name] = _numbers(topic.partitions)
                continue
            for part in topic.partitions:
                seen[f"{topic.name}-{part.partition_index}"] = {
                    "error": part.error_code,
                    "leader": f"{part.leader_id}/{part.leader_epoch}",
                    "replicas": part.replica_nodes,
                    "isr": part.isr_nodes,
                    "offline": part.offline_replicas,
                }
        if places:
            seen["served"] = self._served(node, places)
            seen["sent on"] = {rack: self._sent_on(node, places, rack) for rack in RACKS}
            seen["ends"] = self._ends(node, places)
        return seen

    def _served(self, node: int, places: list[tuple[str, int]]) -> dict[str, Any]:
        return {
            f"{topic.topic}-{p.partition_index}": {
                "error": p.error_code,
                "high watermark": p.high_watermark,
                "last stable": p.last_stable_offset,
                "log start": p.log_start_offset,
            }
            for topic in self.ask(node, _fetch(places), 12).responses
            for p in topic.partitions
        }

    def _sent_on(self, node: int, places: list[tuple[str, int]], rack: str) -> dict[str, int]:
        """To which replica a client of a rack is sent: a leader does not know at first what a
        follower has."""
        return {
            f"{topic.topic}-{p.partition_index}": p.preferred_read_replica
            for topic in self.ask(node, _fetch(places, rack), 12).responses
            for p in topic.partitions
        }

    def _ends(self, node: int, places: list[tuple[str, int]]) -> dict[str, Any]:
        made = ListOffsetsRequest.Topic
        part = made.Partition
        request = ListOffsetsRequest(
            replica_id=-1,
            isolation_level=0,
            topics=[
                made(name=name, partitions=[part(partition_index=index, timestamp=_LATEST)])
                for name, index in places
            ],
        )
        return {
            f"{topic.name}-{p.partition_index}": [p.error_code, p.offset]
            for topic in self.ask(node, request, 7).topics
            for p in topic.partitions
        }

    def _of_all(self, names: list[str]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        if names:
            wanted = DescribeTopicPartitionsRequest.Topic
            request = DescribeTopicPartitionsRequest(topics=[wanted(name=name) for name in names])
            for topic in self.ask_any(request, 0).topics:
                for p in topic.partitions:
                    elr, last = p.eligible_leader_replicas or [], p.last_known_elr or []
                    seen[f"{topic.name}-{p.partition_index}"] = {"elr": elr, "last": last}
        if not self._brokers.has_quorum:  # who asks the controller then waits
            return seen
        for topic in self.ask_any(ListPartitionReassignmentsRequest(topics=None), 0).topics:
            for p in topic.partitions:
                if topic.name in names:
                    moves = {"adding": p.adding_replicas, "removing": p.removing_replicas}
                    seen[f"{topic.name}-{p.partition_index} moves"] = moves
        return seen

    def _coordinated(self, groups: Iterable[str], ids: Iterable[str]) -> dict[str, Any]:
        internal = self._metadata(self.running()[0], INTERNAL)
        seen: dict[str, Any] = {
            f"{topic.name}-{p.partition_index}": {"leader": p.leader_id, "isr": sorted(p.isr_nodes)}
            for topic in internal.topics
            for p in topic.partitions
        }
        for group in sorted(groups):
            seen[f"group {group}"] = [self._committed(node, group) for node in self.running()]
        for each in sorted(ids):
            request = DescribeTransactionsRequest(transactional_ids=[each])
            states = [self.ask(node, request, 0).transaction_states[0] for node in self.running()]
            seen[f"transaction {each}"] = [
                (state.error_code, state.transaction_state, state.producer_epoch)
                for state in states
            ]
        return seen

    def _committed(self, node: int, group: str) -> Any:
        found = self.ask(node, OffsetFetchRequest(group_id=group, topics=None), 5)
        offsets = {
            f"{topic.name}-{p.partition_index}": p.committed_offset
            for topic in found.topics
            for p in topic.partitions
        }
        return [found.error_code, dict(sorted(offsets.items()))]


def _numbers(partitions: Iterable[Any]) -> Any:
    """Of how many partitions each broker is the leader; how many replicas each has, and in sync."""
    led = Counter(each.leader_id for each in partitions)
    replicas = [(len(each.replica_nodes), len(each.isr_nodes)) for each in partitions]
    return [sorted(led.values()), sorted(replicas)]


def _fetch(places: list[tuple[str, int]], rack: str = "") -> FetchRequest:
    """From the beginning, and as little as can be."""
    made = FetchRequest.Topic
    part = made.Partition
    return FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1,
        session_epoch=_NO_SESSION,
        rack_id=rack,
        topics=[
            made(
                topic=name,
                partitions=[part(partition=index, fetch_offset=0, partition_max_bytes=1)],
            )
            for name, index in places
        ],
    )
