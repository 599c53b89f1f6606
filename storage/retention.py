"""Which of a log's oldest segments are removed: decided by a policy that can be replaced.

A policy is a function of the log's segments and the time. It returns how many of the oldest
segments may be removed, and changes nothing itself. These rules hold whatever it returns:

- segments are removed whole and oldest first, so a count says it all;
- a segment that reaches the high watermark stays;
- the newest is removed only if it has batches, after a new one was created after it, so that the
  log ends where it ended.

Kafka's policy has three rules, each applied to the segments that the one before has left:

1. log start: segments that end at or before the log start (DeleteRecords moved it), but not the
   newest. This is the only rule where `cleanup.policy` is without `delete`;
2. size: as long as the log without the segment has at least `retention.bytes`;
3. time: as long as the segment's largest timestamp is more than `retention.ms` ago; of a segment
   without timestamps, the time it was last written to. A record from the future keeps its segment
   and all after it.

Another policy, which keeps ten segments whatever their age:

    def ten_segments(log: LogView, now_ms: int) -> int:
        return len(log.segments) - 10

Source: the documentation's chapter "Log", "Deletes"; Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from .config import LogConfig
from .segment import Segment


class SegmentView(NamedTuple):
    """A segment as a policy sees it."""

    base_offset: int
    next_offset: int
    """Where the next segment begins; of the newest, the log end."""
    size: int
    """Bytes of its batches."""
    largest_timestamp: int
    """Of its records (ms); if they have none, when it was last written to."""


class LogView(NamedTuple):
    """A log as a policy sees it. Oldest segment first; there is at least one."""

    topic: str
    partition: int
    config: LogConfig
    log_start_offset: int
    segments: tuple[SegmentView, ...]


RetentionPolicy: TypeAlias = Callable[[LogView, int], int]
"""(log, now in ms) -> how many of the oldest segments may be removed; negative is none."""


def kafka_retention(log: LogView, now_ms: int) -> int:
    """Kafka's policy: log start, then size, then time."""
    config, segments = log.config, log.segments
    gone = before_log_start(segments, log.log_start_offset)
    if "delete" in config.cleanup_policy:
        gone += oversized(segments[gone:], config.retention_bytes)
        gone += expired(segments[gone:], config.retention_ms, now_ms)
    return gone


def before_log_start(segments: tuple[SegmentView, ...], log_start_offset: int) -> int:
    """How many of the oldest segments end at or before the log start. The newest is not counted."""
    count = 0
    while count < len(segments) - 1 and segments[count].next_offset <= log_start_offset:
        count += 1
    return count


def oversized(segments: tuple[SegmentView, ...], retention_bytes: int) -> int:
    """How many of the oldest the log can lose and keep at least this size; -1 is no limit."""
    if retention_bytes < 0:
        return 0
    excess = sum(segment.size for segment in segments) - retention_bytes
    for count, segment in enumerate(segments):
        if excess < segment.size:
            return count
        excess -= segment.size
    return len(segments)


def expired(segments: tuple[SegmentView, ...], retention_ms: int, now_ms: int) -> int:
    """How many of the oldest segments have only records older than this; -1 is no limit."""
    if retention_ms < 0:
        return 0
    for count, segment in enumerate(segments):
        if now_ms - segment.largest_timestamp <= retention_ms:
            return count
    return len(segments)


def next_expiry(segments: tuple[SegmentView, ...], config: LogConfig) -> int | None:
    """When Kafka's policy next removes a segment because of its age, or has; None for never."""
    oldest = segments[0]
    is_kept = len(segments) == 1 and not oldest.size
    if is_kept or config.retention_ms < 0 or "delete" not in config.cleanup_policy:
        return None
    return oldest.largest_timestamp + config.retention_ms + 1


def view_of(segments: list[Segment], log_end_offset: int) -> tuple[SegmentView, ...]:
    """All segments of a log as a policy sees them."""
    ends = [*(segment.base_offset for segment in segments[1:]), log_end_offset]
    return tuple(
        SegmentView(segment.base_offset, end, segment.size, segment.largest_timestamp)
        for segment, end in zip(segments, ends, strict=True)
    )


def deletable(log: LogView, policy: RetentionPolicy, now_ms: int, high_watermark: int) -> int:
    """How many of the oldest segments are removed, by the policy and the rules above.

    Raises what the policy raises.
    """
    count = 0
    for segment in log.segments[: max(0, policy(log, now_ms))]:
        is_newest = count == len(log.segments) - 1
        if segment.next_offset > high_watermark or (is_newest and not segment.size):
            break
        count += 1
    return count
