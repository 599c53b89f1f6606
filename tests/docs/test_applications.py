"""docs/applications.md: every example runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek.fixtures.kafka.situations.situated import SITUATIONS
from odradek.fixtures.promises.judging import BREAKS
from odradek.fixtures.promises.trials import SORTS
from odradek.fixtures.services.moments import WHATS

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


@pytest.mark.slow
def test_the_report_is_as_it_is_shown(pytester: pytest.Pytester) -> None:
    pytest.importorskip("confluent_kafka")
    number = next(n for n, each in enumerate(BLOCKS) if "def commit_first" in each)
    examples = "\n\n".join(BLOCKS[: number + 1])
    pytester.makepyfile(test_invoices=re.sub(r"^@pytest.mark.xfail.*\n", "", examples, flags=re.M))
    result = run_session(pytester, "-k", "test_commit_first")
    result.assert_outcomes(failed=1, deselected=number)
    found = result.stdout.str()
    (shown,) = re.findall(r"<!-- report -->\n```\n(.*?)```", TEXT, re.DOTALL)
    for line in shown.splitlines():
        pattern = re.sub(
            r"\d+", r"\\d+", re.escape(line.replace("...", "").removeprefix("E  ").strip())
        )
        assert re.search(pattern, found), line


def test_each_example_has_its_test() -> None:
    assert [each for each in BLOCKS if "\ndef test_" not in each] == []


def test_all_that_may_go_wrong_is_named() -> None:
    named = [*BREAKS, *WHATS, *SORTS[1:], *(f"`{each}`" for each in SITUATIONS)]
    assert [each for each in named if each not in TEXT] == []
