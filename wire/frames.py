"""Frames: an int32 size and that many bytes. Bytes in, frames out; no socket here.

The owner of a socket receives directly into `buffer()`, calls `received(n)`, and takes out whole
frames one by one. What is not taken stays as it was received: a thousand small frames that wait
cost their bytes. Once `is_full`, nothing can be received until a frame was taken.

Small frames are collected in one buffer and copied out, which takes microseconds. That buffer
begins small, since most of ten thousand connections only ever send heartbeats. A frame that does
not fit there gets a buffer of its own, and the rest of it is received into its final place. A huge
size in the first four bytes costs next to nothing: up to a megabyte, that buffer is as large as the
largest frame the connection has sent so far, and beyond that it grows with what arrives; above a
megabyte it is a mapping of no file, whose pages take memory as they are written to.

A size that is negative or above the limit is fatal to the connection (semantics: SocketServer's
`socket.request.max.bytes`). Source: the protocol guide, "Network".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from mmap import MAP_ANON, MAP_PRIVATE, mmap
from struct import Struct
from typing import Protocol, TypeAlias, cast

from .errors import WireError
from .primitives import Buffer

SIZE = Struct(">i")

SMALL = 64 * 1024
"""A frame that is longer, with its size, has a buffer of its own."""
_FIRST = 4 * 1024
_UNPROVEN = 2 * SMALL
_MAPPED_FROM = 1 << 20
_ROOM = 256 * 1024
JOINED = 64 * 1024
"""A response that is longer is not joined."""
_JOIN = 16 * 1024
_SIZE_MAX = 2**31 - 1
_NO_REST = memoryview(b"")
BUFFERS = (bytes, bytearray, memoryview)

Frame: TypeAlias = bytearray | memoryview


class Frames:
    """The receiving half of one connection."""

    __slots__ = (
        "_end",
        "_filled",
        "_large",
        "_max_bytes",
        "_proven",
        "_size",
        "_small",
        "_start",
        "_view",
        "held",
    )

    def __init__(self, max_bytes: int = 104857600) -> None:
        self._max_bytes = max_bytes
        self._small = bytearray(_FIRST)
        self._view = memoryview(self._small)
        self._start = 0
        self._end = 0
        self.held = 0
        """Bytes that were received and not taken."""
        self._large: Frame | None = None
        self._filled = 0
        self._size = 0
        # The longest frame that has arrived: buffers of up to this size are allocated at once.
        self._proven = _UNPROVEN

    def limit(self, max_bytes: int) -> None:
        """Take no longer frames from now on."""
        self._max_bytes = max_bytes

    def close(self) -> None:
        self._large = None
        self._small = bytearray()
        self._view = memoryview(self._small)
        self._start = self._end = self.held = 0

    @property
    def large_bytes(self) -> int:
        """The bytes of a large frame's buffer; at least 1 if one has begun."""
        large = self._large
        if large is None:
            return 1 if self._end and self._is_large() else 0
        return self._filled if isinstance(large, memoryview) else len(large)

    @property
    def is_full(self) -> bool:
        """Whether nothing can be received until a frame was taken."""
        if self._large is not None:
            return self._filled == self._size
        return self._end == SMALL and self._has_whole()

    def buffer(self) -> memoryview:
        """Where to receive the next bytes; not empty unless `is_full`."""
        if self._end:
            self._make_room()
        large = self._large
        if large is None:
            return self._view[self._end :] if self._end else self._view
        filled = self._filled
        if filled == len(large) < self._size:
            grown = bytearray(min(self._size, 2 * filled))
            grown[:filled] = large
            self._large = large = grown
        if isinstance(large, bytearray):  # the memory is taken: one read may fill it
            return memoryview(large)[filled:]
        return large[filled : filled + _ROOM]

    def received(self, count: int) -> None:
        """`count` bytes were received into the buffer."""
        self.held += count
        if self._large is None:
            self._end += count
        else:
            self._filled += count

    def take(self) -> Frame | None:
        """The next whole frame, without its size.

        Raises WireError for a size that no frame can have; then the connection must be closed.
        """
        large = self._large
        if large is not None:
            if self._filled < self._size:
                return None
            self._large = None
            self.held = 0
            self._proven = max(self._proven, min(self._size, _MAPPED_FROM))
            return large
        start, end, small = self._start, self._end, self._small
        if end - start < 4:
            return None
        (size,) = SIZE.unpack_from(small, start)
        if size < 0 or size > self._max_bytes:
            seems = _begins_as(bytes(small[start : start + 4]))
            raise WireError(f"frame of {size} bytes; at most {self._max_bytes} are allowed{seems}")
        start += 4
        stop = start + size
        if stop > end:
            return None
        if stop == end:
            self._start = self._end = self.held = 0
            if end == len(small) < SMALL:
                self._grow()
        else:
            self._start = stop
            self.held = end - stop
        return small[start:stop]

    def put(self, data: Buffer) -> memoryview:
        """Receive as much of `data` as the buffer holds, for owners that have the bytes already.
        Returns the rest."""
        room, count = self.buffer(), len(data)
        rest = _NO_REST
        if count > len(room):
            count = len(room)
            data, rest = memoryview(data)[:count], memoryview(data)[count:]
        room[:count] = data
        self.received(count)
        return rest

    def count(self) -> int:
        """How many whole frames were received and not taken."""
        if self._large is not None:
            return int(self._filled == self._size)
        count, pos = 0, self._start
        while pos + SIZE.size <= self._end:
            pos += SIZE.size + max(0, SIZE.unpack_from(self._small, pos)[0])
            count += pos <= self._end
        return count

    def feed(self, data: Buffer) -> list[Frame]:
        """Receive all of `data`, and take every frame."""
        frames, rest = [], memoryview(data)
        while rest:
            rest = self.put(rest)
            while (frame := self.take()) is not None:
                frames.append(frame)
        return frames

    def _pending_size(self) -> int:
        """The size of the first frame in the small buffer; -1 if it is not known or invalid."""
        if self._end - self._start < 4:
            return -1
        size: int = SIZE.unpack_from(self._small, self._start)[0]
        return size if size <= self._max_bytes else -1

    def _has_whole(self) -> bool:
        return 0 <= self._pending_size() <= self._end - self._start - 4

    def _is_large(self) -> bool:
        return self._pending_size() + 4 > SMALL

    def _make_room(self) -> None:
        """Some bytes wait in the small buffer: move them to where the next ones can follow."""
        if self._is_large():
            self._begin_large(self._pending_size())
        elif self._end == len(self._small) < SMALL:
            self._grow()  # there may be more frames
        elif self._start and self._end == SMALL:
            rest = bytes(self._view[self._start : self._end])
            self._view[: len(rest)] = rest
            self._start, self._end = 0, len(rest)

    def _grow(self) -> None:
        rest = self._small[self._start : self._end]
        self._small = bytearray(SMALL)
        self._view = memoryview(self._small)
        self._view[: len(rest)] = rest
        self._start, self._end = 0, len(rest)

    def _begin_large(self, size: int) -> None:
        start = self._start + 4
        self._size, self._filled = size, self._end - start
        if size > _MAPPED_FROM:
            self._large = memoryview(mmap(-1, size, flags=MAP_PRIVATE | MAP_ANON))
        else:
            self._large = bytearray(min(size, self._proven))
        self._large[: self._filled] = self._view[start : self._end]
        self._start = self._end = 0


class Stored(Protocol):
    """Bytes of a response that stay where they are stored until they are sent; more than 64 KiB."""

    def __len__(self) -> int: ...

    def read(self, position: int, most: int) -> Buffer:
        """Some of them, from `position` on: at least one byte. Raises OSError."""


Part: TypeAlias = Buffer | Stored


def frame(parts: Sequence[Part]) -> list[Part]:
    """Put the size before a response; a short one is joined.

    Raises WireError for a response that no size can tell.
    """
    total = sum(map(len, parts))
    if total > _SIZE_MAX:
        raise WireError(f"an answer of {total} bytes; at most {_SIZE_MAX} fit its size field")
    size = SIZE.pack(total)
    if total > JOINED:
        return [size, *parts]
    return [b"".join([size, *cast("Sequence[Buffer]", parts)])]


def pieces(parts: Iterable[Part], most: Callable[[], int]) -> Iterator[Buffer]:
    """The bytes for the wire, piece by piece: short parts joined, as they come up, and long ones
    in slices of at most so many bytes, uncopied. Raises OSError for what cannot be read."""
    run: list[Buffer] = []
    length = 0
    for part in parts:
        size = len(part)
        if length and (size > _JOIN or length + size > JOINED):
            yield b"".join(run)
            run, length = [], 0
        if isinstance(part, BUFFERS):
            if size <= _JOIN:
                run.append(part)
                length += size
            else:
                yield from _slices(part, most)
        else:
            position = 0
            while position < size:
                found = part.read(position, size - position)
                position += len(found)
                yield from _slices(found, most)
    if length:
        yield b"".join(run)


def _slices(data: Buffer, most: Callable[[], int]) -> Iterator[Buffer]:
    view, position = memoryview(data), 0
    while position < len(view):
        stop = position + most()
        yield view[position:stop] if position or stop < len(view) else data
        position = stop


def _begins_as(head: bytes) -> str:
    """The protocol whose first bytes stand in place of a size."""
    if head[:2] == b"\x16\x03":
        return ": it begins as TLS does, which is not spoken here"
    return ": it begins as HTTP does" if head in (b"GET ", b"POST", b"HEAD", b"PUT ") else ""
