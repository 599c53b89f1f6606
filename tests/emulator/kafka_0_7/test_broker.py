"""A broker of Kafka 0.7, asked by hand."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from struct import unpack

import pytest
from kazoo.client import KazooClient
from odradek.emulator.kafka_0_7 import Kafka07
from odradek.wire.compression import Codec
from odradek.wire.legacy.kafka_0_7 import build_old_message, build_old_set, read_payloads
from odradek.wire.legacy.requests_0_7 import (
    EARLIEST,
    LATEST,
    Kind,
    OldError,
    OldFetch,
    OldOffsets,
    OldProduce,
    OldRequest,
    encode_request,
)

ONE = build_old_message(b"hello")


class Client:
    def __init__(self, kafka: Kafka07) -> None:
        self.socket = socket.create_connection((kafka.host, kafka.port), 10)

    def send(self, kind: Kind, asked: OldRequest) -> None:
        self.socket.sendall(encode_request(kind, asked))

    def ask(self, kind: Kind, asked: OldRequest) -> tuple[int, bytes]:
        """Error and body of the answer."""
        self.send(kind, asked)
        frame = self._exactly(unpack(">i", self._exactly(4))[0])
        return unpack(">h", frame[:2])[0], frame[2:]

    def fetch(self, topic: str, partition: int, offset: int, size: int = 1000) -> tuple[int, bytes]:
        return self.ask(Kind.FETCH, [OldFetch(topic, partition, offset, size)])

    def offsets(self, topic: str, time_ms: int, count: int = 10) -> list[int]:
        error, body = self.ask(Kind.OFFSETS, OldOffsets(topic, 0, time_ms, count))
        assert not error
        return list(unpack(f">i{(len(body) - 4) // 8}q", body)[1:])

    def is_closed(self) -> bool:
        with suppress(ConnectionError):
            return self.socket.recv(1) == b""
        return True

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            more = self.socket.recv(size - len(found))
            assert more, "the connection is closed"
            found += more
        return found


@pytest.fixture
def kafka() -> Iterator[Kafka07]:
    with Kafka07({"orders": 2}) as kafka:
        yield kafka


@pytest.fixture
def client(kafka: Kafka07) -> Iterator[Client]:
    made = Client(kafka)
    yield made
    made.socket.close()


def test_what_is_produced_is_fetched_by_its_position(kafka: Kafka07, client: Client) -> None:
    client.send(Kind.PRODUCE, [OldProduce("orders", 1, ONE + ONE)])
    assert client.fetch("orders", 1, 0) == (OldError.NONE, ONE + ONE)
    assert client.fetch("orders", 1, 15, 20) == (OldError.NONE, ONE)
    assert client.fetch("orders", 1, 30) == (OldError.NONE, b"")
    assert client.fetch("orders", 0, 0) == (OldError.NONE, b"")
    assert kafka.payloads("orders", 1) == [(0, b"hello"), (15, b"hello")]


def test_several_at_once(client: Client) -> None:
    zipped = build_old_set([b"a", b"b"], codec=Codec.GZIP)
    client.send(Kind.MULTI_PRODUCE, [OldProduce("orders", 0, ONE), OldProduce("new", 0, zipped)])
    wanted = [OldFetch("orders", 0, 0, 99), OldFetch("new", 0, 0, 99), OldFetch("new", 0, 999, 9)]
    error, body = client.ask(Kind.MULTI_FETCH, wanted)
    assert error == OldError.NONE
    answers = []
    while body:
        size, code = unpack(">ih", body[:6])
        answers.append((code, body[6 : 4 + size]))
        body = body[4 + size :]
    assert answers == [(0, ONE), (0, zipped), (OldError.OFFSET_OUT_OF_RANGE, b"")]
    assert read_payloads(answers[1][1]) == [(0, b"a"), (0, b"b")]


def test_offsets_are_the_latest_the_earliest_and_those_of_files(client: Client) -> None:
    client.send(Kind.PRODUCE, [OldProduce("orders", 0, ONE)])
    assert client.offsets("orders", LATEST, 1) == [15]
    assert client.offsets("orders", LATEST) == [15, 0]
    assert client.offsets("orders", EARLIEST) == [0]
    assert client.offsets("orders", 0) == []
    assert client.offsets("unknown", LATEST) == [0]


def test_errors_of_a_fetch(client: Client) -> None:
    assert client.fetch("orders", 0, 1)[0] == OldError.OFFSET_OUT_OF_RANGE
    assert client.fetch("orders", 2, 0)[0] == OldError.WRONG_PARTITION
    assert client.fetch("orders", 0, 0, -1)[0] == OldError.INVALID_FETCH_SIZE
    assert client.fetch("unknown", 0, 0) == (OldError.NONE, b"")


@pytest.mark.parametrize(
    "produce",
    [
        OldProduce("orders", 2, ONE),
        OldProduce("orders", 0, ONE[:-1]),
        OldProduce("orders", 0, ONE[:-1] + b"!"),
        OldProduce("../../escaped", 0, ONE),
        OldProduce("..", 0, ONE),
        OldProduce("", 0, ONE),
        OldProduce("a/b", 0, ONE),
    ],
)
def test_what_cannot_be_produced_closes_the_connection(
    kafka: Kafka07, client: Client, produce: OldProduce
) -> None:
    client.send(Kind.PRODUCE, [produce])
    assert client.is_closed()
    assert kafka.payloads("orders") == []


@pytest.mark.parametrize(
    "hostile", [b"\xff" * 8, b"\x7f\xff\xff\xff", b"\0\0\0\2\0\x09", b"\0\0\0\0", b"GET / HTTP/1.1"]
)
def test_what_is_no_request_closes_its_own_connection_only(kafka: Kafka07, hostile: bytes) -> None:
    other = Client(kafka)
    bad = Client(kafka)
    bad.socket.sendall(hostile)
    assert bad.is_closed()
    assert other.fetch("orders", 0, 0) == (OldError.NONE, b"")
    other.socket.close()
    bad.socket.close()


def test_a_directory_is_opened_again(tmp_path: Path) -> None:
    for count in (1, 2):
        with Kafka07({"orders": 2}, data_dir=tmp_path) as kafka:
            client = Client(kafka)
            client.send(Kind.PRODUCE, [OldProduce("orders", 1, ONE)])
            assert client.fetch("orders", 1, 15 * count) == (OldError.NONE, b"")
            assert len(kafka.payloads("orders", 1)) == count
            client.socket.close()
    assert (tmp_path / "orders_1" / "00000000000.kafka").read_bytes() == ONE + ONE


def test_it_registers_as_brokers_of_0_7_did() -> None:
    with Kafka07({"orders": 2}, broker_id=3, zookeeper=True) as kafka:
        zk = KazooClient(kafka.zookeeper_connect)
        zk.start(timeout=10)
        creator, host, port = zk.get("/brokers/ids/3")[0].decode().split(":")
        assert (host, int(port)) == (kafka.host, kafka.port)
        assert creator.startswith(f"{host}-")
        assert zk.get("/brokers/topics/orders/3")[0] == b"2"
        client = Client(kafka)
        client.send(Kind.PRODUCE, [OldProduce("new", -1, ONE)])
        client.fetch("new", 0, 0)
        data, stat = zk.get("/brokers/topics/new/3")
        assert data == b"1"
        assert stat.ephemeralOwner
        client.socket.close()
        zk.stop()


def test_a_second_start_is_refused_and_a_second_stop_is_not(kafka: Kafka07) -> None:
    with pytest.raises(RuntimeError):
        kafka.start()
    with pytest.raises(RuntimeError, match="zookeeper=True"):
        kafka.zookeeper_connect  # noqa: B018
    kafka.stop()
    kafka.stop()
    with pytest.raises(ConnectionRefusedError):
        Client(kafka)
