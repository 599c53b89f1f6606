"""Order: what was over before a request began is over before it begins again.

Requests that overlapped may overlap again; so members that wait for each other still do.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Sequence

from ...emulator.control.traffic.exchange import Exchange


class Order:
    """The ends of all requests, in the order in which they were recorded."""

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        ended = sorted(
            (each.time_ms + each.duration_ms, each.number)
            for each in exchanges
            if each.duration_ms is not None
        )
        self._ends = [end for end, _ in ended]
        self._places = {number: place for place, (_, number) in enumerate(ended)}
        self._is_over = [False] * len(ended)
        self._over = 0  # of the first so many, all are over
        self._changed = asyncio.Condition()

    async def begin(self, exchange: Exchange) -> None:
        """Wait until all that was over when it began is over."""
        before = bisect_right(self._ends, exchange.time_ms)
        place = self._places.get(exchange.number)
        if place is not None:  # one that took no time is not over before itself
            before = min(before, place)
        async with self._changed:
            await self._changed.wait_for(lambda: self._over >= before)

    async def end(self, exchange: Exchange) -> None:
        """It is over."""
        place = self._places.get(exchange.number)
        if place is None:
            return
        async with self._changed:
            self._is_over[place] = True
            while self._over < len(self._is_over) and self._is_over[self._over]:
                self._over += 1
            self._changed.notify_all()
