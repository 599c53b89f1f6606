"""Work in slices, carried out at once."""

from __future__ import annotations

from typing import TypeVar

from odradek.emulator.base.turns import Slices

T = TypeVar("T")


def carried_out(slices: Slices[T]) -> T:
    """Carry out what enters no gate to its end, at once; return its result."""
    try:
        while True:
            next(slices)
    except StopIteration as end:
        result: T = end.value
        return result
