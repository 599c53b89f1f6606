"""A stream: offsets of each partition, in the connector's form, planned as batches are.

What Spark 4.0's Python API does not have, and how it is done here:

- It asks for the latest offset without saying from where. The reader remembers where it is: Spark
  tells it the end of the last batch when a query is restarted, and the range of each batch.
- It does not know read limits: `maxOffsetsPerTrigger` is applied here, shared out over partitions
  as the connector does it. Under `availableNow` it asks for the end only once, so that a limited
  run ends after one batch (which is said on standard error); the next run goes on. From 4.2 on
  Spark passes limits and asks until everything is read: limited_stream.py.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from .layout import Layout, Now
from .offsets import Positions, as_json, from_json, starting
from .options import Offsets, ReadOptions
from .pieces import pieces
from .reader import PieceOfInput, read_piece, wanted_by


class StreamReader(DataSourceStreamReader):  # type: ignore[misc]
    """Reads what is added to a data directory."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._layout = Layout(options)
        self._initial: Positions | None = None
        self._at: Positions | None = None
        self._asked = 0

    def initialOffset(self) -> Offsets:
        """Where the query's first batch starts."""
        return as_json(self._first_start(self._layout.now()))

    def latestOffset(self) -> Offsets:
        now = self._layout.now()
        at = self._first_start(now) if self._at is None else self._at
        self._asked += 1
        return as_json(self._end_of_batch(at, now, self._options.offsets_max))

    def partitions(self, start: Offsets, end: Offsets) -> list[InputPartition]:
        """Plan a batch. A partition without a start is new, and is read from its beginning.

        From 4.2 on Spark asks for the initial offset of a first batch that is replayed before it
        tells its end. Where reading starts at the end that is too far: the batch is empty.
        """
        starts, ends = from_json(start), from_json(end)
        if self._options.start.is_late and starts == self._initial:
            starts = {key: min(at, ends.get(key, at)) for key, at in starts.items()}
        self._at = ends
        if starts == ends:
            return []
        now = self._layout.now()
        for key in ends.keys() - starts.keys():
            if key in now:
                starts[key] = now[key].start
        ends.update({key: starts[key] for key in starts.keys() - ends.keys()})
        found = pieces(now, starts, ends, wanted_by(self._options), self._options)
        return [PieceOfInput(piece) for piece in found]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one task's records."""
        return read_piece(partition, self._options.columns)

    def commit(self, end: Offsets) -> None:
        """Forget what was needed only for offsets before `end`."""
        self._layout.forget_before(from_json(end))

    def _first_start(self, now: Now) -> Positions:
        """Where the first batch starts: also when it is replayed, although Spark does not keep it.

        Where reading starts at the end, the first batch is empty; so if it is replayed, its end,
        which Spark has passed, is where it started.
        """
        if self._initial is None:
            self._initial = starting(now, self._options)
            if self._at is None:
                self._at = self._initial
            else:
                found = self._initial
                self._initial = {
                    key: min(end, found.get(key, end)) for key, end in self._at.items()
                }
        return self._initial

    def _end_of_batch(self, at: Positions, now: Now, most: int | None) -> Positions:
        ends = {key: found.end for key, found in now.items()}
        for key, position in at.items():
            if key in now and ends[key] < position <= now[key].log_end:
                ends[key] = position
        starts = {key: at.get(key, now[key].start) for key in ends}
        left = sum(max(0, ends[key] - starts[key]) for key in ends)
        if most is not None and left > most:
            self._say_that_more_is_left(most, left)
            return _shared_out(starts, ends, left, most)
        return ends

    def _say_that_more_is_left(self, most: int, left: int) -> None:
        """Once a query, because a run with `availableNow` would end here without a word."""
        if self._asked == 1:
            print(
                f"odradek: maxOffsetsPerTrigger takes {most} of {left} offsets. With availableNow, "
                "Spark before 4.2 asks a Python source for one batch only: the next run goes on",
                file=sys.stderr,
                flush=True,
            )


def _shared_out(starts: Positions, ends: Positions, left: int, most: int) -> Positions:
    """`most` offsets of the `left` ones, to each partition by what it has; one at least."""
    shared = {}
    for key, end in ends.items():
        size = end - starts[key]
        share = most * size / left
        step = math.ceil(share) if share < 1 else math.floor(share)
        shared[key] = min(end, starts[key] + step) if size > 0 else end
    return shared
