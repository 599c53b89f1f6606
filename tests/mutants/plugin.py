"""A plugin of pytest, of one process that loads all tests and the woven sources.

It reports which mutants each test reaches, and how long it takes. What a fixture of a module or a
session reaches, all tests of the module reach.

Where jobs are asked for (a mutant and its tests), each runs in a process forked from this one, in
which nothing has been loaded or run with the mutant on; what fails must pass there without it.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import select
import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any, NoReturn

import mutant_switch as switch  # type: ignore[import-not-found]
import pytest

_CPU_S = 60
_WHOLE_S = 120
_seconds = 0.0
_outcomes: set[str] = set()


def pytest_collection_finish() -> None:
    switch.report("")  # what is reached while modules are loaded


def pytest_runtest_logstart(nodeid: str) -> None:
    global _seconds
    os.environ[switch.TEST] = nodeid
    switch.reached.clear()
    _seconds = 0.0
    _outcomes.clear()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Generator[None, Any, Any]:
    before = set(switch.reached)
    switch.reached.clear()
    try:
        return (yield)
    finally:
        if fixturedef.scope != "function" and switch.reached:
            switch.report(str(request.node.nodeid))
        switch.reached.update(before)


def pytest_runtest_logreport(report: Any) -> None:
    global _seconds
    _seconds += report.duration
    _outcomes.add(report.outcome)


def pytest_runtest_logfinish(nodeid: str) -> None:
    switch.report(nodeid, seconds=round(_seconds, 3), passed=_outcomes == {"passed"})


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    asked = os.environ.pop("MUTANT_JOBS", None)
    if asked is None:
        return None
    loaded, items = set(switch.reached), {each.nodeid: each for each in session.items}
    gc.freeze()
    for line in Path(asked).read_text().splitlines():
        job = json.loads(line)
        if job["number"] in loaded:
            continue
        tests = [items[test] for test in job["tests"] if test in items]
        with Path(asked + ".done").open("a") as file:
            print(json.dumps({"number": job["number"], **_result(job["number"], tests)}), file=file)
    return True


def _result(number: int, tests: list[pytest.Item]) -> dict[str, Any]:
    while tests:
        killer = _run(number, tests)
        if killer is None or killer not in {each.nodeid for each in tests}:
            return {"killer": killer, "tests": len(tests)}
        alone = [each for each in tests if each.nodeid == killer]
        if _run(0, alone) is None:
            return {"killer": killer, "tests": len(tests)}
        tests.remove(alone[0])
    return {"killer": None, "tests": 0}


def _run(number: int, tests: list[pytest.Item]) -> str | None:
    """The test that fails, or "no end"."""
    said, says = os.pipe()
    process = os.fork()
    if process == 0:
        _in_child(number, tests, says)
    os.close(says)
    answered, _, _ = select.select([said], [], [], _WHOLE_S)
    answer = os.read(said, 4096).decode() if answered else ""
    os.close(said)
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None if answer == "passed" else answer or "no end"


def _in_child(number: int, tests: list[pytest.Item], says: int) -> NoReturn:
    answer = ""
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
        resource.setrlimit(resource.RLIMIT_DATA, (6 << 30, 6 << 30))
        switch.ON = number
        for test, following in zip(tests, [*tests[1:], None], strict=True):
            test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
            if "failed" in _outcomes:
                answer = test.nodeid
                break
        answer = answer or "passed"
    finally:
        os.write(says, (answer or "an error that ends the run").encode())
        os._exit(0)
