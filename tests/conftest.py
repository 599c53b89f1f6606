"""For all tests: pytest's fixture for running pytest, how Hypothesis draws, what is skipped, and
that a test leaves the settings of its process as they were.

Hypothesis draws without its time limit, which fails examples on a busy machine; and the same
examples every time, so that a change is what turns a test red. `make explore` draws new ones, and
`make check` a tenth of them (the profile `quick`; tests/support/drawn.py).

What is optional and not here (a client library, Java, Maven's archives) raises `Unavailable`: the
test is skipped, with the reason, and the last lines of the session say what was missing.
"""

from __future__ import annotations

import gc
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from _pytest.pytester import SysModulesSnapshot
from hypothesis import settings

# Before anything imports them: their assertions are explained as those of test modules are.
pytest.register_assert_rewrite(
    "odradek.compat.scenarios",
    "tests.requests",
    "tests.support",
    "tests.clients.support",
    "tests.compat.spark.pipeline.support",
    "tests.compat.cli.console.support",
    "tests.emulator.groups.support",
    "tests.fixtures.views.support",
    "tests.hostile.support",
    "tests.storage.support",
    "tests.wire.support",
)

from odradek.compat import Unavailable  # noqa: E402

from tests.support.left import Noted, noted, put_back  # noqa: E402

# A shell starts what runs in the background with Ctrl-C ignored, and so would be all processes that
# tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = [
    "pytester",
    "odradek.fixtures.spark",
    "tests.support.parts",
    "tests.support.real_kafka",
    "tests.support.scheduler",
]

settings.register_profile("odradek", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=10)
settings.load_profile("odradek")


def pytest_collection_finish() -> None:
    """Twelve thousand tests are in memory for as long as the run lasts: to look at them again and
    again for garbage is a fifth of its time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Each run in this process puts `sys.modules` back, but for what is not of the test: some
    libraries cannot be loaded twice, and of others there would be two of each class."""

    def snapshot() -> SysModulesSnapshot:
        return SysModulesSnapshot(lambda name: not _is_below(pytester.path, sys.modules[name]))

    monkeypatch.setattr(pytester, "_sys_modules_snapshot", snapshot())
    monkeypatch.setattr(pytester, "_Pytester__take_sys_modules_snapshot", snapshot)
    return pytester


def _is_below(path: Path, module: ModuleType | None) -> bool:
    return Path(getattr(module, "__file__", None) or "/").is_relative_to(path)


_SETTINGS = pytest.StashKey[Noted]()
UNAVAILABLE = "unavailable: "  # how the reason of such a skip begins


@contextmanager
def _skipped_without() -> Generator[None]:
    try:
        yield
    except Unavailable as reason:
        pytest.skip(UNAVAILABLE + str(reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    item.stash[_SETTINGS] = noted()
    with _skipped_without():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, Any, Any]:
    with _skipped_without():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    """What is left of the process's settings decides what its later tests see of it."""
    result = yield
    left = put_back(item.stash[_SETTINGS])
    assert not left, f"settings of the process are left changed: {'; '.join(left)}"
    return result


def pytest_terminal_summary(terminalreporter: Any) -> None:
    missing: dict[str, Counter[str]] = defaultdict(Counter)
    for report in terminalreporter.stats.get("skipped", []):
        if isinstance(report.longrepr, tuple) and UNAVAILABLE in report.longrepr[2]:
            reason = report.longrepr[2].partition(UNAVAILABLE)[2]
            missing[reason][Path(report.location[0]).name] += 1
    for reason, files in missing.items():
        what = ", ".join(f"{count} of {file}" for file, count in sorted(files.items()))
        terminalreporter.write_line(f"Skipped tests ({what}): {reason}")
