"""The source, read: imports point one way, files and functions stay small, no file is dead."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Each package, and those it may import from.
MAY_IMPORT = {
    "wire": set(),
    "storage": {"wire"},
    "emulator": {"wire", "storage"},
    "fixtures": {"wire", "storage", "emulator"},
    "compat": {"wire", "storage", "emulator"},
}
LONGEST_FILE = 400
LONGEST_FUNCTION = 50
# Named by packaging or by a command line, or there for those who use the library.
ENTRY_POINTS = {
    "emulator/cli.py": "the `odradek` command",
    "emulator/inert_configs.py": "python -m odradek.emulator.inert_configs",
    "fixtures/plugin.py": "the pytest plugin",
    "compat/demo.py": "make demo",
    "compat/dump_tool.py": "Kafka's dump tool over a data directory, for tests",
    "compat/table.py": "make table",
    "wire/old_messages.py": "the format of Kafka 0.7, for readers of its files",
}


def sources() -> list[Path]:
    return sorted(path for package in MAY_IMPORT for path in (ROOT / package).rglob("*.py"))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported_modules(path: Path) -> Iterator[tuple[str, ...]]:
    """The modules that a file imports from this project, as paths from the root."""
    folder = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = folder[: len(folder) - node.level + 1]
            module = (*base, *(node.module.split(".") if node.module else ()))
            yield module
            yield from ((*module, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("odradek."):
            module = tuple((node.module or "").split("."))[1:]
            yield module
            yield from ((*module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("odradek."):
                    yield tuple(alias.name.split("."))[1:]


@pytest.mark.parametrize("path", sources(), ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    package = path.relative_to(ROOT).parts[0]
    others = {module[0] for module in imported_modules(path) if module} - {package}
    assert others <= MAY_IMPORT[package]


@pytest.mark.parametrize("path", sources(), ids=name_of)
def test_a_file_holds_one_idea(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= LONGEST_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            length = node.end_lineno - node.lineno + 1
            assert length <= LONGEST_FUNCTION, f"{node.name} has {length} lines"


@pytest.mark.parametrize("path", sources(), ids=name_of)
def test_a_file_says_at_its_head_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


def test_no_file_is_dead() -> None:
    used = {module for path in sources() for module in imported_modules(path)}
    # Loaded by name: handlers, APIs, views; the tables of stored records are there for readers.
    loaded_by_name = {
        ("emulator", "handlers"),
        ("emulator", "console"),
        ("wire", "api"),
        ("wire", "stored"),
    }
    dead = [
        name_of(path)
        for path in sources()
        if path.stem not in ("__init__", "__main__")
        and path.relative_to(ROOT).with_suffix("").parts not in used
        and path.relative_to(ROOT).parent.parts not in loaded_by_name
        and name_of(path) not in ENTRY_POINTS
    ]
    assert dead == []


def test_every_package_is_installed() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        listed = tomllib.load(file)["tool"]["setuptools"]["packages"]
    folders = {path.parent for path in sources() if path.name == "__init__.py"}
    assert set(listed) == {".".join(("odradek", *f.relative_to(ROOT).parts)) for f in folders}


def test_every_test_is_run() -> None:
    paths = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    tests = ROOT / "tests"
    named = {path for path in tests.rglob("test_*.py") if "bench" not in path.parts}
    listed = [ROOT / path for path in paths["testpaths"]]
    assert named == {path for path in named if any(path.is_relative_to(each) for each in listed)}


def test_every_handler_is_loaded() -> None:
    from odradek.emulator import handlers

    modules = (ROOT / "emulator/handlers").glob("*.py")
    registering = {path.stem for path in modules if "\n@handles(" in path.read_text()}
    assert set(handlers.MODULES) == registering


def test_no_error_is_swallowed() -> None:
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ExceptHandler):
                assert node.type is not None, f"{name_of(path)}:{node.lineno} catches everything"
                swallowed = [type(statement) for statement in node.body] == [ast.Pass]
                assert not swallowed, f"{name_of(path)}:{node.lineno} swallows an error"
