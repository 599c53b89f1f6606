"""python -m tests.bugs: each bug held to its promise, which it breaks, and its twin, the same
service without the bug, which is to keep it; the table of docs/applications.md.

    --only NAME       bugs whose client or name has this in it; with --write other rows stay
    --budget 60       seconds for each bug
    --twins 0         how often each twin is run
    --twin-budget 15  seconds for each run of a twin
    --twins-alone     no bugs; with --write the rows keep what they say of these
    --write           put the table into the page

What the report says of a twin that was blamed is kept in build/bugs.
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
from odradek.fixtures.promises.causes import CAUSES as KNOWN

from tests.bugs.catalogue import BUGS, CAUSES, Bug

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/applications.md"
BLAMED = ROOT / "build/bugs"
BEGIN, END = "<!-- bugs: made by `python -m tests.bugs` -->\n", "<!-- end of bugs -->"
CAUSE = re.compile(r"likely cause: (.*?)(?:$|\n)")
_AFTER = re.compile(r"found after ([\d.]+) s:\n((?:  .*\n)+)")
_RUNS = re.compile(r", in (\d+) runs?:")
_HEADS = (
    *("client", "bug", "what it does", "promise"),
    *("found after", "what went wrong", "likely cause", "twin held"),
)
_HEAD = [f"| {' | '.join(_HEADS)} |", "|---" * len(_HEADS) + "|"]
_NOT_IT = "(not the cause) "


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
                message = f"{name}: {report.outcome}, {report.duration:.0f} s"
                print(message, file=sys.__stderr__, flush=True)


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


def row(bug: Bug, report: pytest.TestReport | None, held: str = "") -> str:
    """Of the table."""
    first = f"| {bug.client} | {bug.name} | {bug.what} | `{bug.promise}` |"
    if report is None or not report.failed:
        return f"{first} not found | | | {held} |"
    sections = dict(report.sections)
    section = sections.get("kafka_promise", "")
    after = _AFTER.search(section)
    seconds, wrong = (after[1], after[2]) if after else ("?", "")
    cause = CAUSE.search(report.longreprtext)
    which = "; ".join(line.strip() for line in wrong.splitlines()).replace("|", "/")
    runs = _RUNS.search(section)
    often = f" (run {runs[1]})" if runs else ""
    which = which.replace("nothing went wrong", "nothing")
    return f"{first} {seconds} s{often} | {which} | {named(bug, cause and cause[1])} | {held} |"


def named(bug: Bug, sentence: str | None) -> str:
    """The likely cause of a report in short, marked if that is not what the bug is."""
    if not sentence:
        return ""
    is_it = any(
        each.sentence.startswith(sentence[:_ENOUGH]) and each.name in CAUSES[bug.bug]
        for each in KNOWN
    )
    return f"{'' if is_it else _NOT_IT}{sentence.partition(':')[0]}"


_ENOUGH = 40


def tried(bugs: Sequence[Bug], budget: float, times: int) -> dict[str, str]:
    """How often each twin has held, of so many times."""
    held: dict[str, int] = dict.fromkeys((each.key for each in bugs), 0)
    for number in range(1, times + 1):
        reports = session([f"{each.key}-right" for each in bugs], budget)
        for name, report in reports.items():
            held[name.removesuffix("-right")] += report.passed
            if report.failed:
                BLAMED.mkdir(parents=True, exist_ok=True)
                message = "\n".join([report.longreprtext, *(text for _, text in report.sections)])
                (BLAMED / f"{name}-{number}.txt").write_text(message)
    return {key: f"{count} of {times}" if times else "" for key, count in held.items()}


def merged(text: str, lines: list[str], bugs: Sequence[Bug], *, twins_alone: bool = False) -> str:
    """The page with these rows; those of other bugs stay as they are. Of a row without what was
    tried the page's stays."""
    before, _, rest = text.partition(BEGIN)
    there, _, after = rest.partition(END)
    rows = {_place(each): each for each in there.splitlines() if each.count("|") > _FEWEST}
    for line in lines:
        place = _place(line)
        cells, old = _cells(line), _cells(rows.get(place, line))
        if twins_alone:
            cells[_FOUND:-1] = old[_FOUND:-1]
        cells[-1] = cells[-1].strip() or old[-1].strip()
        rows[place] = f"| {' | '.join(each.strip() for each in cells)} |".replace("  |", " |")
    places = [f"{each.client} | {each.name}" for each in bugs]
    table = [*_HEAD, *(rows[each] for each in places if each in rows)]
    return f"{before}{BEGIN}{chr(10).join(table)}\n{END}{after}"


_FEWEST = 7
_FOUND = 4


def _cells(line: str) -> list[str]:
    return line.strip().strip("|").split("|")


def _place(line: str) -> str:
    client, bug = line.split("|")[1:3]
    return f"{client.strip()} | {bug.strip()}"


def main() -> int:
    """Run them, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--budget", type=float, default=60)
    parser.add_argument("--twins", type=int, default=0)
    parser.add_argument("--twin-budget", type=float, default=15)
    parser.add_argument("--twins-alone", action="store_true")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    bugs = [e for e in BUGS if chosen.only in f"{e.client} {e.key}"]
    names = [] if chosen.twins_alone else [f"{each.key}-bug" for each in bugs]
    broken = session(names, chosen.budget) if names else {}
    held = tried(bugs, chosen.twin_budget, chosen.twins)
    lines = [row(e, broken.get(f"{e.key}-bug"), held[e.key]) for e in bugs]
    texts = (f"{each.client}, {each.name}: twin held {held[each.key]}" for each in bugs)
    print("\n".join(texts if chosen.twins_alone else [*_HEAD, *lines]))
    if chosen.write:
        page = merged(PAGE.read_text(), lines, BUGS, twins_alone=chosen.twins_alone)
        PAGE.write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
