"""Messages of Kafka 0.7, before logs had logical offsets: reading and building them.

A log, and a fetched or produced set, is consecutive messages; the last may be incomplete:

    length int32 (of what follows it), magic int8, attributes int8 (magic 1 only),
    crc uint32 (CRC-32 of the payload), payload

Attributes: bits 0-1 are the codec: 0 none, 1 gzip, 2 snappy. The payload of a compressed message
is a set. A message has no key, no time and no offset: it is identified by its byte position in the
log, counted from the first byte that was ever written, so the next position is this one plus 4 plus
length. Those inside a compressed message share its position.

Rules: any bytes either decode or raise WireError; at most `limit` bytes are decompressed in all; a
compressed message inside another is refused, so nothing recurses. A CRC is only checked by
`is_valid`, which says which messages a log keeps when it recovers.

Left out: the requests of 0.7. Its magic 0 and 1 differ from those of 0.8 (message_sets.py), whose
CRC covers more than the payload.
Source: the chapters "Messages" and "Log" of the 0.7 design.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from ..compression import LIMIT, Codec, compress, decompress
from ..errors import WireError
from ..primitives import Buffer

_LENGTH_AND_MAGIC = Struct(">ib")
_CRC = Struct(">I")
_LENGTH_SIZE = 4
_CODEC_MASK = 0x03
_OVERHEAD = {0: 1 + _CRC.size, 1: 2 + _CRC.size}
"""Bytes before the payload, without the length, by magic."""


class OldMessage(NamedTuple):
    """One message as stored in a log; `payload` is compressed if `codec` says so."""

    position: int
    """The position where it begins: its id, and the offset that a consumer asks for."""
    next_position: int
    """The position of the next message, which a consumer asks for next."""
    magic: int
    attributes: int
    crc: int
    payload: bytes

    @property
    def codec(self) -> int:
        """The codec of the set in the payload, 0 for a plain message; 3 does not exist."""
        return self.attributes & _CODEC_MASK

    @property
    def is_valid(self) -> bool:
        """True if the CRC is right."""
        return crc32(self.payload) == self.crc


def messages(buf: Buffer, start: int = 0) -> Iterator[OldMessage]:
    """Yield each complete message of a set whose first byte has the position `start` in its log.

    Compressed ones are not decompressed. Raises WireError for a length that no message has, and a
    magic other than 0 and 1.
    """
    pos = 0
    while len(buf) - pos >= _LENGTH_AND_MAGIC.size:
        length, magic = _LENGTH_AND_MAGIC.unpack_from(buf, pos)
        if magic not in _OVERHEAD:
            raise WireError(f"message of magic {magic} at byte {pos}")
        if length < _OVERHEAD[magic]:
            raise WireError(f"message of {length} bytes at byte {pos}")
        end = pos + _LENGTH_SIZE + length
        if end > len(buf):
            return
        payload_at = pos + _LENGTH_SIZE + _OVERHEAD[magic]
        attributes = buf[pos + _LENGTH_AND_MAGIC.size] if magic else 0
        (crc,) = _CRC.unpack_from(buf, payload_at - _CRC.size)
        payload = bytes(buf[payload_at:end])
        yield OldMessage(start + pos, start + end, magic, attributes, crc, payload)
        pos = end


def read_payloads(buf: Buffer, start: int = 0, limit: int = LIMIT) -> list[tuple[int, bytes]]:
    """Read position and payload of every message of a set, inside compressed ones too.

    `start` is the position of the first byte. Raises WireError for damage, or when the compressed
    ones together hold more than `limit` bytes. CRCs are not checked.
    """
    found = []
    for message in messages(buf, start):
        if not message.codec:
            found.append((message.position, message.payload))
            continue
        if message.codec > Codec.SNAPPY:
            raise WireError(f"there is no codec {message.codec} in messages of 0.7")
        text = decompress(message.codec, message.payload, limit)
        limit -= len(text)
        for inner in messages(text):
            if inner.codec:
                raise WireError(f"compressed message inside one at {message.position}")
            found.append((message.position, inner.payload))
    return found


def build_old_message(payload: Buffer, magic: int = 1, codec: int = Codec.NONE) -> bytes:
    """Build one message; with a codec, `payload` is a set, which is compressed.

    Raises WireError for another magic than 0 and 1, and for a codec that this magic does not have.
    """
    if magic not in _OVERHEAD:
        raise WireError(f"there are no messages of magic {magic} in 0.7")
    if codec > (Codec.SNAPPY if magic else Codec.NONE):
        raise WireError(f"there is no codec {codec} in messages of 0.7 with magic {magic}")
    payload = compress(codec, payload)
    attributes = bytes([codec]) if magic else b""
    length = _OVERHEAD[magic] + len(payload)
    head = _LENGTH_AND_MAGIC.pack(length, magic) + attributes
    return head + _CRC.pack(crc32(payload)) + payload


def build_old_set(payloads: list[bytes], magic: int = 1, codec: int = Codec.NONE) -> bytes:
    """Build a set of plain messages, or one compressed message that holds them.

    Raises WireError as `build_old_message` does.
    """
    plain = b"".join([build_old_message(payload, magic) for payload in payloads])
    return build_old_message(plain, magic, codec) if codec else plain
