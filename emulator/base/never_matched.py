"""What a test is told of a rule or fault that it has set, and that nobody has met."""

from __future__ import annotations

from typing import Protocol
from weakref import WeakSet


class NeverMatched(AssertionError):
    """A rule or a fault that the test has set never took effect: it says what came instead."""

    __module__ = "odradek"  # as reports name it


class Excusable(Protocol):
    """The rules, or the faults, of a broker."""

    def excuse(self) -> None:
        """Nobody is told of those that never took effect so far."""


KNOWN: WeakSet[Excusable] = WeakSet()
"""Those of every broker of this process."""


def excuse_all() -> None:
    """A test has failed: what would be said of rules now, of any broker, is of no interest."""
    for each in list(KNOWN):
        each.excuse()
