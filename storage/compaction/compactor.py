"""Compaction of a log: only the newest record of each key is kept, in all but the active segment.

Like a flush, a compaction is begun and ended in the log's thread and run in any thread: `begin`
looks at the segments there are, `run` writes new ones beside them, `end` puts these into their
place. Meanwhile the log goes on:

- appends and rolls touch only segments that are not compacted;
- readers keep the list of segments they have taken;
- DeleteRecords moves the log start, and records before it stay as long as their segment does;
- a compaction that was begun is thrown away if the log is truncated, deleted or closed meanwhile,
  or if retention has removed one of its segments. The next one starts over.

plan.py says what is compacted, filter.py what is kept. Left out: when to compact, and in which
thread (the emulator's cleaner).
Source: the documentation's "Log Compaction"; KIP-58, KIP-98, KIP-354, KIP-534; Kafka 4.3.1.

Replacing segments by the compacted one that was written from them.

A stop may interrupt this after each step, and nothing is lost, because recovery/unfinished.py
finishes what was begun:

1. the new files are complete, and end in `.cleaned`: the next start removes them;
2. they are renamed to end in `.swap`, the log first: from now on the next start gives them their
   final names, the rest of the `.cleaned` ones included, and removes all segments in their range;
3. the old files are renamed to end in `.deleted`, as are the producer snapshots at bases that no
   segment has any more;
4. the new files get their final names, and the old ones are unlinked after `file.delete.delay.ms`.

Where a power cut counts, names are synced after 2 and 4. Everything here raises OSError. A failure
in 3 or 4 leaves the log as it was: it still reads the old files under their new names.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple, Protocol

from ..config import LogConfig
from ..flush import is_flush_configured
from ..naming import CLEANED, OFFSET_INDEX, SWAP, TIME_INDEX, TRANSACTION_INDEX
from ..partition_directory import PartitionDirectory
from ..producers import ProducerStates
from ..segment import Segment, containing
from .plan import LogBounds, Plan, changes_with_time, make_plan
from .run import Cancelled, CleanedSegment, Compaction, CompactionTask, SourceSegment


def swap_in(
    home: PartitionDirectory, cleaned: CleanedSegment, unlink_ms: int, *, synced: bool
) -> Segment:
    """Carry out steps 2 to 4 and return the segment, to be searched in its files."""
    sources, written = cleaned
    names = [name for name in names_of(home, written.base_offset) if _is_there(home, name)]
    try:
        _rename(home, names, CLEANED, SWAP, synced=synced)
    except OSError:  # the log goes on without them, so the next start must not use them
        with suppress(OSError):
            for name in names:
                home.files.remove(name + SWAP)
        raise
    for source in sources:
        source.retire()
    for source in sources[1:]:
        home.retire_snapshot(source.base_offset)
    _rename(home, names, SWAP, "", synced=synced)
    for source in sources:
        home.unlink_later(source, unlink_ms)
    return _adopted(home, written)


def discard(home: PartitionDirectory, cleaned: CleanedSegment) -> None:
    """Remove files that were not swapped in. The next start removes what is left."""
    with suppress(OSError):
        for name in names_of(home, cleaned.segment.base_offset):
            home.files.remove(name + CLEANED)


def names_of(home: PartitionDirectory, base_offset: int) -> list[str]:
    """The names of a segment's files, the `.log` first."""
    suffixes = (home.naming.log_suffix, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)
    return [home.naming.file(base_offset, suffix) for suffix in suffixes]


def _is_there(home: PartitionDirectory, name: str) -> bool:
    return home.files.exists(name + CLEANED)


def _rename(
    home: PartitionDirectory, names: list[str], old: str, new: str, *, synced: bool
) -> None:
    for name in names:
        home.files.rename(name + old, name + new)
    if synced:
        home.files.sync()


def _adopted(home: PartitionDirectory, written: Segment) -> Segment:
    segment = home.segment(
        written.base_offset,
        now_ms=written.created_ms,
        index_interval_bytes=written.index_interval_bytes,
    )
    segment.on_disk = True
    segment.modified_ms = written.modified_ms
    segment.first_timestamp = written.first_timestamp
    segment.transaction_index = written.transaction_index
    counts = written.offset_index.count, written.time_index.count
    segment.take_over_files(written.size, written.next_offset, *counts)
    return segment


BUFFER_BYTES = 128 << 20
"""Kafka's `log.cleaner.dedupe.buffer.size`."""
LOAD_FACTOR = 0.9
"""Kafka's `log.cleaner.io.buffer.load.factor`."""


class CompactionResult(NamedTuple):
    """The work of a compaction; all zero if there was nothing to do."""

    first_dirty_offset: int = 0
    """From where on records have not been compacted yet."""
    segments_before: int = 0
    segments_after: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    records_before: int = 0
    records_after: int = 0


class Compactable(Protocol):
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

    def replace_segments(self, segments: list[Segment]) -> None: ...


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
        """The plan of a compaction now; see `Plan.is_due`."""
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
