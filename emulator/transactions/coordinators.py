"""The transaction coordinators of a cluster, one for each broker, on their topic.

A broker coordinates the transactional ids that are kept in the partitions it leads. When a
partition gets another leader, the old one drops its ids from memory, and the new one loads them
from the log. The coordinator's epoch, which markers carry, is the leader epoch of that partition.

The topic is created when a coordinator is first looked for (FindCoordinator); before that every
request about a transactional id is answered NOT_COORDINATOR, as on a real broker.

Left out: the time that a real broker takes to load a partition.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ..base.java_order import partition_for
from ..config.internal_topics import TRANSACTION_STATE
from ..partitions.partition import NO_LEADER
from .admission import Generation
from .coordinator import TransactionCoordinator, TransactionSettings
from .store import Environment, decoded
from .transaction import TV2, Key, Producer, Transaction

if TYPE_CHECKING:
    from ..broker import ClusterState
    from ..config.configs import BrokerConfig
    from ..groups.coordinators import Groups
    from ..metadata.delta import MetadataDelta
    from ..metadata.image import MetadataImage
    from ..partitions.partition import Partition


class Transactions:
    """The transaction coordinators of a cluster, one for each broker, on their topic."""

    def __init__(self, state: ClusterState, groups: Groups) -> None:
        self._state = state
        self._groups = groups
        self._coordinators: dict[int, TransactionCoordinator] = {}
        for node_id, broker in state.brokers.items():
            self.add(node_id, broker.config)
        # Partition to the node that has it loaded.
        self._loaded: dict[int, int] = {}

    def add(self, node_id: int, config: BrokerConfig) -> None:
        """One more broker, which coordinates nothing yet."""
        environment = Environment(self._state, self._groups, node_id)
        self._coordinators[node_id] = TransactionCoordinator(environment, settings_of(config))

    def remove(self, node_id: int) -> None:
        del self._coordinators[node_id]

    def at(self, node_id: int) -> TransactionCoordinator:
        return self._coordinators[node_id]

    def asked_at(self, node_id: int, transactional_id: str) -> TransactionCoordinator:
        """The coordinator of the broker that is asked about an id; it refuses an empty one itself.

        Raises Refused(NOT_COORDINATOR) if another broker coordinates the id, or none.
        """
        if transactional_id and self.leader_of(transactional_id) != node_id:
            raise Refused(Error.NOT_COORDINATOR)
        return self._coordinators[node_id]

    def coordinator_for(self, transactional_id: str) -> TransactionCoordinator:
        """The coordinator of an id, at whichever broker; any refuses an empty one.

        Raises Refused(NOT_COORDINATOR) if there is none.
        """
        coordinator = self._coordinators.get(self.leader_of(transactional_id))
        if coordinator is not None:
            return coordinator
        if transactional_id:
            raise Refused(Error.NOT_COORDINATOR)
        return next(iter(self._coordinators.values()))

    def ask(
        self, transactional_id: str, producer: Producer, keys: list[Key], generation: Generation
    ) -> list[Error]:
        """The coordinator's error for each of these partitions, which are to get data of a
        transaction."""
        if not keys:
            return []
        try:
            coordinator = self.coordinator_for(transactional_id)
            if not generation.adds:
                return coordinator.verify(transactional_id, producer, keys)
            coordinator.add(transactional_id, producer, keys, TV2)
        except Refused as refused:
            return [refused.error] * len(keys)
        return [Error.NONE] * len(keys)

    def leader_of(self, transactional_id: str) -> int:
        """The id of the node that coordinates a transactional id, or -1."""
        topic = self._state.topics.get(TRANSACTION_STATE)
        if topic is None:
            return NO_LEADER
        return self._loaded.get(partition_for(transactional_id, len(topic.partitions)), NO_LEADER)

    def all(self) -> list[Transaction]:
        return [each for one in self._coordinators.values() for each in one.transactions.values()]

    def shift(self, milliseconds: int) -> None:
        for coordinator in self._coordinators.values():
            coordinator.shift(milliseconds)

    def ensure_topic(self) -> None:
        """Create `__transaction_state` if there is none yet. Raises Refused."""
        self._state.topics.ensure_internal(TRANSACTION_STATE)

    # Changes of the metadata

    def __call__(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Follow the leaders of the topic. Where another one has changed, markers that could not be
        written may be now."""
        if delta.partitions:
            for coordinator in self._coordinators.values():
                coordinator.try_again()
        topic = self._state.topics.get(TRANSACTION_STATE)
        is_gone = topic is None and bool(self._loaded)
        if not is_gone and (topic is None or not delta.reaches(topic.id)):
            return
        partitions = [] if topic is None else topic.partitions
        leaders = {each.index: each.leader for each in partitions}
        before = self._loaded
        self._loaded = {i: node for i, node in before.items() if leaders.get(i) == node}
        for node_id in {node for i, node in before.items() if i not in self._loaded}:
            self._coordinators[node_id].resign(partial(self._is_elsewhere, node_id))
        loading = [
            each
            for each in partitions
            if each.index not in self._loaded and each.leader in self._coordinators
        ]
        for partition in loading:
            self._loaded[partition.index] = partition.leader
            self._load(partition, self._coordinators[partition.leader])
        for node_id in {each.leader for each in loading}:
            self._coordinators[node_id].recover()

    def _load(self, partition: Partition, coordinator: TransactionCoordinator) -> None:
        partition.replay(lambda record: coordinator.replay(*decoded(record)))

    def _is_elsewhere(self, node_id: int, transactional_id: str) -> bool:
        return self.leader_of(transactional_id) != node_id


def settings_of(config: BrokerConfig) -> TransactionSettings:
    """The settings of transactions by the broker's configs."""
    prefix = "transaction"
    return TransactionSettings(
        timeout_ms_max=config.get(f"{prefix}.max.timeout.ms"),
        abort_interval_ms=config.get(f"{prefix}.abort.timed.out.{prefix}.cleanup.interval.ms"),
        expiry_interval_ms=config.get(f"{prefix}.remove.expired.{prefix}.cleanup.interval.ms"),
        expiration_ms=config.get("transactional.id.expiration.ms"),
        forgets_starts=config.release.forgets_starts,
        fences_by_one_epoch=config.release.fences_by_one_epoch,
        looks_at_level_first=config.release.looks_at_level_first,
    )
