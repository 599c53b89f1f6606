"""Frames: an int32 size and that many bytes. Bytes in, frames out; no socket here.

The owner of a socket receives directly into `buffer()` and then calls `received(n)`. Small frames
are collected in one buffer and copied out, which takes microseconds. That buffer begins small,
since most of ten thousand connections only ever send heartbeats. A frame that does not fit there
gets a buffer of its own, and the rest of it is received into its final place. That buffer is as
large as the largest frame the connection has sent so far; beyond that it grows with what arrives,
so a huge size in the first four bytes costs next to nothing.

A size that is negative or above the limit is fatal to the connection (semantics: SocketServer's
`socket.request.max.bytes`). Source: the protocol guide, "Network".
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

from .errors import WireError
from .primitives import Buffer

SIZE = Struct(">i")

_FIRST = 4 * 1024
_SMALL = 64 * 1024
_UNPROVEN = 2 * _SMALL
# Pieces of a response up to this long are joined before they are sent; longer ones are not copied.
_JOIN = 16 * 1024


class Frames:
    """The receiving half of one connection."""

    def __init__(self, max_bytes: int = 104857600) -> None:
        self._max_bytes = max_bytes
        self._small = bytearray(_FIRST)
        self._view = memoryview(self._small)
        self._start = 0
        self._end = 0
        self._large: bytearray | None = None
        self._filled = 0
        self._size = 0
        # The longest frame that has arrived: buffers of up to this size are allocated at once.
        self._proven = _UNPROVEN

    def close(self) -> None:
        """Free all memory; nothing more will be received."""
        self._large = None
        self._small = bytearray()
        self._view = memoryview(self._small)

    def buffer(self) -> memoryview:
        """Where to receive the next bytes; never empty."""
        if self._large is None:
            return self._view[self._end :]
        if self._filled == len(self._large):
            grown = bytearray(min(self._size, 2 * self._filled))
            grown[: self._filled] = self._large
            self._large = grown
        return memoryview(self._large)[self._filled :]

    def received(self, count: int) -> list[bytearray]:
        """`count` bytes were received; return the frames that are now complete, without sizes.

        Raises WireError for a size that no frame can have; then the connection must be closed.
        """
        if self._large is not None:
            self._filled += count
            if self._filled < self._size:
                return []
            frame, self._large = self._large, None
            self._proven = max(self._proven, self._size)
            return [frame]
        self._end += count
        return self._take_small()

    def feed(self, data: Buffer) -> list[bytearray]:
        """Receive all of `data`, for owners that have the bytes already."""
        frames, rest = [], memoryview(data)
        while rest:
            room = self.buffer()
            count = min(len(room), len(rest))
            room[:count] = rest[:count]
            del room
            frames += self.received(count)
            rest = rest[count:]
        return frames

    def _take_small(self) -> list[bytearray]:
        frames: list[bytearray] = []
        start, end, small = self._start, self._end, self._small
        while end - start >= 4:
            (size,) = SIZE.unpack_from(small, start)
            if size < 0 or size > self._max_bytes:
                raise WireError(f"frame of {size} bytes; at most {self._max_bytes} are allowed")
            if end - start - 4 < size:
                if size + 4 > _SMALL:
                    self._begin_large(size, start + 4)
                    return frames
                break
            start += 4 + size
            frames.append(small[start - size : start])
        if end == len(small) < _SMALL:
            # There may be more frames.
            self._small = bytearray(_SMALL)
            self._view = memoryview(self._small)
            self._view[: end - start] = small[start:end]
            start, end = 0, end - start
        elif start == end:
            start = end = 0
        elif start and end == _SMALL:
            self._view[: end - start] = bytes(self._view[start:end])
            start, end = 0, end - start
        self._start, self._end = start, end
        return frames

    def _begin_large(self, size: int, start: int) -> None:
        self._size, self._filled = size, self._end - start
        self._large = bytearray(min(size, self._proven))
        self._large[: self._filled] = self._view[start : self._end]
        self._start = self._end = 0


def frame(parts: Iterable[Buffer]) -> list[Buffer]:
    """Put the size before a response and join its small pieces; large ones stay uncopied."""
    out: list[Buffer] = []
    run: list[Buffer] = [b""]
    total = 0
    for part in parts:
        length = len(part)
        total += length
        if length > _JOIN:
            out.append(b"".join(run))
            out.append(part)
            run = []
        else:
            run.append(part)
    if not out:
        run[0] = SIZE.pack(total)
        return [b"".join(run)]
    out[0] = SIZE.pack(total) + bytes(out[0])
    if run:
        out.append(b"".join(run))
    return out
