"""Cluster: the state of all brokers, without sockets. Driven by a server, or by a test.

Opening a directory restores what its logs hold: the topics and configs of `__cluster_metadata`, the
records of every partition, the groups and offsets of `__consumer_offsets`, the transactions of
`__transaction_state`. It belongs to the node `node.id`, the first of several, also when that has
left.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, TypeAlias

from ..storage import Directory, LogDirectory, LogDirectoryError, RetentionPolicy, kafka_retention
from ..storage.log_directory import OfZooKeeper, OfZooKeeperError
from ..storage.naming import KAFKA, Naming
from ..wire import Refused
from ..wire.scan import HAVE_C
from .base.call import TEST
from .base.clock import Clock
from .base.journal import Journal
from .base.logger import log
from .base.node import alive
from .broker import Broker, ClusterState
from .config.configs import BrokerConfig, ConfigError
from .config.loggers import Loggers
from .config.telemetry import TelemetryClients
from .control.client_tracker import ClientTracker
from .environment import Environment
from .groups import open_groups
from .maintenance.expiry import ProducerExpiry, TokenExpiry
from .maintenance.log_manager import LogManager, say_what_is_wrong
from .maintenance.metadata_snapshots import MetadataUpkeep
from .metadata.features import Features, check_features
from .metadata.log import MetadataLog, metadata_log_config
from .metadata.subscribers.broker_configs import BrokerConfigs
from .metadata.subscribers.topics import Topics
from .metadata.topic_repair import resign, take_over
from .metadata.topic_rules import DEFAULT
from .metadata.topics import Catalogue
from .net.response_cache import AnswerCache
from .parameters import INSTANT, KAFKA_TIMING
from .parameters import scan_limit as checked_scan_limit
from .replication.quorum import ControllerGate
from .replication.replication import Replication
from .security.security import Security, check_security, key_sets_of
from .share import open_share
from .transactions import open_transactions

if TYPE_CHECKING:
    from ..wire import Request, Response
    from .base.node import Node
    from .metadata.delta import MetadataDelta
    from .metadata.image import MetadataImage
    from .net.serving import Endpoint
    from .partitions.partition import Partition, Topic
    from .readiness.kafka_timing import KafkaTiming
    from .security.authorizer.authorizer import Authorizer
    from .security.throttling.throttle import Throttle

Adoption: TypeAlias = Callable[[LogDirectory, MetadataLog], None]
"""Enters what a broker with ZooKeeper has left into the metadata log."""
UNSCANNED_WITHOUT_C = 1000
"""Without the C extension, the records of larger batches than this are not checked."""


_MANY_PARTITIONS = 1000


@contextmanager
def _uncollected(partitions: int) -> Iterator[None]:
    """No garbage is looked for while many partitions are opened: all of it stays, and looking at
    it again and again is a quarter of the time."""
    if partitions < _MANY_PARTITIONS or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Cluster(Environment):
    """One or several brokers: their topics, groups and sessions, and the time they live in."""

    topics: Catalogue
    replication: Replication
    timing: KafkaTiming | None = None
    """The timing of readiness: only with `timing="kafka"`."""
    throttle: Throttle | None = None
    """The throttle of clients over quotas; None before the first quota."""

    def __init__(
        self,
        config: BrokerConfig,
        *,
        data_dir: Path | Directory,
        brokers: Iterable[Node],
        clock: Clock | None = None,
        scan_limit: int | str | None = "default",
        random: Random | None = None,
        retention: RetentionPolicy = kafka_retention,
        features: Mapping[str, int] | None = None,
        naming: Naming = KAFKA,
        journal: Journal | None = None,
        timing: str = INSTANT,
        adopt: Adoption | None = None,
        begins_with_zookeeper: bool = False,
    ) -> None:
        super().__init__(config, brokers, clock, random, journal)
        self.tracker = ClientTracker(self, self.journal)
        self.answers = AnswerCache()
        self.controller_id = min(self.nodes)
        self._set_limits(config, scan_limit)
        listeners = check_security(config, len(self.nodes))
        key_sets = key_sets_of(config, self.clock.now())
        self.log_dir = self._open_directory(data_dir, naming, begins_with_zookeeper)
        self.log_manager = LogManager(self, lambda: self.topics, retention)
        say_what_is_wrong(self.log_dir)
        with _uncollected(len(self.log_dir.partitions)):
            self.metadata = self._open_metadata(features or {}, adopt)
            self.brokers = {node_id: self._broker(node_id) for node_id in self.nodes}
            self._follow_topics(is_short=timing != KAFKA_TIMING)
        self.cluster_id = self.log_dir.properties.cluster_id
        self.log_dir.report_unknown_partitions()
        self.metadata_upkeep = MetadataUpkeep(self, self.metadata)
        self.producer_expiry = ProducerExpiry(self)
        self.authorizer, self.features = self._open_authorizer(), Features(self.metadata)
        self.security = Security(config, listeners, self.metadata.image, self.random, key_sets)
        self.telemetry, self.loggers = TelemetryClients(), Loggers()
        state = self._state()
        self.share_coordinators, self.share_partition_managers = shares = open_share(state)
        self.groups = open_groups(state, self.share_coordinators)
        self.transactions = open_transactions(state, self.groups)
        self.shifted += [self.groups.shift, self.transactions.shift]
        self.metadata.subscribe(*shares, self.groups, self.transactions, self.answers)
        self._begin(timing)

    def _state(self) -> ClusterState:
        return ClusterState(
            environment=self,
            metadata=self.metadata,
            features=self.features,
            topics=self.topics,
            brokers=self.brokers,
            replication=self.replication,
            log_manager=self.log_manager,
            once_decided=self.once_decided,
        )

    def _follow_topics(self, *, is_short: bool) -> None:
        """The topics, and what brokers do, as the metadata log has them."""
        self.topics = Catalogue(
            self, self.metadata, lambda: self.replication.registered(), self.answers.changed
        )
        self.replication = Replication(
            *(self, self.metadata, self.topics, _timed_out),
            await_replicas=self.await_replicas,
            forget=self._forget_memory,
            is_short=is_short,
        )
        topics = Topics(
            self, self.topics, self.log_manager.flusher.appended, self.log_manager.remove_later
        )
        self.metadata.subscribe(BrokerConfigs(self.config), topics, self.replication)

    def _set_limits(self, config: BrokerConfig, scan_limit: int | str | None) -> None:
        self.scan_limit = _scan_limit(scan_limit)
        self.max_request_bytes: int = config.get("socket.request.max.bytes")
        self.max_idle_ms: int = config.get("connections.max.idle.ms")
        self.fetch_max_bytes: int = config.get("fetch.max.bytes")

    def _open_authorizer(self) -> Authorizer | None:
        """The authorizer that the configs name, which knows the rules of the metadata log; and what
        holds clients to the quotas there."""
        self.metadata.subscribe(self._follow_quotas)
        if not self.config.get("authorizer.class.name"):
            return None
        from .guards import Guard
        from .security.authorizer.authorizer import authorizer_of

        authorizer = authorizer_of(self.config)
        assert authorizer is not None
        self.metadata.subscribe(authorizer)
        self.chain.append(Guard(self, authorizer))
        return authorizer

    def _follow_quotas(self, delta: MetadataDelta, image: MetadataImage) -> None:
        if self.throttle is None and image.quotas:
            from .security.throttling.throttle import Throttle

            self.throttle = Throttle(self, self.metadata)
        if self.throttle is not None:
            self.throttle(delta, image)

    def _begin(self, timing: str) -> None:
        self.endpoints: dict[int, Endpoint] = {}  # what clients have asked for: net/serving.py
        tokens = TokenExpiry(self, self.metadata)
        self.timers.every(self.clock.now() + tokens.interval_ms(), tokens)
        checkpoints = _Checkpoints(self)
        self.timers.every(self.clock.now() + checkpoints.interval_ms(), checkpoints)
        if timing == KAFKA_TIMING:
            from .readiness.kafka_timing import KafkaTiming

            self.timing = KafkaTiming(self)
            self.chain.append(self.timing)
            self.replication.answers_ms = self.timing.stop_ms

    def _open_directory(
        self, data_dir: Path | Directory, naming: Naming, begins_with_zookeeper: bool
    ) -> LogDirectory:
        """Raises LogDirectoryError."""
        node_id = self.config.get("node.id")
        of_zookeeper: OfZooKeeper = self.release.of_zookeeper
        if of_zookeeper == "kept" and begins_with_zookeeper:
            of_zookeeper = "begun"
        try:
            return LogDirectory.open(
                data_dir, node_id=node_id, naming=naming, of_zookeeper=of_zookeeper
            )
        except OfZooKeeperError as error:
            raise LogDirectoryError(
                f"{error}: Kafka {self.release.name} does not open it. Open it as Kafka 3.9 "
                "first, which migrates it to KRaft"
            ) from None

    def _open_metadata(self, features: Mapping[str, int], adopt: Adoption | None) -> MetadataLog:
        """The metadata log, replayed, every partition having its leader."""
        try:
            metadata = MetadataLog.open(
                self.log_dir,
                self.clock,
                config=metadata_log_config(self.config),
                features=check_features(features, self.release),
                release=self.release,
            )
            if adopt is not None and self.log_dir.has_zookeeper:
                adopt(self.log_dir, metadata)
        except (ConfigError, LogDirectoryError):  # of another release or cluster: it stays as it is
            self.log_dir.close(clean=self.log_dir.clean)
            raise
        take_over(metadata, alive(self.nodes), self.release)
        return metadata

    def add_broker(self, node: Node) -> None:
        """One more broker, which has nothing yet. Raises Refused (KAFKA_STORAGE_ERROR); then it is
        none."""
        self.nodes[node.node_id] = node
        broker = self.brokers[node.node_id] = self._broker(node.node_id)
        self.groups.add(node.node_id, broker.config)
        self.transactions.add(node.node_id, broker.config)
        self.share_partition_managers.add(node.node_id)
        try:
            self.replication.add(node.node_id)
        except BaseException:
            self._forget_broker(node.node_id)
            raise

    def remove_broker(self, node_id: int) -> None:
        """Forget a broker that has ended, and has no replicas. Raises Refused
        (KAFKA_STORAGE_ERROR)."""
        self.replication.remove(node_id)
        self._forget_broker(node_id)
        self.controller_id = min(self.nodes)
        self.topics.changed()

    def _forget_broker(self, node_id: int) -> None:
        self.groups.remove(node_id)
        self.transactions.remove(node_id)
        self.share_partition_managers.remove(node_id)
        del self.brokers[node_id], self.nodes[node_id]

    def _forget_memory(self, node_id: int) -> None:
        """The process of a broker has ended: what was only in its memory is gone."""
        self.brokers[node_id].started_again()
        self.share_partition_managers.at(node_id).clear()

    def _broker(self, node_id: int) -> Broker:
        new_block = partial(self.metadata.next_producer_block, node_id)
        return Broker(self.config.of_node(node_id), self.random, new_block)

    # For handlers

    def topic(self, name: str) -> Topic:
        """A topic by its name. Raises Refused(UNKNOWN_TOPIC_OR_PARTITION)."""
        return self.topics.named(name)

    def partition(self, name: str, index: int) -> Partition:
        """A partition by topic and index. Raises Refused(UNKNOWN_TOPIC_OR_PARTITION)."""
        return self.topics.partition(name, index)

    def any_broker(self) -> int:
        """The controller by Metadata: any that is listed, as each passes on what
        the controller has to do; -1 if there are none."""
        able = [*alive(self.nodes)]
        return self.random.choice(able) if len(able) > 1 else able[0] if able else -1

    def create_topic(
        self, name: str, partitions: int, configs: Mapping[str, str], replicas: int = DEFAULT
    ) -> Topic:
        """Create a topic. Raises Refused as CreateTopics would answer."""
        topic = self.topics.create(
            name, partitions=partitions, replication_factor=replicas, configs=configs
        )
        number = {"partitions": len(topic.partitions)}
        self.journal.add("topic created", client=TEST, topic=name, details=number)
        return topic

    def await_replicas(self) -> None:
        """Replicas may lack something: coordinators wait for those in sync."""
        from .control.replicated import Replicated

        if not any(isinstance(step, Replicated) for step in self.chain):
            self.chain.append(Replicated(self))

    def once_decided(self, complete: Callable[[], None]) -> None:
        """Complete a transaction whose end is decided: right after the answer, or as much later as
        `timing` says."""
        if self.timing is None:
            self.woken.append(complete)
        else:
            self.timing.once_decided(complete)

    def keep_chain(self, before: Cluster) -> None:
        """Take over what requests pass there, but for its timing: this cluster has its own."""
        own = [] if self.timing is None else [self.timing]
        self.chain.take_over(
            own
            + [
                step
                for step in before.chain
                if step is not before.timing and not isinstance(step, ControllerGate)
            ]
        )

    def checkpoint(self) -> bool:
        """Write to disk where each log starts and how far it is flushed, for a start after a crash.

        Done every `log.flush.offset.checkpoint.interval.ms`, and after records were deleted, so
        that a crash does not restore them. A failure is logged, and the next call tries again.
        Returns whether it succeeded.
        """
        try:
            self.log_dir.checkpoint()
        except (Refused, OSError) as error:
            if self.log_dir.availability.offline is not None:
                return False  # said already
            log.error("checkpoints of %s could not be written: %s", self.log_dir.path, error)
            return False
        return True

    def close(self, *, is_last: bool = False) -> None:
        """Write what the next start needs, and close every file. If this run was the last, because
        the directory is about to be removed, nothing more is written. Raises LogDirectoryError."""
        self.turns.close()
        self.log_manager.close(flush=not is_last)
        self.loggers.close()
        if not is_last and resign(self.metadata):
            self.metadata_upkeep.resigned()
        self.log_dir.close(clean=not is_last)


class _Checkpoints:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._has_failed = False

    def interval_ms(self) -> int:
        interval_ms: int = self._cluster.config.get("log.flush.offset.checkpoint.interval.ms")
        return interval_ms

    def run(self, now: int) -> bool:
        self._has_failed = not self._cluster.checkpoint()
        return False

    def due(self, now: int) -> int | None:
        return now if self._has_failed else None


def _timed_out(request: Request, version: int) -> Response:
    from .division.refusing import timed_out

    return timed_out(request, version)


def _scan_limit(given: int | str | None) -> int | None:
    limit = checked_scan_limit(given)
    if isinstance(limit, str):
        return None if HAVE_C else UNSCANNED_WITHOUT_C
    return limit
