"""The requests of ZooKeeper's protocol: each decoded, done, and answered.

An answer is the request's xid, the id of the last transaction, a code, and the fields if it is 0.
Not emulated: `reconfig` (there is one server; ZooKeeper refuses it as well, unless configured) and
SASL. What later versions of ZooKeeper have added (3.6: persistent watches, multi reads,
`getEphemerals`) is unknown here, as it is to the 3.5 of Kafka 2.7: UNIMPLEMENTED, and the
connection is closed. Source: PrepRequestProcessor, FinalRequestProcessor of ZooKeeper 3.5.9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from . import acl as acls
from . import jute
from .errors import Code, KeeperError, Malformed
from .jute import Reader
from .tree import (
    NO_TTL,
    Check,
    Create,
    Delete,
    Done,
    Event,
    Mode,
    Operation,
    SetAcl,
    SetData,
    Stat,
    Who,
)

if TYPE_CHECKING:
    from .keeper import Client

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
