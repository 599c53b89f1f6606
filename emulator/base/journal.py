"""Journal: what happened at the broker, in order, bounded.

Two ways in. `add` is for what happens seldom: each makes an Event of its own. `run` is for what
every request does (appended, fetched): the same thing again, with nothing seldom between, counts up
the Event that is there, so that a busy client neither costs much nor pushes out what matters.

Only the broker's thread writes and reads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

from .clock import Clock
from .event import Event

MOST_EVENTS = 10_000


class Journal:
    """The last events of a broker. `most` 0 keeps none, and costs nothing."""

    def __init__(self, clock: Clock, most: int = MOST_EVENTS) -> None:
        self.is_on = most > 0
        self.told: Callable[[Event], None] | None = None
        """Called with each seldom event: the log of `serve`."""
        self._clock = clock
        self._begin = perf_counter()
        self._events: deque[Event] = deque(maxlen=most)
        self._runs: dict[tuple[Any, ...], Event] = {}

    def add(self, kind: str, **fields: Any) -> None:
        """Something seldom has happened. `fields` are those of Event."""
        if not self.is_on:
            return
        elapsed = perf_counter() - self._begin
        event = Event(kind, self._clock.now(), elapsed, elapsed, **fields)
        self._runs.clear()
        self._events.append(event)
        if self.told is not None:
            self.told(event)

    def run(
        self,
        kind: str,
        client: str,
        topic: str,
        partition: int,
        first_offset: int = -1,
        last_offset: int = -1,
    ) -> None:
        """Something frequent has happened, once more or for the first time."""
        if not self.is_on:
            return
        elapsed = perf_counter() - self._begin
        event = self._runs.get((kind, client, topic, partition))
        if event is None:
            at = (self._clock.now(), elapsed, elapsed)
            event = Event(kind, *at, 1, client, topic, partition, first_offset, last_offset)
            self._runs[kind, client, topic, partition] = event
            self._events.append(event)
            return
        event.count += 1
        event.until = elapsed
        event.last_offset = last_offset

    def events(self) -> list[Event]:
        """Copies of what is kept, in order."""
        return [replace(event) for event in self._events]
