"""One partition's log: appending, rolling, reading, looking for times, taking away, closing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from odradek.storage.config import LogConfig
from odradek.storage.disk.directory import MAPPED_FROM
from odradek.storage.log import Log
from odradek.storage.naming import DOCUMENTED
from odradek.wire.batch import read_header
from odradek.wire.errors import Error, Refused
from odradek.wire.records import build_batch

from tests.storage.support.logs import (
    append,
    disk_full_at,
    end_transaction,
    file,
    flip,
    home,
    open_log,
    put,
    put_at_end,
    read_all,
    records,
)

ONE = len(build_batch([(0, None, b"x", ())]))
"""Bytes of a batch with one record of one byte."""
SMALL = LogConfig(segment_bytes=3 * ONE)
"""Three such batches fill a segment."""


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    log = open_log(tmp_path)
    yield log
    log.close()


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Log]:
    log = open_log(tmp_path, SMALL)
    yield log
    log.close()


def bases(log: Log) -> list[int]:
    return [segment.base_offset for segment in log.segments]


def values(log: Log, offset: int, max_bytes: int = 1 << 20, **limits: Any) -> list[bytes | None]:
    return [one.value for one in records(log.read(offset, max_bytes, **limits))]


# Appending.


def test_nothing_is_on_disk_before_the_first_append(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.start_epoch(3)
    log.checkpoint()
    log.close()
    assert list(tmp_path.iterdir()) == []


def test_the_first_append_makes_the_directory(log: Log, tmp_path: Path) -> None:
    append(log, b"x", epoch=3)
    assert {path.name: path.read_bytes() for path in home(tmp_path).iterdir()} == {
        "partition.metadata": b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw",
        "leader-epoch-checkpoint": b"0\n1\n3 0\n",
        "00000000000000000000.log": bytes(log.read(0, 1000)),
    }


def test_a_log_knows_its_end_and_size(log: Log) -> None:
    assert (log.log_start_offset, log.log_end_offset, log.size) == (0, 0, 0)
    append(log, b"a", b"b", b"c")
    header = append(log, b"d")
    assert log.log_end_offset == 4
    assert log.size == log.segments[0].size > 2 * header.size


def test_offsets_may_have_gaps(log: Log) -> None:
    append(log, b"a", offset=5)
    append(log, b"b", offset=100)
    assert log.log_end_offset == 101
    assert read_all(log) == [(5, b"a"), (100, b"b")]
    assert values(log, 6) == values(log, 99) == values(log, 100) == [b"b"]


def test_what_does_not_belong_at_the_end_is_the_callers_mistake(log: Log) -> None:
    append(log, b"a", b"b")
    batch = build_batch([(0, None, b"x", ())], base_offset=1)
    with pytest.raises(ValueError, match="not a batch for offset 2"):
        put(log, batch)
    with pytest.raises(ValueError, match="not a batch for offset 2"):
        log.append(batch + b"x", read_header(batch)._replace(base_offset=2), 0)
    assert log.log_end_offset == 2


def test_a_batch_is_written_as_it_is(log: Log, tmp_path: Path) -> None:
    batch = build_batch([(0, b"k", b"v", (("h", None),))], leader_epoch=7)
    log.append(memoryview(batch), read_header(batch), 0)
    assert file(tmp_path, 0, ".log").read_bytes() == batch == log.read(0, 1000)


@pytest.mark.parametrize("room", [0, 50])
def test_an_append_on_a_full_disk_is_refused_and_changes_nothing(
    log: Log, tmp_path: Path, room: int
) -> None:
    append(log, b"a", timestamps=[5])
    before = file(tmp_path, 0, ".log").read_bytes()

    with disk_full_at(len(before) + room), pytest.raises(Refused, match="File too large") as why:
        append(log, bytes(1000), timestamps=[99], producer_id=4, sequence=0)

    assert why.value.error is Error.KAFKA_STORAGE_ERROR
    assert file(tmp_path, 0, ".log").read_bytes() == before
    assert (log.log_end_offset, log.size) == (1, len(before))
    assert not log.producers.states
    assert values(log, 0) == [b"a"]
    append(log, b"b")
    assert read_all(log) == [(0, b"a"), (1, b"b")]


def test_a_roll_on_a_full_disk_is_refused_and_changes_nothing(small: Log) -> None:
    for _ in range(3):
        append(small, b"x", timestamps=[1])
    with disk_full_at(5), pytest.raises(Refused):
        append(small, b"y", timestamps=[2])
    assert bases(small) == [0]
    assert small.log_end_offset == 3

    append(small, b"y", timestamps=[2])
    assert bases(small) == [0, 3]
    assert [value for _, value in read_all(small)] == [b"x", b"x", b"x", b"y"]


def test_a_batch_behind_a_gap_that_cannot_be_written_leaves_no_trace(
    small: Log, tmp_path: Path
) -> None:
    for _ in range(3):
        append(small, b"x", timestamps=[1])
    with disk_full_at(20), pytest.raises(Refused):  # room for index and snapshot
        append(small, b"y", offset=100)
    assert not file(tmp_path, 100, ".log").exists()
    assert small.log_end_offset == 3

    append(small, b"z")
    assert bases(small) == [0, 3]
    assert read_all(small)[-1] == (3, b"z")


def test_an_epoch_that_would_have_begun_behind_a_gap_begins_with_its_first_batch(log: Log) -> None:
    append(log, b"x", epoch=0)
    with disk_full_at(0), pytest.raises(Refused):
        append(log, b"y", epoch=1, offset=3)
    append(log, b"z", epoch=1)
    assert log.epochs.entries == [(0, 0), (1, 1)]


def test_the_first_append_on_a_full_disk_leaves_an_empty_log(log: Log) -> None:
    with disk_full_at(0), pytest.raises(Refused):
        append(log, b"x")
    assert log.log_end_offset == 0
    append(log, b"y")
    assert read_all(log) == [(0, b"y")]


# Rolling.


def test_a_segment_is_rolled_when_it_would_grow_over_its_size(small: Log) -> None:
    for _ in range(7):
        append(small, b"x")
    assert bases(small) == [0, 3, 6]
    assert small.active_base_offset == 6


def test_a_segment_may_be_rolled_for_a_batch_that_never_comes(small: Log) -> None:
    header = read_header(build_batch([(0, None, b"x", ())]))
    for count, rolled in ((2, [0]), (1, [0, 3]), (0, [0, 3])):
        for _ in range(count):
            append(small, b"x")
        small.roll_if_due(header._replace(base_offset=small.log_end_offset), 0)
        assert bases(small) == rolled
    append(small, b"x")
    assert (bases(small), values(small, 0), values(small, 3)) == ([0, 3], [b"x"] * 3, [b"x"])


def test_an_offset_has_a_place_its_batch_s_and_the_end_that_of_the_next(small: Log) -> None:
    assert small.reader.place_of(0) == (0, 0)
    for _ in range(4):
        append(small, b"x")
    places = [small.reader.place_of(offset) for offset in range(5)]
    assert places == [(0, 0), (0, ONE), (0, 2 * ONE), (3, 0), (3, ONE)]


def test_a_batch_larger_than_a_segment_gets_one_of_its_own(small: Log) -> None:
    for size in (1000, 1, 1000, 1000):
        append(small, bytes(size))
    assert bases(small) == [0, 1, 2, 3]


# Config, then appends as (timestamp, now), then the bases that result.
ROLLS_BY_AGE = [
    ("first batch's time counts", {}, [(50, 0), (150, 0), (151, 0)], [0, 2]),
    ("earlier times are no age", {}, [(50, 0), (-1, 9999), (0, 9999)], [0]),
    ("without times, the clock", {}, [(-1, 1000), (-1, 1100), (-1, 1101)], [0, 2]),
    ("the clock starts at the segment", {}, [(-1, 5000), (-1, 5100)], [0]),
    ("the largest time of the batch", {}, [(0, 0), (101, 0), (201, 0), (202, 0)], [0, 1, 3]),
    ("compaction lag", {"max_compaction_lag_ms": 10}, [(0, 0), (11, 0)], [0]),
    (
        "compaction lag of a compacted log",
        {"max_compaction_lag_ms": 10, "cleanup_policy": frozenset({"compact"})},
        [(0, 0), (10, 0), (11, 0)],
        [0, 2],
    ),
]


@pytest.mark.parametrize(
    ("config", "appends", "expected"),
    [row[1:] for row in ROLLS_BY_AGE],
    ids=[row[0] for row in ROLLS_BY_AGE],
)
def test_a_segment_is_rolled_by_age(
    tmp_path: Path,
    config: dict[str, int],
    appends: list[tuple[int, int]],
    expected: list[int],
) -> None:
    log = open_log(tmp_path, LogConfig(segment_ms=100, **config), now_ms=appends[0][1])  # type: ignore[arg-type]
    for timestamp, now_ms in appends:
        append(log, b"x", timestamps=[timestamp], now_ms=now_ms)
    assert bases(log) == expected
    log.close()


def test_jitter_rolls_earlier_and_the_same_way_each_time(tmp_path: Path) -> None:
    config = LogConfig(segment_ms=1000, segment_jitter_ms=1000)
    rolled = []
    for run in ("a", "b"):
        log = open_log(tmp_path / run, config)
        for time in range(0, 5000, 10):
            append(log, b"x", timestamps=[time])
        rolled.append(bases(log))
        log.close()
    assert rolled[0] == rolled[1]
    lengths = {end - start for start, end in zip(rolled[0], rolled[0][1:], strict=False)}
    assert len(lengths) > 1, "each segment has its own jitter"
    assert max(lengths) <= 101


def test_a_full_index_rolls(tmp_path: Path) -> None:
    config = LogConfig(index_interval_bytes=0, segment_index_bytes=40)  # 5 offsets, 3 - 1 times
    by_offset, by_time = open_log(tmp_path / "a", config), open_log(tmp_path / "b", config)
    for number in range(8):
        append(by_offset, b"x", timestamps=[-1])
        append(by_time, b"x", timestamps=[number])
    assert bases(by_offset) == [0, 6]
    assert bases(by_time) == [0, 3, 6]
    by_offset.close()
    by_time.close()


def test_an_offset_too_far_from_the_base_rolls(log: Log) -> None:
    append(log, b"a")
    append(log, b"b", offset=2**31 - 1)
    append(log, b"c", offset=2**31)
    append(log, b"d", offset=2**33)
    assert bases(log) == [0, 2**31, 2**33]
    assert values(log, 5) == [b"b"]


def test_the_first_offset_may_be_anywhere(log: Log, tmp_path: Path) -> None:
    append(log, b"a", offset=2**40)
    assert bases(log) == [2**40]
    assert read_all(log) == [(2**40, b"a")]


def test_configs_take_effect_at_once(log: Log) -> None:
    append(log, b"x")
    log.config = replace(log.config, segment_bytes=1)
    append(log, b"y")
    assert bases(log) == [0, 1]


def test_a_roll_leaves_snapshot_and_whole_indexes(small: Log, tmp_path: Path) -> None:
    for number in range(4):
        append(small, b"x", timestamps=[number])
    assert file(tmp_path, 3, ".snapshot").read_bytes().hex() == "000148674bc700000000"
    assert file(tmp_path, 0, ".index").read_bytes() == b""
    assert file(tmp_path, 0, ".timeindex").read_bytes().hex() == "000000000000000200000002"
    assert not file(tmp_path, 3, ".index").exists()


# Reading.


def test_a_read_begins_with_the_batch_that_contains_the_offset(log: Log) -> None:
    append(log, b"a", b"b", b"c")
    append(log, b"d", b"e")
    assert values(log, 2) == [b"a", b"b", b"c", b"d", b"e"]
    assert values(log, 3) == values(log, 4) == [b"d", b"e"]
    assert log.read(5, 1000) == b""


def test_a_read_outside_of_the_log_is_refused(log: Log) -> None:
    append(log, b"a", b"b")
    append(log, b"c")
    log.delete_records(1)
    for offset in (-1, 0, 4):
        with pytest.raises(Refused) as why:
            log.read(offset, 1000)
        assert why.value.error is Error.OFFSET_OUT_OF_RANGE
    assert values(log, 1) == [b"a", b"b", b"c"]


@pytest.mark.parametrize(
    ("max_bytes", "whole_first", "expected"),
    [
        (3 * ONE, True, 3 * ONE),
        (3 * ONE - 1, True, 3 * ONE - 1),
        (ONE + 1, True, ONE + 1),
        (ONE, True, ONE),
        (ONE - 1, True, ONE),
        (1, True, ONE),
        (0, True, ONE),
        (-1, True, ONE),
        (ONE - 1, False, ONE - 1),
        (1, False, 1),
        (0, False, 0),
        (-1, False, 0),
    ],
)
def test_a_chunk_may_end_in_a_partial_batch(
    log: Log, max_bytes: int, whole_first: bool, expected: int
) -> None:
    for value in (b"a", b"b", b"c"):
        append(log, value)
    everything = log.read(0, 1 << 20)
    assert log.read(0, max_bytes, whole_first=whole_first) == everything[:expected]
    if expected < ONE:
        assert log.reader.read(0, max_bytes, whole_first=False, keeps_cut=False) == b""


def test_a_read_stops_at_the_offset_it_may_not_pass(log: Log) -> None:
    append(log, b"a", b"b")
    append(log, b"c")
    append(log, b"d")
    assert values(log, 0, upto=3) == [b"a", b"b", b"c"]
    assert values(log, 0, upto=2) == [b"a", b"b"]
    assert values(log, 0, upto=1) == [b"a", b"b"], "the batch begins in front of it"
    assert values(log, 0, upto=0) == []
    assert values(log, 2, upto=2) == values(log, 3, upto=2) == []
    assert values(log, 0, upto=99) == [b"a", b"b", b"c", b"d"]
    assert values(log, 0, max_bytes=1, upto=4) == [b"a", b"b"]


def test_a_read_never_crosses_the_end_of_a_segment(small: Log) -> None:
    for value in b"abcdefg":
        append(small, bytes([value]))
    assert values(small, 1) == [b"b", b"c"]
    assert values(small, 3) == [b"d", b"e", b"f"]
    assert values(small, 1, upto=2) == [b"b"]
    assert values(small, 6) == [b"g"]
    assert [value for _, value in read_all(small)] == [bytes([value]) for value in b"abcdefg"]


def test_a_read_where_a_segment_has_nothing_left_goes_on_in_the_next(small: Log) -> None:
    append(small, b"a")
    append(small, bytes(500), offset=10)
    assert bases(small) == [0, 1]
    assert small.read(1, 1 << 20) == small.read(10, 1 << 20)
    assert small.read(1, 1 << 20, upto=10) == b""


@pytest.mark.parametrize("settled", [False, True])
def test_a_large_read_is_a_view_and_stays_as_it_was(tmp_path: Path, settled: bool) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=3 << 20))
    for number in range(24):
        append(log, bytes([number]) * (100_000))
    if settled:
        append(log, bytes(2 << 20))
        assert bases(log) == [0, 24]
    data = log.read(1, 2 << 20)
    assert isinstance(data, memoryview)
    assert len(data) == 2 << 20 > MAPPED_FROM
    copy = bytes(data)

    log.truncate(2)
    append(log, b"y" * 3_000_000)
    log.delete(bytes(16))

    assert data == copy
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_batch_is_refused_to_its_reader_only(small: Log, tmp_path: Path) -> None:
    for value in b"abcd":
        append(small, bytes([value]))
    flip(file(tmp_path, 0, ".log"), ONE + 16)  # the second batch's magic
    with pytest.raises(Refused, match="no batch at byte") as why:
        small.read(2, 1000)
    assert why.value.error is Error.CORRUPT_MESSAGE
    assert values(small, 3) == [b"d"]


def test_a_segment_whose_file_is_gone_is_a_storage_error(small: Log, tmp_path: Path) -> None:
    for value in b"abcd":
        append(small, bytes([value]))
    small.close()
    log = open_log(tmp_path, SMALL, clean=True)
    file(tmp_path, 0, ".log").unlink()
    with pytest.raises(Refused, match="No such file") as why:
        log.read(0, 1000)
    assert why.value.error is Error.KAFKA_STORAGE_ERROR
    assert values(log, 3) == [b"d"]


# Times.


def test_a_time_finds_the_first_record_that_is_as_late(log: Log) -> None:
    append(log, b"a", b"b", b"c", timestamps=[10, 30, 20], epoch=1)
    append(log, b"d", timestamps=[5], epoch=2)
    append(log, b"e", timestamps=[40], epoch=2)
    assert log.reader.find_timestamp(0) == (0, 10, 1)
    assert log.reader.find_timestamp(11) == (1, 30, 1)
    assert log.reader.find_timestamp(30) == (1, 30, 1)
    assert log.reader.find_timestamp(31) == (4, 40, 2)
    assert log.reader.find_timestamp(41) is None


def test_a_time_is_found_through_the_index(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(index_interval_bytes=100, segment_bytes=5000))
    for number in range(200):
        append(log, bytes(50), timestamps=[number // 2 * 10])
    for clean in (True, False):
        assert len(log.segments) > 3
        for time in range(991):
            assert log.reader.find_timestamp(time) == (-(-time // 10) * 2, -(-time // 10) * 10, 0)
        log.close()
        log = open_log(tmp_path, log.config, clean=clean)
    log.close()


def test_a_segment_below_the_log_start_hides_later_ones_until_it_is_removed(small: Log) -> None:
    for time in (1, 100, 3, 4, 5, 6):
        append(small, b"x", timestamps=[time])
    assert bases(small) == [0, 3]
    small.delete_records(3)
    assert small.reader.find_timestamp(4) is None
    assert small.delete_old_segments(0) == 1
    assert small.reader.find_timestamp(4) == (3, 4, 0)


def test_a_segment_that_compaction_emptied_is_passed_over(small: Log, tmp_path: Path) -> None:
    for time in (1, 2, 3, 4):
        append(small, b"x", timestamps=[time])
    small.close()
    for suffix in (".log", ".index", ".timeindex"):
        file(tmp_path, 0, suffix).write_bytes(b"")
    log = open_log(tmp_path, SMALL, clean=True)
    assert log.notices == []
    assert log.reader.find_timestamp(1) == (3, 4, 0)
    assert log.reader.max_timestamp() == (3, 4, 0)
    assert log.read(0, 1000) == log.read(3, 1000)
    log.close()


def test_a_record_below_the_log_start_is_not_found_by_time(log: Log) -> None:
    append(log, b"a", b"b", b"c", timestamps=[7, 7, 7])
    log.delete_records(1)
    assert log.reader.find_timestamp(7) == (1, 7, 0)


def test_the_latest_record_is_the_first_of_equals_wherever_the_log_starts(small: Log) -> None:
    assert small.reader.max_timestamp() is None
    for time in (1, 9, 3, 9, 5):
        append(small, b"x", timestamps=[time])
    assert small.reader.max_timestamp() == (1, 9, 0)
    small.delete_records(2)
    assert small.reader.max_timestamp() == (1, 9, 0)


def test_the_latest_record_of_a_batch_is_found_in_it(log: Log) -> None:
    append(log, b"a", b"b", b"c", timestamps=[1, 9, 9])
    assert log.reader.max_timestamp() == (1, 9, 0)


def test_with_log_append_time_a_batch_has_one_time(log: Log) -> None:
    batch = build_batch([(1, None, b"a", ()), (2, None, b"b", ())], log_append_time=50)
    put_at_end(log, batch)
    assert log.reader.max_timestamp() == (0, 50, 0)
    assert log.reader.find_timestamp(20) == (0, 50, 0)


def test_without_any_time_the_latest_record_is_the_first(small: Log) -> None:
    for _ in range(5):
        append(small, b"x", timestamps=[-1])
    assert small.reader.max_timestamp() == (0, -1, 0)
    assert small.reader.find_timestamp(0) is None


# Transactions.


def test_aborted_transactions_are_sent_to_whoever_reads_them(log: Log) -> None:
    append(log, b"a", producer_id=1, sequence=0, transactional=True)
    append(log, b"b", producer_id=2, sequence=0, transactional=True)
    assert log.producers.first_unstable_offset == 0
    end_transaction(log, 1, commit=False)
    end_transaction(log, 2, commit=True)
    assert log.producers.first_unstable_offset is None
    append(log, b"c", producer_id=1, sequence=1, transactional=True)
    end_transaction(log, 1, commit=False)

    everything = len(log.read(0, 1 << 20))
    assert log.reader.aborted_transactions(0, everything) == [(1, 0, 2, 1), (1, 4, 5, 6)]
    assert log.reader.aborted_transactions(3, everything) == [(1, 4, 5, 6)]
    assert log.reader.aborted_transactions(0, 0) == []
    assert log.reader.aborted_transactions(6, everything) == []


def test_an_aborted_transaction_may_end_in_a_later_segment(small: Log) -> None:
    append(small, b"a", producer_id=1, sequence=0, transactional=True)
    append(small, b"b")
    append(small, b"c")
    append(small, b"d")
    end_transaction(small, 1, commit=False)
    append(small, bytes(300))
    append(small, b"e", producer_id=1, sequence=1, transactional=True)
    end_transaction(small, 1, commit=False)
    assert len(small.segments) == 4
    assert small.reader.aborted_transactions(0, len(small.read(0, 1000))) == [(1, 0, 4, 5)]
    last = small.log_end_offset - 2
    assert small.reader.aborted_transactions(last, 1000) == [(1, last, last + 1, last + 2)]


def test_a_listing_of_aborted_transactions_ends_where_the_index_says(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(index_interval_bytes=0))
    size = 0
    for sequence in range(3):
        size = append(log, b"x", producer_id=1, sequence=sequence, transactional=True).size
        end_transaction(log, 1, commit=False)
    assert log.reader.aborted_transactions(0, size) == [(1, 0, 1, 2)]
    assert len(log.reader.aborted_transactions(0, size + 1)) == 1
    assert len(log.reader.aborted_transactions(0, 2 * size + 78)) == 2
    log.close()


def test_a_marker_without_a_transaction_is_appended_and_listed_nowhere(log: Log) -> None:
    end_transaction(log, 1, commit=False)
    assert log.log_end_offset == 1
    assert log.reader.aborted_transactions(0, 1000) == []
    assert 1 in log.producers.states


# Taking away.


def test_deleting_records_moves_the_start_and_the_first_epoch(small: Log, tmp_path: Path) -> None:
    for _ in range(7):
        append(small, b"x")
    small.delete_records(4)
    assert (small.log_start_offset, bases(small)) == (4, [0, 3, 6])
    assert (home(tmp_path) / "leader-epoch-checkpoint").read_bytes() == b"0\n1\n0 4\n"
    small.delete_records(2)
    assert small.log_start_offset == 4
    with pytest.raises(Refused) as why:
        small.delete_records(8)
    assert why.value.error is Error.OFFSET_OUT_OF_RANGE


def test_segments_in_front_of_the_start_are_dropped_whole(small: Log, tmp_path: Path) -> None:
    for _ in range(7):
        append(small, b"x")
    size = small.size
    small.delete_records(5)
    assert small.delete_old_segments(0) == 1
    assert bases(small) == [3, 6]
    assert small.size == size - 3 * ONE
    small.unlink_deleted(60_000)
    assert not list(home(tmp_path).glob(f"{0:020d}*"))
    small.delete_records(7)
    assert small.delete_old_segments(0) == 1
    assert bases(small) == [6], "the newest segment stays"
    assert {path.name for path in home(tmp_path).glob("*.snapshot")} == {f"{6:020d}.snapshot"}
    assert small.read(7, 100) == b""
    append(small, b"y")
    assert read_all(small) == [(7, b"y")]


@pytest.mark.parametrize(
    ("offset", "end"), [(9, 8), (8, 8), (7, 6), (6, 6), (5, 4), (2, 2), (0, 0)]
)
def test_truncation_takes_every_batch_that_reaches_the_offset(
    tmp_path: Path, offset: int, end: int
) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=2 * ONE + 30))
    for number in range(4):
        append(log, b"%d" % number, b"", timestamps=[number, number], epoch=number)
    assert bases(log) == [0, 4]

    log.truncate(offset)

    assert log.log_end_offset == end
    assert len(read_all(log)) == end
    assert log.epochs.latest == end // 2 - 1
    assert log.reader.max_timestamp() == ((end - 2, end // 2 - 1, end // 2 - 1) if end else None)
    append(log, b"new", epoch=9)
    assert read_all(log)[-1] == (end, b"new")
    log.close()
    again = open_log(tmp_path, log.config, clean=True)
    assert read_all(again)[-1] == (end, b"new")
    assert again.log_end_offset == end + 1
    assert again.notices == []
    again.close()


def test_truncation_in_front_of_everything_starts_the_log_there(small: Log) -> None:
    for _ in range(7):
        append(small, b"x")
    small.delete_records(4)
    small.delete_old_segments(0)
    assert small.recovery_point == 6
    small.truncate(2)
    assert (small.log_start_offset, small.log_end_offset, small.size) == (2, 2, 0)
    assert small.recovery_point == 2
    append(small, b"y")
    assert read_all(small) == [(2, b"y")]


@pytest.mark.parametrize("way", ["truncated", "cut", "deleted", "compacted"])
def test_what_was_taken_away_is_counted(tmp_path: Path, way: str) -> None:
    """`size + removed_bytes` is what was appended since it was opened."""
    policy = frozenset({"compact" if way == "compacted" else "delete"})
    log = open_log(tmp_path, replace(SMALL, cleanup_policy=policy))
    for _ in range(8):
        append(log, b"x")  # without a key, so that compaction takes it away
    appended = log.size
    assert (log.removed_bytes, len(log.segments) > 2) == (0, True)
    if way == "compacted":
        log.compactor.compact(0, force=True)
    elif way == "deleted":
        log.delete_records(4)
        log.delete_old_segments(0)
    else:
        log.truncate(2 if way == "truncated" else 7)  # the whole end, or the last batch alone
    assert 0 < log.removed_bytes == appended - log.size
    log.close()
    again = open_log(tmp_path, log.config, clean=True)
    assert (again.removed_bytes, again.size) == (0, log.size)
    again.close()


def test_truncation_takes_producers_and_aborted_transactions_back(small: Log) -> None:
    append(small, b"a", producer_id=1, sequence=0, transactional=True)
    append(small, b"b", producer_id=2, sequence=0)
    append(small, b"c", producer_id=2, sequence=1)
    end_transaction(small, 1, commit=False)
    append(small, b"d", producer_id=3, sequence=0)
    assert len(small.segments) > 1

    small.truncate(2)

    assert {key: state.last_sequence for key, state in small.producers.states.items()} == {
        1: 0,
        2: 0,
    }
    assert small.producers.first_unstable_offset == 0
    assert small.reader.aborted_transactions(0, 1000) == []
    end_transaction(small, 1, commit=False)
    assert small.reader.aborted_transactions(0, 1000) == [(1, 0, 2, 3)]


def test_truncation_keeps_the_aborted_transactions_of_the_last_segment_once(log: Log) -> None:
    for producer in (1, 2, 3):
        append(log, b"x", producer_id=producer, sequence=0, transactional=True)
        end_transaction(log, producer, commit=False)
    assert len(log.segments) == 1

    log.truncate(4)

    assert log.reader.aborted_transactions(0, 1000) == [(1, 0, 1, 2), (2, 2, 3, 4)]


def test_a_deleted_log_leaves_nothing(small: Log, tmp_path: Path) -> None:
    for _ in range(7):
        append(small, b"x")
    small.delete(bytes(16))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(Refused):
        append(small, b"y")
    assert list(tmp_path.iterdir()) == []


# Closing.


def test_a_closed_log_has_the_files_that_kafka_leaves(small: Log, tmp_path: Path) -> None:
    for number in range(5):
        append(small, b"x", timestamps=[number], producer_id=8, sequence=number)
    small.close()
    small.close()
    assert sorted(path.name for path in home(tmp_path).iterdir()) == [
        "00000000000000000000.index",
        "00000000000000000000.log",
        "00000000000000000000.timeindex",
        "00000000000000000003.index",
        "00000000000000000003.log",
        "00000000000000000003.snapshot",
        "00000000000000000003.timeindex",
        "00000000000000000005.snapshot",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ]
    assert small.recovery_point == 5


def test_a_closed_log_holds_no_descriptor_and_takes_no_batch(small: Log) -> None:
    for _ in range(7):
        append(small, b"x")
    read_all(small)
    small.close()
    assert len(small.segments[0].file._descriptors) == 0
    with pytest.raises(Refused) as why:
        append(small, bytes(300))
    assert why.value.error is Error.KAFKA_STORAGE_ERROR
    small.checkpoint()


def test_a_flush_moves_the_recovery_point(small: Log) -> None:
    for _ in range(4):
        append(small, b"x")
    assert small.recovery_point == 3
    small.flush()
    assert small.recovery_point == 4


def test_a_log_can_be_named_as_in_the_documentation(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL, naming=DOCUMENTED)
    for value in b"abcd":
        append(log, bytes([value]))
    log.close()
    assert sorted(path.name for path in (tmp_path / "t_0").glob("*.kafka")) == [
        "00000000000.kafka",
        "00000000003.kafka",
    ]
    log = open_log(tmp_path, SMALL, naming=DOCUMENTED)
    assert [value for _, value in read_all(log)] == [b"a", b"b", b"c", b"d"]
    log.close()


def test_memory_does_not_grow_with_data(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=20_000, index_interval_bytes=0))
    for _ in range(2000):
        append(log, b"x")
    assert len(log.segments) > 5
    for segment in log.segments[:-1]:
        assert not segment.offset_index.data
        assert not segment.time_index.data
        assert not segment._lasts
    log.close()


def test_an_empty_log_may_begin_later(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.start_at(7, 0)
    assert (log.log_start_offset, log.log_end_offset, bases(log)) == (7, 7, [7])
    log.close()
    log = open_log(tmp_path)
    assert log.log_end_offset == 7
    append(log, b"x")
    assert read_all(log) == [(7, b"x")]
    with pytest.raises(ValueError, match="not an empty log that may begin at 9"):
        log.start_at(9, 0)
    log.close()
