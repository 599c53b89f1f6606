"""KafkaTiming: a step of the chain that answers as a real node does while it is not ready.

Rules:
- A topic that is created is unknown until the change is committed (COMMITTED) and the broker takes
  it in, then has no leader (NOT_LEADER_OR_FOLLOWER) until its logs are made (LED). Meanwhile the
  broker takes in nothing else: topics created next are unknown until then. CreateTopics,
  CreatePartitions and DeleteTopics are answered when the change is committed.
- A coordinator is unknown (COORDINATOR_NOT_AVAILABLE) until its topic is there, does not know that
  it is the one (NOT_COORDINATOR), and then loads (COORDINATOR_LOAD_IN_PROGRESS; a Heartbeat is
  answered). After a restart it is known at once; the rest begins with the first request.
- Markers are written after EndTxn was answered (MARKERS). Meanwhile the coordinator refuses with
  CONCURRENT_TRANSACTIONS by itself; a Produce v12 waits for it as a broker does, 20 ms at a time.
- An answer takes as long as a real one (LATENCY), in whole milliseconds: the loop's timers know no
  less, so what takes less than one is not held.

Time is real time under any clock, as it is for a fetch that waits. What is drawn comes from a
seeded Random: the same requests in the same order are drawn the same.

Not emulated: a deleted topic, and new partitions, are seen at once (a real node was never seen to
take longer than its answer); several brokers that learn of a change one after another.

Stages: what is refused with one error until some time, then with the next, then not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import TYPE_CHECKING, cast

from ...wire import Error, Refused, Request, Response
from ...wire.api.create_partitions import CreatePartitionsRequest
from ...wire.api.create_topics import CreateTopicsRequest
from ...wire.api.delete_topics import DeleteTopicsRequest
from ...wire.api.end_txn import EndTxnRequest
from ...wire.api.find_coordinator import FindCoordinatorRequest
from ...wire.api.heartbeat import HeartbeatRequest
from ...wire.api.produce import ProduceRequest
from ..base.call import NO_REPLY, PARKED, Call
from ..base.chain import Onward, Outcome, Step
from ..base.real_time import real_ms
from ..config.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from ..division.division import Division, own_copy
from . import figures
from .figures import Figures, drawn, led_after
from .refusing import (
    Describing,
    coordinator_of,
    hide,
    not_found,
    not_ready,
    searched,
    withhold,
)

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..metadata.delta import MetadataDelta
    from ..metadata.image import MetadataImage, TopicImage


class ReadinessSteps:
    """The stages of a topic, or of a coordinator, in the order of time (real ms)."""

    def __init__(self, *stages: tuple[float, Error]) -> None:
        self._stages = stages

    def error(self, now: float) -> Error:
        """The error of a request now; NONE when all is ready."""
        return next((error for until, error in self._stages if now < until), Error.NONE)


READY = ReadinessSteps()


SEED = 1
_ADDS_PARTITIONS_SINCE = 12
_CHANGES = (CreateTopicsRequest, CreatePartitionsRequest, DeleteTopicsRequest)
_COORDINATORS = (CONSUMER_OFFSETS, TRANSACTION_STATE)


class KafkaTiming(Step):
    """The timing of a cluster, which has it as the first step of its chain."""

    def __init__(self, cluster: Cluster, seed: int = SEED) -> None:
        self._cluster = cluster
        self._random = Random(seed)
        self._topics: dict[str, ReadinessSteps] = {}
        self._coordinators: dict[str, ReadinessSteps] = {}
        self._restarted = [name for name in _COORDINATORS if cluster.topics.get(name) is not None]
        self._committed_at: float = 0
        self._busy_until: float = 0
        """The broker takes in one change after the other, and makes its logs meanwhile."""
        self._end_ms: float = 0
        """How long the answer takes by which the last end of a transaction was decided."""
        self._withheld: dict[Call, Division] = {}
        self._is_following = False
        cluster.metadata.subscribe(self._follow)
        self._is_following = True

    # What happens in the cluster

    def once_decided(self, complete: Callable[[], None]) -> None:
        """The end of a transaction is decided: complete it when a real broker would."""
        self._end_ms = self._drawn(figures.LATENCY["EndTxn"])
        self._after(self._end_ms + self._drawn(figures.MARKERS), complete)

    def stop_ms(self) -> int:
        return int(self._drawn(figures.STOPPING))

    def _follow(self, delta: MetadataDelta, image: MetadataImage) -> None:
        if not self._is_following:
            return  # what is there already is ready
        now = self._now()
        if delta.created or delta.removed or delta.partitions:
            self._committed_at = now + self._drawn(figures.COMMITTED)
        for topic in delta.removed.values():
            self._topics.pop(topic.name, None)
            self._coordinators.pop(topic.name, None)
        for topic in delta.created.values():
            self._created(topic, now)

    def _created(self, topic: TopicImage, now: float) -> None:
        known = max(self._committed_at, self._busy_until)
        if topic.name in _COORDINATORS:
            known = max(known, now + self._drawn(figures.COORDINATOR_KNOWN))
            self._coordinators[topic.name] = self._elected(known)
        led = self._busy_until = known + self._drawn(led_after(len(topic.partitions)))
        self._topics[topic.name] = ReadinessSteps(
            (known, Error.UNKNOWN_TOPIC_OR_PARTITION), (led, Error.NOT_LEADER_OR_FOLLOWER)
        )

    def _elected(self, known: float) -> ReadinessSteps:
        """Of a coordinator that is known from some time on."""
        elected = known + self._drawn(figures.COORDINATOR_ELECTED)
        return ReadinessSteps(
            (known, Error.COORDINATOR_NOT_AVAILABLE),
            (elected, Error.NOT_COORDINATOR),
            (elected + self._drawn(figures.COORDINATOR_LOADED), Error.COORDINATOR_LOAD_IN_PROGRESS),
        )

    # Requests

    def before(self, call: Call, request: Request) -> Onward:
        while self._restarted:
            self._coordinators[self._restarted.pop()] = self._elected(self._now())
        coordinator = coordinator_of(request, call.version)
        if coordinator:
            return self._refusal(call, request, coordinator)
        onward = self._withhold(call, request) if self._topics else None
        if onward is not None and not isinstance(onward, Request):
            return onward
        rest = onward or request
        if isinstance(rest, ProduceRequest) and call.version >= _ADDS_PARTITIONS_SINCE:
            return self._wait_for_end(call, rest, figures.RETRIES_MS) or onward
        return onward

    def _refusal(self, call: Call, request: Request, coordinator: str) -> Outcome:
        error = self._coordinator_error(coordinator)
        if error is Error.COORDINATOR_NOT_AVAILABLE:
            error = Error.NOT_COORDINATOR  # what a broker says that is asked all the same
        is_answered = isinstance(request, HeartbeatRequest)
        if not error or (is_answered and error is Error.COORDINATOR_LOAD_IN_PROGRESS):
            return None
        return not_ready(request, call.version, error)

    def _withhold(self, call: Call, request: Request) -> Onward:
        """Take out the topics that are not served yet."""
        division = withhold(request, call.version, self._topic_name, self._topic_error)
        if division is None:
            return None
        if isinstance(request, ProduceRequest) and not request.acks:
            call.close()  # there is no answer that could say so
            return NO_REPLY
        if division.rest is None:
            return division.answer()  # type: ignore[no-any-return]
        self._withheld[call] = division
        return division.rest

    def _wait_for_end(self, call: Call, request: ProduceRequest, left_ms: int) -> Outcome:
        if left_ms <= 0 or not self._is_ending(request.transactional_id):
            return None
        left_ms -= figures.RETRY_MS

        def again() -> None:
            if self._wait_for_end(call, request, left_ms) is None:
                call.go_on(request)

        self._after(figures.RETRY_MS, again)
        return PARKED

    def _is_ending(self, transactional_id: str | None) -> bool:
        if not transactional_id:
            return False
        try:
            coordinator = self._cluster.transactions.coordinator_for(transactional_id)
        except Refused:
            return False
        known = coordinator.transactions.get(transactional_id)
        return known is not None and known.state.is_prepared

    # Answers

    def after(self, call: Call, request: Request, response: Response | None) -> Outcome:
        withheld = self._withheld.pop(call, None)
        if response is None or not call.is_open:
            return None
        if withheld is not None:
            response = cast(Response, own_copy(response, call.version))
            withheld.join(response)
        if isinstance(request, FindCoordinatorRequest):
            coordinator = searched(request)
            if self._coordinator_error(coordinator) is Error.COORDINATOR_NOT_AVAILABLE:
                response = not_found(request, call.version)
        elif self._topics and isinstance(request, Describing):
            hide(request, response, self._topic_error)
        wait = self._answer_ms(request)
        if wait < 1:
            return response
        self._after(wait, partial(call.answer, response))
        return PARKED

    def _answer_ms(self, request: Request) -> float:
        if isinstance(request, _CHANGES):
            return self._committed_at + 1 - self._now()  # no sooner than the broker takes it in
        if isinstance(request, EndTxnRequest):
            return self._end_ms
        row: Figures | None = figures.LATENCY.get(type(request).__name__.removesuffix("Request"))
        if isinstance(request, ProduceRequest) and request.transactional_id is not None:
            row = figures.TRANSACTIONAL_PRODUCE
        return 0.0 if row is None else self._drawn(row)

    # What is ready

    def _coordinator_error(self, name: str) -> Error:
        error = self._coordinators.get(name, READY).error(self._now())
        if not error:
            self._coordinators.pop(name, None)
        return error

    def _topic_name(self, topic_id: bytes) -> str | None:
        topic = self._cluster.topics.by_id(topic_id)
        return None if topic is None else topic.name

    def _topic_error(self, name: str) -> Error:
        stages = self._topics.get(name)
        if stages is None:
            return Error.NONE
        error = stages.error(self._now())
        if not error:
            del self._topics[name]
        return error

    # Time

    def _drawn(self, row: Figures) -> float:
        return drawn(row, self._random)

    def _now(self) -> float:
        """Real time; without a server, which waits in it, the clock's."""
        cluster = self._cluster
        return real_ms() if cluster.waits is not None else cluster.clock.now()

    def _after(self, milliseconds: float, callback: Callable[[], None]) -> None:
        # A server's alarm rings a millisecond late, so as never to ring early.
        late = 0 if self._cluster.waits is None else 1
        self._cluster.after(max(0, int(milliseconds) - late), callback)
