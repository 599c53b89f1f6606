"""What there is before an attack: topics, records in them, members of groups."""

from __future__ import annotations

import time
from typing import Any

from odradek.wire import Request
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.records import build_batch

from tests.hostile.support.clients import Hostile, create_topics
from tests.hostile.support.target import Target
from tests.requests.produce import produce_request

VICTIM = "victim"
MEGABYTE = 1 << 20
LARGE = 1_000_000


def names(count: int) -> list[str]:
    return [f"{VICTIM}-{number:05d}" for number in range(count)]


def one_topic(target: Target, _: int) -> None:
    """The topic `victim`, with one partition."""
    create_topics(target.address, [VICTIM])


def thousand_partitions(target: Target, _: int) -> None:
    """The topic `victim`, with a thousand."""
    create_topics(target.address, [VICTIM], 1000)


def partitions(target: Target, count: int) -> None:
    """The topic `victim`, with so many."""
    create_topics(target.address, [VICTIM], count)


def topics(target: Target, count: int) -> None:
    """So many topics, of one partition each."""
    create_topics(target.address, names(count))


def large_records(target: Target, _: int) -> None:
    """55 records of a megabyte in one partition."""
    create_topics(target.address, [VICTIM])
    with Hostile(target.address) as filling:
        for _ in range(55):
            filling.ask(produce_request(now_batch(bytes(LARGE)), VICTIM), 9)


def large_records_in_twelve(target: Target, _: int) -> None:
    """A record of a megabyte in each of twelve partitions."""
    create_topics(target.address, [VICTIM], 12)
    with Hostile(target.address) as filling:
        for partition in range(12):
            filling.ask(produce_request(now_batch(bytes(LARGE)), VICTIM, partition), 9)


def coordinators(target: Target, _: int) -> None:
    """Groups and transactions have coordinators."""
    with Hostile(target.address) as asking:
        for kind in (0, 1):
            request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[VICTIM])
            until(asking, request, 4, lambda answer: answer.coordinators[0].error_code == 0)


def now_batch(value: bytes, **more: Any) -> bytearray:
    """A batch of one record, of now: retention spares it."""
    return build_batch([(int(time.time() * 1000), b"k", value, ())], **more)


def until(asking: Hostile, request: Request, version: int, is_done: Any) -> Any:
    """Ask until the answer is as it should be: a real broker does some things a little later."""
    while not is_done(answer := asking.ask(request, version)):
        time.sleep(0.05)
    return answer
