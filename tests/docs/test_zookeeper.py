"""docs/zookeeper.md: every example runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.sessions import run as run_session

TEXT = (Path(__file__).parents[2] / "docs/zookeeper.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_every_example_passes(pytester: pytest.Pytester) -> None:
    """Together, in the order of the page: later ones use the imports of earlier ones."""
    examples = "\n\n".join(BLOCKS)
    pytester.makepyfile(examples)
    result = run_session(pytester)
    result.assert_outcomes(passed=len(re.findall(r"^ *def test_", examples, re.MULTILINE)))
