"""Waiting: until what a test waits for is there, or its time is over.

A `Wait` says what is waited for and looks whether it is there. Who looks, and when, is for the
source (source.py): the emulator in this process looks in the broker's thread whenever something has
happened there (watching.py); of another broker one can only ask again and again (`polled`).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from concurrent.futures import wait as wait_for_futures
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any, Generic, Protocol, TypeVar

from ...emulator.base.event import Event
from ...emulator.base.real_time import monotonic, sleep
from ...wire import Refused, WireError

T = TypeVar("T")
TIMEOUT_S = 10.0
EVERY_S = 0.05
WITHIN_S = 2.0
"""How long an assertion waits for what is on its way."""
_MOST_EVENTS = 10


class WaitTimeout(AssertionError, TimeoutError):
    """The time was over. Says what was waited for, what was there, the nearest to it, and the last
    events that concern it."""

    __module__ = "odradek"  # as reports name it


@dataclass(frozen=True, slots=True)
class Wait(Generic[T]):
    what: str
    """As in "waited 2 s for ..."."""
    look: Callable[[], T | None]
    """Whether it is there: the result of the wait, or None if it is not. What it raises ends the
    wait."""
    there: Callable[[], str]
    """The records there, and those nearest to the expected ones."""
    topic: str | None = None
    partition: int | None = None
    group: str | None = None
    reads_records: bool = False
    """Whether each look reads on in the records of the topic, from where the last one has ended,
    and nothing else. The first look may take long."""
    is_to_end: bool = False
    """Whether the end of its time is what the caller hopes for."""


class WaitSource(Protocol):
    """Who looks, and when."""

    def wait(self, wait: Wait[T], timeout: float | None = None) -> T:
        """Wait in the caller's thread. Raises WaitTimeout, and what looking raises."""

    async def wait_async(self, wait: Wait[T], timeout: float | None = None) -> T:
        """The same in a coroutine, whose loop goes on meanwhile."""


class Bounds:
    """How long waits last: as long as they are to, unless somebody has them last less
    (fixtures/hypothesis.py)."""

    of: Callable[[Wait[Any], float], AbstractContextManager[float]] | None = None

    def __call__(self, wait: Wait[Any], seconds: float) -> AbstractContextManager[float]:
        """The function to wait in, and for how many seconds."""
        return nullcontext(seconds) if self.of is None else self.of(wait, seconds)


bounds = Bounds()


def seconds_of(name: str, given: float | None, default: float) -> float:
    """A number of seconds that was given, or not. Raises TypeError, ValueError."""
    if given is None:
        return default
    if not isinstance(given, int | float) or isinstance(given, bool):
        raise TypeError(f"{name} is a number of seconds, not {given!r}")
    if not isfinite(given) or not 0 <= given <= threading.TIMEOUT_MAX:
        raise ValueError(f"{name} is a number of seconds from 0 on, not {given!r}")
    return float(given)


def either(name: str, given: T | None, other: str, other_given: T | None) -> T | None:
    """An argument that goes by two names. Raises TypeError if both are given."""
    if given is not None and other_given is not None:
        raise TypeError(f"{name} and {other} are the same: give one of them")
    return given if given is not None else other_given


def count_of(name: str, given: int) -> int:
    """A number of things that was given. Raises TypeError, ValueError."""
    if not isinstance(given, int) or isinstance(given, bool):
        raise TypeError(f"{name} is a whole number, not {given!r}")
    if given < 1:
        raise ValueError(f"{name} is a whole number from 1 on, not {given}")
    return given


def timed_out(wait: Wait[Any], seconds: float, events: Iterable[Event] = ()) -> WaitTimeout:
    try:
        there = wait.there()
    except (Refused, WireError, RuntimeError, OSError) as error:
        there = f"What is there could not be read: {error}"
    latest = [str(event) for event in events][-_MOST_EVENTS:]
    lines = [f"waited {seconds:g} s for {wait.what}.", there]
    if latest:
        lines += ["The last events that concern it:", *(f"  {each}" for each in latest)]
    return WaitTimeout("\n".join(lines))


# Of a broker that tells nothing by itself.


def polled(wait: Wait[T], seconds: float, every: float = EVERY_S) -> T:
    """Look again and again. Raises WaitTimeout, and what looking raises."""
    __tracebackhide__ = True
    end = monotonic() + seconds
    while (found := wait.look()) is None:
        left = end - monotonic()
        if left <= 0:
            raise timed_out(wait, seconds)
        sleep(min(every, left))
    return found


async def polled_async(wait: Wait[T], seconds: float, every: float = EVERY_S) -> T:
    """The same in a coroutine: what blocks is done in other threads."""
    __tracebackhide__ = True
    end = monotonic() + seconds
    while (found := await in_thread(wait.look)) is None:
        left = end - monotonic()
        if left <= 0:
            raise await in_thread(partial(timed_out, wait, seconds))
        await done_within(Future(), min(every, left))
    return found


# Coroutines, under asyncio or whatever else anyio knows.


async def in_thread(action: Callable[[], T]) -> T:
    """Call a function that may block a little in another thread: one of its own, since those of
    the loop may all be taken by what the test does."""
    __tracebackhide__ = True
    if _on_asyncio():
        future: Future[T] = Future()
        threading.Thread(
            target=_run, args=(action, future), name="odradek-wait", daemon=True
        ).start()
        return await asyncio.wrap_future(future)
    anyio = _anyio()
    result: T = await anyio.to_thread.run_sync(action, limiter=anyio.CapacityLimiter(1))
    return result


def _run(action: Callable[[], T], future: Future[T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(action())
    except BaseException as error:
        future.set_exception(error)


async def done_within(future: Future[Any], seconds: float) -> bool:
    """Wait until a future is done or the time is over; return whether it is done. A caller that is
    cancelled has to cancel the future. The loop's own clock may be frozen, so another thread looks
    at the time."""
    __tracebackhide__ = True
    if _on_asyncio():
        is_over = threading.Event()
        future.add_done_callback(lambda _: is_over.set())
        try:
            await in_thread(partial(is_over.wait, seconds))
        finally:
            is_over.set()
        return future.done()
    anyio = _anyio()
    await anyio.to_thread.run_sync(
        partial(wait_for_futures, [future], seconds),
        abandon_on_cancel=True,
        limiter=anyio.CapacityLimiter(1),  # of its own: there may be many waits
    )
    return future.done()


def _on_asyncio() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _anyio() -> Any:
    try:
        import anyio
        import anyio.to_thread
    except ImportError:
        text = "a coroutine that waits needs asyncio, or any loop that anyio knows: install anyio"
        raise RuntimeError(text) from None
    return anyio
