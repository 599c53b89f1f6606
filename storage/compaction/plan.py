"""The part of a log that is compacted: its dirty section, whether that is due, and groups of
segments.

Rules:

- The clean section is before the first dirty offset: where the last compaction ended, according to
  `cleaner-offset-checkpoint`, or the log start if that is higher, or if the checkpoint's offset is
  outside the log (then it was of another log).
- Never compacted are the active segment, the segment that holds the last stable offset, and the
  first dirty segment with a record younger than `min.compaction.lag.ms`, and all after these.
- A log is due when the dirty part of what can be cleaned is more than `min.cleanable.dirty.ratio`
  of it, or when the first batch of a dirty segment is older than `max.compaction.lag.ms`. A segment
  that is dirty in part counts on both sides.
- Neighbouring segments are rewritten into one as long as together they had at most `segment.bytes`,
  indexes of at most `segment.index.bytes`, and offsets that fit into an index entry.

Everything here raises WireError and OSError. Source: KIP-58, KIP-354; Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..batch_walk import header_at
from ..config import NEVER, LogConfig
from ..index import OFFSET_ENTRY_SIZE, TIME_ENTRY_SIZE
from ..segment import RELATIVE_OFFSET_MAX, Segment, containing


class Plan(NamedTuple):
    """The dirty section of one log."""

    first_dirty: int
    end: int
    """Where the first segment begins that must not be compacted."""
    clean_bytes: int
    cleanable_bytes: int
    is_overdue: bool
    """True if records have waited for longer than `max.compaction.lag.ms`."""
    is_reset: bool
    """True if the checkpoint's offset was outside the log."""

    @property
    def ratio(self) -> float:
        """The dirty part of what can be cleaned, from 0 to 1."""
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total if total else 0.0

    def is_due(self, config: LogConfig) -> bool:
        if self.is_overdue and self.cleanable_bytes > 0:
            return True
        return self.ratio > config.min_cleanable_dirty_ratio


class LogBounds(NamedTuple):
    """Offsets of a log. `cleaned` is where the last compaction ended, None if there was none."""

    start: int
    end: int
    last_stable: int
    cleaned: int | None


def make_plan(segments: list[Segment], config: LogConfig, bounds: LogBounds, now_ms: int) -> Plan:
    """The plan for a log with these segments, the active one last."""
    first_dirty = bounds.start if bounds.cleaned is None else bounds.cleaned
    is_reset = not bounds.start <= first_dirty <= bounds.end
    if is_reset:
        first_dirty = bounds.start
    dirty = _from(segments, first_dirty)
    end = min(bounds.last_stable, segments[-1].base_offset)
    lag_ms = config.min_compaction_lag_ms
    if lag_ms > 0:
        young = (one.base_offset for one in dirty if one.largest_timestamp > now_ms - lag_ms)
        end = min(end, next(young, end))
    end = segments[containing(segments, max(first_dirty, end))].base_offset
    clean = (one for one in segments if one.base_offset < first_dirty)
    cleanable = (one for one in dirty if one.base_offset < end)
    return Plan(
        first_dirty,
        end,
        sum(segment.size for segment in clean),
        sum(segment.size for segment in cleanable),
        _is_overdue(dirty, config.max_compaction_lag_ms, now_ms),
        is_reset,
    )


def changes_with_time(segments: list[Segment], config: LogConfig) -> list[int]:
    """The times (ms) at which the plan for these segments changes though the log does not."""
    times: list[int] = []
    for segment in segments[:-1]:
        if config.min_compaction_lag_ms > 0:
            times.append(segment.largest_timestamp + config.min_compaction_lag_ms)
        if config.max_compaction_lag_ms < NEVER:
            times.append(first_timestamp(segment) + config.max_compaction_lag_ms + 1)
    return times


def _from(segments: list[Segment], offset: int) -> list[Segment]:
    """All segments but the active one, from the one that contains `offset` on."""
    return segments[containing(segments, offset) : -1]


def _is_overdue(dirty: Iterable[Segment], lag_ms: int, now_ms: int) -> bool:
    if lag_ms >= NEVER:
        return False
    return any(0 < first_timestamp(segment) < now_ms - lag_ms for segment in dirty)


def first_timestamp(segment: Segment) -> int:
    """The largest timestamp in a segment's first batch, -1 if it has none. Read once."""
    if segment.first_timestamp < 0 and segment.size:
        first = header_at(segment.file, 0, segment.size)
        if first is not None:
            segment.first_timestamp = first.max_timestamp
    return segment.first_timestamp


def grouped(segments: list[Segment], config: LogConfig, end: int) -> list[list[Segment]]:
    """Consecutive segments, in groups each of which becomes one segment.

    `end` is the base offset of the segment after the last of these.
    """
    groups: list[list[Segment]] = []
    sizes = (0, 0, 0)
    bases = [*(segment.base_offset for segment in segments), end][1:]
    for segment, next_base in zip(segments, bases, strict=True):
        more = (
            segment.size,
            segment.offset_index.count * OFFSET_ENTRY_SIZE,
            segment.time_index.count * TIME_ENTRY_SIZE,
        )
        grown = (sizes[0] + more[0], sizes[1] + more[1], sizes[2] + more[2])
        if (
            groups
            and grown[0] <= config.segment_bytes
            and max(grown[1:]) <= config.segment_index_bytes
            and (not more[0] or next_base - 1 - groups[-1][0].base_offset <= RELATIVE_OFFSET_MAX)
        ):
            groups[-1].append(segment)
            sizes = grown
        else:
            groups.append([segment])
            sizes = more
    return groups
