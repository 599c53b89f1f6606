"""Where reading starts and ends in each partition, from the options; and what of it is lost.

Offsets are the connector's: -2 is the earliest, -1 the latest, and JSON names every partition that
is read. A timestamp stands for the first offset of a record that is as late or later, of any
transaction, as a broker looks it up. Where no record is, reading starts at the end or is refused
(`startingOffsetsByTimestampStrategy`), and ends at the end.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from struct import Struct
from typing import TypeAlias

import numpy as np

from ..segments.decoder import read_segment
from ..segments.listing import Segment
from ..segments.runs import FileSource, last_offsets, runs
from ..segments.wanted import Wanted
from .layout import Now, PartitionNow
from .options import EARLIEST, LATEST, Limit, Offsets, OptionError, ReadOptions
from .topics import TopicPartition

Positions: TypeAlias = dict[TopicPartition, int]

_TIME_ENTRY = Struct(">qi")  # timestamp, offset after the segment's base


class DataLoss(Exception):
    """The wanted offsets are not there any more; the text says where, and how to read on."""


def starting(now: Now, options: ReadOptions) -> Positions:
    """Where to start in each partition. Raises OptionError, OSError."""
    return {
        key: _resolved(offset, now[key], strict=not options.no_match_is_latest, key=key)
        for key, offset in _named(now, options.start, "starting").items()
    }


def ending(now: Now, options: ReadOptions) -> Positions:
    """Where to end in each partition, exclusively. Raises OptionError, OSError."""
    return {
        key: _resolved(offset, now[key], strict=False, key=key)
        for key, offset in _named(now, options.end, "ending").items()
    }


def as_json(positions: Positions) -> Offsets:
    """In the form that the connector writes into checkpoints."""
    offsets: Offsets = {}
    for (topic, partition), offset in sorted(positions.items()):
        offsets.setdefault(topic, {})[str(partition)] = offset
    return offsets


def from_json(offsets: Offsets) -> Positions:
    return {
        (topic, int(partition)): offset
        for topic, partitions in offsets.items()
        for partition, offset in partitions.items()
    }


_Place: TypeAlias = tuple[bool, int]
"""Whether it is a timestamp; the timestamp or offset."""


def _named(now: Now, limit: Limit, edge: str) -> dict[TopicPartition, _Place]:
    if limit.timestamp is not None:
        return dict.fromkeys(now, (True, limit.timestamp))
    if limit.by_timestamp is not None:
        places = _every(now, limit.by_timestamp, f"{edge}OffsetsByTimestamp")
        return {key: (True, timestamp) for key, timestamp in places.items()}
    if isinstance(limit.offsets, str):
        literal = EARLIEST if limit.offsets == "earliest" else LATEST
        return dict.fromkeys(now, (False, literal))
    places = _every(now, limit.offsets, f"{edge}Offsets")
    return {key: (False, offset) for key, offset in places.items()}


def _every(now: Now, offsets: Offsets, option: str) -> Positions:
    """The value of each partition in the JSON; it must name those that are read, and no other."""
    positions = from_json(offsets)
    if positions.keys() != now.keys():
        raise OptionError(
            f"option {option} must name every partition that is read, with -1 for latest and -2 "
            f"for earliest: it names {_listed(positions)}; read are {_listed(now)}"
        )
    return positions


def _listed(keys: Positions | Now) -> str:
    return ", ".join(f"{topic}-{partition}" for topic, partition in sorted(keys)) or "none"


def _resolved(place: _Place, found: PartitionNow, *, strict: bool, key: TopicPartition) -> int:
    is_time, value = place
    if not is_time:
        return {EARLIEST: found.start, LATEST: found.end}.get(value, value)
    offset = offset_at(found, value)
    if offset is None and strict:
        raise OptionError(
            f"{key[0]}-{key[1]} has no record as late as the starting timestamp {value}: "
            "startingOffsetsByTimestampStrategy=latest starts such a partition at its end"
        )
    return found.end if offset is None else offset


def offset_at(found: PartitionNow, timestamp: int) -> int | None:
    """The offset of the first record that is at least so late, None if there is none."""
    for segment in found.segments:
        if latest_noted(segment) < timestamp:
            continue
        for start, end in _batches_since(segment, timestamp):
            wanted = Wanted(
                columns=("offset",),
                start_offset=max(start, found.start),
                end_offset=end,
                start_ms=timestamp,
                isolation="read_uncommitted",
                control=True,
            )
            for rows in read_segment(segment, wanted):
                if rows.num_rows:
                    offset: int = rows.column(0)[0].as_py()
                    return offset if offset < found.end else None
    return None


def _batches_since(segment: Segment, timestamp: int) -> Iterator[tuple[int, int]]:
    with FileSource(segment.path, segment.size) as source:
        for run in runs(source, heads_only=True):
            (late,) = np.nonzero(run.heads["max_timestamp"] >= timestamp)
            firsts, lasts = run.heads["base_offset"][late], last_offsets(run.heads)[late]
            yield from zip(firsts.tolist(), (lasts + 1).tolist(), strict=True)


def latest_noted(segment: Segment) -> float:
    """The latest timestamp in a segment as its time index has it, so that the segment need not be
    opened; infinity where the index cannot tell. Only that of a segment that is written no more
    ends with the latest one."""
    path = os.path.splitext(segment.path)[0] + ".timeindex"
    if segment.last or segment.next_base is None:
        return float("inf")
    try:
        with open(path, "rb") as file:
            entries = file.read()
    except OSError:
        return float("inf")
    if not entries or len(entries) % _TIME_ENTRY.size:
        return float("inf")
    timestamp, offset = _TIME_ENTRY.unpack_from(entries, len(entries) - _TIME_ENTRY.size)
    if timestamp <= 0 or not 0 <= offset < segment.next_base - segment.base_offset:
        return float("inf")
    return float(timestamp)
