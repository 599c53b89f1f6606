"""A manual clock that is moved far: periodic work with nothing to do costs nothing, and Ctrl-C is
heard."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.hostile.support.script import run
from tests.support.cluster import open_cluster

DAY_MS = 24 * 60 * 60 * 1000
CALLS_MAX = 200_000


class TooMuch(Exception):
    """More calls than are allowed."""


def counted(action: Any) -> int:
    """How many functions an action calls. Raises TooMuch."""
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += 1
        if calls > CALLS_MAX:
            raise TooMuch

    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.xfail(strict=True, raises=TooMuch, reason="every timer on the way is visited")
@pytest.mark.parametrize("milliseconds", [115 * DAY_MS, 10**12])
def test_a_long_time_costs_little(tmp_path: Path, milliseconds: int) -> None:
    cluster = open_cluster(tmp_path, log_retention_check_interval_ms="1000")
    cluster.create_topic("t", 1, {})
    counted(lambda: cluster.advance(milliseconds))
    cluster.close()


@pytest.mark.xfail(strict=True, reason="the broker's thread goes on until the time has passed")
def test_it_can_be_interrupted() -> None:
    script = """
import _thread, threading
from odradek.emulator import Emulator, ManualClock

clock = ManualClock()
with Emulator({"log.retention.check.interval.ms": "1"}, clock=clock) as kafka:
    begin = clock.now()
    threading.Timer(0.5, _thread.interrupt_main).start()
    threading.Timer(2.5, lambda: os._exit(3)).start()
    try:
        kafka.advance(10**12)
    except KeyboardInterrupt:
        print("interrupted", clock.now() < begin + 10**12)
os._exit(0)
"""
    assert run("import os\n" + script) == "interrupted True\n"
