"""Aligned tables on standard output: a line of names, then the rows; or a JSON object a line."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterable, Sequence

from ....wire.explain.tables import aligned
from .output import one_line

_BETWEEN = "  "
_LEAST = 8
NONE = "-"
"""An empty cell."""


def print_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under their heads; columns of numbers (and blanks) are aligned to the right. At a
    terminal the widest columns are cut, so that a row is a line."""
    cells = [[_text(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        heads, cells = fitted(heads, cells, shutil.get_terminal_size().columns)
    right = [
        column
        for column in range(len(heads))
        if cells and all(_is_number(row[column]) for row in cells)
    ]
    for line in aligned([list(heads), *cells], right):
        print(line)


def fitted(
    heads: Sequence[str], cells: list[list[str]], room: int
) -> tuple[list[str], list[list[str]]]:
    """The table in so many columns of a terminal: the widest are cut first, none below _LEAST."""
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    too_much = sum(widths) + len(_BETWEEN) * (len(widths) - 1) - room
    while too_much > 0 and max(widths, default=0) > _LEAST:
        widths[widths.index(max(widths))] -= 1
        too_much -= 1
    rows = [list(map(_cut, row, widths)) for row in [list(heads), *cells]]
    return rows[0], rows[1:]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def objects(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[dict[str, object]]:
    """The rows as objects; blanks in heads become underscores."""
    names = [head.replace(" ", "_") for head in heads]
    return [dict(zip(names, row, strict=True)) for row in rows]


def print_json(value: object) -> None:
    print(json.dumps(value))


def print_rows(heads: Sequence[str], rows: Iterable[Sequence[object]], *, as_json: bool) -> None:
    if not as_json:
        print_table(heads, rows)
        return
    for each in objects(heads, rows):
        print_json(each)


def add_json(parser: argparse.ArgumentParser) -> None:
    """The option `--json`, which may stand before and after an action."""
    what = "one JSON object a line"
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=what)


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
