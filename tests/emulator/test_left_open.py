"""Clients that are left open when their broker ends: who they are, and that they keep quiet."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest
from odradek.emulator import Emulator, left_open
from odradek.emulator.net import quiet
from odradek.emulator.net.quiet import Quiet
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.support.connection import Connection

LONG_S = 30.0
VERSIONS = ApiVersionsRequest(client_software_name="some-client", client_software_version="1.2")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[Quiet]:
    """The sockets that this test leaves, and nobody else's: clients of other tests of the process
    may be kept for long."""
    monkeypatch.setattr(quiet, "EMPTY_S", 0.0)
    monkeypatch.setattr(quiet, "_LOOK_S", 0.01)
    own = Quiet()
    monkeypatch.setattr(left_open, "QUIET", own)
    yield own
    gone(own)


def gone(kept: Quiet) -> None:
    """Wait until nothing is kept."""
    end = time.monotonic() + LONG_S
    while kept.count() or kept._thread is not None:
        assert time.monotonic() < end, "sockets are kept"
        time.sleep(0.01)


def threads_of_quiet() -> int:
    return sum(each.name == "odradek-quiet" for each in threading.enumerate())


def test_one_that_stays_notices_nothing_and_its_next_connection_gets_versions_only(
    kept: Quiet,
) -> None:
    kafka = Emulator().start()
    address = kafka.bootstrap_servers
    with Connection(address) as client:
        client.ask(VERSIONS, 3)
        assert kafka.stop_quietly("test_a") == ["'by hand' (some-client 1.2)"]

        client.send(MetadataRequest(topics=None), 12)
        client._socket.settimeout(0.05)
        with pytest.raises(TimeoutError):  # neither an answer nor an end
            client._socket.recv(1)

        with Connection(address) as again:
            assert again.ask(VERSIONS, 3).api_keys == again.ask(VERSIONS, 4).api_keys
            again.send(MetadataRequest(topics=None), 12)  # not answered, and not in the way
            again.send(VERSIONS, 3)
            assert struct.unpack(">i", again._stream.read(4))[0] > 100
    gone(kept)  # its port is given up
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(tuple(address.split(":")))  # type: ignore[arg-type]


def test_what_was_closed_is_not_kept(kept: Quiet, caplog: pytest.LogCaptureFixture) -> None:
    kafka = Emulator().start()
    with Connection(kafka.bootstrap_servers) as client:
        client.ask(VERSIONS, 3)
    assert kafka.stop_quietly("test_b") == []
    assert kept.count() == 0
    assert caplog.messages == []
    assert kafka.stop_quietly("test_b") == []  # it is stopped already


def test_it_is_said_whose_they_are(kept: Quiet, caplog: pytest.LogCaptureFixture) -> None:
    kafka = Emulator().start()
    with Connection(kafka.bootstrap_servers) as client:
        client.ask(VERSIONS, 3)
        kafka.stop_quietly("tests/test_a.py::test_it")
    assert caplog.messages == [
        "tests/test_a.py::test_it left clients open, which are kept quiet: "
        "'by hand' (some-client 1.2)"
    ]


def test_a_plain_stop_cuts_them() -> None:
    kafka = Emulator().start()
    with Connection(kafka.bootstrap_servers) as client:
        client.ask(VERSIONS, 3)
        kafka.stop()
        with pytest.raises((EOFError, OSError)):
            client.ask(VERSIONS, 3)


def test_the_oldest_are_given_up_when_there_are_too_many(
    kept: Quiet, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = threads_of_quiet()
    monkeypatch.setattr(quiet, "MOST_SOCKETS", 20)
    clients = []
    for number in range(30):
        kafka = Emulator().start()
        clients.append(Connection(kafka.bootstrap_servers))
        clients[-1].ask(VERSIONS, 3)
        assert kafka.stop_quietly(f"test {number}")
    end = time.monotonic() + LONG_S
    while kept.count() > 20:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert clients[0]._socket.recv(1) == b""  # cut
    clients[-1]._socket.settimeout(0.05)
    with pytest.raises(TimeoutError):
        clients[-1]._socket.recv(1)
    assert threads_of_quiet() <= threads + 1
    for client in clients:
        client.__exit__(None, None, None)


def test_ports_that_nobody_uses_are_given_up_first(
    kept: Quiet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quiet, "EMPTY_S", LONG_S)
    monkeypatch.setattr(quiet, "MOST_SOCKETS", 10)
    kafka = Emulator().start()
    with Connection(kafka.bootstrap_servers) as stays:
        stays.ask(VERSIONS, 3)
        kafka.stop_quietly("stays")
        for _ in range(20):
            kafka = Emulator().start()
            with Connection(kafka.bootstrap_servers) as client:
                client.ask(VERSIONS, 3)
                kafka.stop_quietly("leaves")
        end = time.monotonic() + LONG_S
        while kept.count() > 10:
            assert time.monotonic() < end
            time.sleep(0.01)
        stays._socket.settimeout(0.05)
        with pytest.raises(TimeoutError):
            stays._socket.recv(1)
    monkeypatch.setattr(quiet, "EMPTY_S", 0.0)


def test_a_process_that_is_forked_has_none_of_them() -> None:
    kafka = Emulator().start()
    with Connection(kafka.bootstrap_servers) as client:
        client.ask(VERSIONS, 3)
        kafka.stop_quietly("test_f")
        assert quiet.QUIET.count() >= 2
        child = os.fork()
        if not child:
            os._exit(quiet.QUIET.count())
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert quiet.QUIET.count() >= 2
