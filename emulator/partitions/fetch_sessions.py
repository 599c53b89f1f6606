"""Fetch sessions: a client sends once which partitions it reads, and then only what changes.

Source: KIP-227; semantics, C12 and C13. A session is found by its id from any connection to its
broker, and its epoch counts the requests: 0 opens a session, -1 is a request without one. An answer
in a session leaves out partitions with nothing new. A broker keeps at most
`max.incremental.fetch.session.cache.slots`; when all are taken, the session that was unused for
longest is evicted, if that is two minutes or more. The same holds when the sessions of a broker
have SIZE_MAX partitions together, which Kafka does not limit.

A session may hold very many partitions, so each takes little memory.
"""

from __future__ import annotations

from collections import OrderedDict
from random import Random

from ...wire import NO_ID, Error, Refused
from ...wire.api.fetch import FetchRequest, FetchResponse
from ..base.turns import Slices

INITIAL_EPOCH = 0
FINAL_EPOCH = -1
NO_SESSION = 0
SIZE_MAX = 100_000
"""How many partitions all sessions of one broker hold; they take up to 22 MB. A topic counts as one
more, and a long name as several (_LETTERS)."""
_LETTERS = 100
A_SLICE = 200
"""So many partitions are worked on at once."""
_EVICTION_MS = 120_000
_LAST_EPOCH = 2**31 - 1
_KEYS_OF_A_TOPIC = 2**32
_NOT_SENT = -2

Asked = FetchRequest.Topic.Partition
Answered = FetchResponse.Topic.Partition


class WantedTopic:
    """A topic of a fetch, by the id or the name that the client uses."""

    __slots__ = ("first_key", "max_bytes", "name", "partitions", "size", "topic_id")

    def __init__(self, topic_id: bytes, name: str, first_key: int) -> None:
        self.topic_id = topic_id
        self.name = name
        # The key of partition 0.
        self.first_key = first_key
        # How many of its partitions are wanted.
        self.partitions = 0
        # What was asked last: one number in memory for all partitions that have the same.
        self.max_bytes = -1
        # How much it counts in the size of a session.
        self.size = 1 + len(name) // _LETTERS


class Wanted:
    """One partition of a fetch: what was asked, and what its session last answered."""

    __slots__ = (
        "current_leader_epoch",
        "fetch_offset",
        "high_watermark",
        "key",
        "last_fetched_epoch",
        "log_start_offset",
        "max_bytes",
        "seen_as",
        "topic",
    )

    def __init__(self, topic: WantedTopic, key: int) -> None:
        self.topic = topic
        self.key = key
        # What was sent last; _NOT_SENT if it is in the next answer in any case: new in the session,
        # or an error the last time.
        self.high_watermark = _NOT_SENT
        self.log_start_offset = -1
        # The name of the topic with this id, when it last existed.
        self.seen_as: str | None = None

    def ask(self, asked: Asked) -> None:
        topic = self.topic
        if asked.partition_max_bytes != topic.max_bytes:
            topic.max_bytes = asked.partition_max_bytes
        self.max_bytes = topic.max_bytes
        self.fetch_offset = asked.fetch_offset
        self.current_leader_epoch = asked.current_leader_epoch
        self.last_fetched_epoch = asked.last_fetched_epoch

    @property
    def partition(self) -> int:
        return self.key - self.topic.first_key

    def is_news(self, answer: Answered) -> bool:
        """Whether an incremental answer must have this partition; remembers what is sent."""
        news = (
            answer.high_watermark != self.high_watermark
            or bool(answer.records)
            or answer.log_start_offset != self.log_start_offset
            or answer.error_code != 0
            or answer.diverging_epoch.epoch != -1
            or answer.preferred_read_replica >= 0
        )
        self.high_watermark = _NOT_SENT if answer.error_code else answer.high_watermark
        self.log_start_offset = answer.log_start_offset
        return news


class WantedPartitions:
    """The partitions of a client, each once, in the order in which they are read."""

    __slots__ = ("_next_key", "_topics", "_wanted", "size")

    def __init__(self) -> None:
        self._wanted: dict[int, Wanted] = {}
        self._topics: dict[tuple[bytes, str], WantedTopic] = {}
        self._next_key = 0
        self.size = 0
        """Partitions and topics, as SIZE_MAX counts them."""

    def all(self) -> list[Wanted]:
        return list(self._wanted.values())

    def add(self, request: FetchRequest) -> Slices[None]:
        """Add and change partitions. If one is named twice, the last counts."""
        done = 0
        for named in request.topics:
            partitions = named.partitions
            done += len(partitions)
            if done < A_SLICE:
                self._add(named, partitions)
                continue
            for first in range(0, len(partitions), A_SLICE):
                self._add(named, partitions[first : first + A_SLICE])
                yield
            done = 0

    def _add(self, named: FetchRequest.Topic, partitions: list[Asked]) -> None:
        if not partitions:
            return
        name = named.topic if named.topic_id == NO_ID else ""
        topic = self._topics.get((named.topic_id, name))
        if topic is None:
            topic = WantedTopic(named.topic_id, name, self._next_key)
            self._topics[named.topic_id, name] = topic
            self._next_key += _KEYS_OF_A_TOPIC
            self.size += topic.size
        wanted, first_key = self._wanted, topic.first_key
        before = len(wanted)
        for asked in partitions:
            key = first_key + asked.partition
            known = wanted.get(key)
            if known is None:
                known = wanted[key] = Wanted(topic, key)
            known.ask(asked)
        added = len(wanted) - before
        topic.partitions += added
        self.size += added

    def forget(self, request: FetchRequest) -> Slices[None]:
        """Remove partitions, as far as they are there."""
        done = 0
        for named in request.forgotten_topics_data:
            for index in named.partitions:
                self._forget((named.topic_id, named.topic), index)
                done += 1
                if not done % A_SLICE:
                    yield

    def _forget(self, named: tuple[bytes, str], index: int) -> None:
        topic = self._topics.get(named)
        if topic is None or self._wanted.pop(topic.first_key + index, None) is None:
            return
        self.size -= 1
        topic.partitions -= 1
        if not topic.partitions:
            del self._topics[named]
            self.size -= topic.size

    def move_to_end(self, wanted: Wanted) -> None:
        """A partition that had data is read last the next time, so that it starves no other."""
        found = self._wanted.pop(wanted.key, None)
        if found is not None:
            self._wanted[wanted.key] = found


class Session:
    """The partitions that one client reads, from request to request."""

    def __init__(self, uses_ids: bool, now: int) -> None:
        self.id = NO_SESSION
        self.uses_ids = uses_ids
        self.epoch = 1
        self.last_used = now
        self.partitions = WantedPartitions()


class SessionCache:
    def __init__(self, slots: int, random: Random) -> None:
        self._slots = slots
        self._random = random
        self._sessions: OrderedDict[int, Session] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def clear(self) -> None:
        """Forget all: the broker starts again."""
        self._sessions.clear()

    def begin(self, request: FetchRequest, version: int, now: int) -> Session | None:
        """The session of this request, which is to be updated by it; None if it has none.

        Raises Refused with FETCH_SESSION_ID_NOT_FOUND (70), INVALID_FETCH_SESSION_EPOCH (71) or
        FETCH_SESSION_TOPIC_ID_ERROR (106), for the error code of the whole answer.
        """
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(request.session_id, None)
            return None if request.session_epoch == FINAL_EPOCH else Session(version >= 13, now)
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
        return session

    def wanted(self, session_id: int) -> list[Wanted]:
        """The partitions of a session; none if there is none with this id."""
        session = self._sessions.get(session_id)
        return [] if session is None else session.partitions.all()

    def update(self, session: Session, request: FetchRequest, now: int) -> Slices[bool]:
        """Add, change and remove partitions; removing is last, and so wins. Returns whether it is a
        session then: one that has lost all partitions is not.

        Raises Refused(FETCH_SESSION_ID_NOT_FOUND) if there is no room for what was added.
        """
        partitions = session.partitions
        before = partitions.size
        if request.topics:
            yield from partitions.add(request)
        if request.forgotten_topics_data and session.id != NO_SESSION:  # a new one has nothing
            yield from partitions.forget(request)
        size = partitions.size
        if session.id == NO_SESSION:
            self._keep(session, now)
            return True
        if not size:
            self._close(session)
            return False
        if size > before and self._size() > SIZE_MAX:
            # The client opens another one, and learns whether there is room for that.
            self._close(session)
            raise Refused(Error.FETCH_SESSION_ID_NOT_FOUND)
        return True

    def _close(self, session: Session) -> None:
        """Close a session, unless that was done between two slices."""
        if self._sessions.get(session.id) is session:
            del self._sessions[session.id]

    def _keep(self, session: Session, now: int) -> None:
        """Keep a new session, if there is room; else its id stays NO_SESSION."""
        if self._has_room(session.partitions.size, now):
            while session.id == NO_SESSION or session.id in self._sessions:
                session.id = self._random.randrange(1, 2**31)
            self._sessions[session.id] = session

    def _size(self) -> int:
        return sum(session.partitions.size for session in self._sessions.values())

    def _has_room(self, size: int, now: int) -> bool:
        """Whether there is room for a session of that size, made by evicting others if need be."""
        left = SIZE_MAX - size - self._size()
        while len(self._sessions) >= self._slots or left < 0:
            oldest = next(iter(self._sessions.values()), None)
            if oldest is None or now - oldest.last_used < _EVICTION_MS:
                return False
            del self._sessions[oldest.id]
            left += oldest.partitions.size
        return True
