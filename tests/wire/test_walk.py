"""The walk over the records of a batch: against the records that are read, and the twins against
each other, on whole and on damaged bytes."""

from __future__ import annotations

import ctypes
import mmap
import random
import subprocess
import sys
from array import array
from collections.abc import Callable
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.wire import WireError
from odradek.wire.records import HEADER_SIZE, NewRecord, build_batch, read_records
from odradek.wire.walk import DAMAGED, HEADER_FIELDS, RECORD_FIELDS, walk, walk_python

from tests.support.drawn import examples, sized
from tests.wire.support.record_bytes import GOOD, mutated, records

needs_c = pytest.mark.skipif(walk is walk_python, reason="the C twin is not built here")

Rows = list[tuple[int, ...]]
Walk = Callable[..., int]
ROOM = 64


def walked(
    way: Walk, payload: bytes, count: int, base: int = 0, room: int = ROOM
) -> tuple[int, Rows, Rows]:
    """What a walk answers, and the rows of the records and of the headers it has filled."""
    tables = array("q", [7] * ROOM * RECORD_FIELDS), array("q", [7] * room * HEADER_FIELDS)
    found = way(payload, count, base, memoryview(tables[0]), memoryview(tables[1]))
    if found == DAMAGED:
        return found, [], []
    rows = _rows(tables[0], RECORD_FIELDS)
    assert all(row == (7,) * RECORD_FIELDS for row in rows[count:]), "no more than was asked for"
    return found, rows[:count], _rows(tables[1], HEADER_FIELDS)[:found]


def _rows(table: array[int], width: int) -> Rows:
    numbers = iter(table)
    return [tuple(islice(numbers, width)) for _ in range(len(table) // width)]


def content(payload: bytes, base: int, place: tuple[int, ...]) -> bytes | None:
    position, size = place
    return None if size < 0 else payload[position - base : position - base + size]


@pytest.mark.parametrize("way", [walk_python, walk], ids=["python", "fastest"])
@given(st.lists(records, max_size=6), st.integers(0, 1 << 40))
@examples(100)
def test_everything_is_where_the_walk_says(way: Walk, new: list[NewRecord], base: int) -> None:
    batch = bytes(build_batch(new))
    payload = batch[HEADER_SIZE:]
    found, rows, header_rows = walked(way, payload, len(new), base)
    expected = read_records(batch)
    headers = iter(header_rows)
    for index, (row, record) in enumerate(zip(rows, expected, strict=True)):
        assert content(payload, base, row[0:2]) == record.key
        assert content(payload, base, row[2:4]) == record.value
        assert (row[5], row[7]) == (index, len(record.headers))
        theirs = [
            (content(payload, base, header[0:2]), content(payload, base, header[2:4]))
            for header in islice(headers, row[7])
        ]
        assert theirs == [(key.encode(), value) for key, value in record.headers]
    assert found == len(header_rows) == sum(len(record.headers) for record in expected)
    assert [row[4] for row in rows[:1]] == [0] * len(rows[:1]), "time deltas, of the first record"


@needs_c
@given(st.binary(max_size=120), st.integers(-1, 5) | st.integers(-(2**31), ROOM))
@examples(500)
def test_twins_agree_on_any_bytes(payload: bytes, count: int) -> None:
    assert walked(walk, payload, count) == walked(walk_python, payload, count)


@needs_c
def test_twins_agree_on_thousands_of_damaged_batches() -> None:
    chance = random.Random(22)
    damaged = 0
    for _ in range(sized(10_000)):
        payload, count = mutated(chance)
        base = chance.choice([0, 5, 1 << 50])
        found = walked(walk, payload, count, base)
        assert found == walked(walk_python, payload, count, base), (payload.hex(), count)
        damaged += found[0] == DAMAGED
    assert 0.1 < damaged / sized(10_000) < 0.9


@pytest.mark.parametrize("way", [walk_python, walk], ids=["python", "fastest"])
def test_what_cannot_be_read_cannot_be_walked(way: Walk) -> None:
    chance = random.Random(23)
    for _ in range(sized(2000)):
        payload, count = mutated(chance)
        batch = build_batch([])
        batch[8:12] = (49 + len(payload)).to_bytes(4, "big")
        batch[57:61] = count.to_bytes(4, "big", signed=True)
        found = walked(way, payload, count)[0]
        try:
            read_records(batch + payload)
        except WireError:
            assert found == DAMAGED, (payload.hex(), count)
        else:
            assert found != DAMAGED, (payload.hex(), count)


@pytest.mark.parametrize("way", [walk_python, walk], ids=["python", "fastest"])
def test_headers_without_room_are_counted(way: Walk) -> None:
    new = [NewRecord(0, None, b"v", [("a", b"1"), ("b", None)])] * 3
    payload = bytes(build_batch(new))[HEADER_SIZE:]
    all_rows = walked(way, payload, 3)[2]
    assert len(all_rows) == 6
    assert walked(way, payload, 3, room=4)[::2] == (6, all_rows[:4])
    assert walked(way, payload, 3, room=0)[::2] == (6, [])


@pytest.mark.parametrize("way", [walk_python, walk], ids=["python", "fastest"])
def test_a_table_of_headers_may_have_no_rows(way: Walk) -> None:
    payload = bytes(build_batch([NewRecord(0, None, b"v", ())]))[HEADER_SIZE:]
    rows = memoryview(array("q", [7] * RECORD_FIELDS))
    assert way(payload, 1, 0, rows, memoryview((ctypes.c_int64 * HEADER_FIELDS * 0)())) == 0


@pytest.mark.parametrize("way", [walk_python, walk], ids=["python", "fastest"])
def test_too_few_rows_are_refused(way: Walk) -> None:
    rows, headers = array("q", [0] * RECORD_FIELDS), array("q")
    with pytest.raises(ValueError, match="fewer rows than records"):
        way(GOOD * 2, 2, 0, memoryview(rows), memoryview(headers))


@needs_c
@pytest.mark.skipif(sys.platform != "linux", reason="pages are protected by mprotect of Linux")
def test_nothing_outside_of_the_buffer_is_read() -> None:
    """The payload ends where a page begins that must not be read: that would end the process."""
    page = mmap.PAGESIZE
    area = mmap.mmap(-1, 2 * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(area))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(address + page), page, 0) == 0
    chance = random.Random(24)
    try:
        with memoryview(area) as view:
            for _ in range(sized(5000)):
                payload, count = mutated(chance)
                view[page - len(payload) : page] = payload
                with view[page - len(payload) : page] as last:
                    assert walked(walk, last, count) == walked(walk_python, payload, count)  # type: ignore[arg-type]
    finally:
        libc.mprotect(ctypes.c_void_p(address + page), page, 3)


def test_without_the_c_twin_the_reference_does_the_work() -> None:
    code = (
        "import sys; sys.modules['odradek.wire._scan'] = None\n"
        "from odradek.wire.walk import walk, walk_python\n"
        "assert walk is walk_python"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
