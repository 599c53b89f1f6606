"""Lines and files of each package, and of each folder in it."""

from __future__ import annotations

from pathlib import Path

from .figures import SIDES, Figures
from .sites import Site

PACKAGES = ("wire", "storage", "emulator", "compat", "fixtures", "tests")
LINES, FILES = "lines", "files"


def measure(sites: dict[str, Site], figures: Figures) -> list[str]:
    rows: dict[str, None] = {}
    for package in PACKAGES:
        inside: set[str] = set()
        for side in SIDES:
            for room, (files, lines) in counts(sites[side].sources, package).items():
                figures.add(room, LINES, side, lines)
                figures.add(room, FILES, side, files)
                inside.add(room)
        rows |= dict.fromkeys(sorted(inside))
    return list(rows)


def counts(root: Path, package: str) -> dict[str, tuple[int, int]]:
    """Files and lines of a package, and of each folder in it with all that is below."""
    found: dict[str, tuple[int, int]] = {}
    for path in (root / package).rglob("*.py"):
        parts = path.relative_to(root).parts
        lines = path.read_text().count("\n")
        for room in {package, "/".join(parts[: min(2, len(parts) - 1)])}:
            files, before = found.get(room, (0, 0))
            found[room] = files + 1, before + lines
    return found
