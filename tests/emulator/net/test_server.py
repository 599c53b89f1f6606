"""Over real sockets: what a hostile or confused peer sends closes its connection, and only that."""

from __future__ import annotations

import gc
import os
import random
import socket
import struct
import threading
from collections.abc import Iterator

import pytest
from odradek import Emulator
from odradek.wire import Error
from odradek.wire.api.api_versions import ApiVersionsResponse
from odradek.wire.api.metadata import MetadataRequest, MetadataResponse
from odradek.wire.frames import Frames
from odradek.wire.headers import RequestHeader, read_response_header, write_request_header

from tests.support.held import alive
from tests.support.processes import memory
from tests.support.sockets import api_versions, connect, framed, is_alive, receive


@pytest.fixture(scope="module")
def kafka() -> Iterator[Emulator]:
    with Emulator(topics={"t": 1}) as emulator:
        yield emulator


HOSTILE = {
    "a negative size": b"\xff\xff\xff\xff",
    "an oversized frame": struct.pack(">i", 104857601) + b"x" * 100,
    "an empty frame": framed(b""),
    "an HTTP request": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a TLS greeting": bytes.fromhex("16030100f8010000f40303") + bytes(200),
    "an unknown API": framed(struct.pack(">hhih", 999, 0, 1, -1)),
    "an unknown version": framed(struct.pack(">hhih", 3, 99, 1, -1)),
    "a negative version": framed(struct.pack(">hhih", 3, -1, 1, -1)),
    "a cut header": framed(b"\0\x03\0"),
    "a client id past the end": framed(struct.pack(">hhih", 3, 1, 1, 500)),
    "a cut body": framed(struct.pack(">hhih", 3, 1, 1, -1) + struct.pack(">i", 3) + b"\0\x04ab"),
    "two billion topics": framed(struct.pack(">hhih", 3, 1, 1, -1) + struct.pack(">i", 2**31 - 1)),
    "an API of brokers only": framed(struct.pack(">hhih", 4, 7, 1, -1)),
}


@pytest.mark.parametrize("sent", HOSTILE.values(), ids=HOSTILE.keys())
def test_bad_input_closes_its_own_connection_only(kafka: Emulator, sent: bytes) -> None:
    with connect(kafka) as other, connect(kafka) as sock:
        sock.sendall(sent)
        assert receive(sock) == b""
        other.sendall(api_versions())
        assert receive(other)[:4] == struct.pack(">i", 7)


def test_a_thousand_connections_of_random_bytes_harm_nobody(kafka: Emulator) -> None:
    source = random.Random(1)
    for _ in range(1000):
        with connect(kafka) as sock:
            sock.sendall(source.randbytes(source.randrange(1, 200)))
    assert is_alive(kafka)


def test_random_bytes_behind_good_headers_harm_nobody(kafka: Emulator) -> None:
    source = random.Random(2)
    served = kafka.run(_served)
    for _ in range(1500):
        key, version = source.choice(served)
        header = write_request_header(RequestHeader(key, version, 1, "fuzz"))
        with connect(kafka) as sock:
            sock.sendall(framed(header + source.randbytes(source.randrange(0, 120))))
    assert is_alive(kafka)


def _served(cluster: object) -> list[tuple[int, int]]:
    from odradek.emulator.base.release import KAFKA_4_3
    from odradek.emulator.handlers.registry import SERVED

    return [(key, n) for key in SERVED for n in range(20) if KAFKA_4_3.serves(key, n)]


def test_a_huge_size_without_its_bytes_takes_little_memory(kafka: Emulator) -> None:
    assert is_alive(kafka)
    before = memory(os.getpid()).resident
    sockets = [connect(kafka) for _ in range(200)]
    for sock in sockets:
        sock.sendall(struct.pack(">i", 104857600) + b"x" * 1000)
    assert is_alive(kafka)
    # 200 times 100 MiB were announced; a connection has two buffers, of 64 and of 128 KiB.
    assert memory(os.getpid()).resident - before < 60 << 20
    for sock in sockets:
        sock.close()


def test_a_closed_connection_is_freed_without_a_collection(kafka: Emulator) -> None:
    gc.collect()
    gc.disable()
    try:
        before = alive(Frames)
        for _ in range(20):
            assert is_alive(kafka)
        kafka.run(lambda _: None)
        assert alive(Frames) - before <= 2  # those that are just being closed
    finally:
        gc.enable()


def test_a_fork_gives_up_where_it_listens_before_its_connections(kafka: Emulator) -> None:
    """Else its copy of the port would be open when that of the connection is closed."""
    with connect(kafka):
        assert is_alive(kafka)
        thread = kafka._thread
        assert thread is not None
        assert thread.serving is not None
        server = thread.serving.server
        # In the broker's thread: connections that have just ended are closed there.
        numbers = kafka.run(lambda _: [os.dup(number) for number in server.descriptors()])
        assert len(numbers) > 1
        for place, number in enumerate(numbers):
            with socket.socket(fileno=number) as sock:
                listens = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
                assert bool(listens) is (place == 0)


def test_api_versions_too_new_is_answered_in_version_0(kafka: Emulator) -> None:
    with connect(kafka) as sock:
        sock.sendall(api_versions(version=4).replace(b"\0\x12\0\x04", b"\0\x12\0\x63", 1))
        frame = receive(sock)
        assert frame[:4] == struct.pack(">i", 7)
        answer = ApiVersionsResponse.decode(frame, 0, 4)
        assert answer.error_code == Error.UNSUPPORTED_VERSION
        assert [(a.api_key, a.min_version, a.max_version) for a in answer.api_keys] == [(18, 0, 4)]
        # The connection goes on, as KIP-511 has it.
        sock.sendall(api_versions())
        assert len(receive(sock)) > 100


def test_frames_are_served_byte_by_byte(kafka: Emulator) -> None:
    with connect(kafka) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in api_versions():
            sock.sendall(bytes([byte]))
        assert receive(sock)[:4] == struct.pack(">i", 7)


def test_pipelined_requests_are_answered_in_order(kafka: Emulator) -> None:
    with connect(kafka) as sock:
        sock.sendall(b"".join(api_versions(correlation=n) for n in range(100)))
        data = b""
        found = []
        while len(found) < 100:
            data += sock.recv(65536)
            while len(data) >= 4 and len(data) >= 4 + int.from_bytes(data[:4], "big"):
                size = int.from_bytes(data[:4], "big")
                found.append(int.from_bytes(data[4:8], "big"))
                data = data[4 + size :]
        assert found == list(range(100))


def test_a_client_that_reads_nothing_is_not_answered_without_end(kafka: Emulator) -> None:
    """Answers pile up only to the transport's limit; then its requests wait in the socket."""
    before = memory(os.getpid()).resident
    header = write_request_header(RequestHeader(3, 1, 1, "slow"))
    request = framed(header + MetadataRequest(topics=None).encode(1))
    with connect(kafka) as sock:
        sock.setblocking(False)
        blocked = 0
        while blocked < 20:
            try:
                sock.send(request * 1000)
            except BlockingIOError:
                blocked += 1
                threading.Event().wait(0.02)
        assert is_alive(kafka)
        assert memory(os.getpid()).resident - before < 100 << 20


def test_a_null_client_id_is_fine(kafka: Emulator) -> None:
    with connect(kafka) as sock:
        body = struct.pack(">hhih", 3, 1, 5, -1) + MetadataRequest(topics=None).encode(1)
        sock.sendall(framed(body))
        frame = receive(sock)
        correlation, pos = read_response_header(frame, 3, 1)
        answer = MetadataResponse.decode(frame, 1, pos)
        assert (correlation, [t.name for t in answer.topics]) == (5, ["t"])
