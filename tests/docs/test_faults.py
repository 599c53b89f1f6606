"""docs/faults.md: every example runs as it stands, and every verb has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek import Emulator, RuleView
from odradek.emulator.control.request_matcher import WHOLE
from odradek.emulator.division.places import NARROWED_BY
from odradek.fixtures.kafka.composed import Verb
from odradek.fixtures.kafka.rule_builder import RuleBuilder
from odradek.fixtures.kafka.verbs import EmulatorVerbs

from tests.support.sessions import run as run_session

TEXT = (Path(__file__).parents[2] / "docs/faults.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


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


def test_what_the_table_of_errors_says_is_taken() -> None:
    said = re.findall(r"`(kafka\.[^`]+)`", TEXT.partition("## Errors")[2].partition("```")[0])
    assert len(said) == 10
    with Emulator(topics=["orders"]) as kafka:
        for each in said:
            eval(each, {"kafka": kafka})
        kafka.forget_faults()  # no client comes


OF_THE_BROKER = [
    *("rules", "faults"),
    *(
        name
        for name, verb in vars(EmulatorVerbs).items()
        if isinstance(verb, Verb) and verb.part == "rule_book"
    ),
]


@pytest.mark.parametrize("verbs", [OF_THE_BROKER, dir(RuleView), dir(RuleBuilder)])
def test_every_verb_has_its_example(verbs: list[str]) -> None:
    names = [name for name in verbs if not name.startswith("_")]
    assert [name for name in names if not re.search(rf"\b{name}\b", TEXT)] == []


def test_every_keyword_is_named() -> None:
    assert [name for name in (*NARROWED_BY, *WHOLE) if f"`{name}`" not in TEXT] == []
