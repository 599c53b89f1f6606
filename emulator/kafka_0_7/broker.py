"""Kafka07: a broker of Kafka 0.7 in a thread of this process, opened and closed like a file.

It has the five requests of 0.7, logs of byte positions, and the registries of 0.7 in a ZooKeeper
of its own, if one is asked for:

    /brokers/ids/[id]            creator:host:port, ephemeral
    /brokers/topics/[topic]/[id] number of partitions, ephemeral

A topic is there once something is produced to it, with `partitions` partitions. There is one
broker, and nothing is replicated, as in 0.7. What a broker does with a request that it cannot carry
out: a fetch is answered with an error; anything else closes the connection.

The documents have host:port in /brokers/ids; clients of then want three parts, as brokers wrote.
Not emulated: flush intervals, deletion of old files, consumers' offsets (their own, in ZooKeeper).
"""

from __future__ import annotations

import asyncio
import re
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from random import Random
from typing import Self, TypeVar

from ...storage.log_0_7 import MESSAGE_BYTES_MAX, SEGMENT_BYTES, OldLog, OutOfRange
from ...storage.naming import DOCUMENTED
from ...wire.legacy.kafka_0_7 import read_payloads
from ...wire.legacy.requests_0_7 import (
    EARLIEST,
    LATEST,
    Answer,
    Kind,
    OldError,
    OldFetch,
    OldOffsets,
    OldProduce,
    OldRequest,
    encode_answer,
    multi_fetch_body,
    offsets_body,
)
from ..base.clock import SystemClock
from ..parameters import port_beside, topic_counts
from ..zookeeper.keeper import Keeper
from ..zookeeper.listening import KeeperServer
from ..zookeeper.tree import Create, Mode, Who, parent_of
from .connection import OldConnection, listen

T = TypeVar("T")
_NAME = re.compile(r"(?!\.\.?$)[a-zA-Z0-9._-]{1,200}")
_TOPICS_MAX = 10_000
_FETCH_BYTES_MAX = 64 << 20
_TIMEOUT_S = 30


class Unserved(Exception):
    """A request that closes its connection."""


class Kafka07:
    """A broker of Kafka 0.7: `with Kafka07() as kafka:`.

    topics       topics that are there at the start, and their numbers of partitions
    data_dir     where the logs are; without it a temporary directory, removed at the end
    host, port   where to listen; port 0 is any free one
    broker_id    the id in ZooKeeper
    partitions   how many partitions a topic has that a client produces to first
    segment_bytes, message_bytes_max
                 the largest file but for its last set, and the largest payload
    zookeeper    whether a ZooKeeper is served beside it, or its port

    Raises TypeError, ValueError, Refused for invalid arguments; OSError from `start`.
    """

    def __init__(
        self,
        topics: Mapping[str, int] | None = None,
        *,
        data_dir: str | Path | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        broker_id: int = 0,
        partitions: int = 1,
        segment_bytes: int = SEGMENT_BYTES,
        message_bytes_max: int = MESSAGE_BYTES_MAX,
        zookeeper: bool | int = False,
    ) -> None:
        self._given = topic_counts(topics)
        for name in self._given:
            _check_name(name)
        self._data_dir = None if data_dir is None else Path(data_dir)
        self.host, self.port = host, port
        self._broker_id, self._partitions = broker_id, partitions
        self._sizes = {"segment_bytes": segment_bytes, "message_bytes_max": message_bytes_max}
        self._zookeeper_port = port_beside("zookeeper", zookeeper)
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """Where clients connect to, "host:port"."""
        return f"{self.host}:{self.port}"

    @property
    def zookeeper_connect(self) -> str:
        """The value of `zk.connect`. Raises RuntimeError if there is no ZooKeeper."""
        if self._zookeeper is None:
            raise RuntimeError("there is no ZooKeeper: start the broker with zookeeper=True")
        return self._zookeeper.connect

    def start(self) -> Self:
        """Start it. Raises OSError if it cannot listen, RuntimeError if it runs."""
        if self._thread is not None:
            raise RuntimeError("the broker is running already")
        ready: Future[None] = Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._run(ready)), name="kafka-0.7", daemon=True
        )
        self._thread.start()
        try:
            ready.result(_TIMEOUT_S)
        except BaseException:
            self._thread = None
            raise
        return self

    def stop(self) -> None:
        """Stop it; nothing if it does not run."""
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(_TIMEOUT_S)
            self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def payloads(self, topic: str, partition: int = 0) -> list[tuple[int, bytes]]:
        """Position and payload of every message of a partition, also of those in compressed ones,
        which share its position. Raises KeyError, WireError."""

        def read() -> list[tuple[int, bytes]]:
            log, found = self.logs[topic, partition], list[tuple[int, bytes]]()
            position = log.start
            while data := log.read(position, 1 << 40):
                found += read_payloads(data, position)
                position += len(data)
            return found

        return self._call(read)

    def _call(self, action: Callable[[], T]) -> T:
        if self._thread is None:
            raise RuntimeError("the broker is not running")

        async def done() -> T:
            return action()

        return asyncio.run_coroutine_threadsafe(done(), self._loop).result(_TIMEOUT_S)

    # In its thread

    async def _run(self, ready: Future[None]) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        self._zookeeper: KeeperServer | None = None
        self.topics: dict[str, int] = {}
        self.logs: dict[tuple[str, int], OldLog] = {}
        connections: set[OldConnection] = set()
        with tempfile.TemporaryDirectory(prefix="odradek-0.7-") as temporary:
            self._home = self._data_dir or Path(temporary)
            try:
                where = self.host, self.port
                server, self.host, self.port = await listen(self.answer, connections, *where)
                self._register()
                self._open_logs()
            except BaseException as error:
                ready.set_exception(error)
                return
            ready.set_result(None)
            await self._stopping.wait()
            server.close()
            for each in [*connections]:
                each.close()
            if self._zookeeper is not None:
                await self._zookeeper.close()
            for log in self.logs.values():
                log.close()

    def _open_logs(self) -> None:
        self._home.mkdir(parents=True, exist_ok=True)
        counts = dict(self._given)
        for path in self._home.iterdir():
            found = DOCUMENTED.parse_directory(path.name)
            if found is not None:
                counts[found[0]] = max(counts.get(found[0], 0), found[1] + 1)
        for topic, count in counts.items():
            self._create(topic, count)

    def _create(self, topic: str, partitions: int) -> None:
        _check_name(topic)
        if len(self.topics) >= _TOPICS_MAX:
            raise Unserved(f"there are {_TOPICS_MAX} topics already")
        self.topics[topic] = partitions
        for index in range(partitions):
            path = self._home / DOCUMENTED.directory(topic, index)
            self.logs[topic, index] = OldLog(path, **self._sizes)
        self._put(f"/brokers/topics/{topic}/{self._broker_id}", str(partitions))

    def _register(self) -> None:
        if self._zookeeper_port is None:
            return
        keeper = Keeper(LoopClock(self._loop), Random())
        self._zookeeper = KeeperServer(keeper, self.host, self._zookeeper_port)
        self._session = keeper.sessions.own().session_id
        creator = f"{self.host}-{keeper.clock.now()}"
        self._put(f"/brokers/ids/{self._broker_id}", f"{creator}:{self.host}:{self.port}")

    def _put(self, path: str, text: str) -> None:
        """An ephemeral node of the broker, and those above it."""
        if self._zookeeper is None:
            return
        tree = self._zookeeper.keeper.tree
        above: list[str] = []
        while (path_above := parent_of(above[-1] if above else path)) not in tree.nodes:
            above.append(path_above)
        for each in reversed(above):
            tree.apply(Create(each))
        tree.apply(Create(path, text.encode(), Mode.EPHEMERAL), Who(self._session))

    # Requests

    def answer(self, kind: Kind, asked: OldRequest) -> bytes | None:
        """The answer to a request; None for one that is not answered. Raises Unserved, OSError,
        InvalidMessage."""
        if isinstance(asked, OldOffsets):
            return encode_answer(OldError.NONE, offsets_body(self._offsets(asked)))
        answers = [self._fetch(each) for each in asked if isinstance(each, OldFetch)]
        for each in asked:
            if isinstance(each, OldProduce):
                self._produce(each)
        if kind is Kind.FETCH:
            return encode_answer(*answers[0])
        if kind is Kind.MULTI_FETCH:
            return encode_answer(OldError.NONE, multi_fetch_body(answers))
        return None

    def _produce(self, asked: OldProduce) -> None:
        if asked.topic not in self.topics:
            self._create(asked.topic, self._partitions)
        count = self.topics[asked.topic]
        partition = self._any.randrange(count) if asked.partition == -1 else asked.partition
        if not 0 <= partition < count:
            raise Unserved(f"{asked.topic} has no partition {partition}")
        self.logs[asked.topic, partition].append(asked.messages)

    _any = Random(0)

    def _fetch(self, asked: OldFetch) -> Answer:
        log = self.logs.get((asked.topic, asked.partition))
        if asked.topic in self.topics and log is None:
            return OldError.WRONG_PARTITION, b""
        if asked.max_size < 0:
            return OldError.INVALID_FETCH_SIZE, b""
        if log is None:
            return OldError.NONE, b""
        try:
            return OldError.NONE, log.read(asked.offset, min(asked.max_size, _FETCH_BYTES_MAX))
        except OutOfRange:
            return OldError.OFFSET_OUT_OF_RANGE, b""

    def _offsets(self, asked: OldOffsets) -> list[int]:
        log = self.logs.get((asked.topic, asked.partition))
        if log is None:
            return [0] if asked.time_ms in (LATEST, EARLIEST) else []
        if asked.time_ms == EARLIEST:
            return [log.start][: max(0, asked.most)]
        time_ms = None if asked.time_ms == LATEST else asked.time_ms
        return log.positions_before(time_ms, asked.most)


class LoopClock:
    """Real time, and timers of an event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._clock = loop, SystemClock()

    def now(self) -> int:
        """In ms."""
        return self._clock.now()

    def at(self, when: int, callback: Callable[[], None]) -> asyncio.TimerHandle:
        return self._loop.call_later(max(0, when - self.now()) / 1000, callback)


def _check_name(topic: str) -> None:
    """Raises Unserved: brokers of 0.7 took any name, and made it a directory."""
    if not _NAME.fullmatch(topic):
        raise Unserved(f"{topic!r} is no name of a topic")
