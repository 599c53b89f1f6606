"""The table of clients, made from results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from odradek.compat.table import BEGIN, END, main, table


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
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    assert main([*(str(tmp_path / name) for name in names), str(readme)]) == 0
    text = readme.read_text()
    assert "| row of one | yes |  |" in text
    assert "| row of two |  | yes |" in text
    assert "old" not in text
    assert main([str(readme)]) == 2
