"""The documentation as a site: each page is in its navigation, and nothing is fetched."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.site.questions import MOST, QUESTIONS, found_by
from tests.docs.site.reference import api_pages, cli_page, parsers
from tests.docs.site.sources import BESIDE, MADE, ROOT, navigation, pages
from tests.fixtures.control.browser import browser


def test_every_page_is_in_the_navigation_once() -> None:
    listed = [name for names in navigation().values() for name in names]
    wanted = {name for name in pages() if not name.startswith("semantics/")} | {*MADE}
    assert sorted(listed) == sorted(wanted - {"index.md"})
    assert {*BESIDE.values()} <= {*listed}


def test_the_command_line_is_there_with_every_command() -> None:
    text = cli_page()
    for name in ("serve", "topics", "load", "registry", "console", "proxy", "repair"):
        assert f"## odradek {name}\n" in text, name
        assert f"usage: odradek {name}" in text, name
    assert len(parsers()) > 25
    assert "--schema-registry" in text


def test_the_python_reference_has_signatures_and_docstrings() -> None:
    text = api_pages()["api.md"]
    assert "::::{py:method} Emulator.advance(by: float | timedelta | None = None" in text
    assert "::::{py:method} kafka.network.latency(" in text
    assert "::::{py:method} kafka.situations.not_leader(" in text
    assert "Move the clock forward" in text


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `make site` makes it.."""
    pytest.importorskip("furo", reason="furo is not installed, which `make site` needs")
    out = tmp_path_factory.mktemp("site") / "html"
    command = [sys.executable, "-m", "tests.docs.site", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.slow
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


@pytest.mark.slow
def test_its_search_answers_twenty_questions(site: Path) -> None:
    """In a browser, from the files alone: the page is among the first results, and no address but
    those of files was asked for."""
    with browser() as page:
        found = {each.typed: found_by(page, site, each) for each in QUESTIONS}
        assert {
            url for url in page.asked if not url.startswith(("file:", "about:", "data:"))
        } == set()
    places = {typed: answer.place for typed, answer in found.items()}
    assert len(places) == 20
    assert {
        typed: found[typed].results for typed, place in places.items() if not 1 <= place <= MOST
    } == {}
