"""Pipe: one direction of a connection, whose bytes take their time.

Bytes keep their order. What comes is cut into pieces, each of which is due at a time; the faults
that there are when a piece comes decide that time, later ones only whether it is held.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ...base.real_time import monotonic
from .fault import Fault


class _Piece(NamedTuple):
    due: float
    data: bytes


class Pipe:
    """`deliver` is given bytes, and returns what it does not take now; `went` is called when some
    have gone."""

    def __init__(
        self,
        stream: str,
        loop: asyncio.AbstractEventLoop,
        deliver: Callable[[bytes], bytes],
        went: Callable[[], None],
    ) -> None:
        self.stream = stream
        self.size = 0
        """How many bytes it holds."""
        self._loop = loop
        self._deliver = deliver
        self._went = went
        self._pieces: deque[_Piece] = deque()
        self._last_due = 0.0
        self._free_at: dict[Fault, float] = {}
        self.is_held = False
        self.is_blocked = False
        self._is_delivering = False
        self._alarm: asyncio.TimerHandle | None = None

    def put(self, data: bytes, faults: Sequence[Fault]) -> None:
        """Bytes have come, and meet these faults."""
        for piece in _pieces(data, faults):
            self._last_due = max(self._last_due, self._due(piece, faults))
            self._pieces.append(_Piece(self._last_due, piece))
            self.size += len(piece)
        self.go_on()

    def _due(self, piece: bytes, faults: Sequence[Fault]) -> float:
        due = now = monotonic()
        for fault in faults:
            effect = fault.effect
            if effect.latency_s or effect.jitter_s:
                jitter = fault.random.uniform(-effect.jitter_s, effect.jitter_s)
                due += max(0.0, effect.latency_s + jitter)
            takes = effect.piece_s
            if effect.bytes_per_s:
                takes += len(piece) / effect.bytes_per_s
            if takes:
                free = max(due, self._free_at.get(fault, now)) + takes
                self._free_at[fault] = due = free
        return due

    def hold(self, is_held: bool) -> None:
        """Deliver nothing; or go on."""
        self.is_held = is_held
        self.go_on()

    def block(self, is_blocked: bool) -> None:
        """Whoever it delivers to takes nothing now; or takes some again."""
        self.is_blocked = is_blocked
        self.go_on()

    def hurry(self) -> None:
        """The faults are gone: what is on its way is due now."""
        self._pieces = deque(_Piece(0.0, piece.data) for piece in self._pieces)
        self._last_due = 0.0
        self._free_at.clear()
        self.go_on()

    def go_on(self) -> None:
        """Deliver what is due, and come back for the rest."""
        if self._is_delivering:
            return
        self._is_delivering = True
        try:
            while self._pieces and not self.is_held and not self.is_blocked:
                piece = self._pieces[0]
                if piece.due > monotonic():
                    break
                self._pieces.popleft()
                rest = self._deliver(piece.data)
                self.size -= len(piece.data) - len(rest)
                if rest:
                    self._pieces.appendleft(_Piece(0.0, rest))
                    if not self.is_blocked:
                        break
        finally:
            self._is_delivering = False
        self._set_alarm()
        self._went()

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if self._pieces and not self.is_held and not self.is_blocked:
            wait = max(0.0, self._pieces[0].due - monotonic())
            self._alarm = self._loop.call_later(wait, self.go_on)

    def close(self) -> None:
        """Drop what is on its way."""
        self._pieces.clear()
        self.size = 0
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None


def _pieces(data: bytes, faults: Sequence[Fault]) -> Iterator[bytes]:
    sizes = [fault.effect.piece_bytes for fault in faults if fault.effect.piece_bytes]
    if any(fault.effect.bytes_per_s for fault in faults):
        sizes.append(_SHARE_BYTES)
    size = min(sizes, default=len(data)) or 1
    for at in range(0, len(data), size):
        yield data[at : at + size]


_SHARE_BYTES = 4096  # so that a narrow line lets something through all the time
