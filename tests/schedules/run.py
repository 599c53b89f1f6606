"""One run of a loop at a broker, and whether each record was processed exactly once."""

from __future__ import annotations

import time
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from typing import Any

from odradek import Emulator, assert_exactly_once
from odradek.compat.clients import Isolation
from odradek.compat.clients import client as adapter

from tests.schedules.loop import READ_UNCOMMITTED, Loop
from tests.schedules.pipes import pipe_of
from tests.schedules.pipes.pipe import GROUP, POLL_S, SOURCE, TARGET

BROKER = {
    "config": {
        "offsets.topic.num.partitions": 1,
        "transaction.state.log.num.partitions": 1,
    },
    "topics": {SOURCE: 2, TARGET: 2},
}
VALUES = [b"order %d" % number for number in range(12)]
RESULTS = [value.upper() for value in VALUES]
LIMIT_S = 60.0


class Stuck(Exception):
    """The loop does not get on."""


def scenario(kafka: Emulator, client: str, variant: str) -> Loop:
    """Fill the source, have the loop work until all of it is consumed, and judge. Raises
    AssertionError, Stuck."""
    kafka.topic(SOURCE).produce_all(VALUES)
    end = time.monotonic() + LIMIT_S
    pipe = pipe_of(client)
    pipe.prepare(kafka)
    loop = Loop(kafka, pipe, variant)
    try:
        loop.run(partial(_is_done, kafka, end))
    except Stuck as stuck:
        for error in loop.errors:
            stuck.add_note(error)
        raise
    isolation: Isolation = "read_uncommitted" if variant == READ_UNCOMMITTED else "read_committed"
    read = _read(kafka, client, isolation, end)
    assert_exactly_once(RESULTS, kafka.topic(TARGET), read=read)
    return loop


def _is_done(kafka: Emulator, end: float) -> bool:
    if time.monotonic() > end:
        raise Stuck(f"{kafka.group(GROUP)!r}")
    try:
        offsets = kafka.group(GROUP).offsets()
    except RuntimeError:  # it is down
        return False
    ends = {(SOURCE, each.index): each.log_end_offset for each in kafka.topic(SOURCE)}
    return offsets == {place: offset for place, offset in ends.items() if offset}


def _read(kafka: Emulator, client: str, isolation: Isolation, end: float) -> list[Any]:
    """What a consumer reads, from the beginning to the last record that it may see."""
    wanted = len(kafka.topic(TARGET).records(isolation))
    given = adapter(client).consumer(kafka.bootstrap_servers, TARGET, isolation=isolation)
    values: list[Any] = []
    try:
        while len(values) < wanted:
            values += [record.value for record in given.poll(POLL_S)]
            if time.monotonic() > end:
                raise Stuck(f"{len(values)} of {wanted} records were read")
    finally:
        with suppress(CancelledError):  # of aiokafka, stopped between two tries to fetch
            given.close()
    return values
