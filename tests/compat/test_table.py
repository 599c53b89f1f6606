"""The table of clients, made from results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from odradek.compat.table import BEGIN, BEGIN_SHORT, END, END_SHORT, main, short, table

ROOT = Path(__file__).parents[2]


def result(client: str, scenario: str, outcome: str, broker: str = "odradek") -> dict[str, str]:
    return {
        "client": client,
        "version": "1",
        "scenario": scenario,
        "outcome": outcome,
        "broker": broker,
    }


def rows(made: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[2:-1]] for line in made.splitlines()[2:]]


@pytest.mark.parametrize(
    ("outcomes", "cell"),
    [
        (["passed"], "yes"),
        (["passed", "failed", "passed"], "NO"),
        (["skipped", "passed"], "yes"),
        (["skipped"], ""),
        (["passed", "not emulated"], "not yet"),
    ],
)
def test_a_cell_is_the_worst_of_its_outcomes(outcomes: list[str], cell: str) -> None:
    assert rows(table([result("a", "logs in", each) for each in outcomes])) == [[cell]]


def test_what_differs_from_a_real_broker_has_a_star() -> None:
    results = [result("a", "s", "failed"), result("a", "s", "passed", "real")]
    assert rows(table([*results, result("b", "other", "passed")])) == [["NO*", ""], ["", "yes"]]


def test_several_files_are_one_table(tmp_path: Path) -> None:
    names = ["one", "two"]
    for name in names:
        document = {"results": [result(name, f"row of {name}", "passed")]}
        (tmp_path / name).write_text(json.dumps(document))
    (tmp_path / "docs").mkdir()
    page, readme = tmp_path / "docs/clients.md", tmp_path / "README.md"
    brief = f"{BEGIN_SHORT}\nold\n{END_SHORT}\n"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n{brief}")
    readme.write_text(brief)
    assert main([*(str(tmp_path / name) for name in names), str(tmp_path)]) == 0
    text = page.read_text()
    assert "| row of one | yes |  |" in text
    assert "| row of two |  | yes |" in text
    assert "old" not in text + readme.read_text()
    assert readme.read_text().splitlines()[1] == "one 1 (1 of 1), two 1 (1 of 1)."
    assert main([str(page)]) == 2


def test_the_short_form_is_that_of_the_table() -> None:
    page, readme = ((ROOT / name).read_text() for name in ("docs/clients.md", "README.md"))
    made = page.partition(BEGIN)[2].partition(END)[0].strip()
    for text in (page, readme):
        assert text.partition(BEGIN_SHORT)[2].partition(END_SHORT)[0].strip() == short(made)
