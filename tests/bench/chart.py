"""The picture of `make bench`: one panel for each of a few rows, one bar for each broker.

A panel has its own scale, from zero, and an arrow that says which way is better. The picture is
SVG, its text stays text, and the same values make the same bytes.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from odradek.compat import Unavailable

from .cases import Row
from .report import Values, number

LABELS = (
    "time to ready",
    "memory idle",
    "a new group to its first record",
    "produce 1 KB, 1 partition",
    "consume 1 KB, 1 partition",
    "one record in flight, p50",
)
"""The rows that are drawn, by their labels in the table."""
_COLUMNS = 3
_COLOURS = {"Odradek": "#2f6f4f", "Kafka": "#8a8f98", "kfake": "#c3c7cd", "beside": "#6f9f86"}


def draw(path: Path, rows: Sequence[Row], names: Sequence[str], values: Values) -> None:
    """Write the picture. Raises Unavailable without matplotlib, or if no row is there to draw."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise Unavailable("the chart needs matplotlib: pip install 'odradek[chart]'") from None
    drawn = [row for label in LABELS for row in rows if row.label == label]
    if not drawn:
        raise Unavailable("none of the rows that were measured is in the chart")
    lines = -(-len(drawn) // _COLUMNS)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "odradek", "font.size": 9}):
        figure = Figure(figsize=(9, 0.5 + 1.3 * lines), layout="constrained")
        for place, row in enumerate(drawn, 1):
            _panel(figure.add_subplot(lines, _COLUMNS, place), row, names, values)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _panel(axes: Any, row: Row, names: Sequence[str], values: Values) -> None:
    found = {name: statistics.median(values[row, name]) for name in names if (row, name) in values}
    shown = list(found)[::-1]  # the first is at the top
    bars = axes.barh(shown, [found[name] for name in shown], color=[_COLOURS[n] for n in shown])
    axes.bar_label(bars, [f"{number(found[name])} {row.unit}" for name in shown], padding=3)
    axes.set_title(f"{row.label} {'↑' if row.higher_is_better else '↓'}", fontsize=9, loc="left")
    axes.set_xlim(0, max(found.values(), default=1) * 1.35)
    axes.xaxis.set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.spines[:].set_visible(False)
