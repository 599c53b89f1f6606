"""docs/applications.md: every example runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek.compat.java.jars import resolve
from odradek.compat.java.process import compiled
from odradek.compat.real_kafka import VERSION
from odradek.fixtures.kafka.situations.situated import SITUATIONS
from odradek.fixtures.kafka.situations.situations import Situations
from odradek.fixtures.promises.judging import BREAKS
from odradek.fixtures.promises.trials import SORTS
from odradek.fixtures.services.moments import WHATS

from tests.bench.programs import built
from tests.support.sessions import run as run_session

TEXT = (Path(__file__).parents[2] / "docs/applications.md").read_text()
GO = Path(__file__).parents[1] / "bugs/go"
OTHERS = TEXT.partition("### In Java\n")[2].partition("\n## ")[0]
"""The sections of other languages."""
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT.replace(OTHERS, ""), re.DOTALL)


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


def blocks(language: str, section: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


def mended(program: str, function: str) -> str:
    """With this function in the place of that of its name: up to where its indentation ends."""
    begin = function.partition("(")[0]
    indent = len(begin) - len(begin.lstrip())
    pattern = rf"^{re.escape(begin)}\(.*?^{' ' * indent}}}\n"
    assert len(re.findall(pattern, program, re.M | re.S)) == 1
    return re.sub(pattern, lambda _: function, program, flags=re.M | re.S)


def said(section: str) -> list[str]:
    """What the page shows of the report, without the numbers."""
    (shown,) = re.findall(r"```\n([^`]*?likely cause[^`]*?)```", section, re.DOTALL)
    lines = (line.removesuffix("...") for line in shown.splitlines())
    return [re.sub(r"\d+", r"\\d+", re.escape(line)) for line in lines]


def held_to_it(pytester: pytest.Pytester, section: str, *, holds: bool) -> None:
    (test,) = blocks("python", section)
    pytester.makepyfile(test)
    result = run_session(pytester)
    if holds:
        result.assert_outcomes(passed=1)
        return
    result.assert_outcomes(failed=1)
    for line in said(section):
        assert re.search(line, result.stdout.str()), line


# Built by fixtures of the module: pytester gives its test another home, which has no caches.


@pytest.fixture(scope="module")
def java_classes() -> tuple[Path, list[Path]]:
    """The archives, and the classes: with the bug, and without it."""
    section = OTHERS.partition("### In Go\n")[0]
    broken, function = blocks("java", section)
    wrong, setting = '"auto.commit.interval.ms", "100"', '"enable.auto.commit", "false"'
    assert f"config.put({setting})" in section
    right = mended(broken, function).replace(wrong, setting)
    libraries = [f"org.apache.kafka:kafka-clients:{VERSION}", "org.slf4j:slf4j-nop:1.7.36"]
    archives = resolve("docs-java", libraries)
    texts = ({"Invoices.java": program} for program in (broken, right))
    return archives, [compiled("docs-java", VERSION, each, archives) for each in texts]


@pytest.fixture(scope="module")
def go_programs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """With the bug, and without it."""
    broken, function = blocks("go", OTHERS.partition("### In Go\n")[2])
    programs = []
    for name, program in (("broken", broken), ("mended", mended(broken, function))):
        source = tmp_path_factory.mktemp(name) / "invoices"
        source.mkdir()
        for each in ("go.mod", "go.sum"):
            (source / each).write_text((GO / each).read_text())
        (source / "main.go").write_text(program)
        programs.append(built(source.name, source.parent))
    return programs


@pytest.mark.slow
def test_the_service_in_java_is_found_out_and_mended(
    java_classes: tuple[Path, list[Path]], pytester: pytest.Pytester
) -> None:
    archives, (broken, right) = java_classes
    Path("lib").symlink_to(archives)
    Path("classes").symlink_to(broken)
    held_to_it(pytester, OTHERS.partition("### In Go\n")[0], holds=False)
    Path("classes").unlink()
    Path("classes").symlink_to(right)
    held_to_it(pytester, OTHERS.partition("### In Go\n")[0], holds=True)


@pytest.mark.slow
def test_the_service_in_go_is_found_out_and_mended(
    go_programs: list[Path], pytester: pytest.Pytester
) -> None:
    for program, holds in zip(go_programs, (False, True), strict=True):
        Path("invoices").unlink(missing_ok=True)
        Path("invoices").symlink_to(program)
        held_to_it(pytester, OTHERS.partition("### In Go\n")[2], holds=holds)


def test_each_example_has_its_test() -> None:
    assert [each for each in BLOCKS if "\ndef test_" not in each] == []


def test_all_that_may_go_wrong_is_named() -> None:
    named = [*BREAKS, *WHATS, *SORTS[1:], *(f"`{each}`" for each in SITUATIONS)]
    assert [each for each in named if each not in TEXT] == []


def test_every_situation_comes_about_around_an_application() -> None:
    """Or is among those of which the page says that it does not."""
    around = {each.partition(":")[0] for each in SITUATIONS}
    verbs = {each for each in dir(Situations) if not each.startswith(("_", "azombie"))}
    assert verbs - around == {
        "topic_recreated",
        *("member_fenced", "lock_ends_in_batch", "poison_record", "share_session_lost"),
        *("task_moves", "internal_topics_missing", "topology_changed"),
    }
    assert around <= verbs
