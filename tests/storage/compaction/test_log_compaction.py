"""Compaction, rule by rule: what stays, what goes, and what happens to the log meanwhile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from odradek.storage.compaction import offset_map as compaction_map
from odradek.storage.compaction.compactor import CompactionResult
from odradek.storage.compaction.run import Compaction
from odradek.storage.log import Log
from odradek.wire.batch import checksum, read_header
from odradek.wire.compression import Codec
from odradek.wire.errors import Error, Refused
from odradek.wire.records import build_batch, read_marker, read_records

from tests.storage.support.compacted_logs import (
    COMPACT,
    DAY_MS,
    ONE_BATCH,
    content,
    keyed,
    produce,
    roll,
    stored,
    write,
)
from tests.storage.support.logs import end_transaction, expected_indexes, file, flip, home

A, B, C = b"a", b"b", b"c"


# Which records stay.


def test_the_newest_record_of_each_key_stays(tmp_path: Path) -> None:
    log = keyed(tmp_path)
    write(log, (A, b"1"), (B, b"1"))
    write(log, (A, b"2"), (C, b"1"))
    write(log, (B, b"2"))
    result = log.compactor.compact(0, force=True)
    assert content(log) == [(2, A, b"2"), (3, C, b"1"), (4, B, b"2")]
    assert result == CompactionResult(5, 1, 1, result.bytes_before, log.size, 5, 3)
    assert (log.log_start_offset, log.log_end_offset) == (0, 5)


def test_records_without_a_key_go(tmp_path: Path) -> None:
    log = keyed(tmp_path)
    write(log, (None, b"1"), (A, b"1"))
    log.compactor.compact(0, force=True)
    assert content(log) == [(1, A, b"1")]


def test_a_batch_that_loses_nothing_keeps_its_bytes(tmp_path: Path) -> None:
    log = keyed(tmp_path)
    for codec in Codec:
        write(log, (b"key %d" % codec, b"v"), (b"kez %d" % codec, b"v"), codec=codec)
    before = [batch.data for batch in stored(log)]
    log.compactor.compact(0, force=True)
    assert [batch.data for batch in stored(log)] == before


@pytest.mark.parametrize("codec", list(Codec))
@pytest.mark.parametrize("stamped", [None, 70])
def test_a_batch_that_loses_some_keeps_what_it_is(
    tmp_path: Path, codec: Codec, stamped: int | None
) -> None:
    log = keyed(tmp_path)
    producer = {"producer_id": 7, "producer_epoch": 2, "base_sequence": 5, "leader_epoch": 3}
    same: dict[str, Any] = {"codec": codec, "log_append_time": stamped, **producer}
    before = write(log, (A, b"1"), (B, b"1"), (C, b"1"), (A, b"2"), time=50, **same)
    write(log, (A, b"3"), (C, b"2"), time=90)
    log.compactor.compact(0, force=True)

    header, records, data = stored(log)[0]
    assert [(one.offset, one.key, one.value) for one in records] == [(1, B, b"1")]
    assert records[0].timestamp == (50 if stamped is None else 70)
    assert header.crc == checksum(data, 0, len(data))
    kept = ("base_offset", "last_offset_delta", "producer_id", "producer_epoch", "base_sequence")
    for name in (*kept, "leader_epoch", "attributes", "max_timestamp"):
        assert getattr(header, name) == getattr(before, name), name
    assert header.count == 1


def test_times_follow_from_what_is_left(tmp_path: Path) -> None:
    log = keyed(tmp_path)
    batch = build_batch([(time, key, b"", ()) for time, key in ((9, A), (5, B), (3, C), (4, B))])
    log.append(batch, read_header(batch), 0)
    write(log, (A, b"2"))
    log.compactor.compact(0, force=True)
    header, records, _ = stored(log)[0]
    assert (header.base_timestamp, header.max_timestamp) == (3, 4)
    assert [one.timestamp for one in records] == [3, 4]


@pytest.mark.parametrize(("in_c", "room"), [(False, 6 * 170), (True, 7 * 24)])
def test_a_map_that_is_full_ends_the_round_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_c: bool, room: int
) -> None:
    if in_c and not compaction_map.HAVE_C:
        pytest.skip("the C extension is not built")
    monkeypatch.setattr(compaction_map, "HAVE_C", in_c)
    log = keyed(tmp_path, ONE_BATCH)
    for value in (b"old", b"new"):
        for number in range(8):
            write(log, (b"%d" % number, value))
    write(log, (A, b"active"))
    rounds = []
    while log.compactor.plan(0).cleanable_bytes:
        rounds.append(
            log.compactor.compact(0, buffer_bytes=room, load_factor=1.0).first_dirty_offset
        )
    assert rounds == [6, 12, 16]
    assert content(log) == [(8 + n, b"%d" % n, b"new") for n in range(8)] + [(16, A, b"active")]


# Tombstones and transactions.


def test_a_tombstone_goes_when_its_time_has_come(tmp_path: Path) -> None:
    log = keyed(tmp_path)
    write(log, (A, b"1"), (B, b"1"), time=20)
    write(log, (A, None), time=30)
    log.compactor.compact(1000, force=True)
    assert content(log) == [(1, B, b"1"), (2, A, None)]
    header, records, _ = stored(log)[1]
    assert header.has_delete_horizon
    assert (header.base_timestamp, header.max_timestamp) == (1000 + DAY_MS, 30)
    assert records[0].timestamp == 30

    log.compactor.compact(999 + DAY_MS, force=True)
    assert content(log) == [(1, B, b"1"), (2, A, None)]
    log.compactor.compact(1000 + DAY_MS, force=True)
    assert content(log) == [(1, B, b"1")]
    assert stored(log)[1].header.count == 0, "the last batch of the round stays"


def test_the_longest_retention_keeps_tombstones_and_markers_for_ever(tmp_path: Path) -> None:
    log = keyed(tmp_path, replace(COMPACT, delete_retention_ms=2**63 - 1))
    write(log, (A, b"1"), (B, None), time=20)
    produce(log, 1, 0, (A, b"1"), transactional=True)
    end_transaction(log, 1, commit=True)
    produce(log, 1, 1, (A, b"2"))
    for _ in range(2):
        log.compactor.compact(1000, force=True)
        assert content(log) == [(1, B, None), (4, A, b"2")]
        headers = [header for header, *_ in stored(log)]
        assert [header.is_control for header in headers] == [False, True, False]
        assert not any(header.has_delete_horizon for header in headers)


def test_a_tombstone_that_is_not_the_newest_goes_at_once(tmp_path: Path) -> None:
    log = keyed(tmp_path)
    write(log, (A, None))
    write(log, (A, b"2"))
    log.compactor.compact(0, force=True)
    assert content(log) == [(1, A, b"2")]


def test_records_of_aborted_transactions_go_and_hide_nothing(tmp_path: Path) -> None:
    log = keyed(tmp_path)
    write(log, (A, b"kept"))
    produce(log, 1, 0, (A, b"aborted"), (B, b"aborted"), transactional=True)
    end_transaction(log, 1, commit=False)
    log.compactor.compact(0, force=True)
    assert content(log) == [(0, A, b"kept")]


def test_a_marker_outlives_the_batches_and_then_its_horizon(tmp_path: Path) -> None:
    log = keyed(tmp_path, replace(COMPACT, delete_retention_ms=100))
    for producer_id, commit in ((1, True), (2, False)):
        produce(log, producer_id, 0, (A, b"1"), transactional=True)
        end_transaction(log, producer_id, commit=commit)
        produce(log, producer_id, 1, (B, b"1"))
    write(log, (A, b"2"), (B, b"2"))

    def markers() -> list[tuple[int, bool, bool]]:
        return [
            (one.header.base_offset, read_marker(one.data).commit, one.header.has_delete_horizon)
            for one in stored(log)
            if one.header.is_control and one.header.count
        ]

    log.compactor.compact(0, force=True)
    assert markers() == [(1, True, False), (4, False, False)], "batches were there"
    assert [one.producer_id for one in log.segments[0].transaction_index.entries()] == [2]
    log.compactor.compact(0, force=True)
    assert markers() == [(1, True, True), (4, False, True)]
    assert log.segments[0].transaction_index.entries() == []
    log.compactor.compact(99, force=True)
    assert len(markers()) == 2
    log.compactor.compact(100, force=True)
    assert markers() == []


def test_what_an_open_transaction_holds_back_is_not_touched(tmp_path: Path) -> None:
    log = keyed(tmp_path, ONE_BATCH)
    write(log, (A, b"1"))
    write(log, (A, b"2"))
    produce(log, 1, 0, (A, b"open"), transactional=True)
    write(log, (A, b"3"))
    assert log.compactor.compact(0, force=True).first_dirty_offset == 2
    assert content(log) == [(1, A, b"2"), (2, A, b"open"), (3, A, b"3")]
    end_transaction(log, 1, commit=True)
    log.compactor.compact(0, force=True)
    assert content(log) == [(3, A, b"3")]


def test_nothing_is_done_where_all_is_held_back(tmp_path: Path) -> None:
    log = keyed(tmp_path)
    produce(log, 1, 0, (A, b"open"), (A, b"open"), transactional=True)
    assert log.compactor.compact(0, force=True) == CompactionResult()
    assert len(content(log)) == 2


def test_a_producers_last_batch_stays_as_a_header(tmp_path: Path) -> None:
    log = keyed(tmp_path)
    produce(log, 7, 0, (A, b"1"), time=5)
    header = produce(log, 7, 1, (A, b"2"), (B, b"1"), time=9, codec=Codec.GZIP)
    write(log, (A, b"3"), (B, b"2"))
    log.compactor.compact(0, force=True)
    found = stored(log)[0].header
    emptied = header._replace(
        batch_length=49, crc=found.crc, attributes=0, base_timestamp=-1, count=0
    )
    assert found == emptied
    assert len(stored(log)) == 2

    states = log.producers.snapshot()
    log.close(clean=False)
    for snapshot in home(tmp_path).glob("*.snapshot"):
        snapshot.unlink()
    assert keyed(tmp_path).producers.snapshot() == states


# Which segments.


def test_never_the_active_segment(tmp_path: Path) -> None:
    log = keyed(tmp_path)
    write(log, (A, b"1"))
    roll(log)
    write(log, (A, b"2"))
    write(log, (A, b"3"))
    assert log.compactor.compact(0).records_after == 1
    assert content(log) == [(0, A, b"1"), (1, A, b"2"), (2, A, b"3")]
    assert log.compactor.cleaned_offset == 1
    assert log.compactor.compact(0) == CompactionResult()


def test_a_plan_weighs_the_dirty_bytes(tmp_path: Path) -> None:
    log = keyed(tmp_path, ONE_BATCH)
    for number in range(4):
        write(log, (A, b"%d" % number))
    size = log.segments[0].size
    log.compactor.cleaned_offset = 1
    plan = log.compactor.plan(0)
    assert (plan.first_dirty, plan.end) == (1, 3)
    assert (plan.clean_bytes, plan.cleanable_bytes) == (size, 2 * size)
    assert plan.is_due(ONE_BATCH)
    assert not plan.is_due(replace(ONE_BATCH, min_cleanable_dirty_ratio=2 / 3))


@pytest.mark.parametrize(("cleaned", "first_dirty"), [(None, 2), (1, 2), (2, 2), (3, 3), (5, 2)])
def test_a_checkpoint_outside_of_the_log_is_not_of_it(
    tmp_path: Path, cleaned: int | None, first_dirty: int
) -> None:
    log = keyed(tmp_path, ONE_BATCH)
    for number in range(4):
        write(log, (A, b"%d" % number))
    log.delete_records(2)
    log.compactor.cleaned_offset = cleaned
    plan = log.compactor.plan(0)
    assert plan.first_dirty == first_dirty
    assert plan.is_reset == (cleaned in (1, 5))


def test_records_younger_than_the_lag_wait(tmp_path: Path) -> None:
    log = keyed(tmp_path, replace(ONE_BATCH, min_compaction_lag_ms=100))
    for number in range(4):
        write(log, (A, b"%d" % number), time=number * 10)
    assert log.compactor.plan(109).end == 1
    assert log.compactor.plan(110).end == 2
    assert log.compactor.plan(1000).end == 3, "the active segment waits anyhow"


def test_records_older_than_the_longest_lag_do_not_wait(tmp_path: Path) -> None:
    config = replace(ONE_BATCH, max_compaction_lag_ms=100, min_cleanable_dirty_ratio=1.0)
    log = keyed(tmp_path, config)
    write(log, (A, b"1"), time=10)
    write(log, (A, b"2"), time=10)
    assert not log.compactor.plan(110).is_due(config)
    assert log.compactor.plan(111).is_due(config)
    log.close()
    log = keyed(tmp_path, config, clean=True)
    assert log.compactor.plan(111).is_due(config)
    log.compactor.compact(111)
    assert not log.compactor.plan(111).is_due(config)


def test_neighbours_become_one_segment_of_at_most_its_size(tmp_path: Path) -> None:
    log = keyed(tmp_path, ONE_BATCH)
    for number in range(7):
        write(log, (b"%d" % number, b"v"))
    size = log.segments[0].size
    log.config = replace(ONE_BATCH, segment_bytes=2 * size)
    log.compactor.compact(0)
    assert [one.base_offset for one in log.segments] == [0, 2, 4, 6]
    names = {path.name for path in home(tmp_path).iterdir()}
    snapshots = {f"{base:020d}.snapshot" for base in (2, 4, 6)}
    assert {name for name in names if name.endswith(".snapshot")} == snapshots
    log.unlink_deleted(log.config.file_delete_delay_ms)
    assert not list(home(tmp_path).glob("*.deleted"))
    assert content(log) == [(n, b"%d" % n, b"v") for n in range(7)]


def test_a_segment_of_which_nothing_is_left_stays_as_an_empty_one(tmp_path: Path) -> None:
    log = keyed(tmp_path, ONE_BATCH)
    write(log, (A, b"1"))
    write(log, (A, b"2"))
    write(log, (B, b"active"))
    log.compactor.compact(0)
    assert [one.size > 0 for one in log.segments] == [False, True, True]
    for suffix in (".log", ".index", ".timeindex"):
        assert file(tmp_path, 0, suffix).read_bytes() == b""
    assert content(log) == [(1, A, b"2"), (2, B, b"active")]
    first = bytes(log.read(0, 1000))
    assert first == stored(log)[0].data
    log.close()
    log = keyed(tmp_path, ONE_BATCH, clean=True)
    assert content(log) == [(1, A, b"2"), (2, B, b"active")]
    assert log.notices == []


def test_the_indexes_of_a_compacted_segment_follow_the_same_rules(tmp_path: Path) -> None:
    config = replace(COMPACT, index_interval_bytes=300)
    log = keyed(tmp_path, config)
    for number in range(100):
        write(log, (b"%d" % (number % 60), b"v" * 50), time=number % 7)
    log.compactor.compact(0, force=True)
    indexes = (file(tmp_path, 0, suffix).read_bytes() for suffix in (".index", ".timeindex"))
    assert tuple(indexes) == expected_indexes(file(tmp_path, 0, ".log"), 300, stopped=True)
    assert log.segments[0].offset_index.count > 3
    for offset, key, _ in content(log):
        found = stored_at(bytes(log.read(offset, 1)))
        assert (offset, key) in found


def stored_at(data: bytes) -> list[tuple[int, bytes | None]]:
    return [(one.offset, one.key) for one in read_records(data)]


# Meanwhile.


def begun(log: Log) -> Compaction:
    return log.compactor.begin(log.compactor.plan(0), 0)


def filled(path: Path) -> Log:
    log = keyed(path, ONE_BATCH)
    for number in range(5):
        write(log, (A, b"%d" % number))
    return log


def test_batches_appended_meanwhile_are_there(tmp_path: Path) -> None:
    log = filled(tmp_path)
    compaction = begun(log)
    write(log, (A, b"5"))
    compaction.run()
    write(log, (B, b"6"))
    view = log.read(0, 1000)
    copy = bytes(view)
    assert log.compactor.end(compaction) is not None
    assert view == copy
    assert content(log) == [(3, A, b"3"), (4, A, b"4"), (5, A, b"5"), (6, B, b"6")]
    assert log.compactor.cleaned_offset == 4


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("offset", [2, 4])
def test_a_truncation_meanwhile_makes_it_worthless(tmp_path: Path, when: str, offset: int) -> None:
    log = filled(tmp_path)
    log.compactor.cleaned_offset = 3
    compaction = begun(log)
    if when == "after":
        compaction.run()
    log.truncate(offset)
    write(log, (A, b"again"))
    if when == "before":
        compaction.run()
    assert log.compactor.end(compaction) is None
    assert not list(home(tmp_path).glob("*.cleaned"))
    old = [(n, A, b"%d" % n) for n in range(offset)]
    assert content(log) == [*old, (offset, A, b"again")]
    assert log.compactor.cleaned_offset == min(offset, 3)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_deletion_meanwhile_leaves_nothing(tmp_path: Path, when: str) -> None:
    log = filled(tmp_path)
    compaction = begun(log)
    if when == "after":
        compaction.run()
    log.delete(bytes(16))
    again = filled(tmp_path)
    names = sorted(path.name for path in home(tmp_path).iterdir())
    if when == "before":
        compaction.run()
    assert log.compactor.end(compaction) is None
    assert sorted(path.name for path in home(tmp_path).iterdir()) == names
    assert len(content(again)) == 5


@pytest.mark.parametrize("when", ["before", "after"])
def test_retention_meanwhile_wins(tmp_path: Path, when: str) -> None:
    log = filled(tmp_path)
    compaction = begun(log)
    if when == "after":
        compaction.run()
    log.delete_old_segments(0, policy=lambda *_: 2)
    if when == "before":
        compaction.run()
    assert log.compactor.end(compaction) is None
    assert content(log) == [(n, A, b"%d" % n) for n in (2, 3, 4)]
    log.compactor.compact(0)
    assert content(log) == [(3, A, b"3"), (4, A, b"4")]


def test_deleted_records_stay_deleted(tmp_path: Path) -> None:
    log = filled(tmp_path)
    compaction = begun(log)
    log.delete_records(4)
    compaction.run()
    log.compactor.end(compaction)
    assert log.log_start_offset == 4
    with pytest.raises(Refused):
        log.read(3, 1000)


def test_a_log_that_is_closed_meanwhile_is_as_it_was(tmp_path: Path) -> None:
    log = filled(tmp_path)
    compaction = begun(log)
    compaction.run()
    log.close()
    assert log.compactor.end(compaction) is None
    log = keyed(tmp_path, ONE_BATCH, clean=True)
    assert len(content(log)) == 5
    assert not list(home(tmp_path).glob("*.cleaned"))


# Damage.


@pytest.mark.parametrize("position", [17, 61])
def test_a_damaged_batch_leaves_the_log_as_it_is(tmp_path: Path, position: int) -> None:
    log = filled(tmp_path)
    flip(file(tmp_path, 2, ".log"), position)
    before = {path.name: path.read_bytes() for path in home(tmp_path).glob("*.log*")}
    with pytest.raises(Refused) as why:
        log.compactor.compact(0)
    assert why.value.error is Error.CORRUPT_MESSAGE
    assert {path.name: path.read_bytes() for path in home(tmp_path).glob("*.log*")} == before
    assert log.compactor.cleaned_offset is None
    assert not list(home(tmp_path).glob("*.cleaned"))
