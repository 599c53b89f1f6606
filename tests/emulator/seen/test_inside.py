"""The emulator as a source: requests without a connection, and the connections there are."""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Any

import pytest
from odradek.compat.clients import wait_until
from odradek.emulator import Emulator, Refused, SeenClient
from odradek.emulator.base.call import Call
from odradek.emulator.base.chain import Outcome, Step
from odradek.storage import MemoryDisk
from odradek.wire import Error, Request
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.frames import SIZE

from tests.requests.fetch import asked, fetch_request, only
from tests.support.connection import Connection

FETCH_VERSION = 12


def once(kafka: Emulator, is_so: Callable[[list[SeenClient]], bool]) -> list[SeenClient]:
    """The connections, as soon as this is so of them."""
    end = monotonic() + 30
    while not is_so(found := kafka.clients()):
        assert monotonic() < end, found
    return found


class Refuses(Step):
    """Closes every connection."""

    def before(self, call: Call, request: Request) -> Outcome:
        call.close()
        return None


def test_a_step_for_clients_does_not_meet_the_test() -> None:
    with Emulator(disk=MemoryDisk(), topics={"t": 1}) as kafka:
        kafka.run(lambda cluster: cluster.chain.append(Refuses()))
        assert kafka.topic("t").produce("x").offset == 0
        assert kafka.topic("t").values() == [b"x"]
        assert kafka.clients() == []


def test_views_work_in_the_brokers_thread_too() -> None:
    with Emulator(disk=MemoryDisk(), topics={"t": 2}) as kafka:
        view = kafka.topic("t")
        assert kafka.run(lambda _: view.produce_all(["a", "b"])) == [(0, 0), (1, 0)]
        assert kafka.run(lambda _: view.values()) == [b"a", b"b"]


def test_what_waits_for_the_disk_is_answered(tmp_path: Path) -> None:
    config = {"log.flush.interval.messages": 1}
    with Emulator(config, data_dir=tmp_path, topics={"t": 1}) as kafka:
        assert kafka.topic("t").produce("x").offset == 0
        with pytest.raises(RuntimeError, match="a ProduceRequest has to wait, which the broker's"):
            kafka.run(lambda _: kafka.topic("t").produce("y"))


def test_a_view_outlives_a_restart() -> None:
    emulator = Emulator(disk=MemoryDisk())
    with emulator as kafka:
        view = kafka.create_topic("t")
        view.produce("x")
    assert repr(view) == "<topic t>"
    with pytest.raises(RuntimeError, match="the broker is not running"):
        view.values()
    with emulator:
        assert view.values() == [b"x"]


def test_a_topic_that_is_not_there_is_named_with_those_that_are() -> None:
    with Emulator(disk=MemoryDisk(), topics={"a": 1, "b": 1}) as kafka:
        with pytest.raises(Refused, match="there is no topic 'orders'; there are a, b") as refused:
            kafka.topic("orders")
        assert refused.value.error is Error.UNKNOWN_TOPIC_OR_PARTITION
        kafka.group("g").commit({("a", 0): 0})  # with the broker's own topic
        for action in (kafka.producers, kafka.delete_topic):
            with pytest.raises(Refused, match=r"there is no topic 'orders'; there are a, b$"):
                action("orders")


def test_the_connections_of_clients() -> None:
    with Emulator(disk=MemoryDisk(), topics={"t": 1}) as kafka:
        assert kafka.clients() == []
        with Connection(kafka.bootstrap_servers) as connection:
            connection.ask(
                ApiVersionsRequest(client_software_name="mine", client_software_version="1.2"), 3
            )
            (client,) = kafka.clients()
            assert (client.client_id, client.software_name) == ("by hand", "mine")
            assert (client.software_version, client.host) == ("1.2", "127.0.0.1")
            assert (client.requests, client.in_flight, client.waits_for) == (1, 0, None)
            assert client.bytes_received > 20
            assert client.bytes_sent > 100
            assert f"'by hand' (mine 1.2) from 127.0.0.1:{client.port}>" in repr(client)
        assert once(kafka, lambda found: not found) == []


def test_what_a_client_waits_for() -> None:
    long_poll = fetch_request(asked(), max_wait_ms=60_000, min_bytes=1)
    with (
        Emulator(disk=MemoryDisk(), topics={"t": 1}) as kafka,
        Connection(kafka.bootstrap_servers) as connection,
    ):
        connection.send(long_poll, FETCH_VERSION)
        connection.send(ApiVersionsRequest(), 0)
        connection.send(ApiVersionsRequest(), 0)
        (client,) = once(kafka, lambda found: [each.in_flight for each in found] == [3])
        assert (client.waits_for, client.in_flight, client.requests) == ("Fetch", 3, 1)
        assert "waits for Fetch since" in repr(client)


def test_a_client_that_has_sent_nothing() -> None:
    with Emulator(disk=MemoryDisk()) as kafka:
        host, port = kafka.bootstrap_servers.split(":")
        with socket.create_connection((host, int(port))) as sock:
            (client,) = once(kafka, bool)
            assert (client.client_id, client.software_name, client.requests) == ("", "unknown", 0)
            assert client.port == sock.getsockname()[1]
            sock.sendall(SIZE.pack(100) + b"half")
            (client,) = once(kafka, lambda found: found[0].bytes_received == 8)
            assert client.in_flight == 0


def test_what_only_looks_is_asked_again_after_a_crash() -> None:
    with Emulator(disk=MemoryDisk(), topics={"t": 1}) as kafka:
        long_poll = fetch_request(asked(), max_wait_ms=60_000, min_bytes=1)
        answers: list[Any] = []
        ask = partial(kafka._inside.ask, long_poll, FETCH_VERSION)
        thread = Thread(target=lambda: answers.append(ask()))
        thread.start()
        for _ in range(2):
            wait_until(lambda: kafka.run(lambda cluster: bool(cluster.asked)), "it is asked")
            kafka.restart(clean=False)
        assert kafka.topic("t").produce("x").offset == 0
        thread.join(30)
        (answer,) = answers
        assert only(answer).high_watermark == 1


def test_what_is_not_answered_says_why_it_may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odradek.emulator.seen.inside._TIMEOUT_S", 0.05)
    with Emulator(brokers=2, clock="manual") as kafka:
        orders = kafka.create_topic("orders", replicas=2)
        kafka.brokers[2].pause()
        with pytest.raises(TimeoutError) as caught:
            orders.produce(b"x")
    assert str(caught.value) == (
        "ProduceRequest was not answered within 0.05 s: a replica in sync may lag, or its broker "
        "be paused; the clock stands still before kafka.advance()"
    )
