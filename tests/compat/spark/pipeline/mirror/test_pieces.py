"""What a mirror may send of what it fetched: as bytes, or built again."""

from __future__ import annotations

import pytest
from odradek.compat.spark.pipeline.broker import Fetched
from odradek.compat.spark.pipeline.errors import PipelineError
from odradek.compat.spark.pipeline.mirror.pieces import pieces
from odradek.wire.compression import Codec
from odradek.wire.legacy.message_sets import Message, build_set
from odradek.wire.primitives import Buffer
from odradek.wire.records import (
    NewRecord,
    Record,
    build_batch,
    end_transaction_batch,
    read_header,
    read_records,
)


def plain(first: int, count: int, **more: object) -> bytearray:
    records = [NewRecord(1000 + at, b"k", b"%d" % at, (("h", b"x"),)) for at in range(count)]
    return build_batch(records, base_offset=first, **more)  # type: ignore[arg-type]


def marker(offset: int, producer: int, *, commit: bool) -> bytearray:
    return end_transaction_batch(
        commit,
        base_offset=offset,
        timestamp=5,
        producer_id=producer,
        producer_epoch=0,
        coordinator_epoch=0,
        leader_epoch=0,
    )


Aborted = tuple[tuple[int, int], ...]


def fetched_of(batches: tuple[Buffer, ...], aborted: Aborted = ()) -> Fetched:
    return Fetched("t", 0, memoryview(b"".join(batches)), aborted, 0, 0, 0, 0)


def found(
    *batches: Buffer, position: int = 0, committed: bool = True, aborted: Aborted = ()
) -> list[tuple[int, list[bytes | None]]]:
    """Offset and values of each piece."""
    received = []
    for piece in pieces(fetched_of(batches, aborted), position, committed=committed):
        records = read_records(piece.batch)
        assert (len(records), piece.after) == (piece.count, piece.offset + piece.count)
        assert read_header(piece.batch).count == piece.count
        received.append((piece.offset, [each.value for each in records]))
    return received


def records_in(*batches: Buffer) -> list[Record]:
    result = pieces(fetched_of(batches), 0, committed=True)
    return [record for each in result for record in read_records(each.batch)]


def test_whole_batches_are_passed_on_as_bytes() -> None:
    batch = plain(7, 3, codec=Codec.ZSTD)
    (piece,) = pieces(fetched_of((batch,)), 7, committed=True)
    assert (piece.batch, piece.offset, piece.count) == (batch, 7, 3)


def test_holes_end_a_batch() -> None:
    holes = plain(10, 4, offsets=[0, 1, 5, 7], last_offset_delta=9, codec=Codec.GZIP)
    assert found(holes) == [(10, [b"0", b"1"]), (15, [b"2"]), (17, [b"3"])]
    assert found(holes, position=11) == [(11, [b"1"]), (15, [b"2"]), (17, [b"3"])]
    assert found(holes, position=18) == []
    assert found(plain(0, 3), position=1) == [(1, [b"1", b"2"])]


def test_times_of_the_broker_become_those_of_the_records() -> None:
    batch = plain(0, 2, log_append_time=77_000)
    assert [each.timestamp for each in records_in(batch)] == [77_000, 77_000]
    assert not read_header(plain(0, 2)).is_log_append_time


def test_markers_and_aborted_records_are_left_out() -> None:
    batches = (
        plain(0, 2, producer_id=5, producer_epoch=0, base_sequence=0, transactional=True),
        plain(2, 1, producer_id=6, producer_epoch=0, base_sequence=0, transactional=True),
        marker(3, 5, commit=False),
        plain(4, 1, producer_id=5, producer_epoch=0, base_sequence=2, transactional=True),
        marker(5, 5, commit=True),
        marker(6, 6, commit=True),
        plain(7, 1),
    )
    assert [at for at, _ in found(*batches, aborted=((5, 0),))] == [2, 4, 7]
    assert [at for at, _ in found(*batches, aborted=((5, 0),), committed=False)] == [0, 2, 4, 7]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_old_messages_become_batches(magic: int, codec: Codec) -> None:
    time = 9000 if magic else -1
    messages = [Message(offset, time, b"k", b"%d" % offset) for offset in (3, 4, 6)]
    old = build_set(messages, magic, codec=codec)
    assert [record.timestamp for record in records_in(old)] == [time] * 3
    offsets = [at + each for at, values in found(old) for each in range(len(values))]
    assert offsets == [3, 4, 6]


def test_what_cannot_be_read_is_named() -> None:
    broken = plain(0, 3, offsets=[0, 1, 5], last_offset_delta=5)
    broken[70] = 0xFF
    with pytest.raises(PipelineError, match="t-0: what follows offset 0 cannot be read"):
        found(broken)
