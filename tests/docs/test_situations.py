"""docs/situations.md: every example runs as it stands, every verb and release is there, and the
table has a row for each of the command's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek import Situation
from odradek.compat import Unavailable
from odradek.fixtures.kafka.situations.older import KNOWN
from odradek.fixtures.kafka.situations.situations import Situations

from tests.clients.streams.application import archives
from tests.clients.streams.word_count import FIXTURE
from tests.situations.rows import ROWS
from tests.support.sessions import run as run_session

TEXT = (Path(__file__).parents[2] / "docs/situations.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
WITH_JAVA = [each for each in BLOCKS if "start_word_count" in each]


def test_every_example_passes(pytester: pytest.Pytester) -> None:
    """Together, in the order of the page: later ones use the imports of earlier ones."""
    pytest.importorskip("confluent_kafka")
    examples = "\n\n".join(each for each in BLOCKS if each not in WITH_JAVA)
    pytester.makepyfile(examples)
    result = run_session(pytester, "--durations=5")
    result.assert_outcomes(passed=_tests_in(examples))


@pytest.mark.client
@pytest.mark.slow
def test_every_example_with_java_passes(pytester: pytest.Pytester) -> None:
    try:
        archives()
    except Unavailable as reason:
        pytest.skip(f"unavailable: {reason}")
    examples = "\n\n".join(["import pytest", *WITH_JAVA])
    pytester.makeconftest(FIXTURE)
    pytester.makepyfile(examples)
    run_session(pytester).assert_outcomes(passed=_tests_in(examples))


def _tests_in(examples: str) -> int:
    return len(re.findall(r"^ *def test_", examples, re.MULTILINE))


@pytest.mark.parametrize("face", [Situations, Situation])
def test_every_verb_is_named(face: type) -> None:
    verbs = {name for name in dir(face) if not name.startswith("_")}
    assert [name for name in sorted(verbs) if not re.search(rf"\b{name}\b", TEXT)] == []


def test_every_verb_has_its_example() -> None:
    examples = "\n".join(BLOCKS)
    verbs = [name for name in dir(Situations) if not name.startswith("_")]
    assert [name for name in verbs if f"situations.{name}(" not in examples] == []


def test_every_release_is_named() -> None:
    assert [name for name in KNOWN if f'"{name}"' not in TEXT] == []


def test_the_table_has_every_row() -> None:
    assert [row.key for row in ROWS if f"`{row.verb}`" not in TEXT] == []
