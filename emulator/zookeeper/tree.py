"""The tree of nodes, without IO: transactions change it, each as a whole or not at all.

The rules (ZooKeeper's, as its DataTree and PrepRequestProcessor of 3.5 have them):

- Every transaction takes the next zxid, also one that is refused; a node has those of its creation
  (czxid), of its last data (mzxid), and of the last change among its children (pzxid).
- A sequential node gets the number of children that its parent has ever had, in ten digits.
- A node's `cversion` counts its children's creations and deletions.
- An ephemeral node belongs to a session, has no children, and goes with the session.
- A container goes once its last child has gone; within a minute.
- Of a transaction of several operations that is refused, those before the one that is to blame say
  OK, and those after it RUNTIME_INCONSISTENCY.

Bounded: so many nodes and bytes as `Limits` says; beyond that what a client creates or makes longer
is API_ERROR, which every client knows. Not emulated: quotas of /zookeeper/quota; nodes with a time
to live, which ZooKeeper answers with UNIMPLEMENTED as well, unless it is configured.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from . import acl as acls
from .acl import OPEN, READ_ONLY, Acl, Acls, Id
from .errors import Code, KeeperError

ANY_VERSION = -1
NO_TTL = -2
"""A multi has a node with a time to live, and not what that is: then all of it is unreadable."""
CONTAINER_OWNER = -(1 << 63)
_SPECIAL = {"/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"}
_INT_MAX = (1 << 31) - 1


class Mode(IntEnum):
    """The kind of node that is created: the flags of a request."""

    PERSISTENT = 0
    EPHEMERAL = 1
    PERSISTENT_SEQUENTIAL = 2
    EPHEMERAL_SEQUENTIAL = 3
    CONTAINER = 4
    WITH_TTL = 5
    SEQUENTIAL_WITH_TTL = 6

    @property
    def is_ephemeral(self) -> bool:
        """Whether the node goes with its session."""
        return self in (Mode.EPHEMERAL, Mode.EPHEMERAL_SEQUENTIAL)

    @property
    def is_sequential(self) -> bool:
        """Whether its name gets a number."""
        return self in (Mode.PERSISTENT_SEQUENTIAL, Mode.EPHEMERAL_SEQUENTIAL)


class Event(IntEnum):
    CREATED = 1
    DELETED = 2
    DATA_CHANGED = 3
    CHILDREN_CHANGED = 4


class Stat(NamedTuple):
    """The stat of a node, in the order of answers. Times are in ms."""

    czxid: int
    mzxid: int
    ctime: int
    mtime: int
    version: int
    cversion: int
    aversion: int
    ephemeral_owner: int
    data_length: int
    num_children: int
    pzxid: int


@dataclass(slots=True)
class Node:
    data: bytes | None
    acl: Acls
    czxid: int
    ctime: int
    owner: int = 0
    """The session that it belongs to; 0 for none, CONTAINER_OWNER for a container."""
    mzxid: int = 0
    mtime: int = 0
    pzxid: int = 0
    version: int = 0
    aversion: int = 0
    created: int = 0
    """How many children were ever created."""
    children: dict[str, None] = field(default_factory=dict)

    @property
    def stat(self) -> Stat:
        return Stat(
            *(self.czxid, self.mzxid, self.ctime, self.mtime, self.version),
            *(self.created * 2 - len(self.children), self.aversion, max(0, self.owner)),
            *(len(self.data or b""), len(self.children), self.pzxid),
        )


@dataclass(frozen=True)
class Create:
    path: str
    data: bytes | None = None
    mode: int = Mode.PERSISTENT
    acl: Sequence[Acl] | None = OPEN
    ttl: int = -1
    is_container: bool = False


@dataclass(frozen=True)
class Delete:
    """A node without children goes."""

    path: str
    version: int = ANY_VERSION


@dataclass(frozen=True)
class SetData:
    path: str
    data: bytes | None
    version: int = ANY_VERSION


@dataclass(frozen=True)
class SetAcl:
    path: str
    acl: Sequence[Acl] | None
    version: int = ANY_VERSION


@dataclass(frozen=True)
class Check:
    path: str
    version: int


Operation: TypeAlias = Create | Delete | SetData | SetAcl | Check


class Who(NamedTuple):
    """Who asks: a session, and the ids of its connection. Without ids, which is the broker itself,
    everything is allowed, and there are no limits."""

    session: int = 0
    ids: Collection[Id] | None = None


class Step(NamedTuple):
    """What an operation of a transaction has done, for a log: with the whole path, and the version
    that the node has then."""

    operation: Create | Delete | SetData | SetAcl
    created: int = 0
    """Of a creation: how many children its parent has ever had, this one included."""
    is_ephemeral: bool = False


class Transaction(NamedTuple):
    zxid: int
    session: int
    """Who did it; 0 for the broker itself."""
    time_ms: int
    steps: Sequence[Step]
    """None if it was refused, or changes no node."""


class Done(NamedTuple):
    """The result of an operation: the path that was created, and the node's stat."""

    path: str
    stat: Stat


@dataclass(frozen=True)
class Limits:
    nodes: int = 100_000
    bytes: int = 256 << 20
    """Of paths and data."""


DEFAULT_LIMITS = Limits()
Change: TypeAlias = tuple[Event, str]
NOBODY = Who()
_Undo: TypeAlias = Callable[[], None]


class Tree:
    """All nodes. `changed` is called with what a transaction has done, after it, and before that
    `logged`, where there is one, with all of it, also if that is nothing: it raises nothing."""

    def __init__(self, now: Callable[[], int], limits: Limits = DEFAULT_LIMITS) -> None:
        self.zxid = 0
        self.changed: list[Callable[[list[Change]], None]] = []
        self.logged: Callable[[Transaction], None] | None = None
        self.lost: list[str] = []
        """The nodes of sessions that were left out when files were read."""
        self.is_own = False
        """Whether no other server has written these files since this one has."""
        self.size = 0
        self._now, self._limits = now, limits
        self.nodes = {
            "/": Node(b"", OPEN, 0, 0, children={"zookeeper": None}),
            "/zookeeper": Node(b"", OPEN, 0, 0, children={"config": None, "quota": None}),
            "/zookeeper/quota": Node(b"", OPEN, 0, 0),
            "/zookeeper/config": Node(b"", READ_ONLY, 0, 0, aversion=-1),
        }
        self.owned: dict[int, dict[str, None]] = {}
        """Ephemeral nodes by their session."""
        self.containers: dict[str, None] = {}
        self._undo: list[_Undo] = []
        self._changes: list[Change] = []
        self._steps: list[Step] = []

    def restore(self, nodes: dict[str, Node], zxid: int) -> None:
        """Have these nodes, which nobody watches yet."""
        self.nodes, self.zxid = nodes, zxid
        self.size = sum(len(path) for path in nodes.keys() - _SPECIAL)
        self.size += sum(len(node.data or b"") for node in nodes.values())
        self.containers = {p: None for p, node in nodes.items() if node.owner == CONTAINER_OWNER}

    def node(self, path: str) -> Node:
        """A node. Raises KeeperError(NO_NODE)."""
        found = self.nodes.get(path or "/")
        if found is None:
            raise KeeperError(Code.NO_NODE)
        return found

    def get(self, path: str) -> bytes | None:
        """The data of a node; None if there is no such node, or it has none."""
        found = self.nodes.get(path)
        return None if found is None else found.data

    def children(self, path: str) -> list[str]:
        """The names of the nodes below one; none if that is not there."""
        found = self.nodes.get(path)
        return [] if found is None else list(found.children)

    # Transactions

    def apply(self, operation: Operation, who: Who = NOBODY) -> Done:
        """Do one operation. Raises KeeperError."""
        found = self.transact([operation], who)[0]
        if isinstance(found, Code):
            raise KeeperError(found)
        return found

    def transact(self, operations: Sequence[Operation], who: Who = NOBODY) -> list[Done | Code]:
        """Do all of these, or none of them: what each has done, or the code of each."""
        self._begin()
        results: list[Done | Code] = []
        for place, operation in enumerate(operations):
            try:
                results.append(self._do(operation, who))
            except KeeperError as error:
                for undo in reversed(self._undo):
                    undo()
                after = len(operations) - place - 1
                rest = [Code.RUNTIME_INCONSISTENCY] * after
                self._steps = []
                self._log(who.session)
                return [*[Code.OK] * place, error.code, *rest]
        self._tell(who.session)
        return results

    def end_session(self, session: int) -> None:
        """Its ephemeral nodes go."""
        self._begin()
        for path in self.owned.pop(session, {}):
            self._remove(path)
        self._tell(session)

    def take_zxid(self) -> None:
        """A transaction that changes no node."""
        self._begin()
        self._log(0)

    def sweep_containers(self) -> None:
        """Containers whose last child has gone go."""
        for path in [*self.containers]:
            node = self.nodes[path]
            if node.created and not node.children:
                self.transact([Delete(path)])

    def _begin(self) -> None:
        self.zxid += 1
        self._undo, self._changes, self._steps = [], [], []

    def _log(self, session: int) -> None:
        if self.logged is not None:
            self.logged(Transaction(self.zxid, session, self._now(), self._steps))

    def _tell(self, session: int) -> None:
        self._log(session)
        changes = self._changes
        for tell in self.changed if changes else ():
            tell(changes)

    def _do(self, operation: Operation, who: Who) -> Done:
        match operation:
            case Create():
                return self._create(operation, who)
            case Delete():
                return self._delete(operation, who)
        check_path(operation.path)
        if isinstance(operation, SetAcl):
            rules = acls.judged(operation.acl, who.ids or ())
        node = self.node(operation.path)
        match operation:
            case SetData():
                _allow(node, acls.WRITE, who)
                version = _next_version(node.version, operation.version)
                more = len(operation.data or b"") - len(node.data or b"")
                if who.ids is not None:
                    self._reserve(more, nodes=0)
                self._set_data(operation.path, node, operation.data, version)
            case SetAcl():
                _allow(node, acls.ADMIN, who)
                version = _next_version(node.aversion, operation.version)
                self._set(node, acl=rules, aversion=version)
                self._steps.append(Step(SetAcl(operation.path, rules, version)))
            case Check():
                _allow(node, acls.READ, who)
                _next_version(node.version, operation.version)
        return Done(operation.path, node.stat)

    def _create(self, create: Create, who: Who) -> Done:
        mode = _mode(create)
        parent_path = _parent_path(create.path)
        rules = acls.judged(create.acl, who.ids or ())
        parent = self.node(parent_path)
        _allow(parent, acls.CREATE, who)
        path = create.path
        if mode.is_sequential:
            path += f"{parent.created:010d}"
        check_path(path)
        if path in self.nodes:
            raise KeeperError(Code.NODE_EXISTS)
        if parent.owner not in (0, CONTAINER_OWNER):
            raise KeeperError(Code.NO_CHILDREN_FOR_EPHEMERALS)
        if who.ids is not None:
            self._reserve(len(path) + len(create.data or b""))
        owner = who.session if mode.is_ephemeral else 0
        owner = CONTAINER_OWNER if create.is_container else owner
        zxid, now = self.zxid, self._now()
        node = Node(create.data, rules, zxid, now, owner, zxid, now, zxid)
        self._add(path, node)
        name = path[path.rindex("/") + 1 :]
        before = parent.created, parent.pzxid
        parent.children[name] = None
        parent.created, parent.pzxid = parent.created + 1, zxid

        def undo() -> None:
            self._drop(path, node)
            del parent.children[name]
            parent.created, parent.pzxid = before

        self._undo.append(undo)
        self._changes.append((Event.CREATED, path))
        made = Create(path, create.data, mode, rules, is_container=create.is_container)
        self._steps.append(Step(made, parent.created, mode.is_ephemeral))
        return Done(path, node.stat)

    def _delete(self, delete: Delete, who: Who) -> Done:
        path = delete.path
        if path in _SPECIAL:
            raise KeeperError(Code.BAD_ARGUMENTS)
        parent = self.node(_parent_path(path))
        node = self.node(path)
        _allow(parent, acls.DELETE, who)
        _next_version(node.version, delete.version)
        if node.children:
            raise KeeperError(Code.NOT_EMPTY)
        self._remove(path)
        return Done(path, node.stat)

    def _remove(self, path: str) -> None:
        node, parent = self.nodes[path], self.nodes[_parent_path(path) or "/"]
        name = path[path.rindex("/") + 1 :]
        self._drop(path, node)
        pzxid = parent.pzxid
        del parent.children[name]
        parent.pzxid = self.zxid

        def undo() -> None:
            self._add(path, node)
            parent.children[name] = None
            parent.pzxid = pzxid

        self._undo.append(undo)
        self._changes.append((Event.DELETED, path))
        self._steps.append(Step(Delete(path)))

    def _set_data(self, path: str, node: Node, data: bytes | None, version: int) -> None:
        more = len(data or b"") - len(node.data or b"")
        self.size += more
        self._undo.append(lambda: self._grow(-more))
        self._set(node, data=data, version=version, mzxid=self.zxid, mtime=self._now())
        self._changes.append((Event.DATA_CHANGED, path))
        self._steps.append(Step(SetData(path, data, version)))

    def _set(self, node: Node, **values: object) -> None:
        before = {name: getattr(node, name) for name in values}
        self._undo.append(lambda: _assign(node, before))
        _assign(node, values)

    def _reserve(self, size: int, nodes: int = 1) -> None:
        limits = self._limits
        if len(self.nodes) + nodes > limits.nodes or (size > 0 and self.size + size > limits.bytes):
            raise KeeperError(Code.API_ERROR)

    def _grow(self, size: int) -> None:
        self.size += size

    def _add(self, path: str, node: Node) -> None:
        self.nodes[path] = node
        self.size += len(path) + len(node.data or b"")
        if node.owner == CONTAINER_OWNER:
            self.containers[path] = None
        elif node.owner:
            self.owned.setdefault(node.owner, {})[path] = None

    def _drop(self, path: str, node: Node) -> None:
        del self.nodes[path]
        self.size -= len(path) + len(node.data or b"")
        self.containers.pop(path, None)
        if node.owner in self.owned:
            self.owned[node.owner].pop(path, None)


def parent_of(path: str) -> str:
    return path[: path.rindex("/")] or "/"


def check_path(path: str) -> None:
    """Raises KeeperError(BAD_ARGUMENTS) for what no node can be called (PathUtils)."""
    if path == "/":
        return
    parts = path.split("/")
    if parts[0] or len(parts) < 2 or any(part in ("", ".", "..") for part in parts[1:]):
        raise KeeperError(Code.BAD_ARGUMENTS)
    is_plain = path.isascii() and path.isprintable()
    if not is_plain and any(_is_forbidden(ord(character)) for character in path):
        raise KeeperError(Code.BAD_ARGUMENTS)


def _is_forbidden(point: int) -> bool:
    """Control characters, what UTF-16 has as surrogates, private and special ones."""
    return point <= 0x1F or 0x7F <= point <= 0x9F or 0xD800 <= point <= 0xF8FF or point >= 0xFFF0


def _parent_path(path: str) -> str:
    """Empty for a node below the root. Raises KeeperError(BAD_ARGUMENTS)."""
    if "/" not in path or "\0" in path:
        raise KeeperError(Code.BAD_ARGUMENTS)
    return path[: path.rindex("/")]


def _mode(create: Create) -> Mode:
    """Raises KeeperError: BAD_ARGUMENTS, UNIMPLEMENTED."""
    try:
        mode = Mode(create.mode)
    except ValueError:
        raise KeeperError(Code.BAD_ARGUMENTS) from None
    if create.ttl == NO_TTL:
        raise KeeperError(Code.MARSHALLING_ERROR)
    if mode in (Mode.WITH_TTL, Mode.SEQUENTIAL_WITH_TTL):
        raise KeeperError(Code.UNIMPLEMENTED)
    if create.ttl >= 0:
        raise KeeperError(Code.BAD_ARGUMENTS)
    return mode


def _next_version(has: int, expected: int) -> int:
    """Raises KeeperError(BAD_VERSION)."""
    if expected not in (ANY_VERSION, has):
        raise KeeperError(Code.BAD_VERSION)
    return has + 1 if has < _INT_MAX else -(1 << 31)


def _allow(node: Node, permission: int, who: Who) -> None:
    """Raises KeeperError(NO_AUTH)."""
    if who.ids is not None:
        acls.check(node.acl, permission, who.ids)


def _assign(node: Node, values: dict[str, object]) -> None:
    for name, value in values.items():
        setattr(node, name, value)
