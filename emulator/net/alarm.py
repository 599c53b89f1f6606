"""Alarm: rings on an event loop when the first of some timers is due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ..base.timers import Timers


class Alarm:
    """`until` says how many real milliseconds are left until a time of the timers, None if there is
    no telling; `ring` fires what is due."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        timers: Timers,
        until: Callable[[int], float | None],
        ring: Callable[[], object],
    ) -> None:
        self._loop = loop
        self._timers = timers
        self._until = until
        self._ring = ring
        self._handle: asyncio.TimerHandle | None = None
        self._set_for = 0
        timers.on_earlier = self._set
        self._set()  # for what was set before

    def set_anew(self) -> None:
        """Their time goes on otherwise than it did."""
        self._cancel()
        self._set()

    def close(self) -> None:
        """Ring no more."""
        self._timers.on_earlier = None
        self._cancel()

    def _cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _set(self) -> None:
        when = self._timers.next()
        if when is None or (self._handle is not None and self._set_for <= when):
            return
        left = self._until(when)
        if left is None:
            return
        self._cancel()
        self._set_for = when
        # Time is counted in whole milliseconds: one more, so as not to wake up just before it.
        self._handle = self._loop.call_later(max(0.0, left + 1) / 1000, self._rings)

    def _rings(self) -> None:
        self._handle = None
        self._ring()
        self._set()
