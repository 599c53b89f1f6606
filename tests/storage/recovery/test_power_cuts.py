"""One power cut or kill at a time: what is synced when, and what a start makes of the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest
from odradek.storage import Log, LogConfig, LogDirectory, MemoryDisk
from odradek.storage.checkpoints import CLEAN_SHUTDOWN, LEADER_EPOCHS, RECOVERY_POINTS
from odradek.wire.errors import Error, Refused

from tests.storage.support.crash_model import ASKED
from tests.storage.support.logs import TOPIC_ID, append, end_transaction, read_all

SMALL = LogConfig(segment_bytes=150, index_interval_bytes=0)
FLUSHED = replace(SMALL, flush_messages=ASKED)


@pytest.fixture
def disk() -> MemoryDisk:
    return MemoryDisk()


def start(disk: MemoryDisk, config: LogConfig = FLUSHED) -> tuple[LogDirectory, Log]:
    directory = LogDirectory.open(disk.directory(), node_id=1)
    return directory, directory.open_log("t", 0, TOPIC_ID, config, 0)


def values(log: Log) -> list[bytes | None]:
    return [value for _, value in read_all(log)]


def test_a_flush_makes_the_whole_directory_outlive_the_power(disk: MemoryDisk) -> None:
    _, log = start(disk)
    append(log, b"a", epoch=3)
    log.flush()
    directory, log = start(disk.crash())
    assert values(log) == [b"a"]
    assert log.epochs.entries == [(3, 0)]
    assert directory.notices == []


def test_a_flush_covers_segments_that_were_rolled_before_flushes_were_asked_for(
    disk: MemoryDisk,
) -> None:
    _, log = start(disk, SMALL)
    append(log, b"a" * 100), append(log, b"b" * 100), append(log, b"c" * 100)
    assert log.recovery_point == 2
    log.config = FLUSHED
    assert log.recovery_point == 0, "nothing of it was synced"
    log.flush()
    assert values(start(disk.crash())[1]) == [b"a" * 100, b"b" * 100, b"c" * 100]


def test_after_a_kill_nothing_counts_as_synced_that_was_not(disk: MemoryDisk) -> None:
    directory, log = start(disk)
    append(log, b"a")
    log.flush()
    directory.checkpoint()
    append(log, b"b" * 100), append(log, b"c" * 100)

    killed = disk.kill()
    _, log = start(killed)
    assert (log.recovery_point, log.log_end_offset) == (1, 3)
    log.flush()

    assert values(start(killed.crash())[1]) == [b"a", b"b" * 100, b"c" * 100]


def test_a_roll_waits_for_the_batches_in_front_of_it(disk: MemoryDisk) -> None:
    _, log = start(disk)
    append(log, b"a" * 100)
    before = disk.crash().files()
    append(log, b"b" * 100)
    assert len(log.segments) == 2
    log_file = "t-0/00000000000000000000.log"
    disk.directory("t-0").sync()
    disk.directory().sync()
    assert before == {}
    assert disk.crash().read_bytes(log_file) == disk.read_bytes(log_file)


def test_a_log_whose_roll_could_not_be_synced_takes_no_more_batches(disk: MemoryDisk) -> None:
    _, log = start(disk)
    append(log, b"a" * 100)
    disk.fail_syncs("*.log")
    for _ in range(2):
        with pytest.raises(Refused) as why:
            append(log, b"b" * 100)
        assert why.value.error is Error.KAFKA_STORAGE_ERROR
        disk.heal()
    assert values(log) == [b"a" * 100]


def test_the_power_does_not_bring_back_what_was_truncated(disk: MemoryDisk) -> None:
    directory, log = start(disk)
    for letter in b"abcd":
        append(log, bytes([letter]) * 100)
    log.flush()
    directory.checkpoint()
    log.truncate(1)
    append(log, b"new")
    assert values(start(disk.crash())[1]) == [b"a" * 100]


def test_the_marker_does_not_come_back_beside_what_was_written_since(disk: MemoryDisk) -> None:
    directory, log = start(disk)
    append(log, b"a")
    directory.close()
    disk.directory().sync()
    assert CLEAN_SHUTDOWN in disk.crash().files()
    start(disk)
    assert CLEAN_SHUTDOWN not in disk.crash().files()


def test_a_snapshot_outlives_the_power_with_the_flush_behind_it(disk: MemoryDisk) -> None:
    _, log = start(disk)
    append(log, b"a" * 100, producer_id=7, sequence=0)
    append(log, b"b" * 100)
    log.flush()
    log.delete_old_segments(0, policy=lambda *_: 1)
    _, log = start(disk.crash())
    assert log.producers.states[7].last_sequence == 0


def test_an_older_recovery_point_does_not_vouch_for_what_replaces_lost_batches(
    disk: MemoryDisk,
) -> None:
    directory, log = start(disk)
    append(log, b"a"), append(log, b"b")
    directory.close()
    left = disk.kill()
    left.directory().remove(CLEAN_SHUTDOWN)
    left.write_bytes("t-0/00000000000000000000.log", b"")
    _, log = start(left)
    assert left.read_bytes(RECOVERY_POINTS) == b"0\n1\nt 0 0\n"
    left.tear_next_write("*.log", keep=30)
    left.on_change = lambda _: left.fail_writes("*.log")
    with pytest.raises(Refused):
        append(log, b"torn" * 10)

    _, log = start(left.kill())

    assert (log.log_end_offset, values(log)) == (0, [])
    append(log, b"again")
    assert values(log) == [b"again"]


def test_a_kill_between_deleting_records_and_the_checkpoint_loses_no_epoch(
    disk: MemoryDisk,
) -> None:
    directory, log = start(disk)
    append(log, b"a", epoch=1), append(log, b"b", epoch=4), append(log, b"c", epoch=4)
    directory.checkpoint()
    log.delete_records(2)
    _, log = start(disk.kill())
    assert log.log_start_offset == 0
    assert log.epochs.entries == [(1, 0), (4, 1)]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 7, 12])
def test_leader_epochs_cut_short_are_taken_from_the_batches(disk: MemoryDisk, size: int) -> None:
    directory, log = start(disk)
    append(log, *[b"x"] * 15, epoch=1), append(log, b"b", epoch=4)
    directory.close()
    whole = disk.read_bytes(f"t-0/{LEADER_EPOCHS}")
    assert whole == b"0\n2\n1 0\n4 15\n"
    disk.write_bytes(f"t-0/{LEADER_EPOCHS}", whole[:size])
    directory, log = start(disk)
    assert log.epochs.entries == [(1, 0), (4, 15)]
    assert LEADER_EPOCHS in directory.notices[0]


@pytest.mark.parametrize("content", [b"", bytes(34)])
def test_the_newest_segments_aborted_transactions_are_those_of_its_batches(
    disk: MemoryDisk, content: bytes
) -> None:
    directory, log = start(disk, replace(FLUSHED, segment_bytes=10_000))
    append(log, b"a", producer_id=7, sequence=0, transactional=True)
    end_transaction(log, 7, commit=False)
    expected = log.reader.aborted_transactions(0, 100)
    directory.close()
    disk.write_bytes("t-0/00000000000000000000.txnindex", content)
    _, log = start(disk)
    assert len(expected) == 1
    assert log.reader.aborted_transactions(0, 100) == expected


def test_an_older_segments_time_index_counts_even_without_an_offset_index(
    disk: MemoryDisk,
) -> None:
    directory, log = start(disk)
    append(log, b"a" * 100, timestamps=[9])
    append(log, b"b" * 100, timestamps=[1])
    directory.close()
    _, log = start(disk)
    found = log.reader.find_timestamp(9)
    assert found is not None
    assert found.offset == 0


def test_a_truncation_that_a_kill_interrupted_is_not_undone_by_the_power(disk: MemoryDisk) -> None:
    directory, log = start(disk)
    append(log, b"a")
    log.flush()
    directory.checkpoint()
    killed: list[MemoryDisk] = []
    disk.on_change = lambda *_: killed.append(disk.kill())
    log.truncate(0)
    interrupted = next(one for one in killed if one.read_bytes(f"t-0/{0:020d}.log") == b"")
    assert values(start(interrupted)[1]) == []
    assert values(start(interrupted.crash())[1]) == []
