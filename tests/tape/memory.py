"""The emulator in process: no socket, no thread, a disk in memory and a clock that is moved."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from odradek.emulator.base.call import Ends
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.node import Node
from odradek.emulator.base.release import KAFKA_4_3, Release
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig
from odradek.emulator.config.release_tables import config_tables
from odradek.emulator.net.connection import Connection
from odradek.storage import MemoryDisk
from odradek.wire import Request, WireError
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.frames import Frame, Frames, Part, pieces

from tests.differential.engine.brokers import Broker, config_of
from tests.differential.engine.side import Link, Side
from tests.support.cluster import client_of

HOST, PORT = "127.0.0.1", 9092
_COORDINATORS_SINCE = (0, 1, 6)
"""The versions of FindCoordinator that have groups, transactions and share groups."""
_PIECE = 1 << 20


class MemoryBroker:
    """A broker on a disk in memory, which restarts on it."""

    bootstrap_servers = f"{HOST}:{PORT}"

    def __init__(self, now_ms: int, release: Release = KAFKA_4_3) -> None:
        self._release = release
        self.clock, self._began_ms = ManualClock(now_ms), now_ms
        self._disk = MemoryDisk(now_ms=self.clock.now)
        self.cluster = self._open()
        last = release.advertised[FindCoordinatorRequest.api_key][1]
        key = f"g:{'A' * 22}:0"
        for kind in range(sum(last >= since for since in _COORDINATORS_SINCE)):
            # Looking for them creates their topics.
            asked = FindCoordinatorRequest(key=key, key_type=kind, coordinator_keys=[key])
            self.ask(asked, min(last, 6))

    def ask(self, request: Request, version: int) -> Any:
        """A question that is not part of the comparison."""
        return client_of(self.cluster, "engine").ask(request, version)

    def begin(self, now_ms: int) -> None:
        """A sequence begins, which began at this time when it was recorded."""
        self._began_ms = now_ms
        self.pass_until(0)

    @property
    def ms(self) -> int:
        """Milliseconds since it began."""
        return self.clock.now() - self._began_ms

    def pass_until(self, ms: int) -> None:
        """Let time pass until so many milliseconds after it began."""
        self.cluster.advance(max(0, ms - self.ms))
        self.cluster.settle()

    def pass_on(self, ms: int) -> None:
        """Let time pass until something happens, or so far."""
        due = self.cluster.timers.next()
        self.pass_until(ms if due is None else min(ms, max(self.ms + 1, due - self._began_ms)))

    def _open(self) -> Cluster:
        is_settable = config_tables(self._release).is_settable
        config = config_of(self._release.name)
        known = {name: text for name, text in config.items() if is_settable(name)}
        cluster = Cluster(
            BrokerConfig(known, self._release),
            data_dir=self._disk.directory(),
            brokers=[Node(1, HOST, PORT)],
            clock=self.clock,
        )
        # Between takes are days, and a real broker, new for each, had nothing to prune.
        cluster.share_coordinators.prune = lambda: False  # type: ignore[method-assign]
        return cluster

    def kill(self) -> None:
        """Leave its directory as a crash would."""
        self.cluster.log_dir.close(clean=False)

    def restart(self) -> None:
        """Stop it, cleanly unless it was killed, and start it again."""
        self.cluster.close()
        self.cluster = self._open()

    def close(self) -> None:
        """Stop it."""
        self.cluster.close(is_last=True)


class MemoryLink(Link):
    """A connection without a socket. It is its own transport."""

    def __init__(self, cluster: Cluster) -> None:
        self.frames = Frames()
        self.asked = {}
        self._came: list[Frame] = []
        self._is_closed = False
        self._connection = Connection(cluster, _Transport(self), HOST, 1)

    def send(self, data: bytes) -> bool:
        """Send it all; False if the broker has closed the connection."""
        if self._is_closed:
            return False
        self._connection.feed(data)
        return True

    def receive(self) -> list[Frame] | None:
        """The frames that are there; None once the broker has closed the connection."""
        came, self._came = self._came, []
        return None if self._is_closed and not came else came

    def close(self) -> None:
        """Close it from here."""
        self._connection.lost()

    # For the transport

    def came(self, parts: list[Part]) -> None:
        """The broker has sent something."""
        with suppress(WireError):
            self._came += self.frames.feed(b"".join(pieces(parts, lambda: _PIECE)))

    def closed(self) -> None:
        """The broker has closed the connection."""
        self._is_closed = True


class _Transport:
    """What a connection of the emulator sends by."""

    def __init__(self, link: MemoryLink) -> None:
        self.send = link.came
        self.close = link.closed

    def read_on(self) -> None:
        """There is always room."""

    def ends(self) -> Ends | None:
        """There is no socket."""
        return None


class MemorySide(Side):
    """The emulator as the engine sees it."""

    def __init__(self, broker: MemoryBroker) -> None:
        super().__init__(cast(Broker, broker))
        self.memory = broker
        self.notices_later: Callable[[str], bool] = lambda on: False
        """Whether the end of a connection is noticed in the next step: Kafka closed it where no
        answer was waited for."""

    def _link(self, on: str) -> Link:
        if on not in self._links:
            self._links[on] = MemoryLink(self.memory.cluster)
        return self._links[on]

    def receive(self) -> None:
        """Take in what is there now."""
        for name, link in list(self._links.items()):
            frames = link.receive()
            if frames is None and not self.notices_later(name):
                self._lost(name)
            for frame in frames or ():
                self._take(name, link, frame)

    def _take(self, name: str, link: Link, frame: Frame) -> None:
        before = set(self.arrived)
        super()._take(name, link, frame)
        for key in self.arrived.keys() - before:
            self.arrived[key] = replace(self.arrived[key], at_s=self.memory.ms / 1000)
