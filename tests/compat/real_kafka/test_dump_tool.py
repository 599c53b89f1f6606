"""What makes the dump tool complain: each kind of damage, though its exit status is always 0."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from odradek.compat import Unavailable
from odradek.compat.java.jars import jars
from odradek.compat.real_kafka import VERSION
from odradek.compat.real_kafka.dump_tool import DECODERS, DUMPED, complaints, dump, files
from odradek.storage.config import LogConfig
from odradek.storage.disk.directory import Directory
from odradek.storage.log import Log
from odradek.wire.batch import batches, read_header
from odradek.wire.records import build_batch

pytestmark = [pytest.mark.real, pytest.mark.slow]

NOW = 1_700_000_000_000


@pytest.fixture(scope="module", autouse=True)
def _archives() -> None:
    try:
        jars(VERSION)
    except Unavailable as reason:
        pytest.skip(f"unavailable: {reason}")


def write(home: Path, topic: str = "t", gap: int = 0) -> Path:
    """A log of two segments, with index entries; offsets are missing in the middle if asked for."""
    log = Log.open(
        Directory(home),
        topic,
        0,
        topic_id=bytes(range(16)),
        config=LogConfig(segment_bytes=60_000),
        now_ms=NOW,
        clean=False,
    )
    for number in range(100):
        base = log.log_end_offset + (gap if number == 50 else 0)
        batch = build_batch([(NOW + number, b"k", bytes(1000), ())], base_offset=base)
        log.append(batch, read_header(batch), NOW)
    assert len(log.segments) == 2
    log.close()
    return home / f"{topic}-0"


def alter(path: Path, change: Callable[[bytearray], None]) -> None:
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)


def a_bit_of_a_batch(log: bytearray) -> None:
    log[-1] ^= 1


def bytes_behind_the_last_batch(log: bytearray) -> None:
    log += b"\1" * 7


def half_a_batch(log: bytearray) -> None:
    position, header = list(batches(log))[-1]
    del log[position + header.size // 2 :]


def another_position(index: bytearray) -> None:
    index[7] ^= 1


def another_offset(index: bytearray) -> None:
    index[3] ^= 1


def a_later_time(index: bytearray) -> None:
    struct.pack_into(">q", index, 0, NOW + 1_000_000)


def a_wrong_checksum(snapshot: bytearray) -> None:
    snapshot[2] ^= 1


DAMAGE: dict[str, list[Callable[[bytearray], None]]] = {
    ".log": [a_bit_of_a_batch, bytes_behind_the_last_batch, half_a_batch],
    ".index": [another_position, another_offset],
    ".timeindex": [a_later_time],
    ".snapshot": [a_wrong_checksum],
}


@pytest.mark.parametrize(
    ("suffix", "change"), [(suffix, change) for suffix in DAMAGE for change in DAMAGE[suffix]]
)
def test_damage_of_any_kind_is_a_complaint(
    tmp_path: Path, suffix: str, change: Callable[[bytearray], None]
) -> None:
    home = write(tmp_path)
    alter(min(home.glob(f"*{suffix}")), change)
    assert dump(files(tmp_path), "--deep-iteration").complaints != []


def test_a_sound_directory_has_none_though_a_segment_begins_in_the_middle(tmp_path: Path) -> None:
    write(tmp_path)
    assert complaints(tmp_path) == []
    done = dump(files(tmp_path, DUMPED), "--deep-iteration")
    assert done.output.count("isvalid: true") == 100


def test_a_gap_is_right_in_a_compacted_topic_only(tmp_path: Path) -> None:
    write(tmp_path, gap=5)
    assert any("Non-consecutive" in line for line in complaints(tmp_path))
    assert complaints(tmp_path, compacted=["t"]) == []


def test_a_record_that_its_decoder_does_not_know_is_a_complaint(tmp_path: Path) -> None:
    for topic in DECODERS:
        write(tmp_path, topic)
    found = complaints(tmp_path)
    for decoder in DECODERS.values():
        assert len([line for line in found if line.startswith(f"{decoder}: | offset: ")]) == 100
