"""The replay at work: what is due is taken from all streams, and written as batches.

Rules:
- A round takes at most ROUND_BYTES, so that no partition gets more than a few batches: a broker
  recognises the last five of a producer, and a round that was interrupted is sent once more.
- When nothing is due it waits. When it cannot keep up it writes as fast as it can: order stays, and
  the summary tells how late records were.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import pyarrow as pa

from ..stopping import Stop
from ..telling import Telling
from .progress_file import Progress, ProgressFile
from .sending import Sender
from .streams import Position, Stream
from .times import Pace

ROUND_BYTES = 2 << 20
STREAM_ROWS = 10_000
STREAM_BYTES = 900_000
_LONGEST_WAIT_S = 0.5


class Player:
    """From streams to a producer."""

    def __init__(self, streams: Sequence[Stream], sender: Sender, noted: ProgressFile) -> None:
        self.late_ms = 0.0
        """By how much records were late here, at most."""
        self._streams = list(streams)
        self._sender = sender
        self._noted = noted
        self._first = 0

    def go_on(self, progress: Progress) -> None:
        """Send once more what was taken when an earlier run ended."""
        self._sender.sent = progress.sent
        found = [
            stream.take_rows(rows)
            for stream, rows in zip(self._streams, progress.taken, strict=False)
            if rows
        ]
        if found:
            self._sender.send(found)

    def play(self, pace: Pace, stop: Stop, telling: Telling) -> bool:
        """Replay until the end, True, or to stop, False."""
        while not stop:
            dues = [due for each in self._streams if (due := each.due_ms()) is not None]
            if not dues:
                return True
            now = pace.now_ms(min(dues))
            if min(dues) > now:
                stop.wait(min(pace.moment(min(dues)) - time.monotonic(), _LONGEST_WAIT_S))
                continue
            if not math.isinf(now) and min(dues) >= 0:
                self.late_ms = max(self.late_ms, pace.real_ms(now - min(dues)))
            self._round(now)
            telling.tell(f"{self._sender.sent:,} records", self._sender.sent_bytes)
        self._write([each.position for each in self._streams], [])
        return False

    def _round(self, now: float) -> None:
        before = [each.position for each in self._streams]
        taken: dict[int, pa.RecordBatch] = {}
        size = 0
        for step in range(len(self._streams)):
            number = (self._first + step) % len(self._streams)
            if size >= ROUND_BYTES:
                self._first = number
                break
            found = self._streams[number].take(now, STREAM_ROWS, STREAM_BYTES)
            if found is not None:
                taken[number] = found
                size += found.nbytes
        rows = [taken[number].num_rows if number in taken else 0 for number in range(len(before))]
        self._write(before, rows)
        self._sender.send(taken.values())

    def _write(self, positions: Sequence[Position], taken: Sequence[int]) -> None:
        sequences = self._sender.producer.sequences
        self._noted.write(positions, sequences, taken, self._sender.sent)
