"""The cleaner: compacts logs when their configs ask for it, in a thread of its own.

- Every `log.cleaner.backoff.ms` (15 s) it looks at the partitions of all topics whose
  `cleanup.policy` has compact, and compacts those that are due, the dirtiest first, one at a time,
  until none is left. Then old segments are deleted where the policy is `compact,delete`.
- Everything is decided in the broker's thread; the other thread reads and writes files, and calls
  `wake` at the end of each log, so that `collect` is called in the broker's thread. Under a
  ManualClock there is no other thread: what is due is done when the clock reaches its time.
- A damaged log is logged, and left as it is until the next start. After a failure of the disk the
  next run tries again.
- `log.cleaner.enable=false` switches off all of it but `compact`, which tests call.

The thread begins with the first log, and has ended when `close` returns.

Left out: `log.cleaner.threads` beyond one (it divides the buffer, as in Kafka), throttling
(`log.cleaner.io.max.bytes.per.second`), the sizes of IO buffers. Source: KIP-58; Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from ...storage.compaction.compactor import CompactionResult
from ...storage.compaction.plan import Plan
from ...storage.compaction.run import Compaction
from ...wire import Error, Refused
from ..base.logger import log

if TYPE_CHECKING:
    from ..environment import Environment
    from ..metadata.topics import Catalogue
    from ..partitions.partition import Partition


class Cleaner:
    """Compacts the logs of one cluster. `retain` is called with each compacted partition, at the
    end of a run, to delete its old segments."""

    def __init__(
        self,
        environment: Environment,
        topics: Callable[[], Catalogue],
        retain: Callable[[Partition], int],
    ) -> None:
        self.wake: Callable[[], None] | None = None
        self._retain = retain
        self._environment, self._topics = environment, topics
        self._clock = environment.clock
        self._compacted: list[Partition] = []
        self._generation = -1
        self._tried: set[Partition] = set()
        """Not to be tried again in this run."""
        self._uncleanable: set[Partition] = set()
        self._current: tuple[Partition, Compaction] | None = None
        self._is_running = False
        self._thread: Thread | None = None
        self._orders: SimpleQueue[Compaction | None] = SimpleQueue()
        self._done: SimpleQueue[Compaction] = SimpleQueue()
        self._has_changed = self._has_failed = False  # in this run
        if environment.config.get("log.cleaner.enable"):
            environment.timers.every(self._clock.now() + self.interval_ms(), self)

    def collect(self) -> None:
        """Handle a compaction that has ended, and begin the next."""
        if self._current is not None and not self._done.empty():
            self._finish(self._done.get())
        if self._is_running and self._current is None:
            self._next()

    def drain(self) -> None:
        """Return when nothing is due any more."""
        self.collect()
        while self._current is not None:
            self._finish(self._done.get())
            self.collect()

    def compact_all(self) -> int:
        """Compact every partition that may be; see `compact`."""
        return self.compact(self._partitions())

    def compact(self, partitions: Iterable[Partition]) -> int:
        """Compact these partitions of compacted topics, whatever their ratio and lag; return how
        many had something to compact.

        Active segments are rolled first. Raises Refused as `Compactor.compact` does.
        """
        self.drain()
        count = 0
        for partition in partitions:
            if partition.log.exists:
                result = partition.log.compactor.compact(
                    self._clock.now(),
                    force=True,
                    buffer_bytes=self._buffer_bytes(),
                    load_factor=self._environment.config.get("log.cleaner.io.buffer.load.factor"),
                )
                count += result.segments_before > 0
                self._finished(partition, result)
        return count

    def close(self) -> None:
        """Cancel the compaction that runs, and end the thread."""
        self._is_running = False
        if self._current is not None:
            self._current[0].log.compactor.cancel()
            self._finish(self._done.get())
        if self._thread is not None:
            self._orders.put(None)
            self._thread.join()
            self._thread = None

    # The regular check

    def interval_ms(self) -> int:
        backoff_ms: int = self._environment.config.get("log.cleaner.backoff.ms")
        return max(1, backoff_ms)

    def run(self, now: int) -> bool:
        if not self._is_running:
            self._is_running = True
            self._has_changed = self._has_failed = False
            self._tried.clear()
            self.collect()
        return self._has_changed

    def due(self, now: int) -> int | None:
        """When the age of its records next makes a log due."""
        if self._has_failed:
            return now
        times: list[int] = []
        for partition in self._partitions():
            stored = partition.log
            if stored.exists:
                times += [time for time in stored.compactor.plan_changes() if time > now]
                if (expiry := stored.next_expiry_ms()) is not None:
                    times.append(expiry)
        return min(times, default=None)

    def _partitions(self) -> list[Partition]:
        topics = self._topics()
        if self._generation != topics.generation:
            self._generation = topics.generation
            self._compacted = [
                partition
                for topic in topics
                if topic.config.is_compacted
                for partition in topic.partitions
            ]
            self._uncleanable &= set(self._compacted)
        return [partition for partition in self._compacted if partition.is_log_open]

    def _next(self) -> None:
        """Begin with the dirtiest log that is due, or end this run."""
        while (found := self._dirtiest()) is not None:
            partition, plan = found
            self._tried.add(partition)
            if self._begin(partition, plan):
                return
        self._is_running = False
        for partition in self._partitions():
            if len(partition.log.segments) > 1 or "delete" in partition.log.config.cleanup_policy:
                self._has_changed |= self._retain(partition) > 0

    def _dirtiest(self) -> tuple[Partition, Plan] | None:
        best: tuple[Partition, Plan] | None = None
        now = self._clock.now()
        for partition in self._partitions():
            stored = partition.log
            if len(stored.segments) < 2 or partition in self._tried | self._uncleanable:
                continue
            try:
                plan = stored.compactor.plan(now, last_stable_offset=partition.last_stable_offset)
            except Refused as error:
                self._failed(partition, error)
                continue
            if plan.is_reset:
                if "delete" not in stored.config.cleanup_policy:  # else retention has passed it
                    log.warning("%r: the cleaner's checkpoint lay outside of the log", partition)
                stored.compactor.cleaned_offset = plan.first_dirty
            if plan.is_due(stored.config) and (best is None or plan.ratio > best[1].ratio):
                best = partition, plan
        return best

    def _begin(self, partition: Partition, plan: Plan) -> bool:
        """Begin with a log; True if the other thread has it now."""
        self._has_changed = True
        try:
            compaction = partition.log.compactor.begin(
                plan,
                self._clock.now(),
                buffer_bytes=self._buffer_bytes(),
                load_factor=self._environment.config.get("log.cleaner.io.buffer.load.factor"),
            )
        except Refused as error:
            self._failed(partition, error)
            return False
        self._current = partition, compaction
        if self._environment.has_manual_clock:
            _carry_out(compaction)
            self._finish(compaction)
            return False
        if self._thread is None:
            self._thread = Thread(target=self._work, name="odradek-cleaner", daemon=True)
            self._thread.start()
        self._orders.put(compaction)
        return True

    def _finish(self, compaction: Compaction) -> None:
        assert self._current is not None
        partition, current = self._current
        assert current is compaction
        self._current = None
        try:
            result = partition.log.compactor.end(compaction)
        except Refused as error:
            self._failed(partition, error)
            return
        except Exception:  # a defect of ours; as in Kafka, this log is left alone from now on
            log.exception("%r could not be compacted", partition)
            self._uncleanable.add(partition)
            return
        if result is not None:
            self._finished(partition, result)
            if result.first_dirty_offset > compaction.task.plan.first_dirty:
                self._tried.discard(partition)  # the map may have been full: there is more to do

    def _finished(self, partition: Partition, result: CompactionResult) -> None:
        log.info("%r: compacted, %s", partition, result)
        stored = partition.log
        due = self._clock.now() + stored.config.file_delete_delay_ms
        self._environment.timers.at(due, lambda: self._unlink(partition))
        try:
            self._environment.log_dir.checkpoint_cleaned()
        except OSError as error:
            log.error("the cleaner's checkpoint could not be written: %s", error)

    def _failed(self, partition: Partition, error: Refused) -> None:
        log.error("%r could not be compacted: %s", partition, error)
        if error.error is Error.CORRUPT_MESSAGE:
            self._uncleanable.add(partition)
        else:
            self._has_failed = True

    def _unlink(self, partition: Partition) -> None:
        try:
            partition.log.unlink_deleted(self._clock.now())
        except Refused as error:
            log.error("files of compacted segments are left to the next start: %s", error)

    def _buffer_bytes(self) -> int:
        config = self._environment.config
        threads: int = max(1, config.get("log.cleaner.threads"))
        total: int = config.get("log.cleaner.dedupe.buffer.size")
        return total // threads

    def _work(self) -> None:
        while (compaction := self._orders.get()) is not None:
            _carry_out(compaction)
            self._done.put(compaction)
            if (wake := self.wake) is not None:
                wake()


def _carry_out(compaction: Compaction) -> None:
    """Run it. Whatever goes wrong is logged by `end`: the thread has other logs to clean."""
    try:
        compaction.run()
    except Exception as error:
        compaction.error = error
