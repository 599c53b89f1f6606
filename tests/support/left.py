"""What a test may leave of the process it shares with others: nothing of what is noted here.

Settings of the process decide what every later test of it sees. `noted()` is taken before a test
and after it; `put_back` gives the difference, in words, and undoes it.

Not noted: threads and sockets (clients end when they like), and what Spark's first session sets for
the whole process.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

# Of Spark and its launcher; and pytest's own, which names the test.
_NOT_OURS = ("SPARK_", "PYSPARK_", "PYTEST_")
# Not SIGALRM: the time limit of a test takes its handler away once the test has failed.
_SIGNALS = [
    signal.Signals[name]
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
]


class _Kind(NamedTuple):
    """One sort of setting: what it is now, and how it is put back."""

    read: Callable[[], Any]
    write: Callable[[Any], Any]


def _log() -> tuple[int, bool, bool, int]:
    logger = logging.getLogger("odradek")
    return logger.level, logger.propagate, logger.disabled, logging.root.manager.disable


def _set_log(settings: tuple[int, bool, bool, int]) -> None:
    logger = logging.getLogger("odradek")
    level, logger.propagate, logger.disabled, disabled = settings
    logger.setLevel(level)
    logging.disable(disabled)


def _environment() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if not name.startswith(_NOT_OURS)}


def _set_environment(variables: dict[str, str]) -> None:
    for name in _environment().keys() - variables.keys():
        del os.environ[name]
    os.environ.update(variables)


def _directory() -> str | None:
    with suppress(FileNotFoundError):  # it was removed
        return os.getcwd()
    return None


def _set_directory(path: str | None) -> None:
    if path is not None:
        os.chdir(path)


def _signals() -> dict[str, Any]:
    """Spark's first session has a handler of its own for SIGINT."""
    found = {number.name: signal.getsignal(number) for number in _SIGNALS}
    if getattr(found["SIGINT"], "__module__", "").startswith("pyspark."):
        found["SIGINT"] = signal.default_int_handler
    return found


def _set_signals(handlers: dict[str, Any]) -> None:
    for name, handler in handlers.items():
        number = signal.Signals[name]
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


_KINDS = {
    "the log (level, propagate, disabled, all)": _Kind(_log, _set_log),
    "environment variables": _Kind(_environment, _set_environment),
    "the current directory": _Kind(_directory, _set_directory),
    "handlers of signals": _Kind(_signals, _set_signals),
    "tempfile.tempdir": _Kind(tempfile.gettempdir, lambda path: setattr(tempfile, "tempdir", path)),
    "the time limit of new sockets": _Kind(socket.getdefaulttimeout, socket.setdefaulttimeout),
    "the garbage collector (on, thresholds)": _Kind(
        lambda: (gc.isenabled(), gc.get_threshold()),
        lambda settings: (
            gc.enable() if settings[0] else gc.disable(),
            gc.set_threshold(*settings[1]),
        ),
    ),
    "the profile function": _Kind(sys.getprofile, sys.setprofile),
    "the profile function of threads": _Kind(threading.getprofile, threading.setprofile),
    "the switch interval of threads": _Kind(sys.getswitchinterval, sys.setswitchinterval),
}
Noted = dict[str, Any]


def noted() -> Noted:
    """The settings as they are."""
    return {name: kind.read() for name, kind in _KINDS.items()}


def put_back(before: Noted) -> list[str]:
    """Set again what has changed; say what that was."""
    after = noted()
    found = []
    for name, was in before.items():
        if after[name] != was:
            found.append(f"{name}: {_difference(was, after[name])}")
            _KINDS[name].write(was)
    return found


def _difference(was: Any, found: Any) -> str:
    if isinstance(was, dict):
        names = sorted(key for key in was.keys() | found.keys() if was.get(key) != found.get(key))
        pairs = (f"{key} {was.get(key)!r} -> {found.get(key)!r}" for key in names)
        return ", ".join(pairs)
    return f"{was!r} -> {found!r}"
