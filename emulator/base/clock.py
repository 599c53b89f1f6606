"""Clocks: the machine's, one that runs faster, one that a test advances, one that follows the test.

What they have in common beside `now` is that a cluster may move and hold them: `Movable`. A clock
of a user's own needs `now` alone, and is moved by its owner.
"""

from __future__ import annotations

import datetime
from math import isfinite
from typing import Protocol

from .logger import log
from .real_time import monotonic, wall_time

FOLLOWS = 'the clock of this broker follows the test\'s time (clock="test")'


class Clock(Protocol):
    """Anything that returns the time in milliseconds since 1970."""

    def now(self) -> int: ...


class Movable:
    """A clock that can be moved forward, and held."""

    rate: float = 1.0
    """How many seconds pass in a real one. 0: it stands still until it is moved."""
    is_held = False

    def now(self) -> int:
        """Milliseconds since 1970."""
        raise NotImplementedError

    def advance(self, milliseconds: int) -> None:
        """Move forward. Timers that are now due are fired by whoever owns them."""
        raise NotImplementedError

    def jump(self, milliseconds: int) -> None:
        """Be set to another time, later or earlier by so much. What is timed is not touched."""
        raise NotImplementedError

    def hold(self) -> None:
        """Stand still until it is released."""
        self.is_held = True

    def release(self) -> None:
        """Go on from where it was held."""
        self.is_held = False


class SystemClock(Movable):
    """Wall-clock time that never jumps: the time at the start, plus what has elapsed since, or
    `rate` times as much."""

    def __init__(self, rate: float = 1.0) -> None:
        if not (isfinite(rate) and rate > 0):
            raise ValueError(f"rate is how many seconds pass in a real one, not {rate}")
        self.rate = rate
        self._time = wall_time() * 1000
        self._since = monotonic()
        self._speed = rate * 1000
        self.ahead_ms = 0
        """How far it was moved forward; less than 0 if it was set back."""

    def now(self) -> int:
        return int(self._time + (monotonic() - self._since) * self._speed)

    def advance(self, milliseconds: int) -> None:
        self.jump(_forward(milliseconds))

    def jump(self, milliseconds: int) -> None:
        self._time += milliseconds
        self.ahead_ms += milliseconds

    def set_ahead(self, ahead_ms: int) -> None:
        """Be as if it had been moved forward so far. Of what has this clock, nothing may be
        running."""
        self._time += ahead_ms - self.ahead_ms
        self.ahead_ms = ahead_ms

    def hold(self) -> None:
        if not self.is_held:
            self._time += (monotonic() - self._since) * self._speed
            self._speed = 0.0
        super().hold()

    def release(self) -> None:
        if self.is_held:
            self._since = monotonic()
            self._speed = self.rate * 1000
        super().release()


class ManualClock(Movable):
    """A clock that stands still until a test advances it.

    It begins at `now` (milliseconds since 1970), by default at the machine's time: clients stamp
    their records with that, and a broker refuses records from more than an hour ahead.
    """

    rate = 0.0

    def __init__(self, now: int | None = None) -> None:
        self._now = int(wall_time() * 1000) if now is None else whole_ms("now", now)

    def now(self) -> int:
        return self._now

    def advance(self, milliseconds: int) -> None:
        self._now += _forward(milliseconds)

    def jump(self, milliseconds: int) -> None:
        self._now += milliseconds

    def set(self, now: int) -> None:
        """Be at another time, later or earlier. Of what has this clock, nothing may be running."""
        self._now = whole_ms("now", now)


class TestClock(Movable):
    """A clock that follows what `datetime.now()` says in the test's process, where freezegun or
    time-machine may have frozen and moved it. A cluster moves it on by what it is `behind`.

    It never goes back: while the test's time is before it, it stands still.
    """

    rate = 0.0
    __test__ = False  # no test of pytest's

    def __init__(self) -> None:
        self._now: int | None = None
        self._has_warned = False

    def now(self) -> int:
        if self._now is None:  # when the broker starts, not when its arguments are given
            self._now = _test_ms()
        return self._now

    def advance(self, milliseconds: int) -> None:
        self._now = self.now() + _forward(milliseconds)

    def jump(self, milliseconds: int) -> None:
        raise TypeError(f"{FOLLOWS}: move that instead, with freezegun or time-machine")

    def behind(self) -> int:
        """How many milliseconds the test's time is ahead."""
        if self.is_held:
            return 0
        ahead = _test_ms() - self.now()
        if ahead < -1000 and not self._has_warned:
            self._has_warned = True
            text = "the test's time has gone back by %d s, and the broker's stands still until it "
            log.warning(
                text + "has come so far: freeze time before the broker starts", -ahead // 1000
            )
        return max(0, ahead)


def _test_ms() -> int:
    # Looked up each time, as it is replaced. Of a local time, because freezegun adds its tz_offset
    # to a time in UTC.
    return int(datetime.datetime.now().timestamp() * 1000)


def whole_ms(name: str, given: int) -> int:
    """The same number, if it is one. Raises TypeError."""
    if not isinstance(given, int) or isinstance(given, bool):
        raise TypeError(f"{name} is a whole number of milliseconds, not {given!r}")
    return given


def _forward(milliseconds: int) -> int:
    whole_ms("milliseconds", milliseconds)
    if milliseconds < 0:
        raise ValueError(f"time cannot go back by {-milliseconds} ms")
    return milliseconds
