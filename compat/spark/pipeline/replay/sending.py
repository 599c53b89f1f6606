"""Records on their way: chosen, masked, at their new times, to their partitions, as batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...segments.encoder import encode
from ...segments.partitioner import partitions_of
from ..broker import Place, Producer
from ..errors import PipelineError
from ..retention import Oldest
from .masks import Choice, Masks
from .times import Shift


def no_partition(topic: str, count: int, index: int) -> str:
    return (
        f"topic {topic} has {count} partitions, and there are records of partition {index}: "
        "--partitions key chooses by key"
    )


@dataclass(frozen=True)
class Changes:
    """Changes of records on their way."""

    choice: Choice
    masks: Masks
    shift: Shift
    topic: str | None
    by_key: bool
    codec: str
    now_ms: int
    """The time of records that have none."""


class Sender:
    def __init__(
        self,
        producer: Producer,
        partitions: Mapping[str, int],
        changes: Changes,
        there: Mapping[Place, int] | None = None,
    ) -> None:
        """`partitions`: how many the topics have; `there`: how many records of this producer
        partitions have already, which are left out."""
        self.sent = self.sent_bytes = 0
        """`sent`: records, with those that were there already."""
        self.oldest = Oldest()
        self.producer = producer
        self._partitions = partitions
        self._changes = changes
        self._there = dict(there or {})

    def send(self, taken: Iterable[pa.RecordBatch]) -> None:
        """Send records, those of all partitions at once."""
        batches: dict[Place, list[bytes]] = {}
        for records in taken:
            for place, some in self._placed(self._changed(records)):
                self.oldest.add(place[0], some)
                self.sent += some.num_rows
                left = self._left(place, some)
                encoded = encode(left, codec=self._changes.codec, now_ms=self._changes.now_ms)
                batches.setdefault(place, []).extend(encoded)
        while heads := {place: bytearray(each.pop(0)) for place, each in batches.items() if each}:
            self.producer.send(heads)
            self.sent_bytes += sum(map(len, heads.values()))

    def _left(self, place: Place, records: pa.RecordBatch) -> pa.RecordBatch:
        """The records that the partition does not have yet."""
        there = min(self._there.get(place, 0), records.num_rows)
        if there:
            self._there[place] -= there
        return records.slice(there)

    def _changed(self, records: pa.RecordBatch) -> pa.RecordBatch:
        changes = self._changes
        return changes.shift.of(changes.masks.of(changes.choice.of(records)))

    def _placed(self, records: pa.RecordBatch) -> list[tuple[Place, pa.RecordBatch]]:
        if not records.num_rows:
            return []
        found = []
        for name in pc.unique(records["topic"]).to_pylist():
            topic = self._changes.topic or name
            mine = records.filter(pc.equal(records["topic"], name))
            given = None if self._changes.by_key else mine["partition"]
            count = self._partitions[topic]
            chosen = partitions_of(mine["key"], given, count, _turns(mine["offset"]))
            for index in np.unique(chosen).tolist():
                if index >= count:
                    raise PipelineError(no_partition(topic, count, index))
                found.append(((topic, index), mine.filter(pa.array(chosen == index))))
        return found


def _turns(offsets: pa.Array) -> int | npt.NDArray[np.int64]:
    """Whose turn it is among records without a key: by offset, so that it is the same for a record
    that is sent again, whatever is sent with it."""
    return 0 if offsets.null_count else offsets.to_numpy(zero_copy_only=False).astype(np.int64)
