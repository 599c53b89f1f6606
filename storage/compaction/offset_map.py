"""The offset map of a compaction: the newest offset of each key of a log's dirty section.

Rules:

- It holds a bounded number of keys: as many as fit `log.cleaner.dedupe.buffer.size`, each slot
  counted with the bytes it takes, filled up to `log.cleaner.io.buffer.load.factor`. Once it is full
  the next record with a key is not added, whether its key is known or not, and this round of
  compaction ends there: `latest_offset` is the last offset that the map covers.
- A record is kept if it is after `latest_offset`, or if it has a key, no newer record with that key
  is known, and it has a value (or tombstones are kept).
- Different keys are never taken for the same by accident: short keys are compared themselves,
  longer ones by 128 bits of a hash; in C all keys by 128 bits of a hash keyed with random bytes.

There are two maps that behave alike but for memory: `DictMap`, the reference, is a dict, about 170
bytes a key; `TableMap` is a table of 24 bytes a slot, as in Kafka, filled by C (wire/_scan.c). For
ten million records the dict alone would take longer than all of the work in C.

Both read the records of a decompressed batch; damaged records raise WireError.
Source: KIP-58; Kafka 4.3.1's rules for segments it cleaned.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from os import urandom
from typing import NamedTuple, Protocol

from ...wire.errors import WireError
from ...wire.primitives import Buffer, read_uvarint, read_varlong, wrapped, write_varint

try:
    from ...wire import _scan

    HAVE_C: bool = hasattr(_scan, "add_keys")
except ImportError:  # not built, as wire/scan.py says
    HAVE_C = False

_RAW_KEY_MAX = 16
_DICT_BYTES = 170
_TABLE_BYTES = 24
_TABLE_SLOTS_MIN = 1 << 10
_NO_DELTA = -(1 << 63)


class Choice(NamedTuple):
    """Which records of a batch are kept. Deltas are of time (ms), as in the batch."""

    mask: bytes
    """One byte a record: 1 if it is kept."""
    kept: int
    tombstone: bool
    """Whether one of the records kept has no value."""
    first_delta: int
    """Of the first record kept; 0 if there is none."""
    max_delta: int
    """The largest of the records kept; -2^63 if there are none."""


class OffsetMap(Protocol):
    latest_offset: int

    def add(self, payload: Buffer, count: int, base_offset: int, start: int) -> bool:
        """Add the keys of a batch's records from offset `start` on; True once the map is full."""
        ...

    def choose(self, payload: Buffer, count: int, base_offset: int, *, tombstones: bool) -> Choice:
        """Say which records of a batch are kept; `tombstones`: also those without value."""
        ...


def offset_map(buffer_bytes: int, load_factor: float) -> OffsetMap:
    """An empty map of at most this memory: the one in C where that is built."""
    kind = TableMap if HAVE_C else DictMap
    return kind(buffer_bytes, load_factor)


class DictMap:
    """The reference, in plain Python."""

    def __init__(self, buffer_bytes: int, load_factor: float) -> None:
        self.latest_offset = -1
        self._keys_max = int(buffer_bytes // _DICT_BYTES * load_factor)
        self._offsets: dict[bytes, int] = {}

    def add(self, payload: Buffer, count: int, base_offset: int, start: int) -> bool:
        offsets = self._offsets
        for _, delta, key, _, _ in _records(bytes(payload), count):
            offset = base_offset + delta
            if key is None or offset < start:
                continue
            if len(offsets) >= self._keys_max:
                return True
            offsets[key] = self.latest_offset = offset
        return False

    def choose(self, payload: Buffer, count: int, base_offset: int, *, tombstones: bool) -> Choice:
        known = self._offsets.get
        latest = self.latest_offset - base_offset
        mask = bytearray(count)
        tombstone = False
        deltas: list[int] = []
        for index, record in enumerate(_records(bytes(payload), count)):
            time, delta, key, has_value, _ = record
            if delta <= latest:
                if key is None or not (has_value or tombstones):
                    continue
                if base_offset + delta < known(key, -1):
                    continue
            mask[index] = 1
            deltas.append(time)
            if not has_value:
                tombstone = True
        if not deltas:
            return Choice(bytes(mask), 0, False, 0, _NO_DELTA)
        return Choice(bytes(mask), len(deltas), tombstone, deltas[0], max(deltas))


class TableMap:
    """The one in C: slots of a 128-bit hash and the offset plus one, probed one after another."""

    def __init__(self, buffer_bytes: int, load_factor: float) -> None:
        self.latest_offset = -1
        self._slots_max = max(2, buffer_bytes // _TABLE_BYTES)
        self._keys_max = min(int(self._slots_max * load_factor), self._slots_max - 1)
        self._keys = 0
        self._seed = urandom(16)
        self._table = bytearray(min(self._slots_max, _TABLE_SLOTS_MIN) * _TABLE_BYTES)

    def add(self, payload: Buffer, count: int, base_offset: int, start: int) -> bool:
        self._make_room(count)
        found: tuple[int, int, int] | None = _scan.add_keys(
            payload, count, base_offset, start, self._table, self._seed, self._keys, self._keys_max
        )
        if found is None:
            raise _damaged()
        full, self._keys, last = found
        self.latest_offset = max(self.latest_offset, last)
        return full != 0

    def choose(self, payload: Buffer, count: int, base_offset: int, *, tombstones: bool) -> Choice:
        mask = bytearray(count)
        found: tuple[int, bool, int, int] | None = _scan.choose_records(
            payload, mask, base_offset, self.latest_offset, tombstones, self._table, self._seed
        )
        if found is None:
            raise _damaged()
        return Choice(bytes(mask), *found)

    def _make_room(self, count: int) -> None:
        """Keep a third of the slots free after the next `count` keys, as far as memory allows."""
        slots = len(self._table) // _TABLE_BYTES
        wanted = min(self._keys + count, self._keys_max) * 3 // 2
        if wanted > slots and slots < self._slots_max:
            while slots < wanted:
                slots *= 2
            table = bytearray(min(slots, self._slots_max) * _TABLE_BYTES)
            _scan.move_keys(self._table, table)
            self._table = table


def rebuilt(payload: Buffer, mask: bytes, shift: int, constant: bool) -> bytes | bytearray:
    """The records that `mask` selects, for a batch with another base timestamp.

    `shift` (ms) is added to each time delta or, with `constant`, replaces it. Attributes of records
    become 0. Raises WireError for damaged records.
    """
    if HAVE_C:
        found: bytearray | None = _scan.rebuild_records(payload, mask, shift, constant)
        if found is None:
            raise _damaged()
        return found
    return rebuilt_python(payload, mask, shift, constant)


def rebuilt_python(payload: Buffer, mask: bytes, shift: int, constant: bool) -> bytes:
    """The reference for `rebuilt`; what `choose` has checked is not checked again."""
    buf, out, end = bytes(payload), bytearray(), 0
    try:
        for keep in mask:
            size, pos = buf[end], end + 1
            if size >= 0x80:
                size, pos = _longer(buf, pos, size)
            end = pos + (size >> 1)
            if keep:
                time, rest = read_varlong(buf, pos + 1)
                delta = write_varint(wrapped(shift if constant else time + shift))
                out += write_varint(1 + len(delta) + end - rest)
                out += b"\0" + delta
                out += buf[rest:end]
    except IndexError:
        raise _damaged() from None
    return bytes(out)


def _records(buf: bytes, count: int) -> Iterator[tuple[int, int, bytes | None, bool, int]]:
    """Of each record: time delta, offset delta, the key or its hash, has a value, end.

    Most varints have one or two bytes; reading those inline makes this three times as fast.
    """
    end = 0
    try:
        for _ in range(count):
            size, pos = buf[end], end + 1
            if size >= 0x80:
                size, pos = _longer(buf, pos, size)
            end = pos + (size >> 1)
            time, pos = buf[pos + 1], pos + 2
            if time >= 0x80:
                time, pos = _longest(buf, pos, time)
            delta, pos = buf[pos], pos + 1
            if delta >= 0x80:
                delta, pos = _longer(buf, pos, delta)
            length, pos = buf[pos], pos + 1
            if length >= 0x80:
                length, pos = _longer(buf, pos, length)
            key = None
            if not length & 1:
                length >>= 1
                key = buf[pos : pos + length]
                pos += length
                if length > _RAW_KEY_MAX:
                    key = b"\0" + blake2b(key, digest_size=_RAW_KEY_MAX).digest()
            length, pos = buf[pos], pos + 1
            if length >= 0x80:
                length, pos = _longer(buf, pos, length)
            if size & 1 or pos + (0 if length & 1 else length >> 1) >= end or end > len(buf):
                raise _damaged()
            yield time >> 1 ^ -(time & 1), delta >> 1 ^ -(delta & 1), key, not length & 1, end
    except IndexError:
        raise _damaged() from None


def _longer(buf: bytes, pos: int, byte: int) -> tuple[int, int]:
    """A varint (zigzag), of which the first byte was read, and the position after it."""
    more = buf[pos]
    if more < 0x80:
        return byte & 0x7F | more << 7, pos + 1
    return read_uvarint(buf, pos - 1)


def _longest(buf: bytes, pos: int, byte: int) -> tuple[int, int]:
    """The same for 64 bits."""
    more = buf[pos]
    if more < 0x80:
        return byte & 0x7F | more << 7, pos + 1
    value, pos = read_varlong(buf, pos - 1)
    return (value << 1 if value >= 0 else (-value << 1) - 1), pos


def _damaged() -> WireError:
    return WireError("the records of a batch are damaged")
