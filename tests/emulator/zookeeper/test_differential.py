"""Drawn operations at a Keeper and at the ZooKeeper of Kafka 2.7: every answer and notification is
the same, ids of transactions included."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from odradek.compat import RealZooKeeper

from tests.emulator.zookeeper.drawn import play
from tests.emulator.zookeeper.raw import InProcess, OverSocket, new_keeper


def compare(seed: int, operations: int) -> list[str]:
    """The lines in which they differ."""
    keeper, _ = new_keeper()
    ours = play(seed, operations, [InProcess(keeper), InProcess(keeper)])
    with (
        RealZooKeeper() as real,
        OverSocket(real.connect) as one,
        OverSocket(real.connect) as other,
    ):
        theirs = play(seed, operations, [one, other])
    return [f"{own}\n{real}" for own, real in zip(ours, theirs, strict=True) if own != real]


@pytest.mark.parametrize("seed", [102, 7])
def test_the_same_answers(seed: int) -> None:
    assert compare(seed, 1500) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_the_same_answers_to_many(
    seed: int, record_property: Callable[[str, object], None]
) -> None:
    assert compare(1000 + seed, 5000) == []
    record_property("operations", 5000)
