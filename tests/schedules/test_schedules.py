"""Loops of stock clients under some schedules: the correct one survives, broken ones are caught.

`python -m tests.schedules` plays more of them.
"""

from __future__ import annotations

import pytest
from odradek.fixtures.schedules import draw

from tests.schedules.__main__ import Runs
from tests.schedules.loop import VARIANTS
from tests.schedules.pipes import CLIENTS

pytestmark = [pytest.mark.client]
SEEDS = range(1, 6)
"""Of the correct loop."""
BROKEN = VARIANTS[1:]


@pytest.mark.parametrize("client", CLIENTS)
def test_the_correct_loop_survives(client: str) -> None:
    runs = Runs(client, VARIANTS[0])
    horizon = runs.learn()
    for seed in SEEDS:
        outcome = runs.run(draw(seed, horizon))
        assert not outcome.failure, f"seed {seed}: {outcome.payload}"
    assert runs.counts["happened"]


@pytest.mark.parametrize("variant", BROKEN)
def test_a_broken_loop_is_caught(variant: str) -> None:
    runs = Runs("confluent-kafka", variant)
    horizon = runs.learn()
    for seed in range(1, 51):
        outcome = runs.run(draw(seed, horizon))
        if outcome.failure:
            assert outcome.failure == "AssertionError"
            return
    pytest.fail("it has survived 50 seeds")
