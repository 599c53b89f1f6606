"""Mutations of the record batches in a request: their headers, their records, compressed payloads,
with the CRC as it was or computed again."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from struct import pack_into

from odradek.wire.batch import HEADER_SIZE, MAGIC, checksum
from odradek.wire.compression import Codec, compress

from tests.differential.ask.batches import FIELDS

NUMBERS = (0, 1, 2, -1, -2, 5, 48, 49, 127, 128, 255, 1 << 15, (1 << 31) - 1, -(1 << 31), 1 << 40)
_MAGIC_AT, _LENGTH_AT, _CRC_AT, _ATTRIBUTES_AT = 16, 8, 17, 21
_RIGHT_CRC = 0.85

Change = Callable[[Random, bytearray], None]


def find_batch(data: bytes) -> tuple[int, int] | None:
    """Where a batch of magic 2 lies in a frame: its first byte, and the one after it."""
    for at in range(len(data) - HEADER_SIZE):
        if data[at + _MAGIC_AT] == MAGIC and data[at : at + 4] == b"\0\0\0\0":
            size = 12 + int.from_bytes(data[at + _LENGTH_AT : at + _LENGTH_AT + 4], "big")
            if HEADER_SIZE <= size <= len(data) - at:
                return at, at + size
    return None


def change_batch(random: Random, data: bytes) -> bytes:
    """A batch that was changed in one or two ways; of what is no batch a bit is flipped."""
    if len(data) < HEADER_SIZE or data[_MAGIC_AT] != MAGIC:
        return _flipped(random, bytearray(data))
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2))):
        if len(changed) < HEADER_SIZE:
            break
        random.choice(_CHANGES)(random, changed)
    if len(changed) >= HEADER_SIZE and random.random() < _RIGHT_CRC:
        pack_into(">I", changed, _CRC_AT, checksum(changed, 0, len(changed)))
    return bytes(changed)


def _flipped(random: Random, data: bytearray) -> bytes:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(data)


def _header(random: Random, batch: bytearray) -> None:
    """A number of the header is another."""
    place, code = FIELDS[random.choice(list(FIELDS))]
    bits = {"b": 8, "h": 16, "i": 32, "I": 32, "q": 64}[code[1]]
    number = random.choice(NUMBERS) % (1 << bits)
    if code[1] != "I" and number >= 1 << (bits - 1):
        number -= 1 << bits
    pack_into(code, batch, place, number)


def _payload(random: Random, batch: bytearray) -> None:
    """Some bytes after the header, compressed or not, are others."""
    for _ in range(random.choice((1, 1, 2, 8))):
        if len(batch) > HEADER_SIZE:
            batch[random.randrange(HEADER_SIZE, len(batch))] = random.choice((0, 1, 127, 128, 255))


def _cut(random: Random, batch: bytearray) -> None:
    """Its end is missing, and the length says so."""
    del batch[random.randrange(HEADER_SIZE, len(batch) + 1) :]
    pack_into(">i", batch, _LENGTH_AT, len(batch) - 12)


def _longer(random: Random, batch: bytearray) -> None:
    """It has bytes after its records, or its records twice."""
    batch += batch[HEADER_SIZE:] if random.random() < 0.5 else random.randbytes(7)
    pack_into(">i", batch, _LENGTH_AT, len(batch) - 12)


def _codec(random: Random, batch: bytearray) -> None:
    """It says that its payload is compressed, or in another way than it is."""
    batch[_ATTRIBUTES_AT + 1] = batch[_ATTRIBUTES_AT + 1] & ~7 | random.randrange(8)


def _compressed(random: Random, batch: bytearray) -> None:
    """Its payload is compressed (again), and the result changed."""
    codec = random.choice((Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD))
    payload = bytearray(compress(codec, bytes(batch[HEADER_SIZE:]) * random.choice((1, 1, 50))))
    if random.random() < 0.7:
        _flipped(random, payload)
    batch[_ATTRIBUTES_AT + 1] = batch[_ATTRIBUTES_AT + 1] & ~7 | int(codec)
    batch[HEADER_SIZE:] = payload
    pack_into(">i", batch, _LENGTH_AT, len(batch) - 12)


_CHANGES: tuple[Change, ...] = (
    _header,
    _header,
    _payload,
    _payload,
    _cut,
    _longer,
    _codec,
    _compressed,
)
