"""docs/schedules.md: every example runs as it stands, and the report that it shows is the one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek.fixtures.schedules import KINDS
from odradek.fixtures.schedules.shrinking import MOST_RUNS, MOST_S

from tests.support.sessions import run as run_session

TEXT = (Path(__file__).parents[2] / "docs/schedules.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_every_example_passes(pytester: pytest.Pytester) -> None:
    """Together, in the order of the page: later ones use the imports of earlier ones."""
    pytest.importorskip("confluent_kafka")
    examples = "\n\n".join(BLOCKS)
    pytester.makepyfile(examples)
    result = run_session(pytester)
    tests = len(re.findall(r"^def test_", examples, re.MULTILINE))
    fail = examples.count("@pytest.mark.xfail")
    result.assert_outcomes(passed=tests - fail, xfailed=fail)


def test_the_report_is_as_it_is_shown(pytester: pytest.Pytester) -> None:
    pytest.importorskip("confluent_kafka")
    expected = re.sub(r"^@pytest.mark.xfail.*\n", "", BLOCKS[1], flags=re.MULTILINE)
    pytester.makepyfile(test_orders="\n\n".join([BLOCKS[0], expected]))
    result = run_session(pytester)
    result.assert_outcomes(passed=1, failed=1)
    found = result.stdout.str()
    (shown,) = re.findall(r"<!-- report -->\n```\n(.*?)```", TEXT, re.DOTALL)
    for line in shown.splitlines():
        pattern = re.sub(r"\d+", r"\\d+", re.escape(line.replace("...", "")))
        assert re.search(pattern, found), line


def test_each_example_has_its_test() -> None:
    assert [len(re.findall(r"^def test_", each, re.MULTILINE)) for each in BLOCKS] == [1] * len(
        BLOCKS
    )


def test_every_kind_is_named() -> None:
    assert [kind for kind in KINDS if f'| `"{kind}"` |' not in TEXT] == []


def test_limits_are_as_they_are_documented() -> None:
    assert f"after {MOST_RUNS} runs or {MOST_S:.0f} s" in TEXT
