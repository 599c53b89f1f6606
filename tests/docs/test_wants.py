"""Pages by what one wants: a producer, a consumer, exactly once, and who comes from elsewhere. What
is Python in them runs; Go and Java stand in the tests of the thin clients."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.fixtures.control.client_types import CLIENTS
from tests.support.sessions import run as run_session

DOCS = Path(__file__).parents[2] / "docs"
NAMES = ("producers", "consumers", "exactly-once", "coming-from")
TESTS = {
    "go": CLIENTS / "go/odradek_test.go",
    "java": CLIENTS / "java/src/test/java/dev/odradek/KafkaTest.java",
}


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / f"{name}.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("name", NAMES)
def test_every_example_passes(name: str, pytester: pytest.Pytester) -> None:
    """Together, in the order of the page: later ones use the imports of earlier ones."""
    pytest.importorskip("confluent_kafka")
    examples = "\n\n".join(blocks(name, "python"))
    pytester.makepyfile(examples)
    result = run_session(pytester)
    result.assert_outcomes(passed=len(re.findall(r"^ *def test_", examples, re.MULTILINE)))


def test_the_disk_in_memory_runs() -> None:
    (example,) = blocks("files", "python")
    exec(example, {})


@pytest.mark.parametrize(("language", "count"), [("go", 1), ("java", 2)])
def test_what_is_no_python_is_a_test_of_its_client(language: str, count: int) -> None:
    found = blocks("coming-from", language)
    assert len(found) == count
    assert [each for each in found if each not in TESTS[language].read_text()] == []


def test_verbs_that_a_table_names_are_there() -> None:
    from odradek import Emulator
    from odradek.fixtures.kafka.situations.situations import Situations

    for name in NAMES:
        text = (DOCS / f"{name}.md").read_text()
        for verb in re.findall(r"`kafka\.situations\.(\w+)\(", text):
            assert hasattr(Situations, verb), verb
        for verb in re.findall(r"`kafka\.(\w+)[(.\[`]", text):
            assert hasattr(Emulator, verb), verb
