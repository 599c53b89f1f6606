"""What is produced to a broker of 0.11 to 2.0: each case as a real one of 1.1.1 has answered it."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.wire import Error, Refused
from odradek.wire.batch import seal
from odradek.wire.compression import Codec, compress
from odradek.wire.legacy.message_sets import build_message, build_set
from odradek.wire.legacy.mixed_sets import RecordRefused, stored_batches
from odradek.wire.legacy.up_conversion import Rules
from odradek.wire.records import build_batch, read_records

NOW = 1_600_000_000_000
RULES = Rules(
    max_message_bytes=1 << 20, segment_bytes=1 << 20, takes_broker_times=False, takes_several=True
)
CORRUPT, UNEXPECTED = Error.CORRUPT_MESSAGE, Error.UNKNOWN_SERVER_ERROR
UNTIMELY, TOO_LARGE = Error.INVALID_TIMESTAMP, Error.MESSAGE_TOO_LARGE


def batch(count: int = 1, key: bytes | None = b"k", **options: Any) -> bytes:
    return bytes(build_batch([(NOW, key, b"v", ())] * count, **options))


def edited(data: bytes, **places: tuple[int, int]) -> bytes:
    """A batch with bytes at places changed, and its CRC."""
    changed = bytearray(data)
    for at, value in places.values():
        changed[at] = value
    seal(changed, 0, len(changed))
    return bytes(changed)


def of_payload(payload: bytes, count: int = 1) -> bytes:
    """A batch of these bytes in the place of its records."""
    head = bytearray(batch(count))[:61]
    head[8:12] = (len(payload) + 49).to_bytes(4, "big")
    data = head + payload
    seal(data, 0, len(data))
    return bytes(data)


def loose(magic: int, *times: int, attributes: int = 0) -> bytes:
    return b"".join(
        build_message((n, t, b"k", b"v"), magic, attributes) for n, t in enumerate(times)
    )


def wrapper(
    magic: int, *, offset: int = 0, attributes: int = 0, inner: bytes | None = None
) -> bytes:
    """A message of a set that GZIP has packed."""
    text = build_set([(0, NOW, b"k", b"v")], magic) if inner is None else inner
    packed = bytes(compress(Codec.GZIP, text, None))
    return build_message((offset, NOW, None, packed), magic, attributes | Codec.GZIP)


def other_crc(message: bytes) -> bytes:
    return message[:12] + bytes(4) + message[16:]


LONG_AGO: dict[str, Any] = {"before_max_ms": 10, "after_max_ms": 10}
REFUSED: dict[str, tuple[bytes, dict[str, Any], Error]] = {
    "an impossible size": (bytes(20), {}, CORRUPT),
    "damage after a batch": (batch() + bytes(20), {}, CORRUPT),
    "a base offset": (b"\1" + batch()[1:], {}, CORRUPT),
    "a batch without a last offset": (
        batch()[:8] + (14).to_bytes(4, "big") + batch()[12:26],
        {},
        UNEXPECTED,
    ),
    "a batch that is cut within its header": (
        batch()[:8] + (28).to_bytes(4, "big") + batch()[12:40],
        {},
        CORRUPT,
    ),
    "too large before it is damaged": (batch()[:-1] + b"x", {"max_message_bytes": 20}, TOO_LARGE),
    "ZSTD": (batch(codec=4), {}, UNEXPECTED),
    "ZSTD that is too large": (batch(codec=4), {"max_message_bytes": 20}, TOO_LARGE),
    "a wrong CRC": (batch()[:-1] + b"x", {}, CORRUPT),
    "a control batch": (edited(batch(), attributes=(22, 0x20)), {}, CORRUPT),
    "a producer without a sequence": (batch(producer_id=7, producer_epoch=0), {}, CORRUPT),
    "a count of two": (edited(batch(), count=(60, 2)), {}, CORRUPT),
    "a record longer than what is left": (of_payload(b"\x70\0\0\0\2k\2v\0", 2), {}, UNEXPECTED),
    "the last one": (of_payload(b"\x70\0\0\0\2k\2v\0"), {}, CORRUPT),
    "a length that does not end": (of_payload(b"\xff" * 9), {}, UNEXPECTED),
    "no records": (of_payload(b""), {}, CORRUPT),
    "a length that its contents do not have": (of_payload(b"\x12\0\0\0\2k\2v\0\0"), {}, CORRUPT),
    "a header whose name does not end": (of_payload(b"\x10\0\0\0\1k\2v\0"), {}, UNEXPECTED),
    "a time that is first": (batch(), {"after_max_ms": -1}, UNTIMELY),
    "null keys": (batch(key=None), {"is_compacted": True}, CORRUPT),
    "the broker's time": (edited(batch(), attributes=(22, 8)), {}, UNTIMELY),
    "the broker's time in a wrapper, before an inner CRC": (
        wrapper(
            1,
            offset=1,
            attributes=8,
            inner=build_message((0, NOW, b"k", b"v"), 1)
            + other_crc(build_message((1, NOW, b"k", b"v"), 1)),
        ),
        {},
        UNTIMELY,
    ),
    "an inner CRC": (wrapper(1, inner=other_crc(loose(1, NOW))), {}, CORRUPT),
    "an inner magic": (wrapper(1, inner=loose(0, -1)), {}, CORRUPT),
    "a wrapper in a wrapper": (wrapper(1, inner=wrapper(1)), {}, CORRUPT),
    "a wrapper of ZSTD in a wrapper": (
        wrapper(1, inner=loose(1, NOW, attributes=4)),
        {},
        UNEXPECTED,
    ),
    "a wrapper of nothing": (wrapper(1, inner=b""), {}, CORRUPT),
    "a wrapper of an earlier offset": (
        wrapper(1, offset=1, inner=build_message((5, NOW, b"k", b"v"), 1)),
        {},
        CORRUPT,
    ),
    "a time before all, that is written anew": (loose(1, -5), {}, UNEXPECTED),
    "an old producer's transaction, written anew": (
        edited(batch(), attributes=(22, 0x10)),
        {"codec": 1},
        UNEXPECTED,
    ),
    "a producer without an epoch, written anew": (
        batch(producer_id=7, producer_epoch=-1, base_sequence=0),
        {"codec": 1},
        UNEXPECTED,
    ),
    "what does not fit when it is written anew": (
        loose(0, -1),
        {"max_message_bytes": 60},
        TOO_LARGE,
    ),
    "what does not fit a segment": (batch(), {"segment_bytes": 60}, Error.RECORD_LIST_TOO_LARGE),
}


def answer(data: bytes, **changes: Any) -> list[int] | Error:
    """How many records each batch has that is stored, or the error."""
    try:
        found = stored_batches(data, RULES._replace(**changes), NOW, 1 << 20)
    except Refused as refused:
        return refused.error
    return [len(read_records(each)) for each in found]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    data, changes, error = REFUSED[name]
    assert answer(data, **changes) is error


INVALID = Error.INVALID_RECORD
OF_2_4: dict[str, tuple[bytes, dict[str, Any], list[int] | Error]] = {
    "two batches": (batch() * 2, {}, INVALID),
    "a batch before a message": (batch() + loose(1, NOW), {}, INVALID),
    "two wrappers": (wrapper(1) * 2, {}, INVALID),
    "two magics": (loose(0, -1) + loose(1, NOW), {}, INVALID),
    "messages": (loose(1, NOW, NOW), {}, [2]),
    "messages that get a codec": (loose(1, NOW, NOW), {"codec": 1}, [2]),
    "those that do not count": (loose(1, NOW) * 2, {"codec": 1}, INVALID),
    "old ones that do not count": (loose(0, -1) * 2, {"codec": 1}, [2]),
    "ZSTD": (batch(codec=4), {}, [1]),
    "a base offset": (b"\1" + batch()[1:], {}, INVALID),
    "a CRC": (batch()[:-1] + b"x", {}, CORRUPT),
    "an inner CRC": (wrapper(1, inner=other_crc(loose(1, NOW))), {}, CORRUPT),
    "no records": (of_payload(b""), {}, INVALID),
    "a record longer than what is left": (of_payload(b"\x70\0\0\0\2k\2v\0", 2), {}, UNEXPECTED),
    "null keys": (batch(key=None), {"is_compacted": True}, INVALID),
}


@pytest.mark.parametrize("name", OF_2_4)
def test_what_2_4_takes(name: str) -> None:
    data, changes, expected = OF_2_4[name]
    assert answer(data, takes_several=False, **changes) == expected


def test_which_record_2_4_refuses() -> None:
    rules = RULES._replace(takes_several=False, before_max_ms=10, after_max_ms=10)
    data = bytes(build_batch([(NOW, b"k", b"v", ()), (NOW + 11, b"k", b"v", ())]))
    with pytest.raises(RecordRefused) as refused:
        stored_batches(data, rules, NOW, 1 << 20)
    assert (refused.value.error, refused.value.index) == (UNTIMELY, 1)


STORED: dict[str, tuple[bytes, dict[str, Any], list[int]]] = {
    "nothing whole": (batch()[:-1], {}, []),
    "two batches": (batch(2) + batch(), {}, [2, 1]),
    "two batches, one compressed": (batch(2, codec=1) + batch(), {}, [3]),
    "batches and messages": (batch(2) + loose(1, NOW) + loose(0, -1), {}, [4]),
    "two wrappers": (wrapper(1) + wrapper(0), {}, [2]),
    "a wrapper, and a cut message": (wrapper(1) + loose(1, NOW)[:-1], {}, [1]),
    "a codec of the topic": (batch(2) + loose(0, -1), {"codec": 2}, [3]),
    "a transaction without a producer": (edited(batch(), attributes=(22, 0x10)), {}, [1]),
    "a message without a time": (loose(1, -1), {"after_max_ms": -1}, [1]),
}


@pytest.mark.parametrize("name", STORED)
def test_what_is_stored(name: str) -> None:
    data, changes, counts = STORED[name]
    assert answer(data, **changes) == counts


def test_counts_before_1_0() -> None:
    lying = edited(batch(2), delta=(26, 7))
    assert answer(lying, codec=1) is CORRUPT
    assert answer(lying, codec=1, checks_counts=False) == [2]
    assert answer(lying, checks_counts=False) is CORRUPT
    assert answer(edited(batch(), count=(60, 0)), checks_counts=False) is CORRUPT


def test_a_cut_entry_of_no_magic() -> None:
    cut = bytes(8) + (99).to_bytes(4, "big") + b"\x09" * 20
    assert answer(batch() + cut) is CORRUPT
    assert answer(batch() + cut, looks_at_magic_first=False) == [1]
    whole = bytes(8) + (20).to_bytes(4, "big") + b"\x09" * 20
    assert answer(batch() + whole, looks_at_magic_first=False) is CORRUPT


def test_what_is_kept() -> None:
    """A batch as it was sent, with the time of its records, or the broker's."""
    compressed = batch(2, codec=1, producer_id=7, producer_epoch=1, base_sequence=3)
    assert [bytes(each) for each in stored_batches(compressed, RULES, NOW, 1 << 20)] == [compressed]
    lying = edited(batch(), latest=(42, 1))
    stamped = RULES._replace(log_append_time=True)

    def times(rules: Rules) -> list[int]:
        (stored,) = stored_batches(lying, rules, 5, 1 << 20)
        return [each.timestamp for each in read_records(stored)]

    assert (times(RULES), times(stamped)) == ([NOW], [5])
