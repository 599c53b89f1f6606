"""Emulator: a broker on a thread of its own, opened and closed like a file.

    with Emulator() as kafka:
        producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})

It runs an event loop in a background thread, also under `async with`: a test that blocks in a
client must not block the broker. Its methods run in that thread; the caller waits.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from ..storage import (
    Directory,
    LogDirectoryError,
    MemoryDisk,
    RetentionPolicy,
    kafka_retention,
)
from ..wire import Error, Refused
from . import parameters
from .base.addresses import bracketed, reachable
from .base.clock import Clock, whole_ms
from .base.logger import log
from .base.node import Node
from .base.release import KAFKA_4_3
from .cluster import Cluster
from .config.configs import BrokerConfig
from .metadata.features import check_features
from .net.server import Server
from .parameters import ConfigValue
from .views import TopicView

T = TypeVar("T")
_STOP_TIMEOUT_S = 30
_STOPPED = "the broker was stopped meanwhile"


class Emulator:
    """A Kafka broker for stock clients.

    config      Kafka's broker configs by name, e.g. {"auto.create.topics.enable": False}
    topics      topics to create at the start: name -> number of partitions
    data_dir    a directory that keeps everything across restarts; without it a temporary one is
                used, and removed at the end
    disk        keeps everything in memory instead, across restarts with the same disk, and can be
                filled and broken: MemoryDisk (storage/disk/memory.py)
    host, port  where to listen; port 0 is any free one
    advertised  the "host:port" that clients are given, if it is another
    clock       the source of time; a ManualClock stands still until `advance`
    scan_limit  of batches with more records than this only header and CRC are checked; None checks
                every record. The default is None with the C extension, and 1000 without it
    retention   decides which old segments are deleted, instead of Kafka's rules
                (storage/retention.py)
    features    levels of Kafka's features that differ from those of a new cluster, by name, for
                instance {"transaction.version": 1}; 0 removes a feature
    version     the release of Kafka to emulate: "4.3", or "3.9" with the protocol of older clients
    naming      of directories and files: "kafka", or "documented" (storage/naming.py)

    Raises ConfigError for a config that Kafka would refuse, TypeError, ValueError or Refused for
    another invalid argument (parameters.py). `start` raises Refused for a topic that Kafka would
    refuse, LogDirectoryError for a data_dir that cannot be opened, OSError when it cannot listen.
    """

    def __init__(
        self,
        config: Mapping[str, ConfigValue] | None = None,
        *,
        topics: Mapping[str, int] | None = None,
        features: Mapping[str, int] | None = None,
        data_dir: str | Path | None = None,
        disk: MemoryDisk | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        advertised: str | None = None,
        clock: Clock | None = None,
        scan_limit: int | str | None = "default",
        retention: RetentionPolicy = kafka_retention,
        version: str = KAFKA_4_3.name,
        naming: str = "kafka",
    ) -> None:
        self._naming = parameters.naming(naming)
        self._retention = parameters.retention_policy(retention)
        self._release = parameters.release(version)
        texts = parameters.config_texts(config)
        self._config = BrokerConfig(texts, self._release)
        self._topics = parameters.topic_counts(topics)
        self._features = check_features(parameters.feature_levels(features), self._release)
        self._given_dir = parameters.storage(data_dir, disk)
        self._disk = disk
        self._address = parameters.listener(host, port)
        self._advertised = parameters.advertised_address(advertised)
        self._pending: set[concurrent.futures.Future[Any]] = set()
        self._clock = parameters.checked_clock(clock)
        self._scan_limit = parameters.scan_limit(scan_limit)
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._cluster: Cluster | None = None
        self._data_dir: Path | None = None
        self._bootstrap = ""

    # Starting and stopping

    def start(self) -> Self:
        """Start the broker. Returns when it accepts connections."""
        ready, thread = self._begin()
        try:
            ready.result()
        except BaseException:
            thread.join(_STOP_TIMEOUT_S)
            raise
        return self

    def stop(self) -> None:
        """Stop it cleanly: when this returns, its thread has ended, and sockets and files are
        closed."""
        thread, loop, stopping = self._thread, self._loop, self._stopping
        if thread is None:
            return
        if loop is not None and stopping is not None:
            loop.call_soon_threadsafe(stopping.set)
        thread.join(_STOP_TIMEOUT_S)
        if thread.is_alive():
            raise RuntimeError(f"the broker did not stop within {_STOP_TIMEOUT_S} seconds")
        self._thread = None
        self._cleanup()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        ready, _ = self._begin()
        try:
            # Shielded: the broker's thread must not find its future cancelled.
            await asyncio.shield(asyncio.wrap_future(ready))
        except asyncio.CancelledError:
            concurrent.futures.wait([ready], _STOP_TIMEOUT_S)
            self.stop()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Not in a thread: stopping takes milliseconds, and a thread could outlive the loop.
        self.stop()

    # For tests

    @property
    def bootstrap_servers(self) -> str:
        """What goes into a client's `bootstrap.servers`."""
        self._running()
        return self._bootstrap

    @property
    def data_dir(self) -> Path:
        """The directory of the segments. Raises RuntimeError if they are in memory."""
        self._running()
        if self._data_dir is None:
            raise RuntimeError("there is no directory: everything is on the disk in memory")
        return self._data_dir

    @property
    def cluster(self) -> Cluster:
        """The state of the cluster. Use it only inside `run`."""
        return self._running()

    def run(self, action: Callable[[Cluster], T]) -> T:
        """Call `action(cluster)` in the broker's thread, and return what it returns."""
        cluster = self._running()
        assert self._loop is not None
        if threading.current_thread() is self._thread:
            return action(cluster)
        done: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._pending.add(done)

        def carry_out() -> None:
            self._pending.discard(done)
            try:
                result = action(cluster)
            except BaseException as error:
                done.set_exception(error)
            else:
                done.set_result(result)
            cluster.settle()

        try:
            self._loop.call_soon_threadsafe(carry_out)
        except RuntimeError as error:
            raise RuntimeError(_STOPPED) from error
        return done.result()

    @property
    def notices(self) -> list[str]:
        """What was found to be wrong on disk, and what was done about it, in sentences."""
        return self.run(lambda cluster: list(cluster.log_dir.notices))

    def create_topic(
        self, name: str, partitions: int = 1, configs: Mapping[str, ConfigValue] | None = None
    ) -> TopicView:
        """Create a topic. Raises Refused as CreateTopics would answer, TypeError."""
        texts = parameters.config_texts(configs, "configs")
        parameters.topic_name(name)
        parameters.partition_count(partitions)
        self.run(lambda cluster: cluster.create_topic(name, partitions, texts))
        return TopicView(self, name)

    def topic(self, name: str) -> TopicView:
        """A view of a topic. Raises Refused(UNKNOWN_TOPIC_OR_PARTITION) if there is none."""
        parameters.topic_name(name)
        self.run(lambda cluster: cluster.topic(name))
        return TopicView(self, name)

    def topics(self) -> list[str]:
        """The names of all topics, internal ones too."""
        return self.run(lambda cluster: [topic.name for topic in cluster.topics])

    def delete_topic(self, name: str) -> None:
        """Delete a topic. Raises Refused(UNKNOWN_TOPIC_OR_PARTITION) if there is none."""
        parameters.topic_name(name)
        self.run(lambda cluster: cluster.topics.delete(cluster.topic(name)))

    def compact(self) -> int:
        """Compact every log of a compacted topic now, whatever its dirty ratio and lags.

        Active segments are rolled first, so everything written until now is compacted, except from
        the start of an open transaction on. Tombstones and markers stay for `delete.retention.ms`
        after the first compaction that finds them. Returns how many partitions had something to
        compact. Raises Refused for a damaged or failing log.
        """
        return self.run(lambda cluster: cluster.log_manager.cleaner.compact_all())

    def advance(self, milliseconds: int) -> None:
        """Move a ManualClock forward; everything due on the way happens, in order."""
        whole_ms("milliseconds", milliseconds)
        self.run(lambda cluster: cluster.advance(milliseconds))

    # The thread

    def _running(self) -> Cluster:
        if self._cluster is None:
            raise RuntimeError("the broker is not running: use `with Emulator() as kafka:`")
        return self._cluster

    def _begin(self) -> tuple[concurrent.futures.Future[None], threading.Thread]:
        if self._thread is not None:
            raise RuntimeError("the broker is running already")
        ready: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._thread = threading.Thread(
            target=self._thread_main, args=(ready,), name="odradek", daemon=True
        )
        ready.add_done_callback(self._began)
        thread = self._thread
        thread.start()
        return ready, thread

    def _began(self, ready: concurrent.futures.Future[None]) -> None:
        if ready.exception() is not None:
            self._thread = None

    def _thread_main(self, ready: concurrent.futures.Future[None]) -> None:
        loop = new_event_loop()
        try:
            loop.run_until_complete(self._serve(ready))
        except BaseException as error:
            self._cluster = None
            self._cleanup()
            if ready.done():
                raise
            ready.set_exception(error)
        finally:
            self._cluster = None
            loop.close()
            # Calls that came too late to run must not wait for ever.
            while self._pending:
                self._pending.pop().set_exception(RuntimeError(_STOPPED))

    async def _serve(self, ready: concurrent.futures.Future[None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        cluster = self._open_cluster()
        server = Server(cluster)
        try:
            broker = cluster.nodes[cluster.controller_id]
            host, port = await server.listen(*self._address, broker.node_id)
            broker.host, broker.port = self._advertised or (reachable(host), port)
            cluster.topics.changed()
            for name, partitions in self._topics.items():
                _ensure_topic(cluster, name, partitions)
            self._bootstrap = f"{bracketed(broker.host)}:{broker.port}"
            self._cluster = cluster
            ready.set_result(None)
            await self._stopping.wait()
        finally:
            await server.close()
            try:
                cluster.close()
            except LogDirectoryError as error:  # a full disk, say; the next start checks more
                log.error("%s", error)

    def _open_cluster(self) -> Cluster:
        if self._disk is not None:
            return self._new_cluster(self._disk.directory())
        if self._given_dir is None:
            self._data_dir = Path(tempfile.mkdtemp(prefix="odradek-"))
            # Removed also when the interpreter ends without `stop`.
            weakref.finalize(self, _remove, self._data_dir, os.getpid())
        else:
            self._data_dir = self._given_dir
            self._data_dir.mkdir(parents=True, exist_ok=True)
        return self._new_cluster(self._data_dir)

    def _new_cluster(self, data_dir: Path | Directory) -> Cluster:
        return Cluster(
            self._config,
            data_dir=data_dir,
            brokers=[
                Node(int(self._config.get("node.id")), "", 0, rack=self._config.get("broker.rack"))
            ],
            clock=self._clock,
            scan_limit=self._scan_limit,
            retention=self._retention,
            naming=self._naming,
            features=self._features,
        )

    def _cleanup(self) -> None:
        self._loop = self._stopping = None
        if self._given_dir is None and self._data_dir is not None:
            shutil.rmtree(self._data_dir, ignore_errors=True)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where it is installed, else asyncio's."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


def _ensure_topic(cluster: Cluster, name: str, partitions: int) -> None:
    topic = cluster.topics.get(name)
    if topic is None:
        cluster.create_topic(name, partitions, {})
    elif len(topic.partitions) != partitions:
        has = len(topic.partitions)
        message = f"topic {name} is there and has {has} partitions, not {partitions}"
        raise Refused(Error.INVALID_PARTITIONS, message)


def _remove(directory: Path, process: int) -> None:
    """Remove a temporary directory, in the process that made it and in no fork of it."""
    if os.getpid() == process:
        shutil.rmtree(directory, ignore_errors=True)
