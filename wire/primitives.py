"""The smallest pieces of the protocol: variable-length integers, and ids as people write them.

Fixed-width integers are big-endian and left to `struct`. A varint is base 128, least significant
group first, the high bit of a byte saying that another follows; signed ones are zigzagged first
(0, -1, 1, -2, ... become 0, 1, 2, 3, ...). At most 5 bytes for 32 bits, 10 for 64.
Source: the protocol guide, "Protocol Primitive Types".
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from os import urandom
from typing import TypeAlias

from .errors import WireError

Buffer: TypeAlias = bytes | bytearray | memoryview

NO_ID = bytes(16)

_TWO_63, _TWO_64 = 1 << 63, 1 << 64
_ONE_BYTE = [bytes([n]) for n in range(0x80)]


def wrapped(value: int) -> int:
    """Wrap a sum or a difference at 64 bits, as Java's arithmetic does."""
    return (value + _TWO_63) % _TWO_64 - _TWO_63


def write_uvarint(value: int) -> bytes:
    """Encode an unsigned varint; `value` must not be negative."""
    if value < 0x80:
        return _ONE_BYTE[value]
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_uvarint(buf: Sequence[int], pos: int) -> tuple[int, int]:
    """Decode an unsigned 32-bit varint at `pos`; return it and the position after it.

    Raises WireError when it does not end within five bytes or the buffer.
    """
    try:
        byte = buf[pos]
        pos += 1
        if byte < 0x80:
            return byte, pos
        value = byte & 0x7F
        for shift in (7, 14, 21, 28):
            byte = buf[pos]
            pos += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFFFFFF, pos
    except IndexError:
        raise WireError(f"varint cut short at byte {pos}") from None
    raise WireError(f"varint longer than five bytes at byte {pos}")


def write_varint(value: int) -> bytes:
    """Encode a signed (zigzag) varint; the same bytes serve for varlongs."""
    return write_uvarint(value << 1 if value >= 0 else (-value << 1) - 1)


def read_varint(buf: Sequence[int], pos: int) -> tuple[int, int]:
    """Decode a signed 32-bit varint. Raises WireError past five bytes."""
    value, pos = read_uvarint(buf, pos)
    return value >> 1 ^ -(value & 1), pos


def read_varlong(buf: Sequence[int], pos: int) -> tuple[int, int]:
    """Decode a signed 64-bit varint. Raises WireError past ten bytes."""
    value = 0
    try:
        for shift in range(0, 70, 7):
            byte = buf[pos]
            pos += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                value &= 0xFFFFFFFFFFFFFFFF
                return value >> 1 ^ -(value & 1), pos
    except IndexError:
        raise WireError(f"varlong cut short at byte {pos}") from None
    raise WireError(f"varlong longer than ten bytes at byte {pos}")


def id_text(uuid: Buffer) -> str:
    """A 16-byte id as Kafka writes it: 22 characters of URL-safe base64."""
    return urlsafe_b64encode(uuid).decode("ascii").rstrip("=")


def parse_id(text: str) -> bytes:
    """Turn 22 characters back into 16 bytes. Raises WireError for anything else."""
    try:
        uuid = urlsafe_b64decode(text + "==")
    except ValueError as error:
        raise WireError(f"not an id of 22 characters: {text!r}") from error
    if len(uuid) != 16:
        raise WireError(f"not an id of 22 characters: {text!r}")
    return uuid


def random_id() -> bytes:
    """A random (version 4) id whose text does not begin with a dash.

    Kafka avoids a leading dash because command-line tools read it as an option, and reserves the
    ids 0 and 1.
    """
    while True:
        raw = bytearray(urandom(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        if not id_text(raw).startswith("-"):
            return bytes(raw)
