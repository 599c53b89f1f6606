"""Compaction of a log: only the newest record of each key is kept, in all but the active segment.

Like a flush, a compaction is begun and ended in the log's thread and run in any thread: `begin`
looks at the segments there are, `run` writes new ones beside them, `end` puts these into their
place. Meanwhile the log goes on:

- appends and rolls touch only segments that are not compacted;
- readers keep the list of segments they have taken;
- DeleteRecords moves the log start, and records before it stay as long as their segment does;
- a compaction that was begun is thrown away if the log is truncated, deleted or closed meanwhile,
  or if retention has removed one of its segments. The next one starts over.

plan.py says what is compacted, filter.py what is kept, swap.py what can go wrong on the disk. Left
out: when to compact, and in which thread (the emulator's cleaner).
SourceSegment: the documentation's "Log Compaction"; KIP-58, KIP-98, KIP-354, KIP-534; Kafka 4.3.1.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ..config import LogConfig
from ..flush import is_flush_configured
from ..partition_directory import PartitionDirectory
from ..producers import ProducerStates
from ..segment import Segment, containing
from .plan import LogBounds, Plan, changes_with_time, make_plan
from .run import Cancelled, Compaction, CompactionTask, SourceSegment
from .swap import discard, swap_in

BUFFER_BYTES = 128 << 20
"""Kafka's `log.cleaner.dedupe.buffer.size`."""
LOAD_FACTOR = 0.9
"""Kafka's `log.cleaner.io.buffer.load.factor`."""


class CompactionResult(NamedTuple):
    """What a compaction has done; all zero if there was nothing to do."""

    first_dirty_offset: int = 0
    """From where on records have not been compacted yet."""
    segments_before: int = 0
    segments_after: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    records_before: int = 0
    records_after: int = 0


class Compactable(Protocol):
    """A log as its compactor sees it."""

    segments: list[Segment]
    """Oldest first; the last is the active one."""
    log_start_offset: int
    log_end_offset: int
    producers: ProducerStates

    @property
    def config(self) -> LogConfig: ...

    def begin_segment(self, now_ms: int) -> None:
        """Roll, if the active segment has batches. Raises OSError."""
        ...

    def replace_segments(self, segments: list[Segment]) -> None:
        """Replace the list of segments."""
        ...


class Compactor:
    """Compacts one log. Methods raise Refused: CORRUPT_MESSAGE, KAFKA_STORAGE_ERROR.

    `cleaned_offset` is what `cleaner-offset-checkpoint` has: where the last compaction ended.
    """

    __slots__ = ("_compaction", "_home", "_log", "cleaned_offset")

    def __init__(self, log: Compactable, home: PartitionDirectory) -> None:
        self.cleaned_offset: int | None = None
        self._log = log
        self._home = home
        self._compaction: Compaction | None = None

    def plan(self, now_ms: int, *, last_stable_offset: int | None = None) -> Plan:
        """What a compaction would read now; see `Plan.is_due`."""
        log = self._log
        if last_stable_offset is None:
            last_stable_offset = log.producers.last_stable_offset(log.log_end_offset)
        bounds = LogBounds(
            log.log_start_offset, log.log_end_offset, last_stable_offset, self.cleaned_offset
        )
        with self._home.client_errors():
            return make_plan(log.segments, log.config, bounds, now_ms)

    def plan_changes(self) -> list[int]:
        """The times at which the plan changes because records have become old enough, also past
        ones. Raises Refused."""
        with self._home.client_errors():
            return changes_with_time(self._log.segments, self._log.config)

    def begin(
        self,
        found: Plan,
        now_ms: int,
        *,
        buffer_bytes: int = BUFFER_BYTES,
        load_factor: float = LOAD_FACTOR,
    ) -> Compaction:
        """Begin what `found` says: `run` it in any thread, then pass it to `end`."""
        segments = self._log.segments
        count = containing(segments, found.end)
        bases = [segment.base_offset for segment in segments]
        first = containing(segments, found.first_dirty)
        with self._home.client_errors():
            start = segments[first].locate(found.first_dirty) if first < count else None
            sources = [
                SourceSegment(segment, segment.name, segment.size, 0, next_base)
                for segment, next_base in zip(segments[:count], bases[1:], strict=False)
            ]
            if start is not None:
                sources[first] = sources[first]._replace(start=start[0])
        task = CompactionTask(
            found,
            sources,
            [entry for segment in segments for entry in segment.transaction_index.entries()],
            {pid: (one.last_offset, one.epoch) for pid, one in self._log.producers.states.items()},
            self._log.config,
            now_ms,
            buffer_bytes,
            load_factor,
        )
        self.cancel()
        self._compaction = Compaction(
            self._home.files.with_own_descriptors(), self._home.naming, task
        )
        return self._compaction

    def end(self, compaction: Compaction) -> CompactionResult | None:
        """Take over what was written; None if the compaction was thrown away meanwhile."""
        waiting = compaction.cleaned
        is_current = compaction is self._compaction
        if is_current:
            self._compaction = None
        sources = [segment for cleaned in waiting for segment in cleaned.sources]
        present = set(self._log.segments[:-1])
        is_whole = all(one.segment in present for one in compaction.task.sources)
        try:
            with self._home.client_errors():
                if not is_current or isinstance(compaction.error, Cancelled):
                    return None
                if not is_whole:  # an error may come of files that retention has removed
                    return None
                if compaction.error is not None:
                    raise compaction.error
                before = sum(segment.size for segment in sources)
                after = self._swap(compaction)
                self.cleaned_offset = compaction.end_offset
        finally:
            if self._home.exists and not self._home.closed:
                for cleaned in waiting:
                    discard(self._home, cleaned)
        return CompactionResult(
            compaction.end_offset,
            len(sources),
            len(waiting),
            before,
            after,
            compaction.records_read,
            compaction.records_kept,
        )

    def compact(
        self,
        now_ms: int,
        *,
        force: bool = False,
        buffer_bytes: int = BUFFER_BYTES,
        load_factor: float = LOAD_FACTOR,
    ) -> CompactionResult:
        """Compact all that can be at once, whatever its dirty ratio.

        With `force` the active segment is rolled first, so that it can be compacted too, and
        `min.compaction.lag.ms` does not count; tombstones and markers past their retention are
        removed even if nothing is dirty.
        """
        log = self._log
        if not self._home.exists:
            return CompactionResult()
        if force:
            with self._home.client_errors():
                log.begin_segment(now_ms)
        found = self.plan(now_ms)
        if force:
            stable = log.producers.last_stable_offset(log.log_end_offset)
            end = min(stable, log.segments[-1].base_offset)
            base = log.segments[containing(log.segments, end)].base_offset
            found = found._replace(end=base)
        elif not found.cleanable_bytes:
            return CompactionResult()
        compaction = self.begin(found, now_ms, buffer_bytes=buffer_bytes, load_factor=load_factor)
        compaction.run()
        return self.end(compaction) or CompactionResult()

    def cancel(self) -> None:
        """Throw away the compaction that was begun. When this returns it opens no more files."""
        if self._compaction is not None:
            self._compaction.cancel()
            self._compaction = None

    def truncated(self, end_offset: int) -> None:
        """The log was truncated to `end_offset`."""
        self.cancel()
        if self.cleaned_offset is not None:
            self.cleaned_offset = min(self.cleaned_offset, end_offset)

    def _swap(self, compaction: Compaction) -> int:
        """Put every new segment into its place; return their size in bytes."""
        config = self._log.config
        unlink_ms = compaction.task.now_ms + config.file_delete_delay_ms
        synced = self._home.files.durable or is_flush_configured(config)
        if compaction.cleaned:
            # Else the next start would take a compacted segment for the newest one.
            self._log.segments[-1].create_file()
        total = 0
        for cleaned in list(compaction.cleaned):
            segment = swap_in(self._home, cleaned, unlink_ms, synced=synced)
            gone = set(cleaned.sources)
            segments = self._log.segments
            first = segments.index(cleaned.sources[0])
            rest = [one for one in segments[first:] if one not in gone]
            self._log.replace_segments([*segments[:first], segment, *rest])
            total += segment.size
        return total
