"""Embedded: a broker on a thread of its own, opened and closed like a file.

It runs an event loop in a background thread, also under `async with`: a test that blocks in a
client must not block the broker. Its methods run in that thread; the caller waits.

Every method may be called from any thread. Of several that start one broker, one starts it and
the others hear that it is running already; several that stop it wait for the same end. In a
process that was forked meanwhile the broker goes on in the first one: broker_thread.py.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import socket
from collections.abc import (
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from random import Random
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from ...storage import Directory, LogDirectory, MemoryDisk, RetentionPolicy, kafka_retention
from ...storage.disk.directory import Descriptors
from ...wire import Error, Refused
from .. import parameters
from ..base.addresses import parse_address, reachable
from ..base.clock import Clock, SystemClock
from ..base.journal import MOST_EVENTS, Journal
from ..base.node import Node
from ..base.release import KAFKA_4_3
from ..base.temporary import TemporaryDirectory
from ..base.words import number_of
from ..broker_thread import FORKED, NOT_RUNNING, BrokerThread, Serving
from ..cluster import Adoption, Cluster
from ..config.configs import BrokerConfig
from ..config.release_tables import config_tables
from ..control.disk_rules import DiskRule, DiskRules
from ..control.rules.rules import Rules
from ..metadata.features import check_features
from ..net.server import Server
from ..parameters import ConfigValue
from ..security.listeners import PLAINTEXT, PROTOCOLS, Listener, listeners_of
from ..security.security import check_security
from ..snapshots.downtime import close_cleanly
from .first_state import begin_state, fitting
from .requests import RequestLog

if TYPE_CHECKING:
    from ..control.traffic.journal import RequestJournal
    from ..metadata.log import MetadataLog
    from ..security.tls.certificates import Certificates
    from ..snapshots.snapshot import Snapshot
    from ..zookeeper.data_dir import DataDir
    from ..zookeeper.server import ZooKeeperServer
    from ..zookeeper.tree import Tree

T = TypeVar("T")
_START_TIMEOUT_S = 30
_RUNNING = "the broker is running already"


class Embedded:
    """A Kafka broker for stock clients, in a thread of this process, without a test kit.

    Its arguments are those of `odradek.Emulator`, which describes them. Raises ConfigError for a
    config that Kafka would refuse, StateError for a state that cannot be used, TypeError,
    ValueError or Refused for another invalid argument (parameters.py).
    `start` raises Refused for a topic that Kafka would refuse, LogDirectoryError for a data_dir
    that cannot be opened, StateError for one that is not empty beside a state, OSError when it
    cannot listen.
    """

    _is_handed_over = False
    _began_ms: int | None = None
    _last_id = 0
    """The highest id that was given to a broker later."""
    _thread: BrokerThread | None = None
    _random: Random | None = None

    def __init__(
        self,
        config: Mapping[str, ConfigValue] | None = None,
        *,
        topics: Mapping[str, int] | Iterable[str] | None = None,
        features: Mapping[str, int] | None = None,
        data_dir: str | Path | None = None,
        disk: MemoryDisk | None = None,
        host: str = parameters.LOCAL,
        port: int = 0,
        advertised: str | None = None,
        clock: Clock | str | float | None = None,
        scan_limit: int | str | None = "default",
        retention: RetentionPolicy = kafka_retention,
        version: str = KAFKA_4_3.name,
        naming: str = "kafka",
        max_events: int = MOST_EVENTS,
        journal: bool = False,
        state: Snapshot | str | Path | None = None,
        timing: str = parameters.INSTANT,
        brokers: int = 1,
        racks: Sequence[str] | None = None,
        listen: Sequence[str] | None = None,
        acls: bool = False,
        security: str | None = None,
        users: Mapping[str, str] | None = None,
        zookeeper: bool | int | str | Path = False,
    ) -> None:
        given_racks = parameters.racks(brokers, racks)
        self._naming, self._release = parameters.naming(naming), parameters.release(version)
        self._retention = parameters.retention_policy(retention)
        texts = self._for_several(len(given_racks)) | parameters.all_texts(config, acls)
        self._listening = parameters.listening(host, port, listen, len(given_racks))
        self._advertised = parameters.advertised(advertised, len(given_racks))
        parameters.no_address(texts, host, port, listen, advertised)
        self._given_dir, self._disk = parameters.storage(data_dir, disk), disk
        self._config = self._secured(texts, security, users)
        self._racks = dict(enumerate(given_racks, int(self._config.get("node.id"))))
        self._topics = parameters.topic_counts(topics)
        self._features = check_features(parameters.feature_levels(features), self._release)
        self._clock = parameters.clock_of(clock) or SystemClock()
        self._scan_limit = parameters.scan_limit(scan_limit)
        self._timing = parameters.timing(timing)
        self._journal = Journal(self._clock, parameters.max_events(max_events))  # of all its runs
        self._rules = Rules()  # of all its runs, too
        self._state = None if state is None else fitting(state, self._release, naming)
        self._requests = RequestLog(self, is_on=journal)
        self._zookeeper = parameters.zookeeper(zookeeper, self._release)
        self._new_disk_rules()

    def __repr__(self) -> str:
        try:
            return f"<{type(self).__name__} at {self.bootstrap_servers}>"
        except RuntimeError:
            return f"<{type(self).__name__}, not running>"

    # Starting and stopping

    def start(self) -> Self:
        """Start the broker. Returns when it accepts connections.

        Raises RuntimeError if it is running already, besides what the class says.
        """
        thread = self._begin()
        try:
            thread.ready.result()
            self._begin_beside()
        except BaseException:
            self._end(thread)
            raise
        return self

    def stop(self) -> None:
        """Stop it cleanly: when this returns, its thread has ended, and sockets and files are
        closed. Does nothing if it is not running, or runs in the process that this was forked from.
        Raises RuntimeError in the broker's own thread, and after 30 seconds in vain.
        """
        self._close_control()
        if (thread := self._thread) is not None:
            self._end(thread)

    def __enter__(self) -> Self:
        return self if self._takes_over() else self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self._check_end()
        finally:
            self.stop()

    async def __aenter__(self) -> Self:
        if self._takes_over():
            return self
        thread = self._begin()
        try:
            # Shielded: the broker's thread must not find its future cancelled.
            await asyncio.shield(asyncio.wrap_future(thread.ready))
            self._begin_beside()
        except BaseException:
            concurrent.futures.wait([thread.ready], _START_TIMEOUT_S)
            self._end(thread)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Not in a thread: stopping takes milliseconds, and a thread could outlive the loop.
        self.__exit__(kind, error, traceback)

    # For tests

    @property
    def bootstrap_servers(self) -> str:
        """The value of a client's `bootstrap.servers`."""
        return self._started().serving_anywhere().bootstrap

    @property
    def host(self) -> str:
        """Where the first broker is reached: the host of `bootstrap_servers`."""
        return parse_address(self.bootstrap_servers.split(",")[0])[0]

    @property
    def port(self) -> int:
        """The port of the first broker in `bootstrap_servers`."""
        return parse_address(self.bootstrap_servers.split(",")[0])[1]

    @property
    def zookeeper_connect(self) -> str:
        """The value of a `zookeeper.connect` (docs/zookeeper.md). Raises RuntimeError if there is
        no ZooKeeper: it is there with `zookeeper=True`."""
        found = self._started().serving_anywhere().zookeeper
        if found is None:
            raise RuntimeError("there is no ZooKeeper: start the broker with zookeeper=True")
        return found.connect

    @property
    def data_dir(self) -> Path:
        """The directory of the segments. Raises RuntimeError if they are in memory."""
        data_dir = self._started().serving_anywhere().data_dir
        if data_dir is None:
            raise RuntimeError("there is no directory: everything is on the disk in memory")
        return data_dir

    @property
    def cluster(self) -> Cluster:
        """The state of the cluster. Use it only inside `run`."""
        return self._started().running().cluster

    @property
    def journal(self) -> RequestJournal:
        """Every request and its answer, decoded; off until `journal.start()`, or within
        `with kafka.journal:`. It is there after the broker has stopped, too."""
        return self._requests.journal

    @property
    def user_names(self) -> list[str]:
        """Who may log in with a password, as it was given at the start."""
        return list(self._users)

    @property
    def shows_own_certificate(self) -> bool:
        """Whether a listener shows a certificate of `certificates`, as no other was given."""
        return "certificates" in self.__dict__

    @cached_property
    def certificates(self) -> Certificates:
        """The authority whose certificates the brokers show, and trust, where no others are given;
        it makes more of them. `odradek serve` keeps one in its data directory. Raises
        TlsUnavailable without the package that it needs, ValueError if what is kept is none."""
        from ..security.tls.certificates import Certificates

        return Certificates(kept_in=self._given_dir)

    @property
    def _server(self) -> Server:
        """Its connections. Use it only inside `run`."""
        return self._started().running().server

    @property
    def _is_alone(self) -> bool:
        """Whether there is no other broker in its cluster."""
        return len(self._racks) == 1

    def run(self, action: Callable[[Cluster], T]) -> T:
        """Call `action(cluster)` in the broker's thread, and return what it returns. Raises
        RuntimeError if the broker is not running, or runs in another process; and what the action
        raises.
        """
        return self._started().call(action)

    def _takes_over(self) -> bool:
        """Whether it is running since `fork`, and is now given to a `with`."""
        is_handed_over, self._is_handed_over = self._is_handed_over, False
        return is_handed_over and self._thread is not None

    def _secured(
        self, texts: dict[str, str], security: str | None, users: Mapping[str, str] | None
    ) -> BrokerConfig:
        """The configs with listener and users in them, judged. Raises ConfigError, ValueError,
        TypeError."""
        self._listens_by_config = "listeners" in texts
        self._users = self._new_users = {}
        if users not in (None, {}) or security is not None:
            from ..security.initial_users import secured, users_given

            self._users = self._new_users = users_given(users)
            texts = secured(texts, security, self._release)
        config = BrokerConfig(texts, self._release)
        listeners = listeners_of(config)
        self._is_secured = next(iter(listeners.values())).protocol != PLAINTEXT
        if self._users or any(each.protocol != PLAINTEXT for each in listeners.values()):
            config = self._with_access(config, listeners)
        check_security(config)
        return config

    def _with_access(self, config: BrokerConfig, listeners: dict[str, Listener]) -> BrokerConfig:
        from ..security.initial_users import with_certificates, with_users

        hosts = [each.host for each in listeners.values() if each.host]
        hosts += [each.advertised[0] for each in listeners.values() if each.advertised]
        hosts += self._hosts()
        added = with_users(config, listeners, self._users)
        added |= with_certificates(config, listeners, lambda: self.certificates, hosts)
        return BrokerConfig(config.overrides | added, self._release) if added else config

    def _hosts(self) -> list[str]:
        """Where clients reach the brokers, as far as it is given."""
        listening, advertised = self._listening, self._advertised
        hosts = [listening.host, *(host for host, _ in listening.each)]
        hosts += [socket.gethostname()] * (reachable(listening.host) != listening.host)
        return hosts if advertised is None else [*hosts, advertised.of(1, 0, 1)[0]]

    def _for_several(self, brokers: int) -> dict[str, str]:
        """Configs that differ where there are several brokers: internal topics are on three of
        them, so that groups and transactions go on when one stops."""
        if brokers == 1:
            return {}
        topics = ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")
        names = filter(
            config_tables(self._release).is_settable,
            (f"{each}.replication.factor" for each in topics),
        )
        return dict.fromkeys(names, str(min(brokers, 3)))

    # The thread

    @property
    def is_running(self) -> bool:
        """Whether the broker runs in this process."""
        thread = self._thread
        if thread is None or thread.is_forked or thread.serving is None:
            return False
        return not thread.serving.server.is_down

    def _started(self) -> BrokerThread:
        if self._thread is None:
            raise RuntimeError(NOT_RUNNING)
        return self._thread

    def _new_disk_rules(self) -> None:
        self._disk_rules = DiskRules(
            *(self._naming, self._tell_of_disk, lambda: self._clock.now()),
            lambda: self._thread is not None and self._thread.test_acts,
        )

    def _begin_beside(self) -> None:
        """The services beside the broker begin after it."""

    def _close_control(self) -> None:
        """Nobody acts on it from elsewhere any more."""

    def _end_beside(self) -> None:
        """The services beside the broker end before it."""

    def _forget_faults(self) -> None:
        """A start: faults of the run before have no effect on it."""

    def _check_end(self) -> None:
        """The end of a `with` that has raised nothing."""

    def _tell_of_disk(self, rule: DiskRule, operation: str, path: str) -> None:
        """Called in any thread."""
        thread = self._thread
        if thread is not None:
            reason = f"{operation} of {path} met {rule.sentence}"
            thread.soon(partial(self._journal.run, "disk", "", "", -1, reason=reason))

    def _begin(self) -> BrokerThread:
        with _guard:
            if self._thread is not None:
                raise RuntimeError(FORKED if self._thread.is_forked else _RUNNING)
            self._forget_faults()
            self._thread = BrokerThread(self._broker)
            return self._thread

    def _end(self, thread: BrokerThread) -> None:
        self._end_beside()
        thread.stop()
        with _guard:
            # Else it was stopped twice and started between, or goes on in another process.
            if self._thread is thread and not thread.is_forked:
                self._thread = None

    @asynccontextmanager
    async def _broker(self) -> AsyncIterator[Serving]:
        with self._home() as home, self._zookeeper_home() as kept:
            state = begin_state(self, home)
            tree = None if kept is None else kept.tree
            cluster = self._new_cluster(home, None, state, adopt=partial(self._adopt, tree))
            server = self._new_server(cluster)
            zookeeper: ZooKeeperServer | None = None
            try:
                self._listen(cluster, server)
                zookeeper = self._new_zookeeper(server, kept)
                yield Serving(server, home if isinstance(home, Path) else None, zookeeper)
            finally:
                try:
                    if zookeeper is not None:
                        await zookeeper.close()
                finally:
                    await server.close()
                    if not server.is_down:
                        close_cleanly(server.cluster, is_last=self._is_temporary)

    def _new_server(self, cluster: Cluster) -> Server:
        return Server(cluster)

    @contextmanager
    def _zookeeper_home(self) -> Iterator[DataDir | None]:
        """The dataDir that was given, locked. Raises ValueError, OSError."""
        if self._zookeeper.directory is None:
            yield None
            return
        from ..zookeeper.data_dir import DataDir

        found = DataDir(self._zookeeper.directory, self._clock.now)
        try:
            yield found
        finally:
            found.close()

    def _adopt(self, tree: Tree | None, log_dir: LogDirectory, metadata: MetadataLog) -> None:
        """The directory is of a broker with ZooKeeper."""
        from ..metadata.adoption import adopt
        from ..zookeeper.takeover import StoppedRegistries

        registries = None if tree is None else StoppedRegistries(tree)
        adopt(log_dir, metadata, self._config, registries)

    def _new_zookeeper(self, server: Server, kept: DataDir | None) -> ZooKeeperServer | None:
        port = self._zookeeper.port
        if port is None:
            return None
        from ..zookeeper.server import ZooKeeperServer

        return ZooKeeperServer(server, self._listening.host, port, data_dir=kept)

    def _listen(self, cluster: Cluster, server: Server) -> None:
        """Accept connections, and create the topics."""
        for broker in cluster.nodes.values():
            self._listen_for(server, broker)
        cluster.topics.changed()
        cluster.replication.register(is_start=True)
        self._ensure_given(cluster)

    def _listen_for(self, server: Server, broker: Node) -> None:
        """Accept connections for a broker: ports follow each other, if the first one is given.
        Raises OSError."""
        place = broker.node_id - int(self._config.get("node.id"))
        for listener in server.cluster.security.listeners.values():
            where = listener.at(place) if self._listens_by_config else self._listening.at(place)
            host, port = server.listen(*where, broker.node_id, listener.name)
            bound = server.cluster.security.bound.setdefault((host, listener.name), {})
            bound[broker.node_id] = port
            address = listener.given(reachable(host), port, place)
            if self._advertised is not None:
                address = self._advertised.of(broker.node_id, place, port)
            broker.listeners[listener.name] = address
            broker.protocols[listener.name] = PROTOCOLS[listener.protocol]
        broker.host, broker.port = next(iter(broker.listeners.values()))

    def _ensure_given(self, cluster: Cluster) -> None:
        """Of what the emulator was given, have what is not there yet: not after a restart, when
        clients may have deleted it."""
        if self._new_users:
            from ..security.initial_users import ensure_scram_users

            ensure_scram_users(cluster, cluster.metadata, cluster.security, self._new_users)
        for name, partitions in self._topics.items():
            _ensure_topic(cluster, name, partitions)

    @property
    def _is_temporary(self) -> bool:
        return self._disk is None and self._given_dir is None

    @contextmanager
    def _home(self) -> Iterator[Path | Directory]:
        """Where everything is kept while the broker runs."""
        if self._disk is not None:
            yield self._disk.directory()
        elif self._given_dir is not None:
            self._given_dir.mkdir(parents=True, exist_ok=True)
            from ..snapshots.images import finish

            finish(self._given_dir)
            yield self._given_dir
        else:
            with TemporaryDirectory() as path:
                yield path

    def _new_cluster(
        self,
        data_dir: Path | Directory,
        nodes: Sequence[Node] | None = None,
        state: Snapshot | None = None,
        adopt: Adoption | None = None,
    ) -> Cluster:
        config = self._config.at_start()
        if nodes is None:
            rack = config.get("broker.rack")
            nodes = [Node(i, "", 0, rack=own or rack) for i, own in self._racks.items()]
        kept, gone = None if state is None else state.brokers, set[int]()
        if kept is not None:
            from ..replication.broker_states import fenced_brokers, restore

            gone = fenced_brokers(kept)
        nodes = [replace(node, is_alive=node.node_id not in gone) for node in nodes]
        rules = self._disk_rules
        if self._disk is not None:
            self._disk.watch = rules.watch
        elif isinstance(data_dir, Path):
            rules.root = str(data_dir)
            data_dir = Directory(data_dir, descriptors=Descriptors(watch=rules.watch))
        cluster = Cluster(
            config,
            data_dir=data_dir,
            brokers=nodes,
            clock=self._clock,
            scan_limit=self._scan_limit,
            retention=self._retention,
            naming=self._naming,
            features=self._features,
            journal=self._journal,
            timing=self._timing,
            random=self._random,
            adopt=adopt,
            begins_with_zookeeper=self._zookeeper.directory is not None,
        )
        if kept is not None:
            restore(cluster.replication, kept)
        self._rules.attach(cluster)
        cluster.share_partition_managers.poison = self._rules.poison
        self._requests.attach(cluster)
        return cluster


def _ensure_topic(cluster: Cluster, name: str, partitions: int) -> None:
    topic = cluster.topics.get(name)
    if topic is None:
        cluster.create_topic(name, partitions, {})
    elif len(topic.partitions) != partitions:
        has = len(topic.partitions)
        message = f"topic {name} is there and has {number_of(has, 'partition')}, not {partitions}"
        raise Refused(Error.INVALID_PARTITIONS, message)


# Guards the `_thread` of every Emulator; held over a fork, so that no child finds it taken.
# Reentrant, because a signal handler may stop the broker while this thread starts one.
_guard = RLock()
os.register_at_fork(
    before=_guard.acquire, after_in_parent=_guard.release, after_in_child=_guard.release
)
