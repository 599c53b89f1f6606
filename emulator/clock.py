"""Where the time comes from: the machine's clock, or a hand that moves it."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Anything that tells the time in milliseconds since 1970."""

    def now(self) -> int: ...


class SystemClock:
    """Wall-clock time that never jumps: what it was at the start, plus what has passed since."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> int:
        return int((self._offset + time.monotonic()) * 1000)


class ManualClock:
    """Stands still until it is moved, for tests of the coordinators."""

    def __init__(self, now: int = 1_600_000_000_000) -> None:
        self._now = now

    def now(self) -> int:
        return self._now

    def advance(self, milliseconds: int) -> None:
        """Move forward; the owner of the timers fires what is due."""
        if milliseconds < 0:
            raise ValueError(f"time cannot go back by {-milliseconds} ms")
        self._now += milliseconds
