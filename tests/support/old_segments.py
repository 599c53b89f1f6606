"""Segments as brokers before 0.11 left them, and as those that came after went on with them.

`TOPICS` has the segments of some topics, one partition each: base offset -> bytes of the `.log`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from odradek.wire.compression import Codec
from odradek.wire.legacy.message_sets import build_message, build_set
from odradek.wire.records import build_batch

T = 1_600_000_000_000
_CODECS = (Codec.GZIP, Codec.SNAPPY, Codec.LZ4)

Segments = dict[int, bytes]


def loose(
    magic: int, offsets: Iterable[int], *, at: int = T, append_time: bool = False, size: int = 1
) -> bytes:
    """Messages one by one; that with offset n has the time `at` + n."""
    return b"".join(
        build_message((n, at + n, b"k%d" % n, b"v" * size), magic, 8 * append_time) for n in offsets
    )


def wrapped(
    magic: int,
    offsets: Sequence[int],
    codec: int = Codec.GZIP,
    *,
    at: int = T,
    append_time: int | None = None,
    size: int = 1,
) -> bytes:
    """The same messages in a wrapper."""
    messages = [(n, at + n, b"k%d" % n, b"v" * size) for n in offsets]
    return build_set(messages, magic, codec=codec, log_append_time=append_time)


def batch(base: int, count: int, codec: int = Codec.NONE, *, at: int = T) -> bytes:
    """A batch of magic 2 with the same records."""
    records = [(at + n, b"k%d" % n, b"v", [("h", b"x")]) for n in range(base, base + count)]
    return bytes(build_batch(records, base_offset=base, codec=codec, leader_epoch=0))


def flipped(entry: bytes) -> bytes:
    """An entry with a wrong last byte."""
    return entry[:-1] + bytes([entry[-1] ^ 1])


def _codecs(magic: int, first: int) -> bytes:
    """A wrapper of three with each codec."""
    return b"".join(
        wrapped(magic, range(first + 3 * n, first + 3 * n + 3), codec)
        for n, codec in enumerate(_CODECS)
    )


TOPICS: dict[str, Segments] = {
    "loose-0": {0: loose(0, range(4)), 4: loose(0, range(4, 9)), 9: loose(0, range(9, 11))},
    "loose-1": {
        0: loose(1, range(4)) + loose(1, [4, 5], at=-5),
        6: loose(1, range(6, 9), at=T - 100) + loose(1, [9], append_time=True),
        10: loose(1, range(10, 12), at=T + 1000) + loose(1, range(12, 14)),
    },
    "wrapped-0": {0: _codecs(0, 0), 9: wrapped(0, range(9, 12)) + wrapped(0, [12])},
    "wrapped-1": {
        0: _codecs(1, 0),
        9: b"".join(
            wrapped(1, range(9 + 2 * n, 11 + 2 * n), codec, append_time=T + 500 + n)
            for n, codec in enumerate(_CODECS)
        ),
        15: wrapped(1, range(15, 18), at=T - 50) + wrapped(1, [18], at=-19),
    },
    "mixed": {
        0: loose(0, [0, 1])
        + loose(1, [2, 3])
        + batch(4, 2)
        + loose(1, [6])
        + batch(7, 3, Codec.GZIP)
        + wrapped(1, range(10, 13), Codec.LZ4)
        + loose(0, [13])
        + wrapped(0, [14, 15], Codec.SNAPPY),
        16: wrapped(1, [16, 17], append_time=T + 7) + batch(18, 2) + batch(20, 1, Codec.SNAPPY),
        21: batch(21, 3) + loose(1, [24, 25]),
    },
    "holes": {
        0: loose(0, [1, 4]) + wrapped(0, [6, 9]) + loose(1, [10, 12]),
        15: wrapped(1, [16, 18, 21]) + wrapped(1, [25, 27], append_time=T + 90) + batch(30, 2),
    },
    "large": {
        0: loose(1, range(30), size=900),
        30: b"".join(
            wrapped(1, range(n, n + 5), _CODECS[n % 3], size=4000) for n in range(30, 90, 5)
        ),
        90: loose(0, range(90, 110), size=1500) + loose(1, [110], size=20_000),
        111: wrapped(0, range(111, 131), Codec.LZ4, size=50) + loose(1, range(131, 140), size=700),
    },
}

END = 20
_LOOSE: Segments = {0: loose(1, range(END))}
_WRAPPED: Segments = {0: wrapped(0, range(END))}
TORN: dict[str, tuple[Segments, bytes]] = {
    "cut-loose": ({0: loose(0, range(9)), 9: loose(0, range(9, END))}, loose(0, [20])[:-1]),
    "cut-size": (_LOOSE, loose(1, [20])[:11]),
    "cut-magic": (_LOOSE, loose(1, [20])[:16]),
    "cut-wrapper": (_WRAPPED, wrapped(1, [20, 21])[:-9]),
    "flipped-loose": (_LOOSE, flipped(loose(1, [20])) + loose(1, [21, 22])),
    "flipped-wrapper": (_WRAPPED, flipped(wrapped(0, [20, 21])) + loose(0, [22])),
    "flipped-batch": (_WRAPPED, flipped(batch(20, 2)) + loose(1, [22])),
    "zeros": (_LOOSE, bytes(500)),
}
"""Those of a broker that was killed: what is whole, up to END, and what lies behind it."""


def torn(name: str) -> Segments:
    """One of TORN as it lies on disk."""
    segments, rest = TORN[name]
    newest = max(segments)
    return {**segments, newest: segments[newest] + rest}
