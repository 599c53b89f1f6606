"""Aligned tables on standard output: a line of names, then the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....wire.explain.tables import aligned
from .escapes import one_line

NONE = "-"
"""An empty cell."""


def print_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under their heads; columns of numbers (and blanks) are aligned to the right."""
    cells = [[_text(cell) for cell in row] for row in rows]
    right = [
        column
        for column in range(len(heads))
        if cells and all(_is_number(row[column]) for row in cells)
    ]
    for line in aligned([list(heads), *cells], right):
        print(line)


def ranges(numbers: Iterable[int]) -> str:
    """Numbers in order, neighbours joined: `0-3,7`."""
    out: list[list[int]] = []
    for number in sorted(set(numbers)):
        if out and number == out[-1][1] + 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in out) or NONE


def _text(cell: object) -> str:
    if cell is None or cell == "":
        return NONE
    return one_line(str(cell))  # a name may hold anything


def _is_number(cell: str) -> bool:
    return cell == NONE or cell.lstrip("-").isdigit()
