"""ZooKeeper's transaction log, written: each transaction before it is answered.

An entry is an int64 Adler-32, an int32 length, and so many bytes: int64 session, int32 0, int64
zxid, int64 time in ms, int32 kind, and what that kind has; then "B". Several operations of one
transaction are a multi. One that changes nothing (it was refused; a session has begun) is an error,
which nobody reads: it keeps the zxid from being taken twice.

What is written outlives the process, not the system: there is no fsync. Source: FileTxnLog of
ZooKeeper 3.5.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO
from zlib import adler32

from . import acl as acls
from . import jute
from .tree import Create, Delete, SetAcl, SetData, Step, Transaction

MAGIC = b"ZKLG"
OWN_HEADER = MAGIC + jute.i32(2) + b"Odradek\0"
"""Where a ZooKeeper has an id of its database, which is 0 and which nobody reads."""
END = b"B"
CREATE, DELETE, SET, SET_ACL, MULTI, CREATE2 = 1, 2, 5, 7, 14, 15
CREATE_CONTAINER, DELETE_CONTAINER, CREATE_TTL, CLOSE, ERROR = 19, 20, 21, -11, -1


class TransactionLog:
    """A log that begins with the first transaction that is appended. Raises OSError, after which it
    takes no more."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._file: BinaryIO | None = None

    def append(self, transaction: Transaction) -> None:
        if self._file is None:
            self._file = (self._home / f"log.{transaction.zxid:x}").open("wb")
            self._file.write(OWN_HEADER)
        self._file.write(encoded(transaction))
        self._file.flush()

    def close(self) -> None:
        """Raises OSError if there is something left that cannot be written."""
        if self._file is not None:
            self._file.close()


def encoded(transaction: Transaction) -> bytes:
    """An entry of a log."""
    zxid, session, time_ms, steps = transaction
    kind, body = ERROR, jute.i32(0)
    if len(steps) == 1:
        kind, body = _step(steps[0])
    elif steps:
        parts = (jute.i32(each) + jute.buffer(part) for each, part in map(_step, steps))
        kind, body = MULTI, jute.vector(parts, len(steps))
    header = jute.i64(session) + jute.i32(0) + jute.i64(zxid, time_ms) + jute.i32(kind)
    content = header + body
    return jute.i64(adler32(content)) + jute.buffer(content) + END


def _step(step: Step) -> tuple[int, bytes]:
    """The kind of an operation, and what it has."""
    match step.operation:
        case Create() as create:
            body = jute.text(create.path) + jute.buffer(create.data)
            body += acls.encoded(tuple(create.acl or ()))
            count = jute.i32(step.created)
            if create.is_container:
                return CREATE_CONTAINER, body + count
            return CREATE, body + jute.flag(step.is_ephemeral) + count
        case Delete(path):
            return DELETE, jute.text(path)
        case SetData(path, data, version):
            return SET, jute.text(path) + jute.buffer(data) + jute.i32(version)
        case SetAcl(path, rules, version):
            return SET_ACL, jute.text(path) + acls.encoded(tuple(rules or ())) + jute.i32(version)
