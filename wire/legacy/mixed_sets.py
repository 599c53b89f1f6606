"""Produced records at a broker of 0.11 to 2.4, which judges them one by one.

Up to 2.0 they are entries of magic 0, 1 and 2, in any order:

    sent                                    stored
    uncompressed batches of magic 2         each batch as it is
    one compressed batch of the topic's     as it is
    codec, offsets 0, 1, 2, ...
    anything else                           one batch of all records, of the first one's producer

Nothing whole is nothing stored. What such a broker refuses, in the order in which it finds it:

- of each entry: a size or magic that there is not, base offset, size (MESSAGE_TOO_LARGE), CRC,
  codec;
- of each entry again: counts (not before 1.0), a producer without a sequence, a control batch; and
  then of each of its records: magic, CRC, key and time;
- of what is stored: what no batch can be written with, and the sizes.

2.4 takes no batch or wrapper beside another entry, nor entries of two magics, and nothing in which
offsets do not count from 0 where it has or gets a codec; it says which record it refuses.

Damage is INVALID_RECORD, before 2.4 CORRUPT_MESSAGE, as a wrong CRC and size are; where the broker
stumbles it is UNKNOWN_SERVER_ERROR. Records of an uncompressed batch are judged as they are read,
those of a compressed one when all of them are read.

Left out: a compressed stream is damaged as a whole, where a broker may read some records of it
first. Before 1.0 a batch that does not count its records rightly is stored with offsets of the
past; here it is refused.
Source: Kafka's LogValidator and Log of 0.11.0.3, 1.1.1, 2.0.1 and 2.4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..batch import (
    HEADER_SIZE,
    MAGIC,
    NO_TIMESTAMP,
    BatchHeader,
    checksum,
    read_header,
    restamp,
)
from ..compression import Codec, decompress
from ..errors import Error, Refused, WireError
from ..primitives import Buffer, read_varint, read_varlong, wrapped
from ..records import NewRecord, build_batch, read_record
from .message_sets import (
    DamagedSet,
    Entry,
    Head,
    check_not_wrapped,
    crc_is_right,
    entries,
    has_key,
    read_head,
    read_key_and_value,
    unwrap,
)
from .up_conversion import Rules, check_writable

_LAST_OFFSET_END = 27
_VARINT_BYTES = 5
_NO_PRODUCER = -1


class RecordRefused(Refused):
    """One record is refused: its index in its batch."""

    def __init__(self, error: Error, message: str, index: int) -> None:
        super().__init__(error, message)
        self.index = index


class _Record(NamedTuple):
    """A record that was read: where its parts are, or what they are."""

    offset: int
    timestamp: int
    has_magic_of_entry: bool
    has_right_crc: bool
    content: tuple[Buffer, Entry] | NewRecord

    @property
    def has_key(self) -> bool:
        """Raises WireError."""
        if isinstance(self.content, NewRecord):
            return self.content.key is not None
        return has_key(*self.content)

    def whole(self) -> NewRecord:
        """With key and value. Raises WireError if they are damaged."""
        if isinstance(self.content, NewRecord):
            return self.content
        return NewRecord(self.timestamp, *read_key_and_value(*self.content))


class _Sent(NamedTuple):
    """An entry that was looked at: its header, if it is a batch of magic 2, else its head."""

    entry: Entry
    header: BatchHeader | None
    head: Head | None
    codec: int

    @property
    def is_log_append_time(self) -> bool:
        if self.header is not None:
            return self.header.is_log_append_time
        return self.head is not None and self.head.is_log_append_time


def stored_batches(
    data: Buffer, rules: Rules, now: int, limit: int, partition: str = ""
) -> list[bytearray]:
    """The batches that are stored, each with base offset 0; none where nothing is whole. `limit` is
    how many bytes an entry may decompress to, `partition` its name, for messages. Raises Refused,
    of which one is RecordRefused."""
    try:
        return _stored(data, rules, now, limit, partition)
    except DamagedSet as damage:
        error = damage.error
        if rules.takes_several and error is Error.INVALID_RECORD:
            error = Error.CORRUPT_MESSAGE
        raise Refused(error) from None
    except WireError:
        raise Refused(Error.UNKNOWN_SERVER_ERROR) from None
    except RecordRefused as refused:
        if rules.takes_several and refused.error is Error.INVALID_RECORD:
            raise Refused(Error.CORRUPT_MESSAGE, refused.message) from None
        raise


def whole_batch(data: Buffer, rules: Rules) -> memoryview | None:
    """The batch of magic 2 that is all there is, of a codec that is known; else None."""
    try:
        found = list(entries(data))
    except DamagedSet:
        return None
    if len(found) != 1 or found[0].magic != MAGIC or found[0].size < HEADER_SIZE:
        return None
    is_known = read_header(data).attributes & 7 <= _last_codec(rules)
    return memoryview(data)[: found[0].size] if is_known else None


def _stored(data: Buffer, rules: Rules, now: int, limit: int, partition: str) -> list[bytearray]:
    sent = [_looked_at(data, entry, rules) for entry in _entries(data, rules)]
    if not sent:
        return []
    source = next((each.codec for each in reversed(sent) if each.codec), 0)
    target = source if rules.codec is None else rules.codec
    is_plain = not source and not target
    if is_plain and all(each.header is not None for each in sent):
        _check_alone(sent, source, rules)
        kept = [_in_place(data, each, rules, now, partition) for each in sent]
        _check_segment(kept, rules)
        return kept
    if is_plain:  # sizes are added up first, which reads everything
        for each in sent:
            for record in _records_of(data, each, rules, limit):
                record.whole()
    _check_alone(sent, source, rules)
    found: list[_Record] = []
    for each in sent:
        if each.entry.magic != sent[0].entry.magic and not rules.takes_several:
            raise DamagedSet(Error.INVALID_RECORD, "entries of two magics")
        _check_entry(each, rules)
        for index, record in enumerate(_records_of(data, each, rules, limit)):
            _check_record(record, index, each, rules, now, partition)
            if is_plain:
                check_writable(record.timestamp)
            elif each.entry.magic and not rules.takes_several and record.offset != len(found):
                raise RecordRefused(
                    Error.INVALID_RECORD,
                    f"Inner record {_shown(record)} inside the compressed record batch does not"
                    f" have incremental offsets, expected offset is {len(found)} in topic"
                    f" partition {partition}.",
                    index,
                )
            found.append(record)
    if _keeps(sent, found, source, target):
        return [_kept(data, sent[0], found, rules, now)]
    return [_rebuilt(sent[0].header, found, target, rules, now)]


def _entries(data: Buffer, rules: Rules) -> Iterator[Entry]:
    """Every whole entry. Raises DamagedSet."""
    for entry in entries(data, any_magic=not rules.looks_at_magic_first):
        if not 0 <= entry.magic <= MAGIC:
            raise DamagedSet(Error.CORRUPT_MESSAGE, f"a magic {entry.magic}")
        yield entry


def _check_alone(sent: list[_Sent], source: int, rules: Rules) -> None:
    """Whether a batch, or what is compressed, stands beside something else, where that may not be.
    Raises DamagedSet."""
    is_lone = source or sent[0].header is not None
    if is_lone and len(sent) > 1 and not rules.takes_several:
        raise DamagedSet(Error.INVALID_RECORD, "more than one batch")


def _looked_at(data: Buffer, entry: Entry, rules: Rules) -> _Sent:
    """Raises Refused, WireError."""
    if entry.magic == MAGIC:
        if bytes(data[entry.pos : entry.pos + 8]) != bytes(8):
            raise DamagedSet(Error.INVALID_RECORD, "a base offset")
        if entry.size < _LAST_OFFSET_END:
            raise WireError("a batch without a last offset")
    if entry.size > rules.max_message_bytes:
        raise Refused(Error.MESSAGE_TOO_LARGE)
    header = head = None
    if entry.magic < MAGIC:
        head = read_head(data, entry)
        is_valid, codec = crc_is_right(data, entry), head.codec
    else:
        is_valid, codec = entry.size >= HEADER_SIZE, 0
        if is_valid:
            header = read_header(data, entry.pos)
            is_valid = checksum(data, entry.pos, entry.size) == header.crc
            codec = header.attributes & 7
    if not is_valid:
        raise DamagedSet(Error.CORRUPT_MESSAGE, "a checksum")
    if codec > _last_codec(rules):
        raise WireError(f"there is no codec {codec}")
    return _Sent(entry, header, head, codec)


def _last_codec(rules: Rules) -> Codec:
    return Codec.LZ4 if rules.takes_several else Codec.ZSTD


def _check_entry(sent: _Sent, rules: Rules) -> None:
    header = sent.header
    if header is None:
        return
    wrong = header.count == 0
    if rules.checks_counts:
        delta = header.last_offset_delta
        wrong = delta < 0 or header.count <= 0 or delta + 1 != header.count
    if wrong or header.is_control or (header.producer_id >= 0 > header.base_sequence):
        raise DamagedSet(Error.INVALID_RECORD, "a batch that no producer may write")


def _records_of(data: Buffer, sent: _Sent, rules: Rules, limit: int) -> Iterator[_Record]:
    """Every record of an entry. Raises WireError."""
    entry = sent.entry
    if sent.header is not None:
        yield from _of_batch(data, entry, sent.header, limit)
    elif not sent.codec:
        assert sent.head is not None
        yield _Record(sent.head.offset, sent.head.timestamp, True, True, (data, entry))
    else:
        yield from _of_wrapper(data, entry, rules, limit)


def _of_wrapper(data: Buffer, wrapper: Entry, rules: Rules, limit: int) -> Iterator[_Record]:
    outer = read_head(data, wrapper)
    text, found = unwrap(data, wrapper, limit)
    last = read_head(text, found[-1]).offset
    moved = outer.offset - last if wrapper.magic and outer.offset else 0
    for entry in found:
        head = read_head(text, entry)
        if head.codec > _last_codec(rules):
            raise WireError(f"there is no codec {head.codec}")
        check_not_wrapped(text, entry)
        is_stamped = entry.magic == 1 and outer.is_log_append_time
        yield _Record(
            head.offset + moved,
            outer.timestamp if is_stamped else head.timestamp,
            entry.magic == wrapper.magic,
            crc_is_right(text, entry),
            (text, entry),
        )


def _of_batch(data: Buffer, entry: Entry, header: BatchHeader, limit: int) -> Iterator[_Record]:
    payload = bytes(memoryview(data)[entry.pos + HEADER_SIZE : entry.pos + entry.size])
    if header.count == 0:
        return
    if header.count < 0:
        raise DamagedSet(Error.INVALID_RECORD, "a count")
    if header.codec:
        text = bytes(decompress(header.codec, payload, limit))
        yield from list(_read(text, header))
    else:
        yield from _read(payload, header)


def _read(payload: bytes, header: BatchHeader) -> Iterator[_Record]:
    """The records, one after the other. Raises WireError as a broker stumbles, DamagedSet where it
    names the damage."""
    pos, is_plain = 0, not header.codec
    for number in range(1, header.count + 1):
        size, start = _length(payload, pos)
        is_last = number == header.count
        if size > len(payload) - start or (size < 0 and not is_plain):
            if (is_last and start < len(payload) and is_plain) or (not is_plain and size >= 0):
                raise DamagedSet(Error.INVALID_RECORD, "bytes after the last record")
            raise WireError(f"a record of {size} bytes at byte {pos}")
        try:
            record, pos = read_record(payload, pos, header)
        except (WireError, IndexError):
            if _has_long_header(payload, start, len(payload) if is_plain else start + size):
                raise WireError(f"a record at byte {start}") from None
            raise DamagedSet(Error.INVALID_RECORD, f"a record at byte {start}") from None
        if is_last and pos != len(payload):
            raise DamagedSet(Error.INVALID_RECORD, "bytes after the last record")
        time = header.max_timestamp if header.is_log_append_time else record.timestamp
        new = NewRecord(time, record.key, record.value, record.headers)
        yield _Record(record.offset, time, True, True, new)


def _has_long_header(payload: bytes, pos: int, end: int) -> bool:
    """Whether what is wrong with the record at `pos` is found first at the name of a header that is
    longer than what is left: a broker stumbles over that, and over nothing else in a record."""
    try:
        _, pos = read_varlong(payload, pos + 1)
        _, pos = read_varint(payload, pos)
        for _ in ("key", "value"):
            size, pos = read_varint(payload, pos)
            pos += max(size, 0)
        count, pos = read_varint(payload, pos)
        for _ in range(count):
            size, pos = read_varint(payload, pos)
            if size < 0 or pos > end:
                return False
            if pos + size > end:
                return True
            value, pos = read_varint(payload, pos + size)
            pos += max(value, 0)
    except (WireError, IndexError):
        return False
    return False


def _length(payload: bytes, pos: int) -> tuple[int, int]:
    """The size of a record, and where it begins. Raises WireError for a varint that is too long,
    and DamagedSet at the end."""
    try:
        return read_varint(payload, pos)
    except WireError:
        if len(payload) - pos < _VARINT_BYTES:
            raise DamagedSet(Error.INVALID_RECORD, "too few records") from None
        raise


def _check_record(
    record: _Record, index: int, sent: _Sent, rules: Rules, now: int, partition: str
) -> None:
    """Raises Refused, WireError."""
    if not record.has_magic_of_entry:
        raise RecordRefused(Error.INVALID_RECORD, "Another magic than that of its wrapper.", index)
    if not record.has_right_crc:
        raise DamagedSet(Error.CORRUPT_MESSAGE, "a record in a wrapper")
    if rules.is_compacted and not record.has_key:
        where = f"in topic partition {partition}."
        message = f"Compacted topic cannot accept message without key {where}"
        raise RecordRefused(Error.INVALID_RECORD, message, index)
    if not rules.log_append_time and record.timestamp != NO_TIMESTAMP:
        early = wrapped(now - record.timestamp) > rules.before_max_ms
        if early or wrapped(record.timestamp - now) > rules.after_max_ms:
            latest = wrapped(now + rules.after_max_ms)
            message = (
                f"Timestamp {record.timestamp} of message with offset {record.offset} is out of"
                f" range. The timestamp should be within [{now - rules.before_max_ms}, {latest}]"
            )
            raise RecordRefused(Error.INVALID_TIMESTAMP, message, index)
    if sent.is_log_append_time:
        message = (
            f"Invalid timestamp type in message {_shown(record)}. Producer should not set timestamp"
            " type to LogAppendTime."
        )
        raise RecordRefused(Error.INVALID_TIMESTAMP, message, index)


def _shown(record: _Record) -> str:
    """A record as Java shows it. Raises WireError if it cannot be read."""
    whole = record.whole()
    key, value = len(whole.key or b""), len(whole.value or b"")
    return (
        f"DefaultRecord(offset={record.offset}, timestamp={record.timestamp}, key={key} bytes,"
        f" value={value} bytes)"
    )


def _in_place(data: Buffer, sent: _Sent, rules: Rules, now: int, partition: str) -> bytearray:
    """A batch that is stored as it is, but for its time. Raises Refused, WireError."""
    _check_entry(sent, rules)
    found = []
    for index, record in enumerate(_records_of(data, sent, rules, 0)):
        _check_record(record, index, sent, rules, now, partition)
        found.append(record)
    return _kept(data, sent, found, rules, now)


def _keeps(sent: list[_Sent], found: list[_Record], source: int, target: int) -> bool:
    """Whether what was sent is stored as it is."""
    is_one = len(sent) == 1 and sent[0].header is not None
    in_order = all(record.offset == number for number, record in enumerate(found))
    return is_one and source == target and in_order


def _kept(data: Buffer, sent: _Sent, found: list[_Record], rules: Rules, now: int) -> bytearray:
    header, entry = sent.header, sent.entry
    assert header is not None
    if header.last_offset_delta + 1 != header.count:
        raise DamagedSet(Error.INVALID_RECORD, "a batch that counts wrongly")
    batch = bytearray(memoryview(data)[entry.pos : entry.pos + entry.size])
    latest = max((each.timestamp for each in found), default=NO_TIMESTAMP)
    time = now if rules.log_append_time else max(latest, NO_TIMESTAMP)
    if rules.log_append_time or header.max_timestamp != time:
        restamp(batch, 0, time, rules.log_append_time)
    _check_segment([batch], rules)
    return batch


def _rebuilt(
    first: BatchHeader | None, found: list[_Record], target: int, rules: Rules, now: int
) -> bytearray:
    """One batch of all records. Raises Refused, WireError."""
    producer: dict[str, int | bool] = {}
    if first is not None:
        _check_producer(first)
        producer = {
            "producer_id": first.producer_id,
            "producer_epoch": first.producer_epoch,
            "base_sequence": first.base_sequence,
            "transactional": first.is_transactional,
        }
    whole = []
    for each in found:
        check_writable(each.timestamp)
        whole.append(each.whole())
    batch = build_batch(
        whole,
        codec=Codec(target),
        level=rules.level(target),
        log_append_time=now if rules.log_append_time else None,
        **producer,  # type: ignore[arg-type]
    )
    if len(batch) > rules.max_message_bytes:
        raise Refused(Error.MESSAGE_TOO_LARGE)
    _check_segment([batch], rules)
    return batch


def _check_producer(header: BatchHeader) -> None:
    """Whether a batch of this producer can be written. Raises WireError."""
    if header.is_transactional and header.producer_id == _NO_PRODUCER:
        raise WireError("a transaction without a producer")
    incomplete = header.producer_epoch == -1 or header.base_sequence < 0
    if header.producer_id != _NO_PRODUCER and incomplete:
        raise WireError("a producer without an epoch or a sequence")


def _check_segment(batches: Iterable[Buffer], rules: Rules) -> None:
    if sum(map(len, batches)) > rules.segment_bytes:
        raise Refused(Error.RECORD_LIST_TOO_LARGE)
