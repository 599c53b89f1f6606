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


@pytest.mark.parametrize("milliseconds", [115 * DAY_MS, 10**12])
def test_a_long_time_costs_little(tmp_path: Path, milliseconds: int) -> None:
    cluster = open_cluster(tmp_path, log_retention_check_interval_ms="1000")
    cluster.create_topic("t", 1, {})
    counted(lambda: cluster.advance(milliseconds))
    cluster.close()


def test_it_can_be_interrupted() -> None:
    """Where it takes long all the same: nobody knows when a policy of one's own removes more."""
    script = """
import _thread, os, threading
from odradek.emulator import Emulator, ManualClock
from tests.requests.produce import batch, produce
from tests.support.cluster import client_of

clock = ManualClock()
configs = {"log.retention.check.interval.ms": "1"}
with Emulator(configs, topics={"t": 1}, clock=clock, retention=lambda log, now: 0) as kafka:
    kafka.run(lambda cluster: produce(client_of(cluster), batch(b"x", time=clock.now())))
    begin = clock.now()
    threading.Timer(0.5, _thread.interrupt_main).start()
    threading.Timer(2.5, lambda: os._exit(3)).start()
    try:
        kafka.advance(ms=10**12)
    except KeyboardInterrupt:
        print("interrupted", begin < clock.now() < begin + 10**12)
        print("served", len(kafka.topics()))
os._exit(0)
"""
    assert run(script) == "interrupted True\nserved 1\n"
