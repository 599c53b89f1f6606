"""docs/kips.md lists the proposals that the source cites, and no others."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("wire", "storage", "emulator", "compat", "fixtures")


def test_the_list_is_that_of_the_citations() -> None:
    listed = re.findall(r"^\| (KIP-\d+) \|", (ROOT / "docs/kips.md").read_text(), re.MULTILINE)
    assert len(listed) == len({*listed})
    sources = (path.read_text() for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
    cited = {kip for text in sources for kip in re.findall(r"KIP-\d+", text)}
    rules = (path.read_text() for path in (ROOT / "docs/semantics").glob("*.md"))
    known = cited.union(*(re.findall(r"KIP-\d+", text) for text in rules))
    assert cited - {*listed} == set(), "cited, and not listed"
    assert {*listed} - known == set(), "listed, and nowhere cited"
