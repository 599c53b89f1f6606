"""Counts over time and over sizes, which can be joined, and stay small whatever is counted.

Times are counted in steps of a second, or as many seconds as are needed for at most `STEPS_MAX`
steps that are not empty: when there are more, two become one. Sizes are counted by powers of two.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

STEPS_MAX = 1_024
SECOND_MS = 1_000
_SIZES = 33


@dataclass
class Times:
    """How many records there are at which time."""

    step_ms: int = SECOND_MS
    counts: dict[int, int] = field(default_factory=dict)
    """Number of a step since 1970 -> records."""

    def add(self, ms: npt.NDArray[np.int64]) -> None:
        """Add times in milliseconds."""
        steps, counts = np.unique(ms // self.step_ms, return_counts=True)
        self._add(steps, counts)

    def join(self, other: Times) -> None:
        """Add those of another one."""
        step = max(self.step_ms, other.step_ms)
        self._widen(step)
        factor = step // other.step_ms
        for number, count in other.counts.items():
            self.counts[number // factor] = self.counts.get(number // factor, 0) + count
        self._shrink()

    def bars(self, most: int) -> tuple[int, int, list[int]]:
        """Where they begin (ms), how long each bar is (ms), and at most so many bars."""
        if not self.counts:
            return 0, self.step_ms, []
        first, last = min(self.counts), max(self.counts)
        width = -(-(last - first + 1) // most)
        found = [0] * (-(-(last - first + 1) // width))
        for number, count in self.counts.items():
            found[(number - first) // width] += count
        return first * self.step_ms, width * self.step_ms, found

    def _add(self, steps: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> None:
        while len(steps) > STEPS_MAX:
            self._widen(self.step_ms * 2)
            steps, inverse = np.unique(steps // 2, return_inverse=True)
            counts = np.bincount(inverse, counts).astype(np.int64)
        for number, count in zip(steps.tolist(), counts.tolist(), strict=True):
            self.counts[number] = self.counts.get(number, 0) + count
        self._shrink()

    def _shrink(self) -> None:
        while len(self.counts) > STEPS_MAX:
            self._widen(self.step_ms * 2)

    def _widen(self, step: int) -> None:
        factor = step // self.step_ms
        if factor > 1:
            wider: dict[int, int] = {}
            for number, count in self.counts.items():
                wider[number // factor] = wider.get(number // factor, 0) + count
            self.step_ms, self.counts = step, wider


@dataclass
class Sizes:
    """How many values there are of which size."""

    counts: list[int] = field(default_factory=lambda: [0] * _SIZES)
    """By the number of bits of the size: 0, 1, 2 to 3, 4 to 7 bytes, and so on."""
    total: int = 0
    largest: int = 0

    def add(self, sizes: npt.NDArray[np.int64]) -> None:
        """Add sizes in bytes."""
        if len(sizes):
            bits = np.frexp(sizes.astype(np.float64))[1]
            found = np.bincount(bits, minlength=_SIZES)
            self.counts = [one + int(two) for one, two in zip(self.counts, found, strict=True)]
            self.total += int(sizes.sum())
            self.largest = max(self.largest, int(sizes.max()))

    def join(self, other: Sizes) -> None:
        """Add those of another one."""
        self.counts = [one + two for one, two in zip(self.counts, other.counts, strict=True)]
        self.total += other.total
        self.largest = max(self.largest, other.largest)

    def bars(self) -> tuple[int, list[int]]:
        """The least size (bytes), and the counts from there on, each for twice the size before."""
        there = [at for at, count in enumerate(self.counts) if count]
        if not there:
            return 0, []
        first, last = there[0], there[-1]
        return (1 << first) >> 1, self.counts[first : last + 1]
