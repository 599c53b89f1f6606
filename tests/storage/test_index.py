"""The three indexes, their bytes, and what they find."""

from __future__ import annotations

from bisect import bisect_right

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.storage.disk.directory import Directory
from odradek.storage.index import (
    OffsetIndex,
    TimeIndex,
    TransactionIndex,
    check_offset_index,
    check_time_index,
    check_transaction_index,
)
from odradek.storage.producers import AbortedTransaction


def offset_index(*entries: tuple[int, int]) -> OffsetIndex:
    index = OffsetIndex()
    for relative_offset, position in entries:
        index.append(relative_offset, position)
    return index


def time_index(*entries: tuple[int, int]) -> TimeIndex:
    index = TimeIndex()
    for timestamp, relative_offset in entries:
        index.append(timestamp, relative_offset)
    return index


def transaction_index(*entries: tuple[int, int, int, int]) -> TransactionIndex:
    index = TransactionIndex()
    for entry in entries:
        index.append(AbortedTransaction(*entry))
    return index


def test_an_offset_entry_is_two_int32() -> None:
    assert offset_index((5, 4100), (9, 8300)).data.hex(" ", 4) == (
        "00000005 00001004 00000009 0000206c"
    )


def test_a_time_entry_is_an_int64_and_an_int32() -> None:
    assert time_index((1, 2)).data.hex(" ", 4) == "00000000 00000001 00000002"


def test_an_aborted_transaction_has_the_bytes_that_kafka_writes() -> None:
    entry = transaction_index((1, 0, 60, 61)).data
    assert entry.hex() == "0000" + "".join(f"{number:016x}" for number in (1, 0, 60, 61))
    assert len(entry) == 34


def test_an_empty_index_says_begin_at_the_beginning() -> None:
    assert OffsetIndex().floor(100) == 0
    assert OffsetIndex().offset_from(0) is None
    assert TimeIndex().floor(100) == 0
    assert TimeIndex().last() == (-1, 0)


def test_an_offset_is_looked_for_from_the_entry_at_or_before_it() -> None:
    index = offset_index((5, 4100), (9, 8300))
    assert [index.floor(offset) for offset in (4, 5, 8, 9, 50)] == [0, 4100, 4100, 8300, 8300]


def test_a_position_finds_the_first_entry_at_or_behind_it() -> None:
    index = offset_index((5, 4100), (9, 8300), (12, 16400))
    positions = (0, 4099, 4101, 8300, 8301, 16400, 16401)
    assert [index.offset_from(at) for at in positions] == [5, 5, 9, 9, 12, 12, None]


def test_at_the_position_of_the_very_first_entry_it_is_the_one_after() -> None:
    assert offset_index((5, 4100), (9, 8300)).offset_from(4100) == 9
    assert offset_index((5, 4100)).offset_from(4100) is None


def test_a_time_is_looked_for_from_the_last_entry_that_is_not_later() -> None:
    index = time_index((10, 3), (20, 7))
    assert [index.floor(time) for time in (9, 10, 19, 20, 99)] == [0, 3, 3, 7, 7]


def test_a_time_that_is_not_later_than_the_last_makes_no_entry() -> None:
    assert time_index((10, 3), (10, 5), (9, 6), (-1, 7)).data == time_index((10, 3)).data


@given(st.sets(st.integers(0, 2**31 - 1), max_size=40), st.integers(0, 2**31 - 1))
def test_an_index_finds_the_same_in_memory_and_in_its_file(
    tmp_path_factory: pytest.TempPathFactory, offsets: set[int], wanted: int
) -> None:
    entries = sorted(offsets)
    index = offset_index(*((offset, at + 1) for at, offset in enumerate(entries)))
    expected = bisect_right(entries, wanted)
    assert index.floor(wanted) == expected

    directory = Directory(tmp_path_factory.getbasetemp())
    directory.write_atomic("index", index.data)
    index.seal(directory.file("index"), index.count)

    assert index.floor(wanted) == expected
    assert not index.data
    index.close()


def test_aborted_transactions_are_those_that_overlap_what_was_read() -> None:
    index = transaction_index((1, 0, 10, 5), (2, 5, 20, 21), (1, 30, 40, 41))
    found = [
        [entry.last_offset for entry in index.overlapping(offset, upto)]
        for offset, upto in ((0, 6), (0, 5), (10, 99), (11, 99), (21, 30), (21, 31), (41, 99))
    ]
    assert found == [[10, 20], [10], [10, 20, 40], [20, 40], [], [40], []]


def test_an_index_covers_what_lies_below_its_last_stable_offset() -> None:
    index = transaction_index((1, 0, 10, 5), (2, 5, 20, 21))
    assert index.covers(21)
    assert not index.covers(22)
    assert not TransactionIndex().covers(0)


def test_an_offset_index_of_another_segment_is_seen() -> None:
    def good(*ends: tuple[int, int]) -> bool:
        data = offset_index(*ends).data
        return check_offset_index(data[:8], data[-8:], relative_end=100, log_size=5000)

    assert good((0, 1))
    assert good((1, 1), (99, 4999))
    assert not good((1, 1), (100, 4999))
    assert not good((1, 1), (99, 5000))
    assert not good((5, 9), (5, 10))
    assert not good((5, 9), (6, 9))
    assert not good((5, 9), (0, 0)), "zeros of a preallocated file"
    assert not good((0, 0))


def test_a_time_index_of_another_segment_is_seen() -> None:
    def good(*ends: tuple[int, int]) -> bool:
        data = b"".join(time_index(end).data for end in ends)
        return check_time_index(data[:12], data[-12:], relative_end=100)

    assert good((0, 0))
    assert good((5, 0), (6, 99))
    assert not good((5, 0), (6, 100))
    assert not good((5, 3), (5, 4))
    assert not good((5, 3), (6, 3))
    assert not good((5, 3), (0, 0)), "zeros of a preallocated file"


@pytest.mark.parametrize(
    "data",
    [
        transaction_index((1, 0, 10, 11)).data[:-1],
        b"\0\1" + transaction_index((1, 0, 10, 11)).data[2:],
        transaction_index((1, 11, 10, 11)).data,
        transaction_index((1, 0, 20, 21), (1, 0, 10, 11)).data,
        transaction_index((1, 0, 100, 101)).data,
    ],
    ids=["cut short", "version 1", "ends before it begins", "not in order", "past the end"],
)
def test_a_damaged_transaction_index_is_seen(data: bytes) -> None:
    assert not check_transaction_index(data, base_offset=0, end_offset=100)
    assert check_transaction_index(transaction_index((1, 0, 99, 100)).data, 0, 100)
