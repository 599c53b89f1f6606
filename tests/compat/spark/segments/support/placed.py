"""Partition directories with segments of given bytes, and what a reader gets of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from odradek.compat.spark.segments import EVERYTHING, Segment, Wanted, list_segments, read_segment
from odradek.wire.records import NewRecord, build_batch

T = 1_700_000_000_000


def placed(
    home: Path, segments: Mapping[int, bytes], topic: str = "t", partition: int = 0
) -> list[Segment]:
    """Write a partition's `.log` files, and list them."""
    directory = home / f"{topic}-{partition}"
    directory.mkdir(parents=True, exist_ok=True)
    for base, data in segments.items():
        (directory / f"{base:020d}.log").write_bytes(data)
    return list_segments(directory)


def numbered(base: int, count: int, **more: Any) -> bytes:
    """A batch of records whose keys are their offsets."""
    records = [NewRecord(T + n, b"%d" % n, b"value %d" % n) for n in range(base, base + count)]
    return bytes(build_batch(records, base_offset=base, **more))


def read(segments: Iterable[Segment], wanted: Wanted = EVERYTHING, **more: Any) -> pa.Table:
    """All that these segments give."""
    found = [batch for each in segments for batch in read_segment(each, wanted, **more)]
    return pa.Table.from_batches(found) if found else pa.table({})


def column(table: pa.Table, name: str) -> list[Any]:
    values: list[Any] = table.column(name).to_pylist() if table.num_columns else []
    return values


def offsets(segments: Sequence[Segment], wanted: Wanted = EVERYTHING, **more: Any) -> list[int]:
    return column(read(segments, wanted, **more), "offset")
