"""Requests of Kafka 0.7: their bytes, and any bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.wire.errors import WireError
from odradek.wire.legacy.requests_0_7 import (
    LATEST,
    Kind,
    OldError,
    OldFetch,
    OldOffsets,
    OldProduce,
    OldRequest,
    decode_request,
    encode_answer,
    encode_request,
    multi_fetch_body,
    offsets_body,
)

_TOPICS = st.text(max_size=20).filter(lambda text: text.encode("utf-8", "replace").decode() == text)
_PARTITIONS = st.integers(-1, 1 << 20)
_PRODUCES = st.builds(OldProduce, _TOPICS, _PARTITIONS, st.binary(max_size=50))
_FETCHES = st.builds(OldFetch, _TOPICS, _PARTITIONS, st.integers(0, 1 << 60), st.integers(0, 99))
_OFFSETS = st.builds(OldOffsets, _TOPICS, _PARTITIONS, st.integers(-2, 1 << 50), st.integers(0, 99))
_REQUESTS = st.one_of(
    st.tuples(st.just(Kind.PRODUCE), st.lists(_PRODUCES, min_size=1, max_size=1)),
    st.tuples(st.just(Kind.FETCH), st.lists(_FETCHES, min_size=1, max_size=1)),
    st.tuples(st.just(Kind.MULTI_PRODUCE), st.lists(_PRODUCES, max_size=4)),
    st.tuples(st.just(Kind.MULTI_FETCH), st.lists(_FETCHES, max_size=4)),
    st.tuples(st.just(Kind.OFFSETS), _OFFSETS),
)


def test_the_bytes_of_requests() -> None:
    """As `brod` and `samsa` pack them."""
    fetch = encode_request(Kind.FETCH, [OldFetch("ab", 1, 2, 3)])
    assert fetch.hex(" ", 1) == (
        "00 00 00 16 00 01 00 02 61 62 00 00 00 01 00 00 00 00 00 00 00 02 00 00 00 03"
    )
    produce = encode_request(Kind.MULTI_PRODUCE, [OldProduce("a", 0, b"xyz")])
    assert produce.hex(" ", 1) == (
        "00 00 00 12 00 03 00 01 00 01 61 00 00 00 00 00 00 00 03 78 79 7a"
    )
    offsets = encode_request(Kind.OFFSETS, OldOffsets("a", 0, LATEST, 1))
    assert offsets.hex(" ", 1) == (
        "00 00 00 15 00 04 00 01 61 00 00 00 00 ff ff ff ff ff ff ff ff 00 00 00 01"
    )


def test_the_bytes_of_answers() -> None:
    assert encode_answer(OldError.NONE, b"xy") == b"\0\0\0\4\0\0xy"
    assert encode_answer(OldError.OFFSET_OUT_OF_RANGE) == b"\0\0\0\2\0\1"
    both = multi_fetch_body([(OldError.NONE, b"x"), (OldError.WRONG_PARTITION, b"")])
    assert both == b"\0\0\0\3\0\0x\0\0\0\2\0\3"
    assert offsets_body([5, 0]) == b"\0\0\0\2" + bytes(7) + b"\5" + bytes(8)


@given(_REQUESTS)
def test_what_is_encoded_is_decoded(request: tuple[Kind, OldRequest]) -> None:
    kind, asked = request
    frame = encode_request(kind, asked)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert decode_request(frame[4:]) == (kind, asked)


@given(st.binary(max_size=60))
def test_any_bytes_decode_or_raise_wire_error(frame: bytes) -> None:
    try:
        decode_request(frame)
    except WireError:
        return


@pytest.mark.parametrize(
    "frame", [b"", b"\0", b"\0\5", b"\0\1\xff\xff", b"\0\0\0\1a\0\0\0\0\xff\xff\xff\xff"]
)
def test_what_is_no_request_is_refused(frame: bytes) -> None:
    with pytest.raises(WireError):
        decode_request(frame)
