"""Segment files, and what a Fetch answered, as record batches of Arrow.

    for batch in read_segment(segment, Wanted(columns=("key", "value"))):
        ...

Rules:

- What a consumer of the wanted isolation would get is given, in the order of offsets: no control
  batches, no records of aborted transactions, nothing from the first open one on, nothing below the
  log start. Wanted says otherwise.
- Every batch that is looked into is checked: its checksum, its offsets, its records. Damage raises
  `Damaged` once everything before it has been given; with `on_damage` that is called instead, and
  reading goes on with the next valid batch. Records of a batch with a wrong checksum, if they can
  be read, are then given too where the column `crcOk` is wanted, and only there.
- An incomplete batch at the end of a segment whose broker runs, or was killed, is no damage unless
  there is `on_damage`: the next start truncates it.
- Memory: a window of the file, what one batch decompresses to (at most `limit`), and one piece.

Source: the protocol guide, "Record Batch"; KIP-98.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ....storage.damage import Damage
from ....storage.naming import OFFSET_INDEX
from ....storage.segment import RELATIVE_OFFSET_MAX
from ....wire.batch import CONTROL, HEADER_SIZE, MAGIC, OVERHEAD
from ....wire.compression import LIMIT
from ....wire.errors import WireError
from ....wire.legacy.as_batches import is_intact
from ....wire.primitives import Buffer
from .assemble import Batches, Place, record_batches
from .columnar import ColumnarDecoder, Scratch
from .contents import Contents, Decoder, ScalarDecoder
from .damaged import Damaged
from .kept import RequiredOffsets
from .listing import Segment, list_segments
from .outcomes import Outcomes, outcomes_in
from .outcomes import outcomes as outcomes_of
from .runs import (
    HEAD,
    BytesSource,
    FileSource,
    Heads,
    Problem,
    Run,
    Source,
    header_of,
    last_offsets,
    runs,
)
from .salvage import damages
from .schema import ABORTED, schema_of
from .wanted import Wanted

OnDamage: TypeAlias = Callable[[Damaged], None]

ROWS = 65_536
_PIECE_BYTES = 8 << 20
"""Bytes of records section after which no further batch is decoded together with those before."""
LIMIT_MAX = 1 << 30
"""The largest `limit`: Arrow counts bytes of a column in 31 bits."""


def read_segment(
    segment: Segment,
    wanted: Wanted | None = None,
    outcomes: Outcomes | None = None,
    *,
    rows: int = ROWS,
    limit: int = LIMIT,
    on_damage: OnDamage | None = None,
    kept: RequiredOffsets | None = None,
) -> Iterator[pa.RecordBatch]:
    """The wanted records of a segment, in batches of at most `rows` rows.

    `outcomes`: of the partition; None walks through all its segments to find them, so who reads
    several gives them. `limit`: bytes to which one batch may decompress. `kept`: which offsets
    there must be; those that are missing are damage. Raises Damaged, OSError, and ValueError for an
    unknown column.
    """
    wanted = wanted or Wanted()
    schema_of(wanted.columns)
    if (segment.size == 0 and kept is None) or _is_outside(segment, wanted):
        return
    if outcomes is None and _needs_outcomes(wanted):
        outcomes = outcomes_of(list_segments(segment.directory))
    place = Place(segment.topic, segment.partition, segment.path, segment.log_start)
    with FileSource(segment.path, segment.size) as source:
        reader = _Reader(
            source, place, wanted, outcomes or Outcomes(), rows, min(limit, LIMIT_MAX), on_damage
        )
        reader.segment = segment
        reader.may_be_torn = segment.may_be_torn
        reader.kept = kept
        start = max(wanted.start_offset or 0, segment.log_start)
        position = indexed_position(segment, source, start)
        reader.next_offset = 0 if position else segment.base_offset
        yield from reader.read(position)


def read_bytes(
    buffer: Buffer,
    topic: str,
    partition: int,
    wanted: Wanted | None = None,
    outcomes: Outcomes | None = None,
    *,
    rows: int = ROWS,
    limit: int = LIMIT,
    on_damage: OnDamage | None = None,
) -> Iterator[pa.RecordBatch]:
    """The wanted records in these batches, such as a Fetch response holds: the last one may be
    incomplete.

    `outcomes`: see fetched_outcomes; None knows of the markers in the buffer alone, so that a
    transaction whose marker is not in it counts as open. `segment` is empty, and `position`
    counts from the buffer's beginning. Raises as read_segment.
    """
    wanted = wanted or Wanted()
    schema_of(wanted.columns)
    if outcomes is None:
        outcomes = outcomes_in(buffer) if _needs_outcomes(wanted) else Outcomes()
    source, place = BytesSource(buffer), Place(topic, partition, "")
    reader = _Reader(source, place, wanted, outcomes, rows, min(limit, LIMIT_MAX), on_damage)
    reader.may_be_torn = True
    yield from reader.read(0)


def batch_heads(segment: Segment, on_damage: OnDamage | None = None) -> Heads:
    """The headers of all batches of a segment, without their records: an array of type runs.HEAD.

    No checksum is checked. Raises Damaged where no batch begins, unless there is `on_damage`, which
    is called with it, and nothing after it is read; OSError.
    """
    found = [np.empty(0, HEAD)]
    with FileSource(segment.path, segment.size) as source:
        for run in runs(source, heads_only=True):
            found.append(run.heads)
            if run.problem is not None and not (run.problem.is_torn and segment.may_be_torn):
                heads = np.concatenate(found)
                offset = int(last_offsets(heads)[-1]) + 1 if len(heads) else segment.base_offset
                problem = Damaged(segment.path, run.problem.position, offset, run.problem.what)
                if on_damage is None:
                    raise problem
                on_damage(problem)
    return np.concatenate(found)


def _is_outside(segment: Segment, wanted: Wanted) -> bool:
    start = max(wanted.start_offset or 0, segment.log_start)
    if segment.next_base is not None and segment.next_base <= start:
        return True
    return wanted.end_offset is not None and wanted.end_offset <= segment.base_offset


def _needs_outcomes(wanted: Wanted) -> bool:
    return wanted.is_committed_only or wanted.columns is None or "outcome" in wanted.columns


def out_of_order(run: Run, next_offset: int, segment: Segment | None = None) -> int | None:
    """The first of a run's batches whose offsets do not follow those before it, None if none is so.
    `next_offset`: no batch begins before it. `segment`: where the batches are."""
    heads = run.heads
    if not len(heads):
        return None
    bases, lasts = heads["base_offset"], last_offsets(heads)
    before = np.concatenate(([next_offset - 1], lasts[:-1]))
    wrong = (bases <= before) | (lasts < bases)
    if segment is not None:
        end = segment.base_offset + RELATIVE_OFFSET_MAX + 1
        wrong |= lasts >= min(end, segment.next_base or end)
    # Offsets are in no checksum. Where one jumps, and the next batch does not follow the jump,
    # the one that has jumped is wrong.
    follower = lasts[-1] + 1 if run.follower is None else run.follower
    after = np.concatenate((bases[1:], [follower]))
    wrong |= (bases > before + 1) & (before < after) & (after <= lasts)
    return int(np.argmax(wrong)) if wrong.any() else None


def indexed_position(segment: Segment, source: Source, offset: int) -> int:
    """Where to begin for `offset`: at a batch that the offset index names, if it is there."""
    path = os.path.splitext(segment.path)[0] + OFFSET_INDEX
    if offset <= segment.base_offset or not os.path.exists(path):
        return 0
    data = np.fromfile(path, ">i4")
    relatives, positions = data[: len(data) // 2 * 2].reshape(-1, 2).T.astype(np.int64)
    falls = np.flatnonzero(np.diff(relatives) <= 0)
    if len(falls):  # the file of a newest segment ends in zeros
        relatives = relatives[: falls[0] + 1]
    at = int(np.searchsorted(relatives, offset - segment.base_offset, "right")) - 1
    if at < 0 or not 0 < positions[at] < source.size:
        return 0
    position = int(positions[at])
    run = next(runs(source, position, heads_only=True))
    last = segment.base_offset + int(relatives[at])
    is_there = len(run.heads) > 0 and int(last_offsets(run.heads)[0]) == last
    return position if is_there else 0  # else the index is damaged


@dataclass
class _Reader:
    source: Source
    place: Place
    wanted: Wanted
    outcomes: Outcomes
    rows: int
    limit: int
    on_damage: OnDamage | None
    segment: Segment | None = None
    may_be_torn: bool = False
    kept: RequiredOffsets | None = None
    next_offset: int = 0
    """No batch begins before it."""
    _begun: int = 0
    """Where reading has begun, or gone on after damage."""
    _is_done: bool = False
    _is_indexed: bool = False
    """Whether nothing is known of what is before the next batch."""
    _problem: Problem | None = None
    """The problem of a batch that was looked into."""
    _damages: list[Damage] | None = None
    _scratch: Scratch = field(default_factory=Scratch)

    def read(self, position: int) -> Iterator[pa.RecordBatch]:
        """The wanted records from the batch at `position` on."""
        self._is_indexed = position > 0
        while 0 <= position < self.source.size:
            self._begun = position
            problem = None
            for run in runs(self.source, position, limit=self.limit):
                heads, wrong = self._ordered(run)
                yield from self._records(run, heads)
                problem = self._problem or (None if self._is_done else wrong or run.problem)
                if self._is_done or problem is not None:
                    break
            if problem is None:
                break
            self._problem = None
            position = yield from self._after_damage(problem)
        if self.kept is not None and self.kept.end is not None and not self._is_done:
            self._miss(self.source.size, self.next_offset, self.kept.end)

    def _miss(self, position: int, first: int, after: int) -> None:
        """Tell of offsets that are not there, if they are wanted. Raises Damaged."""
        wanted, kept = self.wanted, self.kept
        first = max(first, wanted.start_offset or 0, self.place.first_offset)
        after = after if wanted.end_offset is None else min(after, wanted.end_offset)
        found = None if kept is None else kept.missing(first, after)
        if found is None:
            return
        last = found[1] - 1
        what = f"offset {last} is" if found[0] == last else f"offsets {found[0]} to {last} are"
        damaged = Damaged(self.place.path, position, found[0], f"{what} missing", found[1])
        if self.on_damage is None:
            raise damaged
        self.on_damage(damaged)

    def _miss_between(self, heads: Heads, before: npt.NDArray[np.int64]) -> None:
        """Tell of what is missing in front of batches; `before`: the offset before each."""
        if (heads["count"] <= heads["last_offset_delta"]).any():
            self.kept = None  # these were written with offsets left out
        gaps = heads["base_offset"] > before + 1
        if self._is_indexed:
            gaps[:1] = self._is_indexed = False
        for index in np.flatnonzero(gaps).tolist() if self.kept is not None else ():
            position, base = int(heads["position"][index]), int(heads["base_offset"][index])
            self._miss(position, int(before[index]) + 1, base)

    def _ordered(self, run: Run) -> tuple[Heads, Problem | None]:
        """The headers whose offsets ascend, and what is wrong with the one after them."""
        heads, problem = run.heads, None
        first = out_of_order(run, self.next_offset, self.segment)
        if first is not None:
            problem = Problem(int(heads["position"][first]), "offsets out of order")
            heads = heads[:first]
        if len(heads):
            lasts = last_offsets(heads)
            if self.kept is not None:
                self._miss_between(heads, np.concatenate(([self.next_offset - 1], lasts[:-1])))
            self.next_offset = int(lasts[-1]) + 1
        return heads, problem

    def _records(self, run: Run, heads: Heads) -> Iterator[pa.RecordBatch]:
        """The wanted records of a run, up to a batch with a problem."""
        keep, outcomes = self._selected(heads)
        if self.on_damage is not None:
            self._check_the_others(run, heads, keep)
        chosen = np.flatnonzero(keep)
        while len(chosen) and self._problem is None:
            group = _group(heads[chosen], self.rows)
            contents = self._contents(run, heads, chosen[:group])
            good = chosen[: len(contents.counts)]
            if len(good):
                crc_ok = np.ones(len(good), np.bool_)
                some = Batches(heads[good], contents, outcomes[good], crc_ok)
                yield from record_batches(some, self.place, self.wanted, self.rows)
            chosen = chosen[len(good) :]

    def _check_the_others(self, run: Run, heads: Heads, keep: npt.NDArray[np.bool_]) -> None:
        """Look into batches with a wrong checksum even if their records are not wanted, so that
        damage is met in its order."""
        for index in np.flatnonzero(~keep).tolist():
            keep[index] = not is_intact(run.buffer, run.ats[index], header_of(heads, index))

    def _selected(self, heads: Heads) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int8]]:
        """Which batches may hold wanted records, and the outcome of each."""
        wanted, attributes = self.wanted, heads["attributes"]
        outcomes = self.outcomes.of(heads)
        # A batch without records is one that compaction has emptied; if there are bytes in it, its
        # count is wrong.
        empty = (heads["count"] == 0) & (heads["batch_length"] == HEADER_SIZE - OVERHEAD)
        keep: npt.NDArray[np.bool_] = ~empty
        if not wanted.control:
            keep &= attributes & CONTROL == 0
        lasts = last_offsets(heads)
        first = max(wanted.start_offset or 0, self.place.first_offset)
        if first:
            keep &= lasts >= first
        if wanted.start_ms is not None:
            keep &= heads["max_timestamp"] >= wanted.start_ms
        end = wanted.end_offset
        if wanted.is_committed_only:
            keep &= outcomes != ABORTED
            limits = [each for each in (end, self.outcomes.first_open) if each is not None]
            end = min(limits, default=None)
        if end is not None and len(heads):
            keep &= heads["base_offset"] < end
            self._is_done = bool(lasts[-1] + 1 >= end)
        return keep, outcomes

    def _contents(self, run: Run, heads: Heads, chosen: npt.NDArray[np.intp]) -> Contents:
        """The records of the first of the chosen batches: of all, if they are not too many bytes,
        or of those before one with a problem."""
        some = heads[chosen]
        decoder: Decoder
        if some["magic"][0] == MAGIC:
            columns = self.wanted.columns
            with_headers = columns is None or "headers" in columns
            decoder = ColumnarDecoder(run, some, self.limit, with_headers, self._scratch)
        else:
            decoder = ScalarDecoder(run, some, self.limit)
        for index in range(len(some)):
            try:
                decoder.add(index)
            except WireError as error:
                self._problem = Problem(int(some["position"][index]), str(error))
                self.next_offset = int(some["base_offset"][index])
                break
            if decoder.size >= _PIECE_BYTES:
                break
        return decoder.contents()

    # Damage.

    def _after_damage(self, problem: Problem) -> Generator[pa.RecordBatch, None, int]:
        """Tell of the damage, and give what can be read of it; return where reading goes on, -1 if
        nowhere. Raises Damaged."""
        damage = self._damage_before(problem.position)
        if damage is not None:
            position, offset, what = damage.position, damage.first_offset, damage.problem
        else:
            position, offset, what = problem.position, self.next_offset, problem.what
        if self.on_damage is None:
            if problem.is_torn and self.may_be_torn:
                return -1
            raise Damaged(self.place.path, position, offset, what)
        after = None if damage is None else damage.next_offset
        self.on_damage(Damaged(self.place.path, position, offset, what, after))
        run = next(runs(self.source, position, limit=self.limit))
        yield from self._unchecked(run)
        if damage is not None:
            self.next_offset = damage.next_offset
            return damage.end
        if not len(run.heads):
            return -1
        self.next_offset = max(self.next_offset, int(last_offsets(run.heads)[0]) + 1)
        return position + header_of(run.heads, 0).size

    def _damage_before(self, position: int) -> Damage | None:
        """The damage of the segment that has brought reading to an end at `position`."""
        if self.on_damage is None or self.segment is None:
            return None
        if self._damages is None:
            self._damages = damages(self.segment)
        met = (each for each in self._damages if self._begun <= each.position <= position)
        return next(met, None)

    def _unchecked(self, run: Run) -> Iterator[pa.RecordBatch]:
        """The records of a run's first batch if its checksum is wrong, but they can be read."""
        names = self.wanted.columns
        if not len(run.heads) or not (names is None or "crcOk" in names):
            return
        header = header_of(run.heads, 0)
        if is_intact(run.buffer, 0, header) or (header.is_control and not self.wanted.control):
            return
        try:
            scalar = ScalarDecoder(run, run.heads[:1], self.limit, is_checked=False)
            scalar.add(0)
        except WireError:
            return
        head = run.heads[:1]
        some = Batches(head, scalar.contents(), self.outcomes.of(head), np.zeros(1, np.bool_))
        yield from record_batches(some, self.place, self.wanted, self.rows)


def _group(heads: Heads, rows: int) -> int:
    """How many of these batches are decoded together: of one kind, and at most so many records."""
    kinds = heads["magic"] == MAGIC
    same = len(heads) if (kinds == kinds[0]).all() else int(np.argmax(kinds != kinds[0]))
    within = int(np.searchsorted(np.cumsum(heads["count"], dtype=np.int64), rows, "right"))
    return max(1, min(same, within))
