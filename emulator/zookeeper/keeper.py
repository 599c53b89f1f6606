"""Keeper: tree, watches, sessions and connections of one ZooKeeper, without sockets.

A connection gives whole frames to `Client.received`, and sends what comes back; notifications of
watches come before the answer to the request that rang them. The first frame asks for a session, or
for one to go on. One that never did is no client, and gets nothing.

The state is this process's alone: it outlives the brokers beside it, their kills and restarts, and
ends with the process.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from . import jute
from .acl import IP, Id
from .errors import Malformed
from .jute import Reader
from .requests import answer
from .sessions import Clock, Session, Sessions
from .tree import DEFAULT_LIMITS, Event, Limits, Tree
from .watches import Watches

_NOTIFICATION = -1
_SYNC_CONNECTED = 3
_SWEEP_MS = 60_000


class Keeper:
    def __init__(self, clock: Clock, random: Random, limits: Limits = DEFAULT_LIMITS) -> None:
        self.clock = clock
        self.tree = Tree(clock.now, limits)
        self.watches = Watches()
        self.tree.changed.append(self.watches.tell)
        self.sessions = Sessions(clock, random)
        self.sessions.ended = self.session_over
        self.clients: dict[Client, None] = {}
        self.received = self.sent = 0
        """Packets, since the last `srst`."""
        self._is_sweeping = False

    def session_over(self, session: Session) -> None:
        """It has expired, or its broker is gone: its nodes go, and its connection is closed."""
        self.sessions.end(session)
        self.tree.end_session(session.session_id)
        for client in [each for each in self.clients if each.session is session]:
            client.close()

    def sweep_later(self) -> None:
        """There are containers: those that have emptied go within a minute."""
        if self._is_sweeping or not self.tree.containers:
            return
        self._is_sweeping = True
        self.clock.at(self.clock.now() + _SWEEP_MS, self._sweep)

    def _sweep(self) -> None:
        self._is_sweeping = False
        self.tree.sweep_containers()
        self.sweep_later()

    def set_timers_anew(self) -> None:
        """The clock's timers are others than before."""
        self.sessions.set_timers_anew()
        self._is_sweeping = False
        self.sweep_later()


class Client:
    """One connection. `send` takes the bytes of one frame, `end` closes it once they are sent."""

    def __init__(
        self,
        keeper: Keeper,
        address: tuple[str, int],
        send: Callable[[bytes], None],
        end: Callable[[], None],
    ) -> None:
        self.keeper = keeper
        self.address = address
        self.session: Session | None = None
        self.ids: list[Id] = [Id(IP, address[0])]
        self.watching: set[tuple[bool, str]] = set()
        self.began = keeper.clock.now()
        self.received_packets = self.sent_packets = 0
        self.is_open = True
        self._send, self._end = send, end
        keeper.clients[self] = None

    def received(self, frame: bytes) -> None:
        """A frame, without its length. Raises nothing: what is no request closes the connection."""
        if not self.is_open:
            return
        self.received_packets += 1
        self.keeper.received += 1
        try:
            if self.session is None:
                self._connect(Reader(frame))
            else:
                self.keeper.sessions.touch(self.session)
                answer(self, Reader(frame))
        except Malformed:
            self.close()

    def send(self, frame: bytes) -> None:
        if self.is_open:
            self.sent_packets += 1
            self.keeper.sent += 1
            self._send(frame)

    def notify(self, event: Event, path: str) -> None:
        header = jute.i32(_NOTIFICATION) + jute.i64(-1) + jute.i32(0)
        self.send(header + jute.i32(event, _SYNC_CONNECTED) + jute.text(path))

    def close(self) -> None:
        """Close it. Its session goes on until it expires."""
        if self.is_open:
            self.lost()
            self._end()

    def lost(self) -> None:
        self.is_open = False
        self.keeper.watches.forget(self)
        self.keeper.clients.pop(self, None)

    def _connect(self, reader: Reader) -> None:
        """The first frame. Raises Malformed."""
        reader.i32()  # the version of the protocol, always 0
        seen = reader.i64()
        timeout_ms, session_id, password = reader.i32(), reader.i64(), reader.buffer()
        has_read_only = not reader.is_at_end
        if seen > self.keeper.tree.zxid:
            self.close()  # it was at another ZooKeeper, and knows more than this one
            return
        sessions = self.keeper.sessions
        if session_id:
            session = sessions.again(session_id, password, timeout_ms)
            for other in [*self.keeper.clients] if session is not None else ():
                if other.session is session:
                    other.close()
        else:
            session = sessions.begin(timeout_ms)
            self.keeper.tree.take_zxid()
        ok = session is not None
        self.send(
            jute.i32(0, session.timeout_ms if session else 0)
            + jute.i64(session.session_id if session else 0)
            + jute.buffer(session.password if session else bytes(16))
            + (jute.flag(False) if has_read_only else b"")
        )
        self.session = session
        if not ok:
            self.close()
