"""What was measured, and the tables of it: of the base, of the working tree, and their ratio."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence

Key = tuple[str, str, str]
BASE, HERE = "base", "here"
SIDES = (BASE, HERE)


class Figures:
    """All values of each row and column (what is measured there, and whose)."""

    def __init__(self) -> None:
        self._found: dict[Key, list[float]] = defaultdict(list)

    def add(self, row: str, column: str, side: str, value: float) -> None:
        """One more measurement."""
        self._found[row, column, side].append(value)

    def median(self, row: str, column: str, side: str) -> float | None:
        """None if it was not measured."""
        found = self._found.get((row, column, side))
        return statistics.median(found) if found else None

    def ratio(self, row: str, column: str) -> float | None:
        """Of the working tree to the base."""
        return self._ratio((row, column, HERE), (row, column, BASE))

    def ratio_to(self, row: str, column: str, other: str) -> float | None:
        """Of two columns of the working tree."""
        return self._ratio((row, column, HERE), (row, other, HERE))

    def _ratio(self, key: Key, other: Key) -> float | None:
        """The median of those of the rounds: what a busy machine does to one it does to both."""
        pairs = zip(self._found.get(key, ()), self._found.get(other, ()), strict=False)
        found = [one / another for one, another in pairs if another]
        return statistics.median(found) if found else None

    @property
    def rows(self) -> dict[str, dict[str, dict[str, float]]]:
        """The medians, by row, column and side."""
        rows: dict[str, dict[str, dict[str, float]]] = {}
        for (row, column, side), found in self._found.items():
            rows.setdefault(row, {}).setdefault(column, {})[side] = statistics.median(found)
        return rows


def number(value: float | None, digits: int = 1) -> str:
    """A dash for what was not measured."""
    return "-" if value is None else f"{value:,.{digits}f}"


def table(lines: Iterable[Sequence[str]]) -> str:
    """The first line is the head; the first column stands to the left, all others to the right."""
    lines = list(lines)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = []
    for line in lines:
        first, *others = line
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        text.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    text.insert(1, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(text)
