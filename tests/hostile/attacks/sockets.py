"""Sending without reading, sending ahead, not sending on: what sockets allow."""

from __future__ import annotations

import struct
import threading
from contextlib import ExitStack

from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.hostile.attacks import attack
from tests.hostile.support.clients import Hostile, Polite, frame
from tests.hostile.support.setups import (
    LARGE,
    MEGABYTE,
    VICTIM,
    large_records,
    large_records_in_twelve,
    one_topic,
    thousand_partitions,
)
from tests.hostile.support.target import Target
from tests.requests.fetch import asked, fetch_request

HEARTBEAT = frame(HeartbeatRequest(group_id="nobody", generation_id=1, member_id="nobody"), 3)
PARKED_MS = 500
AT_ONCE = 80


def parked(milliseconds: int, topic: str = VICTIM) -> bytes:
    """A fetch that waits."""
    request = fetch_request(asked(), topic=topic, max_wait_ms=milliseconds, min_bytes=MEGABYTE)
    return frame(request, 12)


def metadata_of(*names: str, creates: bool = False) -> MetadataRequest:
    topics = [MetadataRequest.Topic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=creates)


@attack(test=5_000, full=35_000, setup=thousand_partitions, memory_max_mb=50)
def requests_whose_answers_nobody_reads(target: Target, count: int) -> None:
    """Large answers are left in the socket, and hundreds of megabytes of requests follow."""
    named = ApiVersionsRequest(client_software_name="a" * 30_000, client_software_version="1")
    with Hostile(target.address) as hostile:
        hostile.pour(frame(metadata_of(VICTIM), 9) * 500)
        hostile.pour(frame(named, 3) * count)


@attack(test=400_000, full=3_400_000, setup=one_topic, memory_max_mb=10)
def empty_frames_after_a_parked_fetch(target: Target, count: int) -> None:
    """Frames of no length wait for a fetch that waits itself."""
    with Hostile(target.address) as hostile:
        hostile.send(parked(60_000))
        hostile.pour(struct.pack(">i", 0) * count)


@attack(test=6_000, full=130_000, setup=one_topic)
def heartbeats_after_a_parked_fetch(target: Target, count: int) -> None:
    """A backlog of small requests that can all be served at once."""
    with Hostile(target.address) as hostile:
        hostile.send(parked(PARKED_MS))
        send_and_read(hostile, HEARTBEAT, count, more=1)


@attack(test=5_000, full=100_000)
def heartbeats_without_a_pause(target: Target, count: int) -> None:
    """Small requests, as many as fit, whose answers are read."""
    with Hostile(target.address) as hostile:
        send_and_read(hostile, HEARTBEAT, count)


@attack(test=20, full=200)
def heartbeats_on_many_connections(target: Target, count: int) -> None:
    """The same on many connections, all at the same moment."""
    with ExitStack() as stack:
        everyone = [stack.enter_context(Hostile(target.address)) for _ in range(count)]
        with target.held():
            for hostile in everyone:
                hostile.send(HEARTBEAT * 500)
        for hostile in everyone:
            hostile.read(500)


@attack(test=120, full=500, memory_max_mb=40)
def frames_that_are_never_finished(target: Target, count: int) -> None:
    """Many connections, on each the first megabyte of a frame that is said to be much larger."""
    with ExitStack() as stack:
        begun = struct.pack(">i", 100_000_000) + bytes(MEGABYTE)
        for _ in range(count):
            stack.enter_context(Hostile(target.address)).pour(begun)
        other = stack.enter_context(Hostile(target.address))
        for _ in range(50):
            other.ask(metadata_of(VICTIM), 9)  # while the broker reads on


@attack(test=200, full=2000)
def connections_that_do_nothing(target: Target, count: int) -> None:
    """Many connections, on each a request and nothing more."""
    named = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    with ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(Hostile(target.address)).ask(named, 3)


@attack(test=100, full=1000)
def fetches_that_wait_where_others_produce(target: Target, count: int) -> None:
    """Each record that the polite client produces is one that they might have waited for."""
    with ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(Hostile(target.address)).send(parked(1_000, Polite.TOPIC))
        last = stack.enter_context(Hostile(target.address))
        last.send(parked(1_000, Polite.TOPIC))
        last.read(1)


@attack(test=8, full=50, setup=large_records)
def large_fetches_left_unread(target: Target, count: int) -> None:
    """Many consumers of the same large records, none of which reads what it asked for."""
    request = fetch_request(asked(max_bytes=55 * LARGE), topic=VICTIM, max_bytes=55 * LARGE)
    with ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(Hostile(target.address)).send(frame(request, 12))
        stack.enter_context(Hostile(target.address)).ask(metadata_of(VICTIM), 9)


@attack(test=16, full=200, setup=large_records_in_twelve, memory_max_mb=60)
def slow_consumers(target: Target, count: int) -> None:
    """Consumers of twelve partitions, a megabyte of each, that read one answer after the other."""
    parts = [asked(partition) for partition in range(12)]
    request = frame(fetch_request(*parts, topic=VICTIM, max_bytes=50 * MEGABYTE), 12)
    with ExitStack() as stack:
        consumers = [stack.enter_context(Hostile(target.address)) for _ in range(count)]
        for consumer in consumers:
            consumer.send(request * 3)
        for consumer in consumers[::10]:
            consumer.read(3)


@attack(test=80, full=2000, setup=large_records)
def clients_that_leave_during_a_fetch(target: Target, count: int) -> None:
    """Connections that close while megabytes are on their way."""
    request = fetch_request(asked(max_bytes=2 * LARGE), topic=VICTIM, max_bytes=2 * LARGE)
    for _ in range(count // AT_ONCE):
        with target.held():
            for _ in range(AT_ONCE):
                with Hostile(target.address) as leaving:
                    leaving.send(frame(request, 12) * 20)
        with Hostile(target.address) as other:  # else the backlog fills up while it stands still
            other.ask(metadata_of(VICTIM), 9)


def send_and_read(hostile: Hostile, request: bytes, count: int, more: int = 0) -> None:
    """Send as many requests as fit while their answers are read, and `more` from before."""
    reader = threading.Thread(target=hostile.read, args=[count + more])
    reader.start()
    hostile.send(request * count)
    reader.join()
