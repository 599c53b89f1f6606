"""`repair`: a directory that nobody has open is checked, and what is damaged is set aside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from odradek.storage import LogDirectory, LogDirectoryError, Report, repair
from odradek.storage.checkpoints import CLEAN_SHUTDOWN
from odradek.storage.damage import read_damaged_file
from odradek.storage.log import Log

from tests.storage.support.known_log import (
    CONFIG,
    END,
    SIZE,
    assert_indexes,
    build,
    fill,
    value,
)
from tests.storage.support.logs import append, cut, end_transaction, file, flip, home, read_all

TOPIC = bytes(range(16))


def open_directory(path: Path) -> tuple[LogDirectory, Log]:
    directory = LogDirectory.open(path, node_id=1)
    return directory, directory.open_log("t", 0, TOPIC, CONFIG, 0)


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """Segments 0, 5 and 10 of batches of one record, up to offset 12; see known_log.py."""
    directory, log = open_directory(tmp_path)
    fill(log)
    directory.close()
    return tmp_path


def mend(path: Path, *, dry_run: bool = False) -> Report:
    return repair(path, dry_run=dry_run, config=CONFIG)


def contents(path: Path) -> dict[str, bytes]:
    return {
        str(one.relative_to(path)): one.read_bytes() for one in path.rglob("*") if one.is_file()
    }


def test_a_sound_directory_is_left_as_it_is(closed: Path) -> None:
    before = contents(closed)
    report = mend(closed)
    assert (report.findings, report.status, report.partitions, report.batches) == ([], 0, 1, END)
    assert report.lines() == [f"{closed}: 1 partition, 13 batches, no findings"]
    assert contents(closed) == before


# What is done to the directory; the offsets that are lost.
DAMAGE: list[tuple[str, Callable[[Path], object], list[int]]] = [
    ("a bit, oldest segment", lambda path: flip(file(path, 0, ".log"), SIZE + 100), [1]),
    ("a bit, newest segment", lambda path: flip(file(path, 10, ".log"), 100), [10]),
    ("two bits", lambda path: [flip(file(path, 5, ".log"), at) for at in (90, 690)], [5, 8]),
    ("a size", lambda path: flip(file(path, 5, ".log"), SIZE + 10), [6]),
    ("an older segment torn", lambda path: cut(file(path, 0, ".log"), 250), [3, 4]),
    ("the newest segment torn", lambda path: cut(file(path, 10, ".log"), 30), [12]),
    ("a middle segment lost", lambda path: [one.unlink() for one in of(path, 5)], [5, 6, 7, 8, 9]),
    ("the newest segment lost", lambda path: [one.unlink() for one in of(path, 10)], [10, 11, 12]),
    ("an index", lambda path: flip(file(path, 0, ".index"), 7), []),
    ("a time index", lambda path: flip(file(path, 5, ".timeindex"), 20), []),
    ("an index of odd size", lambda path: file(path, 5, ".index").open("ab").write(b"abc"), []),
    ("an index lost", lambda path: file(path, 5, ".index").unlink(), []),
    ("the epochs lost", lambda path: (home(path) / "leader-epoch-checkpoint").unlink(), []),
    ("a snapshot", lambda path: flip(file(path, END, ".snapshot"), 20), []),
    ("the snapshots", lambda path: [one.unlink() for one in home(path).glob("*.snapshot")], []),
]


def of(path: Path, base: int) -> list[Path]:
    return list(home(path).glob(f"{base:020d}.*"))


@pytest.mark.parametrize(("damage", "lost"), [r[1:] for r in DAMAGE], ids=[r[0] for r in DAMAGE])
def test_the_log_goes_on_behind_what_is_lost(
    closed: Path, damage: Callable[[Path], object], lost: list[int]
) -> None:
    damage(closed)
    before = contents(closed)
    dry = mend(closed, dry_run=True)
    assert dry.findings
    assert dry.status == 1
    assert contents(closed) == before

    assert all("would be " in line for line in dry.lines()[1:-1])

    done = mend(closed)
    assert "would" not in "".join(done.lines())
    assert [one[:5] for one in done.findings] == [one[:5] for one in dry.findings]
    assert done.status == 0
    again = mend(closed)
    assert again.findings == []

    directory, log = open_directory(closed)
    assert (log.reader.damages, directory.notices) == ([], [])
    kept = [(offset, value(offset)) for offset in range(END) if offset not in lost]
    assert read_all(log) == kept
    assert log.log_end_offset == END
    assert log.reader.damages == []
    assert log.epochs.latest == 3
    append(log, b"more", epoch=3)
    assert read_all(log) == [*kept, (END, b"more")]
    directory.close()


def test_a_damaged_snapshot_before_an_aborted_transaction(tmp_path: Path) -> None:
    """The transactions of the segment are read without it; looking changes nothing."""
    directory, log = open_directory(tmp_path)
    fill(log, 5)
    append(log, value(5), producer_id=8, sequence=0, transactional=True, epoch=1)
    end_transaction(log, 8, commit=False, epoch=1)
    directory.close()
    flip(file(tmp_path, 5, ".snapshot"), 20)
    before = contents(tmp_path)

    dry = mend(tmp_path, dry_run=True)
    assert [(one.file, one.problem) for one in dry.findings] == [
        (f"{5:020d}.snapshot", "producer snapshot with a wrong checksum")
    ]
    assert contents(tmp_path) == before
    assert mend(tmp_path).status == 0
    assert mend(tmp_path).findings == []


def test_after_a_kill_offsets_below_the_recovery_point_are_not_given_again(closed: Path) -> None:
    (closed / CLEAN_SHUTDOWN).unlink()
    cut(file(closed, 10, ".log"), 30)
    assert [one.offsets for one in mend(closed).findings] == ["offset 12"]
    directory, log = open_directory(closed)
    assert (log.log_end_offset, directory.notices) == (END, [])
    directory.close()


def test_a_partition_without_a_segment_is_named(closed: Path) -> None:
    for log_file in home(closed).glob("*.log"):
        log_file.unlink()
    found = mend(closed)
    assert [(one.problem, one.offsets) for one in found.findings] == [
        ("no segment is left", f"offsets 0 to {END - 1}")
    ]
    assert found.status == 1
    directory, log = open_directory(closed)
    assert log.log_end_offset == END
    directory.close()
    mend(closed)
    assert mend(closed).status == 0


def test_who_reads_on_behind_a_gap_comes_to_the_end(closed: Path) -> None:
    cut(file(closed, 10, ".log"), 30)
    mend(closed)
    directory, log = open_directory(closed)
    assert log.log_end_offset == END
    assert [log.reader.after_damage(offset) for offset in (11, 12, END)] == [11, END, END]
    directory.close()


def test_what_is_set_aside_can_be_put_back(closed: Path) -> None:
    flip(file(closed, 0, ".log"), SIZE + 100)
    damaged = file(closed, 0, ".log").read_bytes()[SIZE : 2 * SIZE]
    mend(closed)
    ((head, data),) = read_damaged_file(file(closed, 0, ".log.damaged").read_bytes())
    assert data == damaged
    assert head == {
        "file": f"{0:020d}.log",
        "position": SIZE,
        "bytes": SIZE,
        "first_offset": 1,
        "next_offset": 2,
        "problem": f"the batch at byte {SIZE} has a wrong checksum",
    }
    assert file(closed, 0, ".log").read_bytes() == b"".join(map(build, (0, 2, 3, 4)))


def test_a_second_damage_is_set_aside_beside_the_first(closed: Path) -> None:
    for position in (SIZE + 100, SIZE + 100):
        flip(file(closed, 0, ".log"), position)
        mend(closed)
    pieces = read_damaged_file(file(closed, 0, ".log.damaged").read_bytes())
    assert [(head["first_offset"], head["position"]) for head, _ in pieces] == [(1, 200), (1, 200)]


def test_the_report_is_a_table(closed: Path) -> None:
    flip(file(closed, 0, ".log"), SIZE + 100)
    (closed / "lost+found").mkdir()
    log = f"{0:020d}.log"
    assert mend(closed).lines() == [
        f"PARTITION   FILE{' ' * 22}BYTE  OFFSETS  WHAT IS WRONG{' ' * 31}DONE",
        f"lost+found  -{' ' * 25}-     -        not a partition's directory{' ' * 17}left alone",
        f"t-0         {log}  200   1        the batch at byte 200 has a wrong checksum  set aside",
        f"{closed}: 1 partition, 12 batches, 2 findings",
    ]


def test_only_some_topics(closed: Path) -> None:
    flip(file(closed, 0, ".log"), SIZE + 100)
    (closed / "lost+found").mkdir()
    assert repair(closed, topics=["other"]).findings == []
    assert len(repair(closed, topics=["t"]).findings) == 1


def test_a_transaction_index_is_made_again(tmp_path: Path) -> None:
    directory, log = open_directory(tmp_path)
    for _ in range(6):
        append(log, value(1), producer_id=1, sequence=log.log_end_offset, transactional=True)
    end_transaction(log, 1, commit=False)
    directory.close()
    index = file(tmp_path, 5, ".txnindex")
    before = index.read_bytes()
    index.unlink()
    (finding,) = mend(tmp_path).findings
    assert finding[:3] == ("t-0", index.name, "differs from the batches")
    assert index.read_bytes() == before


def test_files_of_the_directory_are_checked_too(closed: Path) -> None:
    (closed / "meta.properties").write_text("version=1\n")
    (closed / "recovery-point-offset-checkpoint").write_text("0\n9\n")
    (home(closed) / "partition.metadata").write_text("?")
    report = mend(closed)
    assert [(one.partition, one.file) for one in report.findings] == [
        ("", "meta.properties"),
        ("", "recovery-point-offset-checkpoint"),
        ("t-0", "partition.metadata"),
    ]
    assert report.status == 1, "the properties are left to be mended by hand"
    assert not (home(closed) / "partition.metadata").exists()


def test_a_directory_in_use_is_refused_by_name(closed: Path) -> None:
    directory, _ = open_directory(closed)
    with pytest.raises(LogDirectoryError, match=f"^{closed} is in use by another broker$"):
        mend(closed)
    directory.close()


def test_what_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(LogDirectoryError, match="is not there"):
        repair(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_indexes_are_those_of_the_batches_left(closed: Path) -> None:
    flip(file(closed, 0, ".log"), SIZE + 100)
    mend(closed)
    directory, log = open_directory(closed)
    assert [log.reader.find_timestamp(time) for time in (10, 20)] == [(2, 20, 0), (2, 20, 0)]
    directory.close()
    file(closed, 0, ".index").unlink()
    directory, _ = open_directory(closed)
    directory.close()
    assert_indexes(closed)
