"""A log that was compacted, and is no longer: its gaps stay, and are no damage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from odradek.storage import LogDirectory, repair
from odradek.storage.checkpoints import CLEANED_OFFSETS
from odradek.storage.log import Log
from odradek.storage.naming import DELETED

from tests.storage.support.compacted_logs import TWO_BATCHES, write
from tests.storage.support.logs import TOPIC_ID, file, home, read_all

A, B, C, D = b"a", b"b", b"c", b"d"
DELETE = replace(TWO_BATCHES, cleanup_policy=frozenset({"delete"}))
NEVER_CLEANED = b"0\n0\n"
INDEX_NOT_WRITTEN = f"{6:020d}.log"
LEFT = [(0, b"1"), (2, b"2"), (3, b"1"), (4, b"3"), (5, b"4"), (6, b"5")]


def open_log(path: Path, *, compacted: bool = False) -> tuple[LogDirectory, Log]:
    directory = LogDirectory.open(path, node_id=1)
    config = TWO_BATCHES if compacted else DELETE
    return directory, directory.open_log("t", 0, TOPIC_ID, config, 0)


def fill(path: Path) -> LogDirectory:
    """Segments 0, 2, 4 and 6. Compaction ends at 4; it removes offset 1, the last of a segment."""
    directory, log = open_log(path, compacted=True)
    for key, value in [(A, b"1"), (B, b"1"), (B, b"2"), (C, b"1")]:
        write(log, (key, value))
    log.begin_segment(0)
    log.compactor.compact(0, force=True)
    for key, value in [(D, b"3"), (D, b"4"), (D, b"5")]:
        write(log, (key, value))
    assert [segment.base_offset for segment in log.segments] == [0, 2, 4, 6]
    assert read_all(log) == LEFT
    assert log.compactor.cleaned_offset == 4
    return directory


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """A directory that was closed cleanly; what compaction has replaced is gone."""
    fill(tmp_path).close()
    for one in home(tmp_path).glob("*" + DELETED):
        one.unlink()
    return tmp_path


def test_gaps_that_compaction_has_left_are_no_damage(closed: Path) -> None:
    assert repair(closed, dry_run=True).findings == []
    directory, log = open_log(closed)
    assert read_all(log) == LEFT
    assert (log.reader.damages, directory.notices) == ([], [])
    directory.close()


def test_gaps_in_a_log_that_was_never_compacted_are(closed: Path) -> None:
    (closed / CLEANED_OFFSETS).write_bytes(NEVER_CLEANED)
    assert [one.offsets for one in repair(closed, dry_run=True).findings] == ["offset 1"]
    directory, log = open_log(closed)
    assert [damage.offsets for damage in log.reader.damages] == ["offset 1"]
    directory.close()


def test_gaps_after_what_was_compacted_are(closed: Path) -> None:
    size = file(closed, 4, ".log").stat().st_size
    with file(closed, 4, ".log").open("r+b") as segment:
        segment.truncate(size // 2)
    assert [one.offsets for one in repair(closed, dry_run=True).findings] == ["offset 5"]
    directory, log = open_log(closed)
    assert [damage.offsets for damage in log.reader.damages] == ["offset 5"]
    directory.close()


def test_the_checkpoint_is_not_needed_just_after_a_kill(tmp_path: Path) -> None:
    fill(tmp_path).close(clean=False)
    assert not (tmp_path / CLEANED_OFFSETS).exists()
    assert file(tmp_path, 0, ".log" + DELETED).exists()
    assert [one.file for one in repair(tmp_path, dry_run=True).findings] == [INDEX_NOT_WRITTEN]


def test_a_repair_leaves_the_gaps_too(closed: Path) -> None:
    file(closed, 2, ".index").unlink()
    (finding,) = repair(closed).findings
    assert finding.problem == "an index is missing"
    directory, log = open_log(closed)
    assert read_all(log) == LEFT
    assert (log.reader.damages, directory.notices) == ([], [])
    directory.close()
