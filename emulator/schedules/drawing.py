"""From a seed to a schedule. The same seed draws the same from horizons that differ a little."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import TypeVar

from .horizon import Horizon
from .legal import (
    APIS,
    AT,
    COORDINATOR,
    CRASH,
    DELAY,
    DELAYED,
    ERRORS,
    KINDS,
    LEADER,
    MORE_KINDS,
    NETWORK,
    PARTITIONS,
    REBALANCE,
    RETENTION,
    SLOW,
    TIMEOUT,
    check_kinds,
)
from .misfortune import MOMENTS, Misfortune
from .schedule import Schedule

T = TypeVar("T")
MOST = 5
"""Misfortunes of a schedule at most, unless something else is said."""
_DELAYS_S = (0.01, 0.05, 0.2, 0.4)
_MOST_TIMES = 3
_LAGS = 10
"""Fetches that get nothing of a partition that is slower than its sisters."""
_WHAT = {
    NETWORK: ("disconnect", "disconnect", "cut", "reset"),
    REBALANCE: ("rebalance", "kick"),
    CRASH: ("kill", "kill", "restart"),
    TIMEOUT: ("timeout",),
    RETENTION: ("overtake",),
    PARTITIONS: ("grow",),
}
"""Of a kind; what stands twice is drawn more often."""


def draw(
    seed: int, horizon: Horizon, *, kinds: Iterable[str] = KINDS, most: int = MOST
) -> Schedule:
    """The schedule of a seed: from 1 to `most` misfortunes of these kinds, at requests as the
    horizon has them. It has none where the horizon has no place for any. Raises ValueError,
    TypeError."""
    chosen = check_kinds(kinds)
    if most < 1:
        raise ValueError(f"most is a number of misfortunes, from 1 on, not {most}")
    random = Random(seed)
    drawn = [_one(random, horizon, chosen) for _ in range(random.randint(1, most))]
    return Schedule(tuple(dict.fromkeys(each for each in drawn if each is not None)))


def _one(random: Random, horizon: Horizon, kinds: Sequence[str]) -> Misfortune | None:
    """Everything is drawn, also what is not used: so that the misfortunes after this one are the
    same whatever becomes of it."""
    kind = random.choice(kinds)
    ranks = {api: random.random() for api in DELAYED}
    part, moment, number = random.random(), random.choice(MOMENTS), random.random()
    times = random.randint(1, _MOST_TIMES)
    there = [api for api in _apis(kind) if horizon.last(api)]
    if not there or (kind == REBALANCE and not horizon.groups):
        return None
    api = max(there, key=ranks.__getitem__)
    place = api, 1 + int(number * horizon.last(api))
    if kind == DELAY:
        return Misfortune(*place, "delay", moment, seconds=_at(_DELAYS_S, part))
    if kind == SLOW:
        return Misfortune(*place, "lag", partition=times - 1, times=_LAGS)
    if kind in ERRORS:
        error = _at(ERRORS[kind][api], part)
        return Misfortune(*place, "fail", error=error, times=times)
    what = _at(_WHAT[kind], part)
    group = _at(horizon.groups, ranks[api]) if kind == REBALANCE else ""
    return Misfortune(*place, what, "after" if what == "cut" else moment, group=group)


def possible(
    requests: Mapping[str, int], kinds: Iterable[str], groups: Sequence[str]
) -> list[Misfortune]:
    """What can happen, the gentlest first: each at the first request of an API, and for as long as
    it is shortest. Raises ValueError, TypeError."""
    chosen = check_kinds(kinds)
    for api in requests:
        if api not in DELAYED:
            raise ValueError(f"requests are of {', '.join(DELAYED)}, not {api!r}")
    return [
        each
        for kind in (DELAY, LEADER, COORDINATOR, NETWORK, REBALANCE, TIMEOUT, CRASH, *MORE_KINDS)
        if kind in chosen
        for api in _apis(kind)
        if requests.get(api, 0) > 0
        for each in _all_of(kind, api, groups)
    ]


def _all_of(kind: str, api: str, groups: Sequence[str]) -> Iterator[Misfortune]:
    if kind == SLOW:
        yield Misfortune(api, 1, "lag", times=_LAGS)
        return
    if kind in ERRORS:
        yield from (Misfortune(api, 1, "fail", error=error) for error in ERRORS[kind][api])
        return
    for moment in MOMENTS:
        if kind == DELAY:
            yield from (Misfortune(api, 1, "delay", moment, seconds=each) for each in _DELAYS_S)
            continue
        for what in dict.fromkeys(_WHAT[kind]):
            for group in groups if kind == REBALANCE else ("",):
                yield Misfortune(api, 1, what, moment, group=group)


def _apis(kind: str) -> Iterable[str]:
    return ERRORS.get(kind) or AT.get(kind) or (DELAYED if kind == DELAY else APIS)


def _at(choices: Sequence[T], part: float) -> T:
    return choices[int(part * len(choices))]
