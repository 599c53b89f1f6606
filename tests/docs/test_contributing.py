"""CONTRIBUTING.md names files that are there, and its lists hold."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from odradek.emulator.handlers.registry import SERVED
from odradek.wire.api import API_MODULES

from tests.support.rooms import ROOMS

ROOT = Path(__file__).parents[2]
PACKAGES = ("wire", "storage", "emulator", "compat", "fixtures")
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


def test_a_method_that_is_named_is_in_its_file() -> None:
    """`Class.method` in `path`: not in the file of a class that inherits it."""
    named = re.findall(r"`([A-Z]\w*)\.(\w+)`\s+in\s+`([a-z_]+/[a-z0-9_/]*\.py)`", TEXT)
    assert named
    for owner, method, path in named:
        tree = ast.parse((ROOT / path).read_text())
        own = [each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == owner]
        names = [getattr(each, "name", "") for found in own for each in found.body]
        assert method in names, f"{owner}.{method} is not in {path}"


def test_every_room_has_its_row() -> None:
    """A folder of a package: it has a row of the table, or one for each of its folders."""
    table = "\n".join(line for line in TEXT.splitlines() if line.startswith("| `"))
    rows = set(re.findall(r"`([a-z_]+/[a-z0-9_/]*)/`", table))
    found = {init.parent for name in PACKAGES for init in (ROOT / name).glob("*/__init__.py")}
    missing = []
    for room in found:
        inner = [each.parent for each in room.glob("*/__init__.py")]
        parts = [str(each.relative_to(ROOT)) for each in (room, *inner)]
        if parts[0] not in rows and not (inner and rows.issuperset(parts[1:])):
            missing.append(parts[0])
    assert sorted(missing) == []


def test_rooms_of_the_picture_are_those_of_the_structure_test() -> None:
    picture = TEXT[TEXT.index("releases <- base") : TEXT.index("\n   ^\n compat/")]
    drawn = re.findall(r"[a-z_0-9]+", picture)
    listed = [line.split()[0] for line in ROOMS["emulator"].strip().splitlines()]
    aliases = {"parameters": "cluster"}
    assert drawn == [aliases.get(room, room) for room in listed]


def test_every_handler_is_named_as_its_messages() -> None:
    for key, served in SERVED.items():
        assert served.handler.__module__.rpartition(".")[2] == API_MODULES[key]
