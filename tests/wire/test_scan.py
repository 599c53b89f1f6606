"""The look at every record: each kind of damage with Kafka's verdict, and the twins against each
other.

The verdicts (the codes for a batch sent plain, compressed with its codec kept, and compressed anew)
are those of Apache Kafka 4.3.1's LogValidator, asked with exactly these records.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.wire import Error, WireError
from odradek.wire.records import HEADER_SIZE, NewRecord, build_batch, read_records
from odradek.wire.scan import (
    HAVE_C,
    NO_MIN_TIMESTAMP,
    Fault,
    Problem,
    Scan,
    record_problems,
    runs_out,
    scan,
    scan_python,
)

from tests.support.drawn import examples, sized
from tests.wire.support import record_bytes
from tests.wire.support.record_bytes import (
    GOOD,
    mutated,
    record,
    records,
    v,
)

needs_c = pytest.mark.skipif(not HAVE_C, reason="the C twin is not built here")


CASES = """
    name                              records                                     count  fault   plain kept anew
    a record                          GOOD                                        1      OK      0     0    0
    two records                       GOOD+SECOND                                 2      OK      0     0    0
    a count too high                  GOOD                                        2      BROKEN  87    87   87
    a count too low                   GOOD+SECOND                                 1      BROKEN  87    87   87
    nothing at all                    b''                                         1      BROKEN  87    87   87
    a byte too many                   GOOD+b'\\0'                                 1      BROKEN  87    87   87
    a record cut by a byte            GOOD[:-1]                                   1      BROKEN  87    87   87
    a record cut to its length        GOOD[:1]                                    1      BROKEN  87    87   87
    record length of 6 bytes          SIX+GOOD[1:]                                1      VARINT  -1    87   87
    record length without end         b'\\x80'*5                                  1      VARINT  -1    87   87
    record length cut                 b'\\x80'*4                                  1      BROKEN  87    87   87
    record length too small           record(size=v(6))                           1      LENGTH  87    0    87
    record length too small, of two   record(size=v(6))+SECOND                    2      LENGTH  87    0    87
    record length too large           record(size=v(9))                           1      LENGTH  87    0    87
    record length into the next       record(size=v(9))+SECOND                    2      LENGTH  87    0    87
    record length far too large       record(size=v(1009))                        1      LENGTH  87    0    87
    record length negative            record(size=v(-1))                          1      LENGTH  87    0    87
    record length zero                v(0)+GOOD[1:]                               1      LENGTH  87    0    87
    record length zero, nothing else  v(0)                                        1      BROKEN  87    87   87
    wrong length, then one of 6 bytes record(size=v(5))+SIX+GOOD[1:]              2      BROKEN  87    87   87
    a byte inside, after the headers  record(tail=b'\\0')                         1      BROKEN  87    87   87
    attributes                        record(attributes=b'\\x7f')                 1      OK      0     0    0
    time delta of 10 bytes            record(time=b'\\x80'*9+b'\\0')              1      OK      0     0    0
    time delta of 11 bytes            record(time=ELEVEN)                         1      BROKEN  87    87   87
    offset delta of 6 bytes           record(offset=SIX)                          1      BROKEN  87    87   87
    offset delta with lost bits       record(offset=b'\\x80'*4+b'\\x70')          1      OK      0     0    0
    null key                          record(key=v(-1))                           1      OK      0     0    0
    key length -2                     record(key=v(-2))                           1      OK      0     0    0
    key length -2147483648            record(key=MIN)                             1      OK      0     0    0
    key length 2147483647             record(key=MAX)                             1      BROKEN  87    87   87
    key length of 6 bytes             record(key=SIX+b'k')                        1      BROKEN  87    87   87
    key past the end                  record(key=v(100,b'k'))                     1      BROKEN  87    87   87
    value length -5                   record(value=v(-5))                         1      OK      0     0    0
    value length of 6 bytes           record(value=SIX+b'v')                      1      BROKEN  87    87   87
    value past the end                record(value=v(2,b'v'))                     1      BROKEN  87    87   87
    value into the next record        record(value=v(4,b'v'))+GOOD                2      BROKEN  87    87   87
    a header                          record(headers=v(1)+ONE_HEADER)             1      OK      0     0    0
    header value length -3            record(headers=v(1)+v(1,b'h')+v(-3))        1      OK      0     0    0
    empty header key                  record(headers=v(1)+v(0)+v(0))              1      OK      0     0    0
    header key that is not UTF-8      record(headers=v(1)+v(1,b'\\xff')+v(-1))    1      OK      0     0    0
    header count -1                   record(headers=v(-1))                       1      BROKEN  87    87   87
    header count 5 of 0               record(headers=v(5))                        1      BROKEN  87    87   87
    header count 5, from the next     record(headers=v(5))+SECOND*3               2      BROKEN  87    87   87
    header count 2 of 1               record(headers=v(2)+ONE_HEADER)             1      BROKEN  87    87   87
    header count 2147483647           record(headers=MAX)                         1      BROKEN  87    87   87
    header count of 6 bytes           record(headers=b'\\x80'*5+b'\\0')           1      BROKEN  87    87   87
    null header key                   record(headers=v(1)+v(-1)+v(1,b'v'))        1      BROKEN  87    87   87
    header key length -2              record(headers=v(1)+v(-2)+v(1,b'v'))        1      BROKEN  87    87   87
    header key of 6 bytes             record(headers=v(1)+SIX+b'h'+v(0))          1      BROKEN  87    87   87
    header key past the end           record(headers=v(1)+v(100,b'h')+v(-1))      1      BROKEN  87    87   87
    header value of 6 bytes           record(headers=v(1)+v(1,b'h')+SIX+b'v')     1      BROKEN  87    87   87
    header value past the end         record(headers=v(1)+v(1,b'h')+v(100))       1      BROKEN  87    87   87
"""  # noqa: E501


def cases() -> list[tuple[str, bytes, int, Fault, tuple[int, ...]]]:
    rows = []
    for line in CASES.strip().splitlines()[1:]:
        name, (expression, count, fault, *codes) = line[4:38].strip(), line[38:].split()
        payload = eval(expression, vars(record_bytes))
        rows.append((name, payload, int(count), Fault[fault], tuple(map(int, codes))))
    return rows


@pytest.mark.parametrize("look", [scan_python, scan], ids=["python", "fastest"])
@pytest.mark.parametrize(
    ("payload", "count", "fault", "codes"),
    [row[1:] for row in cases()],
    ids=[row[0] for row in cases()],
)
def test_damage_is_judged_as_kafka_judges_it(
    look: Callable[..., Scan], payload: bytes, count: int, fault: Fault, codes: tuple[int, ...]
) -> None:
    found = look(payload, count, 1000).fault
    assert found is fault
    assert codes == (
        found.error(compressed=False, kept=True),
        found.error(compressed=True, kept=True),
        found.error(compressed=True, kept=False),
    )
    assert found.error(compressed=False, kept=False) is Error(codes[0])


def section(*records: tuple[int, bytes | None]) -> bytes:
    """The records section of a batch of records with these times and keys."""
    batch = build_batch([NewRecord(time, key) for time, key in records])
    return bytes(batch[HEADER_SIZE:])


K = b"key"


@pytest.mark.parametrize("look", [scan_python, scan], ids=["python", "fastest"])
@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([7], (7, 7, 0)),
        ([5, 9, 3, 9], (3, 9, 1)),
        ([-1, 4, -1], (4, 4, 1)),
        ([-1, -1], (NO_MIN_TIMESTAMP, -1, 0)),
        ([-5, -1, -7], (-7, -1, 0)),
        ([-5, 0], (-5, 0, 1)),
        ([2**63 - 1, -(2**63)], (-(2**63), 2**63 - 1, 0)),
    ],
)
def test_times_are_found(
    look: Callable[..., Scan], times: list[int], expected: tuple[int, int, int]
) -> None:
    payload = section(*((time, K) for time in times))
    found = look(payload, len(times), times[0])
    assert (found.min_timestamp, found.max_timestamp, found.index_of_max) == expected


@pytest.mark.parametrize("look", [scan_python, scan], ids=["python", "fastest"])
def test_null_keys_are_counted_and_empty_ones_are_not(look: Callable[..., Scan]) -> None:
    payload = section((1, None), (1, b""), (1, K), (1, None))
    assert look(payload, 4, 1).null_keys == 2


@pytest.mark.parametrize("look", [scan_python, scan], ids=["python", "fastest"])
@pytest.mark.parametrize(
    ("offsets", "consecutive"),
    [([0], True), ([0, 1, 2], True), ([1], False), ([0, 2], False), ([0, 0], False), ([-1], False)],
)
def test_offsets_are_consecutive_or_not(
    look: Callable[..., Scan], offsets: list[int], consecutive: bool
) -> None:
    payload = b"".join(record(offset=v(offset)) for offset in offsets)
    found = look(payload, len(offsets), 0)
    assert found.fault is Fault.OK
    assert found.consecutive is consecutive


@pytest.mark.parametrize("look", [scan_python, scan], ids=["python", "fastest"])
@pytest.mark.parametrize("count", [-1, -(2**31)])
def test_a_negative_count_is_broken_and_no_records_are_fine(
    look: Callable[..., Scan], count: int
) -> None:
    assert look(b"", count, 0).fault is Fault.BROKEN
    assert look(b"", 0, 0) == Scan(Fault.OK, NO_MIN_TIMESTAMP, -1, 0, True, 0)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_buffer_can_be_looked_at(kind: type[bytes]) -> None:
    assert scan(kind(GOOD), 1, 5) == scan_python(kind(GOOD), 1, 5)
    assert scan(memoryview(kind(b"x" + GOOD))[1:], 1, 5).fault is Fault.OK


def test_without_the_c_twin_the_reference_does_the_work() -> None:
    code = (
        "import sys; sys.modules['odradek.wire._scan'] = None\n"
        "from odradek.wire.scan import HAVE_C, scan, scan_python\n"
        "assert not HAVE_C and scan is scan_python"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# The twins.


@needs_c
@given(st.lists(records, max_size=6), st.data())
@examples(300)
def test_twins_agree_on_valid_batches(new: list[NewRecord], data: st.DataObject) -> None:
    offsets = data.draw(st.permutations(range(len(new))))
    payload = build_batch(new, offsets=offsets)[HEADER_SIZE:]
    base = new[0].timestamp if new else -1
    found = scan(payload, len(new), base)

    assert found == scan_python(payload, len(new), base)
    assert found.fault is Fault.OK
    assert found.max_timestamp == max((r.timestamp for r in new if r.timestamp > -1), default=-1)
    assert found.null_keys == sum(r.key is None for r in new)
    assert found.consecutive == (list(offsets) == list(range(len(new))))


@needs_c
@given(st.binary(max_size=120), st.integers(-1, 5) | st.integers(-(2**31), 2**31 - 1))
@examples(500)
def test_twins_agree_on_any_bytes(payload: bytes, count: int) -> None:
    assert scan(payload, count, 0) == scan_python(payload, count, 0)


@needs_c
def test_twins_agree_on_thousands_of_damaged_batches() -> None:
    chance = random.Random(20)
    faults = Counter[Fault]()
    for _ in range(sized(10_000)):
        payload, count = mutated(chance)
        base = chance.choice([0, -1, 1000, -(2**63), 2**63 - 1])
        found = scan(payload, count, base)
        assert found == scan_python(payload, count, base), (payload.hex(), count, base)
        faults[found.fault] += 1
    assert min(faults[fault] for fault in Fault) > sized(10_000) // 100


def test_records_can_be_read_where_the_scan_finds_no_fault_and_only_there() -> None:
    chance = random.Random(21)
    for _ in range(sized(2000)):
        payload, count = mutated(chance)
        batch = build_batch([])
        batch[8:12] = (49 + len(payload)).to_bytes(4, "big")
        batch[57:61] = count.to_bytes(4, "big", signed=True)
        fault = scan(payload, count, 0).fault
        try:
            read_records(batch + payload)
        except WireError:
            assert fault is not Fault.OK, (payload.hex(), count)
        else:
            assert fault is Fault.OK, (payload.hex(), count)


# Naming what is wrong.


def problems(payload: bytes, count: int, **asked: int) -> list[tuple[int, Problem]]:
    bounds: dict[str, Any] = {"null_keys": False, "earliest": -(2**63), "latest": 2**63 - 1}
    return record_problems(payload, count, 10, **{**bounds, **asked})


MIXED = section((10, K), (11, None), (-1, K), (50, K), (-1, None), (50, None), (-5, K))


def test_records_within_bounds_are_no_problem() -> None:
    assert problems(MIXED, 7) == []
    assert problems(MIXED, 7, earliest=-5, latest=50) == []


def test_every_record_without_a_key_is_named() -> None:
    assert problems(MIXED, 7, null_keys=True) == [
        (1, Problem.KEY),
        (4, Problem.KEY),
        (5, Problem.KEY),
    ]


def test_every_record_out_of_bounds_is_named_but_those_without_a_time() -> None:
    assert problems(MIXED, 7, earliest=11, latest=49) == [
        (0, Problem.TIMESTAMP),
        (3, Problem.TIMESTAMP),
        (5, Problem.TIMESTAMP),
        (6, Problem.TIMESTAMP),
    ]


def test_a_missing_key_is_named_before_a_bad_time() -> None:
    assert problems(MIXED, 7, null_keys=True, latest=49) == [
        (1, Problem.KEY),
        (3, Problem.TIMESTAMP),
        (4, Problem.KEY),
        (5, Problem.KEY),
    ]


def test_problems_of_broken_records_are_a_wire_error() -> None:
    with pytest.raises(WireError):
        problems(GOOD[:-1], 1)


@pytest.mark.parametrize(
    ("payload", "count", "is_so"),
    [
        (b"\x70" + GOOD[1:] + GOOD, 2, True),
        (GOOD + b"\x70", 3, True),
        (GOOD + b"\x70" + GOOD[1:], 2, False),  # the last one
        (GOOD + b"\x70", 2, True),  # the last one, of which nothing is left
        (b"\x13" + GOOD[1:] + b"\x70", 3, False),  # a negative length comes first
        (GOOD[:4] + b"\x70" + GOOD[5:] + b"\x70", 3, False),  # a key that is too long
        (GOOD * 2, 2, False),
    ],
)
def test_a_record_that_is_longer_than_what_is_left(payload: bytes, count: int, is_so: bool) -> None:
    assert runs_out(payload, count) == is_so
