"""Offsets of many partitions at once: first, next, and by time.

A position is `earliest`, `latest`, an offset, `-10` (ten before the end), a time
(`2026-01-31T12:00`, local unless it has an offset) or an age (`15m`, `2h`, `3d`).
"""

from __future__ import annotations

import re
import time
from argparse import ArgumentTypeError
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from ....wire.api.list_offsets import ListOffsetsRequest
from ....wire.api.metadata import MetadataResponse
from .client import Brokers, check

LATEST = -1
EARLIEST = -2
READ_COMMITTED = 1
_NAMES_UP_TO = 11  # ListOffsets names topics in every version there is
_UNITS_MS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_AGE = re.compile(r"([0-9]+)([smhd])")

Place = tuple[str, int]
"""Topic and partition."""


@dataclass(frozen=True)
class Position:
    """Where to begin: a timestamp of ListOffsets, an offset, or a number before the end."""

    timestamp: int | None = None
    offset: int | None = None
    before_end: int | None = None


def parse_position(text: str) -> Position:
    """A position as written. Raises ArgumentTypeError."""
    if text in ("earliest", "beginning", "first", "start"):
        return Position(timestamp=EARLIEST)
    if text in ("latest", "end"):
        return Position(timestamp=LATEST)
    try:
        if re.fullmatch("-[0-9]+", text):
            return Position(before_end=int(text[1:]))
        if re.fullmatch("[0-9]+", text):
            return Position(offset=int(text))
        age = _AGE.fullmatch(text)
        if age:
            return _moment(int(time.time() * 1000) - int(age[1]) * _UNITS_MS[age[2]])
        return _moment(int(datetime.fromisoformat(text).timestamp() * 1000))
    except (ValueError, OverflowError):
        raise ArgumentTypeError(
            f"{text!r} is no position: earliest, latest, an offset, -N (before the end), an age "
            "such as 15m, 2h or 3d, or a time such as 2026-01-31T12:00"
        ) from None


def _moment(timestamp: int) -> Position:
    """A timestamp of ListOffsets, where values below zero have other meanings."""
    return Position(timestamp=max(0, timestamp))


def bounds(
    brokers: Brokers, topics: Iterable[MetadataResponse.Topic], *, committed: bool = False
) -> dict[Place, tuple[int, int]]:
    """The first and the next offset of every partition that has a leader.

    With `committed` the next offset is the start of the first open transaction, if there is one.
    """
    listed = list(topics)
    first = look_up(brokers, listed, EARLIEST)
    after = look_up(brokers, listed, LATEST, committed=committed)
    return {place: (first[place], after[place]) for place in first if place in after}


def resolve(
    brokers: Brokers,
    topics: Iterable[MetadataResponse.Topic],
    position: Position,
    *,
    committed: bool = False,
) -> dict[Place, int]:
    """The offset of a position in each partition, within the partition's bounds.

    A time after the last record is the end; with `committed`, the end of `bounds`.
    """
    listed = list(topics)
    limits = bounds(brokers, listed, committed=committed)
    found: dict[Place, int] = {}
    if position.timestamp is not None:
        found = look_up(brokers, listed, position.timestamp)
    chosen = {}
    for place, (first, after) in limits.items():
        if position.offset is not None:
            wanted = position.offset
        elif position.before_end is not None:
            wanted = after - position.before_end
        else:
            wanted = found.get(place, -1)
            wanted = after if wanted < 0 else wanted
        chosen[place] = min(max(wanted, first), after)
    return chosen


def look_up(
    brokers: Brokers,
    topics: Iterable[MetadataResponse.Topic],
    timestamp: int,
    *,
    committed: bool = False,
) -> dict[Place, int]:
    """ListOffsets of every partition, asked of its leader; -1 where nothing is found."""
    found: dict[Place, int] = {}
    for node, request in _by_leader(topics, timestamp).items():
        request.isolation_level = READ_COMMITTED if committed else 0
        answer = brokers.ask(request, most=_NAMES_UP_TO, node=node)
        for topic in answer.topics:
            for part in topic.partitions:
                check(part.error_code, f"{topic.name}-{part.partition_index}")
                offsets = part.old_style_offsets  # v0, of very old brokers
                found[topic.name, part.partition_index] = offsets[0] if offsets else part.offset
    return found


def _by_leader(
    topics: Iterable[MetadataResponse.Topic], timestamp: int
) -> dict[int, ListOffsetsRequest]:
    requests: dict[int, ListOffsetsRequest] = {}
    for topic in topics:
        asked: dict[int, ListOffsetsRequest.Topic] = {}
        for part in topic.partitions:
            if part.leader_id < 0:
                continue
            entry = asked.setdefault(
                part.leader_id, ListOffsetsRequest.Topic(name=topic.name or "", partitions=[])
            )
            entry.partitions.append(
                ListOffsetsRequest.Topic.Partition(
                    partition_index=part.partition_index, timestamp=timestamp
                )
            )
        for node, entry in asked.items():
            request = requests.setdefault(node, ListOffsetsRequest(replica_id=-1, topics=[]))
            request.topics.append(entry)
    return requests
