"""What is left of a plan by filters that Spark 4.1 and later push down; here by their names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from odradek.compat.spark.segments import Wanted
from odradek.compat.spark.source.layout import Layout
from odradek.compat.spark.source.offsets import ending, starting
from odradek.compat.spark.source.options import read_options
from odradek.compat.spark.source.pieces import Piece, pieces
from odradek.compat.spark.source.reader import narrowed

from tests.compat.spark.segments.support.placed import T, numbered, placed
from tests.compat.spark.source.support.filters import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
    StringStartsWith,
)


@pytest.fixture
def found(tmp_path: Path) -> list[Piece]:
    """Two segments of t-0 (0-9, 10-19), one of t-1 (0-4) and one of u-0 (0-2)."""
    placed(tmp_path, {0: numbered(0, 10), 10: numbered(10, 10)})
    placed(tmp_path, {0: numbered(0, 5)}, partition=1)
    placed(tmp_path, {0: numbered(0, 3)}, topic="u")
    options = read_options({"path": str(tmp_path)}, stream=False)
    now = Layout(options).now()
    return pieces(now, starting(now, options), ending(now, options), Wanted(), options)


T0_FIRST, T0_SECOND, T1, U0 = "t-0:0-10", "t-0:10-20", "t-1:0-5", "u-0:0-3"
CASES = [
    ([EqualTo(("topic",), "u")], [U0]),
    ([EqualTo(("partition",), 1)], [T1]),
    ([In(("partition",), (1, 2)), EqualTo(("topic",), "u")], []),
    ([GreaterThan(("offset",), 9)], [T0_SECOND]),
    ([GreaterThanOrEqual(("offset",), 9)], ["t-0:9-10", T0_SECOND]),
    ([LessThan(("offset",), 2)], ["t-0:0-2", "t-1:0-2", "u-0:0-2"]),
    ([LessThanOrEqual(("offset",), 2), EqualTo(("topic",), "t")], ["t-0:0-3", "t-1:0-3"]),
    ([EqualTo(("offset",), 12)], ["t-0:12-13"]),
    ([StringStartsWith(("topic",), "u"), EqualTo(("key",), b"1")], [T0_FIRST, T0_SECOND, T1, U0]),
    ([EqualTo(("headers", "offset"), 3), object()], [T0_FIRST, T0_SECOND, T1, U0]),
]


@pytest.mark.parametrize(("filters", "left"), CASES)
def test_pieces_are_left_out_and_cut(
    found: list[Piece], filters: list[Any], left: list[str]
) -> None:
    narrowing = narrowed(filters)
    kept = [piece for each in found if (piece := narrowing.of(each)) is not None]
    names = [f"{each.segment.topic}-{each.segment.partition}" for each in kept]
    ranges = [f"{each.start}-{each.end}" for each in kept]
    assert [f"{name}:{span}" for name, span in zip(names, ranges, strict=True)] == left


def test_a_segment_whose_time_index_ends_too_early_is_left_out(found: list[Piece]) -> None:
    path = Path(found[0].segment.path).with_suffix(".timeindex")
    path.write_bytes((T + 9).to_bytes(8, "big") + (9).to_bytes(4, "big"))
    after = datetime.fromtimestamp(T / 1000, UTC) + timedelta(milliseconds=10)
    left = narrowed([GreaterThanOrEqual(("timestamp",), after)])
    assert [left.of(each) is None for each in found] == [True, False, False, False]


def test_times_are_whole_milliseconds_around_the_filter() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(milliseconds=7, microseconds=300)
    ms = 1_767_225_600_007
    column = ("timestamp",)
    cases: list[tuple[list[Filter], tuple[int | None, int | None]]] = [
        ([GreaterThan(column, at)], (ms, None)),
        ([GreaterThanOrEqual(column, at), LessThan(column, at)], (ms, ms + 1)),
        ([EqualTo(column, at)], (ms, ms + 1)),
        ([LessThanOrEqual(column, at), LessThan(column, at + timedelta(days=1))], (None, ms + 1)),
        ([EqualTo(column, at.replace(tzinfo=None))], (None, None)),
    ]
    for filters, span in cases:
        left = narrowed(filters)
        assert (left.start_ms, left.end_ms) == span
