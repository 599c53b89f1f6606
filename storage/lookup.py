"""Searching the segments of a log by time, and for aborted transactions.

By time the rules are Kafka's (ListOffsets): only the first segment whose largest timestamp is late
enough is searched, from the place that its time index gives; the answer is the first record that
is late enough and not below the log start. So a segment before the log start that has not been
removed yet hides later ones. The latest record is searched for without regard to the log start;
of equals it is the earliest. Segments without any batch are skipped.

Aborted transactions are listed up to an offset that the offset index gives, so some may begin
after the records they are listed for; consumers expect that.

Segments are verified before anything in them is used. Everything here raises OSError, also for
damage: a search by time does not skip it, since the right answer may be lost in it.
Source: KIP-79, KIP-98, KIP-734; Kafka 4.3.1's answers.
"""

from __future__ import annotations

from typing import NamedTuple

from ..wire.legacy.as_batches import read_logged
from .batch_walk import walk_batches
from .damage import read_error
from .producers import AbortedTransaction
from .segment import Segment, containing


class FoundRecord(NamedTuple):
    """A record found by its time (ms), and the leader epoch of its batch."""

    offset: int
    timestamp: int
    leader_epoch: int


def find_timestamp(
    segments: list[Segment], timestamp: int, start_offset: int
) -> FoundRecord | None:
    """The first record that is as late as `timestamp`, by the rules above."""
    for segment in segments:
        if segment.size and segment.largest_timestamp >= timestamp:
            segment.verify()
            if segment.largest_timestamp < timestamp:  # its index was wrong
                continue
            relative = max(segment.time_index.floor(timestamp), start_offset - segment.base_offset)
            return _first_record(segment, relative, timestamp, start_offset)
    return None


def find_max_timestamp(segments: list[Segment]) -> FoundRecord | None:
    """The first of the records with the largest timestamp."""
    segments = [segment for segment in segments if segment.size]
    if not segments:
        return None
    latest = max(segments, key=lambda segment: segment.max_timestamp)
    while latest.verifier is not None:
        latest.verify()
        latest = max(segments, key=lambda segment: segment.max_timestamp)
    relative = latest.max_timestamp_offset - latest.base_offset
    return _first_record(latest, relative, latest.max_timestamp, latest.base_offset)


def _first_record(
    segment: Segment, relative_offset: int, timestamp: int, start_offset: int
) -> FoundRecord | None:
    start = segment.offset_index.floor(relative_offset)
    damage = next((one for one in segment.damages if one.end > start), None)
    end = segment.size if damage is None else damage.position
    for position, header, _, _ in walk_batches(segment.file, start, end):
        if header.max_timestamp < timestamp or header.last_offset < start_offset:
            continue
        if not header.magic:  # magic 0 has no timestamps
            return None
        for record in read_logged(segment.file.read(position, header.size)):
            if record.timestamp >= timestamp and record.offset >= start_offset:
                return FoundRecord(record.offset, record.timestamp, header.leader_epoch)
    if damage is not None:
        raise read_error(damage)
    return None


def aborted_transactions(
    segments: list[Segment], offset: int, size: int
) -> list[AbortedTransaction]:
    """Those that may lie in the `size` bytes read from `offset` on."""
    first = containing(segments, offset)
    _verify_markers(segments[first:])
    if not size or not any(segment.transaction_index for segment in segments[first:]):
        return []
    found = segments[first].locate(offset)
    while found is None and first + 1 < len(segments):  # compaction emptied the segment's end
        first += 1
        found = segments[first].locate(offset)
    if found is None:
        return []
    upto = segments[first].offset_from(found[0] + size)
    aborted: list[AbortedTransaction] = []
    for segment in segments[first:]:
        aborted += segment.transaction_index.overlapping(offset, upto)
        if segment.transaction_index.covers(upto):
            break
    return aborted


def _verify_markers(segments: list[Segment]) -> None:
    """Verify the segments whose transaction indexes may name transactions in the first one."""
    segments[0].verify()
    open_producers = segments[0].open_producers
    for segment in segments[1:]:
        if not open_producers:
            break
        segment.verify()
        open_producers -= segment.ended_producers
