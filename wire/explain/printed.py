"""An explanation as lines of text: byte, bytes, field and value, aligned."""

from __future__ import annotations

from collections.abc import Iterator

from .frames import Explanation
from .tables import aligned
from .walk import Row

_BYTES_SHOWN = 8


def lines(explanation: Explanation, size: int) -> Iterator[str]:
    """The lines about a frame of `size` bytes."""
    yield f"{explanation.title}, {size} bytes"
    yield ""
    rows = [_cells(row) for row in explanation.rows]
    yield from aligned([["byte", "bytes", "field", "value"], *rows], right=(0,))
    if explanation.misfits:
        yield ""
    for misfit in explanation.misfits:
        yield str(misfit)


def _cells(row: Row) -> list[str]:
    place = f"+{row.pos}" if row.unpacked else str(row.pos)
    raw = row.raw[:_BYTES_SHOWN].hex(" ", -2)
    if len(row.raw) > _BYTES_SHOWN:
        raw += f" .. {len(row.raw)}"
    return [place if raw else "", raw, "  " * row.depth + row.name, row.value]
