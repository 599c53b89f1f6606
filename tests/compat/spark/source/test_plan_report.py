"""`planReport`: what a query reads, and which filters it has kept to."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from odradek.compat.spark.source.options import read_options
from odradek.compat.spark.source.reader import BatchReader, FilteringReader

from tests.compat.spark.segments.support.placed import numbered, placed
from tests.compat.spark.source.support.filters import (
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    Not,
    StringStartsWith,
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two segments of t-0 (0-9, 10-19) and one of t-1 (0-4)."""
    placed(tmp_path, {0: numbered(0, 10), 10: numbered(10, 10)})
    placed(tmp_path, {0: numbered(0, 5)}, partition=1)
    return tmp_path


def reader(data: Path, kind: type[BatchReader], **more: str) -> BatchReader:
    given = {"path": str(data), "planReport": str(data / "plan.json"), **more}
    return kind(read_options(given, stream=False))


def report(data: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((data / "plan.json").read_text())
    return found


def test_ranges_and_columns_are_in_it(data: Path) -> None:
    ends = '{"t": {"0": 12, "1": 0}}'
    reader(data, BatchReader, columns="offset,value", endingOffsets=ends).partitions()
    found = report(data)
    sizes = [each.stat().st_size for each in sorted(data.glob("t-0/*.log"))]
    assert (found["columns"], found["filters"]) == (["offset", "value"], [])
    assert (found["partitions"], found["partitionsRead"]) == (2, 1)
    assert (found["segments"], found["segmentsRead"], found["bytesRead"]) == (3, 2, sum(sizes))
    assert [(each["startingOffset"], each["endingOffset"]) for each in found["tasks"]] == [
        (0, 10),
        (10, 12),
    ]


def test_filters_that_are_kept_to_are_in_it_and_not_handed_back(data: Path) -> None:
    kept = [EqualTo(("partition",), 0), GreaterThan(("offset",), 14), In(("topic",), ("t", "u"))]
    others = [
        *(StringStartsWith(("topic",), "t"), EqualTo(("key",), b"1"), IsNotNull(("offset",))),
        *(IsNotNull(("topic",)), Not(EqualTo(("partition",), 1)), EqualTo(("offset",), None)),
    ]
    asked = reader(data, FilteringReader)
    assert isinstance(asked, FilteringReader)
    assert asked.pushFilters([*kept, *others]) == others
    (task,) = asked.partitions()
    offsets = [row for each in asked.read(task) for row in each.column("offset").to_pylist()]
    assert offsets == [15, 16, 17, 18, 19]
    found = report(data)
    assert found["filters"] == [
        "EqualTo(partition,0)",
        "GreaterThan(offset,14)",
        "In(topic,('t', 'u'))",
    ]
    assert (found["segmentsRead"], found["tasks"][0]["startingOffset"]) == (1, 15)


def test_a_filter_of_times_is_for_spark_too(data: Path) -> None:
    late = GreaterThanOrEqual(("timestamp",), datetime(2023, 1, 1, tzinfo=UTC))
    asked = reader(data, FilteringReader)
    assert isinstance(asked, FilteringReader)
    assert asked.pushFilters([late]) == [late]
    asked.partitions()
    assert report(data)["tasks"][0]["startingTimestamp"] == 1_672_531_200_000
    assert len(report(data)["filters"]) == 1


def test_a_later_query_takes_its_place(data: Path) -> None:
    reader(data, BatchReader).partitions()
    ends = '{"t": {"0": 0, "1": 0}}'
    reader(data, BatchReader, endingOffsets=ends).partitions()
    assert (report(data)["tasks"], report(data)["bytesRead"]) == ([], 0)
    assert [each.name for each in data.glob("plan*")] == ["plan.json"]
