"""ZooKeeper's sockets: hostile clients, four-letter words, starts and stops beside the broker."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
from odradek import Emulator
from odradek.compat.clients import wait_until
from odradek.emulator.zookeeper import jute
from odradek.emulator.zookeeper.keeper import CHILDREN, EXISTS, GET, PING
from odradek.emulator.zookeeper.tree import Mode

from tests.emulator.zookeeper import raw
from tests.emulator.zookeeper.raw import OverSocket, hello


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(version="3.9", zookeeper=True) as kafka:
        yield kafka


def _word(connect: str, word: bytes) -> str:
    host, _, port = connect.rpartition(":")
    with socket.create_connection((host, int(port)), 10) as asked:
        asked.sendall(word)
        return asked.makefile("rb").read().decode()


def test_four_letter_words(kafka: Emulator) -> None:
    with OverSocket(kafka.zookeeper_connect) as client:
        client.ask(raw.create("/a", mode=Mode.EPHEMERAL))
        client.ask(raw.read(GET, "/a", watch=True))
        said = {
            word: _word(kafka.zookeeper_connect, word.encode())
            for word in [
                "ruok",
                "srvr",
                "stat",
                "conf",
                "cons",
                "mntr",
                "dump",
                "wchs",
                "wchc",
                "wchp",
                "envi",
                "isro",
                "crst",
                "srst",
            ]
        }
    assert said["ruok"] == "imok"
    assert said["isro"] == "rw"
    assert "Mode: standalone\n" in said["srvr"]
    assert "Clients:\n /127.0.0.1:" in said["stat"]
    assert "\nzk_ephemerals_count\t" in said["mntr"]
    assert f"clientPort={kafka.zookeeper_connect.split(':')[1]}\n" in said["conf"]
    assert "\t/a" in said["dump"]
    assert "/a\n\t0x1" in said["wchp"]
    assert "\n\t/a\n" in said["wchc"]
    assert "1 connections watching 1 paths\nTotal watches:1\n" in said["wchs"]
    assert ",sid=0x1" in said["cons"]
    assert "reset" in said["crst"]
    assert "reset" in said["srst"]


def test_what_is_no_word_is_a_length(kafka: Emulator) -> None:
    assert _word(kafka.zookeeper_connect, b"GET ") == ""


@pytest.mark.parametrize(
    "hostile",
    [
        b"\xff\xff\xff\xff",
        jute.i32(1 << 30),
        jute.i32(0x100000),
        jute.i32(3) + b"abc",
        jute.i32(20) + b"\xff" * 20,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(600),
    ],
)
def test_what_is_no_frame_closes_the_connection(kafka: Emulator, hostile: bytes) -> None:
    host, _, port = kafka.zookeeper_connect.rpartition(":")
    with socket.create_connection((host, int(port)), 10) as other:
        other.sendall(hostile)
        with suppress(ConnectionError):
            assert other.recv(100) == b""
    with OverSocket(kafka.zookeeper_connect) as client:
        assert raw.header(client.ask(raw.read(EXISTS, "/"))[0])[2] == 0


def test_who_does_not_read_does_not_keep_others(kafka: Emulator) -> None:
    with OverSocket(kafka.zookeeper_connect) as client:
        for number in range(200):
            client.ask(raw.create(f"/{'x' * 200}{number}"))
        request = jute.i32(1, CHILDREN) + jute.text("/") + jute.flag(False)
        host, _, port = kafka.zookeeper_connect.rpartition(":")
        with socket.create_connection((host, int(port)), 10) as deaf:
            deaf.settimeout(0.2)
            first = hello()
            deaf.sendall(jute.i32(len(first)) + first)
            one = jute.i32(len(request)) + request
            with suppress(TimeoutError):  # it is not read any more
                for _ in range(500):
                    deaf.sendall(one * 1000)
            begin = time.monotonic()
            assert raw.header(client.ask(raw.read(EXISTS, "/"))[0])[2] == 0
            assert time.monotonic() - begin < 5


def test_many_frames_at_once_are_answered_in_turns(kafka: Emulator) -> None:
    with OverSocket(kafka.zookeeper_connect) as client:
        ping = jute.i32(-2, PING)
        client.write((jute.i32(len(ping)) + ping) * 5000)
        for _ in range(5000):
            assert raw.header(client._frame())[2] == 0


def test_it_outlives_the_broker_beside_it(kafka: Emulator) -> None:
    with OverSocket(kafka.zookeeper_connect) as client:
        client.ask(raw.create("/mine", b"x", mode=Mode.EPHEMERAL))
        kafka.kill()
        assert raw.header(client.ask(raw.read(EXISTS, "/mine"))[0])[2] == 0
        kafka.restart()
        assert raw.header(client.ask(raw.read(EXISTS, "/mine"))[0])[2] == 0


def test_a_session_expires_by_the_clock_of_the_broker() -> None:
    with (
        Emulator(version="3.9", zookeeper=True, clock="manual") as kafka,
        OverSocket(kafka.zookeeper_connect) as one,
    ):
        one.ask(raw.create("/mine", mode=Mode.EPHEMERAL))
        kafka.advance(seconds=9)
        assert raw.header(one.ask(raw.read(EXISTS, "/mine"))[0])[2] == 0
        kafka.advance(seconds=20)
        wait_until(one.is_closed, "the connection is closed")
        with OverSocket(kafka.zookeeper_connect) as other:
            assert raw.header(other.ask(raw.read(EXISTS, "/mine"))[0])[2] == -101


def test_its_port_may_be_chosen(kafka: Emulator) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with Emulator(version="3.9", zookeeper=port) as other:
        assert other.zookeeper_connect == f"127.0.0.1:{port}"
        assert _word(other.zookeeper_connect, b"ruok") == "imok"
    with pytest.raises(ConnectionError):
        _word(f"127.0.0.1:{port}", b"ruok")


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"127.0.0.1:{port}"):
            Emulator(version="3.9", zookeeper=port).start()


def test_without_it_there_is_none() -> None:
    with Emulator(version="3.9") as kafka, pytest.raises(RuntimeError, match="zookeeper=True"):
        kafka.zookeeper_connect  # noqa: B018


def test_a_release_without_zookeeper_refuses_it() -> None:
    with pytest.raises(ValueError, match=r"zookeeper: Kafka 4\.3 has none"):
        Emulator(zookeeper=True)
