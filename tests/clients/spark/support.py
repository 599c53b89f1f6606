"""What tests of Spark's connector share."""

from __future__ import annotations

from typing import Any

Row = tuple[int, int, str | None]


def sorted_rows(frame: Any) -> list[Row]:
    """The rows of a frame of partition, offset and value, in the order of the topic."""
    return sorted((row.partition, row.offset, row.value) for row in frame.collect())
