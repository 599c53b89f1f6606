"""Messages of Kafka 0.7, against the layout in its documents."""

from __future__ import annotations

from zlib import crc32

import pytest
import snappy
from hypothesis import given
from hypothesis import strategies as st
from odradek.wire import WireError
from odradek.wire.compression import Codec
from odradek.wire.legacy.kafka_0_7 import build_old_message, build_old_set, messages, read_payloads

from tests.support.drawn import examples

PAYLOADS = [b"hello", b"", bytes(1000)]
FORMATS = [(0, Codec.NONE), (1, Codec.NONE), (1, Codec.GZIP), (1, Codec.SNAPPY)]


def test_a_message_is_laid_out_as_the_documents_say() -> None:
    """Length, magic, attributes in magic 1, the CRC-32 of the payload (a known one), payload."""
    assert build_old_message(b"hello", 0) == bytes.fromhex("0000000a 00 3610a686 68656c6c6f")
    assert build_old_message(b"hello", 1) == bytes.fromhex("0000000b 01 00 3610a686 68656c6c6f")


def test_a_message_is_known_by_its_byte_position() -> None:
    data = build_old_set(PAYLOADS, magic=0)
    found = list(messages(data, start=5000))
    assert [message.position for message in found] == [5000, 5014, 5023]
    assert [message.next_position for message in found] == [5014, 5023, 5000 + len(data)]
    assert [message.payload for message in found] == PAYLOADS
    assert all(message.is_valid for message in found)


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_what_is_built_is_read(magic: int, codec: Codec) -> None:
    data = build_old_set(PAYLOADS, magic, codec)
    assert [payload for _, payload in read_payloads(data)] == PAYLOADS
    assert len(list(messages(data))) == (1 if codec else 3)


def test_messages_in_a_compressed_one_share_its_position() -> None:
    data = build_old_message(b"first") + build_old_set(PAYLOADS, codec=Codec.GZIP)
    second = len(build_old_message(b"first"))
    assert [position for position, _ in read_payloads(data, start=100)] == [
        100,
        *[100 + second] * 3,
    ]


def test_snappy_without_framing_is_read() -> None:
    packed = snappy.compress(build_old_set(PAYLOADS))
    body = b"\1\2" + crc32(packed).to_bytes(4, "big") + packed
    data = len(body).to_bytes(4, "big") + body
    assert [payload for _, payload in read_payloads(data)] == PAYLOADS


def test_a_chunk_may_end_in_a_partial_message() -> None:
    data = build_old_set(PAYLOADS)
    first = len(build_old_message(PAYLOADS[0]))
    for end in range(first):
        assert list(messages(data[:end])) == []
    assert len(list(messages(data[: first + 3]))) == 1


def test_a_changed_payload_is_not_valid_and_a_changed_length_not_either() -> None:
    data = bytearray(build_old_message(b"hello"))
    data[-1] ^= 1
    assert [message.is_valid for message in messages(data)] == [False]
    shorter = bytes.fromhex("00000009") + build_old_message(b"hello", 0)[4:]
    assert [message.is_valid for message in messages(shorter[:-1])] == [False]


DAMAGED = {
    "magic 2": bytes.fromhex("0000000a 02 3610a686 68656c6c6f"),
    "shorter than its head": bytes.fromhex("00000004 00 3610a686"),
    "shorter than its head, magic 1": bytes.fromhex("00000005 01 00 3610a686"),
    "a negative length": bytes.fromhex("fffffff6 00 3610a686"),
    "codec 3": bytes.fromhex("0000000b 01 03 3610a686 68656c6c6f"),
    "no gzip": bytes.fromhex("0000000b 01 01 3610a686 68656c6c6f"),
    "one in another": build_old_message(
        build_old_set(PAYLOADS, codec=Codec.GZIP), codec=Codec.SNAPPY
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_a_wire_error(name: str) -> None:
    with pytest.raises(WireError):
        read_payloads(DAMAGED[name])


def test_compressed_messages_stop_at_the_limit_all_together() -> None:
    one = build_old_set([bytes(100_000)], codec=Codec.GZIP)
    assert len(read_payloads(one * 9, limit=1_000_000)) == 9
    with pytest.raises(WireError, match="more than"):
        read_payloads(one * 10, limit=1_000_000)


@pytest.mark.parametrize(("magic", "codec"), [(2, 0), (0, Codec.GZIP), (1, Codec.LZ4)])
def test_what_0_7_had_not_cannot_be_built(magic: int, codec: int) -> None:
    with pytest.raises(WireError, match=r"of magic|no codec"):
        build_old_message(b"", magic, codec)


@given(
    form=st.sampled_from(FORMATS),
    cut=st.integers(0, 60),
    put=st.binary(max_size=12),
    skip=st.integers(0, 12),
)
@examples(300)
def test_any_bytes_decode_or_raise_wire_error(
    form: tuple[int, Codec], cut: int, put: bytes, skip: int
) -> None:
    good = build_old_set(PAYLOADS, *form)
    for damaged in (put, good[:cut] + put + good[cut + skip :]):
        try:
            found = read_payloads(damaged, limit=10_000)
        except WireError:
            continue
        assert sum(len(payload) for _, payload in found) <= 10_000 + len(damaged)
