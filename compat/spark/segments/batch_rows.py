"""Batches as rows: of each what kafka-dump-log shows of it, without its records.

A batch counts to where its last offset is, so that ranges which follow one another have each batch
once. One with a wrong checksum is a row whose `crcOk` is false; where no batch begins, or offsets
are out of order, is damage as it is for a reader of records. `lastSequence` is -1 without an
idempotent producer. Compaction keeps the delete horizon in the place of the first timestamp: of
`baseTimestamp` and `deleteHorizon` one is null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ....wire.batch import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    NO_SEQUENCE,
    OVERHEAD,
    TRANSACTIONAL,
)
from ....wire.legacy.as_batches import is_intact
from .assemble import SEQUENCES, times
from .damaged import Damaged
from .decoder import ROWS, OnDamage, indexed_position, out_of_order
from .listing import Segment, list_segments
from .outcomes import Outcomes
from .outcomes import outcomes as outcomes_of
from .runs import FileSource, Heads, Problem, Run, header_of, last_offsets, runs
from .salvage import damages
from .schema import ABORTED, CODECS, NAMES, OUTCOMES, TIMESTAMP
from .wanted import Wanted

Bits = npt.NDArray[np.bool_]


@dataclass
class _Batches:
    segment: Segment
    heads: Heads
    outcomes: npt.NDArray[np.int8]
    crc_ok: Bits

    def has(self, flag: int) -> Bits:
        found: Bits = self.heads["attributes"] & flag != 0
        return found

    def same(self, value: Any, kind: pa.DataType) -> pa.Array:
        return pa.repeat(pa.scalar(value, kind), len(self.heads))

    def named(self, codes: npt.NDArray[Any], names: tuple[str, ...]) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int8)), pa.array(names))

    def last_sequences(self) -> pa.Array:
        base = self.heads["base_sequence"].astype(np.int64)
        last = (base + self.heads["last_offset_delta"]) % SEQUENCES
        return pa.array(np.where(base < 0, NO_SEQUENCE, last).astype(np.int32))

    def times(self, name: str, hidden: Bits | None = None) -> pa.Array:
        return times(self.heads[name], hidden)

    def time_types(self) -> pa.Array:
        types = self.has(LOG_APPEND_TIME).astype(np.int32)
        types[self.heads["magic"] == 0] = -1
        return pa.array(types)


_COLUMNS: Final[dict[str, tuple[pa.DataType, Callable[[_Batches], Any]]]] = {
    "topic": (pa.string(), lambda b: b.same(b.segment.topic, pa.string())),
    "partition": (pa.int32(), lambda b: b.same(b.segment.partition, pa.int32())),
    "segment": (pa.string(), lambda b: b.same(b.segment.path, pa.string())),
    "position": (pa.int64(), lambda b: pa.array(b.heads["position"])),
    "size": (pa.int32(), lambda b: pa.array(b.heads["batch_length"] + np.int32(OVERHEAD))),
    "baseOffset": (pa.int64(), lambda b: pa.array(b.heads["base_offset"])),
    "lastOffset": (pa.int64(), lambda b: pa.array(last_offsets(b.heads))),
    "count": (pa.int32(), lambda b: pa.array(b.heads["count"])),
    "baseSequence": (pa.int32(), lambda b: pa.array(b.heads["base_sequence"])),
    "lastSequence": (pa.int32(), _Batches.last_sequences),
    "producerId": (pa.int64(), lambda b: pa.array(b.heads["producer_id"])),
    "producerEpoch": (pa.int16(), lambda b: pa.array(b.heads["producer_epoch"])),
    "leaderEpoch": (pa.int32(), lambda b: pa.array(b.heads["leader_epoch"])),
    "codec": (NAMES, lambda b: b.named(b.heads["attributes"] & CODEC_MASK, CODECS)),
    "transactional": (pa.bool_(), lambda b: pa.array(b.has(TRANSACTIONAL))),
    "control": (pa.bool_(), lambda b: pa.array(b.has(CONTROL))),
    "outcome": (NAMES, lambda b: b.named(b.outcomes, OUTCOMES)),
    "timestampType": (pa.int32(), _Batches.time_types),
    "baseTimestamp": (TIMESTAMP, lambda b: b.times("base_timestamp", b.has(DELETE_HORIZON))),
    "maxTimestamp": (TIMESTAMP, lambda b: b.times("max_timestamp")),
    "deleteHorizon": (TIMESTAMP, lambda b: b.times("base_timestamp", ~b.has(DELETE_HORIZON))),
    "magic": (pa.int32(), lambda b: pa.array(b.heads["magic"].astype(np.int32))),
    "crc": (pa.int64(), lambda b: pa.array(b.heads["crc"].astype(np.int64))),
    "crcOk": (pa.bool_(), lambda b: pa.array(b.crc_ok)),
}
BATCH_ROWS: Final = pa.schema([(name, kind) for name, (kind, _) in _COLUMNS.items()])
"""All columns, in their order."""


def read_batches(
    segment: Segment,
    wanted: Wanted | None = None,
    outcomes: Outcomes | None = None,
    *,
    on_damage: OnDamage | None = None,
) -> Iterator[pa.RecordBatch]:
    """The batches of a segment whose last offsets are wanted, in pieces of at most ROWS rows.

    Of `wanted` the offsets, the columns (of BATCH_ROWS) and the isolation count: read_committed
    leaves out what was aborted. Markers are given. `outcomes`: as of read_segment. Offsets that
    are missing are to be seen, and no damage. Raises Damaged, OSError, and KeyError for an
    unknown column.
    """
    wanted = wanted or Wanted(isolation="read_uncommitted")
    names = wanted.columns or tuple(_COLUMNS)
    if outcomes is None and (wanted.is_committed_only or "outcome" in names):
        outcomes = outcomes_of(list_segments(segment.directory))
    reader = _Reader(segment, wanted, outcomes or Outcomes(), "crcOk" in names, on_damage)
    schema = pa.schema([(name, _COLUMNS[name][0]) for name in names])
    for some in reader.read():
        columns = [_COLUMNS[name][1](some) for name in names]
        whole = pa.RecordBatch.from_arrays(columns, schema=schema)
        for start in range(0, whole.num_rows, ROWS):
            yield whole.slice(start, ROWS)


@dataclass
class _Reader:
    segment: Segment
    wanted: Wanted
    outcomes: Outcomes
    checks: bool
    on_damage: OnDamage | None
    next_offset: int = 0

    def read(self) -> Iterator[_Batches]:
        segment, end = self.segment, self.wanted.end_offset
        start = max(self.wanted.start_offset or 0, segment.log_start)
        with FileSource(segment.path, segment.size) as source:
            position = indexed_position(segment, source, start)
            self.next_offset = 0 if position else segment.base_offset
            while 0 <= position < segment.size:
                problem = None
                for run in runs(source, position, heads_only=not self.checks):
                    wrong = out_of_order(run, self.next_offset, segment)
                    heads = run.heads if wrong is None else run.heads[:wrong]
                    if len(heads):
                        self.next_offset = int(last_offsets(heads)[-1]) + 1
                        yield from self._wanted(run, heads, start)
                    if end is not None and self.next_offset >= end:
                        return
                    problem = run.problem
                    if wrong is not None:
                        at = int(run.heads["position"][wrong])
                        problem = Problem(at, "offsets out of order")
                    if problem is not None:
                        break
                if problem is None:
                    return
                position = self._after(problem)

    def _wanted(self, run: Run, heads: Heads, start: int) -> Iterator[_Batches]:
        lasts, outcomes = last_offsets(heads), self.outcomes.of(heads)
        keep = lasts >= start
        if self.wanted.end_offset is not None:
            keep &= lasts < self.wanted.end_offset
        if self.wanted.is_committed_only:
            keep &= outcomes != ABORTED
        crc_ok = np.ones(len(heads), np.bool_)
        for index in np.flatnonzero(keep).tolist() if self.checks else ():
            crc_ok[index] = is_intact(run.buffer, run.ats[index], header_of(heads, index))
        if keep.any():
            yield _Batches(self.segment, heads[keep], outcomes[keep], crc_ok[keep])

    def _after(self, problem: Problem) -> int:
        """Where reading goes on after damage, -1 if nowhere. Raises Damaged."""
        segment, at = self.segment, problem.position
        if self.on_damage is None and problem.is_torn and segment.may_be_torn:
            return -1
        damaged = Damaged(segment.path, at, self.next_offset, problem.what)
        if self.on_damage is None:
            raise damaged
        met = next((each for each in damages(segment) if each.position <= at < each.end), None)
        damaged.next_offset = None if met is None else met.next_offset
        self.on_damage(damaged)
        if met is None:
            return -1
        self.next_offset = met.next_offset
        return met.end
