"""The log of Kafka 0.7: positions, files, reads, what a start finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek.storage.log_0_7 import InvalidMessage, OldLog, OutOfRange
from odradek.wire.compression import Codec
from odradek.wire.legacy.kafka_0_7 import build_old_message, build_old_set, read_payloads

ONE = build_old_message(b"hello")  # of 15 bytes


def _files(path: Path) -> list[str]:
    return sorted(each.name for each in path.iterdir())


def test_files_are_named_by_the_position_of_their_first_message(tmp_path: Path) -> None:
    log = OldLog(tmp_path / "t_0", segment_bytes=30)
    assert [log.append(ONE) for _ in range(5)] == [0, 15, 30, 45, 60]
    assert (log.start, log.end) == (0, 75)
    assert _files(log.path) == [f"000000000{number:02d}.kafka" for number in (0, 30, 60)]
    assert (log.path / "00000000030.kafka").read_bytes() == ONE + ONE


def test_a_read_is_of_one_file_and_may_end_in_a_part_of_a_message(tmp_path: Path) -> None:
    log = OldLog(tmp_path, segment_bytes=30)
    for _ in range(5):
        log.append(ONE)
    assert log.read(0, 1000) == ONE + ONE
    assert log.read(15, 20) == ONE
    assert log.read(30, 20) == ONE + ONE[:5]
    assert log.read(75, 10) == b""
    for position in (-1, 76):
        with pytest.raises(OutOfRange):
            log.read(position, 10)


def test_what_is_asked_for_takes_no_more_memory_than_there_is(tmp_path: Path) -> None:
    log = OldLog(tmp_path)
    log.append(ONE)
    assert log.read(0, 1 << 50) == ONE


def test_compressed_messages_are_kept_as_they_came(tmp_path: Path) -> None:
    log = OldLog(tmp_path)
    sent = build_old_set([b"a", b"b"], codec=Codec.GZIP)
    log.append(ONE)
    log.append(sent)
    assert log.read(15, 1000) == sent
    assert read_payloads(log.read(0, 1000)) == [(0, b"hello"), (15, b"a"), (15, b"b")]


@pytest.mark.parametrize(
    "refused", [ONE[:-1], ONE + b"x", ONE[:-1] + b"!", b"\0\0\0\1\7", build_old_message(bytes(200))]
)
def test_a_set_that_is_damaged_or_too_large_is_not_written(tmp_path: Path, refused: bytes) -> None:
    log = OldLog(tmp_path, message_bytes_max=100)
    log.append(ONE)
    with pytest.raises(InvalidMessage):
        log.append(refused)
    assert log.read(0, 1000) == ONE


def test_positions_before_a_time_are_those_of_files(tmp_path: Path) -> None:
    log = OldLog(tmp_path, segment_bytes=30)
    assert log.positions_before(None, 10) == [0]
    for _ in range(5):
        log.append(ONE)
    assert log.positions_before(None, 10) == [75, 60, 30, 0]
    assert log.positions_before(None, 2) == [75, 60]
    assert log.positions_before(0, 10) == []
    assert log.positions_before(1 << 50, 2) == [60, 30]


def test_a_start_goes_on_where_it_was(tmp_path: Path) -> None:
    log = OldLog(tmp_path, segment_bytes=30)
    for _ in range(3):
        log.append(ONE)
    log.close()
    again = OldLog(tmp_path, segment_bytes=30)
    assert (again.start, again.end, again.cut) == (0, 45, 0)
    assert again.append(ONE) == 45


@pytest.mark.parametrize("tail", [ONE[:7], bytes(9), b"\xff" * 30, ONE[:-1] + b"!"])
def test_a_start_cuts_behind_the_last_valid_message(tmp_path: Path, tail: bytes) -> None:
    """Both a lost end, and nonsense in the file."""
    log = OldLog(tmp_path)
    log.append(ONE)
    with (tmp_path / "00000000000.kafka").open("ab") as file:
        file.write(tail)
    again = OldLog(tmp_path)
    assert (again.end, again.cut) == (15, len(tail))
    assert (tmp_path / "00000000000.kafka").read_bytes() == ONE
