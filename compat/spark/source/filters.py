"""Filters that Spark pushes down, as ranges of partitions, offsets and times.

Only comparisons of `topic`, `partition`, `offset` and `timestamp` with constants say anything here;
the others are Spark's. They are read by their class names, so that Spark 4.0, which has none, is
not asked for them. Those that a reader keeps in full are not handed back to Spark, which names them
in `explain("formatted")` then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from .offsets import latest_noted
from .pieces import Piece

_MOST = (1 << 63) - 1
_EQUAL = ("EqualTo", "EqualNullSafe")
_NAMED = (*_EQUAL, "In")
_COMPARED = (*_EQUAL, "GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual")


@dataclass
class Narrowing:
    """What the filters leave; ends are exclusive."""

    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    start_offset: int = 0
    end_offset: int = _MOST
    start_ms: int | None = None
    end_ms: int | None = None

    def of(self, piece: Piece) -> Piece | None:
        """What is left of a piece, None if it is nothing."""
        segment = piece.segment
        if self.topics is not None and segment.topic not in self.topics:
            return None
        if self.partitions is not None and segment.partition not in self.partitions:
            return None
        if self.start_ms is not None and latest_noted(segment) < self.start_ms:
            return None
        start, end = max(piece.start, self.start_offset), min(piece.end, self.end_offset)
        if start >= end:
            return None
        inner = replace(piece.wanted, start_offset=start, end_offset=end)
        return replace(piece, wanted=inner)


def is_kept(each: Any) -> bool:
    """Whether a filter is kept to in full: Spark need not evaluate it again."""
    kind, attribute = type(each).__name__, getattr(each, "attribute", ())
    if attribute in (("topic",), ("partition",)):
        return kind in _NAMED
    is_number = isinstance(getattr(each, "value", None), int)
    return attribute == ("offset",) and is_number and kind in _COMPARED


def says_anything(each: Any) -> bool:
    """Whether a filter leaves anything out."""
    return is_kept(each) or narrowed([each]) != Narrowing()


def shown(each: Any) -> str:
    """A filter as Spark writes it."""
    return f"{type(each).__name__}({'.'.join(each.attribute)},{each.value})"


def narrowed(filters: Iterable[Any]) -> Narrowing:
    """What all of these filters leave."""
    left = Narrowing()
    for each in filters:
        kind = type(each).__name__
        attribute = getattr(each, "attribute", ())
        value = getattr(each, "value", None)
        if attribute in (("topic",), ("partition",)):
            _name(left, attribute[0], kind, value)
        elif attribute == ("offset",) and isinstance(value, int):
            _offset(left, kind, value)
        elif attribute == ("timestamp",) and isinstance(value, datetime) and value.tzinfo:
            _time(left, kind, value)
    return left


def _name(left: Narrowing, column: str, kind: str, value: Any) -> None:
    if kind not in _NAMED:
        return
    values = frozenset(value if kind == "In" else [value])
    if column == "topic":
        left.topics = values if left.topics is None else left.topics & values
    else:
        left.partitions = values if left.partitions is None else left.partitions & values


def _offset(left: Narrowing, kind: str, value: int) -> None:
    if kind in (*_EQUAL, "GreaterThanOrEqual"):
        left.start_offset = max(left.start_offset, value)
    if kind in (*_EQUAL, "LessThanOrEqual"):
        left.end_offset = min(left.end_offset, value + 1)
    if kind == "GreaterThan":
        left.start_offset = max(left.start_offset, value + 1)
    if kind == "LessThan":
        left.end_offset = min(left.end_offset, value)


def _time(left: Narrowing, kind: str, value: datetime) -> None:
    """Whole milliseconds that hold the range: records have no finer times."""
    since = value - datetime(1970, 1, 1, tzinfo=UTC)
    ms = (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000
    if kind in (*_EQUAL, "GreaterThanOrEqual", "GreaterThan"):
        left.start_ms = ms if left.start_ms is None else max(left.start_ms, ms)
    if kind in (*_EQUAL, "LessThanOrEqual", "LessThan"):
        left.end_ms = ms + 1 if left.end_ms is None else min(left.end_ms, ms + 1)
