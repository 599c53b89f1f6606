"""Tests that run pytest in their own process leave the libraries of that process as they were."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONFTEST = (ROOT / "tests/conftest.py").read_text()
# numpy refuses to be loaded a second time, and pyarrow names its types twice.
TESTS = """
from importlib import import_module


import pytest


@pytest.mark.parametrize("number", [1, 2])
def test_a_run_in_this_process(pytester, number):
    pytester.makepyfile("def test(): import numpy, pyarrow")
    pytester.runpytest_inprocess("-p", "no:randomly").assert_outcomes(passed=1)
    assert import_module("numpy").zeros(1).sum() == 0
    assert import_module("pyarrow").array([1]).to_pylist() == [1]
"""


def test_what_cannot_be_loaded_twice_stays_loaded(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TESTS)
    pytester.runpytest_subprocess("-p", "no:randomly").assert_outcomes(passed=2)
