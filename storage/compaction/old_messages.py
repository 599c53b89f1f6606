"""Messages of magic 0 and 1 in a compaction: what the offset map reads of them, what is written.

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

from itertools import compress as chosen

from ...wire.batch import HEADER_SIZE, BatchHeader, read_header
from ...wire.legacy.as_batches import old_header, read_logged
from ...wire.legacy.message_sets import Message, build_set
from ...wire.primitives import Buffer
from ...wire.records import NewRecord, build_batch


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
