"""Who does not log in at a listener: it is closed, and nobody else waits. What else may come before
a log-in: `python -m tests.fuzz --listener`."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from odradek import Emulator
from odradek.emulator.security.clients import client_context
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest
from odradek.wire.frames import SIZE
from odradek.wire.headers import RequestHeader, write_request_header

LISTENERS = ("SASL_PLAINTEXT", "SSL", "SASL_SSL")


@pytest.fixture(scope="module")
def kafka() -> Iterator[Emulator]:
    names = ",".join(f"{name}://127.0.0.1:0" for name in ("PLAINTEXT", *LISTENERS))
    config = {"listeners": names, "sasl.enabled.mechanisms": "PLAIN"}
    with Emulator(config, users={"alice": "secret"}) as made:
        yield made


def test_a_huge_size_before_the_login_is_refused_at_once(kafka: Emulator) -> None:
    place = kafka.run(lambda cluster: cluster.nodes[1].at("SASL_PLAINTEXT"))
    with socket.create_connection(place, timeout=30) as client:
        client.sendall(SIZE.pack(524_289))
        assert client.recv(1) == b""


def test_what_a_stranger_is_called_is_kept_short(kafka: Emulator) -> None:
    """It may be of 32 KB, and a thousand failures are kept."""
    place = kafka.run(lambda cluster: cluster.nodes[1].at("SASL_PLAINTEXT"))
    header = RequestHeader(SaslHandshakeRequest.api_key, 1, 1, "x" * 30_000)
    frame = write_request_header(header) + SaslHandshakeRequest(mechanism="y" * 30_000).encode(1)
    with socket.create_connection(place, timeout=30) as client:
        client.sendall(SIZE.pack(len(frame)) + frame)
        while client.recv(1 << 16):
            pass
    failed = kafka.log_in_failures[-1]
    assert failed.client_id.startswith("xxx")
    events = [event for event in kafka.events if event.kind == "log-in failed"]
    assert len(repr((failed, events[-1]))) < 2_000


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
