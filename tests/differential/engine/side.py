"""One side of the comparison: a running broker, its connections, and what it has answered.

Sockets are read without blocking. `arrived` holds the answers since the last comparison, by
connection and correlation id, so that the engine can compare once both sides have the same ones.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from dataclasses import dataclass, field
from struct import Struct

from odradek.wire import Request, Response, WireError
from odradek.wire.api import response_class
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.sync_group import SyncGroupRequest
from odradek.wire.frames import Frame, Frames
from odradek.wire.headers import read_response_header

from .brokers import Broker
from .compare import Difference

CLOSED = "closed"
REFUSED = "refused"
CONNECT_TIMEOUT_S = 10.0
LATE_S = 1.5
"""An answer that comes so long after the other broker's is late, if the request was one that a
broker lets wait. Others are answered at once, and how long that takes is the machine's business."""
_MAY_WAIT = (FetchRequest, JoinGroupRequest, SyncGroupRequest)
_SIZE = Struct(">i")
_CORRELATION = Struct(">i")


@dataclass(frozen=True)
class Asked:
    """A request that may be answered: as it was sent, and the version its answer has."""

    step: int
    request: Request
    version: int


@dataclass(frozen=True)
class Arrived:
    """What came: a decoded answer, or words for what it was instead; its bytes, and when, in
    seconds."""

    asked: Asked | None
    answer: Response | str
    frame: bytes = b""
    at_s: float = field(default_factory=time.monotonic)


Key = tuple[str, int | str]
"""A connection's name, and a correlation id or "closed"."""


class Link:
    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address, CONNECT_TIMEOUT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.frames = Frames()
        self.asked: dict[int, Asked] = {}

    def send(self, data: bytes) -> bool:
        """Send it all; False if the broker has closed the connection."""
        try:
            self.socket.sendall(data)
        except OSError:
            return False
        return True

    def receive(self) -> list[Frame] | None:
        """The frames that are there; None once the broker has closed the connection."""
        try:
            data = self.socket.recv(1 << 20)
        except OSError:
            return None
        return self.frames.feed(data) if data else None

    def close(self) -> None:
        self.socket.close()


class Side:
    """A broker, or a cluster, as the engine sees it. A connection whose name ends in "@2" is one to
    the broker 2 of a cluster."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.arrived: dict[Key, Arrived] = {}
        self._links: dict[str, Link] = {}

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """Of every broker, by ascending id, which begins with 1."""
        found = (each.rpartition(":") for each in self.broker.bootstrap_servers.split(","))
        return [(host, int(port)) for host, _, port in found]

    @property
    def address(self) -> tuple[str, int]:
        return self.addresses[0]

    @property
    def is_waiting(self) -> bool:
        """Whether an answer is outstanding on any connection."""
        return any(link.asked for link in self._links.values())

    def sockets(self) -> list[socket.socket]:
        return [link.socket for link in self._links.values()]

    def send(self, on: str, frame: bytes, correlation_id: int, asked: Asked | None) -> None:
        """Send a frame over a connection, opened if there is none. `asked` is None when no answer
        is expected."""
        try:
            link = self._link(on)
        except ConnectionRefusedError:
            self.arrived[on, CLOSED] = Arrived(None, REFUSED)
            return
        if asked is not None:
            link.asked[correlation_id] = asked
        if not link.send(_SIZE.pack(len(frame)) + frame):
            self._lost(on)

    def send_raw(self, on: str, data: bytes) -> None:
        """Send bytes as they are."""
        if not self._link(on).send(data):
            self._lost(on)

    def close(self, on: str) -> None:
        link = self._links.pop(on, None)
        if link is not None:
            link.close()

    def close_all(self) -> None:
        for name in list(self._links):
            self.close(name)

    def receive(self) -> None:
        """Take in what is there now, without waiting."""
        names = {link.socket.fileno(): name for name, link in self._links.items()}
        if not names:
            return
        poller = select.poll()
        for number in names:
            poller.register(number, select.POLLIN)
        for number, _ in poller.poll(0):
            name = names[number]
            link = self._links[name]
            with contextlib.suppress(WireError):
                frames = link.receive()
                if frames is None:
                    self._lost(name)
                for frame in frames or ():
                    self._take(name, link, frame)

    def _link(self, on: str) -> Link:
        if on not in self._links:
            _, _, node = on.partition("@")
            self._links[on] = Link(self.addresses[int(node or 1) - 1])
        return self._links[on]

    def _lost(self, name: str) -> None:
        self.close(name)
        self.arrived[name, CLOSED] = Arrived(None, CLOSED)

    def _take(self, name: str, link: Link, frame: Frame) -> None:
        (correlation_id,) = _CORRELATION.unpack_from(frame)
        asked = link.asked.pop(correlation_id, None)
        if asked is None:
            unasked = bytes(frame)
            self.arrived[name, correlation_id] = Arrived(None, f"unasked: {unasked.hex()}", unasked)
            return
        self.arrived[name, correlation_id] = Arrived(asked, decoded(frame, asked), bytes(frame))


def late_answers(real: Side, ours: Side) -> dict[Key, list[Difference]]:
    """For each answer that one side gave in time and the other late, that difference."""
    late: dict[Key, list[Difference]] = {}
    for key in real.arrived.keys() & ours.arrived.keys():
        asked = real.arrived[key].asked
        if asked is None or not isinstance(asked.request, _MAY_WAIT):
            continue
        after_s = ours.arrived[key].at_s - real.arrived[key].at_s
        if abs(after_s) > LATE_S:
            when = ("in time", "late") if after_s > 0 else ("late", "in time")
            late[key] = [Difference("(time)", *when)]
    return late


def decoded(frame: Frame, asked: Asked) -> Response | str:
    """The answer in a frame, or words that say why it is none."""
    key, version = asked.request.api_key, asked.version
    try:
        _, pos = read_response_header(frame, key, version)
        answer, end = response_class(key).decode_from(bytes(frame), version, pos)
    except WireError as error:
        return f"undecodable ({error}): {bytes(frame).hex()}"
    return (
        answer if end == len(frame) else f"{len(frame) - end} bytes too many: {bytes(frame).hex()}"
    )
