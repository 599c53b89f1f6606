"""How much is drawn: what a test says, and a tenth of it where the profile is `quick`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import settings

T = TypeVar("T")

IS_SAMPLE = settings().max_examples < 100


def sized(count: int, fewest: int = 3) -> int:
    """All of `count`, or a tenth of it and no fewer than that."""
    return max(fewest, count // 10) if IS_SAMPLE else count


def sample(values: Sequence[T]) -> Sequence[T]:
    """All of them, or every tenth."""
    return values[:: len(values) // sized(len(values))]


def examples(count: int, **more: Any) -> settings:
    """Of a property or a machine: so many examples, as `sized` has it."""
    return settings(max_examples=sized(count), **more)
