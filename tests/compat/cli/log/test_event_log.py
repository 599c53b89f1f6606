"""The log of `odradek serve`: it never waits for who reads it, and sums up what repeats."""

from __future__ import annotations

import io
import json
import os

from odradek.compat.cli.log.event_log import EventLog
from odradek.emulator.base.call import ANONYMOUS, Principal, principal_details
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.journal import Journal
from odradek.emulator.base.logger import log as broker_log


def test_what_repeats_is_summed_up_at_the_latest_when_the_log_ends() -> None:
    journal, stream = Journal(ManualClock(0)), io.StringIO()
    journal.on_event = log = EventLog(stream)
    for number in range(80):
        journal.add("connected", client=f"app-{number}")
    log.close()
    said = [line.split("  ", 1)[1] for line in stream.getvalue().splitlines()]
    assert said == [
        "app-0 connected",
        "app-1 connected",
        "app-2 connected",
        "77 more clients that connected",
    ]


def test_who_logged_in_is_named_where_topics_change() -> None:
    journal, stream = Journal(ManualClock(0)), io.StringIO()
    journal.on_event = log = EventLog(stream)
    alice, nobody = principal_details(Principal("User", "alice")), principal_details(ANONYMOUS)
    for who in (alice, nobody):
        journal.several("topic created", "app", [("orders", {"partitions": 3} | who)])
    log.close()
    assert [line.split("  ", 1)[1] for line in stream.getvalue().splitlines()] == [
        "app (User:alice) created topic orders with 3 partitions",
        "app created topic orders with 3 partitions",
    ]


def test_each_event_is_a_line_where_all_is_to_be_seen() -> None:
    journal, stream = Journal(ManualClock(0)), io.StringIO()
    journal.on_event = log = EventLog(stream, least="debug")
    for _ in range(80):
        journal.add("transaction begun", transactional_id="t")
    log.close()
    assert stream.getvalue().count("transaction of t began\n") == 80


def test_a_line_of_json_for_each() -> None:
    journal, stream = Journal(ManualClock(1_700_000_000_123)), io.StringIO()
    journal.on_event = log = EventLog(stream, "json")
    journal.add("connected", client="app")
    log.say("settings are read\nfrom a file")
    log.close()
    event, said = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert event == {
        "time": "2023-11-14T22:13:20.123+00:00",
        "level": "info",
        "kind": "connected",
        "message": "app connected",
    }
    assert said["message"] == "settings are read\\nfrom a file"


def test_what_the_broker_logs_of_itself_is_in_it_whatever_the_level() -> None:
    stream = io.StringIO()
    log = EventLog(stream, "json", "error")
    journal = Journal(ManualClock(0))
    journal.on_event = log
    with log.of_the_broker():
        for number in range(5):
            broker_log.warning("%s is torn", f"file-{number}")
        try:
            raise ValueError("no such thing")
        except ValueError:
            broker_log.exception("a job failed")
    broker_log.handlers and broker_log.warning("not of this log")
    journal.add("session timed out", client="app", group="billing")
    log.say("what is done")
    log.say("what is wrong", "error")
    log.close()
    entries = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(each["level"], each["message"].splitlines()[0]) for each in entries] == [
        ("warn", "file-0 is torn"),
        ("warn", "file-1 is torn"),
        ("warn", "file-2 is torn"),
        ("error", "a job failed"),
        ("error", "what is wrong"),
        ("warn", '2 more like "file-4 is torn"'),
    ]
    assert entries[3]["message"].endswith("ValueError: no such thing\n")


def test_a_pipe_that_nobody_reads_delays_nothing() -> None:
    reading, writing = os.pipe()
    stream = os.fdopen(writing, "w")
    journal = Journal(ManualClock(0))
    journal.on_event = log = EventLog(stream, least="debug")
    for number in range(20_000):
        journal.add("malformed", client=f"app-{number}", reason="x" * 200)
    assert log._left_out > 0
    os.close(reading)


def test_without_standard_error_nothing_is_written() -> None:
    journal = Journal(ManualClock(0))
    journal.on_event = log = EventLog(None)
    journal.add("connected", client="app")
    log.say("a line")
    log.close()
