"""From batch headers and contents to record batches of Arrow: filters, and the wanted columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ....wire.batch import CODEC_MASK, CONTROL, LOG_APPEND_TIME, NO_SEQUENCE, TRANSACTIONAL
from .contents import Contents, Rows
from .runs import Heads
from .schema import CODECS, OUTCOMES, TIMESTAMP, schema_of
from .wanted import Wanted

_US = 1000
_MS_MAX = ((1 << 63) - 1) // _US
SEQUENCES = 1 << 31


@dataclass(frozen=True)
class Place:
    """Where records come from: what is the same for all of them."""

    topic: str
    partition: int
    path: str
    first_offset: int = 0
    """Records below it are deleted."""


@dataclass
class Batches:
    """Some batches and their records, and what the columns of batches say of them."""

    heads: Heads
    contents: Contents
    outcomes: npt.NDArray[np.int8]
    crc_ok: npt.NDArray[np.bool_]


def record_batches(
    batches: Batches, place: Place, wanted: Wanted, rows_max: int
) -> Iterator[pa.RecordBatch]:
    """The wanted rows and columns, in pieces of one to `rows_max` rows."""
    rows = _wanted_rows(batches.contents, place, wanted)
    if (len(batches.contents.offsets) if rows is None else len(rows)) == 0:
        return
    whole = _Columns(batches, place, rows).batch(wanted.columns)
    for start in range(0, whole.num_rows, rows_max):
        yield whole.slice(start, rows_max)


def _wanted_rows(contents: Contents, place: Place, wanted: Wanted) -> Rows | None:
    offsets, times = contents.offsets, contents.timestamps
    tests = [
        offsets < place.first_offset if place.first_offset > 0 else None,
        None if wanted.start_offset is None else offsets < wanted.start_offset,
        None if wanted.end_offset is None else offsets >= wanted.end_offset,
        None if wanted.start_ms is None else times < wanted.start_ms,
        None if wanted.end_ms is None else times >= wanted.end_ms,
    ]
    unwanted = np.zeros(len(offsets), np.bool_)
    for test in tests:
        if test is not None:
            unwanted |= test
    return np.flatnonzero(~unwanted) if unwanted.any() else None


def times(
    milliseconds: npt.NDArray[np.int64], hidden: npt.NDArray[np.bool_] | None = None
) -> pa.Array:
    """As the schema has them; null where they are hidden."""
    micros = np.clip(milliseconds, -_MS_MAX, _MS_MAX) * _US
    return pa.array(micros, mask=hidden).view(TIMESTAMP)


class _Columns:
    """One method a column, by the column's name; `rows` of all records, None for every one."""

    def __init__(self, batches: Batches, place: Place, rows: Rows | None) -> None:
        self._batches = batches
        self._heads = batches.heads
        self._contents = batches.contents
        self._place = place
        self._rows = rows
        which = np.repeat(np.arange(len(batches.heads)), batches.contents.counts)
        self._which = which if rows is None else which[rows]
        """Of each row, the index of its batch."""

    def batch(self, names: tuple[str, ...] | None) -> pa.RecordBatch:
        schema = schema_of(names)
        columns = [self._MAKERS[name](self) for name in schema.names]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _key(self) -> pa.Array:
        return self._contents.keys(self._rows)

    def _value(self) -> pa.Array:
        return self._contents.values(self._rows)

    def _headers(self) -> pa.Array:
        return self._contents.headers(self._rows)

    def _topic(self) -> pa.Array:
        return pa.repeat(pa.scalar(self._place.topic, pa.string()), len(self._which))

    def _segment(self) -> pa.Array:
        return pa.repeat(pa.scalar(self._place.path, pa.string()), len(self._which))

    def _partition(self) -> pa.Array:
        return pa.repeat(pa.scalar(self._place.partition, pa.int32()), len(self._which))

    def _offset(self) -> pa.Array:
        return pa.array(self._offsets)

    def _timestamp(self) -> pa.Array:
        found = self._contents.timestamps
        return times(found if self._rows is None else found[self._rows])

    def _timestamp_type(self) -> pa.Array:
        types = (self._heads["attributes"] & LOG_APPEND_TIME != 0).astype(np.int32)
        types[self._heads["magic"] == 0] = -1
        return self._of_batches(types)

    def _sequence(self) -> pa.Array:
        base = self._heads["base_sequence"].astype(np.int64)
        delta = self._offsets - self._heads["base_offset"][self._which]
        each = base[self._which]
        sequences = np.where(each < 0, NO_SEQUENCE, (each + delta) % SEQUENCES)
        return pa.array(sequences.astype(np.int32))

    def _codec(self) -> pa.Array:
        return self._named(self._heads["attributes"] & CODEC_MASK, CODECS)

    def _outcome(self) -> pa.Array:
        return self._named(self._batches.outcomes, OUTCOMES)

    def _transactional(self) -> pa.Array:
        return self._of_batches(self._heads["attributes"] & TRANSACTIONAL != 0)

    def _control(self) -> pa.Array:
        return self._of_batches(self._heads["attributes"] & CONTROL != 0)

    def _crc_ok(self) -> pa.Array:
        return self._of_batches(self._batches.crc_ok)

    def _position(self) -> pa.Array:
        return self._of_batches(self._heads["position"])

    def _producer_id(self) -> pa.Array:
        return self._of_batches(self._heads["producer_id"])

    def _producer_epoch(self) -> pa.Array:
        return self._of_batches(self._heads["producer_epoch"])

    def _leader_epoch(self) -> pa.Array:
        return self._of_batches(self._heads["leader_epoch"])

    @property
    def _offsets(self) -> npt.NDArray[np.int64]:
        offsets = self._contents.offsets
        return offsets if self._rows is None else offsets[self._rows]

    def _of_batches(self, values: npt.NDArray[Any]) -> pa.Array:
        return pa.array(values[self._which])

    def _named(self, codes: npt.NDArray[Any], names: tuple[str, ...]) -> pa.Array:
        indices = pa.array(codes.astype(np.int8)[self._which])
        return pa.DictionaryArray.from_arrays(indices, pa.array(names))

    _MAKERS: dict[str, Callable[[_Columns], pa.Array]] = {
        "key": _key,
        "value": _value,
        "topic": _topic,
        "partition": _partition,
        "offset": _offset,
        "timestamp": _timestamp,
        "timestampType": _timestamp_type,
        "headers": _headers,
        "segment": _segment,
        "position": _position,
        "producerId": _producer_id,
        "producerEpoch": _producer_epoch,
        "sequence": _sequence,
        "leaderEpoch": _leader_epoch,
        "codec": _codec,
        "transactional": _transactional,
        "control": _control,
        "outcome": _outcome,
        "crcOk": _crc_ok,
    }
