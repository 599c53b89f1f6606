"""As many connections as the configs say; the same was seen of a real Kafka 4.3.1."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from select import select

import pytest
from odradek import ConfigError, Emulator
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig
from odradek.emulator.metadata.image import BROKER_RESOURCE
from odradek.emulator.net.connections import Connections
from odradek.emulator.net.server import Server
from odradek.emulator.security.quotas import IP, quota_records
from odradek.wire import Error

from tests.requests.configs import change_request
from tests.support.cluster import open_cluster
from tests.support.configs import set_configs
from tests.support.connection import ask
from tests.support.sockets import api_versions, connect, receive

ANSWERED, SILENT, CLOSED = "answered", "silent", "closed"
NOTHING_CAME_S = 0.15
COMES_S = 30.0


@contextmanager
def five(configs: Mapping[str, int | str]) -> Iterator[tuple[Emulator, list[socket.socket]]]:
    with Emulator(configs) as kafka, ExitStack() as stack:
        yield kafka, [stack.enter_context(connect(kafka)) for _ in range(5)]


def asked(sockets: Sequence[socket.socket], expected: Sequence[str]) -> list[str]:
    """What comes after each of these sockets has asked."""
    for each in sockets:
        with suppress(OSError):  # it was closed, which is heard
            each.sendall(api_versions())
    return heard(sockets, expected)


def heard(sockets: Sequence[socket.socket], expected: Sequence[str]) -> list[str]:
    """What comes on each: waited for where it is expected, for a moment where nothing is."""
    silent = [each for each, wanted in zip(sockets, expected, strict=True) if wanted == SILENT]
    found = {each: _came(each) for each in sockets if each not in silent}
    for each in select(silent, [], [], NOTHING_CAME_S)[0] if silent else ():
        found[each] = _came(each)
    return [found.get(each, SILENT) for each in sockets]


def _came(each: socket.socket) -> str:
    each.settimeout(COMES_S)
    return ANSWERED if receive(each) else CLOSED


@pytest.mark.parametrize(
    ("configs", "allowed"),
    [
        ({"max.connections.per.ip": 3}, 3),
        ({"max.connections.per.ip": 1, "max.connections.per.ip.overrides": "localhost:4"}, 4),
        ({"max.connections.per.ip": 0, "max.connections.per.ip.overrides": "127.0.0.1:2"}, 2),
        ({"max.connections.per.ip": 2, "max.connections.per.ip.overrides": "127.0.0.9:5"}, 2),
    ],
)
def test_an_address_that_has_enough_is_refused(configs: dict[str, int | str], allowed: int) -> None:
    with five(configs) as (kafka, all_five):
        expected = [ANSWERED] * allowed + [CLOSED] * (5 - allowed)
        assert asked(all_five, expected) == expected
        all_five[0].close()
        deadline = time.monotonic() + COMES_S
        while time.monotonic() < deadline:  # until it is noticed
            with connect(kafka) as new:
                if (found := asked([new], [ANSWERED])) == [ANSWERED]:
                    break
        assert found == [ANSWERED]


def test_who_comes_when_there_are_enough_waits_until_one_leaves() -> None:
    with five({"max.connections": 3}) as (_, all_five):
        expected = [ANSWERED] * 3 + [SILENT] * 2
        assert asked(all_five, expected) == expected
        all_five[0].close()
        expected = [SILENT, SILENT, ANSWERED, SILENT]
        assert heard(all_five[1:], expected) == expected


LISTENERS = {
    "listeners": "PLAINTEXT://127.0.0.1:0,OTHER://127.0.0.1:0",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT",
}


@contextmanager
def at_both(configs: Mapping[str, int | str]) -> Iterator[Callable[[str], socket.socket]]:
    """A broker with two listeners; gives what connects to one of them."""
    with Emulator({**LISTENERS, **configs}) as kafka, ExitStack() as stack:

        def connected(listener: str) -> socket.socket:
            place = kafka.run(lambda cluster: cluster.nodes[1].at(listener))
            return stack.enter_context(socket.create_connection(place, timeout=COMES_S))

        yield connected


def test_a_listener_has_a_number_of_its_own() -> None:
    with at_both({"listener.name.other.max.connections": 2}) as connected:
        others = [connected("OTHER") for _ in range(4)]
        expected = [ANSWERED] * 2 + [SILENT] * 2
        assert asked(others, expected) == expected
        plain = [connected("PLAINTEXT") for _ in range(4)]
        assert asked(plain, [ANSWERED] * 4) == [ANSWERED] * 4
        others[0].close()
        expected = [SILENT, ANSWERED, SILENT]
        assert heard(others[1:], expected) == expected


def test_the_listener_of_the_brokers_is_spared_where_there_are_others() -> None:
    with at_both({"max.connections": 3}) as connected:
        plain = [connected("PLAINTEXT")]
        assert asked(plain, [ANSWERED]) == [ANSWERED]
        others = [connected("OTHER") for _ in range(3)]
        expected = [ANSWERED] * 2 + [SILENT]
        assert asked(others, expected) == expected
        plain.append(connected("PLAINTEXT"))
        assert asked(plain, [ANSWERED] * 2) == [ANSWERED] * 2
        assert heard(others, [CLOSED, SILENT, SILENT]) == [CLOSED, SILENT, SILENT]
        plain += [connected("PLAINTEXT"), connected("PLAINTEXT")]
        expected = [ANSWERED] * 3 + [SILENT]
        assert asked(plain, expected) == expected  # the number counts at each listener, too


def test_another_listener_may_be_that_of_the_brokers() -> None:
    configs: dict[str, int | str] = {"max.connections": 2, "inter.broker.listener.name": "OTHER"}
    with at_both(configs) as connected:
        plain = [connected("PLAINTEXT") for _ in range(2)]
        assert asked(plain, [ANSWERED] * 2) == [ANSWERED] * 2
        others = [connected("OTHER")]
        assert asked(others, [ANSWERED]) == [ANSWERED]
        assert heard(plain, [CLOSED, SILENT]) == [CLOSED, SILENT]


def test_a_number_that_is_none_is_refused_at_the_start_and_at_run_time() -> None:
    name = "listener.name.plaintext.max.connections"
    with pytest.raises(ConfigError, match=rf"{name}.*Not a number"):
        Emulator({name: "many"})
    with Emulator() as kafka:
        request = change_request((BROKER_RESOURCE, "1", [(name, 0, "many")]))
        (answer,) = ask(kafka.bootstrap_servers, request, 1).responses
        assert answer.error_code == Error.INVALID_REQUEST
        assert "Invalid value many for configuration max.connections" in answer.error_message


def test_the_configs_can_be_changed_at_run_time() -> None:
    with five({"max.connections": 6}) as (kafka, all_five):
        assert asked(all_five, [ANSWERED] * 5) == [ANSWERED] * 5
        request = change_request((BROKER_RESOURCE, "", [("max.connections", 0, "3")]))
        assert ask(kafka.bootstrap_servers, request, 1).responses[0].error_code == 0
        expected = [CLOSED] * 2 + [SILENT] * 3
        assert heard(all_five, expected) == expected


def test_brokers_with_too_many_connections_close_one_each_in_every_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nodes = (1, 2)
    left: list[list[int]] = []
    close_excess = Server._close_excess

    def counted(server: Server) -> None:
        left.append([server.connections[node].total for node in nodes])
        close_excess(server)

    monkeypatch.setattr(Server, "_close_excess", counted)

    async def lower() -> None:
        cluster = open_cluster(nodes=nodes)
        server = Server(cluster)
        with ExitStack() as stack:
            for node in nodes:
                address = server.listen("127.0.0.1", 0, node)
                for _ in range(4):
                    stack.enter_context(socket.create_connection(address))
            while len(server.protocols) < 8:
                await asyncio.sleep(0.01)
            left.clear()
            set_configs(cluster, BROKER_RESOURCE, "", {"max.connections": "1"})
            while len(server.protocols) > 2:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.3)  # for rounds that nobody needs
            await server.close()
        cluster.close()

    asyncio.run(asyncio.wait_for(lower(), 60))
    assert left == [[4, 4], [3, 3], [2, 2], [1, 1]]


def test_an_address_that_comes_too_often_is_refused() -> None:
    """Ten windows of a rate of 1 are ten at once."""
    with Emulator(clock="manual") as kafka:
        _set_connection_rate(kafka, 1.0)
        with ExitStack() as stack:
            all_of_them = [stack.enter_context(connect(kafka)) for _ in range(11)]
            expected = [*[ANSWERED] * 10, CLOSED]
            began = time.monotonic()
            assert asked(all_of_them, expected) == expected
            assert time.monotonic() - began > 0.7, "it is closed a window later"
            kafka.advance(seconds=12)
            again = [stack.enter_context(connect(kafka))]
            assert asked(again, [ANSWERED]) == [ANSWERED]


_RATE = "max.connection.creation.rate"


@pytest.mark.parametrize(
    ("configs", "delays_ms"),
    [
        ({}, [0] * 8),
        ({_RATE: "1"}, [*[0] * 10, *[1000] * 5]),
        ({f"listener.name.plaintext.{_RATE}": "1"}, [*[0] * 10, *[1000] * 5]),
        ({f"listener.name.plaintext.{_RATE}": "7", _RATE: "1"}, [*[0] * 10, *[1000] * 5]),
        (
            {_RATE: "1", "quota.window.num": "3", "quota.window.size.seconds": "2"},
            [0, 0, 0, 0, 1000, 1000, 2000, 2000, 2000, 0, 0, 1000, 1000],
        ),
        ({_RATE: "4", "quota.window.num": "2"}, [0, 0, 0, 0, 250, 250]),
    ],
)
def test_connections_are_made_no_faster_than_a_rate(
    configs: dict[str, str], delays_ms: list[int]
) -> None:
    """Each comes when the one before was let in; as real clients were let in by a real Kafka."""
    connections = Connections(BrokerConfig(configs), lambda _: 0)
    place, now, found = connections.at("PLAINTEXT"), 1_000_000, []
    for _ in delays_ms:
        found.append(place.delay_ms(now))
        now += found[-1]
    assert found == delays_ms


def test_the_rate_of_the_broker_does_not_hold_its_own_listener_back() -> None:
    connections = Connections(BrokerConfig({_RATE: "1", "quota.window.num": "2"}), lambda _: 0)
    own, other = connections.at("PLAINTEXT"), connections.at("OTHER")
    assert [other.delay_ms(0), other.delay_ms(0)] == [0, 1000]
    assert [own.delay_ms(0), own.delay_ms(0)] == [0, 1000], "it has a rate, and it is its own"


def test_who_comes_too_soon_waits_and_is_let_in() -> None:
    configs = {_RATE: "2", "quota.window.num": "2"}
    with Emulator(configs) as kafka, ExitStack() as stack:
        three = [stack.enter_context(connect(kafka)) for _ in range(3)]
        began = time.monotonic()
        assert asked(three, [ANSWERED] * 3) == [ANSWERED] * 3
        assert time.monotonic() - began > 0.35, "the third waits for half a second"


def test_who_is_still_to_be_closed_is_closed_with_the_broker() -> None:
    with ExitStack() as stack:
        with Emulator(clock="manual") as kafka:
            _set_connection_rate(kafka, 1.0)
            all_of_them = [stack.enter_context(connect(kafka)) for _ in range(11)]
            assert asked(all_of_them[:10], [ANSWERED] * 10) == [ANSWERED] * 10
        assert heard(all_of_them[10:], [CLOSED]) == [CLOSED]


def test_a_rate_that_is_none_is_refused_at_the_start() -> None:
    name = f"listener.name.plaintext.{_RATE}"
    with pytest.raises(ConfigError, match=rf"{name}.*Not a number"):
        Emulator({name: "fast"})


def _set_connection_rate(kafka: Emulator, rate: float) -> None:
    """No address has a quota of its own."""
    names: dict[str, str | None] = {IP: None}

    def done(cluster: Cluster) -> None:
        records = quota_records(cluster.metadata.image, names, {"connection_creation_rate": rate})
        cluster.metadata.append(records)

    kafka.run(done)
