"""A stream for Spark 4.2 and later, which passes position and limit, and knows `availableNow`."""

from __future__ import annotations

from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from .layout import Now
from .offsets import Positions, as_json, from_json
from .options import Offsets
from .stream import StreamReader


class LimitedStreamReader(StreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]
    """Reads what is added to a data directory, as much at a time as Spark says."""

    _target: Positions | None = None

    def getDefaultReadLimit(self) -> ReadLimit:
        most = self._options.offsets_max
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def prepareForTriggerAvailableNow(self) -> None:
        self._target = {key: found.end for key, found in self._layout.now().items()}

    def latestOffset(self, start: Offsets, limit: ReadLimit) -> Offsets:  # type: ignore[override]
        """Where the batch that begins at `start` ends."""
        self._asked += 1
        if self._asked == 1 and from_json(start) == self._initial and self._options.start.is_late:
            return start  # so that the first batch is empty, as stream.py says
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        return as_json(self._end_of_batch(from_json(start), self._now(), most))

    def reportLatestOffset(self) -> Offsets:
        """The latest offsets, for the query's progress."""
        return as_json({key: found.end for key, found in self._layout.now().items()})

    def _say_that_more_is_left(self, most: int, left: int) -> None:
        """Nothing: a limit never ends a run."""

    def _now(self) -> Now:
        now, target = self._layout.now(), self._target
        if target is None:
            return now
        return {key: found.up_to(target[key]) for key, found in now.items() if key in target}
