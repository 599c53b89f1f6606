"""Environment: what every part of the broker shares: configs, time, timers, the event log, nodes.

A part takes this and what else it uses (the metadata log, topics, ...), and not the `Cluster` that
holds the parts together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from math import inf
from random import Random
from typing import TYPE_CHECKING, Any

from .base.chain import Chain
from .base.clock import Clock, ManualClock, Movable, SystemClock, TestClock
from .base.journal import Journal
from .base.real_time import perf_counter, real_ms
from .base.timers import Timer, Timers
from .base.turns import Gate, Turns

if TYPE_CHECKING:
    from ..storage import LogDirectory
    from .base.node import Node
    from .config.configs import BrokerConfig


class Environment:
    """The shared state of the brokers of one cluster. `settle` is called after whatever may have
    changed something."""

    log_dir: LogDirectory
    controller_id: int
    # Both are set by a server. Without one clients wait in the clock's time.
    waits: Timers | None = None
    """Deadlines of waiting clients, in real time."""
    clock_moved: Callable[[], None] | None = None
    is_over = False
    """Whether the brokers stop: they close the connections, and not the clients."""
    _holds = 0
    _is_settling = False

    def __init__(
        self,
        config: BrokerConfig,
        nodes: Iterable[Node],
        clock: Clock | None,
        random: Random | None,
        journal: Journal | None,
    ) -> None:
        self.config, self.release = config, config.release
        self.nodes = {node.node_id: node for node in nodes}
        self.clock: Clock = clock if clock is not None else SystemClock()
        self.has_manual_clock = isinstance(self.clock, ManualClock | TestClock)
        self.random = random if random is not None else Random()
        self.timers, self.turns = Timers(), Turns()
        self.asked: set[Future[Any]] = set()  # what the test has asked, and is not answered
        self.journal = journal or Journal(self.clock)
        self.decompressing = Gate(self.turns)  # a large batch, whose content needs room
        self.chain = Chain()  # what requests pass: base/chain.py
        self.woken: list[Callable[[], None]] = []
        self.watchers: list[Callable[[], None]] = []  # called when anything may have changed
        self.shifted: list[Callable[[int], None]] = []  # called when the clock was set, with the ms

    def node_label(self, node_id: int) -> int | None:
        """The broker's name in events: None if it is the only one."""
        return node_id if len(self.nodes) > 1 else None

    # What is due, and what is woken

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

    # The clock

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
        for shift in self.shifted:
            shift(milliseconds)
        self._clock_moved()
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
        self._clock_moved()

    def release_clock(self) -> None:
        """Let time pass again."""
        self._holds -= 1
        if not self._holds:
            self._movable().release()
        self._clock_moved()

    def keep_holds(self, before: Environment) -> None:
        """Take the place of another one with the same clock."""
        self._holds = before._holds

    def _clock_moved(self) -> None:
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
