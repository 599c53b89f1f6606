"""Which segments go, what becomes of their files, and what readers and the next start see."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.storage.config import LogConfig
from odradek.storage.disk.directory import MAPPED_FROM
from odradek.storage.log import Log
from odradek.storage.naming import DELETED
from odradek.storage.retention import (
    LogView,
    SegmentView,
    before_log_start,
    deletable,
    expired,
    kafka_retention,
    oversized,
)
from odradek.wire.errors import Error, Refused
from odradek.wire.records import build_batch

from tests.storage.support.logs import append, file, home, open_log, read_all, records

ONE = len(build_batch([(0, None, b"x", ())]))
KEEP_ALL = LogConfig(segment_bytes=2 * ONE, retention_ms=-1)
"""Two batches of one record fill a segment; nothing goes by time or size."""


def views(*rows: tuple[int, int]) -> tuple[SegmentView, ...]:
    """Segments of ten offsets each, from (size, largest timestamp)."""
    return tuple(
        SegmentView(10 * at, 10 * at + 10, size, time) for at, (size, time) in enumerate(rows)
    )


def view(*rows: tuple[int, int], start: int = 0, **configs: Any) -> LogView:
    config = replace(LogConfig(retention_ms=-1), **configs)
    return LogView("t", 0, config, start, views(*rows))


# The rules.


@pytest.mark.parametrize(
    ("start", "count"), [(0, 0), (9, 0), (10, 1), (11, 1), (20, 2), (29, 2), (30, 2)]
)
def test_whole_segments_below_the_log_start_go_and_never_the_newest(start: int, count: int) -> None:
    assert before_log_start(views((5, 0), (5, 0), (5, 0)), start) == count


OVERSIZED = [
    ("no limit", -1, [5, 5, 5], 0),
    ("exactly the limit", 15, [5, 5, 5], 0),
    ("less than a segment over it", 11, [5, 5, 5], 0),
    ("a segment over it", 10, [5, 5, 5], 1),
    ("two segments over it", 5, [5, 5, 5], 2),
    ("an old segment that is too large keeps the small ones behind it", 9, [7, 1, 1, 4], 0),
    ("nothing is to be kept", 0, [5, 5, 5], 3),
    ("an emptied segment costs nothing", 15, [0, 5, 5, 5], 1),
    ("below the limit nothing goes, not even that", 16, [0, 5, 5, 5], 0),
]


@pytest.mark.parametrize(
    ("limit", "sizes", "count"), [row[1:] for row in OVERSIZED], ids=[row[0] for row in OVERSIZED]
)
def test_segments_go_while_the_log_without_them_is_large_enough(
    limit: int, sizes: list[int], count: int
) -> None:
    assert oversized(views(*((size, 0) for size in sizes)), limit) == count


EXPIRED = [
    ("no limit", -1, [0, 0], 0),
    ("just as old as the limit", 100, [900, 950], 0),
    ("older", 100, [899, 950], 1),
    ("all", 100, [100, 899], 2),
    ("a young segment keeps older ones behind it", 100, [899, 950, 100], 1),
    ("one from the future", 100, [5000, 0], 0),
    ("a limit of nothing", 0, [999, 1000], 1),
]


@pytest.mark.parametrize(
    ("limit", "times", "count"), [row[1:] for row in EXPIRED], ids=[row[0] for row in EXPIRED]
)
def test_segments_go_when_their_latest_record_is_too_old(
    limit: int, times: list[int], count: int
) -> None:
    assert expired(views(*((5, time) for time in times)), limit, 1000) == count


def test_kafkas_rules_apply_one_after_the_other() -> None:
    log = view(*[(5, 0)] * 2, *[(5, 900)] * 4, start=10, retention_bytes=20, retention_ms=200)
    assert kafka_retention(log, 1000) == 2, "the log start takes one, the size another"
    assert kafka_retention(log, 1101) == 6, "then time takes the others"


@pytest.mark.parametrize("policy", [frozenset(), frozenset({"compact"})])
def test_without_delete_only_the_log_start_counts(policy: frozenset[str]) -> None:
    log = view((5, 0), (5, 0), (5, 0), start=10, retention_bytes=0, retention_ms=0)
    assert kafka_retention(log, 1000) == 3
    log = log._replace(config=replace(log.config, cleanup_policy=policy))
    assert kafka_retention(log, 1000) == 1


DELETABLE = [
    ("what the policy says", 2, 30, 5, 2),
    ("all of them", 3, 30, 5, 3),
    ("more than there are is all", 99, 30, 5, 3),
    ("less than none is none", -1, 30, 5, 0),
    ("the high watermark keeps its segment", 3, 29, 5, 2),
    ("a high watermark at a segment's end", 3, 20, 5, 2),
    ("an empty newest segment stays", 3, 30, 0, 2),
]


@pytest.mark.parametrize(
    ("says", "high_watermark", "newest_size", "count"),
    [row[1:] for row in DELETABLE],
    ids=[row[0] for row in DELETABLE],
)
def test_what_holds_whatever_the_policy_says(
    says: int, high_watermark: int, newest_size: int, count: int
) -> None:
    log = view((5, 0), (5, 0), (newest_size, 0))
    assert deletable(log, lambda *_: says, 0, high_watermark) == count


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 20)), min_size=1, max_size=6),
    st.integers(-1, 12),
    st.integers(-1, 15),
    st.integers(0, 60),
    st.integers(0, 60),
)
def test_the_rules_agree_with_a_loop_that_takes_one_segment_after_the_other(
    rows: list[tuple[int, int]], limit: int, age: int, start: int, high_watermark: int
) -> None:
    """The loop is the order of questions in Kafka's own task, asked of a list that shrinks."""
    log = view(*rows, start=start, retention_bytes=limit, retention_ms=age)
    left = list(log.segments)

    def take(may_go: object) -> None:
        while left and left[0].next_offset <= high_watermark:
            is_newest = len(left) == 1
            if (is_newest and not left[0].size) or not may_go(left, is_newest):  # type: ignore[operator]
                return
            left.pop(0)

    take(lambda left, is_newest: not is_newest and left[1].base_offset <= start)
    if limit >= 0 and (total := sum(one.size for one in left)) >= limit:
        kept = total
        while left and left[0].next_offset <= high_watermark:
            if kept - left[0].size < limit or (len(left) == 1 and not left[0].size):
                break
            kept -= left.pop(0).size
    if age >= 0:
        take(lambda left, _: 20 - left[0].largest_timestamp > age)
    assert deletable(log, kafka_retention, 20, high_watermark) == len(rows) - len(left)


# A log under retention.


def filled(path: Path, count: int = 7, config: LogConfig = KEEP_ALL, **more: Any) -> Log:
    """Batches of one record, record n at time n, two in a segment."""
    log = open_log(path, config, **more)
    for number in range(count):
        append(log, b"%d" % (number % 10), timestamps=[number], now_ms=number)
    return log


def bases(log: Log) -> list[int]:
    return [segment.base_offset for segment in log.segments]


def names(path: Path) -> list[str]:
    return sorted(one.name for one in home(path).iterdir() if one.suffix != ".tmp")


def by_age(log: Log, age_ms: int) -> None:
    log.config = replace(log.config, retention_ms=age_ms)


def test_a_log_keeps_what_the_configs_say_by_default(tmp_path: Path) -> None:
    log = filled(tmp_path)
    assert log.delete_old_segments(10**15) == 0
    assert bases(log) == [0, 2, 4, 6]
    log.close()


def test_old_segments_go_and_the_log_starts_behind_them(tmp_path: Path) -> None:
    log = filled(tmp_path)
    by_age(log, 100)
    assert log.delete_old_segments(104) == 2  # records 1 and 3 are the latest of theirs
    assert (bases(log), log.log_start_offset, log.log_end_offset) == ([4, 6], 4, 7)
    assert log.size == 3 * ONE
    assert read_all(log) == [(4, b"4"), (5, b"5"), (6, b"6")]
    with pytest.raises(Refused) as why:
        log.read(3, 1000)
    assert why.value.error is Error.OFFSET_OUT_OF_RANGE
    found = log.reader.find_timestamp(0)
    assert found is not None
    assert found.offset == 4
    log.close()


def test_a_changed_config_counts_at_the_next_run(tmp_path: Path) -> None:
    log = filled(tmp_path)
    log.config = replace(log.config, retention_bytes=5 * ONE)
    assert log.delete_old_segments(0) == 1
    log.config = replace(log.config, retention_bytes=ONE)
    assert log.delete_old_segments(0) == 2
    assert bases(log) == [6]
    log.close()


def test_without_timestamps_the_time_of_the_last_append_counts(tmp_path: Path) -> None:
    log = open_log(tmp_path, replace(KEEP_ALL, retention_ms=100))
    for now in (1000, 1010, 1020):
        append(log, b"x", timestamps=[-1], now_ms=now)
    assert bases(log) == [0, 2]
    assert log.delete_old_segments(1110) == 0
    log.close()
    again = open_log(tmp_path, log.config, clean=True, now_ms=1111)
    assert again.delete_old_segments(1111) == 1, "the file is dated by it, across a stop too"
    again.close()


def test_the_high_watermark_holds_segments_back(tmp_path: Path) -> None:
    log = filled(tmp_path)
    by_age(log, 0)
    assert log.delete_old_segments(10**6, high_watermark=5) == 2
    assert bases(log) == [4, 6]
    log.close()


def test_the_newest_segment_is_rolled_before_it_goes(tmp_path: Path) -> None:
    log = filled(tmp_path)
    by_age(log, 100)
    assert log.delete_old_segments(107) == 4
    assert (bases(log), log.size) == ([7], 0)
    assert (log.log_start_offset, log.log_end_offset) == (7, 7)
    assert file(tmp_path, 7, ".log").read_bytes() == b""
    assert log.delete_old_segments(10**6) == 0, "an empty one stays"
    append(log, b"x")
    assert read_all(log) == [(7, b"x")]
    log.close()


@pytest.mark.parametrize("clean", [True, False])
def test_a_log_that_was_emptied_goes_on_at_its_offset_after_a_stop(
    tmp_path: Path, clean: bool
) -> None:
    log = filled(tmp_path)
    by_age(log, 0)
    log.delete_old_segments(10**6)
    log.close(clean=clean)
    again = open_log(tmp_path, log.config, clean=clean)
    assert (again.log_start_offset, again.log_end_offset) == (7, 7)
    assert again.notices == []
    append(again, b"x")
    assert read_all(again) == [(7, b"x")]
    again.close()


def test_a_roll_without_an_append_does_not_lose_the_offset(tmp_path: Path) -> None:
    log = filled(tmp_path, 2)
    log._roll(2, 0)  # as an append does that then fails
    by_age(log, 0)
    assert log.delete_old_segments(10**6) == 1
    log.close(clean=False)
    again = open_log(tmp_path, log.config)
    assert again.log_end_offset == 2
    again.close()


def test_files_end_in_deleted_until_their_time_has_come(tmp_path: Path) -> None:
    log = filled(tmp_path, 5)
    by_age(log, 0)
    log.delete_old_segments(1000, high_watermark=4)
    gone = [f"{base:020d}" for base in (0, 2)]
    deleted = [name for name in names(tmp_path) if name.endswith(DELETED)]
    assert deleted == [
        f"{gone[0]}.index.deleted",
        f"{gone[0]}.log.deleted",
        f"{gone[0]}.timeindex.deleted",
        f"{gone[1]}.index.deleted",
        f"{gone[1]}.log.deleted",
        f"{gone[1]}.snapshot.deleted",
        f"{gone[1]}.timeindex.deleted",
    ]
    left = [name for name in names(tmp_path) if name not in deleted]
    assert not [name for name in left if name.startswith(tuple(gone))]
    log.unlink_deleted(60_999)
    assert set(deleted) <= set(names(tmp_path))
    log.unlink_deleted(61_000)
    assert names(tmp_path) == left
    log.close()


def test_the_delay_is_a_config(tmp_path: Path) -> None:
    log = filled(tmp_path, config=replace(KEEP_ALL, retention_ms=0, file_delete_delay_ms=5))
    log.delete_old_segments(1000)
    log.unlink_deleted(1004)
    assert file(tmp_path, 0, ".log.deleted").exists()
    log.unlink_deleted(1005)
    assert not list(home(tmp_path).glob("*.deleted"))
    log.close()


@pytest.mark.parametrize("clean", [True, False])
def test_a_stop_leaves_the_renamed_files_to_the_next_start(tmp_path: Path, clean: bool) -> None:
    log = filled(tmp_path)
    by_age(log, 100)
    log.delete_old_segments(104)
    log.close(clean=clean)
    assert list(home(tmp_path).glob("*.deleted"))
    again = open_log(tmp_path, log.config, clean=clean)
    assert not list(home(tmp_path).glob("*.deleted"))
    assert (again.log_start_offset, again.log_end_offset) == (4, 7)
    assert again.notices == []
    log.unlink_deleted(10**6)
    assert len(read_all(again)) == 3, "the old object has nothing left to unlink"
    again.close()


def test_producers_snapshots_go_with_their_segments(tmp_path: Path) -> None:
    log = open_log(tmp_path, replace(KEEP_ALL, segment_bytes=ONE))
    for number in range(4):
        append(log, b"x", timestamps=[number], producer_id=9, sequence=number)
    log.delete_old_segments(0, policy=lambda *_: 2)
    log.unlink_deleted(60_000)
    assert [name for name in names(tmp_path) if "snapshot" in name] == [
        f"{2:020d}.snapshot",
        f"{3:020d}.snapshot",
    ]
    log.delete_old_segments(0, policy=lambda *_: 9)
    log.close(clean=False)
    again = open_log(tmp_path)
    assert again.producers.states[9].last_sequence == 3, "what they had done is still known"
    again.close()


def test_the_first_leader_epoch_begins_where_the_log_does(tmp_path: Path) -> None:
    log = open_log(tmp_path, KEEP_ALL)
    for epoch in (0, 0, 0, 1, 1):
        append(log, b"x", epoch=epoch)
    log.delete_old_segments(0, policy=lambda *_: 1)
    checkpoint = home(tmp_path) / "leader-epoch-checkpoint"
    assert checkpoint.read_bytes() == b"0\n2\n0 2\n1 3\n"
    log.delete_old_segments(0, policy=lambda *_: 1)
    assert checkpoint.read_bytes() == b"0\n1\n1 4\n"
    log.close()


def test_deleted_records_stay_deleted_within_a_segment(tmp_path: Path) -> None:
    log = filled(tmp_path)
    log.delete_records(5)
    assert log.delete_old_segments(0) == 2
    assert (bases(log), log.log_start_offset) == ([4, 6], 5)
    log.close()


def test_aborted_transactions_go_with_their_segments(tmp_path: Path) -> None:
    from tests.storage.support.logs import end_transaction

    log = open_log(tmp_path, replace(KEEP_ALL, segment_bytes=ONE))
    append(log, b"x", producer_id=1, sequence=0, transactional=True)
    end_transaction(log, 1, commit=False)
    append(log, b"y")
    log.checkpoint()
    log.delete_old_segments(0, policy=lambda *_: 2)
    assert log.reader.aborted_transactions(2, 1000) == []
    assert file(tmp_path, 1, ".txnindex.deleted").exists()
    log.unlink_deleted(60_000)
    assert not list(home(tmp_path).glob("*.txnindex*"))
    log.close()


# Readers.


def test_a_view_that_was_read_outlives_its_segment(tmp_path: Path) -> None:
    log = open_log(tmp_path, replace(KEEP_ALL, segment_bytes=1))
    append(log, b"a" * 2 * MAPPED_FROM)
    append(log, b"b")
    data = log.read(0, 1 << 20)
    assert isinstance(data, memoryview)
    log.delete_old_segments(0, policy=lambda *_: 1)
    log.unlink_deleted(60_000)
    assert records(data)[0].value == b"a" * 2 * MAPPED_FROM
    log.close()


def test_who_has_the_old_list_of_segments_reads_on_until_the_files_are_unlinked(
    tmp_path: Path,
) -> None:
    log = filled(tmp_path)
    before = log.segments
    log.delete_old_segments(0, policy=lambda *_: 9)
    assert [one.base_offset for one in before] == [0, 2, 4, 6], "the list itself never changes"
    for segment in before:
        segment.file.release()  # as when the pool of descriptors needs room
        data = segment.read(segment.base_offset, 1 << 20, 7, True)
        assert isinstance(data, bytes | memoryview)
        assert records(data)[0].offset == segment.base_offset
        assert segment.time_index.floor(segment.base_offset + 1) >= 0
    log.unlink_deleted(60_000)
    with pytest.raises(OSError, match="closed"):
        before[0].read(0, 100, 7, True)
    log.close()


def test_no_descriptor_is_left_behind(tmp_path: Path) -> None:
    log = filled(tmp_path)
    read_all(log)
    pool = log.segments[0].file._descriptors
    log.delete_old_segments(0, policy=lambda *_: 9)
    assert len(pool) > 0
    log.close()
    assert len(pool) == 0


# Failing disks, policies of one's own.


def test_a_file_that_cannot_be_renamed_keeps_its_segment_and_those_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = filled(tmp_path)
    by_age(log, 0)
    rename, stuck = log._home.files.rename, f"{2:020d}.log"

    def fail(old: str, new: str) -> None:
        if old == stuck:
            raise OSError(5, "Input/output error", old)
        rename(old, new)

    with monkeypatch.context() as broken:
        broken.setattr(log._home.files, "rename", fail)
        with pytest.raises(Refused, match=r"t-0: .*Input/output error") as why:
            log.delete_old_segments(10**6, high_watermark=6)
    assert why.value.error is Error.KAFKA_STORAGE_ERROR
    assert (bases(log), log.log_start_offset) == ([2, 4, 6], 2)
    assert len(read_all(log)) == 5

    assert log.delete_old_segments(10**6, high_watermark=6) == 2
    assert bases(log) == [6]
    log.close()


def test_a_policy_sees_the_segments_and_the_time(tmp_path: Path) -> None:
    log = filled(tmp_path, 3)
    seen: list[tuple[LogView, int]] = []

    def policy(log: LogView, now_ms: int) -> int:
        seen.append((log, now_ms))
        return 1

    assert log.delete_old_segments(77, policy=policy) == 1
    segments = (SegmentView(0, 2, 2 * ONE, 1), SegmentView(2, 3, ONE, 2))
    assert seen == [(LogView("t", 0, KEEP_ALL, 0, segments), 77)]
    assert bases(log) == [2]
    log.close()


def test_a_policy_that_fails_changes_nothing(tmp_path: Path) -> None:
    log = filled(tmp_path)

    def broken(log: LogView, now_ms: int) -> int:
        raise KeyError(log.topic)

    with pytest.raises(KeyError, match="t"):
        log.delete_old_segments(0, policy=broken)
    assert bases(log) == [0, 2, 4, 6]
    log.close()


def test_of_a_log_that_was_never_written_nothing_goes(tmp_path: Path) -> None:
    log = open_log(tmp_path, replace(KEEP_ALL, retention_ms=0, retention_bytes=0))
    assert log.delete_old_segments(10**6) == 0
    assert list(tmp_path.iterdir()) == []
    log.close()
