"""The errors that ZooKeeper answers, by its own names (KeeperException.Code)."""

from __future__ import annotations

from enum import IntEnum


class Code(IntEnum):
    OK = 0
    RUNTIME_INCONSISTENCY = -2
    MARSHALLING_ERROR = -5
    UNIMPLEMENTED = -6
    BAD_ARGUMENTS = -8
    API_ERROR = -100
    NO_NODE = -101
    NO_AUTH = -102
    BAD_VERSION = -103
    NO_CHILDREN_FOR_EPHEMERALS = -108
    NODE_EXISTS = -110
    NOT_EMPTY = -111
    SESSION_EXPIRED = -112
    INVALID_ACL = -114
    AUTH_FAILED = -115
    NO_WATCHER = -121
    RECONFIG_DISABLED = -123


class KeeperError(Exception):
    """An operation that is refused, changing nothing."""

    def __init__(self, code: Code) -> None:
        super().__init__(code.name)
        self.code = code


class Malformed(Exception):
    """Bytes that are no record of ZooKeeper's."""
