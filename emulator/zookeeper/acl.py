"""Who may do what with a node: ZooKeeper's access control lists.

- An entry is for an id of a scheme: `world` (anyone), `ip` (an address, or a network), `digest`
  (user and the SHA-1 of a password). `auth` stands for who creates the node.
- A connection has the id of its address, and those that it has logged in with (`addauth`).
- The rules of a new node are judged when it is created; those of the node that is read, or of the
  parent for a creation or deletion, when it is done.

Kafka itself gives all its nodes to everybody, unless `zookeeper.set.acl` is set, which is not
emulated; nor are the schemes `sasl` and `x509`. Source: PrepRequestProcessor of ZooKeeper 3.5.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Sequence
from hashlib import sha1
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import NamedTuple

from . import jute
from .errors import Code, KeeperError
from .jute import Reader

READ, WRITE, CREATE, DELETE, ADMIN, ALL = 1, 2, 4, 8, 16, 31
DIGEST, IP = "digest", "ip"


class Id(NamedTuple):
    scheme: str
    name: str


class Acl(NamedTuple):
    permissions: int
    who: Id


Acls = tuple[Acl, ...]
ANYONE = Id("world", "anyone")
OPEN: Acls = (Acl(ALL, ANYONE),)
READ_ONLY: Acls = (Acl(READ, ANYONE),)


def read_acl(reader: Reader) -> Acl:
    return Acl(reader.i32(), Id(reader.text(), reader.text()))


def encoded(acls: Acls) -> bytes:
    each = (jute.i32(a.permissions) + jute.text(a.who.scheme) + jute.text(a.who.name) for a in acls)
    return jute.vector(each, len(acls))


def judged(given: Sequence[Acl] | None, ids: Collection[Id]) -> Acls:
    """The rules of a node from those of a request. Raises KeeperError(INVALID_ACL)."""
    found: dict[Acl, None] = {}
    for acl in given or ():
        scheme, name = acl.who
        if acl.who == ANYONE or (scheme == DIGEST and name.count(":") == 1):
            found[acl] = None
        elif scheme == "auth":
            own = [each for each in ids if each.scheme == DIGEST]
            if not own:
                raise KeeperError(Code.INVALID_ACL)
            found |= dict.fromkeys(Acl(acl.permissions, each) for each in own)
        elif scheme == IP and _network(name) is not None:
            found[acl] = None
        else:
            raise KeeperError(Code.INVALID_ACL)
    if not found:
        raise KeeperError(Code.INVALID_ACL)
    return tuple(found)


def check(acls: Acls, permission: int, ids: Collection[Id]) -> None:
    """Raises KeeperError(NO_AUTH) where none of these ids has one of these permissions."""
    for acl in acls:
        if acl.permissions & permission and (acl.who == ANYONE or _is_one_of(acl.who, ids)):
            return
    raise KeeperError(Code.NO_AUTH)


def may(acls: Acls, permission: int, ids: Collection[Id]) -> bool:
    try:
        check(acls, permission, ids)
    except KeeperError:
        return False
    return True


def digest_id(credentials: bytes) -> Id:
    """Who logs in with "user:password"."""
    user = credentials.split(b":")[0].decode(errors="replace")
    return Id(DIGEST, f"{user}:{b64encode(sha1(credentials).digest()).decode()}")


def without_digests(acls: Acls) -> Acls:
    """As somebody sees them who may not change them."""
    return tuple(
        Acl(a.permissions, Id(DIGEST, a.who.name.split(":")[0] + ":x"))
        if a.who.scheme == DIGEST
        else a
        for a in acls
    )


def _is_one_of(who: Id, ids: Collection[Id]) -> bool:
    if who.scheme != IP:
        return who in ids
    network = _network(who.name)
    addresses = [ip_address(each.name) for each in ids if each.scheme == IP]
    return network is not None and any(each in network for each in addresses)


def _network(name: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(name, strict=False)
    except ValueError:
        return None
