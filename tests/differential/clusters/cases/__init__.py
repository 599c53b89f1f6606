"""Sequences by hand for clusters: one or more for each item of docs/semantics/o-several-brokers.md.

`says` in a step is what the item says of the answer; the real cluster is held to it, too. Where
three real nodes answered otherwise than the item first said, it is corrected there:

    O2   leaders of partitions with one replica are spread evenly in the first round only
    O13  a move that removes more than it adds waits for all that stay; one that adds as many, not
    O19  whoever a move takes away may stay eligible; the minimum is limited by partition 0
    O10  a follower knows of a leader epoch from its first batch on
    O28  a restart in good order, too, leaves only the last batch of a producer
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...engine.steps import Sequence as Steps_
from ...engine.steps import Writer

_cases: list[tuple[str, str, Writer]] = []


def case(rule: str) -> Callable[[Writer], Writer]:
    """Register a function that returns steps as a case about an item."""

    def register(write: Writer) -> Writer:
        _cases.append((write.__name__, rule, write))
        return write

    return register


def cases_named(prefixes: Sequence[str] = ()) -> list[Steps_]:
    """Every case, or those whose names or rules begin so."""
    from . import (  # noqa: F401
        coordinators,
        elections,
        epochs,
        followers,
        other_brokers,
        producers,
        quorum,
        stops,
        view,
        watermarks,
    )

    chosen = tuple(prefixes) or ("",)
    return [
        Steps_(name, tuple(write()), rule)
        for name, rule, write in _cases
        if name.startswith(chosen) or rule in chosen
    ]
