"""Fetch sessions: a client sends once which partitions it reads, and then only what changes.

Source: KIP-227; semantics, C12 and C13. A session is found by its id from any connection to its
broker, and its epoch counts the requests: 0 opens a session, -1 is a request without one. An answer
in a session leaves out partitions with nothing new. A broker keeps at most
`max.incremental.fetch.session.cache.slots`; when all are taken, the session that was unused for
longest is evicted, if that is two minutes or more.
"""

from __future__ import annotations

from collections import OrderedDict
from random import Random

from ...wire import NO_ID, Error, Refused
from ...wire.api.fetch import FetchRequest, FetchResponse

INITIAL_EPOCH = 0
FINAL_EPOCH = -1
NO_SESSION = 0
_EVICTION_MS = 120_000
_LAST_EPOCH = 2**31 - 1

Key = tuple[bytes, str, int]
Asked = FetchRequest.Topic.Partition
Answered = FetchResponse.Topic.Partition


class Wanted:
    """One partition of a fetch: what was asked, and what its session last answered."""

    __slots__ = (
        "asked",
        "high_watermark",
        "log_start_offset",
        "name",
        "resend",
        "seen_as",
        "topic_id",
    )

    def __init__(self, topic_id: bytes, name: str, asked: Asked) -> None:
        self.topic_id = topic_id
        self.name = name
        self.asked = asked
        self.high_watermark = -1
        self.log_start_offset = -1
        # The name of the topic with this id, when it last existed.
        self.seen_as: str | None = None
        # In the next answer in any case: new in the session, or an error the last time.
        self.resend = True

    @property
    def key(self) -> Key:
        return (self.topic_id, self.name, self.asked.partition)

    def is_news(self, answer: Answered) -> bool:
        """Whether an incremental answer must have this partition; remembers what is sent."""
        news = (
            self.resend
            or bool(answer.records)
            or answer.high_watermark != self.high_watermark
            or answer.log_start_offset != self.log_start_offset
            or answer.error_code != 0
            or answer.diverging_epoch.epoch != -1
        )
        self.high_watermark = answer.high_watermark
        self.log_start_offset = answer.log_start_offset
        self.resend = answer.error_code != 0
        return news


class Session:
    """The partitions that one client reads, in the order in which they are read."""

    def __init__(self, session_id: int, uses_ids: bool, now: int) -> None:
        self.id = session_id
        self.uses_ids = uses_ids
        self.epoch = 1
        self.last_used = now
        self.partitions: OrderedDict[Key, Wanted] = OrderedDict()

    def update(self, request: FetchRequest) -> None:
        """Add, change and remove partitions; removing is last, and so wins."""
        self.add(request)
        for topic in request.forgotten_topics_data:
            for index in topic.partitions:
                self.partitions.pop((topic.topic_id, topic.topic, index), None)

    def add(self, request: FetchRequest) -> None:
        """Add and change partitions."""
        for wanted in wanted_of(request):
            known = self.partitions.get(wanted.key)
            if known is None:
                self.partitions[wanted.key] = wanted
            else:
                known.asked = wanted.asked

    def rotate(self, sent: list[Key]) -> None:
        """Move partitions that had data to the end, so that none starves the others."""
        for key in sent:
            if key in self.partitions:
                self.partitions.move_to_end(key)


class SessionCache:
    """The fetch sessions of one broker."""

    def __init__(self, slots: int, random: Random) -> None:
        self._slots = slots
        self._random = random
        self._sessions: OrderedDict[int, Session] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def begin(self, request: FetchRequest, version: int, now: int) -> Session | None:
        """The session of this request, updated by it; None if it has none.

        Raises Refused with FETCH_SESSION_ID_NOT_FOUND (70), INVALID_FETCH_SESSION_EPOCH (71) or
        FETCH_SESSION_TOPIC_ID_ERROR (106), for the error code of the whole answer.
        """
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(request.session_id, None)
            if request.session_epoch == FINAL_EPOCH:
                return None
            return self._open(request, version >= 13, now)
        session = self._sessions.get(request.session_id)
        if session is None:
            raise Refused(Error.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != request.session_epoch:
            raise Refused(Error.INVALID_FETCH_SESSION_EPOCH)
        if session.uses_ids != (version >= 13):
            raise Refused(Error.FETCH_SESSION_TOPIC_ID_ERROR)
        session.epoch = 1 if session.epoch == _LAST_EPOCH else session.epoch + 1
        session.last_used = now
        self._sessions.move_to_end(session.id)
        session.update(request)
        if not session.partitions:
            # Empty: it is closed, and the request served as one without a session.
            del self._sessions[session.id]
            return None
        return session

    def _open(self, request: FetchRequest, uses_ids: bool, now: int) -> Session:
        session = Session(NO_SESSION, uses_ids, now)
        session.add(request)  # a new session has nothing to remove
        if self._has_room(now):
            while session.id == NO_SESSION or session.id in self._sessions:
                session.id = self._random.randrange(1, 2**31)
            self._sessions[session.id] = session
        return session

    def _has_room(self, now: int) -> bool:
        if len(self._sessions) < self._slots:
            return True
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None or now - oldest.last_used < _EVICTION_MS:
            return False
        del self._sessions[oldest.id]
        return True


def wanted_of(request: FetchRequest) -> list[Wanted]:
    """The partitions of a request, in its order. If one is named twice, the last counts."""
    found: dict[Key, Wanted] = {}
    for topic in request.topics:
        for asked in topic.partitions:
            wanted = Wanted(topic.topic_id, topic.topic if topic.topic_id == NO_ID else "", asked)
            found[wanted.key] = wanted
    return list(found.values())
