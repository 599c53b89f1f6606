"""Messages of magic 0 and 1 seen as batches: their headers, and walking over all formats."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.wire import WireError
from odradek.wire.batch import MAGIC, batches, read_header
from odradek.wire.compression import Codec
from odradek.wire.legacy.as_batches import (
    entry_size,
    header_of,
    is_intact,
    logged_batches,
    old_header,
    read_logged,
)
from odradek.wire.legacy.message_sets import build_message, build_set
from odradek.wire.records import read_records

from tests.support.old_segments import TOPICS, T, batch, flipped, loose, wrapped
from tests.wire.support.produced_sets import one, wrapper

# What is there; base and last offset, attributes, time, count.
HEADERS: list[tuple[str, bytes, tuple[int, int, int, int, int]]] = [
    ("loose, magic 0", loose(0, [7]), (7, 7, 0, -1, 1)),
    ("loose, magic 1", loose(1, [7]), (7, 7, 0, T + 7, 1)),
    ("log append time", loose(1, [7], append_time=True), (7, 7, 8, T + 7, 1)),
    ("bit 3 in magic 0", one(0, offset=7, attributes=8), (7, 7, 0, -1, 1)),
    ("bits of newer formats", one(1, offset=7, attributes=0x70), (7, 7, 0, T, 1)),
    ("gzip, magic 0", wrapped(0, [3, 5, 9]), (3, 9, 1, -1, 3)),
    ("snappy, magic 0", wrapped(0, [3], Codec.SNAPPY), (3, 3, 2, -1, 1)),
    ("lz4, magic 0", wrapped(0, [3, 4], Codec.LZ4), (3, 4, 3, -1, 2)),
    ("gzip, magic 1", wrapped(1, [3, 5, 9]), (3, 9, 1, T + 9, 3)),
    ("the latest is not the last", wrapper(1, loose(1, [0, 1]), offset=5), (4, 5, 1, T, 2)),
    ("lz4, log append time", wrapped(1, [3, 4], Codec.LZ4, append_time=8), (3, 4, 11, 8, 2)),
    # What early librdkafka sent, and brokers never stored: then inner offsets count as they are.
    ("offset 0", wrapper(1, loose(1, [0]), offset=0), (0, 0, 1, T, 1)),
    ("offset 0 around two", wrapper(1, loose(1, [0, 1]), offset=0), (0, 0, 1, T, 2)),
    # Inner messages that nobody can read, or that cannot be there: one message.
    ("no gzip text", wrapper(1, b"", offset=4, packed=b"nonsense"), (4, 4, 1, T, 1)),
    ("an empty wrapper", wrapper(1, b"", offset=4), (4, 4, 1, T, 1)),
    ("no value", build_message((4, T, None, None), 1, Codec.GZIP), (4, 4, 1, T, 1)),
    ("offsets above its own", wrapper(1, loose(1, [8, 9]), offset=4), (4, 4, 1, T, 1)),
    ("falling offsets", wrapper(1, loose(1, [8, 1]), offset=4), (4, 4, 1, T, 2)),
    # Damage, for in magic 0 it is the offset of the last one: base offset behind last offset.
    ("not its last one's", wrapper(0, loose(0, [8, 9]), offset=4), (5, 4, 1, -1, 2)),
    ("zstd", wrapper(1, loose(1, [0]), Codec.ZSTD, offset=4), (4, 4, 4, T, 1)),
    ("codec 7", one(1, offset=4, attributes=7), (4, 4, 7, T, 1)),
]


@pytest.mark.parametrize(
    ("entry", "expected"), [case[1:] for case in HEADERS], ids=[case[0] for case in HEADERS]
)
def test_a_message_has_the_header_of_a_batch(entry: bytes, expected: tuple[int, ...]) -> None:
    for data, pos in ((entry, 0), (b"???" + entry + loose(0, [99]), 3)):
        header = header_of(data, pos)
        assert header == old_header(memoryview(data), pos)
        first, last, attributes, time, count = expected
        assert (header.base_offset, header.last_offset) == (first, last)
        assert (header.attributes, header.max_timestamp, header.count) == (attributes, time, count)
        assert (header.magic, header.size) == (entry[16], len(entry))
        assert (header.leader_epoch, header.producer_id, header.base_sequence) == (-1, -1, -1)
        assert not header.is_control
        assert not header.is_transactional
        assert is_intact(data, pos, header)
        bad = bytearray(data)
        bad[pos + len(entry) - 1] ^= 1
        assert not is_intact(bad, pos, header)


@pytest.mark.parametrize("topic", TOPICS)
def test_all_formats_are_walked_through_up_to_a_cut_entry(topic: str) -> None:
    for data in TOPICS[topic].values():
        found = list(logged_batches(data))
        assert sum(header.size for _, header in found) == len(data)
        assert [header_of(data, pos) for pos, _ in found] == [header for _, header in found]
        assert all(is_intact(data, pos, header) for pos, header in found)
        for end in {len(data) - 1, *(pos + by for pos, _ in found for by in (1, 11, 16, 17, 30))}:
            cut = [each for each in found if each[0] + each[1].size <= end]
            assert list(logged_batches(data[:end])) == cut
            assert list(logged_batches(data, 0, end)) == cut


def test_batches_of_magic_2_are_what_they_were() -> None:
    data = batch(0, 3) + batch(3, 2, Codec.GZIP)
    assert list(logged_batches(data)) == list(batches(data))
    for pos, header in batches(data):
        assert header_of(data, pos) == read_header(data, pos) == header
        assert read_logged(data, pos) == read_records(data, pos)
        assert is_intact(data, pos, header)
        assert not is_intact(flipped(data[: pos + header.size]), pos, header)
    assert header_of(data[:61]).size == len(batch(0, 3)), "a header is enough"


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(bytes(500), id="zeros"),
        pytest.param(loose(0, [0])[:16], id="no magic"),
        pytest.param(loose(0, [0])[:-1], id="cut"),
        pytest.param(batch(0, 1)[:60], id="no whole header"),
        pytest.param(loose(1, [0])[:16] + b"\3" + bytes(60), id="magic 3"),
        pytest.param(loose(1, [0])[:16] + b"\xff" + bytes(60), id="magic -1"),
        pytest.param(bytes(11) + b"\x0d" + bytes(60), id="13 bytes of magic 0"),
        pytest.param(bytes(11) + b"\x15" + bytes(4) + b"\1" + bytes(60), id="21 bytes of magic 1"),
        pytest.param(bytes(8) + b"\xff\xff\xff\xf0" + bytes(60), id="a negative size"),
    ],
)
def test_what_is_no_message_is_refused(entry: bytes) -> None:
    for read in (header_of, old_header, read_logged):
        with pytest.raises(WireError):
            read(entry)


mixed_bytes = st.lists(
    st.one_of(
        st.binary(max_size=30),
        st.sampled_from(
            [loose(0, [1]), loose(1, [1]), wrapped(0, [1, 2]), wrapped(1, [1]), batch(0, 1)]
        ),
        st.builds(lambda head, tail: head[:16] + tail, st.just(wrapped(1, [1, 2])), st.binary()),
    ),
    max_size=6,
).map(b"".join)


@given(data=mixed_bytes, pos=st.integers(0, 40))
def test_any_bytes_either_decode_or_raise_wire_error(data: bytes, pos: int) -> None:
    found: Any
    for read in (header_of, entry_size, read_logged, lambda buf, at: list(logged_batches(buf, at))):
        try:
            found = read(data, pos)
        except WireError:
            continue
        assert found is not None


@given(
    magic=st.sampled_from([0, 1]),
    codec=st.sampled_from([Codec.GZIP, Codec.SNAPPY, Codec.LZ4]),
    steps=st.lists(st.integers(1, 1000), min_size=1, max_size=20),
    times=st.lists(st.integers(-1, 1 << 50), min_size=20, max_size=20),
    append_time=st.none() | st.integers(0, 1 << 50),
)
def test_a_wrapper_is_read_as_it_was_built(
    magic: int, codec: Codec, steps: list[int], times: list[int], append_time: int | None
) -> None:
    offsets = [sum(steps[: n + 1]) for n in range(len(steps))]
    messages = [(offset, time, b"k", None) for offset, time in zip(offsets, times, strict=False)]
    data = build_set(messages, magic, codec=codec, log_append_time=append_time)
    header = header_of(data)
    assert (header.base_offset, header.last_offset) == (offsets[0], offsets[-1])
    assert header.count == len(offsets)
    records = read_logged(data)
    assert [record.offset for record in records] == offsets
    if magic:
        assert max(record.timestamp for record in records) == header.max_timestamp
        assert header.is_log_append_time == (append_time is not None)
    else:
        assert {record.timestamp for record in records} == {header.max_timestamp} == {-1}
    assert MAGIC not in (header.magic, magic)
