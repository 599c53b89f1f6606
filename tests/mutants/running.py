"""Which tests reach a mutant, and whether one of them fails when it is on.

Tests near the mutant's file are asked first, and the quick ones of them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from .choosing import Mutant

_WAITING_S = 60  # and four times what the tests take when all is well
_LONGEST_S = 10.0
_MOST_TESTS = 400
_AT_ONCE = 40  # mutants of one process
_OF_ONE_FUNCTION = 3
_FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.*?)(?: - .*)?$", re.M)
Job = tuple[Mutant, list[str]]


@dataclass
class Reach:
    seconds: dict[str, float] = field(default_factory=dict)  # of each test that passes
    tests: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    loading: set[int] = field(default_factory=set)  # reached while modules are loaded


def reach_of(report: Path) -> Reach:
    lines = (
        [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    )
    reach = Reach()
    by_file = defaultdict(set)
    for each in lines:
        if each.get("passed"):
            reach.seconds[each["test"]] = each["seconds"]
            by_file[each["test"].split("::")[0]].add(each["test"])
    for each in lines:
        test = each["test"]
        if not test:
            reach.loading |= set(each["reached"])
        asked = {test} if "::" in test else by_file[test]
        for number in each["reached"]:
            reach.tests[number] |= asked & reach.seconds.keys()
    return reach


class Runs:
    """Runs of pytest over the woven sources in `place`, each started with `through`."""

    def __init__(self, place: Path, through: Iterable[str] = ()) -> None:
        self.place = place
        self.through = list(through)
        self.report = place / "reached.jsonl"
        self.gone = place / "gone.txt"

    def pytest(self, asked: Iterable[str], **variables: object) -> subprocess.CompletedProcess[str]:
        """Bytecode is kept, whatever the environment says of it."""
        new = {"PYTHONPATH": self.place / "path", "PYTHONPYCACHEPREFIX": self.place / "bytecode"}
        env = {**os.environ, **{name: str(value) for name, value in (new | variables).items()}}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, "-m", "pytest", "-p", "mutant_plugin", "-p", "no:cacheprovider"]
        return subprocess.run(
            [*self.through, *command, "-q", *asked],
            cwd=self.place / "tree",
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            errors="replace",
        )

    def reach(self, asked: Iterable[str]) -> None:
        print(self.pytest(asked, MUTANT_REPORT=self.report).stdout[-2000:])

    def verdicts(
        self, mutants: list[Mutant], reach: Reach, seconds: float
    ) -> Iterator[tuple[Mutant, str]]:
        asked, counts = [], {}
        for mutant in mutants:
            reaching = self.reaching(mutant, reach)
            tests = chosen(mutant, reaching, reach.seconds, seconds)
            counts[mutant.number] = len(reaching)
            if tests:
                asked.append((mutant, tests))
            else:
                yield mutant, "not reached" if not reaching else "survived 0 tests"
        for mutant, killer, count in self.asked(asked, reach):
            message = f"survived {count} of {counts[mutant.number]} tests"
            yield mutant, f"killed {killer}" if killer else message

    def asked(self, jobs: list[Job], reach: Reach) -> Iterator[tuple[Mutant, str | None, int]]:
        """Each with the test that notices it, and of how many. Mutants that take effect while
        modules are loaded have a process of their own; others share one, from which theirs are
        forked."""
        together = []
        for mutant, tests in jobs:
            if mutant.at_import or mutant.number in reach.loading:
                yield mutant, self._alone(mutant, tests, reach.seconds), len(tests)
            else:
                together.append((mutant, tests))
        for first in range(0, len(together), _AT_ONCE):
            some = together[first : first + _AT_ONCE]
            done = self._together([(mutant.number, tests) for mutant, tests in some])
            for mutant, _ in some:
                if mutant.number in done:
                    yield mutant, *done[mutant.number]

    def _alone(self, mutant: Mutant, tests: list[str], took: dict[str, float]) -> str | None:
        limit_s = _WAITING_S + 4 * sum(took.get(test, 1) for test in tests)
        alone = Runs(self.place, [*self.through, "timeout", "-k", "5", f"{limit_s:.0f}"])
        done = alone.pytest(["-x", *tests], MUTANT_ON=mutant.number)
        failed = _FAILED.search(done.stdout)
        if failed or done.returncode == 0:
            return failed[1] if failed else None
        return "no end" if done.returncode in (124, 137) else "no module"

    def _together(self, jobs: list[tuple[int, list[str]]]) -> dict[int, tuple[str | None, int]]:
        lines = [json.dumps({"number": number, "tests": tests}) for number, tests in jobs]
        asked = self.place / "jobs.jsonl"
        asked.write_text("\n".join(lines))
        results = self.place / "jobs.jsonl.done"
        results.unlink(missing_ok=True)
        files = {test.split("::")[0] for _, tests in jobs for test in tests}
        done = self.pytest(sorted(files), MUTANT_JOBS=asked)
        if not results.exists():
            raise SystemExit(done.stdout)
        found = [json.loads(line) for line in results.read_text().splitlines()]
        return {each["number"]: (each["killer"], each["tests"]) for each in found}

    def reaching(self, mutant: Mutant, reach: Reach) -> set[str]:
        """Of a mutant in a table that no function stands beside: the tests of each file that names
        something of its module, bears its name or is in its room."""
        at_import = mutant.at_import or mutant.number in reach.loading
        if reach.tests[mutant.number] or not at_import:
            return reach.tests[mutant.number]
        path = Path(mutant.file)
        text = (self.place / "tree" / path).read_text()
        names = re.findall(r"^(?:class |def )?([A-Za-z]\w{4,})\b(?=[(:]| = )", text, re.M)
        asks = re.compile(rf"\b({'|'.join(names or ['nothing'])})\b")
        near = {
            file
            for file in {test.split("::")[0] for test in reach.seconds}
            if file.endswith(f"/test_{path.stem}.py")
            or Path(file).is_relative_to(Path("tests") / path.parent)
            or asks.search((self.place / "tree" / file).read_text())
        }
        return {test for test in reach.seconds if test.split("::")[0] in near}


def chosen(mutant: Mutant, tests: set[str], took: dict[str, float], seconds: float) -> list[str]:
    """Those near the mutant's file and quick ones first, three rows of a table before the rest."""
    folders = ["tests", *mutant.file.split("/")[:-1]]

    def near(test: str) -> int:
        both = zip(folders, test.split("::")[0].split("/"), strict=False)
        return len(list(takewhile(lambda pair: pair[0] == pair[1], both)))

    rows: Counter[str] = Counter()
    order: list[tuple[bool, int, float, str]] = []
    for test in sorted(tests, key=lambda each: (took[each], each)):
        function = test.partition("[")[0]
        rows[function] += 1
        order.append((rows[function] > _OF_ONE_FUNCTION, -near(test), took[test], test))
    found, whole = [], 0.0
    for *_, took_s, test in sorted(order):
        if took_s < _LONGEST_S and whole + took_s < seconds and len(found) < _MOST_TESTS:
            found.append(test)
            whole += took_s
    files = list(dict.fromkeys(test.split("::")[0] for test in found))
    return sorted(found, key=lambda test: files.index(test.split("::")[0]))
