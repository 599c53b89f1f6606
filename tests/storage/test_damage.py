"""Damage in what was flushed: noticed when it is met, never cut, never served.

The log is the known one: batches of one record, bases 0, 5, 10, up to offset 12.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.storage.config import LogConfig
from odradek.storage.damage import Damage
from odradek.storage.log import Log
from odradek.wire.batch import OVERHEAD, batches
from odradek.wire.errors import Error, Refused
from odradek.wire.records import build_batch

from tests.storage.support.known_log import (
    CONFIG,
    END,
    INDEXES,
    SIZE,
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
    records,
)
from tests.support.drawn import examples


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    fill(open_log(tmp_path, CONFIG)).close()
    return tmp_path


def lost(log: Log) -> list[int]:
    """The offsets that cannot be read; all others are read as they were written."""
    missing = []
    for offset in range(END):
        try:
            assert without_epoch(log.read(offset, 1)) == without_epoch(build(offset)), offset
        except Refused as refused:
            if refused.error != Error.KAFKA_STORAGE_ERROR:
                raise
            missing.append(offset)
    return missing


def test_the_first_read_of_a_segment_finds_what_is_wrong_in_it(closed: Path) -> None:
    flip(file(closed, 5, ".log"), 2 * SIZE + 100)
    log = reopen(closed, clean=True)
    assert (log.notices, log.reader.damages) == ([], [])
    said: list[str] = []
    log.notices.listener = said.append

    assert log.read(0, 1 << 20) == b"".join(map(build, range(5)))
    assert log.reader.damages == []
    assert log.read(5, 1 << 20) == b"".join(map(build, (5, 6))), "up to the damage"

    name, problem = f"{5:020d}.log", "the batch at byte 400 has a wrong checksum"
    assert log.reader.damages == [Damage("t-0", name, 400, SIZE, 7, 8, problem)]
    assert said == [f"{name}: damaged at byte 400 (200 bytes, offset 7): {problem}"]
    with pytest.raises(Refused, match=r"t-0: .*damaged at byte 400.*wrong checksum") as refused:
        log.read(7, 1)
    assert refused.value.error == Error.KAFKA_STORAGE_ERROR
    assert log.read(8, 1 << 20) == b"".join(map(build, (8, 9)))
    assert lost(log) == [7]
    assert len(said) == 1, "it is said once"
    assert log.reader.after_damage(7) == 8
    log.close()


def test_limits_of_reads_hold_around_damage(closed: Path) -> None:
    flip(file(closed, 5, ".log"), 2 * SIZE + 100)
    log = reopen(closed, clean=True)
    assert log.read(5, 1 << 20, upto=6) == build(5)
    assert log.read(8, 1 << 20, upto=9) == build(8)
    assert log.read(9, 250, upto=END) == build(9)
    assert log.read(5, 10, whole_first=False) == build(5)[:10]
    log.close()


def test_a_search_by_time_does_not_pass_over_damage(closed: Path) -> None:
    flip(file(closed, 5, ".log"), 2 * SIZE + 100)
    log = reopen(closed, clean=True)
    assert log.reader.find_timestamp(60) == (6, 60, 1)
    with pytest.raises(Refused) as refused:
        log.reader.find_timestamp(65)
    assert refused.value.error == Error.KAFKA_STORAGE_ERROR
    assert log.reader.find_timestamp(100) == (10, 100, 2)
    assert log.reader.max_timestamp() == (12, 120, 3)
    log.close()


def test_a_log_with_damage_is_cut_back_like_any_other(closed: Path) -> None:
    flip(file(closed, 5, ".log"), 2 * SIZE + 100)
    log = reopen(closed, clean=True)
    log.truncate(9)
    assert (log.log_end_offset, [one.first_offset for one in log.reader.damages]) == (9, [7])
    append(log, b"more", epoch=9)
    assert records(log.read(9, 1 << 20))[0].value == b"more"
    log.truncate(7)
    assert (log.log_end_offset, log.reader.damages) == (7, [])
    append(log, b"again", epoch=9)
    assert read_all(log)[-1] == (7, b"again")
    log.close()


def test_damage_goes_with_its_segment(closed: Path) -> None:
    flip(file(closed, 0, ".log"), 100)
    log = reopen(closed, clean=True)
    assert lost(log) == [0]
    log.delete_records(5)
    assert log.delete_old_segments(0) == 1
    assert log.reader.damages == []
    log.close()


# Damage that opening sees: what is done, the offsets that are lost.
AT_ONCE: list[tuple[str, Callable[[Path], object], list[int]]] = [
    ("an older segment torn", lambda path: cut(file(path, 0, ".log"), 50), [4]),
    ("torn between batches", lambda path: cut(file(path, 0, ".log"), 2 * SIZE), [3, 4]),
    ("its log lost", lambda path: file(path, 5, ".log").unlink(), [5, 6, 7, 8, 9]),
    (
        "all of it lost",
        lambda path: [one.unlink() for one in home(path).glob(f"{5:020d}*")],
        [5, 6, 7, 8, 9],
    ),
    ("the newest lost", lambda path: file(path, 10, ".log").unlink(), [10, 11, 12]),
    ("the last batch of an older one", lambda path: flip(file(path, 0, ".log"), 808), [4]),
]


@pytest.mark.parametrize(("damage", "gone"), [r[1:] for r in AT_ONCE], ids=[r[0] for r in AT_ONCE])
def test_what_is_missing_is_noticed_when_the_log_is_opened(
    closed: Path, damage: Callable[[Path], object], gone: list[int]
) -> None:
    damage(closed)
    log = reopen(closed, clean=True, recovery_point=END)
    (found,) = log.reader.damages
    assert list(range(found.first_offset, found.next_offset)) == gone
    assert any("damaged at byte" in notice for notice in log.notices)
    assert lost(log) == gone
    append(log, b"more", epoch=9)
    assert log.log_end_offset == END + 1
    log.close()


def test_several_damages_in_one_segment(closed: Path) -> None:
    flip(file(closed, 5, ".log"), 100)
    flip(file(closed, 5, ".log"), 3 * SIZE + 100)
    log = reopen(closed, clean=True)
    assert lost(log) == [5, 8]
    assert [log.reader.after_damage(offset) for offset in range(5, 10)] == [6, 6, 7, 9, 9]
    log.close()


def test_whoever_walks_through_a_log_is_led_past_damage_or_learns_of_it(closed: Path) -> None:
    flip(file(closed, 5, ".log"), 2 * SIZE + 100)
    log = reopen(closed, clean=True)
    walked = [header.base_offset for header, _, _ in log.reader.batches_from(3)]
    assert walked == [n for n in range(3, END) if n != 7]
    with pytest.raises(Refused, match="damaged at byte"):
        list(log.reader.batches_from(3, over_damage=False))
    assert list(log.reader.batches_from(END)) == []
    log.close()


@pytest.mark.parametrize("bit", range(64))
def test_no_bit_of_an_offset_goes_unnoticed(closed: Path, bit: int) -> None:
    position = 2 * SIZE + 7 - bit // 8
    data = bytearray(file(closed, 5, ".log").read_bytes())
    data[position] ^= 1 << bit % 8
    file(closed, 5, ".log").write_bytes(data)
    log = reopen(closed, clean=True)
    assert lost(log) == [7]
    log.close()


def test_a_batch_behind_a_damaged_one_is_not_taken_for_it(closed: Path) -> None:
    data = bytearray(file(closed, 0, ".log").read_bytes())
    data[100] ^= 1
    data[SIZE : SIZE + 8] = bytes(8)  # the next one's offset, which its CRC does not cover
    file(closed, 0, ".log").write_bytes(data)
    log = reopen(closed, clean=True)
    assert lost(log) == [0, 1]
    log.close()


# Indexes.


@pytest.mark.parametrize("base", [0, 5])
@pytest.mark.parametrize("suffix", INDEXES)
def test_no_bit_of_an_index_leads_astray(tmp_path: Path, suffix: str, base: int) -> None:
    fill(open_log(tmp_path, CONFIG)).close()
    index = file(tmp_path, base, suffix)
    right = index.read_bytes()
    for bit in range(0, 8 * len(right), 3):
        data = bytearray(right)
        data[bit // 8] ^= 1 << bit % 8
        index.write_bytes(data)
        log = reopen(tmp_path, clean=True)
        assert lost(log) == []
        for offset in range(base, base + 5):
            assert log.reader.find_timestamp(offset * 10) == (offset, offset * 10, offset // 4)
        if log.notices:  # an offset that is a little too high only makes searches longer
            assert log.notices == [f"{base:020d}.log: an index was {why(log)} and was rebuilt"]
            assert index.read_bytes() == right
        log.close(clean=False)


def why(log: Log) -> str:
    return "damaged" if "damaged" in log.notices[0] else "wrong"


def test_an_index_of_a_damaged_segment_is_made_again_in_memory_only(closed: Path) -> None:
    flip(file(closed, 5, ".log"), 2 * SIZE + 100)
    flip(file(closed, 5, ".index"), 7)
    before = {one: one.read_bytes() for one in home(closed).iterdir()}
    log = reopen(closed, clean=True)
    assert lost(log) == [7]
    log.close(clean=False)
    assert {one: one.read_bytes() for one in home(closed).iterdir()} == before


# Transactions.


def transactional(path: Path) -> Log:
    """Producer 1 aborts what it wrote at 0..5 with a marker at 6; 2, at 3 and 7, with one at 9."""
    log = open_log(path, CONFIG)
    sequences = {1: 0, 2: 0}
    for producer in (1, 1, 1, 2, 1, 1):
        append(
            *(log, value(1)),
            producer_id=producer,
            sequence=sequences[producer],
            transactional=True,
        )
        sequences[producer] += 1
    end_transaction(log, 1, commit=False)
    append(log, value(1), producer_id=2, sequence=1, transactional=True)
    append(log, value(1))
    end_transaction(log, 2, commit=False)
    for _ in range(4):
        append(log, value(1))
    log.close()
    return log


WRONG_INDEXES: dict[str, Callable[[Path], object]] = {
    "lost": lambda index: index.unlink(),
    "empty": lambda index: index.write_bytes(b""),
    "cut": lambda index: cut(index, 34),
    "another producer": lambda index: flip(index, 9),
    "another beginning": lambda index: flip(index, 17),
    "another stable offset": lambda index: flip(index, 30),
}


@pytest.mark.parametrize("damage", WRONG_INDEXES.values(), ids=WRONG_INDEXES)
@pytest.mark.parametrize("snapshots", [True, False])
def test_aborted_records_stay_hidden_if_their_index_is_wrong(
    tmp_path: Path, damage: Callable[[Path], object], snapshots: bool
) -> None:
    transactional(tmp_path)
    (index,) = home(tmp_path).glob("*.txnindex")
    right = index.read_bytes()
    damage(index)
    if not snapshots:
        for one in home(tmp_path).glob("*.snapshot"):
            one.unlink()
    log = reopen(tmp_path, clean=True)
    log.read(0, SIZE)
    # Read in the first segment; the markers lie in the second, which nobody has read yet.
    assert log.reader.aborted_transactions(0, 3 * SIZE) == [(1, 0, 6, 3), (2, 3, 9, 10)]
    assert index.read_bytes() == right
    assert any("rebuilt from the batches" in notice for notice in log.notices)
    log.close()


def test_transaction_indexes_that_are_right_are_not_mended(tmp_path: Path) -> None:
    transactional(tmp_path)
    log = reopen(tmp_path, clean=True)
    assert log.reader.aborted_transactions(0, 3 * SIZE) == [(1, 0, 6, 3), (2, 3, 9, 10)]
    assert len(read_all(log)) == 14
    assert log.notices == []
    log.close()


# Gaps that are no damage.


def compacted(path: Path) -> Path:
    """Take every second batch out of the oldest segment, the last one too, as compaction does."""
    log_file = file(path, 0, ".log")
    data = log_file.read_bytes()
    parts = [data[at : at + header.batch_length + OVERHEAD] for at, header in batches(data)]
    log_file.write_bytes(b"".join(parts[index] for index in (0, 2, 3)))
    for suffix in INDEXES:
        file(path, 0, suffix).unlink()
    return path


@pytest.mark.parametrize("policy", ["compact", "delete"])
def test_what_compaction_took_is_not_missed(closed: Path, policy: str) -> None:
    compacted(closed)
    config = LogConfig(
        segment_bytes=5 * SIZE, index_interval_bytes=300, cleanup_policy=frozenset({policy})
    )
    log = open_log(closed, config, clean=True)
    assert [offset for offset, _ in read_all(log)] == [0, 2, 3, *range(5, END)]
    assert log.reader.damages == []
    log.close()


def test_a_segment_in_which_compaction_left_nothing_is_not_missed(closed: Path) -> None:
    for suffix in (".log", *INDEXES):
        file(closed, 5, suffix).write_bytes(b"")
    log = reopen(closed, clean=True)
    assert [offset for offset, _ in read_all(log)] == [0, 1, 2, 3, 4, 10, 11, 12]
    assert log.reader.damages == []
    log.close()


# Anything at all.


@pytest.mark.slow
@examples(100)
@given(data=st.data())
def test_whatever_happens_to_an_older_segment_what_is_read_is_right(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("damaged")
    fill(open_log(path, CONFIG)).close()
    target = file(path, data.draw(st.sampled_from([0, 5])), data.draw(SUFFIXES))
    content = bytearray(target.read_bytes())
    for _ in range(data.draw(st.integers(1, 3), label="damages")):
        at = data.draw(st.integers(0, max(0, len(content) - 1)), label="at")
        kind = data.draw(st.sampled_from(["flip", "cut", "insert", "zero"]), label="kind")
        if kind == "cut":
            del content[at:]
        elif kind == "insert":
            content[at:at] = data.draw(st.binary(min_size=1, max_size=300), label="nonsense")
        elif kind == "zero":
            content[at : at + 100] = bytes(len(content[at : at + 100]))
        elif content:
            content[at] ^= 1 << data.draw(st.integers(0, 7), label="bit")
    target.write_bytes(content)
    log = reopen(path, clean=True)
    missing = lost(log)
    assert log.log_end_offset == END
    if target.suffix == ".log":
        assert missing == [n for n in missing if n // 5 == int(target.stem) // 5], "its own only"
        assert target.read_bytes() == content, "the file stays as it is"
    else:
        assert missing == []
    assert all(
        any(d.first_offset <= n < d.next_offset for d in log.reader.damages) for n in missing
    )
    log.close()
    shutil.rmtree(path)


SUFFIXES = st.sampled_from([".log", ".log", ".log", *INDEXES])


def test_a_batch_inside_a_damaged_one_is_not_taken_for_a_batch_of_the_log(tmp_path: Path) -> None:
    inner = build_batch([(0, None, b"not in the log", ())], base_offset=1)
    log = open_log(tmp_path, LogConfig(segment_bytes=1000))
    append(log, b"a")
    append(log, bytes(inner))
    append(log, b"b")
    append(log, bytes(900))
    log.close()
    (_, first), *_ = batches(file(tmp_path, 0, ".log").read_bytes())
    flip(file(tmp_path, 0, ".log"), first.size + 20)
    log = open_log(tmp_path, LogConfig(segment_bytes=1000), clean=True)
    assert [records(log.read(offset, 1))[0].value for offset in (0, 2)] == [b"a", b"b"]
    assert [one.first_offset for one in log.reader.damages] == [1]
    log.close()
