"""Plan: what a seed draws before anything happens."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import NamedTuple


class Weather(NamedTuple):
    """How likely it is that a request is lost, late, or carried out and not answered."""

    lost: float = 0.0
    late: float = 0.0
    unanswered: float = 0.0


CALM = Weather()
WEATHERS = (CALM, Weather(0.02, 0.02, 0.02), Weather(0.05, 0.08, 0.08), Weather(0.0, 0.2, 0.0))

CASTS = (
    ("producer", "producer", "reader"),
    ("producer", "reader", "keyed producer"),
    ("producer", "reader", "retained producer"),
    ("writer 1", "writer 2", "committed reader", "reader"),
    ("writer 2", "producer", "committed reader"),
    ("producer", "classic group"),
    ("producer", "modern group"),
    ("writer 1", "classic group"),
    ("producer", "classic pipe 2"),
    ("writer 2", "classic pipe 1"),
    ("producer", "modern pipe 2"),
    ("writer 1", "modern pipe 1", "committed reader"),
)
"""Who takes part; numbers are generations of transactions."""

ALWAYS = ("kill", "kill", "kill soon", "kill soon", "stop", "full", "torn", "jump", "client dies")
IF_DURABLE = ("power", "power soon", "power soon", "syncs fail")
WITH_GROUPS = ("rebalance", "rebalance", "client dies", "jump")


@dataclass(frozen=True)
class Plan:
    """Settings, cast and misfortunes of one simulation."""

    seed: int
    is_durable: bool
    weather: Weather
    cast: tuple[str, ...]
    misfortunes: tuple[tuple[int, str], ...]
    """When, in milliseconds from the beginning, and what."""


def drawn(seed: int) -> Plan:
    """The plan of a seed."""
    random = Random(seed)
    cast = random.choice(CASTS)
    is_durable = random.random() < 0.4
    kinds = ALWAYS + (IF_DURABLE if is_durable else ())
    if any("group" in each or "pipe" in each for each in cast):
        kinds += WITH_GROUPS
    if "keyed producer" in cast or "retained producer" in cast:
        kinds += ("compact", "long jump", "long jump")
    misfortunes = sorted(
        (random.randrange(100, 4000), random.choice(kinds))
        for _ in range(random.choice((0, 1, 1, 2, 3, 5)))
    )
    return Plan(seed, is_durable, random.choice(WEATHERS), cast, tuple(misfortunes))
