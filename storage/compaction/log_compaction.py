"""Compaction: of each key only the newest record is kept, in the segments that take no more.

Like a flush, it is begun and ended in the log's thread and run in any: `begin_compaction` looks at
the segments there are, `run` writes new ones beside them, `end_compaction` puts these into their
place. Meanwhile the log goes on:

- appends and rolls touch only segments that are not compacted;
- readers keep the list of segments they have, as ever;
- DeleteRecords moves the log start, and records in front of it stay as long as their segment;
- a truncation, a deletion or the end of the log makes what was begun worthless: it is thrown away,
  and so it is if retention took one of its segments. The next one begins anew.

What is compacted says plan.py, what stays filter.py, what can go wrong on the
disk swap.py. Left out: when, and in which thread (the emulator's cleaner).
Source: the documentation's "Log Compaction"; KIP-58, KIP-98, KIP-354, KIP-534; Kafka 4.3.1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from ..config import LogConfig
from ..flush import is_asked
from ..producers import ProducerStates
from ..reading import ReadableLog
from ..segment import Segment, containing
from .plan import Bounds, Plan, plan
from .run import Cancelled, Compaction, Order, Source
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


class CompactableLog(ReadableLog, ABC):
    """A log whose older segments can be replaced by what is left of them.

    `cleaned_offset` is what `cleaner-offset-checkpoint` has: where the last compaction ended.
    """

    cleaned_offset: int | None = None
    producers: ProducerStates
    _config: LogConfig
    _compaction: Compaction | None = None

    def compaction_plan(self, now_ms: int, *, last_stable_offset: int | None = None) -> Plan:
        """What a compaction would look at now; see `Plan.is_due`. Raises Refused as `read` does."""
        if last_stable_offset is None:
            last_stable_offset = self.producers.last_stable_offset(self.log_end_offset)
        bounds = Bounds(
            self.log_start_offset, self.log_end_offset, last_stable_offset, self.cleaned_offset
        )
        with self._home.disk():
            return plan(self.segments, self._config, bounds, now_ms)

    def begin_compaction(
        self,
        found: Plan,
        now_ms: int,
        *,
        buffer_bytes: int = BUFFER_BYTES,
        load_factor: float = LOAD_FACTOR,
    ) -> Compaction:
        """Begin what `found` says: `run` it in any thread, then hand it to `end_compaction`.

        Raises Refused as `read` does.
        """
        segments = self.segments
        count = containing(segments, found.end)
        bases = [segment.base_offset for segment in segments]
        first = containing(segments, found.first_dirty)
        with self._home.disk():
            start = segments[first].locate(found.first_dirty) if first < count else None
            sources = [
                Source(segment, segment.name, segment.size, 0, next_base)
                for segment, next_base in zip(segments[:count], bases[1:], strict=False)
            ]
            if start is not None:
                sources[first] = sources[first]._replace(start=start[0])
        order = Order(
            found,
            sources,
            [entry for segment in segments for entry in segment.transaction_index.entries()],
            {pid: (one.last_offset, one.epoch) for pid, one in self.producers.states.items()},
            self._config,
            now_ms,
            buffer_bytes,
            load_factor,
        )
        self.cancel_compaction()
        self._compaction = Compaction(self._home.files.apart(), self._home.naming, order)
        return self._compaction

    def end_compaction(self, compaction: Compaction) -> CompactionResult | None:
        """Take over what was written; None if the log took another way meanwhile.

        Raises Refused: CORRUPT_MESSAGE for a damaged batch, KAFKA_STORAGE_ERROR.
        """
        waiting = compaction.cleaned
        is_current = compaction is self._compaction
        if is_current:
            self._compaction = None
        sources = [segment for cleaned in waiting for segment in cleaned.sources]
        there = set(self.segments[:-1])
        is_whole = all(one.segment in there for one in compaction.order.sources)
        try:
            with self._home.disk():
                if not is_current or isinstance(compaction.error, Cancelled):
                    return None
                if not is_whole:  # what it could not read may have gone with retention
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
        """Compact at once what can be, however clean it is already.

        With `force` the active segment is rolled first, so that it can be compacted too, and
        `min.compaction.lag.ms` does not count; tombstones and markers whose time has come go even
        if nothing is dirty. Raises Refused as `end_compaction` does.
        """
        if not self._home.exists:
            return CompactionResult()
        if force:
            with self._home.disk():
                self._begin_segment(now_ms)
        found = self.compaction_plan(now_ms)
        if force:
            stable = self.producers.last_stable_offset(self.log_end_offset)
            end = min(stable, self._active.base_offset)
            base = self.segments[containing(self.segments, end)].base_offset
            found = found._replace(end=base)
        elif not found.cleanable_bytes:
            return CompactionResult()
        compaction = self.begin_compaction(
            found, now_ms, buffer_bytes=buffer_bytes, load_factor=load_factor
        )
        compaction.run()
        return self.end_compaction(compaction) or CompactionResult()

    def cancel_compaction(self) -> None:
        """Make what was begun worthless; when this returns it opens no more files."""
        if self._compaction is not None:
            self._compaction.cancel()
            self._compaction = None

    def _uncompact(self, end_offset: int) -> None:
        """The log was cut back to `end_offset`."""
        self.cancel_compaction()
        if self.cleaned_offset is not None:
            self.cleaned_offset = min(self.cleaned_offset, end_offset)

    def _swap(self, compaction: Compaction) -> int:
        """Put every new segment into its place; return their bytes."""
        config = self._config
        unlink_ms = compaction.order.now_ms + config.file_delete_delay_ms
        synced = self._home.files.durable or is_asked(config)
        if compaction.cleaned:
            self._active.begin()  # lest a start take a compacted segment for the newest
        total = 0
        for cleaned in list(compaction.cleaned):
            segment = swap_in(self._home, cleaned, unlink_ms, synced=synced)
            gone = set(cleaned.sources)
            first = self.segments.index(cleaned.sources[0])
            rest = [one for one in self.segments[first:] if one not in gone]
            self._set_segments([*self.segments[:first], segment, *rest])
            total += segment.size
        return total

    @abstractmethod
    def _begin_segment(self, now_ms: int) -> None:
        """Roll, if the active segment has batches. Raises OSError."""

    @abstractmethod
    def _set_segments(self, segments: list[Segment]) -> None:
        """Replace the list of segments."""
