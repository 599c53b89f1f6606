"""Frames are cut out of a stream of bytes, however it arrives."""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.wire import WireError
from odradek.wire.frames import SIZE, Frames, Part, frame, pieces

from tests.support.processes import memory


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
    ("head", "seems"),
    [
        (b"\x16\x03\x01\x02", "allowed: it begins as TLS does, which is not spoken here"),
        (b"GET ", "allowed: it begins as HTTP does"),
        (b"\x7f\0\0\0", "at most 100 are allowed$"),
    ],
)
def test_what_is_no_frame_is_named_if_it_is_known(head: bytes, seems: str) -> None:
    with pytest.raises(WireError, match=seems):
        Frames(100).feed(head)


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
    many = [Frames() for _ in range(100)]
    before = memory(os.getpid()).resident
    for frames in many:
        assert frames.feed((100 * 1024 * 1024).to_bytes(4, "big") + b"x") == []
        assert len(frames.buffer()) > 0
    assert memory(os.getpid()).resident - before < 5 << 20
    assert {frames.large_bytes for frames in many} == {1}


@pytest.mark.parametrize("size", [1 << 20, 5 << 20])
def test_a_large_frame_takes_about_what_has_arrived_of_it(size: int) -> None:
    frames = Frames()
    for arrived in range(0, size, 50_000):
        assert frames.large_bytes <= max(128 * 1024, 2 * arrived)
        frames.feed(framed(bytes(size))[arrived : arrived + 50_000])


def test_a_peer_that_has_sent_a_large_frame_gets_room_for_the_next_at_once() -> None:
    frames = Frames()
    large = framed(bytes(1_000_000))
    assert len(frames.feed(large)) == 1
    frames.feed(large[:100_000])
    assert len(frames.buffer()) == len(large) - 100_000
    assert frames.large_bytes == 1_000_000


def received(frames: Frames, data: bytes) -> int:
    """Receive until there is no more room: how much that was."""
    done = 0
    while done < len(data) and not frames.is_full:
        room = frames.buffer()
        count = min(len(room), len(data) - done)
        room[:count] = data[done : done + count]
        frames.received(count)
        done += count
    return done


def test_what_waits_takes_one_small_buffer_and_nothing_is_lost() -> None:
    frames, data = Frames(), framed(b"") * 50_000
    done = received(frames, data)
    assert done == 64 * 1024
    found = 0
    while True:
        while frames.take() is not None:
            found += 1
        if done == len(data):
            break
        done += received(frames, data[done:])
    assert found == 50_000
    assert frames.held == 0


def test_a_large_frame_waits_alone() -> None:
    frames, large = Frames(), framed(bytes(2_000_000))
    assert received(frames, large + framed(b"x")) == len(large)
    assert frames.take() == bytes(2_000_000)
    assert frames.feed(framed(b"x")) == [b"x"]


def test_the_buffer_to_receive_into_is_never_empty() -> None:
    frames = Frames()
    for _ in range(5000):
        assert len(frames.buffer()) > 0
        assert frames.feed(framed(b"x" * 100)[:60]) == []
        assert frames.feed(framed(b"x" * 100)[60:]) == [b"x" * 100]


def test_a_short_response_is_joined() -> None:
    assert frame([b"ab", b"c"]) == [framed(b"abc")]
    assert frame([]) == [framed(b"")]


def test_small_parts_of_a_response_are_joined_and_large_ones_are_not_copied() -> None:
    large = memoryview(bytes(70_000))
    found = list(pieces(frame([b"ab", b"c", large, b"d"]), lambda: 1 << 20))
    assert found[0] == (70_004).to_bytes(4, "big") + b"abc"
    assert found[1] is large
    assert found[2] == b"d"
    assert b"".join(pieces(frame([large]), lambda: 1 << 20)) == framed(bytes(large))


def test_no_piece_is_longer_than_is_asked_for() -> None:
    large = random.Random(1).randbytes(1_000_000)
    most = iter([1000, 200_000, 300_000, 400_000, 500_000])
    found = list(pieces(frame([large]), lambda: next(most)))
    assert [len(piece) for piece in found] == [4, 1000, 200_000, 300_000, 400_000, 99_000]
    assert b"".join(found) == framed(large)


def test_a_part_that_is_repeated_is_not_joined_as_a_whole() -> None:
    parts: list[Part] = [bytes(5_000)] * 20_000
    before = memory(os.getpid()).resident
    longest = total = 0
    for piece in pieces(frame(parts), lambda: 1 << 20):
        longest = max(longest, len(piece))
        total += len(piece)
    assert total == 4 + 100_000_000
    assert longest <= 64 * 1024
    assert memory(os.getpid()).resident - before < 10 << 20


class Counting:
    """Stored bytes, each of which is its position."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    def read(self, position: int, most: int) -> bytes:
        return bytes(each % 251 for each in range(position, position + min(most, 1000)))


def test_stored_parts_are_read_when_they_come_up() -> None:
    parts = frame([b"ab", Counting(100_000), b"c"])
    rest = bytes(each % 251 for each in range(100_000))
    assert b"".join(pieces(parts, lambda: 300)) == framed(b"ab" + rest + b"c")


def test_a_response_that_no_size_can_tell_is_refused() -> None:
    with pytest.raises(WireError, match="at most 2147483647"):
        frame([bytes(1 << 20)] * 2048)


def test_whole_frames_that_wait_are_counted() -> None:
    frames = Frames()
    for data, count in [(b"\0\0", 0), (b"\0\3abc\0", 1), (b"\0\0\0", 2), (b"\0\0\0\2x", 2)]:
        frames.buffer()[: len(data)] = data
        frames.received(len(data))
        assert frames.count() == count
    assert frames.take() == b"abc"
    assert frames.count() == 1


def test_a_large_frame_counts_once_it_is_whole() -> None:
    frames, size = Frames(), 100_000
    left = memoryview(SIZE.pack(size) + bytes(size))
    while left:
        assert frames.count() == 0
        room = frames.buffer()
        count = min(len(room), len(left))
        room[:count] = left[:count]
        frames.received(count)
        left = left[count:]
    assert frames.count() == 1
