"""When the bytes of one direction are due."""

from __future__ import annotations

from typing import Any

from odradek.emulator.net.network.fault import DOWN, STREAMS, Effect, Fault
from odradek.emulator.net.network.link import Pipe


class Loop:
    """Notes how long it is asked to wait."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def call_later(self, seconds: float, _: object) -> Any:
        self.waits.append(seconds)
        return self

    def cancel(self) -> None:
        """As a handle of itself."""


def waits(*faults: Fault, sizes: tuple[int, ...] = (1, 1, 1, 1)) -> list[float]:
    """How long each of several packets waits that come at once, with a pipe of its own."""
    found = []
    for size in sizes:
        loop = Loop()
        pipe = Pipe(DOWN, loop, lambda data: b"", lambda: None)  # type: ignore[arg-type]
        pipe.put(bytes(size), faults)
        found += loop.waits or [0.0]
    return found


def fault(seed: int = 0, **effect: Any) -> Fault:
    return Fault("f", Effect(STREAMS[DOWN], **effect), seed=seed)


def close_to(found: list[float], expected: list[float]) -> bool:
    return all(abs(one - two) < 0.05 for one, two in zip(found, expected, strict=True))


def test_a_seed_decides_the_jitter() -> None:
    first, again, other = (
        waits(fault(seed, latency_s=5, jitter_s=4, piece_s=0)) for seed in (1, 1, 2)
    )
    assert close_to(first, again)
    assert not close_to(first, other)
    assert all(0.9 < each < 9 for each in first)


def test_a_wait_is_never_below_0() -> None:
    assert min(waits(fault(latency_s=1, jitter_s=10), sizes=(1,) * 20)) < 0.1


def test_bandwidth_by_size() -> None:
    assert close_to(waits(fault(bytes_per_s=10), sizes=(10, 25)), [1.0, 2.5])


def test_bytes_share_one_line() -> None:
    line, loop = fault(bytes_per_s=10), Loop()
    pipe = Pipe(DOWN, loop, lambda data: b"", lambda: None)  # type: ignore[arg-type]
    for _ in range(3):
        pipe.put(bytes(10), [line])
    assert close_to([piece.due - pipe._pieces[0].due for piece in pipe._pieces], [0, 1, 2])


def test_what_is_not_taken_stays_first() -> None:
    taken = bytearray()

    def take(data: bytes) -> bytes:
        taken.extend(data[:3])
        pipe.block(True)
        return data[3:]

    pipe = Pipe(DOWN, Loop(), take, lambda: None)  # type: ignore[arg-type]
    pipe.put(b"abcdef", [])
    pipe.put(b"gh", [])
    assert (bytes(taken), pipe.size) == (b"abc", 5)
    pipe.block(False)
    pipe.block(False)
    assert (bytes(taken), pipe.size) == (b"abcdefgh", 0)
