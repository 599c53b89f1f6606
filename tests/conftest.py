"""For all tests: pytest's fixture for running pytest, how Hypothesis draws, and what is skipped.

Hypothesis draws without its time limit, which fails examples on a busy machine; and the same
examples every time, so that a change is what turns a test red. `make explore` draws new ones.

What is optional and not here (a client library, Java, Maven's archives) raises `Unavailable`: the
test is skipped, with the reason, and the last lines of the session say what was missing.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Before anything imports them: their assertions are explained as those of test modules are.
pytest.register_assert_rewrite(
    "odradek.compat.scenarios",
    "tests.requests",
    "tests.support",
    "tests.clients.support",
    "tests.compat.spark.pipeline.support",
    "tests.emulator.cli.console.support",
    "tests.emulator.groups.support",
    "tests.emulator.seen.support",
    "tests.hostile.support",
    "tests.storage.support",
    "tests.wire.support",
)

from odradek.compat import Unavailable  # noqa: E402

pytest_plugins = ["pytester", "odradek.fixtures.spark"]

settings.register_profile("odradek", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile("odradek")


@pytest.fixture(scope="session")
def _loaded_once() -> None:
    for name in ("numpy", "pyarrow"):
        if find_spec(name) is not None:
            import_module(name)


@pytest.fixture
def pytester(_loaded_once: None, pytester: pytest.Pytester) -> pytest.Pytester:
    """Each Pytester puts `sys.modules` back as they were when it was made. What cannot be loaded
    twice in one process is therefore loaded before that."""
    return pytester


UNAVAILABLE = "unavailable: "  # how the reason of such a skip begins


@contextmanager
def _skipped_without() -> Generator[None]:
    try:
        yield
    except Unavailable as reason:
        pytest.skip(UNAVAILABLE + str(reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, Any, Any]:
    with _skipped_without():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, Any, Any]:
    with _skipped_without():
        return (yield)


def _log() -> tuple[int, bool, bool, int]:
    logger = logging.getLogger("odradek")
    return logger.level, logger.propagate, logger.disabled, logging.root.manager.disable


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """What is left of the log's settings decides what later tests of the process see of it."""
    before = _log()
    item.stash[_LOG] = before
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    result = yield
    before, after = item.stash[_LOG], _log()
    if after != before:
        logger = logging.getLogger("odradek")
        level, logger.propagate, logger.disabled, disabled = before
        logger.setLevel(level)
        logging.disable(disabled)
        message = "the log is left with other settings"
        raise AssertionError(f"{message} (level, propagate, disabled, all): {before} -> {after}")
    return result


_LOG = pytest.StashKey[tuple[int, bool, bool, int]]()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    missing: dict[str, Counter[str]] = defaultdict(Counter)
    for report in terminalreporter.stats.get("skipped", []):
        if isinstance(report.longrepr, tuple) and UNAVAILABLE in report.longrepr[2]:
            reason = report.longrepr[2].partition(UNAVAILABLE)[2]
            missing[reason][Path(report.location[0]).name] += 1
    for reason, files in missing.items():
        what = ", ".join(f"{count} of {file}" for file, count in sorted(files.items()))
        terminalreporter.write_line(f"Skipped tests ({what}): {reason}")
