"""Numbers in sentences, names that are guessed, and those that a TypeError says."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any


def number_of(count: int, noun: str) -> str:
    """As in "1 record", "3 records"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def lasted(seconds: float) -> str:
    """As in "3.1 s", "12 ms"; of what took no time at all, "1 ms"."""
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{max(round(seconds * 1000), 1)} ms"


def renamed(function: FunctionType, name: str) -> FunctionType:
    """A copy whose name is another, "Class.method"; of one that is made from another function, made
    `again` from a copy of that."""
    again = getattr(function, "again", None)
    if again is not None:
        made: FunctionType = again(renamed(function.__dict__["__wrapped__"], name))
        made.__doc__ = function.__doc__
        return made
    copy = FunctionType(
        function.__code__,
        function.__globals__,
        name.rpartition(".")[2],
        function.__defaults__,
        function.__closure__,
    )
    copy.__dict__.update(function.__dict__)
    copy.__annotations__ = function.__annotations__
    copy.__doc__ = function.__doc__
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__ = function.__module__
    copy.__qualname__ = name
    return copy


class Guessable:
    """Refuses an attribute that is not there with the name that is meant (guesses.py); a TypeError
    for the arguments of an inherited verb names the class that has it, and not one of its parts."""

    __slots__ = ()

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for base in reversed(cls.__mro__[1:]):
            for name, verb in vars(base).items():
                if name[0] != "_" and isinstance(verb, FunctionType) and name not in vars(cls):
                    setattr(cls, name, renamed(getattr(cls, name), f"{cls.__name__}.{name}"))

    # Hidden from type checkers, which would take every attribute to be there.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            from .guesses import missing

            if hasattr(type(self), name):  # a property that has raised: let it say why
                return object.__getattribute__(self, name)
            raise missing(type(self), name)
