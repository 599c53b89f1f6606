"""docs/faults.md: every example runs as it stands, and every verb has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek import RuleView
from odradek.emulator.control.rules.narrowing import WHOLE
from odradek.emulator.control.rules.places import NARROWED_BY
from odradek.fixtures.kafka.faults import Faults
from odradek.fixtures.kafka.when import When

from tests.support.sessions import run as run_session

TEXT = (Path(__file__).parents[2] / "docs/faults.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
INHERITED = {"bootstrap_servers", "run"}


def test_every_example_passes(pytester: pytest.Pytester) -> None:
    """Together, in the order of the page: later ones use the imports of earlier ones."""
    pytest.importorskip("confluent_kafka")
    examples = "\n\n".join(BLOCKS)
    pytester.makepyfile(examples)
    result = run_session(pytester, "--durations=5")
    result.assert_outcomes(passed=len(re.findall(r"^ *def test_", examples, re.MULTILINE)))


def test_each_example_is_one_test() -> None:
    assert [len(re.findall(r"^def test_", each, re.MULTILINE)) for each in BLOCKS] == [1] * len(
        BLOCKS
    )


@pytest.mark.parametrize("face", [Faults, RuleView, When])
def test_every_verb_has_its_example(face: type) -> None:
    verbs = {name for name in dir(face) if not name.startswith("_")} - INHERITED
    assert [name for name in sorted(verbs) if not re.search(rf"\b{name}\b", TEXT)] == []


def test_every_keyword_is_named() -> None:
    assert [name for name in (*NARROWED_BY, *WHOLE) if f"`{name}`" not in TEXT] == []
