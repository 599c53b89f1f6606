"""The filter of compaction for each batch of a log.

Rules, for batches in the order of the log:

- Records are removed if a newer one with their key is known, if they have no key, if they were
  written by an aborted transaction, or if they are tombstones past their retention.
- A batch keeps its base offset, last offset, sequence, producer, leader epoch, codec, kind of
  timestamps, and the largest timestamp of the records kept. If all records are kept, so are its
  bytes.
- A tombstone that is kept gets a delete horizon: now + `delete.retention.ms`, written in place of
  the base timestamp (bit 6 of the attributes says so). The first compaction after that time removes
  the tombstone. The same applies to the marker of a transaction without batches left; until then
  markers are kept, as is the entry of an aborted transaction in the index.
- A batch without records left is kept as a header if it is the last one of a producer, so that its
  sequence is not lost, or if it is the last that may be cleaned, so that the log's end is not lost.
- Messages of magic 0 and 1 have no delete horizon: their tombstones are removed
  from segments last written to `delete.retention.ms` before the last clean segment was. The
  messages kept become a batch of magic 2, or stay in their format (`keeps_old_formats`). An entry
  without messages left stays as it is if it is the last that may be cleaned: these formats cannot
  be without records. Kafka's cleaner gives up such a log.

Source: KIP-98, KIP-534; segments that Kafka 4.3.1 cleaned.

Messages of magic 0 and 1 in a compaction: what the offset map reads of them, what is written.

The map (offset_map.py) reads records of magic 2, so it is given such records with the same keys.
The messages kept of an entry are written with its codec and kind of timestamps:

- By brokers since 4.0 as a batch of magic 2, from the first offset kept to the last, with a delete
  horizon if there are tombstones.
- By brokers up to 3.9, if some are removed, as a wrapper of the entry's format: with the largest
  timestamp of those kept, and the offset of the last one.

Everything here raises WireError for what cannot be read: then the log stays as it is.
Source: KIP-58, KIP-31, KIP-32; segments that Kafka 3.9.2 and 4.3.1 cleaned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heapify, heappop
from itertools import compress as chosen
from typing import NamedTuple, TypeAlias

from ...wire.batch import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    HEADER,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    MAGIC,
    NO_TIMESTAMP,
    OVERHEAD,
    TRANSACTIONAL,
    BatchHeader,
    read_header,
    restamp,
)
from ...wire.compression import compress, decompress
from ...wire.legacy.as_batches import old_header, read_logged
from ...wire.legacy.message_sets import Message, build_set
from ...wire.primitives import Buffer, wrapped
from ...wire.records import NewRecord, build_batch, read_marker
from ..producers import AbortedTransaction
from .offset_map import OffsetMap, rebuilt


def as_records(header: BatchHeader, entry: Buffer) -> Buffer:
    """Records of magic 2 with the keys and offsets of an entry's messages.

    A message's value is an empty one here.
    """
    messages = read_logged(entry)
    batch = build_batch(
        [NewRecord(0, it.key, None if it.value is None else b"") for it in messages],
        offsets=[it.offset - header.base_offset for it in messages],
    )
    return memoryview(batch)[HEADER_SIZE:]


def as_batch(
    header: BatchHeader, entry: Buffer, mask: bytes, horizon_ms: int | None
) -> tuple[BatchHeader, Buffer]:
    """The messages that `mask` selects as a batch, and its header."""
    messages = list(chosen(read_logged(entry), mask))
    first = messages[0].offset
    batch = build_batch(
        [NewRecord(it.timestamp, it.key, it.value) for it in messages],
        base_offset=first,
        offsets=[it.offset - first for it in messages],
        codec=header.codec,
        log_append_time=header.max_timestamp if header.is_log_append_time else None,
        delete_horizon=horizon_ms,
    )
    return read_header(batch), batch


def rewritten_old(header: BatchHeader, entry: Buffer, mask: bytes) -> tuple[BatchHeader, Buffer]:
    """The wrapper with the messages that `mask` selects, and its header."""
    messages = [Message(*it[:4]) for it in chosen(read_logged(entry), mask)]
    append_time = header.max_timestamp if header.is_log_append_time else None
    data = build_set(messages, header.magic, codec=header.codec, log_append_time=append_time)
    return old_header(data), data


_KEPT_ATTRIBUTES = LOG_APPEND_TIME | TRANSACTIONAL | CONTROL

LastBatches: TypeAlias = Mapping[int, tuple[int, int]]
"""Producer id -> last offset of its last data batch (-1 if there is none), and its epoch."""


class Transactions:
    """The transactions of the batches seen so far, and how they ended."""

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._coming = [(entry.first_offset, entry) for entry in aborted]
        heapify(self._coming)
        self._aborted: dict[int, AbortedTransaction] = {}
        self._with_batches: set[int] = set()
        self._committed: set[int] = set()

    def is_aborted(self, header: BatchHeader) -> bool:
        self._begin(header.last_offset)
        if not header.is_transactional:
            return False
        if header.producer_id in self._aborted:
            self._with_batches.add(header.producer_id)
            return True
        self._committed.add(header.producer_id)
        return False

    def end(self, header: BatchHeader, batch: Buffer) -> tuple[bool, AbortedTransaction | None]:
        """Whether a control batch ends a transaction of which no batch was seen; and the entry for
        the transaction index if a batch of an aborted transaction was seen.
        """
        self._begin(header.last_offset)
        if not header.count:
            return True, None
        if header.producer_id < 0:
            return False, None
        producer_id = header.producer_id
        if read_marker(batch).commit:
            is_empty = producer_id not in self._committed
            self._committed.discard(producer_id)
            return is_empty, None
        entry = self._aborted.pop(producer_id, None)
        is_empty = producer_id not in self._with_batches
        self._with_batches.discard(producer_id)
        return is_empty, None if is_empty else entry

    def _begin(self, offset: int) -> None:
        while self._coming and self._coming[0][0] <= offset:
            entry = heappop(self._coming)[1]
            self._aborted.setdefault(entry.producer_id, entry)


class RetainedBatch(NamedTuple):
    """A batch as it will be written."""

    header: BatchHeader
    data: Buffer
    records: int


class BatchFilter:
    """Decides batch by batch. `aborted_kept` collects entries for the transaction index."""

    def __init__(
        self,
        offsets: OffsetMap,
        transactions: Transactions,
        last_batches: LastBatches,
        *,
        end: int,
        now_ms: int,
        delete_retention_ms: int,
        keeps_old_formats: bool = False,
    ) -> None:
        self.aborted_kept: list[AbortedTransaction] = []
        self.keeps_old_tombstones = True
        """Whether the tombstones of magic 0 and 1 that follow are kept."""
        self._offsets = offsets
        self._transactions = transactions
        self._last_batches = last_batches
        self._end = end
        self._now_ms = now_ms
        # As in Kafka there is none where the sum does not fit: then nothing gets one.
        horizon_ms = wrapped(now_ms + delete_retention_ms)
        self._horizon_ms = horizon_ms if horizon_ms >= 0 else None
        self._keeps_old_formats = keeps_old_formats

    def keep(self, header: BatchHeader, batch: memoryview) -> RetainedBatch | None:
        """The rest of a batch, None for nothing. Raises WireError if it is damaged."""
        if header.magic != MAGIC:
            return self._keep_old(header, batch)
        is_over = header.has_delete_horizon and header.base_timestamp <= self._now_ms
        kept = None
        if header.is_control:
            is_empty, aborted = self._transactions.end(header, batch)
            if aborted is not None:
                self.aborted_kept.append(aborted)
            if header.count and not (is_empty and is_over):
                kept = self._marker(header, batch, is_empty)
        elif not self._transactions.is_aborted(header) and header.count:
            kept = self._choose(header, batch, tombstones=not is_over)
        if kept is None and self._is_needed(header):
            return _emptied(header)
        return kept

    def _marker(self, header: BatchHeader, batch: memoryview, is_empty: bool) -> RetainedBatch:
        if not is_empty or header.has_delete_horizon or self._horizon_ms is None:
            return RetainedBatch(header, batch, header.count)
        payload, mask = payload_of(header, batch), b"\1" * header.count
        new = header._replace(base_timestamp=self._horizon_ms)
        return _rewritten(header, new, payload, mask, DELETE_HORIZON)

    def _choose(
        self, header: BatchHeader, batch: memoryview, *, tombstones: bool
    ) -> RetainedBatch | None:
        payload = payload_of(header, batch)
        choice = self._offsets.choose(
            payload, header.count, header.base_offset, tombstones=tombstones
        )
        if not choice.kept:
            return None
        base_ms = header.base_timestamp
        due_ms = self._horizon_ms if choice.tombstone and not header.has_delete_horizon else None
        if choice.kept == header.count and due_ms is None:
            return RetainedBatch(header, batch, header.count)
        latest_ms = header.max_timestamp
        if not header.is_log_append_time:
            latest_ms = max(NO_TIMESTAMP, wrapped(base_ms + choice.max_delta))
        horizon = header.attributes & DELETE_HORIZON
        if due_ms is not None:
            horizon, base_ms = DELETE_HORIZON, due_ms
        elif not horizon:
            first = wrapped(base_ms + choice.first_delta)
            base_ms = latest_ms if header.is_log_append_time else first
        new = header._replace(base_timestamp=base_ms, max_timestamp=latest_ms)
        return _rewritten(header, new, payload, choice.mask, horizon)

    def _keep_old(self, header: BatchHeader, entry: memoryview) -> RetainedBatch | None:
        choice = self._offsets.choose(
            as_records(header, entry),
            header.count,
            header.base_offset,
            tombstones=self.keeps_old_tombstones,
        )
        is_last = header.last_offset + 1 == self._end
        is_whole = choice.kept == header.count and self._keeps_old_formats
        if is_whole or (is_last and not choice.kept):
            return RetainedBatch(header, entry, header.count)
        if not choice.kept:
            return None
        if self._keeps_old_formats:
            return RetainedBatch(*rewritten_old(header, entry, choice.mask), choice.kept)
        horizon_ms = self._horizon_ms if choice.tombstone else None
        return RetainedBatch(*as_batch(header, entry, choice.mask, horizon_ms), choice.kept)

    def _is_needed(self, header: BatchHeader) -> bool:
        """Whether the batch has to be kept for other reasons than its records."""
        if header.last_offset + 1 == self._end:
            return True
        if header.producer_id not in self._last_batches:
            return False
        last_offset, epoch = self._last_batches[header.producer_id]
        if last_offset >= 0:
            return header.last_offset == last_offset
        return header.is_control and header.producer_epoch == epoch


def _emptied(header: BatchHeader) -> RetainedBatch:
    attributes = header.attributes & _KEPT_ATTRIBUTES
    return _built(header._replace(attributes=attributes, base_timestamp=NO_TIMESTAMP, count=0), b"")


def payload_of(header: BatchHeader, batch: memoryview) -> Buffer:
    """The records of a batch as the offset map reads them. Raises WireError."""
    if header.magic != MAGIC:
        return as_records(header, batch)
    records = batch[HEADER_SIZE:]
    return decompress(header.codec, records) if header.codec else records


def _rewritten(
    old: BatchHeader,
    new: BatchHeader,
    payload: Buffer,
    mask: bytes,
    horizon: int,
) -> RetainedBatch:
    """The batch with the records that `mask` selects, and the timestamps of `new`."""
    stamped = old.is_log_append_time
    shift = (new.max_timestamp if stamped else old.base_timestamp) - new.base_timestamp
    records: Buffer = rebuilt(payload, mask, wrapped(shift), stamped)
    if old.codec:
        records = compress(old.codec, records)
    attributes = old.attributes & (_KEPT_ATTRIBUTES | CODEC_MASK) | horizon
    return _built(new._replace(attributes=attributes, count=sum(mask)), records)


def _built(header: BatchHeader, records: Buffer) -> RetainedBatch:
    header = header._replace(batch_length=HEADER_SIZE - OVERHEAD + len(records))
    batch = bytearray(HEADER.pack(*header))
    batch += records
    restamp(batch, 0, header.max_timestamp, header.is_log_append_time)
    return RetainedBatch(header, batch, header.count)
