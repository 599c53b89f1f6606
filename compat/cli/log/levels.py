"""How much a line of the log matters: by the kind of its event.

`debug` is what clients do all the time, `info` what one would ask for later, `warn` what goes wrong
for a client, `error` what goes wrong at the broker. A kind that is not listed is `info`.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

DEBUG, INFO, WARN, ERROR = "debug", "info", "warn", "error"
LEVELS = (DEBUG, INFO, WARN, ERROR)

OWN_CLIENT = "odradek-console"
"""The client id of `odradek health`, which asks every few seconds, and of the other verbs."""

_DEBUG = frozenset(
    {
        "acknowledged",
        "archived",
        "committed",
        "found no offset",
        "found offset",
        "joined",
        "large request",
        "logged in again",
        "left",
        "lock expired",
        "rebalance begun",
        "rebalance finished",
        "rejected",
        "released",
        "took",
        "transaction begun",
        "transaction committed",
    }
)
_WARN = frozenset(
    {
        "broker killed",
        "controllers lost",
        "denied",
        "fenced",
        "kicked",
        "left behind",
        "log-in failed",
        "malformed",
        "rebalance lasts",
        "records lost",
        "refused",
        "replica lags",
        "session timed out",
        "transaction timed out",
    }
)


class LogLine(NamedTuple):
    """Something the log may tell: by itself, or with others of its kind."""

    time_ms: int
    level: str
    kind: str
    sentence: str
    about: str = ""
    """The group, topic or client that it is counted for."""
    key: str = ""
    """The lines that it is counted with, if not all of its kind."""
    times: int = 1
    trace: str = ""
    """A traceback, with line ends."""


def level_of(kind: str, client: str = "") -> str:
    if client == OWN_CLIENT and kind in ("connected", "closed"):
        return DEBUG
    if kind in _DEBUG:
        return DEBUG
    return WARN if kind in _WARN else INFO


def level_of_record(number: int) -> str:
    """The level of a record of Python's logging."""
    if number >= logging.ERROR:
        return ERROR
    if number >= logging.WARNING:
        return WARN
    return INFO if number >= logging.INFO else DEBUG


def is_logged(level: str, least: str) -> bool:
    """Whether a line of this level is written where `least` is the lowest."""
    return LEVELS.index(level) >= LEVELS.index(least)
