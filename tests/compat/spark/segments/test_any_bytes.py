"""Any bytes as a segment: they are read or they are Damaged, and what is given was written."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odradek.compat.spark.segments import (
    EVERYTHING,
    Damaged,
    Segment,
    batch_heads,
    outcomes,
    read_bytes,
    read_segment,
)
from odradek.wire.compression import Codec

from tests.compat.spark.segments.support.placed import numbered, placed
from tests.compat.spark.segments.support.transactions import marker, of_producer
from tests.support.old_segments import TOPICS

LIMIT = 1 << 20


def good() -> bytes:
    """Batches of every kind."""
    parts, base = [], 0
    for codec in Codec:
        parts.append(numbered(base, 4, codec=codec))
        base += 4
    parts += [of_producer(base, 3, 1, transactional=True), marker(base + 3, 1, commit=False)]
    parts += [of_producer(base + 4, 3, 1, transactional=True), numbered(base + 7, 5)]
    return b"".join(parts)


def spoilt(data: bytes, chance: random.Random) -> bytes:
    """A few changes: bits, bytes, pieces that are gone, twice there, or zero."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(changed))
        size = chance.choice([1, 1, 3, 12, 61, 200])
        match chance.randrange(6):
            case 0 | 1:
                changed[at] ^= 1 << chance.randrange(8)
            case 2:
                changed[at : at + size] = chance.randbytes(min(size, 12))
            case 3:
                del changed[at : at + size]
            case 4:
                changed[at:at] = changed[max(0, at - size) : at]
            case _:
                changed[at : at + size] = bytes(size)
        changed = changed or bytearray(b"x")
    return bytes(changed)


def everything(segment: Segment) -> list[tuple[int, bytes | None]]:
    """Offset and value of what reading on after damage gives, without what is marked as wrong."""
    damages: list[Damaged] = []
    rows = []
    for batch in read_segment(segment, EVERYTHING, limit=LIMIT, on_damage=damages.append):
        batch.validate(full=True)
        columns = batch.column("offset"), batch.column("value"), batch.column("crcOk")
        for offset, value, crc_ok in zip(*(each.to_pylist() for each in columns), strict=True):
            if crc_ok:
                rows.append((offset, value))
    ends = [damage.position for damage in damages]
    assert ends == sorted(ends), "in order"
    assert len(set(ends)) == len(ends), "once"
    return rows


def test_what_is_given_of_a_damaged_segment_was_written(tmp_path: Path) -> None:
    data = good()
    (segment,) = placed(tmp_path, {0: data})
    written = dict(everything(segment))
    assert len(written) == 32
    chance = random.Random(40)
    incomplete = 0
    for _ in range(400):
        (segment,) = placed(tmp_path, {0: spoilt(data, chance)})
        rows = everything(segment)
        found = [offset for offset, _ in rows]
        assert found == sorted(set(found)), "in order, and none twice"
        # Offsets are in no checksum, so a batch may be elsewhere; its records are whole.
        assert {value for _, value in rows} <= set(written.values())
        incomplete += len(rows) < len(written)
        batch_heads(segment, on_damage=lambda _: None)
        outcomes([segment])
        strictly(segment)
    assert incomplete > 200


def strictly(segment: Segment) -> None:
    """Nothing else than Damaged is raised, and it names a byte of the file."""
    try:
        list(read_segment(segment, limit=LIMIT))
    except Damaged as damaged:
        found = damaged
    else:
        return
    assert found.path == segment.path
    assert 0 <= found.position < segment.size


@given(st.binary(max_size=400))
@settings(max_examples=300, deadline=None)
def test_any_bytes_of_a_fetch_are_read_or_damaged(data: bytes) -> None:
    damages: list[Damaged] = []
    list(read_bytes(data, "t", 0, EVERYTHING, limit=LIMIT, on_damage=damages.append))
    assert all(0 <= damaged.position < len(data) for damaged in damages)


@pytest.mark.parametrize("topic", ["mixed", "wrapped-1", "holes"])
def test_damaged_messages_of_old_formats(topic: str, tmp_path: Path) -> None:
    data = TOPICS[topic][0]
    (segment,) = placed(tmp_path, {0: data})
    written = set(everything(segment))
    chance = random.Random(41)
    for _ in range(150):
        (segment,) = placed(tmp_path, {0: spoilt(data, chance)})
        assert {value for _, value in everything(segment)} <= {value for _, value in written}
        strictly(segment)
        outcomes([segment])
