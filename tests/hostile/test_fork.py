"""A process that forks while it runs a broker: the child has none, and takes nothing with it."""

from __future__ import annotations

import pytest

from tests.hostile.support.script import run

FORKED = """
import os, signal, sys
from odradek.emulator import Emulator

kafka = Emulator(topics={"t": 1})
kafka.start()
child = os.fork()
if child == 0:
    signal.alarm(3)  # ends what hangs
    CHILD
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(status, kafka.data_dir.exists(), kafka.topics())
kafka.stop()
"""


@pytest.mark.xfail(strict=True, reason="a child that stops the broker removes its directory")
def test_a_child_that_stops_leaves_its_parent_everything() -> None:
    assert run(FORKED.replace("CHILD", "kafka.stop(); os._exit(0)")) == "0 True ['t']\n"


def test_a_child_that_ends_leaves_its_parent_everything() -> None:
    assert run(FORKED.replace("CHILD", "sys.exit()")) == "0 True ['t']\n"


@pytest.mark.xfail(strict=True, reason="a call from a child waits for ever")
def test_a_child_that_calls_is_told_so() -> None:
    calling = """
    try:
        kafka.topics()
    except RuntimeError as error:
        print("fork" in str(error), flush=True)
    os._exit(0)
"""
    assert run(FORKED.replace("    CHILD", calling)) == "True\n0 True ['t']\n"
