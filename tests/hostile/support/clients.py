"""The clients: a hostile one, that sends what it likes and reads if it likes, and a polite one
beside it, that produces a record and fetches it, again and again."""

from __future__ import annotations

import select
import socket
import struct
import threading
import time
from collections.abc import Sequence
from typing import Any, Self

from odradek.wire import Request
from odradek.wire.api import response_class
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.headers import RequestHeader, read_response_header, write_request_header

from tests.requests.fetch import asked, fetch_request, only, values
from tests.requests.produce import batch, produce
from tests.support.connection import Connection

PATIENCE_S = 0.5
TIMEOUT_S = 120.0
PIECE = 1 << 16
_TRY_AGAIN_S = 0.05


def frame(request: Request, version: int) -> bytes:
    """A request as it goes over the wire."""
    header = RequestHeader(request.api_key, version, 7, "hostile")
    body = write_request_header(header) + request.encode(version)
    return struct.pack(">i", len(body)) + body


class Hostile:
    """A connection whose client reads nothing unless it is told to."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.socket()
        # The less the kernel keeps of the answers, the more the broker has to.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket.settimeout(TIMEOUT_S)
        self._socket.connect((host, int(port)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    @property
    def port(self) -> int:
        """Its own end's."""
        port: int = self._socket.getsockname()[1]
        return port

    def is_silent(self, seconds: float) -> bool:
        """Whether nothing comes for so long."""
        return not select.select([self._socket], [], [], seconds)[0]

    def send(self, data: bytes) -> None:
        """Send all of it, however long that takes."""
        self._socket.sendall(data)

    def pour(self, data: bytes) -> int:
        """Send until the broker has taken nothing for PATIENCE_S, or hangs up: how much it took."""
        left, taken = memoryview(data), 0
        while left and select.select([], [self._socket], [], PATIENCE_S)[1]:
            try:
                size = self._socket.send(left[:PIECE], socket.MSG_DONTWAIT)
            except ConnectionError:
                break
            left = left[size:]
            taken += size
        return taken

    def read(self, frames: int) -> int:
        """Read so many answers, throwing them away: their bytes. Less if the broker hangs up."""
        total = 0
        for _ in range(frames):
            size = self._take(4)
            if len(size) < 4:
                return total
            total += self._skip(struct.unpack(">i", size)[0])
        return total

    def ask(self, request: Request, version: int) -> Any:
        """Send a request and return its answer. Raises EOFError if there is none."""
        self.send(frame(request, version))
        size = self._take(4)
        if len(size) < 4:
            raise EOFError("the broker closed the connection")
        data = self._take(struct.unpack(">i", size)[0])
        _, position = read_response_header(data, request.api_key, version)
        answer, _ = response_class(request.api_key).decode_from(data, version, position)
        return answer

    def _take(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = self._received(size - len(data))
            if not piece:
                break
            data += piece
        return bytes(data)

    def _skip(self, size: int) -> int:
        left = size
        while left:
            piece = self._received(left)
            if not piece:
                break
            left -= len(piece)
        return size - left

    def _received(self, most: int) -> bytes:
        try:
            return self._socket.recv(min(most, 1 << 20))
        except ConnectionError:
            return b""


class Polite(threading.Thread):
    """Produces and fetches in a topic of its own, until told to finish; `longest_s` is what its
    slowest round took, `rounds` how many there were."""

    TOPIC = "polite"

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        create_topics(address, [self.TOPIC])
        self._connection = Connection(address)
        self._over = threading.Event()
        self._failure: BaseException | None = None
        self._offset = 0
        self.rounds = 0
        self.longest_s = 0.0
        for _ in range(20):
            self._round()
        self.longest_s = 0.0

    def run(self) -> None:
        try:
            while not self._over.wait(0.001):
                self._round()
        except BaseException as error:
            self._failure = error

    def finish(self, timeout_s: float) -> None:
        """Go on for some rounds, then stop. Raises what went wrong, if anything did."""
        deadline, rounds = time.monotonic() + timeout_s, self.rounds + 20
        while self.rounds < rounds and self._failure is None and time.monotonic() < deadline:
            time.sleep(0.002)
        self._over.set()
        self.join(max(1.0, deadline - time.monotonic()))
        if self._failure is not None:
            raise self._failure
        if self.is_alive():
            raise TimeoutError(f"a polite client was not answered for {timeout_s:.0f} s")

    def _round(self) -> None:
        begin = time.perf_counter()
        value = b"%d" % self.rounds
        now = int(time.time() * 1000)  # retention spares it
        result = produce(self._connection, batch(value, time=now), topic=self.TOPIC)
        assert (result.error_code, result.base_offset) == (0, self._offset)
        request = fetch_request(
            asked(offset=self._offset), topic=self.TOPIC, max_wait_ms=int(TIMEOUT_S) * 1000
        )
        assert values(only(self._connection.ask(request, 12))) == [value]
        self.longest_s = max(self.longest_s, time.perf_counter() - begin)
        self._offset += 1
        self.rounds += 1


def create_topics(address: str, names: Sequence[str], partitions: int = 1) -> None:
    """Create topics, and wait until the last of them takes records."""
    topic = CreateTopicsRequest.Topic
    with Connection(address) as connection:
        for first in range(0, len(names), 500):
            topics = [
                topic(
                    name=name,
                    num_partitions=partitions,
                    replication_factor=1,
                    assignments=[],
                    configs=[],
                )
                for name in names[first : first + 500]
            ]
            answer = connection.ask(CreateTopicsRequest(topics=topics, timeout_ms=60_000), 7)
            assert {each.error_code for each in answer.topics} == {0}
        last = fetch_request(asked(partitions - 1), topic=names[-1])
        while only(connection.ask(last, 12)).error_code != 0:
            time.sleep(_TRY_AGAIN_S)
