"""The documentation as a site: each page is in its navigation, and the reference is whole."""

from __future__ import annotations

from tests.docs.site.reference import api_pages, cli_page, parsers
from tests.docs.site.sources import BESIDE, MADE, navigation, pages


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
    assert "host: str = '*')" in text
    others = api_pages()["api-names.md"]
    assert "`from odradek.storage import MemoryDisk`" in others
    assert "::::{py:function} simulated_runs(" in others
