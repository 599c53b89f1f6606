"""Requests as bytes, and two ZooKeepers that answer them: a Keeper without sockets, a real one."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from random import Random
from typing import NamedTuple, Protocol

from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.timers import Timer, Timers
from odradek.emulator.zookeeper import jute
from odradek.emulator.zookeeper.acl import OPEN, Acls, encoded
from odradek.emulator.zookeeper.jute import Reader
from odradek.emulator.zookeeper.keeper import (
    AUTH,
    CHECK,
    CHECK_WATCHES,
    CREATE,
    CREATE_TTL,
    DELETE,
    GET_ACL,
    MULTI,
    PING,
    REMOVE_WATCHES,
    SET,
    SET_ACL,
    SET_WATCHES,
    SYNC,
    Client,
    Keeper,
)
from odradek.emulator.zookeeper.tree import DEFAULT_LIMITS, Limits

TIMEOUT_MS = 10_000
NOTIFICATION, PINGED = -1, -2


class Asked(NamedTuple):
    """A request: its type and its body."""

    kind: int
    body: bytes


def create(
    path: str, data: bytes | None = b"", mode: int = 0, acl: Acls = OPEN, kind: int = CREATE
) -> Asked:
    ttl = jute.i64(1000) if kind == CREATE_TTL else b""
    return Asked(kind, jute.text(path) + jute.buffer(data) + encoded(acl) + jute.i32(mode) + ttl)


def delete(path: str, version: int = -1) -> Asked:
    return Asked(DELETE, jute.text(path) + jute.i32(version))


def set_data(path: str, data: bytes | None, version: int = -1) -> Asked:
    return Asked(SET, jute.text(path) + jute.buffer(data) + jute.i32(version))


def set_acl(path: str, acl: Acls, version: int = -1) -> Asked:
    return Asked(SET_ACL, jute.text(path) + encoded(acl) + jute.i32(version))


def check(path: str, version: int) -> Asked:
    return Asked(CHECK, jute.text(path) + jute.i32(version))


def read(kind: int, path: str, *, watch: bool = False) -> Asked:
    """exists, getData, getChildren, getChildren2."""
    return Asked(kind, jute.text(path) + jute.flag(watch))


def get_acl(path: str) -> Asked:
    return Asked(GET_ACL, jute.text(path))


def sync(path: str) -> Asked:
    return Asked(SYNC, jute.text(path))


def multi(*parts: Asked) -> Asked:
    each = (jute.i32(p.kind) + jute.flag(False) + jute.i32(-1) + p.body for p in parts)
    return Asked(MULTI, b"".join(each) + jute.i32(-1) + jute.flag(True) + jute.i32(-1))


def watches(path: str, of: int, *, removes: bool) -> Asked:
    kind = REMOVE_WATCHES if removes else CHECK_WATCHES
    return Asked(kind, jute.text(path) + jute.i32(of))


def set_watches(since: int, data: list[str], exist: list[str], child: list[str]) -> Asked:
    lists = b"".join(map(jute.texts, (data, exist, child)))
    return Asked(SET_WATCHES, jute.i64(since) + lists)


def log_in(scheme: str, credentials: bytes) -> Asked:
    return Asked(AUTH, jute.i32(0) + jute.text(scheme) + jute.buffer(credentials))


class Connection(Protocol):
    def ask(self, asked: Asked, xid: int) -> list[bytes]:
        """Send a request; the frames up to the answer, which is the last of them."""
        ...

    def pending(self) -> list[bytes]: ...


class Sorted:
    """The wheel of a Keeper that has no cluster."""

    def __init__(self) -> None:
        self.clock, self.timers = ManualClock(), Timers()

    def now(self) -> int:
        return self.clock.now()

    def at(self, when: int, callback: Callable[[], None]) -> Timer:
        return self.timers.at(when, callback)

    def advance(self, milliseconds: int) -> None:
        self.clock.advance(milliseconds)
        self.timers.fire(self.clock.now())


def new_keeper(limits: Limits = DEFAULT_LIMITS) -> tuple[Keeper, Sorted]:
    time = Sorted()
    return Keeper(time, Random(1), limits), time


class InProcess:
    """A connection to a Keeper without a socket."""

    def __init__(self, keeper: Keeper, session: int = 0, password: bytes = bytes(16)) -> None:
        self.frames: list[bytes] = []
        self.is_closed = False
        self.client = Client(keeper, ("127.0.0.1", 1), self.frames.append, self._close)
        self.client.received(hello(session, password))
        self.answer = Reader(self.frames.pop()) if self.frames else None

    def _close(self) -> None:
        self.is_closed = True

    def ask(self, asked: Asked, xid: int = 1) -> list[bytes]:
        self.client.received(jute.i32(xid, asked.kind) + asked.body)
        found = self.frames[:]
        self.frames.clear()
        return found

    def pending(self) -> list[bytes]:
        return self.ask(Asked(PING, b""), PINGED)[:-1]


class OverSocket:
    """A connection to a ZooKeeper at an address."""

    def __init__(self, connect: str, session: int = 0, password: bytes = bytes(16)) -> None:
        host, _, port = connect.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), 10)
        self._socket.settimeout(10)
        self._write(hello(session, password))
        self.answer = Reader(self._frame())

    def ask(self, asked: Asked, xid: int = 1) -> list[bytes]:
        self._write(jute.i32(xid, asked.kind) + asked.body)
        found = []
        while not found or struct.unpack(">i", found[-1][:4])[0] == NOTIFICATION:
            found.append(self._frame())
        return found

    def pending(self) -> list[bytes]:
        return self.ask(Asked(PING, b""), PINGED)[:-1]

    def write(self, data: bytes) -> None:
        """Bytes as they are."""
        self._socket.sendall(data)

    def is_closed(self) -> bool:
        """Whether it is closed from the other side, soon."""
        try:
            while self._socket.recv(1 << 16):
                continue
        except TimeoutError:
            return False
        except ConnectionError:
            return True
        return True

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> OverSocket:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, frame: bytes) -> None:
        self._socket.sendall(jute.i32(len(frame)) + frame)

    def _frame(self) -> bytes:
        return self._exactly(struct.unpack(">i", self._exactly(4))[0])

    def _exactly(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            more = self._socket.recv(count - len(found))
            if not more:
                raise ConnectionError("closed")
            found += more
        return found


def hello(session: int = 0, password: bytes = bytes(16), seen: int = 0) -> bytes:
    """The first frame of a connection."""
    numbers = jute.i32(0) + jute.i64(seen) + jute.i32(TIMEOUT_MS) + jute.i64(session)
    return numbers + jute.buffer(password) + jute.flag(False)


def header(frame: bytes) -> tuple[int, int, int]:
    """xid, zxid and code of an answer."""
    reader = Reader(frame)
    return reader.i32(), reader.i64(), reader.i32()
