"""The outcomes of a partition's transactions: committed, aborted, or still open.

Only a marker in the log says so, and it may be in a later segment than the records. So the headers
of all batches are walked, which reads neither keys nor values. A `.txnindex` that is lost cannot be
distinct from one that was never needed; but where one names a marker that the log has not any more,
or one that says commit, its transaction was aborted: so a real broker tells its consumers. A
producer has one transaction at a time in a partition: what it wrote since its last marker is of the
next one. Batches that compaction has emptied open nothing. Damaged bytes are skipped here: whoever
reads the records learns of them.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ....storage.checkpoints import HIGH_WATERMARKS, CheckpointError, read_offsets
from ....storage.index import TransactionIndex, check_transaction_index
from ....storage.naming import TRANSACTION_INDEX
from ....wire.batch import CONTROL, HEADER_SIZE, TRANSACTIONAL
from ....wire.errors import WireError
from ....wire.primitives import Buffer
from ....wire.records import read_marker
from .listing import Segment
from .runs import BytesSource, FileSource, Heads, Run, runs
from .salvage import valid_ranges
from .schema import ABORTED, COMMITTED, NONE, OPEN

_NEVER = (1 << 63) - 1


@dataclass(frozen=True)
class Outcomes:
    """The transactions of one partition that were not committed. Small; can be sent to another
    process."""

    aborted: tuple[tuple[int, int, int], ...] = ()
    """Producer id, first offset, offset of the marker: by marker."""
    open: tuple[tuple[int, int], ...] = ()
    """Producer id, first offset: by offset."""
    high_watermark: int | None = None
    """As the broker noted it, which it does every few seconds; None if it is not known."""
    last_stable_offset: int | None = None
    """As a broker answered it; None if only the log itself is known."""

    @property
    def first_open(self) -> int | None:
        """Where the first open transaction begins: a read_committed consumer stops there."""
        known = self.last_stable_offset
        starts = [first for _, first in self.open]
        return min(starts if known is None else [known, *starts], default=None)

    def of(self, heads: Heads) -> npt.NDArray[np.int8]:
        """The outcome of each batch, as an index into schema.OUTCOMES."""
        codes = np.full(len(heads), NONE, np.int8)
        (transactional,) = np.nonzero(heads["attributes"] & TRANSACTIONAL)
        if len(transactional):
            codes[transactional] = COMMITTED
        if len(transactional) and (self.aborted or self.open):
            some = heads[transactional]
            codes[transactional] = [
                self._of(producer, offset)
                for producer, offset in zip(
                    some["producer_id"].tolist(), some["base_offset"].tolist(), strict=True
                )
            ]
        return codes

    def _of(self, producer_id: int, offset: int) -> int:
        firsts, lasts = self._aborted_of.get(producer_id, ((), ()))
        at = bisect_right(firsts, offset) - 1
        if at >= 0 and offset <= lasts[at]:
            return ABORTED
        return OPEN if offset >= self._open_of.get(producer_id, _NEVER) else COMMITTED

    @cached_property
    def _aborted_of(self) -> dict[int, tuple[Sequence[int], Sequence[int]]]:
        found: dict[int, tuple[list[int], list[int]]] = {}
        for producer_id, first, last in sorted(self.aborted, key=lambda each: each[1]):
            firsts, lasts = found.setdefault(producer_id, ([], []))
            firsts.append(first)
            lasts.append(last)
        return dict(found)

    @cached_property
    def _open_of(self) -> dict[int, int]:
        return dict(self.open)


@dataclass
class TransactionWalk:
    aborted: list[tuple[int, int, int]] = field(default_factory=list)
    open: dict[int, int] = field(default_factory=dict)
    indexed: dict[tuple[int, int | None], int] = field(default_factory=dict)
    """The aborted transactions by `.txnindex` files, producer id and first offset -> offset of
    the marker: a marker may be lost."""

    def add(self, run: Run) -> None:
        """Look at the batches of a run, of which at least the headers are in its buffer."""
        heads = run.heads
        wanted = (heads["attributes"] & TRANSACTIONAL != 0) & (heads["count"] > 0)
        for index in np.nonzero(wanted)[0].tolist():
            head: Any = heads[index]
            producer_id, offset = int(head["producer_id"]), int(head["base_offset"])
            if self.indexed:
                self._end_indexed(producer_id, offset)
            if not head["attributes"] & CONTROL:
                self.open.setdefault(producer_id, offset)
                continue
            commit = _is_commit(run.buffer, run.ats[index])
            if commit is None:
                continue
            first = self.open.pop(producer_id, None)
            if not commit or self.indexed.get((producer_id, first)) == offset:
                self.aborted.append((producer_id, offset if first is None else first, offset))

    def _end_indexed(self, producer_id: int, offset: int) -> None:
        """End a producer's transaction whose marker was due before this offset."""
        first = self.open.get(producer_id)
        last = None if first is None else self.indexed.get((producer_id, first))
        if first is not None and last is not None and last < offset:
            del self.open[producer_id]
            self.aborted.append((producer_id, first, last))

    def outcomes(self, high_watermark: int | None = None) -> Outcomes:
        """The outcomes, if the log ends here."""
        for producer_id in list(self.open):
            self._end_indexed(producer_id, _NEVER)
        still = sorted(self.open.items(), key=lambda each: each[1])
        return Outcomes(tuple(self.aborted), tuple(still), high_watermark)


def outcomes(segments: Iterable[Segment]) -> Outcomes:
    """The transactions in all segments of one partition, given in order. Raises OSError."""
    walk = TransactionWalk()
    last = None
    for segment in segments:
        last = segment
        walk.indexed |= _indexed(segment)
        for run in _head_runs(segment):
            walk.add(run)
    return walk.outcomes(None if last is None else noted_high_watermark(last))


def _indexed(segment: Segment) -> dict[tuple[int, int | None], int]:
    """The entries of the segment's `.txnindex`."""
    path = os.path.splitext(segment.path)[0] + TRANSACTION_INDEX
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return {}
    if not check_transaction_index(data, segment.base_offset, segment.next_base or _NEVER):
        return {}
    entries = TransactionIndex(data).entries()
    return {(each.producer_id, each.first_offset): each.last_offset for each in entries}


def outcomes_in(buffer: Buffer) -> Outcomes:
    walk = TransactionWalk()
    for run in runs(BytesSource(buffer)):
        walk.add(run)
    return walk.outcomes()


def fetched_outcomes(
    buffer: Buffer, aborted: Iterable[tuple[int, int]], last_stable_offset: int | None = None
) -> Outcomes:
    """The transactions in the records of a read_committed Fetch response, by what it says of them:
    producer id and first offset of those that were aborted, and the last stable offset."""
    firsts: dict[int, list[int]] = {}
    for producer_id, first in sorted(aborted, key=lambda each: each[1]):
        firsts.setdefault(producer_id, []).append(first)
    markers = {(producer, last) for producer, _, last in outcomes_in(buffer).aborted}
    found = []
    for producer_id, starts in firsts.items():
        lasts = sorted(last for producer, last in markers if producer == producer_id)
        found += [
            (producer_id, first, next((each for each in lasts if each >= first), _NEVER))
            for first in starts
        ]
    found.sort(key=lambda each: each[2])
    return Outcomes(tuple(found), last_stable_offset=last_stable_offset)


def _head_runs(segment: Segment) -> Iterator[Run]:
    """Runs of headers, without what is damaged."""
    with FileSource(segment.path, segment.size) as source:
        for run in runs(source, heads_only=True):
            yield run
            if run.problem is not None and not run.problem.is_torn:
                after = run.problem.position
                break
        else:
            return
        for start, end in valid_ranges(segment):
            if end > after:
                with FileSource(segment.path, end) as part:
                    yield from runs(part, max(start, after), heads_only=True)


def _is_commit(buffer: memoryview, at: int) -> bool | None:
    """Whether the control batch is a commit marker (True) or an abort marker (False)."""
    key = bytes(buffer[at + HEADER_SIZE + 1 : at + HEADER_SIZE + 9])
    if len(key) == 8 and key[:4] == b"\0\0\0\x08":  # attributes, both deltas, 4 bytes of key
        kind = int.from_bytes(key[6:], "big")
        return bool(kind) if kind in (0, 1) else None
    try:
        return read_marker(buffer, at).commit
    except WireError:
        return None


def noted_high_watermark(segment: Segment) -> int | None:
    """The partition's high watermark as its broker noted it last, None if it did not."""
    path = os.path.join(os.path.dirname(os.path.abspath(segment.directory)), HIGH_WATERMARKS)
    try:
        with open(path, "rb") as file:
            offsets = read_offsets(file.read(), HIGH_WATERMARKS)
    except (FileNotFoundError, CheckpointError):
        return None
    return offsets.get((segment.topic, segment.partition))
