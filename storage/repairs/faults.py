"""Faults of a batch whose CRC is right, and the batch as it should be.

- Its records are not `count` records, or cannot be read at all. Where they can be read, their
  number is the right count: a client that goes by the count misses some, or fails.
- Its last offset reaches into the next batch, and is not that of its last record.
- A record of a coordinator's topic that no coordinator can read: of a real Kafka none of the
  partition's groups or transactions is loaded then.
- Its leader epoch, which is in no CRC, is not between those of its neighbours.

What cannot be mended has no bytes in its `Fault`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from struct import Struct
from typing import Any, NamedTuple

from ...wire.batch import HEADER_SIZE, MAGIC, BatchHeader, seal
from ...wire.compression import decompress
from ...wire.errors import WireError
from ...wire.primitives import Buffer, read_varint
from ...wire.records import NewRecord, Record, build_batch, read_records
from ...wire.scan import Fault as Scanned
from ...wire.scan import scan
from ...wire.stored.topics import INTERNAL_TOPICS, read_pair

_COUNT_AT = 57
_DELTA_AT = 23
_EPOCH_AT = 12
_INT = Struct(">i")


class Fault(NamedTuple):
    problem: str
    mended: bytes | None = None
    """The batch as it should be; None if its records cannot be read."""


def fault_of(batch: memoryview, header: BatchHeader, topic: str) -> Fault | None:
    """The fault of this batch, whose CRC is right. Old messages are not looked at."""
    if header.magic != MAGIC:
        return None
    payload: Buffer = batch[HEADER_SIZE:]
    if not payload and not header.count:
        return None  # emptied by compaction
    try:
        if header.codec:
            payload = bytes(decompress(header.codec, payload))
        is_right = scan(payload, header.count, header.base_timestamp).fault is Scanned.OK
    except WireError as error:
        return Fault(f"its records cannot be read: {error}")
    if not is_right:
        return _miscounted(batch, header, payload)
    if topic in INTERNAL_TOPICS and not header.is_control:
        return _unreadable(batch, header, topic)
    return None


def _miscounted(batch: memoryview, header: BatchHeader, payload: Buffer) -> Fault:
    try:
        read_records(batch)
        problem = "its records are damaged"
    except WireError as error:
        problem = f"its records cannot be read: {error}"
    mended = bytearray(batch)
    try:
        _INT.pack_into(mended, _COUNT_AT, _count(payload))
        records = read_records(mended)
        deltas = [each.offset - header.base_offset for each in records]
        ascend = all(one < other for one, other in pairwise(deltas))
        if not (records and ascend and deltas[-1] <= header.last_offset_delta):
            return Fault(problem)
    except WireError:
        return Fault(problem)
    seal(mended, 0, len(mended))
    what = f"it has {len(records)} records, its header says {header.count}"
    return Fault(f"{problem} ({what})", bytes(mended))


def _count(payload: Buffer) -> int:
    """How many records there are, by their lengths. Raises WireError."""
    data, pos, found = bytes(payload), 0, 0
    while pos < len(data):
        size, at = read_varint(data, pos)
        if size <= 0:
            raise WireError("a record without bytes")
        pos, found = at + size, found + 1
    return found


def coordinator_problem(topic: str, record: Record) -> str | None:
    """Why no coordinator can read a record of its topic. One of an unknown type is passed over."""
    try:
        if record.key is None:
            return "it has no key"
        read_pair(INTERNAL_TOPICS[topic], record.key, record.value)
    except WireError as error:
        return None if is_unknown_type(topic, record) else str(error)
    return None


def is_unknown_type(topic: str, record: Record) -> bool:
    """Whether its key is of a type that this version does not know: a newer broker's."""
    key = record.key or b""
    return len(key) > 1 and int.from_bytes(key[:2], "big") not in INTERNAL_TOPICS[topic]


def _unreadable(batch: memoryview, header: BatchHeader, topic: str) -> Fault | None:
    records = read_records(batch)
    problems = [coordinator_problem(topic, each) for each in records]
    if not any(problems):
        return None
    kept = [one for one, problem in zip(records, problems, strict=True) if problem is None]
    what, count = next(filter(None, problems)), len(records) - len(kept)
    problem = f"{count} record{'s' * (count > 1)} that no coordinator reads: {what}"
    mended = build_batch(
        [NewRecord(*each[1:]) for each in kept],
        base_offset=header.base_offset,
        offsets=[each.offset - header.base_offset for each in kept],
        last_offset_delta=header.last_offset_delta,
        codec=header.codec,
        leader_epoch=header.leader_epoch,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        transactional=header.is_transactional,
    )
    return Fault(problem, bytes(mended))


def shortened(batch: bytes, header: BatchHeader, before: int) -> bytes | None:
    """The batch with the last offset of its last record, if that is below `before`; else None."""
    try:
        records = read_records(batch)
    except WireError:
        return None
    if not records or records[-1].offset >= before:
        return None
    mended = bytearray(batch)
    _INT.pack_into(mended, _DELTA_AT, records[-1].offset - header.base_offset)
    seal(mended, 0, len(mended))
    return bytes(mended)


def with_epoch(batch: bytes, epoch: int) -> bytes:
    mended = bytearray(batch)
    _INT.pack_into(mended, _EPOCH_AT, epoch)
    return bytes(mended)


def wrong_epoch(epoch: int, right: int) -> str:
    return f"leader epoch {epoch} is out of order: {right} is expected"


class EpochCheck:
    """Finds leader epochs that are not between those of the batches around them.

    Where an epoch is lower than that of the batch before, which has just raised it, only the next
    batch shows which of the two is wrong.
    """

    def __init__(self) -> None:
        self.wrong: list[tuple[Any, int, int]] = []
        """The key of each batch with a wrong epoch, that, and the one it should have."""
        self.starts: list[tuple[int, int]] = []
        """Each epoch and where it begins."""
        self.raised: tuple[Any, int] | None = None
        """The last batch, if it has raised the epoch."""
        self._lower: tuple[Any, int, int] | None = None
        """The batch after that one, with a lower epoch."""

    def batch(self, key: Any, epoch: int, offset: int) -> None:
        if epoch < 0:
            return
        if self._lower is not None:
            self.settle(epoch >= self.starts[-1][0])
        latest = self.starts[-1][0] if self.starts else -1
        if epoch < latest:
            if self.raised is not None:
                self._lower = key, epoch, offset
            else:
                self.wrong.append((key, epoch, latest))
            return
        self.raised = None
        if epoch > latest:
            self.starts.append((epoch, offset))
            self.raised = key, epoch

    def settle(self, is_raised: bool = False) -> None:
        """Decide of the last two batches which one is wrong: the lower one if the epoch is raised
        indeed."""
        if self._lower is None or self.raised is None:
            return
        lower, self._lower = self._lower, None
        raised, self.raised = self.raised, None
        if is_raised:
            self.wrong.append((*lower[:2], raised[1]))
            return
        self.starts.pop()
        before = self.starts[-1][0] if self.starts else lower[1]
        self.wrong.append((*raised, before))
        self.batch(*lower)

    def end(self, known: Mapping[int, int]) -> None:
        """No more batches come. Of the very last ones only the checkpoint shows what is right:
        `known`, the epochs in it and where they begin."""
        self.settle(bool(self.starts) and self.starts[-1][0] in known)
        if self.raised is None or self.raised[1] in known or not known:
            return
        _, offset = self.starts[-1]
        before = [epoch for epoch, first in known.items() if first <= offset]
        if before:
            self.starts.pop()
            self.wrong.append((*self.raised, max(before)))
