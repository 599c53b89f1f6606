"""docs/spark.md, testing PySpark jobs: every example runs as it stands, and every verb is there."""

from __future__ import annotations

import re

import pytest
from odradek.compat.java.jars import cache_dir
from odradek.fixtures import spark
from odradek.fixtures.spark import StreamTest

from tests.docs.spark_page import blocks, section

SECTION = "Testing PySpark jobs"
PARTS = ["Streams", "When things go wrong"]
TIMEOUT_S = 900.0
CACHE = cache_dir()  # pytester has another home directory


@pytest.mark.spark
def test_every_example_passes(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Together, in the order of the page: the first is the conftest.py."""
    monkeypatch.setenv("ODRADEK_CACHE", str(CACHE))
    conftest, *examples = [block for part in (SECTION, *PARTS) for block in blocks(part, "python")]
    pytester.makeconftest(conftest)
    text = "\n\n".join(examples)
    pytester.makepyfile(text)
    result = pytester.runpytest_subprocess("-p", "no:randomly", timeout=TIMEOUT_S)
    result.assert_outcomes(passed=len(re.findall(r"^def test_", text, re.MULTILINE)))


def test_every_name_is_reported() -> None:
    text = "".join(section(part) for part in (SECTION, *PARTS))
    verbs = [name for name in vars(StreamTest) if not name.startswith("_")]
    assert [name for name in (*spark.__all__, *verbs) if name not in text] == []
