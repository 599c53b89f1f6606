"""The verdict of a soak, on what was not measured."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.soak.verdict import Minute, judged

LEVEL = Minute(
    at=0,
    resident_kb=40_000,
    anonymous_kb=30_000,
    descriptors=50,
    threads=4,
    p50=1.0,
    p99=5.0,
    longest=30.0,
)


def soak(**rises: float) -> Sequence[Minute]:
    """An hour in which these numbers rise by so much each."""
    return [
        LEVEL._replace(
            at=float(number),
            **{name: getattr(LEVEL, name) + rise * number for name, rise in rises.items()},
        )
        for number in range(1, 61)
    ]


def bad(minutes: Sequence[Minute]) -> list[str]:
    """What did not stay level."""
    return [check.text.partition(":")[0] for check in judged(minutes) if not check.is_good]


@pytest.mark.parametrize(
    ("rises", "expected"),
    [
        ({}, []),
        ({"anonymous_kb": 19}, []),
        ({"anonymous_kb": 21}, ["memory"]),
        ({"anonymous_kb": -100}, []),
        ({"resident_kb": 500}, []),
        ({"descriptors": 1}, ["descriptors"]),
        ({"threads": 0.5}, ["threads"]),
        ({"p50": 0.01}, []),
        ({"p50": 0.1}, ["latency"]),
    ],
)
def test_what_rises_is_named(rises: dict[str, float], expected: list[str]) -> None:
    assert bad(soak(**rises)) == expected


def test_what_rises_only_at_first_is_no_leak() -> None:
    warm_up = soak(anonymous_kb=1000)
    later = [LEVEL._replace(at=60.0 + number, anonymous_kb=90_000) for number in range(1, 61)]
    assert bad([*warm_up, *later]) == []


def test_a_stray_measurement_is_no_leak() -> None:
    minutes = list(soak())
    minutes[45] = minutes[45]._replace(descriptors=80, anonymous_kb=31_000)
    assert bad(minutes) == []
