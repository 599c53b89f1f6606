"""Waits for a broker: for connections, and until it is idle."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from odradek.emulator import Emulator, WaitTimeout
from odradek.storage import MemoryDisk
from odradek.wire import Request
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.headers import RequestHeader, write_request_header

from tests.requests.groups import joined
from tests.requests.share_groups import share_beat, share_fetch_request
from tests.support.connection import Connection
from tests.support.sockets import api_versions, connect, framed, receive

SHORT_S = 0.05


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(disk=MemoryDisk(), topics={"orders": 1}) as kafka:
        yield kafka


def send(sock: socket.socket, request: Request, version: int) -> None:
    header = write_request_header(RequestHeader(request.api_key, version, 1, "app"))
    sock.sendall(framed(header + request.encode(version)))


def fetch(max_wait_ms: int) -> FetchRequest:
    entry = FetchRequest.Topic.Partition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topics = [FetchRequest.Topic(topic="orders", partitions=[entry])]
    return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, max_bytes=1 << 20, topics=topics)


def told(action: Callable[[], Any]) -> list[str]:
    """The lines of the time-out that this raises, without the events."""
    with pytest.raises(WaitTimeout) as raised:
        action()
    return str(raised.value).partition("\nThe last events")[0].splitlines()


def test_a_client_that_connects(kafka: Emulator) -> None:
    def connect_later() -> None:
        while not kafka.run(lambda cluster: cluster.watchers):
            continue
        socks.append(connect(kafka))
        socks[0].sendall(api_versions())

    socks: list[socket.socket] = []
    thread = threading.Thread(target=connect_later)
    thread.start()
    (client,) = kafka.wait_connected("test")
    thread.join()
    assert client.client_id == "test"
    assert kafka.wait_connected() == kafka.wait_connected(re.compile("^te")) != []
    lines = told(lambda: kafka.wait_connected("app", count=2, timeout=SHORT_S))
    assert lines[:2] == [
        "waited 0.05 s for 2 connections of client 'app'.",
        "There is 1 connection.",
    ]
    assert lines[2].startswith("  <client 'test' (")
    socks[0].close()


def test_a_long_poll_is_idle(kafka: Emulator) -> None:
    kafka.wait_idle()
    with connect(kafka) as sock:
        send(sock, fetch(max_wait_ms=30_000), 12)
        (client,) = kafka.wait_connected("app")
        assert client.waits_for == "Fetch"
        kafka.wait_idle()
        send(sock, fetch(max_wait_ms=0), 12)  # has to wait until the first one is answered
        while kafka.clients()[0].in_flight < 2:
            continue
        lines = told(lambda: kafka.wait_idle(timeout=SHORT_S))
        assert lines[:2] == ["waited 0.05 s for the broker to be idle.", "It is busy with:"]
        assert lines[2].startswith("  <client 'app' (")
        assert re.search(r"waits for Fetch since \d+ ms>, requests in flight: 2$", lines[2])
        waiting = threading.Thread(target=kafka.wait_idle)
        waiting.start()
        kafka.topic("orders").produce("x")
        assert receive(sock)
        waiting.join(30)
        assert not waiting.is_alive()


def test_a_share_fetch_that_waits_is_idle(kafka: Emulator) -> None:
    with Connection(kafka.bootstrap_servers) as member, connect(kafka) as sock:
        member.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 6)
        named = MetadataRequest(topics=[MetadataRequest.Topic(name="orders")])
        part = (member.ask(named, 12).topics[0].topic_id, 0)
        share_beat(member, subscribed_topic_names=["orders"])
        send(sock, share_fetch_request({part: ()}, max_wait_ms=30_000, min_bytes=1), 1)
        while not any(each.waits_for == "ShareFetch" for each in kafka.clients()):
            continue
        kafka.wait_idle()


def test_a_rebalance_is_not_idle(kafka: Emulator) -> None:
    class Asker:
        def ask(self, request: Request, version: int) -> Any:
            return kafka._inside.ask(request, version)

    Asker().ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
    joined(Asker(), session_timeout_ms=6000)
    assert told(lambda: kafka.wait_idle(timeout=SHORT_S))[1:] == [
        "It is busy with:",
        "  group 'g', CompletingRebalance",
    ]


def test_a_matcher_of_a_client_is_told_in_words(kafka: Emulator) -> None:
    with pytest.raises(WaitTimeout, match=r"for a connection of client a match of '\^shop'"):
        kafka.wait_connected(re.compile("^shop"), timeout=0.01)


def test_the_twins(kafka: Emulator) -> None:
    async def main() -> None:
        await kafka.await_idle()
        with connect(kafka) as sock:
            sock.sendall(api_versions())
            assert len(await kafka.await_connected("test")) == 1
        with pytest.raises(WaitTimeout, match=r"waited 0.05 s for a connection of client 'app'"):
            await kafka.await_connected("app", timeout=SHORT_S)

    asyncio.run(main())


def test_what_makes_no_sense_is_refused(kafka: Emulator) -> None:
    with pytest.raises(ValueError, match="count is a whole number from 1 on, not 0"):
        kafka.wait_connected(count=0)
    with pytest.raises(TypeError, match="timeout is a number of seconds, not 'x'"):
        kafka.wait_idle(timeout="x")  # type: ignore[arg-type]
