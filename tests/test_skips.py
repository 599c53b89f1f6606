"""What is unavailable skips the tests that need it, by name; anything else is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONFTEST = (ROOT / "tests/conftest.py").read_text()
TESTS = """
import pytest
from odradek.compat import Unavailable


@pytest.fixture(scope="module")
def java():
    raise Unavailable("there is no java")


def test_one(java):
    pass


def test_another(java):
    pass


def test_by_itself():
    raise Unavailable("there is no scala")


def test_broken():
    raise LookupError
"""


def test_what_is_missing_is_said_at_the_end(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess("-p", "no:randomly")
    result.assert_outcomes(skipped=3, failed=1)
    result.stdout.fnmatch_lines(
        ["Skipped tests (2 of test_*.py): there is no java",
         "Skipped tests (1 of test_*.py): there is no scala"]
    )  # fmt: skip
