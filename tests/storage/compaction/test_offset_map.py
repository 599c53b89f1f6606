"""The offset map: in Python and in C alike, and what it costs."""

from __future__ import annotations

from struct import pack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.storage.compaction import offset_map as compaction_map
from odradek.storage.compaction.offset_map import (
    DictMap,
    OffsetMap,
    TableMap,
    rebuilt,
    rebuilt_python,
)
from odradek.wire.batch import HEADER_SIZE, BatchHeader, read_header
from odradek.wire.errors import WireError
from odradek.wire.records import build_batch, read_records

from tests.support.drawn import examples

needs_c = pytest.mark.skipif(not compaction_map.HAVE_C, reason="the C extension is not built")
MAPS = [DictMap, pytest.param(TableMap, marks=needs_c)]
PLENTY = 1 << 20

KEYS = st.none() | st.sampled_from([b"", b"a", b"b", b"k" * 16, b"k" * 17, b"l" * 17, b"z" * 200])
RECORDS = st.lists(
    st.tuples(
        st.integers(-5, 1 << 40),
        KEYS,
        st.none() | st.binary(max_size=70),
        st.sampled_from([(), (("h", b"x"), ("", None))]),
    ),
    min_size=1,
    max_size=12,
)


def payload_of(records: Any, base_offset: int = 0) -> tuple[BatchHeader, memoryview]:
    batch = bytes(build_batch(records, base_offset=base_offset))
    return read_header(batch), memoryview(batch)[HEADER_SIZE:]


def taken(offsets: OffsetMap, *keys: bytes | None, at: int = 0, start: int = 0) -> bool:
    header, payload = payload_of([(0, key, b"v", ()) for key in keys], at)
    return offsets.add(payload, header.count, at, start)


def chosen(offsets: OffsetMap, *keys: bytes | None, at: int = 0, **more: Any) -> list[int]:
    value = more.pop("value", b"v")
    header, payload = payload_of([(0, key, value, ()) for key in keys], at)
    choice = offsets.choose(payload, header.count, at, **{"tombstones": True, **more})
    assert choice.kept == sum(choice.mask)
    return [index for index, keep in enumerate(choice.mask) if keep]


@pytest.mark.parametrize("kind", MAPS)
def test_the_newest_of_each_key_is_chosen(kind: type[Any]) -> None:
    offsets = kind(PLENTY, 0.9)
    assert not taken(offsets, b"a", b"b", b"a", None)
    assert offsets.latest_offset == 2, "a record without a key is not taken in"
    offsets.latest_offset = 3
    assert chosen(offsets, b"a", b"b", b"a", None) == [1, 2]
    assert chosen(offsets, b"other") == [0], "no newer one is known"


@pytest.mark.parametrize("kind", MAPS)
def test_what_lies_behind_the_map_stays(kind: type[Any]) -> None:
    offsets = kind(PLENTY, 0.9)
    taken(offsets, b"a", b"a")
    assert chosen(offsets, b"a", None, at=2) == [0, 1]
    assert chosen(offsets, b"a", at=2, value=None, tombstones=False) == [0]


@pytest.mark.parametrize("kind", MAPS)
def test_tombstones_go_when_they_are_not_wanted(kind: type[Any]) -> None:
    offsets = kind(PLENTY, 0.9)
    taken(offsets, b"a", b"b")
    assert chosen(offsets, b"a", b"b", value=None) == [0, 1]
    assert chosen(offsets, b"a", b"b", value=None, tombstones=False) == []


@pytest.mark.parametrize("kind", MAPS)
def test_records_in_front_of_the_dirty_section_are_not_taken_in(kind: type[Any]) -> None:
    offsets = kind(PLENTY, 0.9)
    taken(offsets, b"a", b"b", b"c", at=10, start=11)
    assert chosen(offsets, b"a", b"b", b"c", at=5) == [0]


@pytest.mark.parametrize(("kind", "bytes_each"), [(DictMap, 170), (TableMap, 24)])
def test_a_full_map_takes_no_more_keys_not_even_known_ones(
    kind: type[Any], bytes_each: int
) -> None:
    if kind is TableMap and not compaction_map.HAVE_C:
        pytest.skip("the C extension is not built")
    offsets = kind(10 * bytes_each, 0.5)
    assert not taken(offsets, *[b"%d" % number for number in range(5)])
    assert taken(offsets, b"0", at=5)
    assert offsets.latest_offset == 4
    assert chosen(offsets, b"0", b"1", at=3) == [0, 1]
    assert chosen(offsets, b"0", at=0) == [0]


@needs_c
def test_the_table_grows_with_its_keys_up_to_the_memory_it_may_take() -> None:
    offsets = TableMap(24 * 20_000, 0.9)
    empty = len(offsets._table)
    keys = [b"key %d" % number for number in range(18_000)]
    for at in range(0, 18_000, 1000):
        assert not taken(offsets, *keys[at : at + 1000], at=at)
    assert empty < 30_000 < len(offsets._table) <= 24 * 20_000
    assert taken(offsets, b"one more", at=18_000)
    for at in range(0, 18_000, 1000):
        assert len(chosen(offsets, *keys[at : at + 1000], at=at)) == 1000
        assert at == 0 or chosen(offsets, *keys[at : at + 1000], at=at - 1) == []


@needs_c
@pytest.mark.parametrize(
    ("key", "expected"),
    [  # the vectors of SipHash's authors, for the seed 00 01 ... 0f
        (b"", "a3817f04ba25a8e66df67214c7550293"),
        (b"\0", "da87c1d86b99af44347659119b22fc45"),
        (bytes(range(63)), "5150d1772f50834a503e069a973fbd7c"),
    ],
)
def test_keys_are_hashed_by_siphash(key: bytes, expected: str) -> None:
    from odradek.wire import _scan

    assert pack("<QQ", *_scan.hash_of(key, bytes(range(16)))).hex() == expected


@needs_c
@examples(40)
@given(batches=st.lists(RECORDS, max_size=6), start=st.integers(0, 8), full=st.integers(1, 9))
def test_both_maps_choose_alike(batches: list[Any], start: int, full: int) -> None:
    pure, fast = DictMap(full * 170, 1.0), TableMap((full + 1) * 24, 1.0)
    at = 0
    for records in batches:
        header, payload = payload_of(records, at)
        answers = {one.add(payload, header.count, at, start) for one in (pure, fast)}
        assert len(answers) == 1
        assert pure.latest_offset == fast.latest_offset
        at += header.count
    at = 0
    for records in batches:
        header, payload = payload_of(records, at)
        for tombstones in (True, False):
            args = payload, header.count, at
            choice = pure.choose(*args, tombstones=tombstones)
            assert fast.choose(*args, tombstones=tombstones) == choice
            assert rebuilt(payload, choice.mask, 77, False) == rebuilt_python(
                payload, choice.mask, 77, False
            )
        at += header.count


@examples(40)
@given(records=RECORDS, data=st.data(), constant=st.booleans(), shift=st.integers(-9, 1 << 33))
def test_rebuilt_records_are_those_chosen_at_their_new_times(
    records: list[Any], data: st.DataObject, constant: bool, shift: int
) -> None:
    header, payload = payload_of(records)
    mask = bytes(
        data.draw(st.lists(st.integers(0, 1), min_size=header.count, max_size=header.count))
    )
    built = rebuilt(payload, mask, shift, constant)
    assert built == rebuilt_python(payload, mask, shift, constant)
    head = bytes(build_batch([], base_offset=0))
    batch = bytearray(head) + built
    batch[8:12] = (49 + len(built)).to_bytes(4, "big")
    batch[57:61] = sum(mask).to_bytes(4, "big")
    found = [(one.offset, one.key, one.value, one.headers) for one in read_records(batch)]
    before = read_records(bytes(build_batch(records)))
    kept = [one for one, keep in zip(before, mask, strict=True) if keep]
    assert found == [(one.offset, one.key, one.value, one.headers) for one in kept]
    base = header.base_timestamp
    times = [shift if constant else one.timestamp - base + shift for one in kept]
    assert [one.timestamp + 1 for one in read_records(batch)] == times


@examples(60)
@given(records=RECORDS, data=st.data())
def test_damaged_records_are_refused_alike(records: list[Any], data: st.DataObject) -> None:
    header, payload = payload_of(records)
    damaged = bytearray(payload)
    for _ in range(data.draw(st.integers(0, 2))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    del damaged[data.draw(st.integers(0, len(damaged))) :]
    answers: list[Any] = []
    for kind in (DictMap, TableMap) if compaction_map.HAVE_C else (DictMap,):
        offsets = kind(PLENTY, 0.9)
        try:
            offsets.add(damaged, header.count, 0, 0)
            choice = offsets.choose(damaged, header.count, 0, tombstones=True)
            answers.append((choice, rebuilt_python(damaged, choice.mask, 5, False)))
            assert rebuilt(damaged, choice.mask, 5, False) == answers[-1][1]
        except WireError:
            answers.append(None)
    assert all(answer == answers[0] for answer in answers)
