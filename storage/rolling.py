"""When a log begins a new segment. Decided before each append; without an append it never happens.

A segment that has batches takes no more of them

- if the batch would take it over `segment.bytes`;
- if the batch's largest timestamp is later than that of the segment's first batch by more than
  `segment.ms` less jitter (by `max.compaction.lag.ms`, if that is less and the log is compacted);
  where the first batch has no timestamp, if the segment was created longer ago than that;
- if one of its indexes is full, the time index keeping a slot for its final entry;

and any segment, if the batch's last offset is too far from its base for an index entry, or before
it (the segment was created for a batch after a gap, which then could not be written).

Jitter spreads the rolls of a topic's partitions. It is a function of directory and base offset
instead of a random number, so that a repeated test finds the same segments.
Source: Kafka 4.3.1; KIP-33.
"""

from __future__ import annotations

from zlib import crc32

from ..wire.batch import BatchHeader
from .config import LogConfig
from .segment import RELATIVE_OFFSET_MAX, Segment


def is_roll_due(
    segment: Segment,
    header: BatchHeader,
    size: int,
    config: LogConfig,
    age_ms_max: int,
    now_ms: int,
) -> bool:
    """Whether a batch of `size` bytes needs a new segment. Runs for every batch."""
    relative = header.base_offset - segment.base_offset
    if relative < 0 or relative + header.last_offset_delta > RELATIVE_OFFSET_MAX:
        return True
    filled = segment.size
    if not filled:
        return False
    if filled + size > config.segment_bytes:
        return True
    if segment.offset_index.count >= config.offset_entries_max:
        return True
    if segment.time_index.count >= config.time_entries_max:
        return True
    first = segment.first_timestamp
    age_ms = header.max_timestamp - first if first >= 0 else now_ms - segment.created_ms
    return age_ms > age_ms_max


def next_base(log_end_offset: int, header: BatchHeader) -> int:
    """The base offset of a segment that is created for this batch: the log end, so that there is no
    gap between segments; or the batch's own offset, if that is too far away."""
    is_near = header.last_offset - log_end_offset <= RELATIVE_OFFSET_MAX
    return log_end_offset if is_near else header.base_offset


def age_ms_max(config: LogConfig, directory: str, base_offset: int) -> int:
    """The age in milliseconds at which this segment is rolled."""
    jitter_ms = 0
    if config.segment_jitter_ms > 0:
        seed = crc32(f"{directory} {base_offset}".encode())
        jitter_ms = seed % min(config.segment_jitter_ms, config.segment_ms)
    return config.roll_ms - jitter_ms
