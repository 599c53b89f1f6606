"""One fetch request: what is found, read, answered and logged of its partitions.

Everything here takes some partitions at a time; fetch.py says which, and when it waits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from ...wire import NO_ID, Buffer, Error, Refused
from ...wire.api.fetch import FetchRequest, FetchResponse
from ..base.call import PARKED, TEST, Call, Sentinel
from ..base.event import READ_UNCOMMITTED as UNCOMMITTED_EVENT
from ..base.release import Release
from ..base.turns import slices_of
from ..partitions.fetch_sessions import A_SLICE, INITIAL_EPOCH, NO_SESSION, Session, Wanted
from ..partitions.partition import NO_EPOCH, READ_COMMITTED, READ_UNCOMMITTED, Partition
from .closest_replica import NO_REPLICA, closest
from .fetch_old import WHOLE_SINCE, ZSTD_SINCE, as_old
from .node_endpoints import endpoints

if TYPE_CHECKING:
    from ...storage import Log
    from ..cluster import Cluster

T = TypeVar("T")
Answered = FetchResponse.Topic.Partition
Endpoint = FetchResponse.NodeEndpoint
Answers: TypeAlias = list[tuple[Wanted, Answered]]

ISOLATION_LEVELS = (READ_UNCOMMITTED, READ_COMMITTED)
_CONSUMER = -1
_FUTURE = -3
_INT32_MAX = (1 << 31) - 1
_FOLLOWERS_SINCE = 11
_IDS_SINCE = 13
_LEADER_SINCE = 16
_MOST_REFUSALS = 100


class Reading:
    """What one look at the partitions that exist has found so far."""

    __slots__ = ("answers", "at_once", "left", "size")

    def __init__(self, max_bytes: int) -> None:
        self.answers: Answers = []
        self.size = 0
        self.left = max_bytes
        """How many bytes may still be read."""
        self.at_once = False
        """Whether something was found that the client has to know now."""


def _partition(cluster: Cluster, version: int, wanted: Wanted, *, leader_only: bool) -> Partition:
    """The partition that was asked for. Raises Refused."""
    named = wanted.topic
    if version >= _IDS_SINCE:
        topic = cluster.topics.by_id(named.topic_id) if named.topic_id != NO_ID else None
        if topic is None:
            raise Refused(_no_such_id(cluster, wanted))
        wanted.seen_as = topic.name
    else:
        topic = cluster.topics.get(named.name)
    index = wanted.partition
    if topic is None or not 0 <= index < len(topic.partitions):
        names = leader_only or cluster.release.names_missing_replicas
        looks_for_topics = cluster.release.has_members
        if not names and (topic is not None or not looks_for_topics):
            raise Refused(Error.REPLICA_NOT_AVAILABLE)
        raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
    return topic.partitions[index]


def _no_such_id(cluster: Cluster, wanted: Wanted) -> Error:
    """Within a session an id that has been there is deleted, or its name has a new one."""
    if wanted.seen_as is None:
        return Error.UNKNOWN_TOPIC_ID
    if cluster.topics.get(wanted.seen_as) is None:
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    return Error.INCONSISTENT_TOPIC_ID


def _epochs(release: Release, *, in_session: bool) -> tuple[int, int]:
    """The least and the most that a client's leader epoch counts as."""
    if release.keeps_epochs_in_sessions:
        return NO_EPOCH, _INT32_MAX
    return (NO_EPOCH, NO_EPOCH) if in_session else (-_INT32_MAX - 1, _INT32_MAX)


def _asks_leader(version: int, replica: int, is_future: bool) -> bool:
    """Whether one that is no broker reads from leaders alone: consumers may read from a follower
    since they say where they are (KIP-392)."""
    if replica == _FUTURE:
        return not is_future
    return replica == _CONSUMER and version < _FOLLOWERS_SINCE


class FetchRun:
    """One fetch request from its first look to its answer."""

    def __init__(
        self,
        cluster: Cluster,
        call: Call,
        request: FetchRequest,
        session: Session | None,
        *,
        is_much: bool,
    ) -> None:
        self.cluster = cluster
        self.is_much = is_much
        """Whether it has more partitions than are done at once."""
        self.outcome: FetchResponse | Sentinel = PARKED
        """Its answer, as soon as it has one."""
        self.call = call
        self.max_wait_ms = request.max_wait_ms
        self.is_full = request.session_epoch == INITIAL_EPOCH
        self.session = session
        self.epochs = _epochs(cluster.release, in_session=session is not None and not self.is_full)
        self.found: list[tuple[Wanted, Partition]] = []
        # Partitions that are nowhere, and what is answered for them.
        self.unknown: Answers = []
        most, least = cluster.fetch_max_bytes, request.min_bytes
        self.max_bytes = request.max_bytes if request.max_bytes < most else most
        self.min_bytes = least if least < self.max_bytes else self.max_bytes
        self.gives_whole = call.version >= WHOLE_SINCE
        self.reads_later = call.reads_later
        replica = request.replica_id if call.version < 15 else request.replica_state.replica_id
        self.is_follower = replica >= 0
        is_future = replica == _FUTURE and cluster.release.has_future_replicas
        self.leader_only = self.is_follower or _asks_leader(call.version, replica, is_future)
        self._refusals = 0  # that were logged
        self.isolation = request.isolation_level
        # A replica reads what there is.
        if (is_future or self.is_follower) and self.isolation in ISOLATION_LEVELS:
            self.isolation = READ_UNCOMMITTED
        self.is_converted = call.version < ZSTD_SINCE and cluster.release.converts_old_formats
        reads_itself = replica == call.node_id and not cluster.release.reads_nothing_to_itself
        self.reads_nothing = self.isolation not in ISOLATION_LEVELS or reads_itself
        """Whether no partition is read: of an isolation level that is not known, or by itself."""
        # Only where all of it may be refused.
        self.request = request if self.is_converted or self.reads_nothing else None
        # The leaders that are named to those who asked another broker.
        self.leaders: set[int] = set()
        # Where clients of this rack are sent, if they are.
        self.closest = closest(cluster, call, request) if request.rack_id else None
        # What a step of the chain has refused of it: base/chain.py.
        self.refuses = None if call.passage is None else call.passage.refuses
        self.denies = None if call.passage is None else call.passage.denies

    def sliced(self, items: list[T]) -> Iterable[list[T]]:
        """All of a list, as much of it at a time as is done at once."""
        return slices_of(items, A_SLICE) if self.is_much else (items,)

    def refused(self, error: Error) -> FetchResponse:
        """All of it refused."""
        assert self.request is not None
        return _refused(self.cluster, self.request, self.call.version, error)

    def find(self, partitions: list[Wanted]) -> list[tuple[Wanted, Partition]]:
        """Look up partitions that are asked for; return those that are there."""
        found = []
        for wanted in partitions:
            try:
                partition = _partition(
                    self.cluster, self.call.version, wanted, leader_only=self.leader_only
                )
                if self.denies is not None and self._is_denied(wanted):
                    raise Refused(Error.TOPIC_AUTHORIZATION_FAILED)
                found.append((wanted, partition))
            except Refused as refused:
                error = self._error_of(wanted, refused.error)
                answer = _failed(self.call.version, wanted.partition, error, None)
                if not self.cluster.release.lists_aborted_of_unknown:
                    answer.aborted_transactions = None
                self.unknown.append((wanted, answer))
        self.found += found
        return found

    def _error_of(self, wanted: Wanted, error: Error) -> Error:
        """The error of a partition that is not there, unless it is refused for another."""
        if self._is_denied(wanted, is_known=error is not Error.UNKNOWN_TOPIC_ID):
            return Error.TOPIC_AUTHORIZATION_FAILED
        if self.refuses is not None:
            try:
                self.refuses(wanted.seen_as or wanted.topic.name, wanted.partition)
            except Refused as refused:
                return refused.error
        return error

    def _is_denied(self, wanted: Wanted, *, is_known: bool = True) -> bool:
        """Whether the client may not read this topic, be it there or not."""
        name = wanted.seen_as or wanted.topic.name
        return self.denies is not None and self.denies(name if is_known else None)

    def read(self, reading: Reading, some: list[tuple[Wanted, Partition]]) -> None:
        """Read from some of the partitions that were found."""
        for wanted, partition in some:
            try:
                answer = self.read_one(wanted, partition, reading.left, reading.size == 0)
                if answer.diverging_epoch.epoch != -1 or answer.preferred_read_replica >= 0:
                    reading.at_once = True
            except Refused as refused:
                answer = _failed(self.call.version, wanted.partition, refused.error, partition)
                reading.at_once = True
            found = len(answer.records or b"")
            reading.size += found
            left = reading.left - found
            # A negative limit is one for the first that is read only.
            reading.left = left if left > 0 else 0
            reading.answers.append((wanted, answer))

    def waits(self, reading: Reading) -> bool:
        """Whether there is too little to answer now, if it may wait."""
        may_wait = self.max_wait_ms > 0 and self.found and self.call.is_open
        return bool(may_wait) and not reading.at_once and reading.size < self.min_bytes

    def read_one(
        self, asked: Wanted, partition: Partition, left: int, whole_first: bool
    ) -> Answered:
        """One partition's answer. Raises Refused."""
        isolation = self.isolation
        if self.refuses is not None:
            self.refuses(partition.topic.name, partition.index)
        if partition.topic.is_deleted:
            raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
        epoch = min(max(asked.current_leader_epoch, self.epochs[0]), self.epochs[1])
        partition.check_read(self.call.node_id, epoch, leader_only=self.leader_only)
        if self.is_follower and self.cluster.release.refuses_strange_replicas:
            raise Refused(_to_a_stranger(asked))
        log = partition.log
        if partition.apart is None:
            end, high_watermark = log.log_end_offset, partition.high_watermark
            stable = partition.last_stable_offset
        else:
            end, high_watermark, stable = partition.bounds_at(self.call.node_id)
        answer = Answered(
            partition_index=partition.index,
            high_watermark=high_watermark,
            last_stable_offset=stable,
            log_start_offset=log.log_start_offset,
            aborted_transactions=[] if isolation == READ_COMMITTED else None,
            records=b"",
        )
        if self.closest is not None and self.is_sent_on(partition, asked, answer):
            return answer
        if asked.last_fetched_epoch >= 0 and self.diverges(partition, end, asked, answer):
            return answer
        if not log.log_start_offset <= asked.fetch_offset <= end:
            raise Refused(Error.OFFSET_OUT_OF_RANGE)
        if asked.fetch_offset == end:
            return answer
        limit = asked.max_bytes if asked.max_bytes < left else left
        if limit < 0:
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
        upto = stable if isolation == READ_COMMITTED else high_watermark
        whole = whole_first and asked.fetch_offset < upto and self.gives_whole
        if (limit > 0 or whole) and not self.is_follower:
            records = partition.read(
                *(asked.fetch_offset, limit, upto, whole),
                keeps_cut=not self.gives_whole,
                later=self.reads_later,
            )
            answer.records = cast(Buffer, records)  # an encoder needs no more than its length
            if isolation == READ_COMMITTED:
                answer.aborted_transactions = _aborted(log, asked.fetch_offset, answer.records)
        return answer

    def is_sent_on(self, partition: Partition, asked: Wanted, answer: Answered) -> bool:
        """Whether the client is to read from another replica, which the answer then names."""
        assert self.closest is not None
        replica = self.closest(partition, asked.fetch_offset)
        if replica == NO_REPLICA:
            return False
        answer.preferred_read_replica = replica
        answer.aborted_transactions = None
        return True

    def diverges(self, partition: Partition, end: int, asked: Wanted, answer: Answered) -> bool:
        """Whether the client's log took another course; the answer then says where (KIP-595)."""
        is_leader = partition.leader == self.call.node_id
        epoch, offset = partition.log.epochs.end_offset_for(
            asked.last_fetched_epoch, end, is_leader=is_leader
        )
        if epoch == -1 or offset == -1:
            raise Refused(Error.OFFSET_OUT_OF_RANGE)
        if epoch < asked.last_fetched_epoch or offset < asked.fetch_offset:
            answer.diverging_epoch = Answered.EpochEndOffset(epoch=epoch, end_offset=offset)
            answer.aborted_transactions = None
            return True
        return False

    def tells(self, reading: Reading) -> bool:
        """Tell the journal if there was nothing to read. Returns whether answers are logged."""
        journal, client = self.cluster.journal, self.call.connection.name
        if not journal.is_on or client is TEST:
            return False
        if reading.size:
            return True
        found = self.found
        if found:
            wanted, partition = found[0]
            name, index, offset = partition.topic.name, partition.index, wanted.fetch_offset
            if len(found) > 1:
                last = found[-1][1]
                name, index, offset = name if partition.topic is last.topic else "", -1, -1
            journal.run("fetched nothing", client, name, index, offset, offset)
        return reading.at_once or bool(self.unknown)

    def tell(self, answers: Answers) -> None:
        """Tell the journal what is read, and what is refused."""
        journal, client = self.cluster.journal, self.call.connection.name
        is_committed = self.isolation == READ_COMMITTED
        how = "" if is_committed else UNCOMMITTED_EVENT
        for wanted, answer in answers:
            topic = wanted.seen_as or wanted.topic.name
            if answer.records:
                first = wanted.fetch_offset
                if len(answer.records) >= wanted.max_bytes:  # cut, and who knows where
                    upto = first
                else:
                    upto = answer.last_stable_offset if is_committed else answer.high_watermark
                journal.run("fetched", client, topic, wanted.partition, first, upto - 1, how)
            elif answer.error_code:
                error, self._refusals = Error(answer.error_code), self._refusals + 1
                at = self.cluster.node_label(self.call.node_id)
                if self._refusals <= _MOST_REFUSALS:
                    journal.refused(client, "Fetch", error, topic, wanted.partition, broker=at)
                else:
                    more = "and more of its partitions"
                    journal.refused(client, "Fetch", error, message=more, broker=at)

    def news(self, session: Session, answers: Answers) -> Answers:
        """Those that an answer in a session holds; the first one holds all."""
        news: Answers = []
        moves_all = not self.cluster.release.moves_partitions_with_records
        for each in answers:
            wanted, answer = each
            is_sent = wanted.is_news(answer) or self.is_full
            if is_sent:
                news.append(each)
            if (answer.records or (moves_all and is_sent)) and not self.is_full:
                session.partitions.move_to_end(wanted)
        return news

    def as_old(self, answers: Answers) -> Answers:
        """Answers as this client can read them. Raises Refused when nothing can be answered."""
        return [(wanted, self._as_old(wanted, answer)) for wanted, answer in answers]

    def _as_old(self, wanted: Wanted, answer: Answered) -> Answered:
        topic = self.cluster.topics.get(wanted.topic.name)
        if topic is None or wanted.partition >= len(topic.partitions):
            return answer
        is_sent = (
            self.isolation == READ_COMMITTED or self.cluster.release.tells_stable_offset_to_all
        )
        if not is_sent:
            answer.last_stable_offset = -1
        version, release = self.call.version, self.cluster.release
        return as_old(answer, version, wanted.fetch_offset, topic.config, release)

    def response(self) -> FetchResponse:
        """An answer that holds nothing yet."""
        session_id = self.session.id if self.session is not None else NO_SESSION
        return FetchResponse(session_id=session_id, responses=[])

    def add(self, response: FetchResponse, answers: Answers) -> None:
        """Add answers. Partitions that follow each other under one topic share an entry; where the
        leaders are that some answers name are sent too, but no follower."""
        topics = response.responses
        last = topics[-1] if topics else None
        for wanted, answer in answers:
            topic = wanted.topic
            if last is None or last.topic_id != topic.topic_id or last.topic != topic.name:
                last = FetchResponse.Topic(topic=topic.name, topic_id=topic.topic_id, partitions=[])
                topics.append(last)
            last.partitions.append(answer)
            if answer.error_code:
                self.leaders.add(answer.current_leader.leader_id)
        if self.leaders and not self.is_follower:
            response.node_endpoints = endpoints(Endpoint, self.cluster, self.call, self.leaders)


def _to_a_stranger(asked: Wanted) -> Error:
    """A follower that nobody knows; one that names the epoch may know more than we do."""
    knows_epoch = asked.current_leader_epoch >= 0
    return Error.UNKNOWN_LEADER_EPOCH if knows_epoch else Error.NOT_LEADER_OR_FOLLOWER


def _aborted(log: Log, offset: int, records: Buffer | None) -> list[Answered.AbortedTransaction]:
    """The aborted transactions that a consumer must know to read these records."""
    return [
        Answered.AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset)
        for each in log.reader.aborted_transactions(offset, len(records or b""))
    ]


def _refused(cluster: Cluster, request: FetchRequest, version: int, error: Error) -> FetchResponse:
    """All of it refused: at the top (v7+), and for each partition while there are names (v4-12)."""
    topics = request.topics if version < _IDS_SINCE else []
    if not cluster.release.refuses_empty_conversions:
        topics = _each_once(topics)
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
    release = cluster.release
    for topic in answer.responses if release.failed_fetch_has_null_records else ():
        for partition in topic.partitions:
            partition.records = None if release.refuses_empty_conversions else b""
            if not cluster.release.lists_aborted_of_unknown:
                partition.aborted_transactions = None
    return answer


def _each_once(topics: list[FetchRequest.Topic]) -> list[FetchRequest.Topic]:
    """What is asked for, each partition once, as releases up to 2.8 look at it."""
    asked = {(t.topic, p.partition): p for t in topics for p in t.partitions}
    return [FetchRequest.Topic(topic=name, partitions=[p]) for (name, _), p in asked.items()]


def _failed(version: int, index: int, error: Error, partition: Partition | None) -> Answered:
    """A partition without data. Only one that is not even looked for has a list of aborted
    transactions (an empty one); one whose topic was created again is looked for, by its name."""
    is_looked_for = partition is not None or error is Error.INCONSISTENT_TOPIC_ID
    answer = Answered(
        partition_index=index,
        error_code=error,
        high_watermark=-1,
        records=b"",
        aborted_transactions=None if is_looked_for else [],
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
