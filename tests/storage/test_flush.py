"""When a flush is due, what it waits for, and what it moves when it is over."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from odradek.storage.config import LogConfig
from odradek.storage.disk.directory import Descriptors, Handle
from odradek.storage.log import Log
from odradek.wire.errors import Error, Refused
from odradek.wire.records import build_batch

from tests.storage.support.logs import append, file, home, open_log, read_all

ONE = len(build_batch([(0, None, b"x", ())]))
EVERY_THREE = LogConfig(flush_messages=3)
EVERY_SECOND = LogConfig(flush_ms=1000)
SMALL = replace(EVERY_SECOND, segment_bytes=2 * ONE)


class Syncs:
    """Which files were synced, by name, unless `error` was to be raised; and how many are open."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.error: OSError | None = None
        self.open = 0


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> Syncs:
    syncs = Syncs()

    class Watched(Handle):
        def __init__(self, path: str, descriptors: Descriptors) -> None:
            super().__init__(path, descriptors)
            self.name = Path(path).name
            syncs.open += 1

        def sync(self) -> None:
            if syncs.error is not None:
                raise syncs.error
            syncs.names.append(self.name)

        def close(self) -> None:
            super().close()
            syncs.open -= 1

    monkeypatch.setattr("odradek.storage.disk.directory.Handle", Watched)
    return syncs


def flush(log: Log) -> None:
    sync = log.begin_flush()
    sync.run()
    log.end_flush(sync)


# When.


def test_by_default_nothing_is_ever_due_or_announced(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.on_unflushed = lambda _: pytest.fail("announced")
    append(log, b"x")
    assert log.flush_due_ms() is None
    assert not log.is_flush_pending
    log.close()


# Config, then appends as (records, now), then when the flush is due.
DUE = [
    ("nothing was appended", EVERY_THREE, [], None),
    ("too few", EVERY_THREE, [(1, 10), (1, 20)], None),
    ("enough batches", EVERY_THREE, [(1, 10), (1, 20), (1, 30)], 10),
    ("records count, not batches", EVERY_THREE, [(3, 10)], 10),
    ("more than enough", EVERY_THREE, [(5, 10)], 10),
    ("the oldest record counts", EVERY_SECOND, [(1, 10), (1, 500)], 1010),
    ("at once", LogConfig(flush_ms=0), [(1, 10)], 10),
    ("each record", LogConfig(flush_messages=1), [(1, 10)], 10),
    ("the number comes first", replace(EVERY_SECOND, flush_messages=2), [(2, 10)], 10),
    ("the time comes first", replace(EVERY_SECOND, flush_messages=2), [(1, 10)], 1010),
]


@pytest.mark.parametrize(
    ("config", "appends", "due"), [row[1:] for row in DUE], ids=[row[0] for row in DUE]
)
def test_a_flush_is_due_by_number_or_by_age(
    tmp_path: Path, config: LogConfig, appends: list[tuple[int, int]], due: int | None
) -> None:
    log = open_log(tmp_path, config)
    for records, now in appends:
        append(log, *[b"x"] * records, now_ms=now)
    assert log.flush_due_ms() == due
    assert log.is_flush_pending is bool(appends)
    log.close()


def test_each_append_is_announced_when_it_can_be_read(tmp_path: Path) -> None:
    log = open_log(tmp_path, EVERY_THREE)
    ends: list[int] = []
    log.on_unflushed = lambda log: ends.append(log.log_end_offset)
    append(log, b"a", b"b")
    append(log, b"c")
    assert ends == [2, 3]
    log.close()


def test_counting_begins_anew_when_a_flush_begins(tmp_path: Path) -> None:
    log = open_log(tmp_path, replace(EVERY_THREE, flush_ms=1000))
    append(log, b"x", b"x", b"x", now_ms=10)
    sync = log.begin_flush()
    assert log.flush_due_ms() is None
    append(log, b"y", now_ms=50)
    assert log.flush_due_ms() == 1050
    append(log, b"y", b"y", now_ms=60)
    assert log.flush_due_ms() == 50
    sync.run()
    log.end_flush(sync)
    assert log.flush_due_ms() == 50, "what came while it ran is not part of it"
    log.close()


def test_configs_may_change_while_records_wait(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"a", now_ms=10)
    log.config = EVERY_THREE
    append(log, b"b", now_ms=20)
    assert log.flush_due_ms() is None
    append(log, b"c", now_ms=30)
    assert log.flush_due_ms() == 20, "those from before are counted too"
    log.config = LogConfig()
    assert log.flush_due_ms() is None
    log.close()


# What.


def test_a_flush_waits_for_batches_and_names(tmp_path: Path, syncs: Syncs) -> None:
    log = open_log(tmp_path, EVERY_SECOND)
    append(log, b"x")
    flush(log)
    batches, *others, home, parent = syncs.names
    assert (batches, home, parent) == (f"{0:020d}.log", "t-0", tmp_path.name)
    assert sorted(others) == ["leader-epoch-checkpoint", "partition.metadata"]
    log.close()


def test_a_flush_takes_all_segments_since_the_last_one_with_their_indexes(
    tmp_path: Path, syncs: Syncs
) -> None:
    log = open_log(tmp_path, SMALL)
    for _ in range(3):
        append(log, b"x")
    syncs.names.clear()
    flush(log)
    assert syncs.names[:4] == [
        *(f"{0:020d}{suffix}" for suffix in (".log", ".index", ".timeindex")),
        f"{2:020d}.log",
    ]
    assert f"{2:020d}.snapshot" in syncs.names
    for _ in range(4):
        append(log, b"x")
    syncs.names.clear()
    flush(log)
    assert [name for name in syncs.names if name.endswith(".log")] == [
        f"{base:020d}.log" for base in (2, 4, 6)
    ]
    log.close()


def test_of_a_log_without_files_nothing_is_synced(tmp_path: Path, syncs: Syncs) -> None:
    log = open_log(tmp_path, EVERY_SECOND)
    flush(log)
    assert syncs.names == []
    log.close()


# Then.


def test_the_recovery_point_moves_when_the_sync_has_returned(tmp_path: Path) -> None:
    log = open_log(tmp_path, EVERY_SECOND)
    append(log, b"a")
    sync = log.begin_flush()
    append(log, b"b")
    sync.run()
    assert log.recovery_point == 0
    log.end_flush(sync)
    assert log.recovery_point == 1
    log.close()


def test_a_roll_does_not_move_the_recovery_point_of_a_log_that_is_flushed(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL)
    for _ in range(3):
        append(log, b"x")
    assert len(log.segments) == 2
    assert log.recovery_point == 0
    flush(log)
    assert log.recovery_point == 3
    log.close()


def test_a_sync_may_run_in_any_thread_while_the_log_goes_on(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL)
    for _ in range(3):
        append(log, b"x")
    sync = log.begin_flush()
    log.delete_old_segments(0, policy=lambda *_: 1)
    log.unlink_deleted(60_000)
    thread = Thread(target=sync.run)
    thread.start()
    append(log, b"y")
    thread.join()
    log.end_flush(sync)
    assert log.recovery_point == 3
    log.close()


def test_a_truncation_meanwhile_leaves_the_recovery_point_alone(tmp_path: Path) -> None:
    log = open_log(tmp_path, EVERY_THREE)
    for _ in range(3):
        append(log, b"x")
    sync = log.begin_flush()
    log.truncate(1)
    append(log, b"y", b"y")
    sync.run()
    log.end_flush(sync)
    assert log.recovery_point == 0, "the batches there are other ones"
    append(log, b"y")
    assert log.flush_due_ms() == 0
    flush(log)
    assert log.recovery_point == 4
    log.close()


def test_deleted_segments_need_no_flush(tmp_path: Path) -> None:
    log = open_log(tmp_path, replace(SMALL, flush_messages=5))
    for _ in range(4):
        append(log, b"x")
    log.delete_old_segments(0, policy=lambda *_: 1)
    assert log.recovery_point == 2
    append(log, b"x")
    assert log.flush_due_ms() == 1000, "five were appended, two of them are gone"
    log.close()


# Failing.


def test_after_a_failed_sync_a_log_takes_no_batch_and_can_be_read(
    tmp_path: Path, syncs: Syncs
) -> None:
    log = open_log(tmp_path, EVERY_THREE)
    append(log, b"a", b"b", b"c")
    syncs.error = OSError(5, "Input/output error")
    with pytest.raises(Refused, match=r"t-0: .*Input/output error") as why:
        flush(log)
    assert why.value.error is Error.KAFKA_STORAGE_ERROR
    assert log.recovery_point == 0
    assert log.flush_due_ms() is None
    syncs.error = None
    with pytest.raises(Refused) as why:
        append(log, b"d")
    assert why.value.error is Error.KAFKA_STORAGE_ERROR
    assert [value for _, value in read_all(log)] == [b"a", b"b", b"c"]
    with pytest.raises(Refused):
        log.close()
    assert not list(home(tmp_path).glob("*.snapshot")), "it was not closed cleanly"


def test_a_file_that_cannot_be_opened_to_sync_is_a_failed_sync(tmp_path: Path) -> None:
    log = open_log(tmp_path, EVERY_THREE)
    append(log, b"a", b"b", b"c")
    os.rename(tmp_path / "t-0", tmp_path / "gone")
    with pytest.raises(Refused) as why:
        log.flush()
    assert why.value.error is Error.KAFKA_STORAGE_ERROR
    os.rename(tmp_path / "gone", tmp_path / "t-0")
    log.close(clean=False)


def test_a_failed_sync_closes_what_it_opened(tmp_path: Path, syncs: Syncs) -> None:
    log = open_log(tmp_path, EVERY_THREE)
    append(log, b"a")
    syncs.error = OSError(28, "No space left on device")
    with pytest.raises(Refused):
        flush(log)
    assert syncs.open == 0
    log.close(clean=False)


def test_what_was_flushed_is_not_checked_after_a_crash(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL)
    for _ in range(5):
        append(log, b"x")
    flush(log)
    log.close(clean=False)
    data = bytearray(file(tmp_path, 0, ".log").read_bytes())
    data[-1] ^= 1
    file(tmp_path, 0, ".log").write_bytes(data)
    trusting = open_log(tmp_path, SMALL, recovery_point=log.recovery_point)
    assert trusting.notices == []
    assert trusting.log_end_offset == 5
    trusting.close()
