"""The broker's time, as a test moves it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from threading import Event

from .. import parameters, seen
from ..base.clock import FOLLOWS, TestClock
from ..cluster import Cluster
from .facet import Facet

_SLICE_S = 0.01


class Timing(Facet):
    """The broker's clock. What clients wait for, as a fetch does for data, is real time: no verb
    here ends it or makes it longer."""

    @property
    def now(self) -> int:
        """The broker's time, in ms since 1970, as records are stamped."""
        return self.run(lambda cluster: cluster.clock.now())

    def advance(
        self,
        by: float | timedelta | None = None,
        /,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        ms: float = 0,
    ) -> None:
        """Move the clock forward: `advance(days=7)`, a timedelta, or seconds. Everything due on
        the way happens at its own time, in order; then the clock goes on as before.

        Clients are served meanwhile; not so those that run in the loop of the caller: in a
        coroutine use `aadvance`. Ctrl-C ends it where the clock then is. Raises TypeError for a
        clock that follows the test's time, or is your own; ValueError for a time that is past.
        """
        units = {"days": days, "hours": hours, "minutes": minutes, "seconds": seconds, "ms": ms}
        self._advance(_forward(by, units), lambda: False)

    async def aadvance(
        self,
        by: float | timedelta | None = None,
        /,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        ms: float = 0,
    ) -> None:
        """`advance` in a coroutine. Under asyncio it may be cancelled: the clock stays where it
        then is."""
        units = {"days": days, "hours": hours, "minutes": minutes, "seconds": seconds, "ms": ms}
        left, is_over = _forward(by, units), Event()
        try:
            await seen.in_thread(partial(self._advance, left, is_over.is_set))
        finally:
            is_over.set()

    def _advance(self, left: int, is_over: Callable[[], bool]) -> None:
        self.run(_begin)
        try:
            while left and not is_over():
                left = self.run(partial(Cluster.advance, milliseconds=left, seconds=_SLICE_S))
        finally:
            self.run(Cluster.release_clock)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """No time passes for the broker: no session, transaction or retention times out. Requests
        are served. May be nested; `advance` moves the clock meanwhile too.

        Raises TypeError for a clock of your own.
        """
        self.run(Cluster.hold_clock)
        try:
            yield
        finally:
            self.run(Cluster.release_clock)


def _forward(by: float | timedelta | None, units: Mapping[str, float]) -> int:
    ms = parameters.duration_ms(by, units)
    if ms < 0:
        raise ValueError(f"time cannot go back by {-ms} ms")
    return ms


def _begin(cluster: Cluster) -> None:
    if isinstance(cluster.clock, TestClock):
        raise TypeError(f"{FOLLOWS}: move that instead, with freezegun or time-machine")
    cluster.hold_clock()
