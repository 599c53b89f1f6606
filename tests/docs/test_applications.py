"""docs/applications.md: every example runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.sessions import run as run_session

TEXT = (Path(__file__).parents[2] / "docs/applications.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.slow
def test_every_example_passes(pytester: pytest.Pytester) -> None:
    """Together, in the order of the page: later ones use the imports of earlier ones."""
    pytest.importorskip("confluent_kafka")
    examples = "\n\n".join(BLOCKS)
    pytester.makepyfile(examples)
    result = run_session(pytester)
    tests = len(re.findall(r"^def test_", examples, re.MULTILINE))
    fail = examples.count("@pytest.mark.xfail")
    result.assert_outcomes(passed=tests - fail, xfailed=fail)


def test_each_example_has_its_test() -> None:
    assert [each for each in BLOCKS if "\ndef test_" not in each] == []
