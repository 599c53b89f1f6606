"""docs/simulation.md: every example runs as it stands, and the report that it shows is the one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek.fixtures.simulation.misfortunes import KINDS

from tests.support.sessions import run as run_session

TEXT = (Path(__file__).parents[2] / "docs/simulation.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_every_example_passes(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("\n\n".join(BLOCKS))
    run_session(pytester).assert_outcomes(passed=7, xfailed=1)


def test_the_report_is_as_it_is_shown(pytester: pytest.Pytester) -> None:
    examples = "\n\n".join(BLOCKS)
    failing = re.sub(r"^@pytest.mark.xfail.*\n", "", examples, flags=re.MULTILINE)
    pytester.makepyfile(test_orders=failing)
    result = run_session(pytester, "-k", "commit_first")
    result.assert_outcomes(failed=1, deselected=7)
    found = result.stdout.str()
    (shown,) = re.findall(r"<!-- report -->\n```\n(.*?)```", TEXT, re.DOTALL)
    for line in shown.splitlines():
        pattern = re.sub(r"\d+", r"\\d+", re.escape(line.strip().replace("...", "")))
        pattern = re.sub("before|after|answered", r"\\w+", pattern)  # as it is drawn
        assert re.search(pattern, found), line


def test_every_kind_is_named() -> None:
    assert [kind for kind in KINDS if f'| `"{kind}"` |' not in TEXT] == []
