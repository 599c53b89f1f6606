"""The log of `odradek serve`: it never waits for who reads it, and does not flood."""

from __future__ import annotations

import io
import json
import os
from time import monotonic, sleep

from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.journal import Journal
from odradek.emulator.cli.event_log import EventLog


def test_what_comes_too_fast_is_left_out_and_that_is_said() -> None:
    journal, stream = Journal(ManualClock(0)), io.StringIO()
    journal.told = log = EventLog(stream)
    while monotonic() % 1 > 0.5:  # so that all come in one second
        sleep(0.01)
    for number in range(80):
        journal.add("connected", client=f"app-{number}")
    while monotonic() % 1 < 0.9:
        sleep(0.02)
    while monotonic() % 1 > 0.5:
        sleep(0.02)
    journal.add("connected", client="last")
    log.close()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 52
    assert lines[-2].endswith("  (30 events are left out)")
    assert lines[-1].endswith("last connected")


def test_a_line_of_json_for_each() -> None:
    journal, stream = Journal(ManualClock(1_700_000_000_123)), io.StringIO()
    journal.told = log = EventLog(stream, "json")
    journal.add("connected", client="app")
    log.say("settings are read\nfrom a file")
    log.close()
    event, said = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert event == {
        "time": "2023-11-14T22:13:20.123+00:00",
        "kind": "connected",
        "message": "app connected",
    }
    assert said["message"] == "settings are read\\nfrom a file"


def test_a_pipe_that_nobody_reads_delays_nothing() -> None:
    reading, writing = os.pipe()
    stream = os.fdopen(writing, "w")
    journal = Journal(ManualClock(0))
    journal.told = log = EventLog(stream)
    begin = monotonic()
    for number in range(5000):
        log._second = -1  # each in a second of its own
        journal.add("malformed", client=f"app-{number}", reason="x" * 200)
    assert monotonic() - begin < 5
    os.close(reading)
