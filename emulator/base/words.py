"""Numbers in sentences, and names that are guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING


def number_of(count: int, noun: str) -> str:
    """As in "1 record", "3 records"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def lasted(seconds: float) -> str:
    """As in "3.1 s", "12 ms"; of what took no time at all, "1 ms"."""
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{max(round(seconds * 1000), 1)} ms"


class Guessable:
    """Refuses an attribute that is not there with the name that is meant (guesses.py)."""

    __slots__ = ()

    # Hidden from type checkers, which would take every attribute to be there.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            from .guesses import missing

            if hasattr(type(self), name):  # a property that has raised: let it say why
                return object.__getattribute__(self, name)
            raise missing(type(self), name)
