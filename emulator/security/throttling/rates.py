"""Rates, as Kafka's metrics measure them: over the last windows of time, and as a bucket of tokens.

A rate is what was recorded in the last `samples` windows, divided by the time that these span, but
by `samples - 1` whole windows at least. A bucket holds `samples` windows' worth of tokens and fills
at the rate of the quota. Times are in ms, and those for which clients are throttled numbers of 32
bits, as Kafka casts them: of a quota so small that it would be more than 24 days, some are negative
then, and throttle nobody.

Source: KIP-13, KIP-599; Kafka's `SampledStat`, `Rate`, `TokenBucket` and `QuotaUtils`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ...config.configs import BrokerConfig

_LONG_MAX = 2**63 - 1


class Windows(NamedTuple):
    """How a rate is measured."""

    samples: int
    window_ms: int


def windows_of(config: BrokerConfig) -> Windows:
    """Those of a broker's quotas."""
    return Windows(config.get("quota.window.num"), config.get("quota.window.size.seconds") * 1000)


@dataclass(slots=True)
class _Sample:
    start: int
    last: int
    value: float = 0.0


class Rate:
    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._samples: list[_Sample] = []
        self._current = 0

    def record(self, value: float, now: int) -> None:
        if not self._samples:
            self._samples.append(_Sample(now, now))
        sample = self._samples[self._current]
        if now - sample.start >= self._windows.window_ms:
            sample = self._advance(now)
        sample.value += value
        sample.last = now

    def _advance(self, now: int) -> _Sample:
        self._current = (self._current + 1) % (self._windows.samples + 1)
        fresh = _Sample(now, now)
        if self._current == len(self._samples):
            self._samples.append(fresh)
        else:
            self._samples[self._current] = fresh
        return fresh

    def throttle_ms(self, bound: float, now: int) -> int:
        """How long nothing may happen, so that the rate is no more than this; 0 if it is not."""
        span = self._span(now)
        rate = sum(each.value for each in self._samples) * 1000 / span
        return _rounded(_quotient(rate - bound, bound) * span) if rate > bound else 0

    def _span(self, now: int) -> int:
        """The time over which is measured. What is too old counts no more."""
        samples, window_ms = self._windows
        for number, each in enumerate(self._samples):
            if now - each.last >= samples * window_ms:
                self._samples[number] = _Sample(now, now)
        elapsed = now - min(each.start for each in self._samples)
        missing = samples - 1 - elapsed // window_ms
        return max(elapsed + max(missing, 0) * window_ms, 1)


class Bucket:
    """Tokens, of which each change takes one; it is full at first."""

    def __init__(self, windows: Windows) -> None:
        self._seconds = windows.samples * windows.window_ms / 1000
        self._tokens = 0.0
        self._at = 0

    def record(self, count: float, bound: float, now: int) -> None:
        """Take so many tokens, also more than there are."""
        self._refill(bound, now)
        self._tokens = min(self._seconds * bound, self._tokens - count)

    def throttle_ms(self, bound: float, now: int) -> int:
        self._refill(bound, now)
        return _rounded(_quotient(-self._tokens, bound) * 1000) if self._tokens < 0 else 0

    def _refill(self, bound: float, now: int) -> None:
        earned = bound * (now - self._at) / 1000
        self._tokens, self._at = min(self._seconds * bound, self._tokens + earned), now


def _quotient(value: float, bound: float) -> float:
    """As Java divides: releases up to 3.3 take a quota of 0."""
    return value / bound if bound else inf


def _rounded(value: float) -> int:
    """As Java rounds to 64 bits, and casts to 32."""
    rounded = _LONG_MAX if value >= _LONG_MAX else int(value + 0.5)
    return (rounded + (1 << 31)) % (1 << 32) - (1 << 31)
