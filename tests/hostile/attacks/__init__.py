"""The attacks, each a few lines: what is sent to a broker that is already running.

    @attack(test=1_000, full=100_000, setup=one_topic)
    def the_same_config_again_and_again(target: Target, count: int) -> None: ...

A test runs an attack in the smaller size, the benchmark (tests/bench/bench_hostile.py) in the full
one. An attack returns once the broker has done all that it will do of it, or is not going to. What
its setup does is no part of it: it is done before anything is measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from tests.hostile.support.target import Target

MEMORY_MAX_MB = 150
"""What a broker may take above what it takes idle, whatever is sent to it."""

Run: TypeAlias = Callable[[Target, int], None]
"""Called with the broker and the size."""


@dataclass(frozen=True)
class Attack:
    """One attack. What it may take of memory in its smaller size can be less than in full."""

    name: str
    run: Run
    setup: Run | None
    test: int
    full: int
    memory_max_mb: int


ATTACKS: dict[str, Attack] = {}


def attack(
    *, test: int, full: int, setup: Run | None = None, memory_max_mb: int = MEMORY_MAX_MB
) -> Callable[[Run], Run]:
    """Registers a function as an attack of that name."""

    def register(run: Run) -> Run:
        name = run.__name__
        ATTACKS[name] = Attack(name, run, setup, test, full, memory_max_mb)
        return run

    return register


def all_attacks() -> dict[str, Attack]:
    """Every attack by its name, in the order of their modules."""
    for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
        import_module(f"{__name__}.{path.stem}")
    return ATTACKS
