"""Frames are cut out of a stream of bytes, however it arrives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.wire import WireError
from odradek.wire.frames import Frames, frame


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


@given(st.lists(st.binary(max_size=300), max_size=20), st.integers(1, 97))
def test_frames_arrive_whole_whatever_the_size_of_the_pieces(
    bodies: list[bytes], step: int
) -> None:
    stream = b"".join(map(framed, bodies))
    frames = Frames()
    found = [f for i in range(0, len(stream), step) for f in frames.feed(stream[i : i + step])]
    assert found == bodies


@pytest.mark.parametrize(
    "size", [0, 1, 4091, 4092, 4093, 4096, 65531, 65532, 65533, 65536, 3_000_000, 9_000_000]
)
def test_a_frame_of_any_size_is_followed_by_the_next_one(size: int) -> None:
    body = bytes(i % 251 for i in range(1000)) * (size // 1000 + 1)
    body = body[:size]
    stream = framed(b"before") + framed(body) + framed(b"behind")
    frames = Frames()
    found = [f for i in range(0, len(stream), 50_000) for f in frames.feed(stream[i : i + 50_000])]
    assert found == [b"before", body, b"behind"]


@pytest.mark.parametrize("size", [-1, -(2**31), 101])
def test_a_size_that_no_frame_can_have_is_refused(size: int) -> None:
    frames = Frames(max_bytes=100)
    with pytest.raises(WireError, match="bytes"):
        frames.feed(size.to_bytes(4, "big", signed=True))


def test_a_frame_of_exactly_the_limit_is_allowed() -> None:
    assert Frames(max_bytes=100).feed(framed(bytes(100))) == [bytes(100)]


def test_a_connection_takes_room_only_when_it_sends_more() -> None:
    frames = Frames()
    for _ in range(1000):
        assert frames.feed(framed(b"heartbeat")) == [b"heartbeat"]
    assert len(frames.buffer()) <= 4096
    bodies = [bytes(1000)] * 9
    assert frames.feed(b"".join(map(framed, bodies))) == bodies
    assert len(frames.buffer()) > 50_000


def test_a_huge_size_costs_nothing_until_its_bytes_arrive() -> None:
    frames = Frames()
    assert frames.feed((100 * 1024 * 1024).to_bytes(4, "big") + b"x") == []
    assert len(frames.buffer()) <= 128 * 1024


def test_a_peer_that_has_sent_a_large_frame_gets_room_for_the_next_at_once() -> None:
    frames = Frames()
    large = framed(bytes(1_000_000))
    assert len(frames.feed(large)) == 1
    frames.feed(large[:100_000])
    assert len(frames.buffer()) == 900_004


def test_the_buffer_to_receive_into_is_never_empty() -> None:
    frames = Frames()
    for _ in range(5000):
        assert len(frames.buffer()) > 0
        assert frames.feed(framed(b"x" * 100)[:60]) == []
        assert frames.feed(framed(b"x" * 100)[60:]) == [b"x" * 100]


def test_a_response_joins_small_pieces_and_passes_large_ones_uncopied() -> None:
    large = memoryview(bytes(20_000))
    buffers = frame([b"ab", b"c", large, b"d"])
    assert buffers[0] == (20_004).to_bytes(4, "big") + b"abc"
    assert buffers[1] is large
    assert buffers[2] == b"d"
    assert frame([b"ab", b"c"]) == [framed(b"abc")]
    assert b"".join(frame([large])) == framed(bytes(large))
