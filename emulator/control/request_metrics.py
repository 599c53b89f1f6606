"""Requests by API, their times and errors, and what was written and read by topic: what Kafka's
RequestMetrics and BrokerTopicMetrics count.

A step of the chain, which is not there until somebody asks for the numbers, and leaves the chain
when nobody has asked for `IDLE_S`: then requests cost what they cost without it. Numbers begin with
the first question, and stay as they are meanwhile.

As in Kafka (ReplicaManager): a produce or a fetch of a topic is one of each of its partitions that
an answer names, and has failed if it is refused by an error that is no client's everyday one. A
session of fetches leaves out what has nothing new, which Kafka counts and this does not. Times are
real milliseconds, from a decoded request to its answer before it is encoded. What the kit asks
inside the process does not pass the chain, and is not counted.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ...wire import NO_ID, Error, Request, Response
from ...wire.api import api_keys
from ..base.chain import Step
from ..base.real_time import perf_counter
from .refusals import finder, refusals

if TYPE_CHECKING:
    from ..base.call import Call
    from ..cluster import Cluster

IDLE_S = 300.0
"""What a Prometheus that has gone leaves behind: the count ends so long after its last question."""
_SAMPLES = 1028
"""Times that are kept of an API: as many as Kafka's histograms."""
_PRODUCE, _FETCH, _SHARE_FETCH = (
    next(iter(api_keys(name))) for name in ("produce", "fetch", "share_fetch")
)
_UNNAMED = {
    Error.TOPIC_AUTHORIZATION_FAILED,
    Error.UNKNOWN_TOPIC_OR_PARTITION,
    Error.UNKNOWN_TOPIC_ID,
}
"""Refused before a log is asked, and so not counted by topic."""
_EVERYDAY = {
    Error.NOT_LEADER_OR_FOLLOWER,
    Error.MESSAGE_TOO_LARGE,
    Error.RECORD_LIST_TOO_LARGE,
    Error.CORRUPT_MESSAGE,
    Error.KAFKA_STORAGE_ERROR,
    Error.UNKNOWN_LEADER_EPOCH,
    Error.FENCED_LEADER_EPOCH,
    Error.REPLICA_NOT_AVAILABLE,
    Error.INCONSISTENT_TOPIC_ID,
    Error.OFFSET_OUT_OF_RANGE,
}
"""Errors by which a request has not failed."""


@dataclass(slots=True)
class ApiCount:
    """Requests of one API."""

    count: int = 0
    errors: Counter[Error] = field(default_factory=Counter)
    times: deque[float] = field(default_factory=lambda: deque(maxlen=_SAMPLES))
    """Milliseconds that the last ones took."""


@dataclass(slots=True)
class TopicCount:
    """What was asked of one topic."""

    produces: int = 0
    failed_produces: int = 0
    fetches: int = 0
    failed_fetches: int = 0
    bytes_out: int = 0


class Counted(NamedTuple):
    """What was counted so far."""

    apis: dict[int, ApiCount]
    """By API key."""
    topics: dict[str, TopicCount]

    def copied(self) -> Counted:
        """As it is now."""
        apis = {
            key: ApiCount(each.count, each.errors.copy(), each.times.copy())
            for key, each in self.apis.items()
        }
        return Counted(apis, {name: copy(each) for name, each in self.topics.items()})


class RequestMetrics(Step):
    """Counts while it is in a chain."""

    reads_records = False

    def __init__(self, cluster: Callable[[], Cluster]) -> None:
        """`cluster`: the one that is served now, since another may take its place."""
        self._cluster = cluster
        self._begun: dict[Call, float] = {}
        self._counted = Counted({}, {})
        self._until = 0.0

    def counted(self) -> Counted:
        """What was counted, and from now on is."""
        self._until = perf_counter() + IDLE_S
        chain = self._cluster().chain
        if self not in chain:
            chain.insert(0, self)
        return self._counted.copied()

    def before(self, call: Call, request: Request) -> None:
        """A request is taken up."""
        now = self._begun[call] = perf_counter()
        if now > self._until:
            self._until = now + IDLE_S
            self._cluster().chain.remove(self)

    def after(self, call: Call, request: Request, response: Response | None) -> None:
        """It is answered."""
        took = perf_counter() - self._begun.pop(call)
        api = self._counted.apis.get(call.api_key)
        if api is None:
            api = self._counted.apis[call.api_key] = ApiCount()
        api.count += 1
        api.times.append(took * 1000)
        if response is None:
            return
        if call.api_key == _PRODUCE:
            self._produced(response)
        elif call.api_key in (_FETCH, _SHARE_FETCH):
            self._fetched(response)
        if finder(type(response))(response):
            api.errors.update(each.error for each in refusals(response))

    def _produced(self, response: Any) -> None:
        for topic in response.responses:
            found = self._topic(topic.name, topic.topic_id)
            for each in topic.partition_responses if found is not None else ():
                if each.error_code not in _UNNAMED:
                    found.produces += 1
                    found.failed_produces += has_failed(each.error_code)

    def _fetched(self, response: Any) -> None:
        for topic in response.responses:
            found = self._topic(getattr(topic, "topic", ""), topic.topic_id)
            for each in topic.partitions if found is not None else ():
                if each.error_code not in _UNNAMED:
                    found.fetches += 1
                    found.failed_fetches += has_failed(each.error_code)
                    found.bytes_out += len(each.records or b"")

    def _topic(self, name: str, topic_id: bytes) -> Any:
        """None of one that nobody has."""
        if not name and topic_id != NO_ID:
            topic = self._cluster().topics.by_id(topic_id)
            name = "" if topic is None else topic.name
        if not name:
            return None
        found = self._counted.topics.get(name)
        if found is None:
            found = self._counted.topics[name] = TopicCount()
        return found


def has_failed(code: int) -> bool:
    """Whether a partition that was refused so is one of Kafka's failed requests."""
    return code != 0 and code not in _EVERYDAY
