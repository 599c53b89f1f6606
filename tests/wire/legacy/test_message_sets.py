"""Message sets, magic 0 and 1: against other implementations, against damage, and against bombs."""

from __future__ import annotations

from typing import Any

import aiokafka.record.legacy_records as aio
import kafka.record.legacy_records as kp
import lz4.frame
import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.wire import Error, WireError
from odradek.wire.compression import (
    Codec,
    break_lz4_checksum,
    compress,
    decompress,
    mend_lz4_checksum,
)
from odradek.wire.legacy.message_sets import (
    DamagedSet,
    Message,
    build_message,
    build_set,
    crc_is_right,
    entries,
    read_messages,
)

from tests.support.drawn import examples

T = 1_600_000_000_000
OLD_CODECS = [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4]
FORMATS = [(magic, codec) for magic in (0, 1) for codec in OLD_CODECS]
each_format = pytest.mark.parametrize(("magic", "codec"), FORMATS)

MESSAGES = [
    Message(7, T, b"k0", b"v0"),
    Message(8, T + 5, None, b"v1" * 500),
    Message(10, T - 5, b"", None),
    Message(11, -1, b"k3", b""),
]


def as_read(messages: list[Message], magic: int) -> list[Message]:
    """What is left of messages in a magic: in 0 they have no time."""
    return messages if magic else [message._replace(timestamp=-1) for message in messages]


@each_format
def test_what_is_built_is_read_with_absolute_offsets(magic: int, codec: Codec) -> None:
    data = build_set(MESSAGES, magic, codec=codec)
    assert read_messages(data) == as_read(MESSAGES, magic)
    assert all(crc_is_right(data, entry) for entry in entries(data))
    assert len(list(entries(data))) == (1 if codec else len(MESSAGES))


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_buffer_is_read(kind: Any) -> None:
    assert read_messages(kind(build_set(MESSAGES, 1, codec=Codec.GZIP))) == MESSAGES


def test_an_entry_is_laid_out_as_the_documents_say() -> None:
    assert build_message((5, T, b"k", b"v"), 0) == bytes.fromhex(
        "0000000000000005 00000010 1fecd70a 00 00 00000001 6b 00000001 76"
    )
    assert build_message((5, T, b"k", None), 1) == bytes.fromhex(
        "0000000000000005 00000017 d74cb25d 01 00 00000174876e8000 00000001 6b ffffffff"
    )


def inner_of(wrapper: bytes, magic: int, codec: Codec) -> list[tuple[int, int]]:
    """Offset and attributes of each message in a wrapper, as they stand there."""
    value = wrapper[12 + (22 if magic else 14) :]
    if codec is Codec.LZ4 and not magic:
        value = bytes(mend_lz4_checksum(value))
    text = bytes(decompress(codec, value))
    return [
        (int.from_bytes(text[e.pos : e.pos + 8], "big", signed=True), text[e.pos + 17])
        for e in entries(text)
    ]


@pytest.mark.parametrize("codec", OLD_CODECS[1:])
def test_inner_offsets_are_absolute_in_magic_0_and_relative_in_magic_1(codec: Codec) -> None:
    old, new = (build_set(MESSAGES, magic, codec=codec) for magic in (0, 1))
    assert inner_of(old, 0, codec) == [(7, 0), (8, 0), (10, 0), (11, 0)]
    assert inner_of(new, 1, codec) == [(0, 0), (1, 0), (3, 0), (4, 0)]
    assert old[:8] == new[:8] == (11).to_bytes(8, "big")


def test_a_wrapper_has_no_key_and_the_largest_inner_time() -> None:
    wrapper = build_set(MESSAGES, 1, codec=Codec.GZIP)
    assert int.from_bytes(wrapper[18:26], "big") == T + 5
    assert wrapper[26:30] == b"\xff" * 4


def test_log_append_time_is_on_every_message_of_magic_1_and_on_none_of_magic_0() -> None:
    stamped = [message._replace(timestamp=T + 99) for message in MESSAGES]
    for codec in OLD_CODECS:
        new = build_set(MESSAGES, 1, codec=codec, log_append_time=T + 99)
        assert read_messages(new) == stamped
        assert all(new[entry.pos + 17] == codec | 8 for entry in entries(new))
        if codec:
            assert {attributes for _, attributes in inner_of(new, 1, codec)} == {8}
        assert build_set(MESSAGES, 0, codec=codec, log_append_time=T) == build_set(
            MESSAGES, 0, codec=codec
        )


def test_a_wrapper_with_log_append_time_gives_it_to_inner_messages_that_have_not() -> None:
    """Brokers of 0.10 stamped the wrapper alone."""
    value = compress(Codec.GZIP, build_set(MESSAGES, 1))
    wrapper = build_message((11, T + 99, None, value), 1, 8 | Codec.GZIP)
    assert {message.timestamp for message in read_messages(wrapper)} == {T + 99}


def wrapper_of(inner: bytes, magic: int, offset: int, codec: int = Codec.GZIP) -> bytes:
    packed: bytes | bytearray = compress(codec, inner)
    if codec == Codec.LZ4 and not magic:
        packed = break_lz4_checksum(packed)
    return build_message((offset, T, None, packed), magic, codec)


def test_a_wrapper_of_magic_1_with_offset_0_leaves_inner_offsets_as_they_are() -> None:
    inner = build_set([Message(0, T, None, b"a"), Message(1, T, None, b"b")], 1)
    assert [m.offset for m in read_messages(wrapper_of(inner, 1, 0))] == [0, 1]
    assert [m.offset for m in read_messages(wrapper_of(inner, 1, 9))] == [8, 9]


def test_bytes_behind_a_value_are_ignored_and_lengths_below_minus_1_are_null() -> None:
    plain = build_message((1, T, b"k", b"v"), 0)
    longer = plain[:8] + (len(plain) - 12 + 3).to_bytes(4, "big") + plain[12:] + b"???"
    assert read_messages(longer) == [Message(1, -1, b"k", b"v")]
    null = build_message((1, T, None, None), 0)
    assert read_messages(null[:-8] + b"\xff\xff\xff\xf0" * 2) == [Message(1, -1, None, None)]


@each_format
def test_a_set_is_read_up_to_where_it_is_cut(magic: int, codec: Codec) -> None:
    data = build_set(MESSAGES[:1], magic, codec=codec) + build_set(MESSAGES, magic, codec=codec)
    whole = as_read(MESSAGES[:1], magic)
    first = len(build_set(MESSAGES[:1], magic, codec=codec))
    for end in range(first, first + 40):
        assert read_messages(data[:end])[:1] == whole
    assert read_messages(data[:-1]) == as_read(
        MESSAGES[:1] if codec else MESSAGES[:1] + MESSAGES[:-1], magic
    )


def test_messages_cut_inside_a_wrapper_are_dropped() -> None:
    inner = build_set(MESSAGES, 0)
    assert read_messages(wrapper_of(inner[:-3], 0, 11)) == as_read(MESSAGES[:-1], 0)


PLAIN = build_message((0, T, b"k", b"v"), 0)
REFUSED = {
    "a size no message has": (PLAIN[:8] + bytes(3) + b"\x0d" + PLAIN[12:], 2),
    "a negative size": (PLAIN[:8] + b"\xff" * 4 + PLAIN[12:], 2),
    "zeros": (bytes(40), 2),
    "a magic of the future": (PLAIN[:16] + b"\x03" + PLAIN[17:], 2),
    "a magic below all": (PLAIN[:16] + b"\xff" + PLAIN[17:], 2),
    "a batch": (PLAIN[:16] + b"\x02" + PLAIN[17:], None),
    "a key past the end": (PLAIN[:18] + b"\x7f\xff\xff\xff" + PLAIN[22:], None),
    "a value past the end": (PLAIN[:-2] + b"\x02v", None),
    "codec 5": (build_message((0, T, None, b"?"), 0, 5), None),
    "zstd": (build_message((0, T, None, compress(4, PLAIN)), 0, 4), 87),
    "a wrapper without a value": (build_message((0, T, None, None), 0, 1), 87),
    "an empty wrapper": (wrapper_of(b"", 0, 0), 87),
    "a wrapper of an empty value": (build_message((0, T, None, b""), 0, 1), None),
    "a wrapper of nonsense": (build_message((0, T, None, b"nonsense"), 0, 1), None),
    "a wrapper in a wrapper": (wrapper_of(wrapper_of(PLAIN, 0, 0), 0, 0), 87),
    "another magic in a wrapper": (wrapper_of(PLAIN, 1, 0), 87),
    "an inner size too small": (wrapper_of(bytes(30), 0, 0), 2),
    "a wrapper below its last": (wrapper_of(build_message((5, T, None, b""), 1), 1, 4), 87),
}


@pytest.mark.parametrize("name", REFUSED)
def test_damage_is_a_wire_error_that_knows_the_brokers_answer(name: str) -> None:
    data, code = REFUSED[name]
    with pytest.raises(WireError) as refused:
        read_messages(data)
    error = refused.value.error if isinstance(refused.value, DamagedSet) else None
    assert error == (None if code is None else Error(code))


def test_nesting_is_refused_however_deep_it_is() -> None:
    data = PLAIN
    for _ in range(50):
        data = wrapper_of(data, 0, 0)
    with pytest.raises(WireError, match="wrapper inside a wrapper"):
        read_messages(data)


def test_wrappers_stop_at_the_limit_all_together() -> None:
    one = build_set([Message(0, T, None, bytes(100_000))], 1, codec=Codec.GZIP)
    assert len(read_messages(one * 9, limit=1_000_000)) == 9
    with pytest.raises(WireError, match="more than"):
        read_messages(one * 11, limit=1_000_000)
    with pytest.raises(WireError, match="more than"):
        read_messages(wrapper_of(bytes(5_000_000), 0, 0), limit=1_000_000)


def test_what_has_no_place_in_a_message_cannot_be_built() -> None:
    for message in [(1 << 63, 0, None, None), (0, 1 << 63, None, None)]:
        with pytest.raises(WireError, match="does not fit"):
            build_message(message, 1)
    with pytest.raises(WireError, match="no codec 4"):
        build_set(MESSAGES, 1, codec=Codec.ZSTD)


@given(
    magic=st.sampled_from([0, 1]),
    codec=st.sampled_from(OLD_CODECS),
    cut=st.integers(0, 90),
    put=st.binary(max_size=16),
    skip=st.integers(0, 16),
)
@examples(500)
def test_any_bytes_decode_or_raise_wire_error(
    magic: int, codec: Codec, cut: int, put: bytes, skip: int
) -> None:
    good = build_set(MESSAGES, magic, codec=codec)
    inside = wrapper_of(build_set(MESSAGES, magic)[:cut] + put, magic, 0)
    for damaged in (put, good[:cut] + put, good[:cut] + put + good[cut + skip :], inside):
        try:
            found = read_messages(damaged, limit=100_000)
        except WireError:
            continue
        assert all(-(1 << 64) < message.offset < 1 << 64 for message in found)


CONTENT = st.none() | st.binary(max_size=300)


@given(
    contents=st.lists(st.tuples(st.integers(-1, 1 << 62), CONTENT, CONTENT), max_size=20),
    base=st.integers(0, 1 << 40),
    form=st.sampled_from(FORMATS),
)
@examples(200)
def test_any_messages_make_a_set_and_come_back(
    contents: list[tuple[int, bytes | None, bytes | None]], base: int, form: tuple[int, Codec]
) -> None:
    magic, codec = form
    sent = [Message(base + 2 * n, *content) for n, content in enumerate(contents)]
    assert read_messages(build_set(sent, magic, codec=codec)) == as_read(sent, magic)


# lz4 in magic 0.


def test_lz4_has_a_broken_checksum_in_magic_0_and_the_right_one_in_magic_1() -> None:
    old, new = (build_set(MESSAGES, magic, codec=Codec.LZ4) for magic in (0, 1))
    assert old[26:33].hex() == "04224d1860401a"
    assert new[34:41].hex() == "04224d18604082"


def test_in_magic_0_any_header_checksum_is_read_and_in_magic_1_only_the_right_one() -> None:
    text = {magic: build_set(MESSAGES, magic) for magic in (0, 1)}
    for checksum in (0x1A, 0x82, 0x00):
        for magic in (0, 1):
            frame = bytearray(compress(Codec.LZ4, text[magic]))
            frame[6] = checksum
            data = build_message((11, T, None, frame), magic, Codec.LZ4)
            if magic == 0 or checksum == 0x82:
                assert len(read_messages(data)) == len(MESSAGES)
            else:
                with pytest.raises(WireError, match="damaged lz4"):
                    read_messages(data)


@pytest.mark.parametrize(
    "damage", [b"", b"\x04\x22\x4d\x18", b"\x04\x22\x4d\x18\x63\x40\x82", b"0"]
)
def test_what_is_no_lz4_frame_has_no_checksum_to_mend(damage: bytes) -> None:
    with pytest.raises(WireError, match="lz4"):
        mend_lz4_checksum(damage)


def test_a_checksum_behind_a_content_size_is_mended_too() -> None:
    frame = lz4.frame.compress(b"x" * 100, store_size=True)
    broken = break_lz4_checksum(frame)
    assert broken != frame
    assert mend_lz4_checksum(broken) == frame


# Other implementations. lz4 in magic 0 aiokafka has not, and kafka-python not by itself.

DENSE = [message._replace(offset=n) for n, message in enumerate(MESSAGES)]
BOTH = [
    pytest.param(library, magic, codec, id=f"{library.__name__.split('.')[0]}-{magic}-{codec.name}")
    for library in (aio, kp)
    for magic, codec in FORMATS
    if (magic, codec) != (0, Codec.LZ4)
]


@pytest.mark.parametrize(("library", "magic", "codec"), BOTH)
def test_sets_of_stock_clients_are_read(library: Any, magic: int, codec: Codec) -> None:
    builder = library.LegacyRecordBatchBuilder(
        magic=magic, compression_type=int(codec), batch_size=1 << 20
    )
    for message in DENSE:
        time = None if message.timestamp < 0 else message.timestamp
        builder.append(message.offset, time or 0, message.key, message.value)
    expected = [message._replace(timestamp=max(message.timestamp, 0)) for message in DENSE]
    assert read_messages(bytes(builder.build())) == as_read(expected, magic)


@pytest.mark.parametrize(("library", "magic", "codec"), BOTH)
def test_stock_clients_read_our_sets(library: Any, magic: int, codec: Codec) -> None:
    data = build_set(MESSAGES, magic, codec=codec)
    read = []
    for entry in entries(data):
        batch = library.LegacyRecordBatch(bytearray(data[entry.pos :][: entry.size]), magic)
        assert batch.validate_crc()
        for record in batch:
            time = -1 if record.timestamp is None else record.timestamp
            read.append(Message(record.offset, time, record.key, record.value))
    assert read == as_read(MESSAGES, magic)
