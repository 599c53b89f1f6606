"""Batches of stored state laid over each other, against a model that knows every offset."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from odradek.emulator.share.state import NO_OFFSET, StateBatch, combined

Weights = dict[int, tuple[int, int]]


def _weights(batches: list[StateBatch]) -> Weights:
    return {
        offset: batch.weight
        for batch in batches
        for offset in range(batch.first_offset, batch.last_offset + 1)
    }


@pytest.mark.parametrize(
    ("before", "newer", "start", "expected"),
    [
        ([], [], 0, []),
        ([(0, 4, 1, 0)], [(5, 9, 1, 0)], 0, [(0, 9, 1, 0)]),
        ([(0, 4, 1, 0)], [(6, 9, 1, 0)], 0, [(0, 4, 1, 0), (6, 9, 1, 0)]),
        ([(0, 9, 1, 0)], [(2, 4, 2, 2)], 0, [(0, 1, 1, 0), (2, 4, 2, 2), (5, 9, 1, 0)]),
        ([(0, 9, 2, 2)], [(2, 4, 1, 0)], 0, [(0, 9, 2, 2)]),
        ([(0, 9, 1, 0)], [(0, 3, 1, 2)], 0, [(0, 3, 1, 2), (4, 9, 1, 0)]),
        ([(0, 9, 1, 0)], [(5, 12, 1, 2)], 0, [(0, 4, 1, 0), (5, 12, 1, 2)]),
        ([(0, 9, 1, 0)], [], 4, [(4, 9, 1, 0)]),
        ([(0, 3, 1, 0)], [(8, 9, 1, 0)], 4, [(8, 9, 1, 0)]),
        ([(0, 3, 1, 0)], [], NO_OFFSET, [(0, 3, 1, 0)]),
    ],
)
def test_the_heavier_one_wins(
    before: list[tuple[int, int, int, int]],
    newer: list[tuple[int, int, int, int]],
    start: int,
    expected: list[tuple[int, int, int, int]],
) -> None:
    found = combined([StateBatch(*e) for e in before], [StateBatch(*e) for e in newer], start)
    assert [tuple(each) for each in found] == expected


def test_drawn_batches_say_of_each_offset_what_weighs_most() -> None:
    for seed in range(300):
        draw = random.Random(seed)
        model: Weights = {}
        batches: list[StateBatch] = []
        start = 0
        for _ in range(8):
            start += draw.choice((0, 0, 3))
            newer = []
            for _ in range(draw.randint(0, 3)):
                first = draw.randint(0, 40)
                last = first + draw.randint(0, 12)
                newer.append(StateBatch(first, last, draw.randint(1, 3), draw.choice((0, 2, 4))))
            batches = combined(batches, newer, start)
            for batch in newer:
                for offset, weight in _weights([batch]).items():
                    model[offset] = max(model.get(offset, weight), weight)
            model = {offset: weight for offset, weight in model.items() if offset >= start}
            ends = [(each.first_offset, each.last_offset) for each in batches]
            assert all(a[1] < b[0] for a, b in pairwise(ends)), seed
            assert _weights(batches) == model, seed
