"""docs/testing.md: every example runs as it stands, and every verb has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek import GroupView, PartitionView, SeenRecord, TopicView

from tests.support.sessions import run as run_session

TEXT = (Path(__file__).parents[2] / "docs/testing.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
# Of a class, what has no example of its own: see the docstrings.
WITHOUT = {"committed", "group_id", "index", "name", "producers"}


def test_every_example_passes(pytester: pytest.Pytester) -> None:
    """Together, in the order of the page: later ones use the imports of earlier ones."""
    pytest.importorskip("confluent_kafka")
    examples = "\n\n".join(BLOCKS)
    pytester.makepyfile(examples)
    result = run_session(pytester)
    result.assert_outcomes(passed=len(re.findall(r"^ *def test_", examples, re.MULTILINE)))


def test_each_example_is_one_test_or_a_class_of_tests() -> None:
    tests = [
        len(re.findall(r"^(?:def test_|class \w*Test)", each, re.MULTILINE)) for each in BLOCKS
    ]
    assert tests == [1] * len(BLOCKS)


@pytest.mark.parametrize("view", [GroupView, PartitionView, SeenRecord, TopicView])
def test_every_verb_of_a_view_has_its_example(view: type) -> None:
    verbs = {name for name in dir(view) if not name.startswith("_")} - WITHOUT
    assert [name for name in sorted(verbs) if not re.search(rf"\b{name}\b", TEXT)] == []
