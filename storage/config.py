"""LogConfig: the topic configs that apply to one partition's log.

Names are Kafka's with underscores (`segment.bytes` is `segment_bytes`), defaults are Kafka 4.3's.
Times are milliseconds, sizes bytes; -1 is no limit for retention. Left out: configs by which a
batch is checked before it gets here (`max.message.bytes`, timestamps, compression), parsing, and
the limits of values. The emulator checks those, so a test of this package may roll every batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .index import OFFSET_ENTRY_SIZE, TIME_ENTRY_SIZE

_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
NEVER = (1 << 63) - 1
"""Kafka's default for a number of records or milliseconds that is never reached."""


@dataclass(frozen=True)
class LogConfig:
    """One topic's log configs. Replace the whole object to change one (`dataclasses.replace`)."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * _DAY_MS
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096
    retention_ms: int = 7 * _DAY_MS
    retention_bytes: int = -1
    cleanup_policy: frozenset[str] = frozenset({"delete"})
    delete_retention_ms: int = _DAY_MS
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = NEVER
    min_cleanable_dirty_ratio: float = 0.5
    flush_messages: int = NEVER
    flush_ms: int = NEVER
    file_delete_delay_ms: int = 60_000
    keeps_old_formats: bool = False
    """Whether compaction leaves messages of magic 0 and 1 in their format, as up to Kafka 3.9, or
    makes batches of magic 2 of them. Not a topic config."""

    @cached_property
    def compact(self) -> bool:
        """True if the log is compacted."""
        return "compact" in self.cleanup_policy

    @cached_property
    def roll_ms(self) -> int:
        """The age at which a segment is rolled, before jitter."""
        if self.compact and self.max_compaction_lag_ms > 0:
            return min(self.segment_ms, self.max_compaction_lag_ms)
        return self.segment_ms

    @cached_property
    def offset_entries_max(self) -> int:
        """How many entries fill an offset index."""
        return self.segment_index_bytes // OFFSET_ENTRY_SIZE

    @cached_property
    def time_entries_max(self) -> int:
        """How many entries fill a time index; one slot is kept for the entry made at a roll."""
        return self.segment_index_bytes // TIME_ENTRY_SIZE - 1
