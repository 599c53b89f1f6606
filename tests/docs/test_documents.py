"""docs/documents.md is what its table says, and what the table names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.documents_page import DOCUMENTS, PAGE, ROOT, SECTIONS, Row, page

ROWS = [row for rows in SECTIONS.values() for row in rows]


def test_the_page_is_made_from_the_table() -> None:
    assert PAGE.read_text() == page(), "run `python -m tests.docs.documents_page`"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what[:40])
def test_what_a_requirement_names_is_there(row: Row) -> None:
    assert all(name in DOCUMENTS for name in row.documents.split(", "))
    for path in row.built:
        assert (ROOT / path).exists(), path
    for test in row.tests:
        path, _, name = test.partition("::")
        text = (ROOT / "tests" / path).read_text()
        assert not name or re.search(rf"^(async )?def {name}\(", text, re.MULTILINE), test
    for target in re.findall(r"\]\(([^)]+)\)", row.otherwise):
        name, _, anchor = target.partition("#")
        text = (ROOT / "docs" / name).read_text()
        assert not anchor or f'id="{anchor}"' in text, target


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what[:40])
def test_a_requirement_is_built_and_tested_or_said_not_to_be(row: Row) -> None:
    is_built = bool(row.built) and bool(row.tests)
    assert is_built or row.otherwise.startswith("Not built: ")


def test_every_document_asks_for_something() -> None:
    named = {name for row in ROWS for name in row.documents.split(", ")}
    assert named == {*DOCUMENTS}


def test_no_path_of_this_machine_is_named() -> None:
    assert not re.search(r"/(work|tmp|home|root)/", Path(PAGE).read_text())
