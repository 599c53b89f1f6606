"""Drawn sequences of operations, and what a ZooKeeper answers, as text that can be compared.

Left out of the comparison: times, ids of sessions, and the order of children.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from odradek.emulator.zookeeper.acl import ANYONE, IP, OPEN, Acl, Acls, Id, digest_id, read_acl
from odradek.emulator.zookeeper.jute import Reader
from odradek.emulator.zookeeper.keeper import CHILDREN, CHILDREN2, EXISTS, GET

from . import raw
from .raw import Asked, Connection

_NAMES = ["a", "b", "c"]
_ODD = ["", "x", "/a/", "//", "/a//b", "/a/.", "/..", "/a\0", "/\x01", "/é", "/\ue000"]
_SPECIAL = ["/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"]
_RULES: list[Acls] = [
    (Acl(1, ANYONE),),
    (Acl(31, digest_id(b"bob:secret")),),
    (Acl(31, Id(IP, "127.0.0.1")),),
    (Acl(31, Id(IP, "10.0.0.0/8")), Acl(1, ANYONE)),
    (Acl(31, Id("auth", "")),),
    (Acl(31, Id("unknown", "x")),),
    (Acl(31, Id("digest", "x")),),
    (Acl(31, Id("world", "somebody")),),
    (),
]


class Drawer:
    """Draws the next request of one of `connections` connections."""

    def __init__(self, seed: int, connections: int = 2) -> None:
        self.random = Random(seed)
        self.connections = connections

    def draw(self) -> tuple[int, Asked]:
        random = self.random
        which = random.randrange(self.connections)
        kind = random.choices(list(_KINDS), list(_KINDS.values()))[0]
        return which, getattr(self, f"_{kind}")()

    def _path(self) -> str:
        random = self.random
        luck = random.random()
        if luck < 0.04:
            return random.choice(_ODD)
        if luck < 0.08:
            return random.choice(_SPECIAL)
        depth = random.choice([1, 1, 2, 2, 2, 3])
        path = "".join("/" + random.choice(_NAMES) for _ in range(depth))
        if random.random() < 0.1:
            path += f"{random.randrange(4):010d}"
        return path

    def _version(self) -> int:
        return self.random.choice([-1, -1, -1, 0, 1, 2, 3])

    def _data(self) -> bytes | None:
        return self.random.choice([b"", b"x", b"some data", None])

    def _acl(self) -> Acls:
        return OPEN if self.random.random() < 0.9 else self.random.choice(_RULES)

    def _create(self) -> Asked:
        random = self.random
        mode = random.choice([0, 0, 0, 0, 1, 2, 3, 3, random.choice([4, 5, 6, 7, -1])])
        kind = random.choice([1, 1, 1, 15, 15, 19, 21])
        return raw.create(self._path(), self._data(), mode, self._acl(), kind)

    def _delete(self) -> Asked:
        return raw.delete(self._path(), self._version())

    def _set(self) -> Asked:
        return raw.set_data(self._path(), self._data(), self._version())

    def _set_acl(self) -> Asked:
        acl = self.random.choice([OPEN, OPEN, OPEN, *_RULES])
        return raw.set_acl(self._path(), acl, self._version())

    def _read(self) -> Asked:
        kind = self.random.choice([EXISTS, GET, CHILDREN, CHILDREN2])
        return raw.read(kind, self._path(), watch=self.random.random() < 0.5)

    def _get_acl(self) -> Asked:
        return raw.get_acl(self._path())

    def _sync(self) -> Asked:
        return raw.sync(self._path())

    def _multi(self) -> Asked:
        kinds = ["create", "create", "delete", "set", "check"]
        parts = [
            getattr(self, f"_{self.random.choice(kinds)}")()
            for _ in range(self.random.randrange(5))
        ]
        return raw.multi(*parts)

    def _check(self) -> Asked:
        return raw.check(self._path(), self._version())

    def _watches(self) -> Asked:
        of, removes = self.random.choice([1, 2, 3]), self.random.random() < 0.5
        return raw.watches(self._path(), of, removes=removes)

    def _set_watches(self) -> Asked:
        lists = [[self._path() for _ in range(self.random.randrange(3))] for _ in range(3)]
        return raw.set_watches(self.random.randrange(40), *lists)

    def _malformed(self) -> Asked:
        kind = self.random.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 14, 17, 18])
        asked = self._create()
        return Asked(kind, asked.body[: self.random.randrange(3)])

    def _log_in(self) -> Asked:
        return raw.log_in("digest", self.random.choice([b"bob:secret", b"ann:other"]))


_KINDS = {
    "create": 30,
    "delete": 14,
    "set": 12,
    "set_acl": 3,
    "read": 25,
    "get_acl": 3,
    "sync": 1,
    "multi": 8,
    "watches": 3,
    "set_watches": 2,
    "malformed": 1,
    "log_in": 0.3,
}


def lines_of(asked: Asked, frames: list[bytes]) -> Iterator[str]:
    """What came, as text."""
    for frame in frames[:-1]:
        yield notified(frame)
    yield answered(asked, frames[-1])


def notified(frame: bytes) -> str:
    xid, zxid, code = raw.header(frame)
    reader = Reader(frame[16:])
    return f"notified {xid} {zxid} {code}: {reader.i32()} {reader.i32()} {reader.text()}"


def answered(asked: Asked, frame: bytes) -> str:
    xid, zxid, code = raw.header(frame)
    reader = Reader(frame[16:])
    fields = [] if code else _fields(asked.kind, reader)
    assert reader.is_at_end, f"{frame!r} has more"
    return f"{xid} {zxid} {code}: {fields}"


def _fields(kind: int, reader: Reader) -> list[object]:
    match kind:
        case 1 | 9:
            return [reader.text()]
        case 15 | 19 | 21:
            return [reader.text(), *_stat(reader)]
        case 3 | 5 | 7:
            return _stat(reader)
        case 4:
            return [reader.buffer(), *_stat(reader)]
        case 6:
            return [sorted(reader.vector(read_acl) or []), *_stat(reader)]
        case 8:
            return [sorted(reader.texts())]
        case 12:
            return [sorted(reader.texts()), *_stat(reader)]
        case 14:
            return list(_results(reader))
    return []


def _results(reader: Reader) -> Iterator[object]:
    while True:
        kind, is_done, code = reader.i32(), reader.flag(), reader.i32()
        yield kind, is_done, code
        if is_done:
            return
        if kind == -1:
            yield reader.i32()
        else:
            yield _fields(kind, reader)


def _stat(reader: Reader) -> list[object]:
    """Without times, and with a session's id as its being there."""
    czxid, mzxid, _, _ = (reader.i64() for _ in range(4))
    versions = [reader.i32() for _ in range(3)]
    owner = reader.i64()
    lengths = [reader.i32() for _ in range(2)]
    owned = owner if owner <= 0 else 1
    return [czxid, mzxid, versions, owned, lengths, reader.i64()]


def play(seed: int, operations: int, connections: list[Connection]) -> list[str]:
    """What a ZooKeeper has answered to a drawn sequence, a line for each operation."""
    drawer = Drawer(seed, len(connections))
    lines = []
    for number in range(operations):
        which, asked = drawer.draw()
        found = [
            f"{asked.kind} {asked.body!r}",
            *lines_of(asked, connections[which].ask(asked, number + 1)),
        ]
        for other in connections:
            if other is not connections[which]:
                found += sorted(map(notified, other.pending()))
        lines.append(" | ".join(found))
    return lines
