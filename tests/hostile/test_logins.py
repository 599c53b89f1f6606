"""Hostile beginnings of connections at each kind of listener: nothing stays, nobody else waits."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from odradek.compat.clients.time_limits import wait_until
from odradek.emulator import Emulator
from odradek.emulator.security.clients import client_context
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.frames import SIZE

from tests.hostile.logins import LISTENERS, _connections, attack, broker
from tests.support.connection import ask

SAMPLE = 300
GROWN_KB = 64 * 1024


@pytest.fixture(scope="module")
def kafka() -> Iterator[Emulator]:
    with broker() as made:
        yield made


@pytest.mark.parametrize("listener", LISTENERS)
def test_nothing_of_them_stays(kafka: Emulator, listener: str) -> None:
    kept = attack(kafka, listener, SAMPLE, seed=7)
    assert kept.grown_kb < GROWN_KB
    wait_until(lambda: _connections(kafka) == 0, "the end of every connection")
    assert ask(kafka.bootstrap_servers, MetadataRequest(topics=[]), 9).brokers


def test_a_huge_size_before_the_login_is_refused_at_once(kafka: Emulator) -> None:
    place = kafka.run(lambda cluster: cluster.nodes[1].at("SASL_PLAINTEXT"))
    with socket.create_connection(place, timeout=30) as client:
        client.sendall(SIZE.pack(524_289))
        assert client.recv(1) == b""


@pytest.mark.parametrize("listener", LISTENERS)
def test_who_stops_in_the_middle_is_closed_when_it_is_idle(listener: str) -> None:
    config = {
        "listeners": f"PLAINTEXT://127.0.0.1:0,{listener}://127.0.0.1:0",
        "sasl.enabled.mechanisms": "PLAIN",
        "connections.max.idle.ms": "500",
    }
    with Emulator(config) as kafka:
        place = kafka.run(lambda cluster: cluster.nodes[1].at(listener))
        with socket.create_connection(place, timeout=30) as client:
            client.sendall(b"\x16\x03\x01\x02\x00" if "SSL" in listener else b"\0\0\1")
            try:
                assert client.recv(1) == b""
            except ConnectionError:
                pass


def test_who_is_slow_does_not_keep_others_waiting(kafka: Emulator) -> None:
    place = kafka.run(lambda cluster: cluster.nodes[1].at("SSL"))
    slow = [socket.create_connection(place, timeout=30) for _ in range(50)]
    for each in slow:
        each.sendall(b"\x16\x03\x01")
    context = client_context(kafka.certificates.ca, None)
    client = socket.create_connection(place, timeout=30)
    with context.wrap_socket(client, server_hostname="localhost") as secured:
        assert secured.version() == "TLSv1.3"
    for each in slow:
        each.close()
