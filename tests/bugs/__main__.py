"""python -m tests.bugs: each bug, and the same service without it, held to its promise; the table
of docs/applications.md.

    --only NAME    bugs whose name has this in it
    --budget 60    seconds for each
    --rights 0     how often the services without bugs are tried
    --write        put the table into the page
"""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from tests.bugs.catalogue import BUGS, Bug

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/applications.md"
BEGIN, END = "<!-- bugs: made by `python -m tests.bugs` -->\n", "<!-- end of bugs -->"
_CAUSE = re.compile(r"likely cause: (.*?)(?:$|\n)")
_AFTER = re.compile(r"found after ([\d.]+) s:\n((?:  .*\n)+)")
_RUNS = re.compile(r", in (\d+) runs?:")


class Found:
    """What became of each case: a plugin of the session that runs them."""

    def __init__(self) -> None:
        self.reports: dict[str, pytest.TestReport] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep it, and say so."""
        if report.when == "call" or report.failed:
            name = report.nodeid.partition("[")[2].rstrip("]")
            if name not in self.reports:
                self.reports[name] = report
                told = f"{name}: {report.outcome}, {report.duration:.0f} s"
                print(told, file=sys.__stderr__, flush=True)


def session(names: list[str], budget: float) -> dict[str, pytest.TestReport]:
    """Run some cases."""
    found = Found()
    cases = [f"{ROOT / 'tests/bugs/held.py'}::test_a_service[{name}]" for name in names]
    options = ["-p", "no:randomly", "-p", "no:cacheprovider", f"--kafka-promise-budget={budget}"]
    with redirect_stdout(StringIO()):
        pytest.main([*options, *cases], plugins=[found])
    return found.reports


def row(bug: Bug, report: pytest.TestReport | None, right: tuple[int, int]) -> str:
    """Of the table."""
    held = f" {right[0]} of {right[1]} |" if right[1] else ""
    what = (bug.function.__doc__ or "").split("\n")[0].rstrip(".")
    if report is None or not report.failed:
        return f"| {bug.name} | {what} | `{bug.promise}` | not found | | |{held}"
    sections = dict(report.sections)
    told = sections.get("kafka_promise", "")
    after = _AFTER.search(told)
    seconds, wrong = (after[1], after[2]) if after else ("?", "")
    cause = _CAUSE.search(report.longreprtext)
    short = cause[1].partition(":")[0] if cause else ""
    which = "; ".join(line.strip() for line in wrong.splitlines()).replace("|", "/")
    runs = _RUNS.search(told)
    often = f" (run {runs[1]})" if runs else ""
    return (
        f"| {bug.name} | {what} | `{bug.promise}` | {float(seconds):.0f} s{often} | "
        f"{which.replace('nothing went wrong', 'nothing')} | {short} |{held}"
    )


def main() -> int:
    """Run them, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--budget", type=float, default=60)
    parser.add_argument("--rights", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    bugs = [each for each in BUGS if chosen.only in each.function.__name__]
    broken = session([f"{each.function.__name__}-bug" for each in bugs], chosen.budget)
    held: dict[str, int] = {}
    for _ in range(chosen.rights):
        rights = session([f"{each.function.__name__}-right" for each in bugs], chosen.budget)
        for name, report in rights.items():
            held[name] = held.get(name, 0) + report.passed
            if report.failed:
                print(report.longreprtext, dict(report.sections).get("kafka_promise"))
    heads = ["bug", "what it does", "promise", "found after", "what went wrong", "told as"]
    heads += ["without it: held"] * bool(chosen.rights)
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for each in bugs:
        name = each.function.__name__
        right = held.get(f"{name}-right", 0), chosen.rights
        lines.append(row(each, broken.get(f"{name}-bug"), right))
    table = "\n".join(lines) + "\n"
    print(table)
    if chosen.write:
        text = PAGE.read_text()
        before, after = text.partition(BEGIN)[0], text.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}{table}{END}{after}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
