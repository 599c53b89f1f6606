"""The flusher: syncs logs in a thread of its own, so that the broker does not wait for the disk.

Everything is decided in the broker's thread. The other thread is given one sync at a time, waits
for the disk and returns the sync; then it calls `wake`, so that `collect` is called in the broker's
thread, which moves the log's recovery point and begins the next sync. (Without a server `wake` is
not set; finished syncs are collected when there is more to do, and at the end.)

The metadata log is flushed before any other, unless it has no new records: a record that survives
a power cut needs its topic. The thread begins with the first sync, and has ended when `close`
returns.

Not as in Kafka: an append that makes a flush due does not wait for it, so its acknowledgement may
be sent before. Left out: when a flush is due, and what it is (storage/flush.py).
"""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread

from ...storage import Log
from ...storage.flush import Sync
from ...wire import Refused
from ..base.clock import Clock
from ..base.logger import log
from ..base.timers import Timer, Timers


class Flusher:
    """Flushes the logs of one cluster when their configs ask for it.

    A log belongs to it by having `appended` as its `on_unflushed`.
    """

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
        self._thread: Thread | None = None
        self._orders: SimpleQueue[Sync | None] = SimpleQueue()
        self._done: SimpleQueue[Sync] = SimpleQueue()

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
        self.collect()

    def collect(self) -> None:
        """Handle a sync that has ended, and begin the next."""
        if self._current is not None and not self._done.empty():
            self._finish(self._done.get())
        if self._current is None and self._waiting:
            self._begin(next(iter(self._waiting)))

    def drain(self) -> None:
        """Return when every log that waits is flushed."""
        self.collect()
        while self._current is not None:
            self._finish(self._done.get())
            self.collect()

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

    def _work(self) -> None:
        """The other thread."""
        while (sync := self._orders.get()) is not None:
            sync.run()
            self._done.put(sync)
            if (wake := self.wake) is not None:
                wake()
