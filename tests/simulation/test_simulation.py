"""The simulation: a few seeds each time, the same again from the same seed, and every guarantee
seen to be broken by a broker that breaks it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.simulation.broken import BREAKAGES, Breakage
from tests.simulation.plan import drawn
from tests.simulation.run import play

SEEDS = 150
MOST = 60
"""Within so many seeds a broken broker is found out."""


@pytest.mark.parametrize("first", range(0, SEEDS, 50))
def test_guarantees_hold(first: int) -> None:
    for seed in range(first, first + 50):
        result = play(seed)
        assert not result.broken, "\n".join([*result.trace, f"seed {seed}: {result.broken}"])


def test_a_reader_waits_for_what_arrives_late() -> None:
    """A producer's request came 1.5 s late, when it had restarted and was done, and the reader,
    too: no broker could have given it to the reader."""
    assert not play(17633).broken


@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda each: each.name)
def test_a_broken_broker_is_found_out(breakage: Breakage) -> None:
    with breakage.patches():
        for seed in range(MOST):
            plan = replace(drawn(seed), cast=breakage.cast)
            if breakage.is_cut_off:
                plan = replace(plan, is_durable=True, misfortunes=((700, "power"),))
            if breakage.finding in play(seed, plan).broken:
                return
    pytest.fail(f"{MOST} seeds have not shown that {breakage.name}")


def test_a_seed_plays_the_same_in_any_process() -> None:
    program = "from tests.simulation.run import play; print(*play(7).trace, sep='\\n')"
    traces = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert traces == {"\n".join(play(7).trace) + "\n"}
