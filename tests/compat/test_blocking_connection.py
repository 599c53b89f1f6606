"""A connection to a broker that does not answer as it should."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from threading import Thread

import pytest
from odradek import Emulator
from odradek.compat.wire_client.blocking_connection import Connection, RequestLost
from odradek.wire import Error, Refused
from odradek.wire.api.metadata import MetadataRequest

TIMEOUT_S = 30.0


@pytest.fixture
def answering() -> Iterator[Callable[[bytes], int]]:
    """Starts a server that sends these bytes to whoever has sent something, and closes."""
    server = socket.create_server(("127.0.0.1", 0))
    threads: list[Thread] = []

    def start(answer: bytes) -> int:
        def serve() -> None:
            client, _ = server.accept()
            with client:
                client.recv(100)
                client.sendall(answer)

        threads.append(Thread(target=serve))
        threads[-1].start()
        port: int = server.getsockname()[1]
        return port

    yield start
    for thread in threads:
        thread.join(TIMEOUT_S)
    server.close()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"", "does not answer ApiVersions: it closed the connection"),
        (b"\x15\x03\x03\x00\x02\x02\x16", "is no Kafka broker, or wants TLS"),
        (b"\x00\x00\x00\x04\x00\x00\x00\x63", "its answers are out of step"),
        (b"\x00\x00\x00\x05\x00\x00\x00\x01\x00", "does not answer ApiVersions: "),
    ],
)
def test_an_answer_that_is_none(
    answering: Callable[[bytes], int], answer: bytes, expected: str
) -> None:
    with pytest.raises(RequestLost, match=expected):
        Connection("127.0.0.1", answering(answer), TIMEOUT_S)


def test_no_broker() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ConnectionError, match=f"no broker at 127.0.0.1:{port}: "):
        Connection("127.0.0.1", port, TIMEOUT_S)


def test_a_version_that_is_not_served(kafka: Emulator) -> None:
    host, port = kafka.bootstrap_servers.split(":")
    connection = Connection(host, int(port), TIMEOUT_S)
    with pytest.raises(
        Refused, match="serves Metadata 0 to 13, and is asked version 14"
    ) as refused:
        connection.ask(MetadataRequest(topics=[]), 14)
    assert refused.value.error is Error.UNSUPPORTED_VERSION
    assert len(connection.ask(MetadataRequest(topics=[]), 9).brokers) == 1
    connection.close()
