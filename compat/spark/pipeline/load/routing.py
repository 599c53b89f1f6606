"""Where records go: by topic and partition, in their order.

The order of records, and thus the partition of those without a key, is that of the file alone: a
piece that is done again sends each record where it went before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...segments.partitioner import partitions_of
from ..errors import PipelineError

Place = tuple[str, int]
"""Topic and partition."""
COLUMNS = ("key", "value", "timestamp", "headers")
"""The columns that are written of a record."""


@dataclass
class Routing:
    topic: str | None
    """Of all records; None for the one in their column."""
    count: Callable[[str], int]
    """How many partitions a topic has."""
    turn: int = 0
    """Which partition the next record takes, if it has no key."""
    source: str = "its file"
    """Where the records come from, for errors."""
    _rows: int = 0
    """How many were routed so far."""
    _counts: dict[str, int] = field(default_factory=dict)

    def route(self, records: pa.RecordBatch) -> Iterator[tuple[Place, pa.RecordBatch]]:
        """The records by topic and partition. Raises PipelineError."""
        has_turn = records["key"].is_null().to_numpy(zero_copy_only=False)
        turns = np.cumsum(has_turn) + self.turn
        self.turn += int(has_turn.sum())
        for topic, rows in self._topics(records):
            chosen = records if rows is None else records.take(rows)
            count = self._count(topic)
            given = chosen["partition"]
            wrong = pc.or_(pc.less(given, 0), pc.greater_equal(given, count))
            if pc.any(wrong).as_py():
                at = pc.index(wrong, True).as_py()
                number = self._rows + 1 + (at if rows is None else rows[at].as_py())
                raise PipelineError(
                    f"record {number} of {self.source} goes to partition {given[at]}, "
                    f"but topic {topic} has {_partitions(count)}"
                )
            mine = turns if rows is None else turns[rows.to_numpy()]
            partitions = partitions_of(chosen["key"], given, count, mine)
            written = chosen.select(COLUMNS)
            for partition in np.unique(partitions).tolist():
                here = pa.array(np.flatnonzero(partitions == partition))
                whole = len(here) == written.num_rows
                yield (topic, partition), written if whole else written.take(here)
        self._rows += records.num_rows

    def _topics(self, records: pa.RecordBatch) -> Iterator[tuple[str, pa.Array | None]]:
        """Each topic and the rows of its records; None for all of them."""
        if self.topic is not None:
            yield self.topic, None
            return
        column = records["topic"]
        if column.null_count:
            raise PipelineError("a record has no topic: name one in PLACE, or --topic COLUMN")
        for topic in sorted(pc.unique(column).to_pylist()):
            yield topic, pc.indices_nonzero(pc.equal(column, topic)).cast(pa.int64())

    def _count(self, topic: str) -> int:
        if topic not in self._counts:
            self._counts[topic] = self.count(topic)
        return self._counts[topic]


def _partitions(count: int) -> str:
    if count <= 2:
        return "1 partition (0)" if count == 1 else "2 partitions (0 and 1)"
    return f"{count} partitions (0 to {count - 1})"
