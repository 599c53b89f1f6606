"""Sets of magic 0 and 1 as producers send them, and what a broker makes of each.

One case a rule; the answers are those of Kafka 3.9.2.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

import lz4.frame
import snappy
from odradek.wire import Error
from odradek.wire.compression import Codec, break_lz4_checksum, compress
from odradek.wire.legacy.message_sets import build_message, build_set
from odradek.wire.legacy.up_conversion import Rules
from odradek.wire.records import build_batch

NOW = int(time.time() * 1000)
T = 1_600_000_000_000
HOUR = 3_600_000
LARGE = 1_048_588

PLAIN = Rules(max_message_bytes=LARGE, segment_bytes=1 << 30)
TOPICS = {
    "plain": ({}, PLAIN),
    "gzip": ({"compression.type": "gzip"}, PLAIN._replace(codec=Codec.GZIP)),
    "zstd": ({"compression.type": "zstd"}, PLAIN._replace(codec=Codec.ZSTD)),
    "none": ({"compression.type": "uncompressed"}, PLAIN._replace(codec=Codec.NONE)),
    "append": (
        {"message.timestamp.type": "LogAppendTime"},
        PLAIN._replace(log_append_time=True),
    ),
    "compact": ({"cleanup.policy": "compact"}, PLAIN._replace(is_compacted=True)),
    "hour": (
        {
            "message.timestamp.before.max.ms": str(HOUR),
            "message.timestamp.after.max.ms": str(HOUR),
        },
        PLAIN._replace(before_max_ms=HOUR, after_max_ms=HOUR),
    ),
    "small": ({"max.message.bytes": "100"}, PLAIN._replace(max_message_bytes=100)),
    "short": ({"segment.bytes": "100"}, PLAIN._replace(segment_bytes=100)),
}


def one(
    magic: int,
    key: bytes | None = b"k",
    value: bytes | None = b"v",
    at: int = T,
    offset: int = 0,
    attributes: int = 0,
) -> bytes:
    """One message."""
    return build_message((offset, at, key, value), magic, attributes)


def wrapper(
    magic: int,
    inner: bytes,
    codec: int = Codec.GZIP,
    *,
    offset: int = 0,
    at: int = T,
    bit_3: bool = False,
    packed: bytes | None = None,
) -> bytes:
    """A wrapper around a set, or around what `packed` says is one."""
    value = compress(codec, inner) if packed is None else packed
    if packed is None and codec == Codec.LZ4 and not magic:
        value = bytes(break_lz4_checksum(value))
    return build_message((offset, at, b"dropped", value), magic, codec | (8 if bit_3 else 0))


def resized(message: bytes, by: int) -> bytes:
    """The message with another size, which its CRC does not cover."""
    size = int.from_bytes(message[8:12], "big") + by
    return message[:8] + size.to_bytes(4, "big") + message[12:]


def damaged(message: bytes) -> bytes:
    """The message with its last byte changed, and the CRC of before."""
    return message[:-1] + bytes([message[-1] ^ 1])


def broken(magic: int, at: int, put: bytes) -> bytes:
    """A message with bytes of its body (from magic on) changed and its CRC put right again."""
    body = bytearray(one(magic)[16:])
    body[at : at + len(put)] = put
    crc = crc32(body).to_bytes(4, "big")
    return bytes(8) + (len(body) + 4).to_bytes(4, "big") + crc + bytes(body)


def padded(size: int) -> bytes:
    """A compressed message, and bytes behind it that nobody reads."""
    return compress(Codec.GZIP, one(1)).ljust(size, b"?")


class Stored(NamedTuple):
    """The records of a batch, as (time, key, value), and its codec."""

    records: Sequence[tuple[int, bytes | None, bytes | None]]
    codec: int = Codec.NONE


K_V = (T, b"k", b"v")
OLD_K_V = (-1, b"k", b"v")
INNER_1 = build_set([(0, T + 3, b"a", b"1"), (1, T + 1, None, b"2")], 1)
INNER_0 = build_set([(0, 0, b"a", b"1"), (1, 0, None, b"2")], 0)
FROM_1 = [(T + 3, b"a", b"1"), (T + 1, None, b"2")]
FROM_0 = [(-1, b"a", b"1"), (-1, None, b"2")]
BATCH = bytes(build_batch([(T, b"k", b"v", ())]))
NEGATIVE = b"\xff\xff\xff\xfe"
ALL_OPTIONS = lz4.frame.compress(
    INNER_1, store_size=True, content_checksum=True, block_checksum=True
)
WRONG_HEAD = bytes(break_lz4_checksum(compress(Codec.LZ4, INNER_1)))
WRONG_HEAD_0 = bytes(break_lz4_checksum(compress(Codec.LZ4, INNER_0)))

NOTHING = None
CORRUPT, TOO_LARGE, TOO_LONG = (
    Error.CORRUPT_MESSAGE,
    Error.MESSAGE_TOO_LARGE,
    Error.RECORD_LIST_TOO_LARGE,
)
UNTIMELY, INVALID, UNEXPECTED = (
    Error.INVALID_TIMESTAMP,
    Error.INVALID_RECORD,
    Error.UNKNOWN_SERVER_ERROR,
)

Answer = Stored | Error | None

CASES: dict[str, tuple[str, bytes, Answer]] = {
    # Loose messages.
    "one, magic 0": ("plain", one(0), Stored([OLD_K_V])),
    "one, magic 1": ("plain", one(1), Stored([K_V])),
    "nulls are kept": ("plain", one(1, None, None), Stored([(T, None, None)])),
    "empty is not null": ("plain", one(0, b"", b""), Stored([(-1, b"", b"")])),
    "sent offsets do not matter": (
        "plain",
        one(1, offset=9) + one(1, offset=-7),
        Stored([K_V] * 2),
    ),
    "many": ("plain", one(0) * 400, Stored([OLD_K_V] * 400)),
    "falling times": ("plain", one(1) + one(1, at=T - 9), Stored([K_V, (T - 9, b"k", b"v")])),
    "no time first": ("plain", one(1, at=-1) + one(1), Stored([OLD_K_V, K_V])),
    "time 0": ("plain", one(1, at=0), Stored([(0, b"k", b"v")])),
    "a time below -1": ("plain", one(1, at=-2), UNEXPECTED),
    "the topic's codec": ("gzip", one(1) * 3, Stored([K_V] * 3, Codec.GZIP)),
    "reserved bits are dropped": ("plain", one(1, attributes=0xF0), Stored([K_V])),
    "bytes behind the value": ("plain", broken(0, 14, b"v???"), Stored([OLD_K_V])),
    "a key of length -2": (
        "plain",
        broken(0, 2, NEGATIVE + b"\0\0\0\1v"),
        Stored([(-1, None, b"v")]),
    ),
    "a value of length -2": ("plain", broken(0, 7, NEGATIVE), Stored([(-1, b"k", None)])),
    # Wrappers.
    "gzip": ("plain", wrapper(1, INNER_1), Stored(FROM_1, Codec.GZIP)),
    "snappy": ("plain", wrapper(1, INNER_1, 2), Stored(FROM_1, Codec.SNAPPY)),
    "lz4": ("plain", wrapper(1, INNER_1, 3), Stored(FROM_1, Codec.LZ4)),
    "gzip, magic 0": ("plain", wrapper(0, INNER_0), Stored(FROM_0, Codec.GZIP)),
    "snappy, magic 0": ("plain", wrapper(0, INNER_0, 2), Stored(FROM_0, Codec.SNAPPY)),
    "lz4, magic 0": ("plain", wrapper(0, INNER_0, 3), Stored(FROM_0, Codec.LZ4)),
    "raw snappy": (
        "plain",
        wrapper(1, b"", 2, packed=snappy.compress(INNER_1)),
        Stored(FROM_1, Codec.SNAPPY),
    ),
    "lz4 with all it can have": (
        "plain",
        wrapper(1, b"", 3, packed=ALL_OPTIONS),
        Stored(FROM_1, Codec.LZ4),
    ),
    "magic 1 with the checksum of 0": ("plain", wrapper(1, b"", 3, packed=WRONG_HEAD), UNEXPECTED),
    "magic 0 with the checksum of 0": (
        "plain",
        wrapper(0, b"", 3, packed=WRONG_HEAD_0),
        Stored(FROM_0, Codec.LZ4),
    ),
    "recompressed": ("zstd", wrapper(1, INNER_1), Stored(FROM_1, Codec.ZSTD)),
    "decompressed": ("none", wrapper(1, INNER_1), Stored(FROM_1)),
    "wrapper's time with bit 3": (
        "plain",
        wrapper(1, INNER_1, at=T + 50, bit_3=True),
        Stored([(T + 50, b"a", b"1"), (T + 50, None, b"2")], Codec.GZIP),
    ),
    "bit 3 inside": (
        "plain",
        wrapper(1, one(1, attributes=8)),
        Stored([K_V], Codec.GZIP),
    ),
    "wrapper offset of its last": (
        "plain",
        wrapper(1, INNER_1, offset=1),
        Stored(FROM_1, Codec.GZIP),
    ),
    "wrapper offset below it": ("plain", wrapper(1, one(1, offset=5), offset=4), INVALID),
    "wrapper offset negative": ("plain", wrapper(1, INNER_1, offset=-1), INVALID),
    "any wrapper offset, magic 0": (
        "plain",
        wrapper(0, INNER_0, offset=-9),
        Stored(FROM_0, Codec.GZIP),
    ),
    "falling inner offsets": (
        "plain",
        wrapper(1, one(1, offset=5) + one(1, offset=5) + one(1, offset=2), offset=7),
        Stored([K_V] * 3, Codec.GZIP),
    ),
    "inner message cut": ("plain", wrapper(1, INNER_1 + one(1)[:-1]), Stored(FROM_1, Codec.GZIP)),
    # Nothing whole.
    "empty": ("plain", b"", NOTHING),
    "cut": ("plain", one(1)[:-1], NOTHING),
    "a size past the end": ("plain", resized(one(0), 1), NOTHING),
    "the second is cut": ("plain", one(1) + one(1)[:-1], Stored([K_V])),
    "sixteen bytes behind": ("plain", one(1) + one(1)[:16], Stored([K_V])),
    # Refused.
    "zstd": ("plain", wrapper(1, INNER_1, 4), INVALID),
    "nested": ("plain", wrapper(1, wrapper(1, INNER_1)), INVALID),
    "nested behind a message": ("plain", wrapper(1, one(1) + wrapper(1, INNER_1)), INVALID),
    "two wrappers": ("plain", wrapper(1, INNER_1) * 2, INVALID),
    "wrapper and message": ("plain", wrapper(1, INNER_1) + one(1), INVALID),
    "message and wrapper": ("plain", one(1) + wrapper(1, INNER_1), INVALID),
    "mixed magics": ("plain", one(0) + one(1), INVALID),
    "mixed magics in a wrapper": ("plain", wrapper(1, INNER_1 + INNER_0), INVALID),
    "a batch behind": ("plain", one(1) + BATCH, INVALID),
    "no inner messages": ("plain", wrapper(1, b""), INVALID),
    "a wrapper of null": ("plain", one(1, None, None, attributes=1), INVALID),
    "a wrapper of nothing": ("plain", one(1, None, b"", attributes=1), UNEXPECTED),
    "a wrapper of nonsense": ("plain", one(1, None, b"nonsense", attributes=2), UNEXPECTED),
    "gzip cut short": ("plain", wrapper(1, b"", packed=gzip.compress(INNER_1)[:-9]), UNEXPECTED),
    "codec 5": ("plain", one(1, attributes=5), UNEXPECTED),
    "codec 7 inside": ("plain", wrapper(1, one(1, attributes=7)), UNEXPECTED),
    "bad CRC": ("plain", damaged(one(1)), CORRUPT),
    "bad CRC of the second": ("plain", one(1) + damaged(one(1)), CORRUPT),
    "bad CRC inside": ("plain", wrapper(1, one(1) + damaged(one(1))), CORRUPT),
    "size cuts the value": ("plain", resized(one(0), -1), CORRUPT),
    "size 13": ("plain", one(0)[:8] + b"\0\0\0\x0d" + one(0)[12:], CORRUPT),
    "size 13 inside": ("plain", wrapper(0, one(0) + bytes(11) + b"\x0d" + bytes(13)), CORRUPT),
    "magic 3": ("plain", one(0)[:16] + b"\3" + one(0)[17:], CORRUPT),
    "zeros behind": ("plain", one(1) + bytes(20), CORRUPT),
    "key past the end": ("plain", broken(0, 2, b"\0\1"), UNEXPECTED),
    "value past the end": ("plain", broken(1, 15, b"\0\0\0\2"), UNEXPECTED),
    # Sizes: an entry, the batch (61 bytes and its records), the segment.
    "entry of 100": (
        "small",
        wrapper(1, b"", packed=compress(1, one(1)).ljust(59, b"\1")),
        Stored([K_V], Codec.GZIP),
    ),
    "entry of 101": (
        "small",
        wrapper(1, b"", packed=compress(1, one(1)).ljust(60, b"\1")),
        TOO_LARGE,
    ),
    "entry too large, CRC too": ("small", damaged(one(1, value=bytes(67))), TOO_LARGE),
    "batch of 100": ("small", one(0, None, bytes(32)), Stored([(-1, None, bytes(32))])),
    "batch of 101": ("small", one(0, None, bytes(33)), TOO_LARGE),
    "batch longer than a segment": ("short", one(0, None, bytes(33)), TOO_LONG),
    # Times.
    "too old": ("hour", one(1), UNTIMELY),
    "too new": ("hour", one(1, at=NOW + 2 * HOUR), UNTIMELY),
    "in time": ("hour", one(1, at=NOW), Stored([(NOW, b"k", b"v")])),
    "no time": ("hour", one(1, at=-1), Stored([OLD_K_V])),
    "magic 0 has no time": ("hour", one(0), Stored([OLD_K_V])),
    "the wrapper's own time": (
        "hour",
        wrapper(1, one(1, at=NOW)),
        Stored([(NOW, b"k", b"v")], Codec.GZIP),
    ),
    "too old inside": ("hour", wrapper(1, one(1, at=NOW) + one(1), at=NOW), UNTIMELY),
    "too old and nested": ("hour", wrapper(1, one(1) + wrapper(1, one(1))), INVALID),
    "too old and another magic": ("hour", wrapper(1, one(0) + one(1)), UNTIMELY),
    "bit 3": ("plain", one(1, attributes=8), Stored([K_V])),
    "bit 3 without a time": ("plain", one(1, at=-1, attributes=8), UNTIMELY),
    "bit 3 in magic 0": ("append", one(0, attributes=8), Stored([OLD_K_V])),
    "bit 3 on log append time": ("append", one(1, attributes=8), UNTIMELY),
    "bit 3 of a wrapper there": ("append", wrapper(1, INNER_1, bit_3=True), UNTIMELY),
    "log append time": ("append", one(1) + one(1, at=T + 1), Stored([K_V, (T + 1, b"k", b"v")])),
    "log append time, magic 0": ("append", wrapper(0, INNER_0), Stored(FROM_0, Codec.GZIP)),
    # Compacted topics.
    "no key": ("compact", one(1, None), INVALID),
    "an empty key": ("compact", one(1, b""), Stored([(T, b"", b"v")])),
    "no key inside": ("compact", wrapper(1, INNER_1), INVALID),
}
