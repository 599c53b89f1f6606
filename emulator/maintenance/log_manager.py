"""Background work on logs: retention, flushes and compaction.

- Retention runs `log.initial.task.delay.ms` (30 s) after the start, then every
  `log.retention.check.interval.ms` (5 minutes), by the cluster's timers: so under a ManualClock it
  runs when the clock is moved there. It looks at every partition, with the configs of that moment.
- Files of deleted segments are unlinked `file.delete.delay.ms` later, directories of deleted topics
  `log.segment.delete.delay.ms` later, or at the next start.
- The policy is an argument of the cluster. Kafka's is the default; another one is a function, for
  instance one that keeps nothing of test topics but their newest segment:

      def short(log: LogView, now_ms: int) -> int:
          if log.topic.startswith("test-"):
              return len(log.segments) - 1
          return kafka_retention(log, now_ms)

      Cluster(..., retention=short)

- Whether the log directory is still there is looked at every
  `replica.high.watermark.checkpoint.interval.ms` (5 s), but not under a ManualClock.
- A failure does not stop the broker: it is logged, with the partition's name, and tried again at
  the next run.

Compacted topics are the cleaner's (cleaner.py), which applies the same rules to them every 15 s;
Kafka leaves them to it, here the run every 5 minutes looks at all of them.
Source: KIP-107; Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ...storage import Log, LogDirectory, RetentionPolicy, kafka_retention
from ...wire import Refused
from ..base.logger import log
from ..base.turns import Slices
from ..config.internal_topics import METADATA_TOPIC
from .cleaner import Cleaner
from .flusher import Flusher

if TYPE_CHECKING:
    from ..environment import Environment
    from ..metadata.topics import Catalogue
    from ..partitions.partition import Partition


class LogManager:
    """Does the background work on the logs of one cluster. Logs tell `flusher` when they have
    something to flush; `cleaner` compacts them."""

    def __init__(
        self,
        environment: Environment,
        topics: Callable[[], Catalogue],
        retention: RetentionPolicy,
    ) -> None:
        self.retention = retention
        """May be replaced at any time; the next run uses it."""
        self._environment, self._topics = environment, topics
        self._clock = environment.clock
        self._timers = environment.timers
        logs = environment.log_dir.logs
        self.flusher = Flusher(self._clock, self._timers, lambda: logs.get((METADATA_TOPIC, 0)))
        self.cleaner = Cleaner(environment, topics, self.retain)
        self._interval_ms: int = environment.config.get("log.retention.check.interval.ms")
        delay_ms: int = environment.config.get("log.initial.task.delay.ms")
        self._timers.every(self._clock.now() + delay_ms, self)
        if not environment.has_manual_clock:
            look = _Look(environment)
            self._timers.every(self._clock.now() + look.interval_ms(), look)

    def delete_old_segments(self) -> int:
        """Apply the retention policy everywhere now; return how many segments were deleted."""
        return sum(
            self.retain(partition)
            for topic in self._topics()
            for partition in topic.partitions
            if partition.is_log_open and partition.log.exists
        )

    def remove_later(self, names: Sequence[str]) -> None:
        """Remove the directories of a deleted topic, `log.segment.delete.delay.ms` from now on.

        What is left when the broker stops is removed at its next start.
        """
        delay_ms = self._environment.config.get("log.segment.delete.delay.ms")
        if not names:
            return
        turns = self._environment.turns
        if delay_ms == 0:
            turns.add(self._remove(names))
        else:
            self._timers.at(self._clock.now() + delay_ms, lambda: turns.add(self._remove(names)))

    def _remove(self, names: Sequence[str]) -> Slices[None]:
        for name in names:
            try:
                self._environment.log_dir.remove_renamed(name)
            except OSError as error:
                log.error("%s of a deleted topic is left to the next start: %s", name, error)
            yield

    def close(self, *, flush: bool = True) -> None:
        """Flush what the configs ask to flush, and end the threads of flusher and cleaner."""
        self.cleaner.close()
        for stored in self._environment.log_dir.logs.values():
            if flush and stored.is_flush_pending:
                self.flusher.flush(stored)
        self.flusher.close()

    # The regular check

    def interval_ms(self) -> int:
        return self._interval_ms

    def run(self, now: int) -> bool:
        return self.delete_old_segments() > 0

    def due(self, now: int) -> int | None:
        """When the next segment is old enough; of another policy than Kafka's only its function
        knows, which has to be called."""
        logs = [
            partition.log
            for topic in self._topics()
            for partition in topic.partitions
            if partition.is_log_open and partition.log.exists
        ]
        if self.retention is not kafka_retention:
            return now if any(stored.size for stored in logs) else None
        return min(filter(None, (stored.next_expiry_ms() for stored in logs)), default=None)

    def retain(self, partition: Partition) -> int:
        """Apply the retention policy to one partition now; return how many segments were
        deleted. What fails is logged."""
        stored, now = partition.log, self._clock.now()
        high_watermark = partition.high_watermark
        try:
            count = stored.delete_old_segments(
                now, high_watermark=high_watermark, policy=self.retention
            )
        except Refused as error:
            log.error("old segments could not be deleted: %s", error)
            return 0
        except Exception:
            log.exception("%r: the retention policy failed", partition)
            return 0
        if count:
            start = stored.log_start_offset
            log.info("%r: %d segments deleted, the log starts at %d", partition, count, start)
            delay_ms = stored.config.file_delete_delay_ms
            self._timers.at(now + delay_ms, lambda: self._unlink(stored))
        return count

    def _unlink(self, stored: Log) -> None:
        try:
            stored.unlink_deleted(self._clock.now())
        except Refused as error:
            log.error("files of deleted segments are left to the next start: %s", error)


def say_what_is_wrong(log_dir: LogDirectory) -> None:
    """Log what was found wrong on disk, and from now on each new finding."""
    for notice in log_dir.notices:
        log.warning("%s", notice)
    log_dir.availability.notices.listener = lambda notice: log.error("%s", notice)
    log_dir.notices.listener = lambda notice: log.warning("%s", notice)


class _Look:
    """Whether the directory is still there. Kafka writes a checkpoint so often, and so finds out
    that it has gone."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def interval_ms(self) -> int:
        interval_ms: int = self._environment.config.get(
            "replica.high.watermark.checkpoint.interval.ms"
        )
        return interval_ms

    def run(self, now: int) -> bool:
        with suppress(OSError):  # said in a notice
            self._environment.log_dir.availability.look()
        return False

    def due(self, now: int) -> int | None:
        return None  # it is real time in which a directory goes: none is left out by moving a clock
