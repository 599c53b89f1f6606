"""Callbacks at certain times, in order. There is no clock here: `fire` takes `now`.

`at` is for something that happens once, `every` for a check that is repeated. Whoever moves a
manual clock far need not visit each of a million checks that find nothing: one that has found
nothing is idle until something changes, or until what it guards is due; `skip_idle` moves it there.
What changes: anything that happens once, a check that finds something, and each call of `changed`.

A heap of deadlines. A cancelled timer stays in it until it reaches the top and is then skipped, so
the many timers that never fire cost one comparison each.

The deadlines of many keys, cheap to postpone.

A heartbeat postpones its member's deadline; that must not search or sort. So the heap may hold an
entry that is too early: it is corrected when it reaches the top. To postpone is then one dictionary
write, and `next` corrects at most what has reached the top since the last call.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from heapq import heapify, heappop, heappush, heapreplace
from itertools import count
from typing import Generic, Protocol, TypeVar


class Timer:
    __slots__ = ("_owner", "callback", "check", "when")

    def __init__(
        self,
        when: int,
        callback: Callable[[], None],
        owner: Timers,
        check: RepeatedCheck | None = None,
    ) -> None:
        self.when = when
        self.check = check
        self.callback: Callable[[], None] | None = callback
        self._owner = owner

    def cancel(self) -> None:
        """Do not call back. Harmless if it has fired already."""
        if self.callback is not None:
            self.callback = None
            self._owner._cancelled()


class Check(Protocol):
    def interval_ms(self) -> int: ...

    def run(self, now: int, /) -> bool:
        """Look for what is due, and do it. Returns whether anything was changed."""
        ...

    def due(self, now: int, /) -> int | None:
        """The earliest time at which a run could find something though nothing else changes, as of
        the run that was now; None for never. One that has passed is tried again at the next run."""
        ...


class RepeatedCheck:
    __slots__ = ("_owner", "_ran_at", "_seen", "_timer", "_work")

    def __init__(self, work: Check, when: int, owner: Timers) -> None:
        self._work = work
        self._owner = owner
        self._ran_at = when
        self._seen = -1  # the changes that the last run had seen when it found nothing
        self._timer = owner.at(when, self._run, self)

    @property
    def is_idle(self) -> bool:
        """Whether the last run has found nothing, and nothing has changed since."""
        return self._seen == self._owner.changes

    def cancel(self) -> None:
        self._timer.cancel()

    def next_found(self) -> int | None:
        """When the next run comes that could find something, while this is idle."""
        due = self._work.due(self._ran_at)
        return None if due is None else self._from(due)

    def skip_to(self, time: int) -> None:
        """Leave out the runs before that time. The timer is no longer among the others."""
        self._timer = self._owner.at(self._from(time), self._run, self)

    def _from(self, time: int) -> int:
        when, interval = self._timer.when, max(1, self._work.interval_ms())
        return when if time <= when else time + (when - time) % interval

    def _run(self) -> None:
        owner = self._owner
        self._ran_at = owner.now
        self._timer = owner.at(owner.now + max(1, self._work.interval_ms()), self._run, self)
        if self._work.run(owner.now):
            owner.changed()
        else:
            self._seen = owner.changes


class Timers:
    """The timers of a cluster. `on_earlier` is called when the next deadline becomes earlier."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Timer]] = []
        self._order = count()
        self._dead = 0
        self.on_earlier: Callable[[], None] | None = None
        self.changes = 0
        self.now = 0
        """When `fire` was last called."""

    def __len__(self) -> int:
        return len(self._heap) - self._dead

    def at(
        self, when: int, callback: Callable[[], None], check: RepeatedCheck | None = None
    ) -> Timer:
        """Call `callback` once the time is `when` (milliseconds) or later; `check` is whose run
        that is."""
        timer = Timer(when, callback, self, check)
        heappush(self._heap, (when, next(self._order), timer))
        if self.on_earlier is not None and self._heap[0][2] is timer:
            self.on_earlier()
        return timer

    def every(self, when: int, work: Check) -> RepeatedCheck:
        """Run a check once the time is `when`, and again and again after that."""
        return RepeatedCheck(work, when, self)

    def changed(self) -> None:
        """Something has happened of which there is no timer."""
        self.changes += 1

    def skip_idle(self, end: int) -> None:
        """Leave out the runs of checks that would find nothing, up to the next time at which
        something happens, or to the end."""
        idle: list[RepeatedCheck] = []
        until = end + 1
        while (when := self.next()) is not None and when < until:
            check = self._heap[0][2].check
            if check is None or not check.is_idle:
                until = when
                break
            heappop(self._heap)
            idle.append(check)
            found = check.next_found()
            if found is not None:
                until = min(until, found)
        for check in idle:
            check.skip_to(until)

    def shift(self, milliseconds: int) -> None:
        """The clock was set to another time: everything is due as long from now as before."""
        for _, _, timer in self._heap:
            timer.when += milliseconds
        self._heap = [(timer.when, order, timer) for _, order, timer in self._heap]
        self.changed()

    def next(self) -> int | None:
        heap = self._heap
        while heap and heap[0][2].callback is None:
            heappop(heap)
            self._dead -= 1
        return heap[0][0] if heap else None

    def fire(self, now: int) -> None:
        """Call everything that is due, in the order of deadlines, then of creation."""
        while (when := self.next()) is not None and when <= now:
            timer = heappop(self._heap)[2]
            callback, timer.callback = timer.callback, None
            assert callback is not None
            self.now = now
            callback()
            if timer.check is None:
                self.changes += 1

    def _cancelled(self) -> None:
        # A fetch a millisecond with a wait of minutes must not pile up a million dead entries.
        self._dead += 1
        if self._dead > 64 and self._dead * 2 > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[2].callback is not None]
            heapify(self._heap)
            self._dead = 0


K = TypeVar("K", bound=Hashable)


class Deadlines(Generic[K]):
    """At most one deadline (milliseconds) for each key."""

    __slots__ = ("_due", "_heap", "_queued", "_sequence")

    def __init__(self) -> None:
        self._due: dict[K, int] = {}
        # The moment of the one live heap entry of each key; never later than its deadline.
        self._queued: dict[K, int] = {}
        self._heap: list[tuple[int, int, K]] = []
        self._sequence = 0

    def set(self, key: K, when: int) -> None:
        """Set the deadline of `key`, replacing any other."""
        self._due[key] = when
        queued = self._queued.get(key)
        if queued is None or when < queued:
            self._queued[key] = when
            self._sequence += 1
            heappush(self._heap, (when, self._sequence, key))

    def clear(self, key: K) -> None:
        """Forget the deadline of `key`, if it has one."""
        self._due.pop(key, None)

    def get(self, key: K) -> int | None:
        """The deadline of `key`, or None."""
        return self._due.get(key)

    def shift(self, milliseconds: int) -> None:
        """Every deadline is so much later, or earlier."""
        self._due = {key: when + milliseconds for key, when in self._due.items()}
        self._queued = {key: when + milliseconds for key, when in self._queued.items()}
        self._heap = [(when + milliseconds, order, key) for when, order, key in self._heap]

    def next(self) -> int | None:
        """The earliest deadline, or None when there is none."""
        heap = self._heap
        while heap:
            when, _, key = heap[0]
            if self._queued.get(key) != when:  # stale: replaced by an earlier entry
                heappop(heap)
                continue
            due = self._due.get(key)
            if due == when:
                return when
            if due is None:
                heappop(heap)
                del self._queued[key]
            else:
                self._queued[key] = due
                self._sequence += 1
                heapreplace(heap, (due, self._sequence, key))
        return None

    def pop(self, now: int) -> K | None:
        """Remove and return the key with the earliest deadline, if it is due at `now`."""
        when = self.next()
        if when is None or when > now:
            return None
        key = heappop(self._heap)[2]
        del self._due[key], self._queued[key]
        return key
