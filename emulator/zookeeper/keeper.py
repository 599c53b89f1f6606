"""Keeper: tree, watches, sessions and connections of one ZooKeeper, without sockets.

A connection gives whole frames to `Client.received`, and sends what comes back; notifications of
watches come before the answer to the request that rang them. The first frame asks for a session, or
for one to go on. One that never did is no client, and gets nothing.

The state is this process's alone: it outlives the brokers beside it, their kills and restarts, and
ends with the process.

Each request is decoded, done, and answered. An answer is the request's xid, the id of the last
transaction, a code, and the fields if it is 0. Not emulated: `reconfig` (there is one server;
ZooKeeper refuses it as well, unless configured) and SASL. What later versions of ZooKeeper have
added (3.6: persistent watches, multi reads, `getEphemerals`) is unknown here, as it is to the 3.5
of Kafka 2.7: UNIMPLEMENTED, and the connection is closed. Source: PrepRequestProcessor,
FinalRequestProcessor of ZooKeeper 3.5.9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TypeAlias

from . import acl as acls
from . import jute
from .acl import IP, Id
from .errors import Code, KeeperError, Malformed
from .jute import Reader
from .sessions import Clock, Session, Sessions
from .tree import (
    DEFAULT_LIMITS,
    NO_TTL,
    Check,
    Create,
    Delete,
    Done,
    Event,
    Limits,
    Mode,
    Operation,
    SetAcl,
    SetData,
    Stat,
    Tree,
    Who,
)
from .watches import Watches

CREATE, DELETE, EXISTS, GET, SET, GET_ACL, SET_ACL, CHILDREN, SYNC = range(1, 10)
PING, CHILDREN2, CHECK, MULTI, CREATE2, RECONFIG = range(11, 17)
CHECK_WATCHES, REMOVE_WATCHES, CREATE_CONTAINER, DELETE_CONTAINER, CREATE_TTL = range(17, 22)
AUTH, SET_WATCHES, SASL = 100, 101, 102
CLOSE = -11
_PING_XID = -2
_OF_MULTI = frozenset({CREATE, CREATE2, CREATE_TTL, CREATE_CONTAINER, DELETE, SET, CHECK})
_ERROR = -1
_CHILDREN_TYPE, _DATA_TYPE, _ANY_TYPE = 1, 2, 3

Body: TypeAlias = bytes
Asked: TypeAlias = "Callable[[Client, Reader], Body]"


def answer(client: Client, reader: Reader) -> None:
    """Answer one request. Raises Malformed for what has no header."""
    xid, kind = reader.i32(), reader.i32()
    if kind == AUTH:
        _log_in(client, reader, xid)
        return
    found = _REQUESTS.get(kind)
    code, body = Code.OK, b""
    try:
        if found is None:
            raise KeeperError(Code.UNIMPLEMENTED)
        body = found(client, reader)
    except KeeperError as error:
        code = error.code
    except Malformed:
        code = Code.MARSHALLING_ERROR
    if kind == PING:
        xid = _PING_XID
    _reply(client, xid, code, body)
    if kind == CLOSE or (found is None and code is Code.UNIMPLEMENTED):
        client.close()


def _reply(client: Client, xid: int, code: Code, body: bytes = b"") -> None:
    zxid = client.keeper.tree.zxid
    client.send(jute.i32(xid) + jute.i64(zxid) + jute.i32(code) + (b"" if code else body))


def _log_in(client: Client, reader: Reader, xid: int) -> None:
    """`addauth`: a wrong one closes the connection. Raises Malformed."""
    reader.i32()
    scheme, credentials = reader.text(), reader.buffer() or b""
    ids = {acls.DIGEST: acls.digest_id(credentials), acls.IP: client.ids[0]}
    if scheme not in ids:
        _reply(client, xid, Code.AUTH_FAILED)
        client.close()
        return
    if ids[scheme] not in client.ids and len(client.ids) < _MOST_IDS:
        client.ids.append(ids[scheme])
    client.send(jute.i32(xid) + jute.i64(0) + jute.i32(Code.OK))


_MOST_IDS = 100


# What changes the tree


def _operation(kind: int, reader: Reader) -> Operation:
    """Raises Malformed."""
    if kind in (CREATE, CREATE2, CREATE_CONTAINER, CREATE_TTL):
        path, data, rules = reader.text(), reader.buffer(), reader.vector(acls.read_acl)
        mode = reader.i32()
        ttl = reader.i64() if kind == CREATE_TTL else -1
        return Create(path, data, mode, rules, ttl, is_container=kind == CREATE_CONTAINER)
    if kind == DELETE:
        return Delete(reader.text(), reader.i32())
    if kind == SET:
        return SetData(reader.text(), reader.buffer(), reader.i32())
    if kind == SET_ACL:
        return SetAcl(reader.text(), reader.vector(acls.read_acl), reader.i32())
    return Check(reader.text(), reader.i32())


def _result(kind: int, done: Done) -> Body:
    if kind == CREATE:
        return jute.text(done.path)
    if kind in (CREATE2, CREATE_CONTAINER, CREATE_TTL):
        return jute.text(done.path) + stat_of(done.stat)
    return b"" if kind in (DELETE, CHECK) else stat_of(done.stat)


def _who(client: Client) -> Who:
    assert client.session is not None
    return Who(client.session.session_id, client.ids)


def _change(kind: int) -> Asked:
    def asked(client: Client, reader: Reader) -> Body:
        tree = client.keeper.tree
        try:
            operation = _operation(kind, reader)
        except Malformed:
            tree.take_zxid()
            raise
        done = tree.apply(operation, _who(client))
        if kind == CREATE_CONTAINER:
            client.keeper.sweep_later()
        return _result(kind, done)

    return asked


def _multi(client: Client, reader: Reader) -> Body:
    """All or nothing. Raises Malformed."""
    kinds, operations = [], list[Operation]()
    tree = client.keeper.tree
    try:
        while True:
            kind, is_done, _ = reader.i32(), reader.flag(), reader.i32()
            if is_done:
                break
            if kind not in _OF_MULTI:
                raise Malformed(f"an operation {kind} in a multi")
            operation = _operation(kind, reader)
            if isinstance(operation, Create):
                kind, operation = _in_multi(kind, operation)
            kinds.append(kind)
            operations.append(operation)
    except Malformed:
        tree.take_zxid()
        raise
    parts = []
    results = tree.transact(operations, _who(client))
    if Code.MARSHALLING_ERROR in results:
        raise KeeperError(Code.MARSHALLING_ERROR)
    for kind, result in zip(kinds, results, strict=True):
        if isinstance(result, Code):
            parts.append(jute.i32(_ERROR) + jute.flag(False) + jute.i32(result, result))
        else:
            parts.append(jute.i32(kind) + jute.flag(False) + jute.i32(0) + _result(kind, result))
    client.keeper.sweep_later()
    return b"".join(parts) + jute.i32(-1) + jute.flag(True) + jute.i32(-1)


def _in_multi(kind: int, create: Create) -> tuple[int, Create]:
    """In a multi the flags decide which of its requests a creation is."""
    is_container = create.mode == Mode.CONTAINER
    lacks_ttl = create.mode in (Mode.WITH_TTL, Mode.SEQUENTIAL_WITH_TTL) and kind != CREATE_TTL
    kind = CREATE2 if is_container else CREATE
    return kind, replace(create, ttl=NO_TTL if lacks_ttl else -1, is_container=is_container)


def _close(client: Client, _: Reader) -> Body:
    assert client.session is not None
    client.keeper.sessions.end(client.session)
    client.keeper.watches.forget(client)  # it gets no events of its own nodes
    client.keeper.tree.end_session(client.session.session_id)
    return b""


# What reads it


def stat_of(stat: Stat) -> bytes:
    return (
        jute.i64(stat.czxid, stat.mzxid, stat.ctime, stat.mtime)
        + jute.i32(stat.version, stat.cversion, stat.aversion)
        + jute.i64(stat.ephemeral_owner)
        + jute.i32(stat.data_length, stat.num_children)
        + jute.i64(stat.pzxid)
    )


def _watch(client: Client, path: str, *, is_child: bool = False) -> None:
    if not client.keeper.watches.add(path, client, is_child=is_child):
        client.close()


def _exists(client: Client, reader: Reader) -> Body:
    path, has_watch = reader.text(), reader.flag()
    if "\0" in path:
        raise KeeperError(Code.BAD_ARGUMENTS)
    if has_watch:
        _watch(client, path)
    return stat_of(client.keeper.tree.node(path).stat)


def _get(client: Client, reader: Reader) -> Body:
    path, has_watch = reader.text(), reader.flag()
    node = client.keeper.tree.node(path)
    acls.check(node.acl, acls.READ, client.ids)
    if has_watch:
        _watch(client, path)
    return jute.buffer(node.data) + stat_of(node.stat)


def _children(*, has_stat: bool) -> Asked:
    def asked(client: Client, reader: Reader) -> Body:
        path, has_watch = reader.text(), reader.flag()
        node = client.keeper.tree.node(path)
        acls.check(node.acl, acls.READ, client.ids)
        if has_watch:
            _watch(client, path, is_child=True)
        names = jute.texts([*node.children])
        return names + stat_of(node.stat) if has_stat else names

    return asked


def _get_acl(client: Client, reader: Reader) -> Body:
    node = client.keeper.tree.node(reader.text())
    acls.check(node.acl, acls.READ | acls.ADMIN, client.ids)
    is_admin = acls.may(node.acl, acls.ADMIN, client.ids)
    shown = node.acl if is_admin else acls.without_digests(node.acl)
    return acls.encoded(shown) + stat_of(node.stat)


def _sync(client: Client, reader: Reader) -> Body:
    return jute.text(reader.text())


def _ping(client: Client, _: Reader) -> Body:
    return b""


def _reconfig(client: Client, _: Reader) -> Body:
    client.keeper.tree.take_zxid()
    raise KeeperError(Code.RECONFIG_DISABLED)


def _sasl(client: Client, _: Reader) -> Body:
    raise KeeperError(Code.AUTH_FAILED)


def _delete_container(client: Client, _: Reader) -> Body:
    """Only the server itself may."""
    raise KeeperError(Code.UNIMPLEMENTED)


# Watches


def _set_watches(client: Client, reader: Reader) -> Body:
    """Those of a connection before: what has changed since then rings now."""
    since = reader.i64()
    data, exist, child = reader.texts(), reader.texts(), reader.texts()
    nodes = client.keeper.tree.nodes
    for path in data:
        node = nodes.get(path or "/")
        if node is None:
            client.notify(Event.DELETED, path)
        elif node.mzxid > since:
            client.notify(Event.DATA_CHANGED, path)
        else:
            _watch(client, path)
    for path in exist:
        if (path or "/") in nodes:
            client.notify(Event.CREATED, path)
        else:
            _watch(client, path)
    for path in child:
        node = nodes.get(path or "/")
        if node is None:
            client.notify(Event.DELETED, path)
        elif node.pzxid > since:
            client.notify(Event.CHILDREN_CHANGED, path)
        else:
            _watch(client, path, is_child=True)
    return b""


def _watched(*, removes: bool) -> Asked:
    def asked(client: Client, reader: Reader) -> Body:
        path, kind = reader.text(), reader.i32()
        watches = client.keeper.watches
        kinds = {_CHILDREN_TYPE: [True], _DATA_TYPE: [False], _ANY_TYPE: [True, False]}
        has = [
            is_child
            for is_child in kinds.get(kind, [])
            if watches.has(path, client, is_child=is_child)
        ]
        if not has:
            raise KeeperError(Code.NO_WATCHER)
        for is_child in has if removes else ():
            watches.remove(path, client, is_child=is_child)
        return b""

    return asked


_REQUESTS: dict[int, Asked] = {
    **{
        kind: _change(kind)
        for kind in (CREATE, CREATE2, CREATE_CONTAINER, CREATE_TTL, DELETE, SET, SET_ACL)
    },
    EXISTS: _exists,
    GET: _get,
    GET_ACL: _get_acl,
    CHILDREN: _children(has_stat=False),
    CHILDREN2: _children(has_stat=True),
    SYNC: _sync,
    PING: _ping,
    MULTI: _multi,
    RECONFIG: _reconfig,
    SET_WATCHES: _set_watches,
    CHECK_WATCHES: _watched(removes=False),
    REMOVE_WATCHES: _watched(removes=True),
    SASL: _sasl,
    DELETE_CONTAINER: _delete_container,
    CLOSE: _close,
}


_NOTIFICATION = -1
_SYNC_CONNECTED = 3
_SWEEP_MS = 60_000


class Keeper:
    def __init__(self, clock: Clock, random: Random, limits: Limits = DEFAULT_LIMITS) -> None:
        self.clock = clock
        self.tree = Tree(clock.now, limits)
        self.watches = Watches()
        self.tree.changed.append(self.watches.tell)
        self.sessions = Sessions(clock, random)
        self.sessions.ended = self.session_over
        self.clients: dict[Client, None] = {}
        self.received = self.sent = 0
        """Packets, since the last `srst`."""
        self._is_sweeping = False

    def session_over(self, session: Session) -> None:
        """It has expired, or its broker is gone: its nodes go, and its connection is closed."""
        self.sessions.end(session)
        self.tree.end_session(session.session_id)
        for client in [each for each in self.clients if each.session is session]:
            client.close()

    def sweep_later(self) -> None:
        """There are containers: those that have emptied go within a minute."""
        if self._is_sweeping or not self.tree.containers:
            return
        self._is_sweeping = True
        self.clock.at(self.clock.now() + _SWEEP_MS, self._sweep)

    def _sweep(self) -> None:
        self._is_sweeping = False
        self.tree.sweep_containers()
        self.sweep_later()

    def set_timers_anew(self) -> None:
        """The clock's timers are others than before."""
        self.sessions.set_timers_anew()
        self._is_sweeping = False
        self.sweep_later()


class Client:
    """One connection. `send` takes the bytes of one frame, `end` closes it once they are sent."""

    def __init__(
        self,
        keeper: Keeper,
        address: tuple[str, int],
        send: Callable[[bytes], None],
        end: Callable[[], None],
    ) -> None:
        self.keeper = keeper
        self.address = address
        self.session: Session | None = None
        self.ids: list[Id] = [Id(IP, address[0])]
        self.watching: set[tuple[bool, str]] = set()
        self.began = keeper.clock.now()
        self.received_packets = self.sent_packets = 0
        self.is_open = True
        self._send, self._end = send, end
        keeper.clients[self] = None

    def received(self, frame: bytes) -> None:
        """A frame, without its length. Raises nothing: what is no request closes the connection."""
        if not self.is_open:
            return
        self.received_packets += 1
        self.keeper.received += 1
        try:
            if self.session is None:
                self._connect(Reader(frame))
            else:
                self.keeper.sessions.touch(self.session)
                answer(self, Reader(frame))
        except Malformed:
            self.close()

    def send(self, frame: bytes) -> None:
        if self.is_open:
            self.sent_packets += 1
            self.keeper.sent += 1
            self._send(frame)

    def notify(self, event: Event, path: str) -> None:
        header = jute.i32(_NOTIFICATION) + jute.i64(-1) + jute.i32(0)
        self.send(header + jute.i32(event, _SYNC_CONNECTED) + jute.text(path))

    def close(self) -> None:
        """Close it. Its session goes on until it expires."""
        if self.is_open:
            self.lost()
            self._end()

    def lost(self) -> None:
        self.is_open = False
        self.keeper.watches.forget(self)
        self.keeper.clients.pop(self, None)

    def _connect(self, reader: Reader) -> None:
        """The first frame. Raises Malformed."""
        reader.i32()  # the version of the protocol, always 0
        seen = reader.i64()
        timeout_ms, session_id, password = reader.i32(), reader.i64(), reader.buffer()
        has_read_only = not reader.is_at_end
        if seen > self.keeper.tree.zxid:
            self.close()  # it was at another ZooKeeper, and knows more than this one
            return
        sessions = self.keeper.sessions
        if session_id:
            session = sessions.again(session_id, password, timeout_ms)
            for other in [*self.keeper.clients] if session is not None else ():
                if other.session is session:
                    other.close()
        else:
            session = sessions.begin(timeout_ms)
            self.keeper.tree.take_zxid()
        ok = session is not None
        self.send(
            jute.i32(0, session.timeout_ms if session else 0)
            + jute.i64(session.session_id if session else 0)
            + jute.buffer(session.password if session else bytes(16))
            + (jute.flag(False) if has_read_only else b"")
        )
        self.session = session
        if not ok:
            self.close()
