"""How answers about a group's offsets put topics together, of which some parts do not exist."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar


class Answered(Protocol):
    """An answer about a topic."""

    partitions: list[Any]


T = TypeVar("T", bound=Answered)
K = TypeVar("K", bound=Hashable)


def merged(refused: dict[K, T], accepted: list[T], key: Callable[[T], K]) -> list[T]:
    """Topics of which something does not exist come first; only when there are some, topics that
    were named twice share an entry. `key` tells which topic it is."""
    if not refused:
        return accepted
    for answer in accepted:
        known = refused.setdefault(key(answer), answer)
        if known is not answer:
            known.partitions += answer.partitions
    return list(refused.values())
