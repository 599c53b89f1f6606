"""The first example of each page, as somebody tries it who has nothing yet: pasted into an empty
directory, run in an environment that has odradek and the libraries that the page names.

A page's extras of odradek, and what else it says to install, are taken from the page; a library
that an example imports is installed by its own name. All examples of all pages run in this
project's own tests (tests/docs); what those cannot see is something that only a clone has.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"([^\n]*\n\n)?^```python\n(.*?)^```", re.M | re.S)
_INSTALL = re.compile(r"pip install ([^`\n#;]+)")
_IMPORT = re.compile(r"^(?:from|import) (\w+)", re.M)
_NAMES = {"confluent_kafka": "confluent-kafka", "kafka": "kafka-python"}
NEEDS_MORE = {
    "kafka-0.7.md": "the client of 0.7 is the reader's",
    "streams-groups.md": "the application is the reader's, in Java",
}
"""Pages whose first example cannot run as it stands, and why; each says so above it."""


class Example(NamedTuple):
    """What is pasted, of one page."""

    page: str
    files: dict[str, str]
    needs: frozenset[str]
    """As pip wants them."""

    @property
    def command(self) -> list[str]:
        """What the reader runs, without the Python."""
        name = list(self.files)[-1]
        return ["-m", "pytest", "-q", name] if name.startswith("test_") else [name]


def examples() -> Iterator[Example]:
    """One of each page that has Python."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = path.read_text()
        if "```python" in text and path.name not in NEEDS_MORE:
            yield _example(path.name, text)


def _example(page: str, text: str) -> Example:
    """Its blocks up to the first that does something; one that belongs into conftest.py is put
    there."""
    files: dict[str, str] = {}
    for above, block in _BLOCK.findall(text):
        if "conftest.py" in above:
            files["conftest.py"] = block
            continue
        is_test = re.search(r"^(?:async )?def test_|^class Test", block, re.M)
        files["test_example.py" if is_test else "example.py"] = block
        break
    return Example(page, files, frozenset({*_said(text), *_imported("".join(files.values()))}))


def _said(text: str) -> Iterator[str]:
    """What the page says to install, but for the clone and what is there instead of a wheel."""
    for words in _INSTALL.findall(text.partition("```python")[0]):
        yield from {each.strip("\"'") for each in words.split()} - {".", "odradek"}


def _imported(code: str) -> Iterator[str]:
    for name in _IMPORT.findall(code):
        if name not in sys.stdlib_module_names and name != "odradek":
            yield _NAMES.get(name, name)
    yield from ["pytest"] * bool(re.search(r"^(?:async )?def test_", code, re.M))


def by_needs() -> dict[frozenset[str], list[Example]]:
    """They share an environment if they need the same."""
    found: dict[frozenset[str], list[Example]] = {}
    for example in examples():
        found.setdefault(example.needs, []).append(example)
    return found


def requirement(need: str, wheel: Path) -> str:
    """As pip wants it: an extra of odradek is one of this wheel's."""
    return f"{need} @ {wheel.resolve().as_uri()}" if need.startswith("odradek") else need


def paste(example: Example, folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, text in example.files.items():
        (folder / name).write_text(text)


def outside() -> dict[str, str]:
    """The environment, without variables of this project or its Python."""
    ours = ("ODRADEK", "PYTHON", "VIRTUAL_ENV")
    return {name: text for name, text in os.environ.items() if not name.startswith(ours)}
