"""Rules and faults that a test has set and that never took effect: what fails it."""

from __future__ import annotations

from typing import Protocol
from weakref import WeakSet


class NeverMatched(AssertionError):
    """A rule or a fault that the test has set never took effect: it says what came instead."""

    __module__ = "odradek"  # as reports name it


class TestFault:
    def __init__(self, sentence: str, *, is_optional: bool = False) -> None:
        self.sentence = sentence
        self.is_optional = is_optional
        """Whether it may be that it never takes effect."""
        self.is_checked = False
        """Whether it was reported, or need not be."""
        self.failure: Exception | None = None
        """The first that a function raised which the test has given."""
        self.together: tuple[TestFault, ...] = (self,)
        """The parts of one situation, this one among them: it is enough that one takes effect."""

    def __repr__(self) -> str:
        return self.sentence

    @property
    def hits(self) -> int:
        raise NotImplementedError

    def failed(self, error: Exception) -> None:
        """A function of the test has raised something: it is raised at the end of the test."""
        if self.failure is None:
            self.failure = error


class Excusable(Protocol):
    def excuse(self) -> None:
        """Report none of those that never took effect so far."""


KNOWN: WeakSet[Excusable] = WeakSet()
"""Those of every broker of this process."""


def excuse_all() -> None:
    """A test has failed: what would be said of rules now, of any broker, is of no interest."""
    for each in list(KNOWN):
        each.excuse()
