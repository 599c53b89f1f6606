"""A broker under each of the attacks: its memory, the work of a turn, and that it serves on.

Nothing is timed. The work of a turn is counted (support/counted.py): whoever sends another request
meanwhile waits for it. 250,000 units are about fifty milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import pytest

from tests.hostile.attacks import all_attacks
from tests.hostile.support.broker import Broker
from tests.hostile.support.run import Outcome, attacked

WORK_MAX = 260_000
ATTACKS = all_attacks()

# What does not hold yet. Whoever mends one of these takes its line away.
TAKES_MEMORY: dict[str, str] = {}
TAKES_LONG_TURNS: dict[str, str] = {}


class Seen(NamedTuple):
    """What came of an attack."""

    outcome: Outcome
    most_work: int
    exit_status: int


@cache
def seen(name: str) -> Seen:
    """Run the attack against a new broker, once."""
    attack = ATTACKS[name]
    with Broker() as broker:
        outcome = attacked(attack, attack.test, broker.target, broker.most_work)
        return Seen(outcome, broker.most_work(), broker.stop())


def but_for(failing: Mapping[str, str]) -> list[Any]:
    """All attacks, those marked that are known to fail."""
    assert failing.keys() <= ATTACKS.keys()
    marks = {
        name: pytest.mark.xfail(strict=True, reason=reason) for name, reason in failing.items()
    }
    return [pytest.param(name, marks=marks.get(name, ())) for name in ATTACKS]


@pytest.mark.parametrize("name", ATTACKS)
def test_it_serves_on_and_ends_cleanly(name: str) -> None:
    assert seen(name).outcome.failure is None
    assert seen(name).exit_status == 0


@pytest.mark.parametrize("name", but_for(TAKES_MEMORY))
def test_memory_is_bounded(name: str) -> None:
    assert seen(name).outcome.growth < ATTACKS[name].memory_max_mb << 20


@pytest.mark.parametrize("name", but_for(TAKES_LONG_TURNS))
def test_no_turn_is_long(name: str) -> None:
    assert seen(name).most_work < WORK_MAX
