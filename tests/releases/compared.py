"""How much of each release was compared with a real broker of it: rows in compared.tsv, which
`python -m tests.differential --kafka-version NAME --keep` writes and docs/versions.md shows."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from odradek.emulator.releases.tables import numbers

TABLE = Path(__file__).with_suffix(".tsv")


class Compared(NamedTuple):
    release: str
    requests: int
    fields: int
    allowed: int
    """Differences of which it is said why they may be."""
    unexplained: int
    """Sequences that ended with a difference that nothing explains."""
    kinds: int
    """Of those differences: kinds, by API, field and values."""


def read_table() -> dict[str, Compared]:
    """The last run of each release."""
    rows = (line.split("\t") for line in TABLE.read_text().splitlines()) if TABLE.exists() else ()
    return {name: Compared(name, *map(int, counts)) for name, *counts in rows}


def keep(run: Compared) -> None:
    """Write a run in the place of the last one of its release."""
    rows = read_table() | {run.release: run}
    ordered = sorted(rows.values(), key=lambda row: numbers(row.release), reverse=True)
    TABLE.write_text("".join("\t".join(map(str, row)) + "\n" for row in ordered))
