"""The flusher: syncs logs in a thread of its own, so that the broker does not wait for the disk.

Everything is decided in the broker's thread. The other thread is given one sync at a time, waits
for the disk and returns the sync; then it calls `wake`, so that `collect` is called in the broker's
thread, which moves the log's recovery point and begins the next sync. (Without a server `wake` is
not set; finished syncs are collected when there is more to do, and at the end.)

Kafka's append flushes before it returns, if the number of unflushed records asks for that. Here the
answer waits instead (`when_synced`), and other clients are served meanwhile. Without a server the
broker waits itself, so that every request is answered at once.

The metadata log is flushed before any other, unless it has no new records: a record that survives
a power cut needs its topic. The thread begins with the first sync, and has ended when `close`
returns.

Left out: when a flush is due, and what it is (storage/flush.py).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from queue import SimpleQueue
from threading import Thread
from typing import ClassVar

from ...storage import Log
from ...storage.flush import Sync
from ...wire import Refused
from ..base.clock import Clock
from ..base.logger import log
from ..base.timers import Timer, Timers


class _Answer:
    """An answer that waits for some syncs."""

    __slots__ = ("left", "send")

    def __init__(self, send: Callable[[], None]) -> None:
        self.left = 0
        self.send = send


class Flusher:
    """Flushes the logs of one cluster when their configs ask for it.

    A log belongs to it by having `appended` as its `on_unflushed`.
    """

    has_thread: ClassVar[bool] = True
    """False: it syncs in the broker's thread, which has no other."""

    def __init__(
        self, clock: Clock, timers: Timers, metadata: Callable[[], Log | None] = lambda: None
    ) -> None:
        self.wake: Callable[[], None] | None = None
        self._metadata = metadata
        self._metadata_end = 0  # where the last flush of it ends
        self._clock = clock
        self._timers = timers
        self._alarms: dict[Log, Timer] = {}
        self._waiting: dict[Log, None] = {}
        self._current: tuple[Log, Sync] | None = None
        # What waits for each log to be flushed up to some offset, and what has waited long enough.
        self._answers: dict[Log, deque[tuple[int, _Answer]]] = {}
        self._answerable: list[_Answer] = []
        self._thread: Thread | None = None
        self._orders: SimpleQueue[Sync | None] = SimpleQueue()
        self._done: SimpleQueue[Sync] = SimpleQueue()

    @property
    def is_busy(self) -> bool:
        """Whether a log is being flushed, or waits for that."""
        return self._current is not None or bool(self._waiting)

    def appended(self, stored: Log) -> None:
        """A batch was appended: flush now, or set an alarm for the time when it is due."""
        due = stored.flush_due_ms()
        if due is None:
            return
        if due <= self._clock.now():
            self.flush(stored)
        elif stored not in self._alarms:
            self._alarms[stored] = self._timers.at(due, lambda: self._ring(stored))

    def flush(self, stored: Log) -> None:
        """Flush a log, after those that already wait."""
        metadata = self._metadata()
        if metadata is not None and metadata.log_end_offset != self._metadata_end:
            self._waiting[metadata] = None
            self._metadata_end = metadata.log_end_offset
        self._waiting[stored] = None
        self._go_on()

    def when_synced(self, logs: Iterable[Log], send: Callable[[], None]) -> bool:
        """Call `send` when all that these logs await is on disk, or cannot be written there.

        Returns False, and does not call it, if that is so now.
        """
        if self.wake is None:
            self.drain()
        answer = _Answer(send)
        for stored in logs:
            awaited = stored.awaited_offset
            if awaited is not None and stored.flush_failure is None:
                self._answers.setdefault(stored, deque()).append((awaited, answer))
                answer.left += 1
        return answer.left > 0

    def collect(self) -> None:
        """Handle a sync that has ended, begin the next, and send the answers that waited for it.
        Not to be called while a request is served."""
        self._go_on()
        answerable, self._answerable = self._answerable, []
        for answer in answerable:
            answer.send()

    def _go_on(self) -> None:
        if self._current is not None and not self._done.empty():
            self._finish(self._done.get())
        if self._current is None and self._waiting:
            self._begin(next(iter(self._waiting)))

    def drain(self) -> None:
        """Return when every log that waits is flushed."""
        self._go_on()
        while self._current is not None:
            self._finish(self._done.get())
            self._go_on()

    def close(self) -> None:
        """Flush what waits, and end the thread."""
        for alarm in self._alarms.values():
            alarm.cancel()
        self._alarms.clear()
        self.drain()
        if self._thread is not None:
            self._orders.put(None)
            self._thread.join()
            self._thread = None

    def _ring(self, stored: Log) -> None:
        del self._alarms[stored]
        self.appended(stored)  # a flush by number may have come first: then it is not due yet

    def _begin(self, stored: Log) -> None:
        del self._waiting[stored]
        sync = stored.begin_flush()
        self._current = stored, sync
        if not self.has_thread:
            sync.run()
            self._done.put(sync)
            return
        if self._thread is None:
            self._thread = Thread(target=self._work, name="odradek-flush", daemon=True)
            self._thread.start()
        self._orders.put(sync)

    def _finish(self, sync: Sync) -> None:
        assert self._current is not None
        stored, current = self._current
        assert current is sync
        self._current = None
        try:
            stored.end_flush(sync)
        except Refused as error:
            if stored.availability.offline is not None:
                return  # said of the whole directory
            log.error("flush failed, no more batches are taken: %s", error)
        self._release(stored)

    def _release(self, stored: Log) -> None:
        """Let the answers go that have waited for this log; all, if there is no other sync."""
        answers = self._answers.get(stored)
        if answers is None:
            return
        is_over = stored.flush_failure is not None or stored not in self._waiting
        while answers and (is_over or answers[0][0] <= stored.synced_offset):
            answer = answers.popleft()[1]
            answer.left -= 1
            if not answer.left:
                self._answerable.append(answer)
        if not answers:
            del self._answers[stored]

    def _work(self) -> None:
        while (sync := self._orders.get()) is not None:
            sync.run()
            self._done.put(sync)
            if (wake := self.wake) is not None:
                wake()
