"""Numbers in sentences, and the sentences of what has happened several times."""

from __future__ import annotations

import pytest
from odradek.emulator.base.event import Event
from odradek.emulator.base.words import lasted, number_of


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 records"), (1, "1 record"), (2, "2 records"), (12_000, "12,000 records")],
)
def test_a_number_of_things(count: int, text: str) -> None:
    assert number_of(count, "record") == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "1 ms"), (0.012, "12 ms"), (0.0996, "100 ms"), (0.1, "0.1 s"), (3.14, "3.1 s")],
)
def test_how_long_it_lasted(seconds: float, text: str) -> None:
    assert lasted(seconds) == text


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("looked up the end", "app looked up the end of orders-0 (offset 3) 4 times in 2 ms"),
        ("fetched nothing", "app fetched 0 records from orders-0 4 times in 2 ms"),
        ("fetched", "app fetched offset 3 from orders-0 in 4 requests in 2 ms"),
    ],
)
def test_no_number_stands_beside_another(kind: str, text: str) -> None:
    event = Event(kind, 0, 1.0, 1.002, 4, "app", "orders", 0, 3, 3)
    assert event.sentence == text
