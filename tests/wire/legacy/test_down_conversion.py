"""Stored batches as Fetch v0-3 answers them: each rule as one small log.

The logs are also given to a real Kafka 3.9.2, which has to answer the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.wire import Buffer, Error, Refused
from odradek.wire.batch import assign, restamp
from odradek.wire.compression import Codec
from odradek.wire.legacy.down_conversion import down_convert, down_convert_later
from odradek.wire.legacy.message_sets import (
    Message,
    build_message,
    build_set,
    entries,
    read_head,
    read_messages,
)
from odradek.wire.records import build_batch, end_transaction_batch

from tests.support.drawn import examples
from tests.wire.support.old_broker import old_broker

T = 1_600_000_000_000
CHUNK = 128 << 10
FILLER = b"\xff" * 8


def batch(
    base_offset: int = 0,
    count: int = 2,
    codec: int = Codec.NONE,
    size: int = 1,
    offsets: list[int] | None = None,
    at: int = T,
) -> bytes:
    """A stored batch; record n has the value n in `size` bytes and the time `at` - n.

    Its last offset is that of a dense batch: brokers take no other from producers.
    """
    records = [(at - n, b"k", bytes([n]) * size, [("h", b"x")]) for n in range(count)]
    built = build_batch(records, codec=codec, offsets=offsets, last_offset_delta=count - 1)
    assign(built, 0, base_offset, 0)
    return bytes(built)


def stamped(stored: bytes, at: int) -> bytes:
    """The batch under log append time."""
    buffer = bytearray(stored)
    restamp(buffer, 0, at, True)
    return bytes(buffer)


def marker(base_offset: int) -> bytes:
    """A commit marker."""
    return bytes(
        end_transaction_batch(
            True,
            base_offset=base_offset,
            timestamp=T,
            producer_id=1,
            producer_epoch=0,
            coordinator_epoch=0,
            leader_epoch=0,
        )
    )


def down(stored: bytes, magic: int, fetch_offset: int = 0) -> bytes:
    return down_convert(stored, magic, fetch_offset)


class InAFile:
    """What is stored, read so many bytes at a time."""

    def __init__(self, data: bytes, at_once: int = 50_000) -> None:
        self.data, self.at_once = data, at_once
        self.end = 0
        """How far it has been read."""

    def __len__(self) -> int:
        return len(self.data)

    def read(self, position: int, most: int) -> Buffer:
        found = self.data[position : position + min(most, self.at_once)]
        assert found
        self.end = position + len(found)
        return found


def filler(left: int) -> bytes:
    """What a client takes for a message cut short: its first piece."""
    piece = FILLER + max(left + 1, 61).to_bytes(4, "big")
    return piece.ljust(min(left, CHUNK), b"\0")[:left]


# What becomes of a batch.


def test_an_uncompressed_batch_becomes_loose_messages_without_headers() -> None:
    old, new = down(batch(5), 0), down(batch(5), 1)
    plain_0 = build_set([(5, T, b"k", b"\0"), (6, T - 1, b"k", b"\1")], 0)
    plain_1 = build_set([(5, T, b"k", b"\0"), (6, T - 1, b"k", b"\1")], 1)
    assert old == plain_0 + filler(len(batch(5)) - len(plain_0))
    assert new == plain_1 + filler(len(batch(5)) - len(plain_1))


def test_messages_before_the_fetch_offset_are_left_out_where_nothing_is_compressed() -> None:
    assert [m.offset for m in read_messages(down(batch(5, 4), 1, 7))] == [7, 8]
    assert [m.offset for m in read_messages(down(batch(5, 4, 1), 1, 7))] == [5, 6, 7, 8]


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
def test_a_compressed_batch_becomes_one_wrapper_with_its_codec(codec: Codec) -> None:
    stored = batch(10, 2, codec, offsets=[1, 3])
    for magic in (0, 1):
        answer = down(stored, magic)
        messages = [Message(11, T, b"k", b"\0"), Message(13, T - 1, b"k", b"\1")]
        assert answer[:40] == build_set(messages, magic, codec=codec)[:40]
        expected = messages if magic else [m._replace(timestamp=-1) for m in messages]
        assert read_messages(answer) == expected
        (wrapper,) = entries(answer[: len(build_set(messages, magic, codec=codec))])
        assert read_head(answer, wrapper).offset == 13


def test_log_append_time_is_the_batchs_on_every_message() -> None:
    for codec in (Codec.NONE, Codec.GZIP):
        answer = down(stamped(batch(0, 2, codec), T + 70), 1)
        assert {message.timestamp for message in read_messages(answer)} == {T + 70}
        first = next(entries(answer))
        assert read_head(answer, first)[3:] == (8 | codec, T + 70)
        assert down(stamped(batch(0, 2, codec), T), 0)[17] == codec


def test_no_time_stays_none() -> None:
    assert read_messages(down(batch(count=1, at=-1), 1))[0].timestamp == -1
    assert read_messages(down(batch(count=1, at=-1, codec=1), 1))[0].timestamp == -1


def test_what_is_old_enough_passes_byte_for_byte() -> None:
    old = build_set([(0, T, None, b"a"), (1, T, None, b"b")], 0, codec=Codec.LZ4)
    new = build_set([(2, T, None, b"c"), (3, T, None, b"d")], 1, codec=Codec.GZIP)
    assert down(old, 0) == down(old, 1) == old
    assert down(new, 1) == new
    older = build_set(read_messages(new), 0, codec=Codec.GZIP)
    assert down(new, 0) == older + filler(len(new) - len(older))


def test_magic_1_becomes_magic_0_message_by_message() -> None:
    stored = build_set([(7, T, b"k", b"a"), (9, T, None, None)], 1, log_append_time=T)
    _, second = entries(stored)
    plain = build_set([(7, 0, b"k", b"a")], 0) + build_set([(9, 0, None, None)], 0)
    assert down(stored, 0) == plain + filler(len(stored) - len(plain))
    assert [m.offset for m in read_messages(down(stored[second.pos :], 0, 8))] == [9]


# The length of an answer, and what fills it.


def test_nothing_whole_is_answered_by_nothing() -> None:
    assert down(b"", 0) == down(batch()[:-1], 0) == down(batch()[:16], 1) == b""


def test_a_first_conversion_longer_than_what_is_stored_is_sent_whole() -> None:
    stored = batch(count=50)
    longer = build_set([(n, T - n, b"k", bytes([n])) for n in range(50)], 1)
    assert len(longer) > len(stored)
    assert down(stored, 1) == down(stored + batch(50), 1)[: len(longer)] == longer


def test_a_later_conversion_is_cut_where_the_stored_bytes_end() -> None:
    stored = batch() + batch(2, 50)
    whole = build_set([(n, T - n, b"k", bytes([n])) for n in range(2)], 1)
    whole += build_set([(n + 2, T - n, b"k", bytes([n])) for n in range(50)], 1)
    assert len(whole) > len(stored)
    assert down(stored, 1) == whole[: len(stored)]


def test_a_cut_tail_counts_and_is_filled() -> None:
    stored = batch()
    for tail in (1, 11, 12, 40, 80):
        whole = build_set([(n, T, b"k", bytes([n])) for n in range(2)], 0)
        answer = down(stored + batch(2)[:tail], 0)
        assert answer == whole + filler(len(stored) + tail - len(whole))


def test_filling_begins_anew_every_128_kib() -> None:
    stored = batch() + batch(2, size=200_000)[:300_000]
    answer = down(stored, 0)
    left = len(stored) - len(build_set(read_messages(answer)[:2], 0))
    pieces = [left, left - CHUNK, left - 2 * CHUNK]
    assert pieces[-1] > 0
    assert answer.endswith(b"".join(filler(piece) for piece in pieces))


def test_markers_alone_are_answered_by_the_head_of_a_message() -> None:
    assert down(marker(0), 0) == down(marker(0) + marker(1), 1) == filler(12)
    assert filler(12).hex() == "ffffffffffffffff0000003d"


def test_behind_markers_the_first_batch_is_sent_twice_as_kafka_does() -> None:
    stored = marker(2) + batch(3) + batch(5, 1)
    assert [m.offset for m in read_messages(down(stored, 0))] == [3, 4, 3, 4, 5]


def test_markers_between_batches_are_left_out() -> None:
    stored = batch() + marker(2) + batch(3)
    assert [m.offset for m in read_messages(down(stored, 1))] == [0, 1, 3, 4]


def test_a_batch_that_compaction_emptied_is_left_out() -> None:
    empty = bytes(build_batch([], last_offset_delta=4))
    assert [m.offset for m in read_messages(down(batch() + empty + batch(7), 0))] == [0, 1, 7, 8]
    assert down(empty, 0) == filler(12)


# What cannot be converted.


@pytest.mark.parametrize(
    ("stored", "error"),
    [
        (batch(codec=Codec.ZSTD), Error.UNSUPPORTED_COMPRESSION_TYPE),
        (marker(0) + batch(1, codec=Codec.ZSTD), Error.UNSUPPORTED_COMPRESSION_TYPE),
        (batch(offsets=[3, 3]), Error.UNKNOWN_SERVER_ERROR),
        (batch(offsets=[3, 2]), Error.UNKNOWN_SERVER_ERROR),
        (batch(at=-2), Error.UNKNOWN_SERVER_ERROR),
        (batch()[:-3] + b"\x7f..", Error.UNKNOWN_SERVER_ERROR),
        (bytes(100), Error.UNKNOWN_SERVER_ERROR),
        (build_message((0, T, None, b"nonsense"), 1, 1), Error.UNKNOWN_SERVER_ERROR),
    ],
)
def test_what_comes_first_and_cannot_be_converted_is_refused(stored: bytes, error: Error) -> None:
    with pytest.raises(Refused) as refused:
        down(stored, 0)
    assert refused.value.error is error


def test_falling_offsets_before_the_fetch_offset_do_no_harm() -> None:
    stored = batch(count=3, offsets=[5, 2, 9])
    assert [m.offset for m in read_messages(down(stored, 0, 6))] == [9]


def test_a_later_chunk_with_zstd_is_filled_with_all_behind_it() -> None:
    zstd = batch(4, codec=Codec.ZSTD)
    stored = batch() + batch(2) + zstd + batch(6)
    answer = down(stored, 0)
    first = build_set([(n, T, b"k", bytes([n])) for n in range(2)], 0)
    assert answer == first + filler(len(stored) - len(first))


@pytest.mark.parametrize(("size", "sent"), [(65_000, [0, 1]), (65_450, [0, 1, 2, 3])])
def test_chunks_behind_the_first_batch_hold_128_kib(size: int, sent: list[int]) -> None:
    large, zstd = batch(2, size=size), batch(4, codec=Codec.ZSTD)
    assert (len(large) + len(zstd) > CHUNK) == (len(sent) == 4)
    answer = down(batch() + large + zstd, 0)
    assert len(answer) == len(batch() + large + zstd)
    assert [message.offset for message in read_messages(answer)] == sent


@given(
    cut=st.integers(0, 200),
    put=st.binary(max_size=12),
    skip=st.integers(0, 12),
    magic=st.sampled_from([0, 1]),
    fetch_offset=st.integers(0, 6),
    codec=st.sampled_from(Codec),
)
@examples(500)
def test_any_bytes_are_answered_or_refused(
    cut: int, put: bytes, skip: int, magic: int, fetch_offset: int, codec: Codec
) -> None:
    good = batch() + build_set([(2, T, None, b"c")], 1, codec=Codec.GZIP) + batch(3, codec=codec)
    stored = good[:cut] + put + good[cut + skip :]
    asked = magic, fetch_offset, 100_000
    answer = answered_or_refused(lambda: down_convert(stored, *asked))
    assert not isinstance(answer, bytes) or len(answer) == 0 or len(answer) >= 12
    later = answered_or_refused(lambda: down_convert_later(InAFile(stored, 30), *asked))
    assert later == answer


def answered_or_refused(convert: Callable[[], object]) -> object:
    try:
        return convert()
    except Refused as refused:
        return refused.error


def test_a_bomb_is_stopped_at_the_limit() -> None:
    bomb = batch(codec=Codec.GZIP, size=600_000)
    assert len(down_convert(bomb, 0, 0)) > 0
    with pytest.raises(Refused):
        down_convert(bomb, 0, 0, limit=1_000_000)


# What is converted while it is sent.


def test_what_is_in_a_file_is_read_as_it_is_sent() -> None:
    stored = b"".join(batch(2 * n, size=20_000) for n in range(40)) + batch(80)[:-1]
    file = InAFile(stored)
    answer = down_convert_later(file, 1, 0)
    assert not isinstance(answer, bytes | bytearray | memoryview)
    assert len(answer) == len(stored)
    assert file.end == len(batch(size=20_000)), "more than what comes first was read"

    sent = bytearray()
    while len(sent) < len(answer):
        piece = answer.read(len(sent), len(answer) - len(sent))
        sent += piece
        assert file.end <= len(sent) + CHUNK, "it was read ahead"
    assert sent == down(stored, 1)

    assert answer.read(0, 100) == sent[:100]
    assert answer.read(300_000, 10) == sent[300_000:300_010]


@pytest.mark.parametrize("damaged", [bytes(100), batch(codec=Codec.ZSTD), batch(offsets=[9, 3])])
def test_what_cannot_be_converted_later_is_filled_with_all_behind_it(damaged: bytes) -> None:
    good = b"".join(batch(2 * n, size=60_000) for n in range(3))
    stored = good + damaged + batch(20, size=60_000)
    answer = down_convert_later(InAFile(stored), 0, 0)
    assert not isinstance(answer, bytes | bytearray | memoryview)
    sent = bytearray()
    while len(sent) < len(answer):
        sent += answer.read(len(sent), len(answer) - len(sent))
    assert sent == down(stored, 0)
    assert [message.offset for message in read_messages(sent)] == [0, 1, 2, 3]


@pytest.mark.parametrize("stored", [marker(0) * 2000, batch(size=5_000) * 4, batch()[:40]])
def test_a_short_answer_is_converted_at_once(stored: bytes) -> None:
    assert down_convert_later(InAFile(stored), 0, 0) == down(stored, 0)


# The oracle.

LOGS = {
    "plain": [
        batch(),
        batch(count=20),
        batch(count=1, size=3000),
        batch(count=1, at=-1),
        batch(count=3),
    ],
    "holes": [batch(offsets=[0, 5]), batch(count=3, offsets=[0, 4, 9]), batch()],
    "a time below -1": [batch(count=1, at=-5), batch(), batch()],
    "large": [batch(size=60_000) for _ in range(5)],
    "zstd": [batch(), batch(size=60_000), batch(codec=Codec.ZSTD), batch(size=500)],
    "gzip": [batch(count=9, codec=Codec.GZIP), batch(codec=Codec.GZIP)],
    "snappy": [batch(count=9, codec=Codec.SNAPPY), batch(codec=Codec.SNAPPY)],
    "lz4": [batch(count=9, codec=Codec.LZ4), batch(codec=Codec.LZ4)],
}
PACKED = {"gzip", "snappy", "lz4"}
LIMITS = (1, 150, 5000, 1 << 20)


@pytest.mark.real
@pytest.mark.parametrize("topic", ["created", "appended"])
def test_kafka_3_9_answers_the_same_bytes(topic: str) -> None:
    broker = old_broker()
    append = {"message.timestamp.type": "LogAppendTime"} if topic == "appended" else {}
    broker.create({topic: append}, len(LOGS))
    for index, name in enumerate(LOGS):
        for sent in LOGS[name]:
            assert broker.produce(topic, {index: sent}, 7)[index].error_code == 0
        end = broker.fetch(topic, index, 0, 10, 1).high_watermark
        for offset in range(0, end, 3):
            for limit in LIMITS:
                stored = bytes(broker.fetch(topic, index, offset, 10, limit).records or b"")
                for version in range(4):
                    # Before v3 the limit is a hard one.
                    hard = version < 3 and len(stored) > limit
                    expected = b"" if hard else answered(stored, version, offset)
                    answer = broker.fetch(topic, index, offset, version, limit)
                    got = answer.error_code or bytes(answer.records or b"")
                    same = (expected == got) if name not in PACKED else alike(expected, got)
                    assert same, (name, offset, limit, version)


def answered(stored: bytes, version: int, offset: int) -> bytes | Error:
    try:
        return down(stored, 0 if version < 2 else 1, offset)
    except Refused as refused:
        return refused.error


def alike(ours: bytes | Error, theirs: bytes | int) -> bool:
    """The same messages, if libraries pack them into other bytes."""
    assert isinstance(ours, bytes)
    assert isinstance(theirs, bytes)
    found = read_messages(ours), read_messages(theirs)
    shorter = min(len(messages) for messages in found)
    return bool(ours) == bool(theirs) and found[0][:shorter] == found[1][:shorter]
