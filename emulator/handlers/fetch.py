"""Fetch (1): read from partitions; wait when there is too little.

Answered at once when nothing is to be waited for (partitions/fetch_waits.py), when enough is there
(min_bytes), or when a partition fails; an unknown partition alone fails nothing while another is
valid. Otherwise the call is parked until more is appended or max_wait_ms are over, and then
everything is read anew (semantics, C1-C13). What old clients get of it: fetch_old.py.

The leader answers, and from v11 on a follower too. Not emulated: requests of followers (one with
the replica id of a broker is told that this is no leader), tiered storage, that a leader sends
clients to the closest replica.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from ...wire import NO_ID, Buffer, Error, Refused
from ...wire.api.fetch import FetchRequest, FetchResponse
from ..base.call import PARKED, Call, Sentinel
from ..partitions.fetch_sessions import INITIAL_EPOCH, NO_SESSION, Session, Wanted, wanted_of
from ..partitions.fetch_waits import FetchWait, awaited
from ..partitions.partition import NO_EPOCH, READ_COMMITTED, READ_UNCOMMITTED, Partition
from .fetch_old import BATCHES_SINCE, WHOLE_SINCE, ZSTD_SINCE, as_old
from .node_endpoints import endpoints
from .registry import handles

if TYPE_CHECKING:
    from ...storage import Log
    from ..cluster import Cluster

Answered = FetchResponse.Topic.Partition
Endpoint = FetchResponse.NodeEndpoint

_ISOLATION_LEVELS = (READ_UNCOMMITTED, READ_COMMITTED)
_CONSUMER = -1
_FUTURE = -3
_FOLLOWERS_SINCE = 11
_IDS_SINCE = 13
_LEADER_SINCE = 16


class Target(NamedTuple):
    """A partition that was asked for, and where it is, or the error that it is nowhere."""

    wanted: Wanted
    partition: Partition | None
    error: Error


class Reading(NamedTuple):
    """What one look at all partitions found."""

    answers: list[tuple[Wanted, Answered]]
    size: int
    at_once: bool


@handles(FetchRequest)
def fetch(cluster: Cluster, call: Call, request: FetchRequest) -> FetchResponse | Sentinel:
    session = None
    if call.version >= 7:
        try:
            session = cluster.brokers[call.node_id].fetch_sessions.begin(
                request, call.version, call.now
            )
        except Refused as refused:
            return FetchResponse(error_code=refused.error, responses=[])
    wanted = list(session.partitions.values()) if session else wanted_of(request)
    targets = [_target(cluster, call, each) for each in wanted]
    isolation = request.isolation_level
    if isolation not in _ISOLATION_LEVELS and any(t.partition is not None for t in targets):
        return _refused(cluster, request, call.version, Error.UNKNOWN_SERVER_ERROR)
    work = _Fetch(cluster, call, request, session, targets)
    return work.begin()


def _target(cluster: Cluster, call: Call, wanted: Wanted) -> Target:
    if call.version >= 13:
        topic = cluster.topics.by_id(wanted.topic_id) if wanted.topic_id != NO_ID else None
        if topic is None:
            return Target(wanted, None, _no_such_id(cluster, wanted))
        wanted.seen_as = topic.name
    else:
        topic = cluster.topics.get(wanted.name)
    index = wanted.asked.partition
    if topic is None or not 0 <= index < len(topic.partitions):
        return Target(wanted, None, Error.UNKNOWN_TOPIC_OR_PARTITION)
    return Target(wanted, topic.partitions[index], Error.NONE)


def _no_such_id(cluster: Cluster, wanted: Wanted) -> Error:
    """Within a session an id that has been there is deleted, or its name has a new one."""
    if wanted.seen_as is None:
        return Error.UNKNOWN_TOPIC_ID
    if cluster.topics.get(wanted.seen_as) is None:
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    return Error.INCONSISTENT_TOPIC_ID


class _Fetch:
    """One fetch request from its first look to its answer."""

    def __init__(
        self,
        cluster: Cluster,
        call: Call,
        request: FetchRequest,
        session: Session | None,
        targets: list[Target],
    ) -> None:
        self.cluster = cluster
        self.call = call
        self.request = request
        self.session = session
        self.targets = targets
        self.max_bytes = min(request.max_bytes, cluster.fetch_max_bytes)
        self.gives_whole = call.version >= WHOLE_SINCE
        # Else somebody looks at the records on their way.
        self.reads_later = call.version >= BATCHES_SINCE and not cluster.chain
        replica = request.replica_id if call.version < 15 else request.replica_state.replica_id
        self.is_follower = replica >= 0
        # Consumers may read from a follower since they say where they are (KIP-392).
        asks_leader = replica == _CONSUMER and call.version < _FOLLOWERS_SINCE
        self.leader_only = self.is_follower or asks_leader
        # A replica that moves between log directories reads what there is.
        self.isolation = READ_UNCOMMITTED if replica == _FUTURE else request.isolation_level

    def begin(self) -> FetchResponse | Sentinel:
        reading = self.read()
        request = self.request
        min_bytes = min(request.min_bytes, self.max_bytes)
        targets = [(t.partition, t.wanted.asked) for t in self.targets if t.partition is not None]
        if request.max_wait_ms <= 0 or not targets or reading.at_once or reading.size >= min_bytes:
            return self.response(reading)
        parts = [awaited(p, asked.fetch_offset, asked.partition_max_bytes) for p, asked in targets]
        wait = FetchWait(self.cluster, parts, min_bytes, self.isolation, self.finish)
        if not wait.begin(self.call.now + request.max_wait_ms):
            return self.response(reading)
        self.call.on_lost = wait.cancel
        return PARKED

    def finish(self) -> None:
        """The wait is over: answer with what is there now."""
        self.call.answer(self.response(self.read()))

    def read(self) -> Reading:
        answers: list[tuple[Wanted, Answered]] = []
        unknown: list[tuple[Wanted, Answered]] = []
        left, size, at_once = self.max_bytes, 0, False
        for target in self.targets:
            asked = target.wanted.asked
            try:
                answer = self.read_one(target, left, whole_first=size == 0)
                at_once = at_once or answer.diverging_epoch.epoch != -1
            except Refused as refused:
                answer = _failed(
                    self.call.version, asked.partition, refused.error, target.partition
                )
                at_once = at_once or target.partition is not None
            found = len(answer.records or b"")
            size += found
            if target.partition is None:
                unknown.append((target.wanted, answer))
                continue
            left = max(0, left - found)  # a negative limit is one for the first that is read only
            answers.append((target.wanted, answer))
        return Reading(answers + unknown, size, at_once)  # what is unknown comes last

    def read_one(self, target: Target, left: int, whole_first: bool) -> Answered:
        """One partition's answer."""
        partition, asked = target.partition, target.wanted.asked
        if partition is None:
            raise Refused(target.error)
        isolation = self.isolation
        if partition.topic.is_deleted:
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
        epoch = max(asked.current_leader_epoch, NO_EPOCH)
        partition.check_read(self.call.node_id, epoch, leader_only=self.leader_only)
        if self.is_follower:  # a stranger; one that names the epoch may know more than we do
            knows_epoch = asked.current_leader_epoch >= 0
            raise Refused(
                Error.UNKNOWN_LEADER_EPOCH if knows_epoch else Error.NOT_LEADER_OR_FOLLOWER
            )
        log = partition.log
        answer = Answered(
            partition_index=asked.partition,
            high_watermark=partition.high_watermark,
            last_stable_offset=partition.last_stable_offset,
            log_start_offset=log.log_start_offset,
            aborted_transactions=[] if isolation == READ_COMMITTED else None,
            records=b"",
        )
        if asked.last_fetched_epoch >= 0 and self.diverges(partition, asked, answer):
            return answer
        if not log.log_start_offset <= asked.fetch_offset <= log.log_end_offset:
            raise Refused(Error.OFFSET_OUT_OF_RANGE)
        if asked.fetch_offset == log.log_end_offset:
            return answer
        limit = min(asked.partition_max_bytes, left)
        if limit < 0:
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
        whole = whole_first and asked.fetch_offset < partition.upper_bound(isolation)
        whole = whole and self.gives_whole
        if limit > 0 or whole:
            records = partition.read(
                asked.fetch_offset,
                limit,
                isolation,
                whole,
                keeps_cut=not self.gives_whole,
                later=self.reads_later,
            )
            answer.records = cast(Buffer, records)  # an encoder needs no more than its length
            if isolation == READ_COMMITTED:
                answer.aborted_transactions = _aborted(log, asked.fetch_offset, answer.records)
        return answer

    def diverges(
        self, partition: Partition, asked: FetchRequest.Topic.Partition, answer: Answered
    ) -> bool:
        """Whether the client's log took another course; the answer then says where (KIP-595)."""
        end = partition.log_end_offset
        epoch, offset = partition.log.epochs.end_offset_for(asked.last_fetched_epoch, end)
        if epoch == -1 or offset == -1:
            raise Refused(Error.OFFSET_OUT_OF_RANGE)
        if epoch < asked.last_fetched_epoch or offset < asked.fetch_offset:
            answer.diverging_epoch = Answered.EpochEndOffset(epoch=epoch, end_offset=offset)
            answer.aborted_transactions = None
            return True
        return False

    def response(self, reading: Reading) -> FetchResponse:
        session, answers = self.session, reading.answers
        if session is not None:
            is_full = self.request.session_epoch == INITIAL_EPOCH
            news = [(w, a) for w, a in answers if w.is_news(a) or is_full]
            if not is_full:
                session.rotate([w.key for w, a in news if a.records])
            answers = news
        if self.call.version < ZSTD_SINCE and self.cluster.release.converts_old_formats:
            try:
                answers = [(wanted, self.as_old(wanted, answer)) for wanted, answer in answers]
            except Refused as refused:
                return _refused(self.cluster, self.request, self.call.version, refused.error)
        return FetchResponse(
            session_id=session.id if session is not None else NO_SESSION,
            responses=_grouped(answers),
            node_endpoints=self.leaders_told(answers),
        )

    def leaders_told(self, answers: list[tuple[Wanted, Answered]]) -> list[Endpoint]:
        """Where the leaders are that some answers name, for clients that know another; a follower
        is not told."""
        if self.is_follower:
            return []
        told = {each.current_leader.leader_id for _, each in answers if each.error_code}
        return endpoints(Endpoint, self.cluster, told)

    def as_old(self, wanted: Wanted, answer: Answered) -> Answered:
        """An answer as this client can read it. Raises Refused when nothing can be answered."""
        topic = self.cluster.topics.get(wanted.name)
        if topic is None or wanted.asked.partition >= len(topic.partitions):
            return answer
        offset = wanted.asked.fetch_offset
        return as_old(answer, self.call.version, offset, topic.config)


def _aborted(log: Log, offset: int, records: Buffer | None) -> list[Answered.AbortedTransaction]:
    """The aborted transactions that a consumer must know to read these records."""
    return [
        Answered.AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset)
        for each in log.reader.aborted_transactions(offset, len(records or b""))
    ]


def _refused(cluster: Cluster, request: FetchRequest, version: int, error: Error) -> FetchResponse:
    """All of it refused: at the top (v7+), and for each partition while there are names (v4-12)."""
    topics = request.topics if version < _IDS_SINCE else []
    answer = FetchResponse(
        error_code=error,
        session_id=request.session_id,
        responses=[
            FetchResponse.Topic(
                topic=topic.topic,
                partitions=[_failed(version, p.partition, error, None) for p in topic.partitions],
            )
            for topic in topics
        ],
    )
    for topic in answer.responses if cluster.release.failed_fetch_has_null_records else ():
        for partition in topic.partitions:
            partition.records = None
    return answer


def _failed(version: int, index: int, error: Error, partition: Partition | None) -> Answered:
    """A partition without data. Only one that is not even looked for has a list of aborted
    transactions (an empty one)."""
    answer = Answered(
        partition_index=index,
        error_code=error,
        high_watermark=-1,
        records=b"",
        aborted_transactions=[] if partition is None else None,
    )
    if (
        version >= _LEADER_SINCE
        and partition is not None
        and error
        in (
            Error.NOT_LEADER_OR_FOLLOWER,
            Error.FENCED_LEADER_EPOCH,
        )
    ):
        answer.current_leader = Answered.LeaderIdAndEpoch(
            leader_id=partition.leader, leader_epoch=partition.leader_epoch
        )
    return answer


def _grouped(answers: list[tuple[Wanted, Answered]]) -> list[FetchResponse.Topic]:
    """Partitions that follow each other under one topic share an entry."""
    topics: list[FetchResponse.Topic] = []
    last: tuple[bytes, str] | None = None
    for wanted, answer in answers:
        if last != (wanted.topic_id, wanted.name):
            last = (wanted.topic_id, wanted.name)
            topics.append(
                FetchResponse.Topic(topic=wanted.name, topic_id=wanted.topic_id, partitions=[])
            )
        topics[-1].partitions.append(answer)
    return topics
