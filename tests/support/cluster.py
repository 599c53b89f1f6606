"""A cluster under a manual clock, and clients without a socket: requests go in as frames, answers
come out decoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.journal import MOST_EVENTS, Journal
from odradek.emulator.base.node import Node
from odradek.emulator.base.release import KAFKA_4_3
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig
from odradek.emulator.net.connection import Connection
from odradek.emulator.parameters import INSTANT
from odradek.storage import MemoryDisk
from odradek.storage.disk.directory import Directory
from odradek.wire import Request, Response
from odradek.wire.api import response_class
from odradek.wire.frames import SIZE, Frames, Part, pieces
from odradek.wire.headers import RequestHeader, read_response_header, write_request_header

from tests.support.clock import NOW


def open_cluster(
    data_dir: str | Path | Directory | MemoryDisk | None = None,
    now: Any = NOW,
    release: Any = KAFKA_4_3,
    nodes: Any = (1,),
    max_events: Any = MOST_EVENTS,
    timing: Any = INSTANT,
    **configs: str,
) -> Cluster:
    """A cluster of one broker, or of these nodes, under a manual clock, which begins at `now` (ms),
    by default on a disk in memory of its own; config names with _ for dots."""
    clock = ManualClock(now)
    disk = data_dir or MemoryDisk()
    if isinstance(disk, MemoryDisk):
        disk = disk.directory()
    overrides = {name.replace("_", "."): value for name, value in configs.items()}
    return Cluster(
        BrokerConfig(overrides, release),
        data_dir=Path(disk) if isinstance(disk, str) else disk,
        brokers=[Node(node_id, "localhost", 9091 + node_id) for node_id in nodes],
        clock=clock,
        journal=Journal(clock, max_events),
        timing=timing,
    )


@contextmanager
def at_once(cluster: Cluster) -> Iterator[None]:
    """Within a broker's thread: what clients ask meanwhile is carried out at once, and not in later
    turns of its loop."""
    turns = cluster.turns
    wake, turns.wake = turns.wake, None
    is_over, turns.is_over = turns.is_over, False  # the turn of who was served before
    try:
        yield
    finally:
        turns.wake, turns.is_over = wake, is_over


class Client:
    """One connection. `ask` wants an answer at once; `send` may be answered later, or never."""

    def __init__(self, cluster: Cluster, client_id: str = "test", node_id: int = 1) -> None:
        self.cluster = cluster
        self.client_id = client_id
        self.is_closed = False
        self.connection = Connection(cluster, _Transport(self), "127.0.0.1", node_id)
        self._frames = Frames()
        self._asked: list[tuple[int, int, int]] = []
        self._answers: list[Response] = []
        self._correlation = 0

    def ask(self, request: Request, version: int) -> Any:
        """Send a request and return the answer, which must be there at once."""
        assert not self._asked, "an earlier request is still unanswered"
        self.send(request, version)
        answers = self.answers()
        assert len(answers) == 1, f"{len(answers)} answers (closed: {self.is_closed})"
        return answers[0]

    def send(self, request: Request, version: int) -> None:
        """Send a request without looking for the answer."""
        self._correlation += 1
        header = RequestHeader(request.api_key, version, self._correlation, self.client_id)
        self._asked.append((self._correlation, request.api_key, version))
        self.send_raw(write_request_header(header) + request.encode(version))

    def expect(self, correlation_id: int, api_key: int, version: int) -> None:
        """What is sent raw next is answered with this id, and in this version."""
        self._asked.append((correlation_id, api_key, version))

    def send_raw(self, frame: bytes) -> None:
        """Send the bytes of one frame, without its size."""
        self.connection.feed(SIZE.pack(len(frame)) + frame)

    def answers(self) -> list[Any]:
        """What was answered since the last look, in order."""
        found, self._answers = self._answers, []
        return found

    # The transport's side

    def send_parts(self, parts: list[Part]) -> None:
        for frame in self._frames.feed(b"".join(pieces(parts, lambda: 1 << 20))):
            correlation, key, version = self._asked.pop(0)
            got, pos = read_response_header(frame, key, version)
            assert got == correlation
            message, end = response_class(key).decode_from(bytes(frame), version, pos)
            assert end == len(frame), "bytes behind the answer"
            self._answers.append(message)

    def close(self) -> None:
        self.is_closed = True


class _Transport:
    """Connection calls `send` on its transport, and tests on a client: two names for two things."""

    def __init__(self, client: Client) -> None:
        self.send = client.send_parts
        self.close = client.close

    def read_on(self) -> None:
        """There is always room."""

    def ends(self) -> None:
        """There is no socket."""


def client_of(cluster: Cluster, client_id: str = "test", node_id: int = 1) -> Client:
    return Client(cluster, client_id, node_id)
