"""The table of docs/clients.md, made from the tests' results: what each stock client did.

    ODRADEK_RESULTS=results.json pytest tests/clients
    python -m odradek.compat.table results.json [more.json ...] ROOT

replaces what stands between the marker lines in ROOT/docs/clients.md, and its short form there and
in ROOT/README.md. A cell is the outcome of one test, or the worst of several: yes, NO (it failed),
"not yet" (the tests say that it is not emulated), or empty where it does not apply. If the files
have results of a real Kafka too, a difference from them is marked with a star.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .scenarios import SCENARIOS

BEGIN = "<!-- client table: made by `make table` -->"
END = "<!-- end of client table -->"
BEGIN_SHORT = "<!-- clients in brief: made by `make table` -->"
END_SHORT = "<!-- end of clients in brief -->"
_WORDS = {
    "skipped": "",
    "passed": "yes",
    "not emulated": "not yet",
    "failed": "NO",
}  # the worst last

Result = Mapping[str, str]


def table(results: Sequence[Result]) -> str:
    """A Markdown table: a row a scenario, a column a client."""
    ours = [result for result in results if result["broker"] == "odradek"]
    clients = sorted({(r["client"], r["version"]) for r in ours})
    outcomes: dict[tuple[str, str, str], str] = {}
    for result in results:
        key = (result["broker"], result["client"], result["scenario"])
        found = (outcomes.get(key, "skipped"), result["outcome"])
        outcomes[key] = max(found, key=list(_WORDS).index)
    scenarios = dict.fromkeys(r["scenario"] for r in ours)
    lines = [
        "| | " + " | ".join(f"{name} {version}" for name, version in clients) + " |",
        "|---|" + "---|" * len(clients),
    ]
    for scenario in scenarios:
        cells = [_cell(outcomes, name, scenario) for name, _ in clients]
        lines.append(f"| {describe(scenario)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def describe(scenario: str) -> str:
    """The first line of a scenario's docstring, or its name in words."""
    function = SCENARIOS.get(scenario)
    if function is None or not function.__doc__:
        return scenario.replace("_", " ")
    return function.__doc__.strip().splitlines()[0].rstrip(".")


def _cell(outcomes: Mapping[tuple[str, str, str], str], client: str, scenario: str) -> str:
    outcome = outcomes.get(("odradek", client, scenario))
    if outcome is None:
        return ""
    real = outcomes.get(("real", client, scenario), outcome)
    return _WORDS.get(outcome, outcome) + ("*" if real != outcome else "")


def short(made: str) -> str:
    """Of a table the columns' sums: how many scenarios pass, of those that apply to the client."""
    head, _, *rows = (
        [cell.strip() for cell in line.split("|")[2:-1]] for line in made.splitlines()
    )
    sums = [
        f"{client} ({column.count('yes')} of {len(column) - column.count('')})"
        for client, column in zip(head, zip(*rows, strict=True), strict=True)
    ]
    return f"{', '.join(sums)}."


def insert(page: str, made: str, begin: str = BEGIN, end: str = END) -> str:
    """The page with a new table. Raises ValueError if the marker lines are not there."""
    before, begun, rest = page.partition(begin)
    _, ended, after = rest.partition(end)
    if not begun or not ended:
        raise ValueError(f"no place for the table: {begin!r} ... {end!r}")
    return f"{before}{begin}\n{made}\n{end}{after}"


def main(arguments: Sequence[str]) -> int:
    """`python -m odradek.compat.table RESULTS [...] ROOT`."""
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    files = [Path(name) for name in arguments[:-1]]
    results = [result for file in files for result in json.loads(file.read_text())["results"]]
    made, root = table(results), Path(arguments[-1])
    for name in ("docs/clients.md", "README.md"):
        text = insert((root / name).read_text(), short(made), BEGIN_SHORT, END_SHORT)
        (root / name).write_text(insert(text, made) if BEGIN in text else text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
