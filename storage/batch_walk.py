"""Walking from batch to batch through a file: all there is to find them by is their sizes.

Messages of magic 0 and 1, in segments that old brokers wrote, count as batches; they are looked for
only where no batch of magic 2 is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from ..wire.batch import HEADER_SIZE, MAGIC, OVERHEAD, BatchHeader, read_header
from ..wire.errors import WireError
from ..wire.legacy.as_batches import entry_size, old_header
from ..wire.primitives import Buffer

PEEK = 8 << 10
"""Bytes to read at once for one or two batches."""
_WALK = 64 << 10
_CUT = "the batch at byte {} is cut short"


class Readable(Protocol):
    """A file, as far as walking goes."""

    def read(self, position: int, size: int) -> Buffer:
        """`size` bytes from `position` on."""
        ...


def walk(
    file: Readable, position: int, end: int, chunk_bytes: int = _WALK, *, whole: bool = False
) -> Iterator[tuple[int, BatchHeader, Buffer, int]]:
    """Yield (position, header, buffer, index into the buffer) of each batch in [position, end).

    The buffer has the header, and with `whole` the whole batch. Raises WireError where the bytes
    are no batch that ends by `end`, and OSError.
    """
    while position < end:
        chunk = file.read(position, min(chunk_bytes, end - position))
        at = 0
        while len(chunk) - at >= HEADER_SIZE:
            header = read_header(chunk, at)
            size = header.batch_length + OVERHEAD
            if header.magic != MAGIC or size < HEADER_SIZE:
                break
            if position + at + size > end:
                raise WireError(_CUT.format(position + at))
            if whole and at + size > len(chunk):
                if at:
                    break
                chunk = file.read(position, size)
            yield position + at, header, chunk, at
            at += size
        if at == 0:
            for found in _old_messages(file, position, end, chunk):
                yield found
                at = found[3] + found[1].size
        position += at


def _old_messages(
    file: Readable, position: int, end: int, chunk: Buffer
) -> Iterator[tuple[int, BatchHeader, Buffer, int]]:
    """The messages of magic 0 and 1 at the beginning of `chunk`: at least one, or WireError."""
    at = 0
    while True:
        try:
            size = entry_size(chunk, at)
        except WireError:
            if at:  # perhaps a batch of magic 2, or one that this chunk cuts
                return
            what = "no batch at byte {}" if len(chunk) >= HEADER_SIZE else _CUT
            raise WireError(what.format(position)) from None
        if position + at + size > end:
            raise WireError(_CUT.format(position + at))
        if at + size > len(chunk):
            if at:
                return
            chunk = file.read(position, size)
        yield position + at, old_header(chunk, at), chunk, at
        at += size


def header_at(file: Readable, position: int, end: int) -> BatchHeader | None:
    """The header of the batch at `position`; None if none is there that ends by `end`.

    Raises OSError.
    """
    try:
        return next((found[1] for found in walk(file, position, end, HEADER_SIZE)), None)
    except WireError:
        return None
