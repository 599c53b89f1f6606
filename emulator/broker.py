"""The own state of each broker of a cluster (configs, fetch sessions, a block of producer ids), and
what all brokers share.

Everything else is shared: data is stored once, and there is one metadata log. Which partitions and
coordinators a broker has follows from the leaders of partitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from .config.configs import BrokerConfig, TopicConfig
from .partitions.fetch_sessions import SessionCache

if TYPE_CHECKING:
    from .environment import Environment
    from .maintenance.log_manager import LogManager
    from .metadata.features import Features
    from .metadata.log import MetadataLog
    from .metadata.topics import Catalogue
    from .partitions.partition import Topic
    from .replication.replication import Replication


class Broker:
    def __init__(
        self, config: BrokerConfig, random: Random, new_block: Callable[[], range]
    ) -> None:
        self.config = config
        """The configs of the cluster, with what is set at run time for this broker alone."""
        sessions_max: int = config.get("max.incremental.fetch.session.cache.slots")
        self.fetch_sessions = SessionCache(sessions_max, random)
        self._new_block = new_block
        self._producer_ids = range(0)

    def topic_config(self, topic: Topic) -> TopicConfig:
        """The configs of a topic, with this broker's defaults."""
        config = topic.config
        return config if config.broker is self.config else self.config.topic(config.overrides)

    def started_again(self) -> None:
        """Its process has ended and is back: what was only in its memory is gone."""
        self.fetch_sessions.clear()
        self._producer_ids = range(0)

    def next_producer_id(self) -> int:
        """An id that no producer has had, also before a restart. Raises Refused
        (KAFKA_STORAGE_ERROR)."""
        if not self._producer_ids:
            self._producer_ids = self._new_block()
        first, self._producer_ids = self._producer_ids[0], self._producer_ids[1:]
        return first


@dataclass(frozen=True, slots=True)
class ClusterState:
    """What coordinators stand on: metadata, topics, brokers and disks. They take this and what else
    they use, and not the `Cluster` that holds the parts together."""

    environment: Environment
    metadata: MetadataLog
    features: Features
    topics: Catalogue
    brokers: dict[int, Broker]
    replication: Replication
    log_manager: LogManager
    once_decided: Callable[[Callable[[], None]], None]
    """Completes a transaction whose end is decided: right after the answer, or later."""
