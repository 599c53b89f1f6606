"""Walking from batch to batch through a file: all there is to find them by is their sizes."""

from __future__ import annotations

from collections.abc import Iterator

from ..wire.batch import HEADER_SIZE, MAGIC, OVERHEAD, BatchHeader, read_header
from ..wire.errors import WireError
from ..wire.primitives import Buffer
from .directory import File

PEEK = 8 << 10
"""Bytes to read at once for one or two batches."""
_WALK = 64 << 10


def walk(
    file: File, position: int, end: int, chunk_bytes: int = _WALK, *, whole: bool = False
) -> Iterator[tuple[int, BatchHeader, Buffer, int]]:
    """Yield (position, header, buffer, index into the buffer) of each batch in [position, end).

    The buffer has the header, and with `whole` the whole batch. Raises WireError where the bytes
    are no batch of magic 2 that ends by `end`, and OSError.
    """
    while position < end:
        chunk = file.read(position, min(chunk_bytes, end - position))
        at = 0
        while len(chunk) - at >= HEADER_SIZE:
            header = read_header(chunk, at)
            size = header.batch_length + OVERHEAD
            if header.magic != MAGIC or size < HEADER_SIZE:
                raise WireError(f"no batch at byte {position + at}")
            if position + at + size > end:
                raise WireError(f"the batch at byte {position + at} is cut short")
            if whole and at + size > len(chunk):
                if at:
                    break
                chunk = file.read(position, size)
            yield position + at, header, chunk, at
            at += size
        if at == 0:
            raise WireError(f"the batch at byte {position} is cut short")
        position += at
