"""docs/hypothesis.md: every example is a file that passes as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[2] / "docs/hypothesis.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_every_example_passes(pytester: pytest.Pytester) -> None:
    for number, text in enumerate(EXAMPLES):
        (pytester.path / f"test_example_{number}.py").write_text(text)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", timeout=300)
    result.assert_outcomes(passed=len(EXAMPLES))
    assert len(EXAMPLES) == 3
