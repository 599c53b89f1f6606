"""A produced message set becomes one batch, or is refused: each rule as one small case.

The cases are also put to a real Kafka 3.9.2, which has to store the same bytes and say the same.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.wire import Error, Refused
from odradek.wire.batch import assign, read_header
from odradek.wire.compression import Codec, decompress
from odradek.wire.legacy.message_sets import build_set
from odradek.wire.legacy.up_conversion import Rules, lone_batch, produced_magic, up_convert
from odradek.wire.records import read_records

from tests.support.drawn import examples
from tests.wire.support.old_broker import old_broker
from tests.wire.support.produced_sets import (
    BATCH,
    CASES,
    CORRUPT,
    INNER_0,
    INNER_1,
    INVALID,
    LARGE,
    NOW,
    PLAIN,
    TOO_LARGE,
    TOPICS,
    UNEXPECTED,
    Stored,
    T,
    damaged,
    one,
    wrapper,
)


def answer(data: bytes, rules: Rules, now: int = NOW) -> bytearray | Error | None:
    """The batch, the code, or None when nothing is whole."""
    try:
        assert produced_magic(data) != 2
        return up_convert(data, rules, now)
    except Refused as refused:
        return refused.error


@pytest.mark.parametrize("name", CASES)
def test_a_set_is_stored_or_refused(name: str) -> None:
    topic, data, expected = CASES[name]
    rules = TOPICS[topic][1]
    got = answer(data, rules)
    if not isinstance(expected, Stored):
        assert got is expected
        return
    assert isinstance(got, bytearray)
    header = read_header(got)
    assert header.codec is expected.codec
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)
    assert header.base_timestamp == expected.records[0][0]
    latest = NOW if rules.log_append_time else max(time for time, _, _ in expected.records)
    assert header.max_timestamp == latest
    assert header.is_log_append_time == rules.log_append_time
    found = read_records(got)
    assert [record.offset for record in found] == list(range(len(found)))
    times = [NOW if rules.log_append_time else time for time, _, _ in expected.records]
    assert [record.timestamp for record in found] == times
    assert [(r.key, r.value, r.headers) for r in found] == [
        (key, value, ()) for _, key, value in expected.records
    ]


def test_two_messages_are_stored_byte_for_byte() -> None:
    """As Kafka 3.9.2 stored them, at offset 0 under leader epoch 0."""
    batch = answer(one(1, b"k0", b"v0") + one(1, b"k1", b"v1", T + 1), PLAIN)
    assert isinstance(batch, bytearray)
    assign(batch, 0, 0, 0)
    assert batch == bytes.fromhex(
        "0000000000000000 00000047 00000000 02 3f4b0be7 0000 00000001 00000174876e8000"
        "00000174876e8001 ffffffffffffffff ffff ffffffff 00000002"
        "14000000046b30047630 00 14000202046b31047631 00"
    )


def test_the_level_is_asked_for_with_the_codec_that_is_used() -> None:
    asked = []

    def level(codec: int) -> int | None:
        asked.append(codec)
        return 1 if codec == Codec.GZIP else None

    answer(one(1), PLAIN._replace(codec=Codec.GZIP, level=level))
    answer(wrapper(1, INNER_1, Codec.LZ4), PLAIN._replace(level=level))
    assert asked == [Codec.GZIP, Codec.LZ4]


# Batches in old requests, and what is found before anything else.


def test_a_batch_in_an_old_request_is_left_to_the_rules_of_batches() -> None:
    assert produced_magic(BATCH) == 2
    assert lone_batch(BATCH, LARGE) == BATCH
    assert lone_batch(BATCH + BATCH[:-1], LARGE) == BATCH


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (BATCH * 2, INVALID),
        (BATCH + one(1), INVALID),
        (BATCH + damaged(one(1)), CORRUPT),
        (b"\0\0\0\0\0\0\0\1" + BATCH[8:], INVALID),
        (damaged(BATCH), CORRUPT),
        (one(1), INVALID),
    ],
)
def test_a_batch_that_is_not_alone_or_not_whole_is_refused(data: bytes, error: Error) -> None:
    with pytest.raises(Refused) as refused:
        lone_batch(data, LARGE)
    assert refused.value.error is error


def test_a_batch_too_large_is_refused_before_its_crc_is_taken() -> None:
    with pytest.raises(Refused) as refused:
        lone_batch(damaged(BATCH), len(BATCH) - 1)
    assert refused.value.error is TOO_LARGE


def test_a_batch_without_room_for_a_producer_id_is_unexpected() -> None:
    for size, error in ((50, UNEXPECTED), (51, None)):
        short = bytes(8) + (size - 12).to_bytes(4, "big") + bytes(4) + b"\2" + bytes(size - 17)
        if error is None:
            assert produced_magic(one(0) + short) == 0
        else:
            with pytest.raises(Refused) as refused:
                produced_magic(one(0) + short)
            assert refused.value.error is error


def test_a_bomb_is_stopped_at_the_limit() -> None:
    bomb = wrapper(1, build_set([(0, T, None, bytes(1 << 20))], 1))
    assert up_convert(bomb, PLAIN._replace(codec=Codec.GZIP), NOW) is not None
    with pytest.raises(Refused) as refused:
        up_convert(bomb, PLAIN, NOW, limit=1 << 20)
    assert refused.value.error is UNEXPECTED


GOOD = [one(0) + one(0), one(1) + one(1, None), wrapper(0, INNER_0, 3), wrapper(1, INNER_1, 2)]


@given(
    good=st.sampled_from(GOOD),
    cut=st.integers(0, 120),
    put=st.binary(max_size=12),
    skip=st.integers(0, 12),
    inside=st.booleans(),
    topic=st.sampled_from(sorted(TOPICS)),
)
@examples(500)
def test_any_bytes_are_stored_or_refused(
    good: bytes, cut: int, put: bytes, skip: int, inside: bool, topic: str
) -> None:
    data = good[:cut] + put + good[cut + skip :]
    if inside:
        data = wrapper(data[16] % 2 if len(data) > 16 else 0, data)
    try:
        if produced_magic(data) == 2:
            lone_batch(data, LARGE)
            return
        batch = up_convert(data, TOPICS[topic][1], NOW, limit=100_000)
    except Refused:
        return
    assert batch is None or len(read_records(batch)) == read_header(batch).count


# The oracle.


@pytest.mark.real
def test_kafka_3_9_stores_the_same_bytes_and_refuses_the_same_sets() -> None:
    broker = old_broker()
    by_topic = {t: [name for name in CASES if CASES[name][0] == t] for t in TOPICS}
    broker.create({t: config for t, (config, _) in TOPICS.items()}, 1)
    compared = 0
    for topic, names in by_topic.items():
        for name in names:
            _, data, expected = CASES[name]
            result = broker.produce(topic, {0: data}, 2)[0]
            if not isinstance(expected, Stored):
                assert (result.error_code, result.base_offset) == (expected or 0, -1), name
                continue
            assert result.error_code == 0, name
            stored = broker.fetch(topic, 0, result.base_offset, 10, LARGE).records
            assert stored is not None
            header = read_header(stored)
            rules = TOPICS[topic][1]
            now = header.max_timestamp if rules.log_append_time else NOW
            assert result.log_append_time_ms == (now if rules.log_append_time else -1), name
            ours = answer(data, rules, now)
            assert isinstance(ours, bytearray)
            assign(ours, 0, result.base_offset, header.leader_epoch)
            assert unpacked(ours) == unpacked(bytes(stored)), name
            compared += 1
    assert compared == sum(isinstance(case[2], Stored) for case in CASES.values())


def unpacked(batch: bytes | bytearray) -> tuple[object, bytes]:
    """The header without what depends on how a library packs, and the records."""
    header = read_header(batch)
    records = bytes(decompress(header.codec, batch[61:]))
    return (header._replace(crc=0, batch_length=0) if header.codec else header), records
