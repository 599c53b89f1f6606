"""Each bug, and the same service without it, held to its promise: `pytest tests/bugs/held.py`. Not
named as a test, for it takes half an hour: `python -m tests.bugs` makes the table of it."""

from __future__ import annotations

from typing import Any

import pytest
from odradek import Emulator

from tests.bugs.catalogue import BUGS
from tests.bugs.parts import COUNTS, ORDERS

CONFIG = {"group.initial.rebalance.delay.ms": 0, "group.min.session.timeout.ms": 500}


def cases() -> list[Any]:
    """Of each bug two."""
    return [
        pytest.param(
            bug,
            right,
            id=f"{bug.key}-{'right' if right else 'bug'}",
            marks=pytest.mark.kafka_promise(bug.promise, **bug.arguments),
        )
        for bug in BUGS
        for right in (False, True)
    ]


@pytest.mark.kafka(config=CONFIG)
@pytest.mark.parametrize(("bug", "right"), cases())
def test_a_service(kafka: Emulator, bug: Any, right: bool) -> None:
    if bug.promise == "state_equals":
        kafka.create_topic(COUNTS, partitions=2)
    bug.start(kafka, right)
    kafka.feed(ORDERS, 24, poison=True, tombstones=True, transactions=True)
