"""Cluster: the state of all brokers, without sockets. Driven by a server, or by a test.

Opening a directory restores what its logs hold: the topics and configs of `__cluster_metadata`, the
records of every partition, the groups and offsets of `__consumer_offsets`, the transactions of
`__transaction_state`. It belongs to the node `node.id`, the first of several, also when that has
left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from functools import partial
from math import inf
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from ..storage import Directory, LogDirectory, RetentionPolicy, kafka_retention
from ..storage.naming import KAFKA, Naming
from ..wire import Error, Refused
from ..wire.scan import HAVE_C
from .base.call import TEST
from .base.chain import Chain
from .base.clock import Clock, ManualClock, Movable, SystemClock, TestClock
from .base.journal import Journal
from .base.logger import log
from .base.node import alive
from .base.real_time import perf_counter, real_ms
from .base.timers import Timer, Timers
from .base.turns import Gate, Turns
from .broker import Broker
from .config.configs import BrokerConfig, ConfigError
from .config.loggers import Loggers
from .config.telemetry import TelemetryClients
from .control.telling import Telling
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

UNSCANNED_WITHOUT_C = 1000
"""Without the C extension, the records of larger batches than this are not checked."""


class Cluster:
    """One or several brokers: their topics, groups and sessions, and the time they live in."""

    # Both are set by a server. Without one clients wait in the clock's time.
    waits: Timers | None = None
    """What clients wait for, in real time."""
    clock_moved: Callable[[], None] | None = None
    timing: KafkaTiming | None = None
    """What is not ready at once: only with `timing="kafka"`."""
    throttle: Throttle | None = None
    """What holds clients to their quotas, since there was a first one."""
    _holds = 0
    _is_settling = False

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
    ) -> None:
        self.config, self.release = config, config.release
        self.clock: Clock = clock if clock is not None else SystemClock()
        self.has_manual_clock = isinstance(self.clock, ManualClock | TestClock)
        self.random = random if random is not None else Random()
        self.timers, self.turns = Timers(), Turns()
        self.asked: set[Future[Any]] = set()  # what the test has asked, and is not answered
        self.telling = Telling(self, journal or Journal(self.clock))
        self.journal = self.telling.journal
        self.decompressing = Gate(self.turns)  # a large batch, whose content needs room
        self.chain, self.answers = Chain(), AnswerCache()  # what requests pass: base/chain.py
        self.woken: list[Callable[[], None]] = []
        self.watchers: list[Callable[[], None]] = []  # called when anything may have changed
        self.nodes = {node.node_id: node for node in brokers}
        self.controller_id = min(self.nodes)
        self._set_limits(config, scan_limit)
        listeners = check_security(config, len(self.nodes))
        key_sets = key_sets_of(config, self.clock.now())
        self.log_dir = LogDirectory.open(data_dir, node_id=config.get("node.id"), naming=naming)
        self.cluster_id = self.log_dir.properties.cluster_id
        self.log_manager = LogManager(self, retention)
        say_what_is_wrong(self.log_dir)
        self.metadata = self._open_metadata(features or {})
        self.brokers = {node_id: self._broker(node_id) for node_id in self.nodes}
        self.topics = Catalogue(self)
        self.replication = Replication(self, _timed_out, is_short=timing != KAFKA_TIMING)
        self.metadata.subscribe(BrokerConfigs(config), Topics(self, self.topics), self.replication)
        self.log_dir.report_unknown_partitions()
        self.metadata_upkeep, self.producer_expiry = MetadataUpkeep(self), ProducerExpiry(self)
        self.authorizer, self.features = self._open_authorizer(), Features(self.metadata)
        self.security = Security(config, listeners, self.metadata.image, self.random, key_sets)
        self.telemetry, self.loggers = TelemetryClients(), Loggers()
        self.share_coordinators, self.share_leaders = shares = open_share(self)
        self.groups, self.transactions = open_groups(self), open_transactions(self)
        self.metadata.subscribe(*shares, self.groups, self.transactions, self.answers)
        self._begin(timing)

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

            self.throttle = Throttle(self)
        if self.throttle is not None:
            self.throttle(delta, image)

    def _begin(self, timing: str) -> None:
        self.endpoints: dict[int, Endpoint] = {}  # what clients have asked for: net/serving.py
        tokens = TokenExpiry(self)
        self.timers.every(self.clock.now() + tokens.interval_ms(), tokens)
        checkpoints = _Checkpoints(self)
        self.timers.every(self.clock.now() + checkpoints.interval_ms(), checkpoints)
        if timing == KAFKA_TIMING:
            from .readiness.kafka_timing import KafkaTiming

            self.timing = KafkaTiming(self)
            self.chain.append(self.timing)

    def _open_metadata(self, features: Mapping[str, int]) -> MetadataLog:
        """The metadata log, replayed, every partition having its leader."""
        try:
            metadata = MetadataLog.open(
                self.log_dir,
                self.clock,
                config=metadata_log_config(self.config),
                features=check_features(features, self.release),
                release=self.release,
            )
        except ConfigError:  # a directory of another release: it stays as it is
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
        self.share_leaders.add(node.node_id)
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
        self.share_leaders.remove(node_id)
        del self.brokers[node_id], self.nodes[node_id]

    def _broker(self, node_id: int) -> Broker:
        new_block = partial(self.metadata.next_producer_block, node_id)
        return Broker(self.config.of_node(node_id), self.random, new_block)

    # For handlers

    def topic(self, name: str) -> Topic:
        """A topic by its name. Raises Refused(UNKNOWN_TOPIC_OR_PARTITION)."""
        topic = self.topics.get(name)
        if topic is None:
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
        return topic

    def partition(self, name: str, index: int) -> Partition:
        """A partition by topic and index. Raises Refused(UNKNOWN_TOPIC_OR_PARTITION)."""
        topic = self.topics.get(name)
        if topic is None or not 0 <= index < len(topic.partitions):
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
        return topic.partitions[index]

    def any_broker(self) -> int:
        """Whom clients are told to be the controller: any that is listed, as each passes on what
        the controller has to do; -1 if there are none."""
        able = [*alive(self.nodes)]
        return self.random.choice(able) if len(able) > 1 else able[0] if able else -1

    def told_as(self, node_id: int) -> int | None:
        """How a broker is named in what is told: not at all, if it is the only one."""
        return node_id if len(self.nodes) > 1 else None

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

    # Time

    def settle(self) -> None:
        """Fire the timers that are due, and answer the fetches that were woken.

        Called after every request, verb and alarm; a nested call leaves that to the outer one.
        """
        if self._is_settling:
            return
        self._is_settling = True
        try:
            while True:
                due = self.timers.next()
                if due is not None and due <= (now := self.clock.now()):
                    self.timers.fire(now)
                if not self.woken:
                    break
                self.timers.changed()
                woken, self.woken = self.woken, []
                for finish in woken:
                    finish()
            for look in tuple(self.watchers):
                look()
        finally:
            self._is_settling = False

    def after(self, milliseconds: int, callback: Callable[[], None]) -> Timer:
        """Call back when a client has waited so long, whatever the clock does meanwhile."""
        if self.waits is None:
            return self.timers.at(self.clock.now() + milliseconds, callback)
        return self.waits.at(real_ms() + milliseconds, callback)

    def end_waits(self) -> None:
        """Call back those who have waited for long enough."""
        if self.waits is not None:
            self.waits.fire(real_ms())
            self.settle()

    def advance(self, milliseconds: int, seconds: float = inf) -> int:
        """Move the clock. What is due on the way happens at its own time, in order; checks that
        would find nothing are left out. Returns how many milliseconds are left, if so many seconds
        were over before the end. Raises TypeError for a clock of a user's own."""
        clock = self._movable()
        self.hold_clock()
        compacts_at_once, self.has_manual_clock = self.has_manual_clock, True
        try:
            end = clock.now() + milliseconds
            over = perf_counter() + seconds
            self.timers.changed()  # since the clock was moved last, anything
            while (when := self._next_event(end)) is not None:
                clock.advance(max(0, when - clock.now()))
                self.settle()
                if perf_counter() > over:
                    return end - clock.now()
            clock.advance(end - clock.now())
            return 0
        finally:
            self.has_manual_clock = compacts_at_once
            self.release_clock()

    def jump(self, milliseconds: int) -> None:
        """Set the clock to another time, later or earlier, as an administrator does. What is timed
        (sessions, rebalances, the next regular check) is due as long from now as before; what is
        compared with the clock (ages of records, of transactions) finds another time. Raises
        TypeError for a clock that is not the broker's own."""
        self._movable().jump(milliseconds)
        self.timers.shift(milliseconds)
        self.groups.shift(milliseconds)
        self.transactions.shift(milliseconds)
        self._tell_of_the_clock()
        self.settle()

    def follow(self, seconds: float = inf) -> None:
        """Move a clock that follows the test's time to it, for so many seconds at most."""
        if isinstance(self.clock, TestClock) and not self._is_settling:
            behind = self.clock.behind()
            if behind:
                self.advance(behind, seconds)

    def hold_clock(self) -> None:
        """Let no time pass until `release_clock` was called as often. Raises TypeError for a clock
        of a user's own."""
        self._movable().hold()
        self._holds += 1
        self._tell_of_the_clock()

    def release_clock(self) -> None:
        """Let time pass again."""
        self._holds -= 1
        if not self._holds:
            self._movable().release()
        self._tell_of_the_clock()

    def keep_holds(self, before: Cluster) -> None:
        """Take the place of a cluster of the same clock."""
        self._holds = before._holds

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

    def _tell_of_the_clock(self) -> None:
        if self.clock_moved is not None:
            self.clock_moved()

    def _movable(self) -> Movable:
        if not isinstance(self.clock, Movable):
            raise TypeError(
                f"the clock of this broker is your own, and yours to move: {self.clock!r}"
            )
        return self.clock

    def _next_event(self, end: int) -> int | None:
        """When something happens next, at the end at the latest."""
        self.timers.skip_idle(end)
        when = self.timers.next()
        return when if when is not None and when <= end else None

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
    """The regular checkpoint."""

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
    from .control.rules.refusing import timed_out

    return timed_out(request, version)


def _scan_limit(given: int | str | None) -> int | None:
    limit = checked_scan_limit(given)
    if isinstance(limit, str):
        return None if HAVE_C else UNSCANNED_WITHOUT_C
    return limit
