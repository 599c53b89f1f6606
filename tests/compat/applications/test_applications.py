"""Applications of other projects do their job on Odradek while both are killed: the quick ones.

The rest: `make applications`, whose results make the table of docs/compatibility.md.
"""

from __future__ import annotations

from pathlib import Path

import odradek
import pytest
from odradek.compat import Unavailable
from odradek.compat.applications.__main__ import main, run
from odradek.compat.applications.application import (
    AT_LEAST_ONCE,
    EXACTLY_ONCE,
    applications,
    unavailable,
)
from odradek.compat.applications.brokers import ODRADEK, version_of
from odradek.compat.applications.install import _SET_UP
from odradek.compat.applications.results import (
    BEGIN,
    END,
    PASSED,
    UNAVAILABLE,
    load,
    short,
    table,
)

ROOT = Path(__file__).parents[3]
KNOWN = applications()
QUICK = sorted(name for name, each in KNOWN.items() if each.quick)


@pytest.mark.client
@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_it_does_its_job_while_broker_and_application_are_killed(name: str) -> None:
    result = run(KNOWN[name], ODRADEK)
    if result.outcome == UNAVAILABLE:
        raise Unavailable(result.reason)
    assert result.outcome == PASSED, result.reason


def test_some_are_quick() -> None:
    assert {KNOWN[name].language for name in QUICK} >= {"go", "node"}


@pytest.mark.parametrize("name", KNOWN)
def test_each_says_what_it_is(name: str) -> None:
    application = KNOWN[name]
    assert application.version[0].isdigit()
    assert application.guarantee in (EXACTLY_ONCE, AT_LEAST_ONCE)
    assert application.language in _SET_UP
    assert "|" not in application.title + application.what


def _between(page: str) -> str:
    return (ROOT / page).read_text().partition(BEGIN)[2].partition(END)[0].strip("\n")


def test_the_tables_are_what_the_results_say() -> None:
    results = load(ROOT / "docs/compatibility.json")
    assert _between("docs/compatibility.md") == table(results, KNOWN, unavailable())
    assert _between("README.md") == short(results, KNOWN)
    assert {each.application for each in results} <= set(KNOWN)


def test_the_command_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(KNOWN)


def test_an_unknown_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kafkajs", "nonsense"]) == 2
    assert capsys.readouterr().err == "no such application: nonsense; --list shows them\n"


def test_one_whose_tools_are_missing_is_unavailable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ODRADEK_CACHE", str(tmp_path))
    result = run(KNOWN["kafkajs"], ODRADEK)
    assert (result.outcome, result.reason) == (
        UNAVAILABLE,
        "there is no `npm` command in PATH",
    )


def test_a_result_names_the_version_of_the_source() -> None:
    assert version_of(ODRADEK) == odradek.__version__
