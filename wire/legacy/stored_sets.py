"""Produced message sets at a broker of before 0.11, which stores messages and no batches.

    sent                                stored by 0.8.2             by 0.10.2
    messages, no codec                  as they are                 in the topic's format
    a wrapper of magic 1, of the        -                           as it is
    topic's codec, offsets 0, 1, 2, ...
    anything else with a codec          one wrapper of all messages, of the codec that came
                                        last, or (not in 0.8.2) of the topic's

Offsets count from 0: `placed` shifts them to where an entry is stored. Nothing whole is nothing
stored. What is refused, in the order in which such a broker finds it:

- of each entry: a size that there is not (CORRUPT_MESSAGE), size (MESSAGE_TOO_LARGE), CRC, codec;
- 0.10.2 then of each message: a null key on a compacted topic, its time, a wrapper in a wrapper;
  and in a wrapper that stays as it is the CRCs;
- of what is stored: the sizes.

Every damage is CORRUPT_MESSAGE, and where the broker stumbles UNKNOWN_SERVER_ERROR.

Left out: 0.8.2 stores messages of any magic as they are. Here one that is neither 0 nor 1, or is
too small for its magic, is refused (UNKNOWN_SERVER_ERROR).
Source: Kafka's Log and ByteBufferMessageSet of 0.8.2.2, its LogValidator and RecordsIterator of
0.10.2.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

from ..batch import NO_TIMESTAMP
from ..compression import LIMIT, Codec, break_lz4_checksum, compress, decompress, mend_lz4_checksum
from ..errors import Error, Refused, WireError
from ..primitives import Buffer, wrapped
from .as_batches import entry_size
from .message_sets import (
    DamagedSet,
    Entry,
    Head,
    build_message,
    build_set,
    crc_is_right,
    entries,
    has_key,
    read_head,
    read_key_and_value,
)
from .up_conversion import Rules

_OFFSET_SIZE = 8
_DEEPEST = 8
"""How many wrappers may be in each other."""
_STAMPED = 8
"""The bit of messages that have the broker's time."""


class _Message(NamedTuple):
    """A message that was found, perhaps in a wrapper."""

    offset: int
    timestamp: int
    is_stamped: bool
    buffer: Buffer
    entry: Entry

    @property
    def magic(self) -> int:
        return self.entry.magic

    def raw(self, offset: int) -> bytes:
        """As it was sent, with another offset."""
        start, end = self.entry.pos, self.entry.pos + self.entry.size
        data = bytes(memoryview(self.buffer)[start + _OFFSET_SIZE : end])
        return offset.to_bytes(_OFFSET_SIZE, "big", signed=True) + data

    def content(self) -> tuple[bytes | None, bytes | None]:
        """Its key and value. Raises WireError."""
        return read_key_and_value(self.buffer, self.entry)


def stored_messages(data: Buffer, rules: Rules, now: int, limit: int = LIMIT) -> list[bytes]:
    """The entries that are stored: as 0.10.2 does, or 0.8.2, which judges no message. `limit` is
    how many bytes an entry may decompress to. Raises Refused."""
    try:
        sent = [_looked_at(data, each, rules) for each in entries(data, any_magic=True)]
        if not sent:
            return []
        make = _by_0_10_2 if rules.judges_messages else _by_0_8_2
        made = make(data, sent, rules, now, limit)
        for each in made:
            entry_size(each)
    except DamagedSet:
        raise Refused(Error.CORRUPT_MESSAGE) from None
    except WireError:
        raise Refused(Error.UNKNOWN_SERVER_ERROR) from None
    if sum(map(len, made)) > rules.segment_bytes:
        raise Refused(Error.RECORD_LIST_TOO_LARGE)
    return made


def as_magic_0(stored: Buffer, limit: int = LIMIT) -> Buffer:
    """Stored messages as a client of before 0.10 gets them: as they are if they are of magic 0, or
    if none is whole; else all that are whole, in the codec of the first. Raises Refused."""
    found = [(each, read_head(stored, each)) for each in entries(stored)]
    if all(entry.magic == 0 for entry, _ in found):
        return stored
    try:
        messages = []
        for each in deep_messages(stored, found, limit):
            if each.timestamp < NO_TIMESTAMP:
                raise WireError(f"a message cannot have the time {each.timestamp}")
            messages.append((each.offset, NO_TIMESTAMP, *each.content()))
        return build_set(messages, 0, codec=found[0][1].codec)
    except WireError:
        raise Refused(Error.UNKNOWN_SERVER_ERROR) from None


def placed(entry: Buffer, base_offset: int) -> bytes:
    """The same entry with offsets that count from there: of magic 0 those in a wrapper as well."""
    head = _head(entry)
    offset = base_offset + head.offset
    if head.magic or not head.codec:
        data = bytes(memoryview(entry)[_OFFSET_SIZE:])
        return offset.to_bytes(_OFFSET_SIZE, "big", signed=True) + data
    text = _text(entry, Entry(0, len(entry), 0), head, LIMIT)
    messages = [_found(text, each) for each in entries(text, any_magic=True)]
    return _wrapped([each.raw(base_offset + n) for n, each in enumerate(messages)], head, offset)


def _looked_at(data: Buffer, entry: Entry, rules: Rules) -> tuple[Entry, Head]:
    if entry.size > rules.max_message_bytes:
        raise Refused(Error.MESSAGE_TOO_LARGE)
    if not crc_is_right(data, entry):
        raise DamagedSet(Error.CORRUPT_MESSAGE, "a checksum")
    head = read_head(data, entry)
    if head.codec > Codec.LZ4:
        raise WireError(f"there is no codec {head.codec}")
    return entry, head


def _by_0_8_2(
    data: Buffer, sent: Sequence[tuple[Entry, Head]], rules: Rules, now: int, limit: int
) -> list[bytes]:
    codec = _last_codec(sent)
    if not codec:
        return [_found(data, entry).raw(n) for n, (entry, _) in enumerate(sent)]
    found = [message for entry, _ in sent for message in _flat(data, entry, limit, _DEEPEST)]
    if not found:
        return []
    messages = [each.raw(n) for n, each in enumerate(found)]
    head = Head(0, 0, 0, codec, NO_TIMESTAMP)
    return _fitting([_wrapped(messages, head, len(messages) - 1)], rules)


def _flat(data: Buffer, entry: Entry, limit: int, depth: int) -> Iterator[_Message]:
    """A message, or those in a wrapper as 0.8.2 reads it: as one of magic 0, and with wrappers in
    it. Raises WireError."""
    head = read_head(data, entry)
    if not head.codec:
        yield _found(data, entry)
        return
    if not depth or head.codec > Codec.LZ4:
        raise WireError("too many wrappers in wrappers, or no such codec")
    text = _text(data, entry._replace(magic=0), head, limit, is_broken=True)
    for each in entries(text, any_magic=True):
        yield from _flat(text, each, limit, depth - 1)


def _by_0_10_2(
    data: Buffer, sent: Sequence[tuple[Entry, Head]], rules: Rules, now: int, limit: int
) -> list[bytes]:
    source = _last_codec(sent)
    target = source if rules.codec is None else rules.codec
    stamp = now if rules.log_append_time else None
    if source or target:
        return _compressed(data, sent, source, target, rules, now, limit)
    found = [_found(data, entry) for entry, _ in sent]
    if all(each.magic == rules.magic for each in found):
        for each in found:
            _check(each, rules, now, has_time=each.magic != 0)
        stamp = stamp if rules.magic else None
        return [_stamped(each.raw(n), stamp) for n, each in enumerate(found)]
    for each in found:  # sizes are added up first
        _check_sizes(each)
    made = []
    for number, each in enumerate(found):
        _check(each, rules, now)
        made.append(_as_magic(rules.magic, each, number, stamp))
    return _fitting(made, rules)


def _compressed(
    data: Buffer,
    sent: Sequence[tuple[Entry, Head]],
    source: int,
    target: int,
    rules: Rules,
    now: int,
    limit: int,
) -> list[bytes]:
    found: list[_Message] = []
    made: list[bytes] = []
    keeps = source == target and rules.magic > 0
    for each in deep_messages(data, sent, limit):
        _check(each, rules, now, has_time=each.magic != 0 and rules.magic != 0)
        keeps &= each.magic == 1 and each.offset == len(found)
        made.append(_as_magic(rules.magic, each, len(found)))
        found.append(each)
    latest = max(each.timestamp for each in found)
    time = now if rules.log_append_time else max(latest, NO_TIMESTAMP)
    attributes = target | (_STAMPED if rules.log_append_time and rules.magic else 0)
    last = len(found) - 1
    if keeps:
        if not all(crc_is_right(each.buffer, each.entry) for each in found):
            raise DamagedSet(Error.CORRUPT_MESSAGE, "a checksum in a wrapper")
        entry, head = sent[0]
        key, value = read_key_and_value(data, entry)
        kept = head.attributes & ~_STAMPED & 0xFF
        return [build_message((last, time, key, value), 1, kept | attributes)]
    if not target:
        return _fitting(made, rules)
    return _fitting([_wrapped(made, Head(0, 0, rules.magic, attributes, time), last)], rules)


def deep_messages(
    data: Buffer, sent: Sequence[tuple[Entry, Head]], limit: int
) -> Iterator[_Message]:
    """Every message of these entries, those in wrappers as well. Raises WireError."""
    for entry, head in sent:
        if not head.codec:
            yield _found(data, entry)
            continue
        text = _text(data, entry, head, limit)
        inner = []
        for each in entries(text, any_magic=True):
            if each.magic != entry.magic:
                raise DamagedSet(Error.CORRUPT_MESSAGE, "a magic in a wrapper")
            inner.append(_found(text, each))
        if not inner:
            raise WireError("a wrapper with no messages")
        moved = head.offset - inner[-1].offset if entry.magic else -1
        for message in inner:
            codec = read_head(text, message.entry).codec
            if codec > Codec.LZ4:
                raise WireError(f"there is no codec {codec}")
            if codec:
                raise DamagedSet(Error.CORRUPT_MESSAGE, "a wrapper in a wrapper")
            offset = message.offset + max(moved, 0)
            is_stamped = head.is_log_append_time
            time = head.timestamp if is_stamped and entry.magic else message.timestamp
            yield message._replace(offset=offset, timestamp=time, is_stamped=is_stamped)


def _check(message: _Message, rules: Rules, now: int, *, has_time: bool = True) -> None:
    if rules.is_compacted and not has_key(message.buffer, message.entry):
        raise DamagedSet(Error.CORRUPT_MESSAGE, "a message without a key")
    if not has_time:
        return
    if not rules.log_append_time:
        early = wrapped(now - message.timestamp) > rules.before_max_ms
        if early or wrapped(message.timestamp - now) > rules.after_max_ms:
            raise Refused(Error.INVALID_TIMESTAMP)
    if message.is_stamped:
        message.content()  # the refusal shows the message
        raise Refused(Error.INVALID_TIMESTAMP)


def _as_magic(magic: int, message: _Message, offset: int, stamp: int | None = None) -> bytes:
    """A message in this format. Raises WireError where it has to be read for that."""
    if message.magic == magic:
        return message.raw(offset)
    time = message.timestamp if stamp is None else stamp
    if time < NO_TIMESTAMP:
        raise WireError(f"a message cannot have the time {time}")
    attributes = _STAMPED if magic and stamp is not None else 0
    return build_message((offset, time, *message.content()), magic, attributes)


def _stamped(entry: bytes, stamp: int | None) -> bytes:
    """A message of magic 1 with the broker's time, if that is given."""
    if stamp is None:
        return entry
    head = _head(entry)
    key_and_value = entry[26:]
    whole = build_message((head.offset, stamp, None, None), 1, head.attributes | _STAMPED)
    return _resealed(whole[:26] + key_and_value)


def _resealed(entry: bytes) -> bytes:
    """With its size and CRC."""
    size = (len(entry) - 12).to_bytes(4, "big")
    return entry[:8] + size + crc32(entry[16:]).to_bytes(4, "big") + entry[16:]


def _check_sizes(message: _Message) -> None:
    """Raises WireError where there is no size of a key, or of a value."""
    end = message.entry.pos + message.entry.size
    at = message.entry.pos + (18 if message.magic == 0 else 26)
    for _ in range(2):
        if at + 4 > end:
            raise WireError("a message ends before a length")
        size = int.from_bytes(message.buffer[at : at + 4], "big", signed=True)
        at += 4 + max(size, 0)


def _found(data: Buffer, entry: Entry) -> _Message:
    head = read_head(data, entry)
    return _Message(head.offset, head.timestamp, head.is_log_append_time, data, entry)


def _head(entry: Buffer) -> Head:
    return read_head(entry, Entry(0, len(entry), memoryview(entry)[16]))


def _last_codec(sent: Sequence[tuple[Entry, Head]]) -> int:
    return next((head.codec for _, head in reversed(sent) if head.codec), 0)


def _text(data: Buffer, entry: Entry, head: Head, limit: int, *, is_broken: bool = False) -> Buffer:
    """What a wrapper holds. `is_broken`: an LZ4 frame has to have the wrong checksum that old
    clients write. Raises WireError."""
    _, value = read_key_and_value(data, entry)
    if value is None:
        raise WireError("a wrapper without a value")
    packed: Buffer = value
    if head.codec == Codec.LZ4 and not entry.magic:
        if is_broken and value != break_lz4_checksum(value):
            raise WireError("a right checksum of an LZ4 frame")
        packed = mend_lz4_checksum(value)
    return decompress(head.codec, packed, limit)


def _wrapped(messages: Sequence[bytes], head: Head, offset: int) -> bytes:
    """A wrapper of these messages, of the magic, attributes and time of a head."""
    packed: Buffer = compress(head.codec, b"".join(messages), None)
    if head.codec == Codec.LZ4 and not head.magic:
        packed = break_lz4_checksum(packed)
    return build_message((offset, head.timestamp, None, packed), head.magic, head.attributes)


def _fitting(made: list[bytes], rules: Rules) -> list[bytes]:
    """The same if each fits. Raises Refused."""
    if any(len(each) > rules.max_message_bytes for each in made):
        raise Refused(Error.MESSAGE_TOO_LARGE)
    return made
