"""What brokers of before 0.11 store of a message set: each case as one of 0.10.2.2, or of 0.8.2.2,
has answered it."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import pytest
from odradek.wire import Error, Refused
from odradek.wire.compression import Codec, compress
from odradek.wire.legacy.as_batches import old_header, read_logged
from odradek.wire.legacy.message_sets import build_message, build_set, read_messages
from odradek.wire.legacy.stored_sets import as_magic_0, placed, stored_messages
from odradek.wire.legacy.up_conversion import Rules

NOW = 1_600_000_000_000
RULES = Rules(max_message_bytes=1 << 20, segment_bytes=1 << 20, takes_broker_times=False, magic=1)
CORRUPT, UNEXPECTED = Error.CORRUPT_MESSAGE, Error.UNKNOWN_SERVER_ERROR
UNTIMELY, TOO_LARGE = Error.INVALID_TIMESTAMP, Error.MESSAGE_TOO_LARGE


def loose(magic: int, count: int = 1, *, time: int = NOW, attributes: int = 0) -> bytes:
    messages = ((n, time, b"k", b"v") for n in range(count))
    return b"".join(build_message(each, magic, attributes) for each in messages)


def wrapper(magic: int, inner: bytes, *, offset: int = 0, attributes: int = 0) -> bytes:
    packed = bytes(compress(Codec.GZIP, inner, None))
    return build_message((offset, NOW, None, packed), magic, attributes | Codec.GZIP)


def long_key(message: bytes) -> bytes:
    """A message of magic 1 whose key says that it is longer than the message."""
    body = message[16:26] + (99).to_bytes(4, "big") + message[30:]
    return message[:12] + crc32(body).to_bytes(4, "big") + body


def answer(data: bytes, **changes: Any) -> list[tuple[int, int, int]] | Error:
    """Of each entry that is stored magic, attributes and last offset, or the error."""
    try:
        found = stored_messages(data, RULES._replace(**changes), NOW)
    except Refused as refused:
        return refused.error
    headers = [old_header(each) for each in found]
    return [(each.magic, each.attributes, each.last_offset) for each in headers]


TIMELY: dict[str, Any] = {"before_max_ms": 10, "after_max_ms": 10}
OLD: dict[str, Any] = {"magic": 0, "judges_messages": False}
CASES: dict[str, tuple[bytes, dict[str, Any], list[tuple[int, int, int]] | Error]] = {
    "nothing whole": (loose(1)[:-1], {}, []),
    "messages": (loose(1, 2), {}, [(1, 0, 0), (1, 0, 1)]),
    "messages of magic 0": (loose(0, 2), {}, [(1, 0, 0), (1, 0, 1)]),
    "both": (loose(0) + loose(1), {}, [(1, 0, 0), (1, 0, 1)]),
    "a wrapper of many": (wrapper(1, loose(1, 3), offset=2), {}, [(1, 1, 2)]),
    "a wrapper of magic 0": (wrapper(0, loose(0, 3)), {}, [(1, 1, 2)]),
    "wrappers and messages": (wrapper(1, loose(1)) + loose(0, 2), {}, [(1, 1, 2)]),
    "the codec of the topic": (loose(1, 2), {"codec": 2}, [(1, 2, 1)]),
    "no codec on the topic": (wrapper(1, loose(1, 2)), {"codec": 0}, [(1, 0, 0), (1, 0, 1)]),
    "the broker's time": (loose(1), {"log_append_time": True}, [(1, 8, 0)]),
    "the broker's time on a wrapper": (
        wrapper(1, loose(1)),
        {"log_append_time": True},
        [(1, 9, 0)],
    ),
    "what no reader can read": (long_key(loose(1)), {}, [(1, 0, 0)]),
    "the same where it is made anew": (long_key(loose(1)) + loose(0), {}, UNEXPECTED),
    "a size": (bytes(20), {}, CORRUPT),
    "a CRC": (loose(1)[:-1] + b"x", {}, CORRUPT),
    "a codec": (loose(1, attributes=4), {}, UNEXPECTED),
    "an inner CRC": (wrapper(1, loose(1)[:-1] + b"x"), {}, CORRUPT),
    "an inner CRC that is not looked at": (wrapper(0, loose(0)[:-1] + b"x"), {}, [(1, 1, 0)]),
    "an inner magic": (wrapper(1, loose(0)), {}, CORRUPT),
    "a wrapper in a wrapper": (wrapper(1, wrapper(1, loose(1))), {}, CORRUPT),
    "a wrapper of nothing": (wrapper(1, b""), {}, UNEXPECTED),
    "a time": (loose(1, time=NOW - 11), TIMELY, UNTIMELY),
    "no time": (loose(0), TIMELY, UNTIMELY),
    "no time in a wrapper": (wrapper(0, loose(0)), TIMELY, [(1, 1, 0)]),
    "a claim of the broker's time": (loose(1, attributes=8), {}, UNTIMELY),
    "a claim in a wrapper": (wrapper(1, loose(1), attributes=8), {}, UNTIMELY),
    "no key": (build_message((0, NOW, None, b"v"), 1), {"is_compacted": True}, CORRUPT),
    "too large": (loose(1), {"max_message_bytes": 20}, TOO_LARGE),
    "too large for the format": (loose(0), {"max_message_bytes": 30}, TOO_LARGE),
    "too large together": (loose(1, 2), {"max_message_bytes": 40}, [(1, 0, 0), (1, 0, 1)]),
    "too large for a segment": (loose(1, 2), {"segment_bytes": 40}, Error.RECORD_LIST_TOO_LARGE),
    # 0.10.2 on a topic of an older format
    "messages as magic 0": (loose(0) + loose(1), {"magic": 0}, [(0, 0, 0), (0, 0, 1)]),
    "a wrapper as magic 0": (wrapper(1, loose(1, 2), offset=1), {"magic": 0}, [(0, 1, 1)]),
    "no time that magic 0 looks at": (
        wrapper(1, loose(1)),
        {"magic": 0, "after_max_ms": -1},
        [(0, 1, 0)],
    ),
    # 0.8.2
    "0.8: messages": (loose(0) + loose(1), OLD, [(0, 0, 0), (1, 0, 1)]),
    "0.8: a wrapper": (wrapper(0, loose(0, 3)), OLD, [(0, 1, 2)]),
    "0.8: wrappers and messages": (
        wrapper(0, loose(0)) + loose(0, 2),
        OLD,
        [(0, 1, 2)],
    ),
    "0.8: wrappers in wrappers": (wrapper(0, wrapper(0, loose(0, 2)) + loose(0)), OLD, [(0, 1, 2)]),
    "0.8: a wrapper of magic 1": (wrapper(1, loose(1)), OLD, UNEXPECTED),
    "0.8: LZ4": (build_set([(0, -1, b"k", b"v")], 0, codec=3), OLD, [(0, 3, 0)]),
    "0.8: LZ4 with a right checksum": (
        build_message((0, -1, None, bytes(compress(3, loose(0), None))), 0, 3),
        OLD,
        UNEXPECTED,
    ),
    "0.8: no key": (build_message((0, -1, None, b"v"), 0), OLD, [(0, 0, 0)]),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_stored_or_refused(name: str) -> None:
    data, changes, expected = CASES[name]
    assert answer(data, **changes) == expected


def test_where_it_is_stored() -> None:
    """Offsets count from where the entry is, in wrappers of magic 0 as well."""
    for magic, data in ((0, wrapper(0, loose(0, 2))), (1, wrapper(1, loose(1, 2), offset=1))):
        (entry,) = stored_messages(
            data, RULES._replace(magic=magic, judges_messages=magic > 0), NOW
        )
        moved = placed(entry, 7)
        assert [each.offset for each in read_logged(moved)] == [7, 8]
        assert old_header(moved).base_offset == 7
    assert [each.offset for each in read_messages(placed(loose(1), 7))] == [7]


def test_what_a_client_of_before_0_10_gets() -> None:
    """All in the codec of the first entry; what is cut is left out."""
    first, second = build_set([(0, NOW, b"a", b"1")], 1), build_set([(1, NOW, b"b", b"2")], 1)
    packed = build_set([(1, NOW, b"b", b"2")], 1, codec=Codec.GZIP)
    plain = build_set([(0, -1, b"a", b"1"), (1, -1, b"b", b"2")], 0)
    assert as_magic_0(first + packed + second[:-1]) == plain
    (wrapped,) = [as_magic_0(placed(packed, -1) + second)]
    assert [each[:3] for each in read_messages(wrapped)] == [(0, -1, b"b"), (1, -1, b"b")]
    assert old_header(wrapped).codec == Codec.GZIP
    assert as_magic_0(plain) == plain
    assert as_magic_0(first[:-1]) == first[:-1]
    with pytest.raises(Refused):
        as_magic_0(long_key(first))
