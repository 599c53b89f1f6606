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
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...segments.encoder import encode
from ...segments.partitioner import partitions_of
from ..broker import Place, Producer
from ..errors import PipelineError
from ..retention import Oldest
from ..stopping import Stop
from ..telling import Telling
from .masks import Choice, Masks
from .progress_file import Progress, ProgressFile
from .streams import Stream
from .times import Pace, Shift

ROUND_BYTES = 2 << 20
STREAM_ROWS = 10_000
STREAM_BYTES = 900_000
_LONGEST_WAIT_S = 0.5


def no_partition(topic: str, count: int, index: int) -> str:
    """What is said of records of a partition that the target does not have."""
    return (
        f"topic {topic} has {count} partitions, and there are records of partition {index}: "
        "--partitions key chooses by key"
    )


@dataclass(frozen=True)
class Changes:
    """What happens to records on their way."""

    choice: Choice
    masks: Masks
    shift: Shift
    topic: str | None
    by_key: bool
    codec: str
    now_ms: int
    """The time of records that have none."""


class Player:
    """From streams to a producer."""

    def __init__(
        self,
        streams: Sequence[Stream],
        producer: Producer,
        partitions: dict[str, int],
        changes: Changes,
        noted: ProgressFile,
    ) -> None:
        self.sent = self.sent_bytes = 0
        self.late_ms = 0.0
        self.oldest = Oldest()
        self._streams = list(streams)
        self._producer = producer
        self._partitions = partitions
        self._changes = changes
        self._noted = noted
        self._first = 0

    def go_on(self, progress: Progress) -> None:
        """Send once more what was taken when an earlier run ended."""
        self.sent = progress.sent
        found = [
            stream.take_rows(rows)
            for stream, rows in zip(self._streams, progress.taken, strict=False)
            if rows
        ]
        if found:
            self._send(found)

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
                self.late_ms = max(self.late_ms, now - min(dues))
            self._round(now)
            telling.tell(f"{self.sent:,} records", self.sent_bytes)
        self._note([])
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
        self._noted.write(before, self._producer.sequences, rows, self.sent)
        self._send(list(taken.values()))

    def _note(self, taken: list[int]) -> None:
        positions = [each.position for each in self._streams]
        self._noted.write(positions, self._producer.sequences, taken, self.sent)

    def _send(self, taken: list[pa.RecordBatch]) -> None:
        batches: dict[Place, list[bytes]] = {}
        for records in taken:
            for place, some in self._placed(self._changed(records)):
                self.oldest.add(place[0], some)
                encoded = encode(some, codec=self._changes.codec, now_ms=self._changes.now_ms)
                batches.setdefault(place, []).extend(encoded)
                self.sent += some.num_rows
        while batches:
            heads = {place: bytearray(each.pop(0)) for place, each in batches.items()}
            self._producer.send(heads)
            self.sent_bytes += sum(map(len, heads.values()))
            batches = {place: each for place, each in batches.items() if each}

    def _changed(self, records: pa.RecordBatch) -> pa.RecordBatch:
        changes = self._changes
        return changes.shift.of(changes.masks.of(changes.choice.of(records)))

    def _placed(self, records: pa.RecordBatch) -> list[tuple[Place, pa.RecordBatch]]:
        """The records by the partition that they go to."""
        if not records.num_rows:
            return []
        found = []
        for name in pc.unique(records["topic"]).to_pylist():
            topic = self._changes.topic or name
            mine = records.filter(pc.equal(records["topic"], name))
            given = None if self._changes.by_key else mine["partition"]
            count = self._partitions[topic]
            chosen = partitions_of(mine["key"], given, count)
            for index in np.unique(chosen).tolist():
                if index >= count:
                    raise PipelineError(no_partition(topic, count, index))
                found.append(((topic, index), mine.filter(pa.array(chosen == index))))
        return found
