"""Whether a soak stayed level: by regression over its second half, when everything has been used.

Bounds: memory that no file backs rises by less than SLOPE_KB_MAX a minute; descriptors and threads
end where they were, by the line through them, but for a tenth and a few of a client's connections;
the median latency of the second half is no more than LATENCY_FACTOR_MAX times that of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import linear_regression, mean, median
from typing import NamedTuple

SLOPE_KB_MAX = 20.0
LATENCY_FACTOR_MAX = 1.5
STRAY = 5.0
"""So many descriptors or threads more at the end than at the beginning mean nothing."""


class Minute(NamedTuple):
    """What was seen at the end of one minute; latency in ms, CPU in seconds."""

    at: float
    resident_kb: float
    anonymous_kb: float
    descriptors: int
    threads: int
    p50: float
    p99: float
    longest: float


class Check(NamedTuple):
    is_good: bool
    text: str


def judged(minutes: Sequence[Minute]) -> list[Check]:
    """The verdict, of at least four minutes."""
    half = minutes[len(minutes) // 2 :]
    slope = _slope(half, [each.anonymous_kb for each in half])
    earlier = median(each.p50 for each in minutes[: len(minutes) // 2])
    later = median(each.p50 for each in half)
    return [
        Check(slope < SLOPE_KB_MAX, f"memory: {slope:+.1f} KB a minute, below {SLOPE_KB_MAX:.0f}"),
        _level("descriptors", half, [each.descriptors for each in half]),
        _level("threads", half, [each.threads for each in half]),
        Check(
            later <= earlier * LATENCY_FACTOR_MAX,
            f"latency: median {earlier:.2f} ms in the first half, {later:.2f} ms in the second",
        ),
    ]


def _level(name: str, half: Sequence[Minute], counts: Sequence[int]) -> Check:
    rise = _slope(half, counts) * (half[-1].at - half[0].at)
    allowed = STRAY + mean(counts) / 10
    return Check(rise < allowed, f"{name}: {rise:+.1f} in the second half, below {allowed:.1f}")


def _slope(half: Sequence[Minute], values: Sequence[float]) -> float:
    """How much the values rise in a minute."""
    return linear_regression([each.at for each in half], values).slope
