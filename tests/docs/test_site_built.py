"""The site, built as `make site` builds it: nothing is fetched, and its search finds what is asked.

Sphinx takes some 15 s of CPU: `make test` has one of the two each day.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.site.questions import MOST, QUESTIONS, found_by
from tests.docs.site.sources import ROOT
from tests.fixtures.control.browser import browser

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `make site` makes it."""
    pytest.importorskip("furo", reason="furo is not installed, which `make site` needs")
    out = tmp_path_factory.mktemp("site") / "html"
    command = [sys.executable, "-m", "tests.docs.site", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return out


def test_nothing_is_fetched_when_it_is_read(site: Path) -> None:
    """Not a script, style, font or picture: each is a file of the site."""
    read = re.compile(r"<(?:script|img|iframe|source)[^>]* src=\"([^\"]+)\"")
    linked = re.compile(r"<link[^>]* rel=\"(?:stylesheet|preload|icon)\"[^>]* href=\"([^\"]+)\"")
    pages = [*site.rglob("*.html")]
    assert len(pages) > 50
    for page in pages:
        text = page.read_text()
        for target in (*read.findall(text), *linked.findall(text)):
            assert (page.parent / target.partition("?")[0]).is_file(), (page.name, target)
    for style in site.rglob("*.css"):
        assert re.findall(r"url\(['\"]?(?:https?:)?//[^)]*\)|@import", style.read_text()) == []


def test_its_search_answers_twenty_questions(site: Path) -> None:
    """In a browser, from the files alone: the page is among the first results, and no address but
    those of files was asked for."""
    with browser() as page:
        found = {each.typed: found_by(page, site, each) for each in QUESTIONS}
        asked = {url for url in page.asked if not url.startswith(("file:", "about:", "data:"))}
    assert len(found) == 20
    late = {typed: each.results for typed, each in found.items() if not 1 <= each.place <= MOST}
    assert (late, asked) == ({}, set())
