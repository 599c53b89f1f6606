"""Sessions: each has a password, may move to another connection, and ends when nothing was heard of
it for its timeout, by the clock of the cluster.

Deadlines are rounded up to whole ticks, as ZooKeeper does, so that few timers are set anew. With
several thousand clients there is a limit: beyond MOST no session begins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Protocol

TICK_MS = 3000
"""`tickTime` of Kafka's zookeeper.properties; sessions last from 2 to 20 of them."""
MOST = 10_000


class Cancellable(Protocol):
    def cancel(self) -> None:
        """It does not come."""


class Clock(Protocol):
    def now(self) -> int:
        """In ms."""

    def at(self, when: int, callback: Callable[[], None]) -> Cancellable:
        """Call back at that time."""


@dataclass(slots=True, eq=False)
class Session:
    session_id: int
    password: bytes
    timeout_ms: int
    timer: Cancellable | None = None
    due: int = 0


class Sessions:
    """Those that are alive, by id. `ended` is called with one whose time is over."""

    def __init__(self, clock: Clock, random: Random, tick_ms: int = TICK_MS) -> None:
        self.tick_ms = tick_ms
        self.alive: dict[int, Session] = {}
        self.ended: Callable[[Session], None] | None = None
        self._clock, self._random = clock, random
        self._next = (clock.now() << 24 & (1 << 55) - 1) | 1 << 56

    @property
    def least_ms(self) -> int:
        return 2 * self.tick_ms

    @property
    def most_ms(self) -> int:
        return 20 * self.tick_ms

    def begin(self, timeout_ms: int) -> Session | None:
        """A new one, or None if there are too many."""
        if len(self.alive) >= MOST:
            return None
        session = Session(self._next, self._random.randbytes(16), self._negotiated(timeout_ms))
        self._next += 1
        self.alive[session.session_id] = session
        self.touch(session)
        return session

    def own(self) -> Session:
        """One of a broker in this process, which never expires by itself."""
        session = Session(self._next, self._random.randbytes(16), self.most_ms)
        self._next += 1
        self.alive[session.session_id] = session
        return session

    def again(self, session_id: int, password: bytes | None, timeout_ms: int) -> Session | None:
        """One that goes on over another connection; None if it is over, or another's."""
        session = self.alive.get(session_id)
        if session is None or session.password != password:
            return None
        session.timeout_ms = self._negotiated(timeout_ms)
        self.touch(session)
        return session

    def touch(self, session: Session) -> None:
        due = self._clock.now() + session.timeout_ms
        due += -due % self.tick_ms
        if due == session.due and session.timer is not None:
            return
        if session.timer is not None:
            session.timer.cancel()
        session.due = due
        session.timer = self._clock.at(due, lambda: self._over(session))

    def end(self, session: Session) -> None:
        if session.timer is not None:
            session.timer.cancel()
        self.alive.pop(session.session_id, None)

    def set_timers_anew(self) -> None:
        """The clock's timers are others than before."""
        for session in self.alive.values():
            if session.timer is not None:
                session.timer.cancel()
                session.timer = None
                self.touch(session)

    def _over(self, session: Session) -> None:
        self.end(session)
        if self.ended is not None:
            self.ended(session)

    def _negotiated(self, timeout_ms: int) -> int:
        return min(max(timeout_ms, self.least_ms), self.most_ms)
