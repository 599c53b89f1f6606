"""`python -m tests.bench.weigh [--base COMMIT]`: measure the working tree beside a commit.

Counts and times, each side's and their ratio (below 1: lighter). Both are built as pip installs
them (sites.py), and take turns in everything that takes time. Figures of a busy machine are worth
little: its load is shown.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.support.processes import describe_machine

from . import cpu, rooms, starts
from .figures import BASE, HERE, SIDES, Figures, number, table
from .requests import FETCH_1_MB
from .sites import site_here, site_of

DEFAULT_BASE = "58a42da"


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    sites = {BASE: site_of(options.base), HERE: site_here()}
    load, begin = os.getloadavg()[0], time.perf_counter()
    counted, started, asked = Figures(), Figures(), Figures()
    rows = rooms.measure(sites, counted)
    if "starts" in options.parts:
        starts.measure(sites, started, 3 if options.quick else 9)
    if "requests" in options.parts:
        cpu.measure(sites, asked, 3 if options.quick else 9)
    elapsed = time.perf_counter() - begin
    print(f"{describe_machine()}; load {load:.1f} before the run, which took {elapsed:.0f} s")
    print(f"base: {options.base}, here: {sites[HERE].name}; ratios are here/base\n")
    if "lines" in options.parts:
        print(table(_lines(counted, rows)), end="\n\n")
    if "starts" in options.parts:
        print(table(_starts(started)), end="\n\n")
    if "requests" in options.parts:
        print(table(_requests(asked)), end="\n\n")
        print("\n".join(_summary(asked)))
    if options.json:
        parts = (("lines", counted), ("starts", started), ("requests", asked))
        found = {name: figures.rows for name, figures in parts}
        options.json.write_text(json.dumps({"base": options.base, **found}, indent=1) + "\n")
    return 0


def _lines(figures: Figures, rows: Sequence[str]) -> list[list[str]]:
    lines = [["", "lines: base", "here", "ratio", "files: base", "here"]]
    for row in rows:
        cells = [_pair(figures, row, column, 0) for column in (rooms.LINES, rooms.FILES)]
        lines.append([row, *cells[0], *cells[1][:2]])
    return lines


def _starts(figures: Figures) -> list[list[str]]:
    """A line for each figure: they have different units."""
    lines = [["", "", "base", "here", "ratio"]]
    for row in starts.ROWS:
        label = row
        for column in starts.COLUMNS:
            if figures.median(row, column, HERE) is not None:
                digits = 0 if column in (starts.MODULES, starts.OURS) else 1
                lines.append([label, column, *_pair(figures, row, column, digits)])
                label = ""
    return lines


def _requests(figures: Figures) -> list[list[str]]:
    """Of what the base does not have, only this side, and its ratio to this side's plain one."""
    head = ["CPU us a request", "base", "here", "ratio", "single: base", "here", "ratio"]
    others = (cpu.RULE, cpu.SUPER_USER, cpu.JOURNAL)
    for column in others:
        head += [f"{column}: base", "here", "/plain"]
    lines = [head]
    for kind in figures.rows:
        cells = [*_pair(figures, kind, cpu.PLAIN), *_pair(figures, kind, cpu.SINGLE)]
        for column in others:
            cells += [number(figures.median(kind, column, side)) for side in SIDES]
            cells.append(number(figures.ratio_to(kind, column, cpu.PLAIN), 2))
        lines.append([kind, *cells])
    return lines


def _summary(figures: Figures) -> list[str]:
    lines = []
    kinds = list(figures.rows)
    for column in (cpu.PLAIN, cpu.SINGLE):
        ratios = {kind: figures.ratio(kind, column) or math.nan for kind in kinds}
        mean = math.prod(ratios.values()) ** (1 / len(ratios))
        worst = max(kinds, key=lambda kind: ratios[kind])
        small = [kind for kind in kinds if kind != FETCH_1_MB]
        sums = [_sum(figures, column, chosen) for chosen in (kinds, small)]
        lines.append(
            f"{column}: the ten together {sums[0]}; without {FETCH_1_MB} {sums[1]}; "
            f"mean of the ratios {mean:.2f}; worst: {worst} {ratios[worst]:.2f}"
        )
    for column in (cpu.RULE, cpu.SUPER_USER, cpu.JOURNAL):
        extra = {kind: figures.ratio_to(kind, column, cpu.PLAIN) or math.nan for kind in kinds}
        worst = max(kinds, key=lambda kind: extra[kind])
        mean = math.prod(extra.values()) ** (1 / len(extra))
        lines.append(f"{column}: {mean:.2f} of plain, worst: {worst} {extra[worst]:.2f}")
    return lines


def _sum(figures: Figures, column: str, kinds: Sequence[str]) -> str:
    base, here = (
        sum(figures.median(kind, column, side) or math.nan for kind in kinds) for side in SIDES
    )
    return f"{base:.0f} -> {here:.0f} us, {here / base:.2f}"


def _pair(figures: Figures, row: str, column: str, digits: int = 1) -> list[str]:
    found = [number(figures.median(row, column, side), digits) for side in SIDES]
    return [*found, number(figures.ratio(row, column), 2)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.weigh", description="The working tree beside a commit."
    )
    parser.add_argument(
        "--base", default=DEFAULT_BASE, metavar="COMMIT", help=f"beside it ({DEFAULT_BASE})"
    )
    parser.add_argument("--quick", action="store_true", help="three rounds, not nine")
    parser.add_argument(
        "--only",
        dest="parts",
        nargs="+",
        choices=("lines", "starts", "requests"),
        default=("lines", "starts", "requests"),
        help="some of it",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the medians there, too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
