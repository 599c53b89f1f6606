"""Clocks: the machine's, or one that a test advances."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Anything that returns the time in milliseconds since 1970."""

    def now(self) -> int: ...


class SystemClock:
    """Wall-clock time that never jumps: the time at the start, plus what has elapsed since."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> int:
        return int((self._offset + time.monotonic()) * 1000)


class ManualClock:
    """A clock that stands still until a test advances it.

    It begins at `now` (milliseconds since 1970), by default at the machine's time: clients stamp
    their records with that, and a broker refuses records from more than an hour ahead.
    """

    def __init__(self, now: int | None = None) -> None:
        self._now = SystemClock().now() if now is None else whole_ms("now", now)

    def now(self) -> int:
        return self._now

    def advance(self, milliseconds: int) -> None:
        """Move forward. Timers that are now due are fired by whoever owns them."""
        whole_ms("milliseconds", milliseconds)
        if milliseconds < 0:
            raise ValueError(f"time cannot go back by {-milliseconds} ms")
        self._now += milliseconds


def whole_ms(name: str, given: int) -> int:
    """The same number, if it is one. Raises TypeError."""
    if not isinstance(given, int) or isinstance(given, bool):
        raise TypeError(f"{name} is a whole number of milliseconds, not {given!r}")
    return given
