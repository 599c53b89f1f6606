"""Runs: consecutive whole batches in one buffer, and the headers of all of them as numpy arrays.

A file is read in windows, each into the bytes of the one before, so a run is over once the next one
is asked for. Nothing is mapped: a broker may truncate a file that is being read. Only the sizes in
the headers tell where batches begin; that they ascend, and their checksums, are the decoder's.

Messages of magic 0 and 1 are batches as in wire/legacy/as_batches.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from struct import Struct
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from ....wire.batch import HEADER_SIZE, MAGIC, OVERHEAD, BatchHeader
from ....wire.compression import LIMIT
from ....wire.errors import WireError
from ....wire.legacy.as_batches import MAGIC_END, entry_size, old_header

Heads = npt.NDArray[Any]
"""A structured array of type HEAD."""

_ON_DISK: Final = np.dtype(
    [
        ("base_offset", ">i8"),
        ("batch_length", ">i4"),
        ("leader_epoch", ">i4"),
        ("magic", "i1"),
        ("crc", ">u4"),
        ("attributes", ">i2"),
        ("last_offset_delta", ">i4"),
        ("base_timestamp", ">i8"),
        ("max_timestamp", ">i8"),
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("base_sequence", ">i4"),
        ("count", ">i4"),
    ]
)
HEAD: Final = np.dtype(
    [
        ("position", np.int64),
        *((name, _ON_DISK[name].newbyteorder("=")) for name in _ON_DISK.names or ()),
    ]
)
"""The fields of wire.batch.BatchHeader, and the byte at which the batch begins."""

_SIZE_AND_MAGIC = Struct(">8xi4xb")
_OFFSET = Struct(">q")
_WINDOW = 4 << 20
_HEADS_WINDOW = 64 << 10
_FIELDS: Final = np.arange(HEADER_SIZE)


def last_offsets(heads: Heads) -> npt.NDArray[np.int64]:
    last: npt.NDArray[np.int64] = heads["base_offset"] + heads["last_offset_delta"]
    return last


def header_of(heads: Heads, index: int) -> BatchHeader:
    return BatchHeader(*heads[index].tolist()[1:])


class Source(Protocol):
    size: int

    def read(self, position: int, size: int) -> memoryview:
        """These bytes, or fewer if there are no more; until the next read."""
        ...


class FileSource:
    """The first `size` bytes of a file."""

    def __init__(self, path: str, size: int) -> None:
        self.size = size
        self._buffer = bytearray()
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115  # closed by `with` on this

    def __enter__(self) -> FileSource:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, position: int, size: int) -> memoryview:
        """These bytes; fewer where the file has become shorter. Raises OSError."""
        size = max(0, min(size, self.size - position))
        if len(self._buffer) < size:
            self._buffer = bytearray(size)
        view = memoryview(self._buffer)[:size]
        self._file.seek(position)
        got = 0
        while got < size and (count := self._file.readinto(view[got:])):
            got += count
        return view[:got]


class BytesSource:
    def __init__(self, buffer: bytes | bytearray | memoryview) -> None:
        self._view = memoryview(buffer).cast("B")
        self.size = len(self._view)

    def read(self, position: int, size: int) -> memoryview:
        """These bytes, not copied."""
        return self._view[position : position + size]


@dataclass
class Problem:
    """The problem of the batch at `position`."""

    position: int
    what: str
    is_torn: bool = False
    """Whether the bytes merely end too early."""


@dataclass
class Run:
    """Batches that follow one another: `heads`, whose bytes are in `buffer`, which begins at byte
    `position`; and the problem that the bytes after them have, if it is known."""

    position: int
    buffer: memoryview
    heads: Heads
    problem: Problem | None = None
    ats: list[int] = field(default_factory=list)
    """Where each batch begins in the buffer."""
    follower: int | None = None
    """The base offset of the batch after them, if its beginning is in the buffer."""


def runs(
    source: Source, start: int = 0, *, limit: int = LIMIT, heads_only: bool = False
) -> Iterator[Run]:
    """Yield the runs from the batch at `start` on; after a problem there is none.

    `heads_only`: of each batch only the header is sure to be in the buffer. A batch of more than
    `limit` bytes is a problem. Raises OSError.
    """
    position = start
    window = _HEADS_WINDOW if heads_only else _WINDOW
    while position < source.size:
        buffer = source.read(position, window)
        run, after = _run_in(buffer, position, source.size, heads_only)
        if run is None:
            whole = _whole_batch(buffer, position, source.size, limit)
            if isinstance(whole, Problem):
                yield Run(position, buffer, _gathered(buffer, [], position), whole)
                return
            if whole <= len(buffer):
                run, after = _run_of_old(buffer, position, source.size, limit)
            else:
                buffer = source.read(position, whole)
                run, after = _run_in(buffer, position, source.size, heads_only)
                if run is None:
                    run, after = _run_of_old(buffer, position, source.size, limit)
        yield run
        if run.problem is not None:
            return
        position = after


def _run_in(
    buffer: memoryview, position: int, size: int, heads_only: bool
) -> tuple[Run, int] | tuple[None, int]:
    """The batches of magic 2 at the beginning of the buffer, and the position after them."""
    unpack = _SIZE_AND_MAGIC.unpack_from
    ats = []
    at = 0
    whole, left = len(buffer), size - position
    while whole - at >= HEADER_SIZE:
        length, magic = unpack(buffer, at)
        after = at + OVERHEAD + length
        if magic != MAGIC or after < at + HEADER_SIZE or after > (left if heads_only else whole):
            break
        ats.append(at)
        at = after
    if not ats:
        return None, position
    follower = None
    if whole - at >= MAGIC_END and 0 <= buffer[at + MAGIC_END - 1] <= MAGIC:
        (follower,) = _OFFSET.unpack_from(buffer, at)
    heads = _gathered(buffer, ats, position)
    return Run(position, buffer, heads, ats=ats, follower=follower), position + at


def _gathered(buffer: memoryview, ats: list[int], position: int) -> Heads:
    heads = np.empty(len(ats), HEAD)
    if ats:
        index = np.array(ats)
        raw = np.frombuffer(buffer, np.uint8)[index[:, None] + _FIELDS].view(_ON_DISK)[:, 0]
        for name in _ON_DISK.names or ():
            heads[name] = raw[name]
        heads["position"] = index + position
    return heads


def _whole_batch(buffer: memoryview, position: int, size: int, limit: int) -> int | Problem:
    """The size of the batch at the beginning of the buffer, of any magic, or what is wrong."""
    left = size - position
    if len(buffer) < min(left, MAGIC_END) or left < MAGIC_END:
        return Problem(position, "the batch is cut short", is_torn=True)
    length, magic = _SIZE_AND_MAGIC.unpack_from(buffer)
    whole: int = OVERHEAD + length
    if magic != MAGIC or whole < HEADER_SIZE:
        try:
            whole = entry_size(buffer)
        except WireError:
            # A file that was made longer than it was written to ends in zeros.
            zeros = len(buffer) == left and not bytes(buffer).strip(b"\0")
            return Problem(position, "no batch begins here", is_torn=zeros)
    if whole > left:
        return Problem(position, f"the batch of {whole} bytes is cut short", is_torn=True)
    if whole > limit:
        return Problem(position, f"the batch has {whole} bytes, which is above the limit")
    return whole


def _run_of_old(buffer: memoryview, position: int, size: int, limit: int) -> tuple[Run, int]:
    """The messages of magic 0 and 1 at the beginning of the buffer: at least one, or a problem."""
    rows, ats = [], []
    at, problem = 0, None
    while at < len(buffer):
        whole = _whole_batch(buffer[at:], position + at, size, limit)
        if isinstance(whole, Problem) or buffer[at + MAGIC_END - 1] == MAGIC:
            break
        if whole > len(buffer) - at:
            break
        try:
            rows.append((position + at, *old_header(buffer, at, limit)))
        except WireError as error:
            problem = Problem(position + at, str(error))
            break
        ats.append(at)
        at += whole
    if not ats and problem is None:
        problem = Problem(position, "the file became shorter", is_torn=True)
    return Run(position, buffer, np.array(rows, HEAD), problem, ats), position + at
