"""python -m tests.bugs: each bug, and the same service without it, held to its promise; the table
of docs/applications.md.

    --only NAME    bugs whose client or name has this in it; with --write other rows stay
    --budget 60    seconds for each
    --rights 0     how often the services without bugs are tried
    --write        put the table into the page
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from tests.bugs.catalogue import BUGS, Bug

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/applications.md"
BEGIN, END = "<!-- bugs: made by `python -m tests.bugs` -->\n", "<!-- end of bugs -->"
CAUSE = re.compile(r"likely cause: (.*?)(?:$|\n)")
_AFTER = re.compile(r"found after ([\d.]+) s:\n((?:  .*\n)+)")
_RUNS = re.compile(r", in (\d+) runs?:")
_HEADS = ("client", "bug", "what it does", "promise", "found after", "what went wrong", "told as")
_HEAD = [f"| {' | '.join(_HEADS)} | without it: held |", "|---" * (len(_HEADS) + 1) + "|"]
_FEWEST = 7


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


def session(
    names: list[str], budget: float, test: str = "held.py::test_a_service"
) -> dict[str, pytest.TestReport]:
    """Run some cases."""
    found = Found()
    cases = [f"{ROOT / 'tests/bugs' / test}[{name}]" for name in names]
    options = ["-p", "no:randomly", "-p", "no:cacheprovider", f"--kafka-promise-budget={budget}"]
    with redirect_stdout(StringIO()):
        pytest.main([*options, *cases], plugins=[found])
    return found.reports


def row(bug: Bug, report: pytest.TestReport | None, right: tuple[int, int]) -> str:
    """Of the table."""
    held = f"{right[0]} of {right[1]}" if right[1] else ""
    first = f"| {bug.client} | {bug.name} | {bug.what} | `{bug.promise}` |"
    if report is None or not report.failed:
        return f"{first} not found | | | {held} |"
    sections = dict(report.sections)
    told = sections.get("kafka_promise", "")
    after = _AFTER.search(told)
    seconds, wrong = (after[1], after[2]) if after else ("?", "")
    cause = CAUSE.search(report.longreprtext)
    short = cause[1].partition(":")[0] if cause else ""
    which = "; ".join(line.strip() for line in wrong.splitlines()).replace("|", "/")
    runs = _RUNS.search(told)
    often = f" (run {runs[1]})" if runs else ""
    which = which.replace("nothing went wrong", "nothing")
    return f"{first} {seconds} s{often} | {which} | {short} | {held} |"


def tried(bugs: list[Bug], budget: float, times: int) -> dict[str, int]:
    """How often each service without its bug has held."""
    held: dict[str, int] = dict.fromkeys((each.key for each in bugs), 0)
    for _ in range(times):
        reports = session([f"{each.key}-right" for each in bugs], budget)
        for name, report in reports.items():
            held[name.removesuffix("-right")] += report.passed
            if report.failed:
                print(report.longreprtext, dict(report.sections).get("kafka_promise"))
    return held


def merged(text: str, lines: list[str], bugs: Sequence[Bug]) -> str:
    """The page with these rows; those of other bugs stay as they are."""
    before, _, rest = text.partition(BEGIN)
    there, _, after = rest.partition(END)
    rows = {_place(each): each for each in there.splitlines() if each.count("|") > _FEWEST}
    rows |= {_place(each): each for each in lines}
    places = [f"{each.client} | {each.name}" for each in bugs]
    table = [*_HEAD, *(rows[each] for each in places if each in rows)]
    return f"{before}{BEGIN}{chr(10).join(table)}\n{END}{after}"


def _place(line: str) -> str:
    client, bug = line.split("|")[1:3]
    return f"{client.strip()} | {bug.strip()}"


def main() -> int:
    """Run them, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--budget", type=float, default=60)
    parser.add_argument("--rights", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    bugs = [e for e in BUGS if chosen.only in f"{e.client} {e.key}"]
    broken = session([f"{each.key}-bug" for each in bugs], chosen.budget)
    held = tried(bugs, chosen.budget, chosen.rights)
    lines = [row(e, broken.get(f"{e.key}-bug"), (held[e.key], chosen.rights)) for e in bugs]
    print("\n".join([*_HEAD, *lines]))
    if chosen.write:
        PAGE.write_text(merged(PAGE.read_text(), lines, BUGS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
