"""Compaction on a disk that is cut off: after every single change nothing is lost.

Each change to the disk during a compaction is followed by a look at what a process that dies there
leaves, and at what a power cut leaves; the log is opened on it, compacted again, and asked for the
newest value of each key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from odradek.storage.disk.memory import MemoryDisk
from odradek.storage.log import Log
from odradek.wire.errors import Refused

from tests.storage.support.compacted_logs import COMPACT, DAY_MS, content, keyed, produce, write
from tests.storage.support.logs import end_transaction
from tests.support.drawn import IS_SAMPLE

CONFIG = replace(COMPACT, segment_bytes=400)
NOW_MS = 1000


def fill(log: Log) -> None:
    for number in range(6):
        write(log, (b"%d" % (number % 4), b"old %d" % number), (b"k%d" % number, b"v"))
        produce(log, 1, number, (b"%d" % (number % 3), b"no"), transactional=True)
        end_transaction(log, 1, commit=False)
    write(log, (b"0", b"new"), (b"k3", None))
    write(log, (b"1", b"new"), (b"2", b"new"), (b"3", b"new"))
    write(log, (b"k4", b"new"))
    log.flush()


EXPECTED = {b"%d" % number: b"new" for number in range(4)}
EXPECTED |= {b"k%d" % number: b"v" for number in range(6) if number not in (3, 4)}
EXPECTED |= {b"k4": b"new"}


def newest(log: Log) -> dict[bytes | None, bytes | None]:
    """What a consumer of committed records makes of the log."""
    found: dict[bytes | None, bytes | None] = {}
    aborted = [one for segment in log.segments for one in segment.transaction_index.entries()]
    for offset, key, value in content(log):
        if value == b"no":
            assert any(one.first_offset <= offset < one.last_offset for one in aborted), (
                f"the aborted record at {offset} would be shown"
            )
        else:
            found[key] = value
    return {key: value for key, value in found.items() if value is not None}


def compacting(durable: bool, look: Callable[[MemoryDisk, str], None]) -> None:
    disk = MemoryDisk(now_ms=lambda: NOW_MS)
    log = keyed(disk.directory(durable=durable), CONFIG)
    fill(log)
    segments = len(log.segments)
    assert segments > 4
    disk.on_change = lambda what: look(disk, what)
    log.compactor.compact(NOW_MS)
    log.config = replace(CONFIG, segment_bytes=1500)  # now neighbours become one
    log.compactor.compact(NOW_MS + 2 * DAY_MS, force=True)
    log.unlink_deleted(NOW_MS + 3 * DAY_MS)
    disk.on_change = None
    assert newest(log) == EXPECTED
    assert len(log.segments) < segments


def check(disk: MemoryDisk, what: str, end: int) -> None:
    try:
        log = keyed(disk.directory(), CONFIG)
        assert newest(log) == EXPECTED
        assert log.log_end_offset == end
        assert not [name for name in disk.files() if name.endswith((".cleaned", ".swap"))]
        log.compactor.compact(NOW_MS + 4 * DAY_MS)
        assert newest(log) == EXPECTED
    except (AssertionError, Refused) as error:
        raise AssertionError(f"stopped after {what}: {error}") from error


@pytest.mark.parametrize("durable", [False, True])
def test_a_process_that_dies_after_any_change_loses_nothing(durable: bool) -> None:
    seen: list[str] = []
    step = 9 if IS_SAMPLE else 1

    def look(disk: MemoryDisk, what: str) -> None:
        seen.append(what)
        if len(seen) % step == 0:
            check(disk.kill(), what, end=30)

    compacting(durable, look)
    assert sum(".swap" in what for what in seen) > 4
    assert len(seen) > 50


@pytest.mark.slow
@pytest.mark.parametrize("seed", [None, 1, 2, 3, 4])
def test_a_power_cut_after_any_change_loses_nothing_that_was_flushed(seed: int | None) -> None:
    def look(disk: MemoryDisk, what: str) -> None:
        check(disk.crash(None if seed is None else Random(seed)), what, end=30)

    compacting(True, look)


def test_a_disk_that_fails_leaves_the_log_as_it_was() -> None:
    disk = MemoryDisk(now_ms=lambda: NOW_MS)
    log = keyed(disk.directory(), CONFIG)
    fill(log)
    before = content(log)
    for path in ("*.cleaned", "*.swap", "*.index*", "*.timeindex*"):
        disk.fail_writes(path)
        with pytest.raises(Refused):
            log.compactor.compact(NOW_MS)
        disk.heal()
        assert newest(log) == EXPECTED
        assert newest(keyed(disk.kill().directory(), CONFIG)) == EXPECTED
    disk.fill()
    with pytest.raises(Refused):
        log.compactor.compact(NOW_MS)
    disk.heal()
    assert content(log) == before
    log.compactor.compact(NOW_MS)
    assert newest(log) == EXPECTED
    assert len(content(log)) < len(before)
