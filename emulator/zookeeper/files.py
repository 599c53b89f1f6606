"""ZooKeeper's own files: a tree read from the directory of a server that is stopped, and written.

A `dataDir` has a folder `version-2`, in it

    snapshot.<zxid, hex>    "ZKSN", int32 2, int64 -1; sessions (int32 count, int64 id, int32
                            timeout); lists of access rules (int32 count, int64 number, the rules);
                            each node (path, data, int64 number of its rules or -1, stat), until a
                            path "/"; int64 Adler-32 of all that; a path "/"
    log.<first zxid, hex>   "ZKLG", int32 2, int64 0; transactions (int64 Adler-32, buffer, "B")
                            until there are only zeros

The newest snapshot that is whole counts, and the transactions after those it was written at. It may
have been written while nodes changed: transactions may find done what they do.

Nodes of sessions are left out when it is read, as no session goes on, and when it is written.
Left out: `dataLogDir`, in which transactions may lie apart; nodes with a time to live stay for
ever. Source: FileSnap, FileTxnLog, DataTree of ZooKeeper 3.4 and 3.5; the files of real ones beside
Kafka 0.10.2 to 2.7.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from zlib import adler32

from . import acl as acls
from . import jute
from .acl import OPEN, Acls
from .errors import Malformed
from .jute import Reader
from .tree import CONTAINER_OWNER, Node, Tree, parent_of

_SNAPSHOT, _LOG = b"ZKSN", b"ZKLG"
_HEADER = 16
_ALL = -1
"""The number of the rules that let everybody do everything."""
_CREATE, _DELETE, _SET, _SET_ACL, _MULTI, _CREATE2 = 1, 2, 5, 7, 14, 15
_CREATE_CONTAINER, _DELETE_CONTAINER, _CREATE_TTL, _CLOSE = 19, 20, 21, -11
_CREATIONS = (_CREATE, _CREATE2, _CREATE_CONTAINER, _CREATE_TTL)
_NAME = re.compile(r"(snapshot|log)\.([0-9a-f]+)")


class DirectoryError(ValueError):
    """There is no directory of a ZooKeeper, or its files cannot be read. The text names it."""


def load(directory: Path, now: Callable[[], int]) -> Tree | None:
    """The nodes of a stopped server; None if the directory is empty. `now` is in ms. Raises
    DirectoryError, OSError."""
    home = _home(directory)
    if home is None:
        if any(directory.iterdir()):
            raise DirectoryError(f"{directory} is no dataDir of a ZooKeeper: it has no version-2")
        return None
    tree, found = Tree(now), _found(home)
    nodes = _newest(home, sorted(found["snapshot"], reverse=True)) or _Nodes(0, dict(tree.nodes))
    logs = sorted(found["log"])
    first = max((zxid for zxid in logs if zxid <= nodes.zxid), default=0)
    for zxid in logs:
        if zxid >= first:
            nodes.replay((home / f"log.{zxid:x}").read_bytes())
    nodes.end(tree)
    return tree


def _newest(home: Path, snapshots: list[int]) -> _Nodes | None:
    """The nodes of the newest snapshot that is whole. Raises DirectoryError if there is none."""
    for zxid in snapshots:
        with suppress(Malformed):
            return _Nodes(zxid, _snapshot((home / f"snapshot.{zxid:x}").read_bytes()))
    if snapshots:
        raise DirectoryError(f"{home}: no snapshot can be read")
    return None


def save(tree: Tree, directory: Path) -> None:
    """Write a snapshot of a tree. Raises OSError."""
    home = (_home(directory) or directory / "version-2").absolute()
    home.mkdir(parents=True, exist_ok=True)
    target = home / f"snapshot.{tree.zxid:x}"
    new = target.with_suffix(".new")
    new.write_bytes(_encoded(tree))
    os.replace(new, target)


def _home(directory: Path) -> Path | None:
    for path in (directory / "version-2", directory):
        if path.is_dir() and path.name == "version-2":
            return path
    return None


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
    counts: dict[str, int] = {}
    while (path := reader.text()) != "/":
        content, number = reader.buffer(), reader.i64()
        czxid, mzxid, ctime, mtime = (reader.i64() for _ in range(4))
        version, cversion, aversion = (reader.i32() for _ in range(3))
        owner, pzxid = reader.i64(), reader.i64()
        path = path or "/"
        node = Node(content, rules.get(number, OPEN), czxid, ctime, owner, mzxid, mtime, pzxid)
        node.version, node.aversion = version, aversion
        nodes[path], counts[path] = node, cversion
    _connect(nodes)
    for path, node in nodes.items():
        node.created = (counts[path] + len(node.children)) // 2
    return nodes


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
        """The transactions of a log; what was cut off at its end is none."""
        with suppress(Malformed):
            for reader in _transactions(data):
                self._session, _ = reader.i64(), reader.i32()
                zxid, self._time, kind = reader.i64(), reader.i64(), reader.i32()
                if zxid > self.zxid:
                    self.zxid = zxid
                    self._do(kind, reader)

    def _do(self, kind: int, reader: Reader) -> None:
        if kind == _MULTI:
            parts = reader.vector(lambda each: (each.i32(), each.buffer() or b"")) or []
            if all(part != -1 for part, _ in parts):  # else none was done
                for part, content in parts:
                    self._do(part, Reader(content))
        elif kind in _CREATIONS:
            self._create(kind, reader)
        elif kind in (_DELETE, _DELETE_CONTAINER):
            self._delete(reader.text())
        elif kind == _SET:
            node = self._nodes.get(reader.text())
            data, version = reader.buffer(), reader.i32()
            if node is not None:
                node.data, node.version = data, version
                node.mzxid, node.mtime = self.zxid, self._time
        elif kind == _SET_ACL:
            node, rules = self._nodes.get(reader.text()), reader.vector(acls.read_acl)
            if node is not None:
                node.acl, node.aversion = tuple(rules or ()), reader.i32()
        elif kind == _CLOSE:
            self._close(self._session)

    def _create(self, kind: int, reader: Reader) -> None:
        path, data = reader.text(), reader.buffer()
        rules = tuple(reader.vector(acls.read_acl) or ())
        owner = CONTAINER_OWNER if kind == _CREATE_CONTAINER else 0
        if kind in (_CREATE, _CREATE2) and reader.flag():
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
        made = (cversion + len(parent.children)) // 2 if cversion >= 0 else parent.created + 1
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
        owners = {node.owner for node in self._nodes.values()} - {0, CONTAINER_OWNER}
        for owner in owners:
            if owner >> 56 & 0xFF != 0xFF:  # else it has a time to live
                self._close(owner)
        for path in sorted(own.keys() - self._nodes.keys()):
            self._nodes[path] = own[path]  # 3.4 has no /zookeeper/config
        _connect(self._nodes)
        tree.restore(self._nodes, self.zxid)


def _transactions(data: bytes) -> Iterator[Reader]:
    """Raises Malformed where the last one was cut off."""
    if data[:4] != _LOG:
        return
    reader = Reader(data[_HEADER:])
    while not reader.is_at_end:
        checksum, content = reader.i64(), reader.buffer()
        if not content:
            return
        if checksum != adler32(content):
            raise Malformed("a wrong checksum")
        reader.flag()
        yield Reader(content)


# Writing


def _encoded(tree: Tree) -> bytes:
    kept = [(path, node) for path, node in tree.nodes.items() if not _is_of_session(node)]
    there = Counter(parent_of(path) for path, _ in kept if path != "/")
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
            jute.i32(stat.version, 2 * node.created - there[path], stat.aversion),
            jute.i64(node.owner, stat.pzxid),
        ]
    parts.append(jute.text("/"))
    data = b"".join(parts)
    return data + jute.i64(adler32(data)) + jute.text("/")


def _is_of_session(node: Node) -> bool:
    return node.owner not in (0, CONTAINER_OWNER)
