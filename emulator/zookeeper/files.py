"""ZooKeeper's own files: a tree read from the directory of a server that is stopped, and written.

A `dataDir` has a folder `version-2`, in it

    snapshot.<zxid, hex>    "ZKSN", int32 2, int64 -1; sessions (int32 count, int64 id, int32
                            timeout); lists of access rules (int32 count, int64 number, the rules);
                            each node (path, data, int64 number of its rules or -1, stat), until a
                            path "/"; int64 Adler-32 of all that; a path "/"
    log.<first zxid, hex>   "ZKLG", int32 2, int64 0; transactions (int64 Adler-32, buffer, "B")
                            until there are only zeros

The newest snapshot that is whole, by its checksum, counts, and the transactions after those it was
written at. It may have been written while nodes changed: transactions may find done what they do.
An entry at the end of a log that was not written to its end was not answered, and does not count;
one whose checksum is wrong is damage.

Nodes of sessions are left out when it is read, as no session goes on, and when it is written.
Left out: `dataLogDir`, in which transactions may lie apart; nodes with a time to live stay for
ever. Source: FileSnap, FileTxnLog, DataTree of ZooKeeper 3.4 and 3.5; the files of real ones beside
Kafka 0.10.2 to 2.7.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from struct import Struct
from zlib import adler32

from ..base.logger import log
from . import acl as acls
from . import jute
from . import transactions as kinds
from .acl import OPEN, Acls
from .errors import Malformed
from .jute import Reader
from .tree import CONTAINER_OWNER, Node, Tree

_SNAPSHOT = b"ZKSN"
_HEADER = 16
_ALL = -1
"""The number of the rules that let everybody do everything."""
_CREATIONS = (kinds.CREATE, kinds.CREATE2, kinds.CREATE_CONTAINER, kinds.CREATE_TTL)
_PREFIX = Struct(">qi")
"""Of an entry of a log: its checksum and its length."""
_NAME = re.compile(r"(snapshot|log)\.([0-9a-f]+)")


class DirectoryError(ValueError):
    """There is no directory of a ZooKeeper, or its files cannot be read. The text names it."""


def load(directory: Path, now: Callable[[], int]) -> Tree | None:
    """The nodes of a stopped server; None if it has never kept any. `now` is in ms. Raises
    DirectoryError, OSError."""
    home = home_of(directory)
    if not home.exists():
        return None
    tree, found = Tree(now), _found(home)
    if not any(found.values()):
        return None
    nodes = _newest(home, sorted(found["snapshot"], reverse=True)) or _Nodes(0, dict(tree.nodes))
    logs = sorted(found["log"])
    first = max((zxid for zxid in logs if zxid <= nodes.zxid), default=0)
    for zxid in logs:
        if zxid >= first:
            path = home / f"log.{zxid:x}"
            data = path.read_bytes()
            tree.is_own = data.startswith(kinds.OWN_HEADER)
            try:
                nodes.replay(data)
            except Malformed as error:
                raise DirectoryError(f"{path} is damaged: {error}") from None
    nodes.end(tree)
    return tree


def _newest(home: Path, snapshots: list[int]) -> _Nodes | None:
    """The nodes of the newest snapshot that is whole. Raises DirectoryError if there is none."""
    reasons = []
    for zxid in snapshots:
        path = home / f"snapshot.{zxid:x}"
        try:
            nodes = _Nodes(zxid, _snapshot(path.read_bytes()))
        except Malformed as error:
            reasons.append(f"{path} is damaged: {error}")
            continue
        for reason in reasons:
            log.warning("ZooKeeper: %s; the one before it counts", reason)
        return nodes
    if reasons:
        raise DirectoryError(f"no snapshot can be read: {'; '.join(reasons)}")
    return None


def save(tree: Tree, directory: Path) -> None:
    """Write a snapshot of a tree. Raises OSError."""
    home = home_of(directory).absolute()
    home.mkdir(parents=True, exist_ok=True)
    target = home / f"snapshot.{tree.zxid:x}"
    new = target.with_suffix(".new")
    new.write_bytes(_encoded(tree))
    os.replace(new, target)


def home_of(directory: Path) -> Path:
    """The folder of the files, which need not be there. Raises DirectoryError if the directory has
    something else; OSError."""
    if directory.name == "version-2" and directory.is_dir():
        return directory
    home = directory / "version-2"
    if not home.is_dir() and directory.exists() and any(directory.iterdir()):
        raise DirectoryError(f"{directory} is no dataDir of a ZooKeeper: it has no version-2")
    return home


def _found(home: Path) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {"snapshot": [], "log": []}
    for path in home.iterdir():
        if match := _NAME.fullmatch(path.name):
            found[match[1]].append(int(match[2], 16))
    return found


# Reading


def _snapshot(data: bytes) -> dict[str, Node]:
    """The nodes of a snapshot. Raises Malformed."""
    if data[:4] != _SNAPSHOT:
        raise Malformed("no snapshot")
    reader = Reader(data[_HEADER:])
    for _ in range(reader.i32()):
        reader.i64(), reader.i32()
    rules: dict[int, Acls] = {_ALL: OPEN}
    for _ in range(reader.i32()):
        number = reader.i64()
        rules[number] = tuple(reader.vector(acls.read_acl) or ())
    nodes: dict[str, Node] = {}
    while (path := reader.text()) != "/":
        content, number = reader.buffer(), reader.i64()
        czxid, mzxid, ctime, mtime = (reader.i64() for _ in range(4))
        version, cversion, aversion = (reader.i32() for _ in range(3))
        owner, pzxid = reader.i64(), reader.i64()
        path = path or "/"
        node = Node(content, rules.get(number, OPEN), czxid, ctime, owner, mzxid, mtime, pzxid)
        node.version, node.aversion = version, aversion
        node.created = cversion
        nodes[path] = node
    _check_end(data, reader)
    _connect(nodes)
    return nodes


def _check_end(data: bytes, reader: Reader) -> None:
    """The checksum of what was read up to here. Raises Malformed."""
    end = _HEADER + reader.at
    if reader.i64() != adler32(data[:end]):
        raise Malformed("a wrong checksum")


def _connect(nodes: dict[str, Node]) -> None:
    """Have each node among the children of the one above it. Raises Malformed."""
    for path in nodes:
        if path != "/":
            above, _, name = path.rpartition("/")
            parent = nodes.get(above or "/")
            if parent is None:
                raise Malformed(f"a node without its parent: {path}")
            parent.children[name] = None


class _Nodes:
    """Nodes, to which transactions are done once more."""

    def __init__(self, zxid: int, nodes: dict[str, Node]) -> None:
        self.zxid = zxid
        self._nodes = nodes
        self._session = self._time = 0

    def replay(self, data: bytes) -> None:
        """The transactions of a log; what was cut off at its end is none. Raises Malformed."""
        for reader in _transactions(data):
            self._session, _ = reader.i64(), reader.i32()
            zxid, self._time, kind = reader.i64(), reader.i64(), reader.i32()
            if zxid > self.zxid:
                self.zxid = zxid
                self._do(kind, reader)

    def _do(self, kind: int, reader: Reader) -> None:
        if kind == kinds.MULTI:
            parts = reader.vector(lambda each: (each.i32(), each.buffer() or b"")) or []
            if all(part != -1 for part, _ in parts):  # else none was done
                for part, content in parts:
                    self._do(part, Reader(content))
        elif kind in _CREATIONS:
            self._create(kind, reader)
        elif kind in (kinds.DELETE, kinds.DELETE_CONTAINER):
            self._delete(reader.text())
        elif kind == kinds.SET:
            node = self._nodes.get(reader.text())
            data, version = reader.buffer(), reader.i32()
            if node is not None:
                node.data, node.version = data, version
                node.mzxid, node.mtime = self.zxid, self._time
        elif kind == kinds.SET_ACL:
            node, rules = self._nodes.get(reader.text()), reader.vector(acls.read_acl)
            if node is not None:
                node.acl, node.aversion = tuple(rules or ()), reader.i32()
        elif kind == kinds.CLOSE:
            self._close(self._session)

    def _create(self, kind: int, reader: Reader) -> None:
        path, data = reader.text(), reader.buffer()
        rules = tuple(reader.vector(acls.read_acl) or ())
        owner = CONTAINER_OWNER if kind == kinds.CREATE_CONTAINER else 0
        if kind in (kinds.CREATE, kinds.CREATE2) and reader.flag():
            owner = self._session
        cversion = reader.i32()
        above, _, name = path.rpartition("/")
        parent = self._nodes.get(above or "/")
        if parent is None or path in self._nodes:
            return
        zxid, time = self.zxid, self._time
        self._nodes[path] = Node(data, rules, zxid, time, owner, zxid, time, zxid)
        parent.children[name] = None
        # -1 is what servers of before 3.4 wrote.
        made = cversion if cversion >= 0 else parent.created + 1
        parent.created, parent.pzxid = max(parent.created, made), zxid

    def _delete(self, path: str) -> None:
        if self._nodes.pop(path, None) is not None:
            above, _, name = path.rpartition("/")
            parent = self._nodes[above or "/"]
            parent.children.pop(name, None)
            parent.pzxid = self.zxid

    def _close(self, session: int) -> None:
        for path in [path for path, node in self._nodes.items() if node.owner == session]:
            self._delete(path)

    def end(self, tree: Tree) -> None:
        """Have the nodes in the tree, those of sessions left out."""
        own = dict(tree.nodes)
        tree.lost = [path for path, node in self._nodes.items() if _is_lost(node)]
        for path in tree.lost:
            self._delete(path)
        for path in sorted(own.keys() - self._nodes.keys()):
            self._nodes[path] = own[path]  # 3.4 has no /zookeeper/config
        _connect(self._nodes)
        tree.restore(self._nodes, self.zxid)


def _is_lost(node: Node) -> bool:
    """Whether it goes with its session, and has no time to live."""
    return _is_of_session(node) and node.owner >> 56 & 0xFF != 0xFF


def _transactions(data: bytes) -> Iterator[Reader]:
    """Those that were written to their end. Raises Malformed for damage."""
    if data[:4] != kinds.MAGIC:
        return
    at = _HEADER
    while len(data) - at > _PREFIX.size:
        checksum, length = _PREFIX.unpack_from(data, at)
        begin, end = at + _PREFIX.size, at + _PREFIX.size + length
        if length <= 0 or data[end : end + 1] != kinds.END:
            return
        if checksum != adler32(data[begin:end]):
            raise Malformed(f"a wrong checksum at {at}")
        yield Reader(data[begin:end])
        at = end + 1


# Writing


def _encoded(tree: Tree) -> bytes:
    kept = [(path, node) for path, node in tree.nodes.items() if not _is_of_session(node)]
    numbers: dict[Acls, int] = {OPEN: _ALL}
    for _, node in kept:
        numbers.setdefault(node.acl, len(numbers))
    lists = [(rules, number) for rules, number in numbers.items() if number != _ALL]
    parts = [_SNAPSHOT, jute.i32(2), jute.i64(-1), jute.i32(0), jute.i32(len(lists))]
    parts += [jute.i64(number) + acls.encoded(rules) for rules, number in lists]
    for path, node in sorted(kept):  # parents first
        stat = node.stat
        parts += [
            *(jute.text("" if path == "/" else path), jute.buffer(node.data)),
            jute.i64(numbers[node.acl], stat.czxid, stat.mzxid, stat.ctime, stat.mtime),
            jute.i32(stat.version, node.created, stat.aversion),
            jute.i64(node.owner, stat.pzxid),
        ]
    parts.append(jute.text("/"))
    data = b"".join(parts)
    return data + jute.i64(adler32(data)) + jute.text("/")


def _is_of_session(node: Node) -> bool:
    return node.owner not in (0, CONTAINER_OWNER)
