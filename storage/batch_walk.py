"""Walking through a file from batch to batch: only their sizes tell where the next one begins.

Messages of magic 0 and 1, in segments that old brokers wrote, count as batches; they are looked for
only where there is no batch of magic 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from ..wire.batch import HEADER_SIZE, MAGIC, OVERHEAD, BatchHeader, read_header
from ..wire.errors import WireError
from ..wire.legacy.as_batches import entry_size, old_header
from ..wire.primitives import Buffer

SMALL_READ_BYTES = 8 << 10
"""How many bytes to read at once to look at one or two batches."""
_READ_BYTES = 64 << 10
CUT_SHORT = "the batch at byte {} is cut short"
"""The problem where a file ends in the middle of a batch, as one does that is being written."""


class ReadableFile(Protocol):
    """A file as far as this module reads it."""

    def read(self, position: int, size: int) -> Buffer:
        """Exactly `size` bytes from `position` on. Raises OSError."""
        ...


def walk_batches(
    file: ReadableFile,
    position: int,
    end: int,
    chunk_bytes: int = _READ_BYTES,
    *,
    whole: bool = False,
) -> Iterator[tuple[int, BatchHeader, Buffer, int]]:
    """Yield (position, header, buffer, index into the buffer) of each batch in [position, end).

    The buffer holds the header, and with `whole` the whole batch. Raises WireError for bytes that
    are no batch ending by `end`, and OSError.
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
                raise WireError(CUT_SHORT.format(position + at))
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
    file: ReadableFile, position: int, end: int, chunk: Buffer
) -> Iterator[tuple[int, BatchHeader, Buffer, int]]:
    """The messages of magic 0 and 1 at the beginning of `chunk`: at least one, or WireError."""
    at = 0
    while True:
        try:
            size = entry_size(chunk, at)
        except WireError:
            if at:  # perhaps a batch of magic 2, or one that this chunk holds in part
                return
            what = "no batch at byte {}" if len(chunk) >= HEADER_SIZE else CUT_SHORT
            raise WireError(what.format(position)) from None
        if position + at + size > end:
            raise WireError(CUT_SHORT.format(position + at))
        if at + size > len(chunk):
            if at:
                return
            chunk = file.read(position, size)
        yield position + at, old_header(chunk, at), chunk, at
        at += size


def header_at(file: ReadableFile, position: int, end: int) -> BatchHeader | None:
    """The header of the batch at `position`; None if there is no batch that ends by `end`.

    Raises OSError.
    """
    try:
        return next((found[1] for found in walk_batches(file, position, end, HEADER_SIZE)), None)
    except WireError:
        return None
