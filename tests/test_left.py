"""A test that leaves the settings of its process changed is named, and the next one is not."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONFTEST = (ROOT / "tests/conftest.py").read_text()
TESTS = """
import gc
import logging
import os
import signal
import socket
import sys
import tempfile
import threading

import pytest

LEAVES = {
    "level": lambda: logging.getLogger("odradek").setLevel(logging.ERROR),
    "all logs": lambda: logging.disable(logging.ERROR),
    "new": lambda: os.environ.update(LEFT="1"),
    "gone": lambda: os.environ.pop("HOME"),
    "directory": lambda: os.chdir("/"),
    "signal": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
    "temporary": lambda: setattr(tempfile, "tempdir", "/nowhere"),
    "sockets": lambda: socket.setdefaulttimeout(5),
    "collector": gc.disable,
    "profile": lambda: sys.setprofile(print_nothing),
    "profiles": lambda: threading.setprofile(print_nothing),
    "switches": lambda: sys.setswitchinterval(0.5),
}


def print_nothing(*_):
    pass


@pytest.mark.parametrize("what", LEAVES)
def test_leaves(what):
    LEAVES[what]()


@pytest.mark.parametrize("what", ["level", "new", "directory", "signal"])
def test_puts_back(what, request, monkeypatch, tmp_path):
    monkeypatch.setenv("LEFT", "1")
    monkeypatch.chdir(tmp_path)
    level = logging.getLogger("odradek").level
    request.addfinalizer(lambda: logging.getLogger("odradek").setLevel(level))
    logging.getLogger("odradek").setLevel(logging.ERROR)
    os.environ["SPARK_HOME"] = "/spark"


@pytest.fixture(autouse=True)
def _in_between(what):
    assert "LEFT" not in os.environ
    assert "HOME" in os.environ
    assert gc.isenabled()
"""


def test_what_is_left_is_said_and_put_back(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess("-p", "no:randomly")
    result.assert_outcomes(passed=16, errors=12)
    result.stdout.fnmatch_lines_random(
        [
            "E *: environment variables: LEFT None -> '1'",
            "E *: environment variables: HOME '*' -> None",
            "E *: the current directory: '*' -> '/'",
            "E *: handlers of signals: SIGTERM <Handlers.SIG_DFL: 0> -> <Handlers.SIG_IGN: 1>",
        ]
    )
