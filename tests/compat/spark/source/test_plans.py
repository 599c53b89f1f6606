"""How Spark plans what reads the source: a segment is a task, and rows come together where they are
shuffled, never in one place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from odradek.compat.spark.segments import SegmentWriter, list_segments, make_data_directory
from odradek.compat.spark.source.datasource import PUSHES_FILTERS

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PARTITIONS, ROWS = 3, 40_000
GATHERS = ("SinglePartition", "Broadcast", "CollectLimit", "TakeOrdered", "LocalTableScan")
"""What brings rows to one task or to the driver, by the names that Spark's plans have."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A topic of some segments in each partition."""
    path = tmp_path_factory.mktemp("planned")
    make_data_directory(path, {"t": PARTITIONS})
    values = [b"%032d" % n for n in range(ROWS)]
    rows = pa.record_batch({"key": [each[-2:] for each in values], "value": values})
    for partition in range(PARTITIONS):
        with SegmentWriter(path, "t", partition, segment_bytes=1 << 20) as writer:
            writer.write(rows)
    return path


def planned(frame: Any) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def test_a_segment_is_a_task(spark: Any, data: Path) -> None:
    frame = spark.read.format("odradek").load(str(data))
    segments = list_segments(data, ["t"])
    assert len(segments) > PARTITIONS
    assert frame.rdd.getNumPartitions() == len(segments)
    assert frame.count() == PARTITIONS * ROWS


def test_filters_and_columns_need_no_exchange(spark: Any, data: Path) -> None:
    frame = spark.read.format("odradek").load(str(data))
    plan = planned(frame.where("offset % 2 = 0").selectExpr("upper(CAST(value AS STRING))"))
    assert "odradek" in plan
    assert "Exchange" not in plan
    assert [name for name in GATHERS if name in plan] == []


def test_filters_that_are_kept_to_are_in_the_plan(
    spark: Any, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From Spark 4.1 on; before, Spark evaluates them."""
    frame = spark.read.format("odradek").load(str(data))
    some = frame.where("partition = 1 AND offset >= 5 AND key = '07'").selectExpr("offset")
    some.explain("formatted")
    (pushed,) = re.findall(r"PushedFilters: (.*)", capsys.readouterr().out) or [""]
    kept = [each for each in ("EqualTo(partition,1)", "OrEqual(offset,5)") if each in pushed]
    assert len(kept) == (2 if PUSHES_FILTERS else 0)
    assert "EqualTo(key" not in pushed
    offsets = [row.offset for row in some.collect()]
    assert offsets == [each for each in range(5, ROWS) if each % 100 == 7]


def test_rows_are_shuffled_by_what_they_are_grouped_by(spark: Any, data: Path) -> None:
    frame = spark.read.format("odradek").load(str(data))
    plan = planned(frame.groupBy("key").count())
    assert plan.count("Exchange hashpartitioning(key") == 1
    assert plan.count("HashAggregate") == 2  # in the task that reads, and after the shuffle
    assert [name for name in GATHERS if name in plan] == []


def test_the_names_of_what_gathers_are_those_of_spark(spark: Any, data: Path) -> None:
    """Else the tests above could not fail."""
    frame = spark.read.format("odradek").load(str(data))
    assert "SinglePartition" in planned(frame.selectExpr("sum(offset)"))
    assert "TakeOrdered" in planned(frame.orderBy("offset").limit(3))
    assert "CollectLimit" in planned(frame.limit(3))
    assert "Broadcast" in planned(frame.hint("broadcast").join(frame, "offset"))
