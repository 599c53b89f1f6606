"""Where each part of each record of a batch is: columns are made of it, without an object a record.

`walk` takes the records section of a batch (decompressed) and fills two tables of int64:

    a row a record    key position, key size, value position, value size, timestamp delta,
                      offset delta, position of the headers, number of headers
    a row a header    key position, key size, value position, value size

A size of -1 is null. Positions count from the beginning of the section, plus `base`. What
`records.read_records` refuses is refused here.

It has two implementations, as scan.py has: `walk_python` below, the reference, and one in C
(_scan.c). They agree on every input, but for the rows that they leave behind where they refuse it.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct

from .errors import WireError
from .primitives import Buffer, read_varint, read_varlong

try:
    from ._scan import walk as _walk_c  # type: ignore[import-not-found]
except ImportError:  # not built, or built before there was such a function
    _walk_c = None

RECORD_FIELDS = 8
HEADER_FIELDS = 4
DAMAGED = -1
RECORD_SIZE_MIN = 7
"""Bytes of a record without key, value and headers."""
_RECORD = Struct(f"={RECORD_FIELDS}q")
_HEADER = Struct(f"={HEADER_FIELDS}q")


def walk_python(
    payload: Buffer, count: int, base: int, records: memoryview, headers: memoryview
) -> int:
    """Fill the tables; see `walk`."""
    if count > records.nbytes // _RECORD.size:
        raise ValueError("fewer rows than records")
    buf, rows, header_rows = bytes(payload), _as_bytes(records), _as_bytes(headers)
    room = len(header_rows) // _HEADER.size
    found = pos = 0
    try:
        for index in range(count):
            row, theirs, pos = _record(buf, pos, base)
            _RECORD.pack_into(rows, index * _RECORD.size, *row)
            for header in theirs:
                if found < room:
                    _HEADER.pack_into(header_rows, found * _HEADER.size, *header)
                found += 1
    except WireError:
        return DAMAGED
    return found if pos == len(buf) and count >= 0 else DAMAGED


def _as_bytes(table: memoryview) -> memoryview:
    # A view of several dimensions without rows cannot be cast.
    return table.cast("B") if table.nbytes else memoryview(bytearray())


def _record(
    buf: bytes, pos: int, base: int
) -> tuple[tuple[int, ...], list[tuple[int, int, int, int]], int]:
    """The rows of the record at `pos` and its headers, and where it ends."""
    size, pos = read_varint(buf, pos)
    end = pos + size
    if not pos < end <= len(buf):
        raise WireError(f"record of {size} bytes where {len(buf) - pos} are left")
    timestamp_delta, pos = read_varlong(buf, pos + 1)
    offset_delta, pos = read_varint(buf, pos)
    key, pos = _find(buf, pos, base)
    value, pos = _find(buf, pos, base)
    count, pos = read_varint(buf, pos)
    row = (*key, *value, timestamp_delta, offset_delta, pos + base, count)
    if not 0 <= count <= end - pos:
        raise WireError(f"{count} record headers where {end - pos} bytes are left")
    headers = []
    for _ in range(count):
        name, pos = _find(buf, pos, base)
        content, pos = _find(buf, pos, base)
        if name[1] < 0:
            raise WireError("record header without a key")
        headers.append((*name, *content))
    if pos != end:
        raise WireError(f"record ends at byte {pos}, its length says {end}")
    return row, headers, end


def _find(buf: bytes, pos: int, base: int) -> tuple[tuple[int, int], int]:
    """Position and size of the bytes whose length is at `pos`, and the position after them."""
    size, pos = read_varint(buf, pos)
    end = pos + max(size, 0)
    if end > len(buf):
        raise WireError(f"{size} bytes where {len(buf) - pos} are left")
    return (pos + base, max(size, -1)), end


walk: Callable[[Buffer, int, int, memoryview, memoryview], int] = (
    walk_python if _walk_c is None else _walk_c
)
"""Fill the tables for the `count` records in `payload`; return the number of headers, or DAMAGED.

All buffers are contiguous, and those of the tables writable: `records` has room for `count` rows,
else ValueError is raised; of the headers as many rows are filled as `headers` has room for.
"""
