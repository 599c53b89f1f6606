"""docs/semantics.md and its sections: every item that is cited is there; links and codes are right.

A citation is "semantics F4", "semantics, B3-B12", a case's `@case("I3, C9")`, items alone in
parentheses, "(A10, I9, I17)", or items in the docstring at the head of a module of cases.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek.wire import Error

from tests.support.releases import RELEASES

ROOT = Path(__file__).parent.parent.parent
INDEX = ROOT / "docs" / "semantics.md"
PAGES = sorted((ROOT / "docs" / "semantics").glob("*.md"))
CODE = ("wire", "storage", "emulator", "fixtures", "compat", "tests")

# An item or a whole section; a range of items.
_ITEM = r"(?:[A-Z]\d{0,2}|0\.\d|disk\.\d)"
_SPAN = rf"{_ITEM}(?:-{_ITEM})?"
_LIST = rf"{_SPAN}(?:(?:, | and ){_SPAN})*"
_END = r"(?![\w-])"
_NUMBERED = r"[A-O]\d{1,2}"
_CITED = re.compile(rf"semantics,? ({_LIST}){_END}")
_CASE = re.compile(r"@case\(\s*\"([^\"]+)\"")
_ALONE = re.compile(rf"\(({_NUMBERED}(?:-{_NUMBERED})?(?:(?:, | and ){_NUMBERED})*)\)")
_NUMBER = re.compile(r"\b[A-Z]\d{1,2}\b")

_HEADING = re.compile(r"^#+ <a id=\"([^\"]+)\"></a>(\S+?):? ", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_NAMED_ERROR = re.compile(r"`([A-Z][A-Z_]+)` \((-?\d+)\)")


def citations(text: str, *, of_cases: bool = False) -> set[str]:
    """The items and sections that a file cites. `of_cases`: it is a module of cases."""
    flat = re.sub(r"\s*\n\s*(?:# )?", " ", text)
    lists = _CITED.findall(flat) + _ALONE.findall(flat)
    if of_cases:
        lists += _CASE.findall(flat) + _NUMBER.findall(ast.get_docstring(ast.parse(text)) or "")
    return {item for found in lists for span in re.findall(_SPAN, found) for item in _each(span)}


def _each(span: str) -> Iterator[str]:
    """B3-B5 is B3, B4 and B5."""
    first, _, last = span.partition("-")
    if not last:
        yield first
        return
    assert first[0] == last[0], span
    yield from (f"{first[0]}{number}" for number in range(int(first[1:]), int(last[1:]) + 1))


def cited() -> Iterator[tuple[str, str]]:
    """Every citation of the repository: an item, and the file that cites it."""
    for path in sorted(path for folder in CODE for path in (ROOT / folder).rglob("*.py")):
        if path != Path(__file__):
            name = path.relative_to(ROOT).as_posix()
            of_cases = "differential/cases/" in name
            for item in sorted(citations(path.read_text(), of_cases=of_cases)):
                yield item, name


def anchors(path: Path) -> list[str]:
    """What can be linked to in a page: anchors, and headings as GitHub names them."""
    text = path.read_text()
    headings = re.findall(r"^#+ (?!<a)(.+)$", text, re.MULTILINE)
    slugs = [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]
    return re.findall(r"<a id=\"([^\"]+)\">", text) + slugs


def items(path: Path) -> list[str]:
    """The labels of a page's headings that have an anchor: the section, then its items."""
    return [label for _, label in _HEADING.findall(path.read_text())]


def linked(path: Path) -> list[tuple[Path, str]]:
    """Each link of a page within the repository: a file, and a place in it or none."""
    prose = re.sub(r"`[^`]*`", "", path.read_text())
    targets = [link for link in _LINK.findall(prose) if "://" not in link]
    parts = [target.partition("#") for target in targets]
    return [((path.parent / file) if file else path, place) for file, _, place in parts]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Rules (semantics F7, G2,\n    G8), in order", {"F7", "G2", "G8"}),
        ("# what is cut\n# (semantics, C12 and\n# C13) is", {"C12", "C13"}),
        ("the order (semantics B3-B5).", {"B3", "B4", "B5"}),
        ("side by side (semantics H).", {"H"}),
        ("wins a tie (G6), and", {"G6"}),
        ("(semantics I17, J)", {"I17", "J"}),
        ("(semantics 0.3, disk.6)", {"0.3", "disk.6"}),
        ("Rules (semantics: SocketServer)", set()),
        ("semantics Anyone", set()),
        ("case A or (B)", set()),
    ],
)
def test_citations_are_found(text: str, found: set[str]) -> None:
    assert citations(text) == found


def test_citations_of_cases_are_found() -> None:
    text = '''"""Section B: sizes (B7-B9), E8."""

@case("I3, C9", each=None)
def first(): ...

@case(
    "J"
)
def second(): ...
'''
    assert citations(text, of_cases=True) == {"B7", "B8", "B9", "E8", "I3", "C9", "J"}


def test_every_citation_has_its_item() -> None:
    known = {item for page in PAGES for item in items(page)}
    found = list(cited())
    assert len(found) > 100, "citations are not found any more"
    assert [f"{file} cites {item}" for item, file in found if item not in known] == []


def test_no_anchor_is_doubled() -> None:
    places = Counter(place for page in PAGES for place, _ in _HEADING.findall(page.read_text()))
    assert [place for place, times in places.items() if times > 1] == []
    for page in (INDEX, *PAGES):
        assert [place for place, n in Counter(anchors(page)).items() if n > 1] == [], page.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_holds_one_section_with_its_items_in_order(page: Path) -> None:
    section, *rest = items(page)
    separator = "" if section in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" else "."
    assert page.stem.startswith(section.lower())
    assert rest == [
        f"{section.lower() if len(section) > 1 else section}{separator}{number}"
        for number in range(1, len(rest) + 1)
    ]
    for place, label in _HEADING.findall(page.read_text()):
        assert place == label.lower().replace(".", "-")


def test_the_index_has_every_section_and_says_which_are_emulated() -> None:
    row = r"^\| \[(\w+)\]\((\S+)\) \| .* \| (yes|in part|not yet) \|$"
    rows = re.findall(row, INDEX.read_text(), re.M)
    assert [file for _, file, _ in rows] == [
        f"semantics/{page.name}"
        for page in sorted(PAGES, key=lambda page: (len(items(page)[0]), page))
    ]
    for label, file, emulated in rows:
        page = INDEX.parent / file
        assert items(page)[0] == label
        text = page.read_text()
        assert ("**Not emulated yet.**" in text) is (emulated == "not yet")
        assert ("**Emulated in part.**" in text) is (emulated == "in part")


@pytest.mark.parametrize("page", [INDEX, *PAGES], ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    for target, place in linked(page):
        assert target.exists(), target
        assert not place or place in anchors(target), f"{target.name}#{place}"


@pytest.mark.parametrize("page", [INDEX, *PAGES], ids=lambda page: page.stem)
def test_errors_have_their_codes(page: Path) -> None:
    codes = {error.name: error.value for error in Error}
    for name, code in _NAMED_ERROR.findall(page.read_text()):
        assert codes.get(name) == int(code), f"{name} ({code})"


def test_the_table_of_apis_is_that_of_the_releases() -> None:
    page = (ROOT / "docs" / "semantics" / "j-apis.md").read_text()
    rows = re.findall(r"^\| (\d+) \| \w+ \| ([\d-]*|[a-z ]+) \| ([\d-]*|[a-z ]*) \|", page, re.M)
    assert rows
    for release, column in (("4.3", 1), ("3.9", 2)):
        shown = {int(row[0]): _range(row[column]) for row in rows if row[column][:1].isdigit()}
        assert shown == dict(RELEASES[release].advertised)


def _range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    return int(first), int(last or first)
