"""Summaries of many values: right within their error, however the values were split."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest
from odradek.compat.spark.pipeline.profile.summary import STEPS_MAX, Sizes, Times
from odradek.compat.spark.pipeline.sketches import (
    EXACT_MAX,
    KEPT,
    STANDARD_ERROR,
    Distinct,
    Frequent,
)


@pytest.mark.parametrize("number", [0, 1, EXACT_MAX, EXACT_MAX + 1, 30_000, 300_000])
def test_distinct_values_are_counted(number: int) -> None:
    found = Distinct()
    for start in range(0, number, 10_000):
        found.add(b"%d" % each for each in range(start, min(start + 10_000, number)))
    assert found.is_exact == (number <= EXACT_MAX)
    assert abs(found.count - number) <= (0 if found.is_exact else 4 * STANDARD_ERROR * number)
    assert len(pickle.dumps(found)) < 100_000


def test_distinct_values_are_the_same_however_they_were_split() -> None:
    values = [b"%d" % (each % 20_000) for each in range(60_000)]
    whole = Distinct()
    whole.add(values)
    for pieces in (2, 7, 100):
        joined = Distinct()
        for piece in range(pieces):
            part = Distinct()
            part.add(values[piece::pieces])
            joined.join(part)
        assert joined.registers == whole.registers


def test_frequent_values_are_found_within_the_error() -> None:
    chance = random.Random(1)
    values = [b"often"] * 5_000 + [b"%d" % chance.randrange(10_000) for _ in range(20_000)]
    chance.shuffle(values)
    joined = Frequent()
    for start in range(0, len(values), 1_000):
        part = Frequent()
        part.add(values[start : start + 1_000], [1] * 1_000)
        joined.join(part)
    name, count = joined.top(1)[0]
    assert (name, joined.total) == (b"often", len(values))
    assert 5_000 - joined.error <= count <= 5_000
    assert joined.error <= len(values) / KEPT
    assert len(joined.counts) <= KEPT


def test_long_values_are_shortened_and_distinguished() -> None:
    found = Frequent()
    found.add([b"x" * 1_000_000, b"x" * 999_999], [1, 2])
    assert [count for _, count in found.top(3)] == [2, 1]
    assert all(len(name) <= 200 for name in found.counts)


def test_times_are_counted_in_wider_steps_when_they_are_many() -> None:
    ms = np.arange(0, 5_000_000, 500, dtype=np.int64)
    whole, joined = Times(), Times()
    whole.add(ms)
    for piece in range(5):
        part = Times()
        part.add(ms[piece::5])
        joined.join(part)
    assert whole == joined
    assert len(whole.counts) <= STEPS_MAX
    start, step, bars = whole.bars(48)
    assert (start, sum(bars)) == (0, len(ms))
    assert step * len(bars) >= 5_000_000
    assert len(bars) <= 48


def test_times_far_apart_take_no_memory() -> None:
    found = Times()
    found.add(np.array([-(2**62), 0, 2**62], np.int64))
    assert sum(found.bars(48)[2]) == 3
    assert len(found.bars(48)[2]) <= 48


def test_sizes_are_counted_by_powers_of_two() -> None:
    one, other = Sizes(), Sizes()
    one.add(np.array([0, 1, 2, 3], np.int64))
    other.add(np.array([4, 1_000_000], np.int64))
    one.join(other)
    least, bars = one.bars()
    assert (least, bars[:4], bars[-1]) == (0, [1, 1, 2, 1], 1)
    assert (one.total, one.largest) == (1_000_010, 1_000_000)
