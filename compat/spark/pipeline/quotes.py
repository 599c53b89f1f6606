"""CSV that ends within a quoted field, as a file does that was cut off.

Arrow takes the end of the file for the end of the field. The last field of the last row tells
whether to suspect that: the file ends with a quote and what is in that field. Only then it is
looked through.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import BinaryIO

import pyarrow as pa

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_READ_BYTES = 2 << 20
_OPENS = re.compile(rb'(?:^|[,\r])"')
_CLOSES = re.compile(rb'[^"]*(?:""[^"]*)*(")?')


def may_be_open(last: pa.RecordBatch | None, file: BinaryIO) -> bool:
    """Whether the file may end within quotes, told by its last rows; None: it has none."""
    if last is None or not last.num_rows:
        return True
    field = last.column(last.num_columns - 1)[-1].as_py() or ""
    raw = b'"' + field.replace('"', '""').encode()
    return _tail(file, len(raw)) == raw


def _tail(file: BinaryIO, size: int) -> bytes:
    """The last bytes of a file; one that is compressed is read for that."""
    if file.seekable():
        file.seek(-min(size, file.seek(0, 2)), 2)
        return file.read()
    tail = b""
    while data := file.read(_READ_BYTES):
        tail = (tail + data)[-size:]
    return tail


def open_field(lines: Iterable[bytes]) -> int | None:
    """The number of the line, from 1, at which a quoted field begins that does not end."""
    begins: int | None = None
    for number, line in enumerate(lines, 1):
        text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
        begins = _after(text, number, begins)
    return begins


def _after(line: bytes, number: int, begins: int | None) -> int | None:
    """Where the field begins that is open at the end of this line, if one is."""
    at = 0
    while True:
        if begins is None:
            found = _OPENS.search(line, at)
            if found is None:
                return None
            begins, at = number, found.end()
        closed = _CLOSES.match(line, at)
        if closed is None or closed[1] is None:
            return begins
        begins, at = None, closed.end()
