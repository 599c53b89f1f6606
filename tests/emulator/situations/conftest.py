"""A broker with a topic, and one that other clients use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek.emulator import Emulator
from odradek.storage import MemoryDisk

SOON = {"group.initial.rebalance.delay.ms": 0}


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(SOON, disk=MemoryDisk(), topics={"orders": 2, "bills": 1}) as kafka:
        kafka.timeout = 30
        yield kafka
