"""The log levels of a broker, as configs of the resource type 8. They last until it stops.

There is one logger, `root`: Python's logger `odradek`. Its level is that logger's, which is
restored when the cluster is closed. Kafka lists its loggers by Java class; here there are none of
these, and a client that asks for one learns so.

Levels are log4j's: FATAL is Python's CRITICAL, TRACE is below DEBUG.
"""

from __future__ import annotations

import logging

from ...wire import Error, Refused

ROOT = "root"
_TRACE = 5
LEVELS = {
    "TRACE": _TRACE,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}
SET, DELETE, APPEND, SUBTRACT = range(4)


class Loggers:
    """The loggers of a cluster's brokers, which share one process and one log."""

    def __init__(self) -> None:
        self._logger = logging.getLogger("odradek")
        self._given: int | None = None

    def levels(self) -> dict[str, str]:
        level = self._logger.getEffectiveLevel()
        return {ROOT: min(LEVELS, key=lambda name: abs(LEVELS[name] - level))}

    def check(self, name: str, operation: int, level: str | None) -> None:
        """Judge a change of one logger. Raises Refused."""
        if operation in (APPEND, SUBTRACT):
            what = "APPEND" if operation == APPEND else "SUBTRACT"
            message = f"{what} operation is not allowed for the BROKER_LOGGER resource"
            raise Refused(Error.INVALID_REQUEST, message)
        if operation not in (SET, DELETE):
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
        if name != ROOT:
            raise Refused(Error.INVALID_CONFIG, f"Logger {name} does not exist!")
        if operation == DELETE:
            message = "Removing the log level of the root logger is not allowed"
            raise Refused(Error.INVALID_REQUEST, message)
        if level not in LEVELS:
            valid = ", ".join(sorted(LEVELS))
            message = (
                f"Cannot set the log level of {name} to {level} as it is not a supported log level."
                f" Valid log levels are {valid}"
            )
            raise Refused(Error.INVALID_CONFIG, message)

    def set_level(self, level: str) -> None:
        """Set the level of the broker's log."""
        if self._given is None:
            self._given = self._logger.level
        self._logger.setLevel(LEVELS[level])

    def close(self) -> None:
        """Restore the level that the logger had."""
        if self._given is not None:
            self._logger.setLevel(self._given)
            self._given = None
