"""The table: one column for each broker, then how Odradek compares with each of the others.

A ratio is Odradek's value divided by the other's. The column "better" says which way is good: for
rates higher, for times and memory lower. `*` marks a ratio where Odradek is the better one. A dash
is what was not measured; "failed" is explained below the table.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from .cases import Row

Values = Mapping[tuple[Row, str], Sequence[float]]
SUBJECT = "Odradek"


def table(
    rows: Sequence[Row], names: Sequence[str], values: Values, failed: set[tuple[Row, str]]
) -> str:
    """Return the table's lines. Where a row was measured several times, the median counts."""
    others = [name for name in names if name != SUBJECT] if SUBJECT in names else []
    head = ["", "unit", "better", *names, *(f"{SUBJECT}/{other}" for other in others)]
    lines = [head]
    for row in rows:
        found = {name: _median(values.get((row, name), ())) for name in names}
        cells = ["failed" if (row, name) in failed else number(found[name]) for name in names]
        ratios = [_ratio(row, found[SUBJECT], found[other]) for other in others]
        better = "higher" if row.higher_is_better else "lower"
        lines.append([row.label, row.unit, better, *cells, *ratios])
    return _aligned(lines)


def _median(found: Sequence[float]) -> float | None:
    return statistics.median(found) if found else None


def number(value: float | None) -> str:
    """Three significant digits, no exponent."""
    if value is None:
        return "-"
    digits = 0 if abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2
    return f"{value:,.{digits}f}" if abs(value) >= 0.995 or value == 0 else f"{value:.3f}"


def _ratio(row: Row, ours: float | None, theirs: float | None) -> str:
    if ours is None or not theirs:
        return "-"
    ratio = ours / theirs
    wins = ratio > 1 if row.higher_is_better else ratio < 1
    return f"{ratio:.2f}x{'*' if wins else ' '}"


def _aligned(lines: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = []
    for number, line in enumerate(lines):
        cells = [
            cell.ljust(width) if column in (0, 1, 2) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        text.append("  ".join(cells).rstrip())
        if number == 0:
            text.append("-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(text)
