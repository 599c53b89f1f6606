"""The coordinators of a cluster's groups, one for each broker.

A broker coordinates the groups that are kept in the partitions of `__consumer_offsets` that it
leads. When a partition gets another leader, the old one drops its groups from memory, after it has
refused parked requests with NOT_COORDINATOR, and the new one loads them from the log.

The topic is created when a group is first looked for, before that request is answered; a real
broker answers COORDINATOR_NOT_AVAILABLE until it has created it, and takes its time to load a
partition: that is in readiness/, for who asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ..base.call import Call
from ..config.group import group_config
from ..config.internal_topics import CONSUMER_OFFSETS

if TYPE_CHECKING:
    from ..broker import ClusterState
    from ..config.configs import BrokerConfig
    from ..metadata.delta import MetadataDelta
    from ..metadata.image import MetadataImage
    from ..partitions.partition import Partition
    from ..share.coordinators import ShareCoordinators
    from .classic.group import Answer
    from .coordinator import Coordinator
    from .records import TransactionEnd


class Groups:
    def __init__(self, state: ClusterState, share_states: ShareCoordinators) -> None:
        self._state = state
        self._share_states = share_states
        # Answers to parked requests wait until a change of leaders is complete.
        self._held: list[Callable[[], None]] | None = None
        self.in_zookeeper: MutableMapping[tuple[str, str, int], int] = {}
        """What OffsetCommit v0 has committed, by group, topic and partition."""

    @cached_property
    def _all(self) -> dict[int, Coordinator]:
        """By node. They are made, and what they are made of imported, when the first is asked for,
        or `__consumer_offsets` is there."""
        brokers = self._state.brokers.items()
        return {node_id: self._coordinator(broker.config) for node_id, broker in brokers}

    @property
    def _made(self) -> dict[int, Coordinator]:
        return self._all if "_all" in self.__dict__ else {}

    def at(self, node_id: int) -> Coordinator:
        return self._all[node_id]

    def below(self, node_id: int, partitions: Sequence[Partition]) -> Coordinator:
        """One that knows what a broker's does of these partitions below their high watermarks."""
        from .coordinator import ClusterOffsetsTopic

        found = self._coordinator(self._state.brokers[node_id].config)
        found.settings.partitions = self._all[node_id].settings.partitions
        topic = ClusterOffsetsTopic(self._state, found.settings)
        for each in partitions:
            log = topic.entries(each.index, found.runtime.decode, each.high_watermark)
            found.look(each.index, log)
        return found

    def add(self, node_id: int, config: BrokerConfig) -> None:
        """One more broker, which coordinates nothing yet."""
        if self._made:
            like = next(iter(self._all.values())).settings
            self._all[node_id] = added = self._coordinator(config)
            added.settings.partitions = like.partitions

    def remove(self, node_id: int) -> None:
        self._made.pop(node_id, None)

    def shift(self, milliseconds: int) -> None:
        for coordinator in self._made.values():
            coordinator.runtime.shift(milliseconds)

    def ensure_topic(self) -> None:
        """Create `__consumer_offsets` if there is none yet. Raises Refused."""
        self._state.topics.ensure_internal(CONSUMER_OFFSETS)

    def partition_for(self, group_id: str) -> int:
        return next(iter(self._all.values())).partition_for(group_id)

    def leader_of(self, group_id: str) -> int:
        """The id of the node that coordinates a group, or -1. Raises Refused if there is no
        topic."""
        return self._state.topics.partition(CONSUMER_OFFSETS, self.partition_for(group_id)).leader

    def end_transaction(self, partition: int, end: TransactionEnd) -> None:
        """A marker has been written to this partition of `__consumer_offsets`."""
        for coordinator in self._made.values():
            coordinator.offsets.end_transaction(partition, end)

    def __call__(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Take in a change of the metadata: deleted topics, and leaders of the topic."""
        self._held = []
        try:
            for topic in delta.removed.values():
                for coordinator in self._made.values():
                    coordinator.topic_deleted(topic.name)
            for coordinator in self._made.values() if delta.removed else ():
                if coordinator.has_share_groups:
                    coordinator.share.topics_deleted(frozenset(delta.removed))
            self._follow(delta)
        finally:
            self._state.environment.woken += self._held
            self._held = None

    def _follow(self, delta: MetadataDelta) -> None:
        """Let each broker coordinate what is in the partitions that it leads, and nothing else."""
        topic = self._state.topics.get(CONSUMER_OFFSETS)
        if topic is None or not delta.reaches(topic.id):
            return
        if topic.id in delta.created:
            # It may have been created with another number of partitions than is configured now.
            for coordinator in self._all.values():
                coordinator.settings.partitions = len(topic.partitions)
        self._resign(topic.partitions)
        for partition in topic.partitions:
            leader = self._all.get(partition.leader)
            if leader is not None and partition.index not in leader.shards:
                leader.take_over(partition.index)

    def _resign(self, partitions: Sequence[Partition]) -> None:
        led = {(each.leader, each.index) for each in partitions}
        for node_id, coordinator in self._all.items():
            for index in list(coordinator.shards):
                if (node_id, index) not in led:
                    coordinator.resign(index)

    def _coordinator(self, config: BrokerConfig) -> Coordinator:
        from .coordinator import ClusterOffsetsTopic, Coordinator
        from .settings import settings_of
        from .topics_view import TopicsView

        state, settings = self._state, settings_of(config)
        return Coordinator(
            topic=ClusterOffsetsTopic(state, settings),
            send=self._send,
            timers=state.environment.timers,
            now=state.environment.clock.now,
            settings=settings,
            topics=TopicsView(state.topics, lambda: state.metadata.end_offset),
            configs_of=partial(group_config, state.metadata.image.configs_of, broker=config),
            journal=state.environment.journal,
            share_states=self._share_states,
        )

    def _send(self, call: Call, answer: Answer) -> None:
        if self._held is None:
            call.answer(answer)
        else:
            self._held.append(partial(call.answer, answer))
