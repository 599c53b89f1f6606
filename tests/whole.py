"""`make test`: all tests, and those that failed among the others once more, each alone.

    python -m tests.whole [options and paths, as pytest takes them]

Thousands of tests share two processes and a busy machine, and a test that hangs on what others do
is red by chance. So up to `MOST` failed tests are run again, each in a process of its own. When all
of them pass, the run passes, and its last lines name them: each is a defect, of the test or of the
product, and is to be mended. A test that fails alone, too, is red, as is one that is skipped there.

Never run again, and red at once: more failures than that, files that cannot be collected, a process
that crashed, and a run that did not get to its end.

Exit status: pytest's; 0 also where all that failed passed alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

MOST = 5
ALONE = "--alone"
_OF_A_TEST = ("setup", "call", "teardown")


class Outcomes:
    """What a run has reported; a plugin of the process that waits for it."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        """Tests that failed: ids, in their order."""
        self.passed: set[str] = set()
        self.broken: list[str] = []
        """What no second run of single tests makes good, in words."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when not in _OF_A_TEST:  # xdist's report of the test that a process died in
            self.broken.append(f"a process crashed in {report.nodeid}")
        elif report.failed and report.nodeid not in self.failed:
            self.failed.append(report.nodeid)
        elif report.passed and report.when == "call":
            self.passed.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(f"not collected: {report.nodeid or 'the tests'}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Of xdist: a process has ended."""
        if error:
            self.broken.append(f"a process crashed: {node.gateway.id}")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if stopped := session.shouldfail or session.shouldstop:
            self.broken.append(f"stopped: {stopped}")


def main(arguments: list[str]) -> int:
    """Run the tests, and the failed ones again; return the exit status."""
    if arguments[:1] == [ALONE]:
        outcomes, status = _run(["-q", *arguments[1:]])
        return status or int(not outcomes.passed)  # it may have been skipped
    environment = dict(os.environ)  # as it is before any test
    outcomes, status = _run(arguments)
    if status != pytest.ExitCode.TESTS_FAILED or not outcomes.failed:
        return status
    if outcomes.broken or len(outcomes.failed) > MOST:
        _say("not run again, alone:", outcomes.broken or [f"{len(outcomes.failed)} tests failed"])
        return status
    return _again(outcomes.failed, environment)


def _run(arguments: list[str]) -> tuple[Outcomes, int]:
    outcomes = Outcomes()
    return outcomes, int(pytest.main(arguments, plugins=[outcomes]))


def _again(failed: list[str], environment: Mapping[str, str]) -> int:
    """Run each of these tests in a process of its own; return the exit status."""
    red = []
    for name in failed:
        _say("failed among the others, and is run again alone:", [name])
        command = [sys.executable, "-m", "tests.whole", ALONE, name]
        if subprocess.run(command, env=environment, check=False).returncode:
            red.append(name)
    if red:
        _say("FAILED among the others AND ALONE:", red)
    if passed := [name for name in failed if name not in red]:
        what = "a test that hangs on others, to be mended"
        _say(f"FAILED AMONG THE OTHERS AND PASSED ALONE: {what}:", passed)
    return int(bool(red))


def _say(what: str, names: list[str]) -> None:
    line = "!" * 100
    print("", line, what, *(f"    {name}" for name in names), line, sep="\n", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
