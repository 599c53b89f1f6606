"""CONTRIBUTING.md names files that are there, and its lists hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek.emulator.handlers.registry import SERVED
from odradek.wire.api import API_MODULES

from tests.support.rooms import ROOMS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
# A path stands between backticks and has a slash, or is linked to.
PATHS = sorted(
    set(re.findall(r"`([a-z_.]+/[a-zA-Z0-9_./]*)`", TEXT)) | set(re.findall(r"\]\(([^)#]+)", TEXT))
)


def test_the_page_names_files() -> None:
    assert "emulator/net/serving.py" in PATHS
    assert "docs/semantics.md" in PATHS


@pytest.mark.parametrize("path", PATHS)
def test_a_file_that_is_named_is_there(path: str) -> None:
    found = ROOT / path
    assert found.is_dir() if path.endswith("/") else found.is_file()


def test_rooms_of_the_picture_are_those_of_the_structure_test() -> None:
    picture = TEXT[TEXT.index("releases <- base") : TEXT.index("\n   ^\n compat/")]
    drawn = re.findall(r"[a-z_0-9]+", picture)
    listed = [line.split()[0] for line in ROOMS["emulator"].strip().splitlines()]
    aliases = {"parameters": "cluster"}
    assert drawn == [aliases.get(room, room) for room in listed]


def test_every_handler_is_named_as_its_messages() -> None:
    for key, served in SERVED.items():
        assert served.handler.__module__.rpartition(".")[2] == API_MODULES[key]
