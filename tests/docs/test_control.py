"""docs/control.md: its examples run as they stand, and its table names what there is."""

from __future__ import annotations

import re
from pathlib import Path

from odradek.fixtures.control.app import ControlApp  # noqa: F401  # registers the operations
from odradek.fixtures.control.operation import OPERATIONS

from tests.fixtures.control.pictures import DOCS, NAMES

TEXT = (Path(__file__).parents[2] / "docs/control.md").read_text()


def test_the_example_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(compile(example, "docs/control.md", "exec"), {})


def test_the_table_names_each_part() -> None:
    prose = re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL)
    words = {word for each in re.findall(r"`([^`]+)`", prose) for word in re.split(r"[/ …]", each)}
    parts = {part for each in OPERATIONS for part in each.segments if "{" not in part}
    assert parts - words == set()


def test_it_has_the_picture_of_each_view() -> None:
    pictures = re.findall(r"!\[[^]]+\]\((control-\w+\.png)\)", TEXT)
    assert sorted(pictures) == sorted(f"control-{name}.png" for name in NAMES)
    for each in pictures:
        assert (DOCS / each).read_bytes()[:4] == b"\x89PNG"
        assert (DOCS / each).stat().st_size < 100_000
