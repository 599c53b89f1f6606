"""docs/recipes.md: every recipe is a file that passes as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.sessions import run as run_session

TEXT = (Path(__file__).parents[2] / "docs/recipes.md").read_text()
RECIPES = re.findall(r"^## (.+?)\n.*?```python\n(.*?)```", TEXT, re.DOTALL | re.MULTILINE)
NEEDED = ("aiokafka", "confluent_kafka", "django", "faststream", "httpx", "starlette")


def test_every_recipe_passes(pytester: pytest.Pytester) -> None:
    for library in NEEDED:
        pytest.importorskip(library)
    for number, (_, text) in enumerate(RECIPES, 1):
        (pytester.path / f"test_recipe_{number:02}.py").write_text(text)
    result = run_session(pytester)
    result.assert_outcomes(passed=len(RECIPES))


def test_a_heading_has_one_recipe_and_that_one_test() -> None:
    assert TEXT.count("\n## ") == TEXT.count("```python") == len(RECIPES) == 10
    assert [text.count("\ndef test_") for _, text in RECIPES] == [1] * len(RECIPES)
