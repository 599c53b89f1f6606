"""docs/versions.md is what the tables of releases say."""

from __future__ import annotations

from .versions_page import PAGE, page


def test_the_page_is_as_the_tables() -> None:
    assert PAGE.read_text() == page(), "run: python -m tests.docs.versions_page"
