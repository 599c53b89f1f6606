"""A produced message set at a broker of 0.11 to 3.9, magic 0 or 1: one batch, magic 2.

    sent                      stored
    single messages           one batch of all of them; uncompressed, unless the topic has a codec
    one wrapper               one batch of its inner messages, with its codec or the topic's

Offsets become 0, 1, 2, ...; there is no producer id, there are no headers. baseTimestamp is the
first message's time, maxTimestamp the largest, deltas may be negative; magic 0 has no times (-1).
A wrapper's own key, offset and time are dropped, unless its log append time bit gives its time to
all inner messages (message_sets.py). On a topic with log append time only maxTimestamp says it.

What is refused, in the order in which a broker checks. For every entry: an invalid size or magic
(2), baseOffset of a batch (87), size (10), CRC (2), codecs 5-7 (-1). Then a wrapper among others
(87). Then, message by message: wrappers in wrappers, other magics (87), inner CRCs (2), null keys
on a compacted topic (87), times (32; also with bit 3 on a topic with log append time, or with time
-1), and what cannot be read or has a time below -1 (-1). Then the batch: 10 or 18. Keys and values
that exceed their message are found first if nothing is compressed, else last.

Left out: the differences of compressors. The records of a batch are those that a broker writes,
compressed by our libraries; so the limits of size are not exact where the topic has a codec. And a
broker decompresses a wrapper step by step: if its value is incomplete or damaged and a message in
it has an invalid size, it may find the size first (2), where this answers -1.
Source: the answers of Kafka 3.9.2; KIP-31, KIP-32, KIP-98.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..batch import HEADER_SIZE, LAST_OFFSET_END, MAGIC, NO_TIMESTAMP, checksum, read_header
from ..compression import LIMIT, Codec
from ..errors import Error, Refused, WireError
from ..primitives import Buffer, wrapped
from ..records import NewRecord, build_batch
from .message_sets import (
    DamagedSet,
    Entry,
    check_not_wrapped,
    crc_is_right,
    entries,
    has_key,
    read_head,
    read_key_and_value,
    unwrap,
)

_PRODUCER_ID_END = 51
_LONGEST_MS = (1 << 63) - 1


class Rules(NamedTuple):
    """The configs of a topic that apply to produced messages. Times in ms."""

    max_message_bytes: int
    """The size limit of an entry or batch."""
    segment_bytes: int
    codec: int | None = None
    """compression.type: None is the producer's choice."""
    level: Callable[[int], int | None] = lambda codec: None
    """Compression level of a codec, None for its default."""
    log_append_time: bool = False
    before_max_ms: int = _LONGEST_MS
    after_max_ms: int = _LONGEST_MS
    """How long before and after `now` a timestamp may be."""
    is_compacted: bool = False
    takes_broker_times: bool = True
    """Messages that claim the broker's time (attribute bit 3) are taken, with their own."""
    magic: int = MAGIC
    """The format in which messages are stored: below 2 by themselves (stored_sets.py)."""
    judges_messages: bool = True
    """Messages in a set are judged; else, as before 0.9, nothing but checksums."""
    takes_several: bool = False
    """Batches and sets among each other are taken, and zstd is not, as by brokers up to 2.0."""
    looks_at_magic_first: bool = True
    """An entry's magic is looked at before it is seen whether it is whole."""
    checks_counts: bool = True
    """A batch says rightly how many records it has; else it is counted."""


def produced_magic(data: Buffer) -> int | None:
    """The magic of the first complete entry, 0, 1 or 2; None if there is none.

    Raises Refused for a size or magic that no entry has (CORRUPT_MESSAGE), and for a batch too
    short for a producer id (UNKNOWN_SERVER_ERROR), wherever in `data` it is. For
    Produce v0-2 a broker looks for producer ids in all partitions' entries before it checks any, so
    this is its answer for every partition of the request.
    """
    first = None
    try:
        for entry in entries(data):
            if entry.magic == MAGIC and entry.size < _PRODUCER_ID_END:
                raise Refused(Error.UNKNOWN_SERVER_ERROR)
            first = entry.magic if first is None else first
    except DamagedSet as damage:
        raise Refused(damage.error) from None
    return first


def first_magic(data: Buffer) -> int | None:
    """The magic of the first complete entry; None if there is none. Raises Refused(CORRUPT_MESSAGE)
    for a size or magic that no entry has in its place."""
    try:
        return next((entry.magic for entry in entries(data)), None)
    except DamagedSet as damage:
        raise Refused(damage.error) from None


def lone_batch(data: Buffer, max_message_bytes: int) -> memoryview:
    """The one batch of a set that begins with magic 2, checked only as an entry.

    In Produce v0-2 brokers accept those too, and check them as in newer versions, except that an
    incomplete entry after the batch may be anything. Raises Refused.
    """
    found = _checked(data, max_message_bytes)
    if len(found) != 1 or found[0].magic != MAGIC:
        raise Refused(Error.INVALID_RECORD)
    return memoryview(data)[: found[0].size]


def up_convert(data: Buffer, rules: Rules, now: int, limit: int = LIMIT) -> bytearray | None:
    """Turn a set of magic 0 or 1 into the batch that is stored, with base offset 0.

    None if no entry in `data` is complete: a broker answers 0 with base offset -1, and stores
    nothing. `limit` is how many bytes a wrapper may decompress to. Raises Refused.
    """
    found = _checked(data, rules.max_message_bytes)
    if not found:
        return None
    codecs = [codec for entry in found if (codec := _codec(data, entry))]
    source = codecs[-1] if codecs else 0
    if found[0].magic == MAGIC or (source and len(found) > 1):
        raise Refused(Error.INVALID_RECORD)
    target = source if rules.codec is None else rules.codec
    try:
        if source:
            records = _wrapped_records(data, found[0], rules, now, limit)
        else:
            records = _loose_records(data, found, rules, now, in_place=not target)
        batch = build_batch(
            records,
            codec=target,
            level=rules.level(target),
            log_append_time=now if rules.log_append_time else None,
        )
    except DamagedSet as damage:
        raise Refused(damage.error) from None
    except WireError:
        raise Refused(Error.UNKNOWN_SERVER_ERROR) from None
    if len(batch) > rules.max_message_bytes:
        raise Refused(Error.MESSAGE_TOO_LARGE)
    if len(batch) > rules.segment_bytes:
        raise Refused(Error.RECORD_LIST_TOO_LARGE)
    return batch


def _checked(data: Buffer, max_message_bytes: int) -> list[Entry]:
    """All complete entries, without reading their messages. Raises Refused."""
    found = []
    try:
        for entry in entries(data):
            if entry.magic == MAGIC and bytes(data[entry.pos : entry.pos + 8]) != bytes(8):
                raise Refused(Error.INVALID_RECORD)
            if entry.magic == MAGIC and entry.size < LAST_OFFSET_END:
                raise Refused(Error.UNKNOWN_SERVER_ERROR)
            if entry.size > max_message_bytes:
                raise Refused(Error.MESSAGE_TOO_LARGE)
            if not _is_valid(data, entry):
                raise Refused(Error.CORRUPT_MESSAGE)
            if _codec(data, entry) > Codec.ZSTD:
                raise Refused(Error.UNKNOWN_SERVER_ERROR)
            found.append(entry)
    except DamagedSet as damage:
        raise Refused(damage.error) from None
    return found


def _is_valid(data: Buffer, entry: Entry) -> bool:
    if entry.magic < MAGIC:
        return crc_is_right(data, entry)
    if entry.size < HEADER_SIZE:
        return False
    return checksum(data, entry.pos, entry.size) == read_header(data, entry.pos).crc


def _codec(data: Buffer, entry: Entry) -> int:
    if entry.magic < MAGIC:
        return read_head(data, entry).codec
    return read_header(data, entry.pos).attributes & 7


def _loose_records(
    data: Buffer, found: list[Entry], rules: Rules, now: int, in_place: bool
) -> list[NewRecord]:
    """The records of single messages. Raises Refused or WireError.

    With `in_place`, when nothing is compressed, a broker adds up sizes first and writes each
    message as soon as it is checked; else it checks all, and then writes.
    """
    if in_place:
        for entry in found:
            if entry.magic < MAGIC:
                read_key_and_value(data, entry)
    for entry in found:
        if entry.magic != found[0].magic:
            raise Refused(Error.INVALID_RECORD)
        head = read_head(data, entry)
        error = _problem(data, entry, head.timestamp, head.is_log_append_time, rules, now)
        if error:
            raise Refused(error)
        if in_place:
            check_writable(head.timestamp)
    return [_record(data, entry, read_head(data, entry).timestamp) for entry in found]


def _wrapped_records(
    data: Buffer, wrapper: Entry, rules: Rules, now: int, limit: int
) -> list[NewRecord]:
    """The records of the messages in a wrapper. Raises Refused or WireError."""
    outer = read_head(data, wrapper)
    text, found = unwrap(data, wrapper, limit)
    times = []
    errors: set[Error | None] = set()
    for entry in found:
        check_not_wrapped(text, entry)
        if entry.magic != wrapper.magic:
            read_key_and_value(
                text, entry
            )  # as a broker does, which names the message in its refusal
            errors.add(Error.INVALID_RECORD)
            continue
        if not crc_is_right(text, entry):
            raise Refused(Error.CORRUPT_MESSAGE)
        head = read_head(text, entry)
        times.append(outer.timestamp if outer.is_log_append_time else head.timestamp)
        errors.add(_problem(text, entry, times[-1], outer.is_log_append_time, rules, now))
    for error in (Error.INVALID_TIMESTAMP, Error.INVALID_RECORD):
        if error in errors:
            raise Refused(error)
    return [_record(text, entry, time) for entry, time in zip(found, times, strict=True)]


def _problem(
    buf: Buffer, entry: Entry, timestamp: int, claims_append: bool, rules: Rules, now: int
) -> Error | None:
    """Why a topic refuses a message, or None; `claims_append`: the producer set bit 3."""
    if rules.is_compacted and not has_key(buf, entry):
        return Error.INVALID_RECORD
    if not rules.log_append_time and timestamp != NO_TIMESTAMP:
        early = wrapped(now - timestamp) > rules.before_max_ms
        late = wrapped(timestamp - now) > rules.after_max_ms
        if early or late:
            return Error.INVALID_TIMESTAMP
        if rules.takes_broker_times:
            return None
    if not claims_append:
        return None
    read_key_and_value(buf, entry)  # as a broker does, which names the message in its refusal
    return Error.INVALID_TIMESTAMP


def _record(buf: Buffer, entry: Entry, timestamp: int) -> NewRecord:
    check_writable(timestamp)
    return NewRecord(timestamp, *read_key_and_value(buf, entry))


def check_writable(timestamp: int) -> None:
    """Raises WireError for a time that a broker's writer of records refuses."""
    if timestamp < NO_TIMESTAMP:
        raise WireError(f"a record cannot have the time {timestamp}")
