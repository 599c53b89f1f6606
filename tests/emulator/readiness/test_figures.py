"""The table of measured times: what is drawn from it."""

from __future__ import annotations

from random import Random

import pytest
from odradek.emulator.handlers.registry import SERVED
from odradek.emulator.readiness.figures import LATENCY, LED, SHARES, drawn, led_after

ROW = (0.0, 10.0, 20.0, 40.0, 100.0, 200.0)


def test_what_is_drawn_has_the_shares_of_its_row() -> None:
    random = Random(7)
    values = sorted(drawn(ROW, random) for _ in range(20_000))
    for share, value in zip(SHARES[1:-1], ROW[1:-1], strict=True):
        found = values[int(share * len(values))]
        assert found == pytest.approx(value, rel=0.1)
    assert ROW[0] <= values[0]
    assert values[-1] <= ROW[-1]


def test_a_seed_draws_the_same_again() -> None:
    once, again = Random(7), Random(7)
    assert [drawn(ROW, once) for _ in range(9)] == [drawn(ROW, again) for _ in range(9)]


def test_every_row_rises() -> None:
    for row in [*LED.values(), *LATENCY.values()]:
        assert list(row) == sorted(row)


def test_latencies_are_of_apis_that_there_are() -> None:
    assert set(LATENCY) <= {
        served.request.__name__.removesuffix("Request") for served in SERVED.values()
    }


@pytest.mark.parametrize(
    ("partitions", "least"), [(1, 1), (2, 1), (3, 3), (6, 6), (11, 6), (49, 12), (50, 50)]
)
def test_more_partitions_take_longer(partitions: int, least: int) -> None:
    assert led_after(partitions) is LED[least]
