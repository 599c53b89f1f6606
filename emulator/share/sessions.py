"""Share sessions: which partitions a member fetches from, so that it need not name them each time.

Rules (semantics N9, N11, N18):
- A session is a group's and a member's; the member need not have joined. Epoch 0 opens one in the
  place of any other, with the partitions of the request; each request after that has the next
  epoch, adds the partitions it names and takes away those to forget; -1 closes it.
- No session is SHARE_SESSION_NOT_FOUND, another epoch INVALID_SHARE_SESSION_EPOCH. A broker has
  `group.share.max.share.sessions` at most (SHARE_SESSION_LIMIT_REACHED).
- The answer to epoch 0 has all partitions, others have what is new: records, errors, and what was
  named for the first time or had an error before.
- A session ends with the connection that opened it, and what its member has acquired is released.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...wire import Error, Refused

INITIAL_EPOCH, FINAL_EPOCH = 0, -1
_LAST_EPOCH = 2**31 - 1


class Part(NamedTuple):
    """A partition, by its topic's id."""

    topic_id: bytes
    partition: int


class SessionKey(NamedTuple):
    """Whose session it is."""

    group_id: str
    member_id: str


class Session:
    """One session. `connection`: what tells the connection that opened it from others."""

    def __init__(self, key: SessionKey, parts: Iterable[Part], connection: object) -> None:
        self.key = key
        self.epoch = 1
        self.connection = connection
        # Whether a partition is in the next answer, whatever there is of it.
        self._must_tell = dict.fromkeys(parts, False)

    @property
    def parts(self) -> list[Part]:
        """Its partitions, those first that have had no records for longest."""
        return list(self._must_tell)

    def update(self, named: Iterable[Part], forgotten: Iterable[Part]) -> None:
        """Add what a request names, and forget what it is to forget."""
        for part in named:
            self._must_tell.setdefault(part, True)
        for part in forgotten:
            self._must_tell.pop(part, None)

    def is_news(self, part: Part, has_error: bool, has_records: bool) -> bool:
        """Whether the answer has a partition, which it is told with this."""
        must_tell = self._must_tell.get(part)
        if must_tell is None:  # forgotten while the request waited
            return has_error or has_records
        self._must_tell[part] = has_error
        if has_records:
            self._must_tell[part] = self._must_tell.pop(part)
        return must_tell or has_error or has_records


class SessionCache:
    """The sessions of a broker."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._sessions: dict[SessionKey, Session] = {}
        # The session that each connection has opened last, and all groups it has opened some for.
        self._by_connection: dict[object, SessionKey] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, key: SessionKey) -> Session:
        """A session. Raises Refused(SHARE_SESSION_NOT_FOUND)."""
        session = self.find(key)
        if session is None:
            raise Refused(Error.SHARE_SESSION_NOT_FOUND)
        return session

    def find(self, key: SessionKey) -> Session | None:
        """A session, if there is one."""
        return self._sessions.get(key)

    def open(self, key: SessionKey, parts: Iterable[Part], connection: object) -> Session:
        """Open a session anew. Raises Refused(SHARE_SESSION_LIMIT_REACHED)."""
        self.remove(key)
        if len(self._sessions) >= self._most:
            raise Refused(Error.SHARE_SESSION_LIMIT_REACHED)
        session = self._sessions[key] = Session(key, parts, connection)
        self._by_connection[connection] = key
        return session

    def next(self, key: SessionKey, epoch: int) -> Session:
        """The session of a request in this epoch, which stays as it is.
        Raises Refused: SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH."""
        session = self.get(key)
        if session.epoch != epoch:
            raise Refused(Error.INVALID_SHARE_SESSION_EPOCH)
        return session

    def remove(self, key: SessionKey) -> Session | None:
        """Forget a session, and return it."""
        return self._sessions.pop(key, None)

    def lost(self, connection: object) -> tuple[SessionKey | None, Session | None]:
        """A connection is closed: the session that it opened last, if that is still there, and its
        key in any case."""
        key = self._by_connection.pop(connection, None)
        session = None if key is None else self._sessions.get(key)
        if session is not None and session.connection is not connection:
            session = None
        return key, session

    def has_any(self, group_id: str) -> bool:
        """Whether a group has sessions."""
        return any(key.group_id == group_id for key in self._sessions)

    def clear(self) -> None:
        """Forget all."""
        self._sessions.clear()
        self._by_connection.clear()


def next_epoch(epoch: int) -> int:
    """The epoch of the request after one of this epoch."""
    return 1 if epoch == _LAST_EPOCH else epoch + 1
