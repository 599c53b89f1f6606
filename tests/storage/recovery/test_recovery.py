"""Opening a directory: damage of every kind, and what is left of the known log."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.storage.config import LogConfig
from odradek.storage.log import Log
from odradek.storage.recovery.producer_replay import find_marker
from odradek.wire.batch import assign, read_header
from odradek.wire.errors import Error, Refused
from odradek.wire.records import build_batch

from tests.storage.support.known_log import (
    CONFIG,
    END,
    INDEXES,
    SEGMENT,
    SIZE,
    assert_indexes,
    build,
    fill,
    reopen,
    value,
    without_epoch,
)
from tests.storage.support.logs import (
    append,
    cut,
    end_transaction,
    file,
    flip,
    home,
    open_log,
    read_all,
)
from tests.support.drawn import examples


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    fill(open_log(tmp_path, CONFIG)).close()
    return tmp_path


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    fill(open_log(tmp_path, CONFIG)).close(clean=False)
    return tmp_path


def assert_whole(log: Log, end: int = END, *, start: int = 0) -> None:
    """Everything is there, is found in every way, and the log takes more."""
    assert (log.log_start_offset, log.log_end_offset) == (start, end)
    expected = [(offset, value(offset)) for offset in range(start, end)]
    assert read_all(log) == read_all(log, max_bytes=1) == expected
    for offset in range(start, end):
        assert log.reader.find_timestamp(offset * 10) == (offset, offset * 10, offset // 4)
    assert [tuple(entry) for entry in log.epochs.entries] == [
        (epoch, max(start, epoch * 4)) for epoch in range(start // 4, -(-end // 4))
    ]
    written = list(range(0, end, 2))
    last = (written[-1] // 2, written[-1])
    state = log.producers.states[7]
    assert (state.last_sequence, state.last_offset) == last
    append(log, b"more", epoch=9)
    assert read_all(log)[-1] == (end, b"more")


@pytest.mark.parametrize("clean", [True, False])
def test_a_closed_log_opens_as_it_was(closed: Path, clean: bool) -> None:
    log = reopen(closed, clean=clean)
    assert log.notices == []
    assert_whole(log)
    log.close()
    assert_indexes(closed)


@pytest.mark.parametrize("recovery_point", [0, 7, 10, 99])
def test_a_killed_log_opens_as_it_was(killed: Path, recovery_point: int) -> None:
    assert not file(killed, 10, ".index").exists()
    log = reopen(killed, clean=False, recovery_point=recovery_point)
    beyond = [f"{10:020d}.log: ends at 13, before the recovery point"]
    assert log.notices == (beyond if recovery_point > END else [])
    assert_whole(log)
    log.close()
    assert_indexes(killed)


def test_recovery_leaves_a_snapshot_at_the_log_end(killed: Path) -> None:
    assert not file(killed, END, ".snapshot").exists()
    reopen(killed, clean=False).close(clean=False)
    assert file(killed, END, ".snapshot").exists()


def test_of_snapshots_at_no_base_only_the_newest_is_kept(killed: Path) -> None:
    for offset in (3, 7, 11):
        shutil.copy(file(killed, 5, ".snapshot"), file(killed, offset, ".snapshot"))
    reopen(killed, clean=False).close()
    assert sorted(int(path.stem) for path in home(killed).glob("*.snapshot")) == [5, 10, END]


# What is done to the newest segment; after a kill, where the log ends then and what is said; after
# a clean stop, the offsets that cannot be read.
DAMAGE: list[tuple[str, Callable[[Path], object], int, str, list[int]]] = [
    ("torn tail", lambda path: cut(file(path, 10, ".log"), 1), 12, "truncated 199", [12]),
    ("torn in the header", lambda path: cut(file(path, 10, ".log"), 150), 12, "truncated 50", [12]),
    ("zeros behind the end", lambda path: tail(path, bytes(500)), 13, "truncated 500", []),
    ("a few zeros behind the end", lambda path: tail(path, bytes(9)), 13, "truncated 9", []),
    ("nonsense behind the end", lambda path: tail(path, b"nonsense" * 30), 13, "no batch", []),
    ("an old batch behind the end", lambda path: tail(path, old(path)), 13, "out of order", []),
    ("a bit of a record", lambda path: flip_at(path, 300), 11, "wrong checksum", [11]),
    ("a bit of the last record", lambda path: flip_at(path, 500), 12, "wrong checksum", [12]),
    ("a bit of a size", lambda path: flip_at(path, SIZE + 8), 11, "truncated 400", [11]),
    ("a bit of an offset", lambda path: flip_at(path, SIZE + 7), 11, "order", [11]),
    ("a bit of a magic", lambda path: flip_at(path, SIZE + 16), 11, "no batch", [11]),
    ("an empty last segment", lambda path: cut(file(path, 10, ".log"), 600), 10, "", [10, 11, 12]),
]


def flip_at(path: Path, position: int) -> None:
    flip(file(path, 10, ".log"), position)


def tail(path: Path, data: bytes) -> None:
    with file(path, 10, ".log").open("ab") as log_file:
        log_file.write(data)


def old(path: Path) -> bytes:
    return file(path, 10, ".log").read_bytes()[:SIZE]


@pytest.mark.parametrize(
    ("damage", "end", "notice"), [row[1:4] for row in DAMAGE], ids=[row[0] for row in DAMAGE]
)
def test_after_a_kill_a_log_ends_behind_its_last_valid_batch(
    killed: Path, damage: Callable[[Path], object], end: int, notice: str
) -> None:
    damage(killed)
    log = reopen(killed, clean=False, recovery_point=10)
    assert_notice(log, notice)
    assert_whole(log, end)
    log.close()
    assert_indexes(killed)


@pytest.mark.parametrize("stop", ["clean", "flushed, then killed"])
@pytest.mark.parametrize(
    ("damage", "lost"), [(row[1], row[4]) for row in DAMAGE], ids=[row[0] for row in DAMAGE]
)
def test_what_was_flushed_is_not_cut(
    closed: Path, damage: Callable[[Path], object], lost: list[int], stop: str
) -> None:
    log_file = file(closed, 10, ".log")
    damage(closed)
    damaged = log_file.read_bytes()
    log = reopen(closed, clean=stop == "clean", recovery_point=END)
    if len(lost) == 3 and stop != "clean":  # a file that ends too early is cut by losing power
        assert (log.log_end_offset, log.reader.damages) == (10, [])
        log.close()
        return
    assert log.log_end_offset == END
    append(log, b"more", epoch=9)
    assert_all_but(log, lost)
    log.close()
    if lost:
        assert log_file.read_bytes() == damaged, "the file is left as it was"
    again = reopen(closed, clean=True, recovery_point=END + 1)
    assert again.log_end_offset == END + 1
    assert_all_but(again, lost)
    again.close()


def assert_all_but(log: Log, lost: list[int]) -> None:
    """Each offset is read as it was written, or, if it is lost, is a storage error."""
    for offset in range(END):
        if offset in lost:
            with pytest.raises(Refused) as refused:
                log.read(offset, 1)
            assert refused.value.error == Error.KAFKA_STORAGE_ERROR
        else:
            assert log.read(offset, 1) == build(offset)
    assert [(one.first_offset, one.next_offset) for one in log.reader.damages] == [
        (lost[0], lost[-1] + 1) for _ in lost[:1]
    ]


def assert_notice(log: Log, notice: str) -> None:
    if notice:
        assert len(log.notices) == 1
        assert log.notices[0].startswith("00000000000000000010.log: ")
        assert notice in log.notices[0]
    else:
        assert log.notices == []


def test_a_cut_in_an_older_segment_ends_the_log_there(killed: Path) -> None:
    flip(file(killed, 5, ".log"), 2 * SIZE + 100)
    log = reopen(killed, clean=False)
    assert log.notices == [
        f"{5:020d}.log: the batch at byte 400 has a wrong checksum; truncated 600 bytes",
        f"{10:020d}.log: follows a truncated segment; renamed to .deleted",
    ]
    assert file(killed, 10, ".log.deleted").stat().st_size == 3 * SIZE
    assert_whole(log, 7)
    log.close()
    assert_indexes(killed)

    again = reopen(killed, clean=True)
    assert not list(home(killed).glob("*.deleted"))
    assert again.log_end_offset == 8
    again.close()


@pytest.mark.parametrize("clean", [True, False])
def test_below_the_recovery_point_a_flipped_bit_is_left_to_the_reader(
    closed: Path, clean: bool
) -> None:
    flip(file(closed, 0, ".log"), 300)
    log = reopen(closed, clean=clean, recovery_point=10)
    assert log.notices == []
    assert_all_but(log, [1])
    assert len(log.notices) == 1
    log.close()


@pytest.mark.parametrize("suffix", INDEXES)
@pytest.mark.parametrize("base", [0, 10])
@pytest.mark.parametrize(
    "damage",
    [
        lambda index: index.unlink(),
        lambda index: index.write_bytes(b""),
        lambda index: index.write_bytes(index.read_bytes() + b"xyz"),
        lambda index: index.write_bytes(index.read_bytes()[:-1]),
        lambda index: index.write_bytes(index.read_bytes() + bytes(240)),
        lambda index: index.write_bytes(b"\x7f" * len(index.read_bytes())),
    ],
    ids=["missing", "empty", "too long", "too short", "preallocated", "garbage"],
)
def test_an_index_that_cannot_be_right_is_made_again(
    closed: Path, suffix: str, base: int, damage: Callable[[Path], None]
) -> None:
    damage(file(closed, base, suffix))
    log = reopen(closed, clean=True)
    assert_whole(log)
    log.close()
    assert_indexes(closed)


def test_making_an_index_again_is_said(closed: Path) -> None:
    file(closed, 0, ".index").unlink()
    file(closed, 5, ".timeindex").write_bytes(b"x")
    log = reopen(closed, clean=True)
    assert log.notices == [
        f"{0:020d}.log: an index was missing and was rebuilt",
        f"{5:020d}.log: an index was damaged and was rebuilt",
    ]
    log.close()


def test_an_index_that_was_emptied_is_said(closed: Path) -> None:
    file(closed, 0, ".index").write_bytes(b"")
    log = reopen(closed, clean=True)
    assert log.notices == [f"{0:020d}.log: an index was empty and was rebuilt"]
    log.close()


@pytest.mark.parametrize("timestamps", [[7, 7, 7], [1, 2, 3], [-1, -1, -1]])
def test_an_index_of_a_larger_interval_gets_entries_without_a_word(
    tmp_path: Path, timestamps: list[int]
) -> None:
    log = open_log(tmp_path, LogConfig())
    for timestamp in timestamps:
        append(log, b"x" * 100, timestamps=[timestamp])
    log.begin_segment(0)
    append(log, b"x")
    log.close()
    assert file(tmp_path, 0, ".index").read_bytes() == b""

    log = open_log(tmp_path, LogConfig(index_interval_bytes=1), clean=True)
    assert log.notices == []
    assert log.segments[0].offset_index.count == 2
    log.close()
    assert len(file(tmp_path, 0, ".index").read_bytes()) == 16


def test_index_files_without_a_log_are_removed_and_the_gap_is_damage(closed: Path) -> None:
    file(closed, 5, ".log").unlink()
    log = reopen(closed, clean=True)
    assert sorted(log.notices) == [
        f"{0:020d}.log: damaged at byte 1000 (0 bytes, offsets 5 to 9): "
        "batches are missing before the next segment",
        f"{5:020d}.index: removed, its log file is missing",
        f"{5:020d}.timeindex: removed, its log file is missing",
    ]
    assert_all_but(log, [5, 6, 7, 8, 9])
    log.close()


def test_what_a_stop_left_of_removed_files_is_removed(closed: Path) -> None:
    for name in ("x.log.deleted", "y.index.deleted", f"{0:020d}.log.cleaned"):
        (home(closed) / name).write_bytes(b"x")
    log = reopen(closed, clean=True)
    assert not [path for path in home(closed).iterdir() if "ed" in path.suffix]
    assert_whole(log)
    log.close()


def test_files_of_nobody_are_left_alone(closed: Path) -> None:
    (home(closed) / "notes.txt").write_bytes(b"x")
    (home(closed) / "lost+found").mkdir()
    log = reopen(closed, clean=False)
    assert log.notices == []
    log.close()
    assert (home(closed) / "notes.txt").read_bytes() == b"x"
    assert (home(closed) / "lost+found").is_dir()


def test_a_swap_takes_the_place_of_the_segments_it_covers(closed: Path) -> None:
    both = file(closed, 0, ".log").read_bytes() + file(closed, 5, ".log").read_bytes()
    file(closed, 0, ".log.swap").write_bytes(both)
    log = reopen(closed, clean=True)
    assert [segment.base_offset for segment in log.segments] == [0, 10]
    assert f"{0:020d}.log.swap: renamed to replace the segments it was written from" in log.notices
    assert_whole(log)
    log.close()
    assert_indexes(closed)


def test_a_swap_with_its_indexes_is_renamed(closed: Path) -> None:
    for suffix in (".log", *INDEXES):
        file(closed, 5, suffix).rename(file(closed, 5, suffix + ".swap"))
    log = reopen(closed, clean=True)
    assert log.notices == [
        f"{5:020d}.log.swap: renamed to replace the segments it was written from"
    ]
    assert_whole(log)
    log.close()
    assert_indexes(closed)


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("content", [None, b"0\nnonsense\n", b"0\n2\n0 0\n"])
def test_leader_epochs_are_found_in_the_batches_if_their_file_is_lost(
    closed: Path, clean: bool, content: bytes | None
) -> None:
    checkpoint = home(closed) / "leader-epoch-checkpoint"
    checkpoint.unlink() if content is None else checkpoint.write_bytes(content)
    log = reopen(closed, clean=clean)
    assert checkpoint.read_bytes() == b"0\n4\n0 0\n1 4\n2 8\n3 12\n"
    assert len(log.notices) == (clean or content is not None)
    assert_whole(log)
    log.close()


def test_an_epoch_in_which_nothing_was_written_is_forgotten(closed: Path) -> None:
    log = reopen(closed, clean=True)
    log.start_epoch(8)
    log.close()
    assert reopen(closed, clean=True).epochs.latest == 3


@pytest.mark.parametrize("clean", [True, False])
def test_producers_are_found_in_the_batches_if_all_snapshots_are_lost(
    closed: Path, clean: bool
) -> None:
    for snapshot in home(closed).glob("*.snapshot"):
        snapshot.unlink()
    log = reopen(closed, clean=clean)
    assert any("snapshots of producers are missing" in said for said in log.notices) == clean
    assert_whole(log)
    log.close()


def test_a_damaged_snapshot_gives_way_to_an_older_one(closed: Path) -> None:
    flip(file(closed, END, ".snapshot"), 20)
    log = reopen(closed, clean=True)
    assert log.notices[0].startswith(f"{END:020d}.snapshot: ")
    assert_whole(log)
    log.close()


def test_after_a_clean_stop_a_producers_last_batch_is_all_that_is_remembered(closed: Path) -> None:
    log = reopen(closed, clean=True)
    assert len(log.producers.states[7].batches) == 1
    log.close(clean=False)
    log = reopen(closed, clean=False, recovery_point=10)
    assert len(log.producers.states[7].batches) == 3, "one of the snapshot at 10, two behind it"
    log.close()


def test_a_snapshot_of_batches_that_are_lost_is_not_used(closed: Path) -> None:
    cut(file(closed, 10, ".log"), 250)
    log = reopen(closed, clean=False)
    assert not file(closed, END, ".snapshot").exists()
    assert log.producers.states[7].last_offset == 10
    log.close()


def transactions(path: Path) -> Path:
    """Two aborted transactions and one open, each in a segment of its own: markers at 5 and 11."""
    log = open_log(path, CONFIG)
    for number in range(END):
        if number in (5, 11):
            end_transaction(log, 1, commit=False)
        else:
            sequence = number - (number > 5) - (number > 11)
            append(log, value(number), producer_id=1, sequence=sequence, transactional=True)
    log.close()
    return path


@pytest.mark.parametrize("lost", [(), (".txnindex",), (".txnindex", ".snapshot", *INDEXES)])
def test_after_a_kill_aborted_transactions_are_found_in_the_batches(
    tmp_path: Path, lost: tuple[str, ...]
) -> None:
    transactions(tmp_path)
    expected = file(tmp_path, 5, ".txnindex").read_bytes()
    for path in list(home(tmp_path).iterdir()):
        if path.suffix in lost:
            path.unlink()
    log = reopen(tmp_path, clean=False)
    assert log.reader.aborted_transactions(0, SEGMENT) == [(1, 0, 5, 6)]
    assert log.reader.aborted_transactions(6, SEGMENT) == [(1, 6, 11, 12)]
    assert log.producers.first_unstable_offset == 12
    assert file(tmp_path, 5, ".txnindex").read_bytes() == expected
    log.close()


@pytest.mark.parametrize("damage", ["lost", "torn", "none"])
def test_after_a_clean_stop_the_newest_transaction_index_is_not_taken_on_trust(
    tmp_path: Path, damage: str
) -> None:
    transactions(tmp_path)
    index = file(tmp_path, 10, ".txnindex")
    before = index.read_bytes()
    assert len(before) == 34
    if damage == "lost":
        index.unlink()
    elif damage == "torn":
        cut(index, 1)
    log = reopen(tmp_path, clean=True)
    what = {"lost": ["missing"], "torn": ["wrong"], "none": []}[damage]
    assert log.notices == [f"{index.name}: {one}, rebuilt from the batches" for one in what]
    assert log.reader.aborted_transactions(0, SEGMENT) == [(1, 0, 5, 6)]
    assert log.reader.aborted_transactions(6, SEGMENT) == [(1, 6, 11, 12)]
    assert log.producers.first_unstable_offset == 12
    log.close()
    assert index.read_bytes() == before


def test_a_marker_that_compaction_emptied_ends_nothing() -> None:
    empty = build_batch([], producer_id=1, producer_epoch=0, transactional=True, control=True)
    assert find_marker(empty, read_header(empty)) is None


def test_the_log_start_is_the_later_of_checkpoint_and_first_segment(closed: Path) -> None:
    log = reopen(closed, clean=True, log_start_offset=6)
    assert_whole(log, start=6)
    log.delete_old_segments(0)
    log.close()
    log = reopen(closed, clean=True, log_start_offset=0)
    assert log.log_start_offset == 5
    log.close()


@pytest.mark.parametrize("starts", [0, 1])
def test_batches_that_all_lie_below_the_log_start_are_removed(closed: Path, starts: int) -> None:
    log = reopen(closed, clean=True)
    log.delete_records(END)
    log.close(clean=False)
    for _ in range(starts):  # which know of the log start, though nothing is left behind it
        reopen(closed, clean=False, log_start_offset=END).close(clean=False)
    cut(file(closed, 10, ".log"), SIZE)  # what a power cut takes
    for clean in (False, True):  # the second start finds the end that the first one left
        log = reopen(closed, clean=clean, log_start_offset=END)
        assert (log.log_start_offset, log.log_end_offset, log.size) == (END, END, 0)
        assert log.notices == ([] if clean else [f"all batches are below the log start {END}"])
        log.close(clean=False)
    log = reopen(closed, clean=False)
    append(log, b"more")
    assert read_all(log) == [(END, b"more")]
    log.close()


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("start", [0, 6])
def test_a_log_start_behind_the_log_end_is_not_believed(
    closed: Path, start: int, clean: bool
) -> None:
    log = reopen(closed, clean=True)
    log.delete_records(start)
    log.close()
    log = reopen(closed, clean=clean, log_start_offset=99)
    assert log.notices == [f"the log start 99 is above the log end {END}; ignored"]
    assert_whole(log, start=start)
    log.close()


def test_a_log_of_which_every_segment_is_gone_gives_no_offset_twice(closed: Path) -> None:
    for log_file in home(closed).glob("*.log"):
        log_file.unlink()
    log = reopen(closed, clean=True)
    assert f"no segment is left of offsets 0 to {END - 1}" in log.notices
    assert (log.log_start_offset, log.log_end_offset) == (0, END)
    with pytest.raises(Refused) as refused:
        log.read(0, 100)
    assert refused.value.error == Error.KAFKA_STORAGE_ERROR
    append(log, b"more")
    assert log.read(END, 100)
    log.close()


def test_it_is_said_if_the_first_segment_is_gone(closed: Path) -> None:
    for gone in home(closed).glob(f"{0:020d}.*"):
        gone.unlink()
    log = reopen(closed, clean=True)
    name = f"{5:020d}.log"
    assert log.notices == [f"{name}: segments are missing before it; the log began at 0"]
    assert_whole(log, start=5)
    log.close()
    assert reopen(closed, clean=True).notices == []


def test_an_empty_log_of_kafka_opens_empty(tmp_path: Path) -> None:
    home(tmp_path).mkdir()
    for suffix in (".log", *INDEXES):
        file(tmp_path, 0, suffix).write_bytes(b"")
    (home(tmp_path) / "leader-epoch-checkpoint").write_bytes(b"0\n1\n0 0\n")
    log = reopen(tmp_path, clean=True)
    assert log.log_end_offset == 0
    assert log.notices == ["partition.metadata: missing, written again"]
    append(log, b"x")
    log.close()
    assert not file(tmp_path, 0, ".snapshot").exists()
    assert file(tmp_path, 1, ".snapshot").exists()


def test_indexes_that_kafka_preallocated_are_trimmed(killed: Path) -> None:
    file(killed, 10, ".index").write_bytes(bytes(10 << 20))
    file(killed, 10, ".timeindex").write_bytes(bytes(10485756))
    log = reopen(killed, clean=False, recovery_point=10)
    assert log.notices == []
    assert_whole(log)
    log.close()
    assert_indexes(killed)


def test_a_log_whose_segments_have_gaps_opens(tmp_path: Path) -> None:
    log = open_log(tmp_path, CONFIG)
    batch = build_batch([(0, None, value(0), ())])
    for offset in (3, 9, 2**40):
        assign(batch, 0, offset, 0)
        log.append(batch, read_header(batch), 0)
    log.close()
    for clean in (True, False):
        log = reopen(tmp_path, clean=clean)
        assert [offset for offset, _ in read_all(log)] == [3, 9, 2**40]
        log.close()


@examples(60)
@given(data=st.data(), clean=st.booleans())
def test_any_damage_to_the_newest_segment_leaves_what_lies_before_it(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, clean: bool
) -> None:
    path = tmp_path_factory.mktemp("damaged")
    fill(open_log(path, CONFIG)).close()
    log_file = file(path, 10, ".log")
    content = bytearray(log_file.read_bytes())
    at = data.draw(st.integers(0, len(content)), label="at")
    kind = data.draw(st.sampled_from(["flip", "cut", "insert"]), label="kind")
    if kind == "cut":
        del content[at:]
    elif kind == "insert":
        content[at:at] = data.draw(st.binary(min_size=1, max_size=300), label="nonsense")
    elif at < len(content):
        content[at] ^= 1 << data.draw(st.integers(0, 7), label="bit")
    log_file.write_bytes(content)

    log = reopen(path, clean=clean, recovery_point=10)

    intact = 10 + at // SIZE
    assert log.log_end_offset >= (END if clean else intact)
    if not clean:  # offsets are not under the CRC, but all else is
        found = [content_read for _, content_read in read_all(log)]
        assert found == [value(offset) for offset in range(len(found))]
    # Of the last batch the offset itself is believed: it is not under the CRC, and nothing follows.
    is_believed = kind == "flip" and 0 <= at - (END - 1 - 10) * SIZE < 8
    for offset in range(END - is_believed if clean else intact):
        try:
            assert without_epoch(log.read(offset, 1)) == without_epoch(build(offset))
        except Refused as refused:  # what is served is right, whatever else happened
            if not clean or offset < intact or refused.error != Error.KAFKA_STORAGE_ERROR:
                raise
    end = log.log_end_offset
    append(log, b"more", epoch=9)
    log.close()
    again = reopen(path, clean=clean, recovery_point=10)
    assert again.log_end_offset == end + 1
    again.close()
    shutil.rmtree(path)
