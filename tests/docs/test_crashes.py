"""docs/crashes.md: every example runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.sessions import run as run_session

BLOCKS = re.findall(
    r"```python\n(.*?)```", (Path(__file__).parents[2] / "docs/crashes.md").read_text(), re.DOTALL
)


def test_every_example_passes(pytester: pytest.Pytester) -> None:
    """Together, in the order of the page: later ones use the imports of earlier ones."""
    pytest.importorskip("confluent_kafka")
    examples = "\n\n".join(BLOCKS)
    pytester.makepyfile(examples)
    result = run_session(pytester)
    tests = len(re.findall(r"^def test_", examples, re.MULTILINE))
    again = sum(int(count) - 1 for count in re.findall(r"count=(\d+)", examples))
    result.assert_outcomes(passed=tests + again)


def test_each_example_is_one_test() -> None:
    tests = [len(re.findall(r"^(?:async )?def test_", each, re.MULTILINE)) for each in BLOCKS]
    assert tests == [1] * len(BLOCKS)
