"""When records are due on this machine's clock, and which times they get."""

from __future__ import annotations

import math
import time

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


class Pace:
    """The source's time, as it runs here: `speed` times as fast, from the moment of the first
    record that is due. With an infinite speed everything is due."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._first_ms: int | None = None
        self._began = 0.0

    def now_ms(self, first_due_ms: int) -> float:
        """The source's present; the first record that is asked about is due now."""
        if math.isinf(self._speed):
            return math.inf
        if self._first_ms is None:
            if first_due_ms < 0:
                return first_due_ms  # records without a time: what has one comes after them
            self._first_ms, self._began = first_due_ms, time.monotonic()
        return self._first_ms + (time.monotonic() - self._began) * 1000 * self._speed

    def real_ms(self, of_source: float) -> float:
        """How long a span of the source's time takes here."""
        return of_source / self._speed

    def moment(self, due_ms: int) -> float:
        """When that is, in seconds of `time.monotonic`."""
        if self._first_ms is None:
            return time.monotonic()
        return self._began + (due_ms - self._first_ms) / 1000 / self._speed


class Shift:
    """New times of records: later by `by_ms`. With `first_ms`, intervals since that time are
    shortened by the speed, so that a record's time is about that at which it is sent."""

    def __init__(self, by_ms: int, first_ms: int | None = None, speed: float = 1.0) -> None:
        self._by = by_ms
        self._first = first_ms
        self._speed = 1.0 if math.isinf(speed) else speed

    def of(self, records: pa.RecordBatch) -> pa.RecordBatch:
        """The records with their new times, in milliseconds; those without a time get none."""
        column = records["timestamp"].cast(pa.timestamp("ms", "UTC"), safe=False).cast(pa.int64())
        has_time = pc.fill_null(pc.greater_equal(column, 0), False)
        times = pc.fill_null(column, 0).to_numpy(zero_copy_only=False).astype(np.int64)
        if self._first is not None:
            times = self._first + ((times - self._first) / self._speed).astype(np.int64)
        shifted = pc.if_else(has_time, pa.array(times + self._by), column)
        index = records.schema.get_field_index("timestamp")
        return records.set_column(index, "timestamp", shifted)
