"""ShareFetch (78): a member of a share group acknowledges records, and acquires others.

The request belongs to the member's share session, or opens one (semantics N9-N16, N19). What is
acknowledged is carried out first; it does not become available to the fetch of the same request.
While the session has a topic that is not there the answer is UNKNOWN_SERVER_ERROR, but only the
answer: acknowledgements count, it comes when the fetch of the other partitions is over, and what
that has acquired stays acquired. A renewal fetches nothing, so it does not fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

from ...wire import Buffer, Error, Refused, Response
from ...wire.api.share_fetch import ShareFetchRequest, ShareFetchResponse
from ..base.call import PARKED, Call, Sentinel
from ..partitions.partition import Partition
from ..share.acquired_records import BATCH_OPTIMIZED, RECORD_LIMIT, AcquireParams
from ..share.delayed_share_fetch import DelayedShareFetch, Fetched, Limits
from ..share.share_partition_manager import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    SharePartitionManager,
    ShareSession,
    ShareSessionKey,
    TopicIdPartition,
    next_epoch,
)
from .modern_groups import has_share_groups
from .node_endpoints import endpoints
from .registry import handler
from .share_acknowledgements import (
    RENEWALS_SINCE,
    Acknowledging,
    AckResult,
    Asked,
    acknowledged,
    check_member,
)

if TYPE_CHECKING:
    from ..cluster import Cluster

Topic: TypeAlias = ShareFetchResponse.Topic
_MOVED = (Error.NOT_LEADER_OR_FOLLOWER, Error.FENCED_LEADER_EPOCH)


@handler(ShareFetchRequest)
def share_fetch(cluster: Cluster, call: Call, request: ShareFetchRequest) -> Response | Sentinel:
    if not has_share_groups(cluster):
        return _refused(Error.UNSUPPORTED_VERSION)
    try:
        if not cluster.release.refuses_share_fetches_without_group:
            _check_renewal(call.version, request)
        group_id = check_member(cluster, request.group_id, request.member_id)
        _check_renewal(call.version, request)
        work = _Work(cluster, call, request, group_id)
        work.open()
        return work.acknowledge()
    except Refused as refused:
        if refused.error is not Error.SHARE_SESSION_LIMIT_REACHED:
            return _refused(refused.error)
        timer = cluster.after(request.max_wait_ms, partial(call.answer, _refused(refused.error)))
        call.on_lost = timer.cancel
        return PARKED


def _refused(error: Error) -> ShareFetchResponse:
    return ShareFetchResponse(error_code=error, responses=[], node_endpoints=[])


def _check_renewal(version: int, request: ShareFetchRequest) -> None:
    """A request that renews fetches nothing. Raises Refused(INVALID_REQUEST)."""
    if version < RENEWALS_SINCE or not request.is_renew_ack:
        return
    if request.max_bytes or request.min_bytes or request.max_records or request.max_wait_ms:
        raise Refused(Error.INVALID_REQUEST)


class _Work:
    """One request from its session to its answer."""

    def __init__(
        self, cluster: Cluster, call: Call, request: ShareFetchRequest, group_id: str
    ) -> None:
        self.cluster = cluster
        self.call = call
        self.request = request
        self.leader: SharePartitionManager = cluster.share_partition_managers.at(call.node_id)
        self.key = ShareSessionKey(group_id, request.member_id or "")
        self.epoch = request.share_session_epoch
        self.session: ShareSession | None = None
        self.results: dict[TopicIdPartition, AckResult] = {}
        self.failed: dict[TopicIdPartition, Fetched] = {}
        self.has_unknown_topic = False
        self.explains = cluster.release.explains_acknowledgements
        self.renews = call.version >= RENEWALS_SINCE and request.is_renew_ack

    def open(self) -> None:
        """Find or open the session. Raises Refused."""
        request, sessions = self.request, self.leader.sessions
        named = [
            TopicIdPartition(topic.topic_id, each.partition_index)
            for topic in request.topics
            for each in topic.partitions
        ]
        if self.epoch == FINAL_EPOCH:
            sessions.get(self.key)
            return
        if self.epoch == INITIAL_EPOCH:
            if self._has_acknowledgements():
                raise Refused(Error.INVALID_REQUEST)
            if len(set(named)) < len(named):
                sessions.remove(self.key)
                raise Refused(Error.UNKNOWN_SERVER_ERROR)
            self.session = sessions.open(self.key, named, self.call.connection)
            return
        session = sessions.next(self.key, self.epoch)
        session.update(
            named,
            [
                TopicIdPartition(topic.topic_id, index)
                for topic in request.forgotten_topics_data
                for index in topic.partitions
            ],
        )
        session.epoch = next_epoch(self.epoch)
        self.session = session

    def _has_acknowledgements(self) -> bool:
        return any(
            each.acknowledgement_batches
            for topic in self.request.topics
            for each in topic.partitions
        )

    def acknowledge(self) -> Response | Sentinel:
        """Carry out the acknowledgements, then fetch."""
        if not self._has_acknowledgements():
            return self.fetch()
        asked = [
            Asked(
                TopicIdPartition(topic.topic_id, each.partition_index), each.acknowledgement_batches
            )
            for topic in self.request.topics
            for each in topic.partitions
        ]
        carry_out = partial(
            acknowledged,
            *(self.cluster, self.leader, *self.key),
            knows_renewal=self.call.version >= RENEWALS_SINCE,
            renews=self.request.is_renew_ack,
        )

        def answer(results: dict[TopicIdPartition, AckResult]) -> Response | Sentinel:
            self.results = results
            return self.fetch()

        return Acknowledging(self.call, asked, carry_out, answer, _refused).begin(self.cluster)

    def fetch(self) -> Response | Sentinel:
        """Fetch from the partitions of the session; the answer, or PARKED."""
        partitions = {} if self.session is None or self.renews else self._found()
        if not partitions:
            return self._response({})
        request = self.request
        mode = request.share_acquire_mode
        if mode not in (BATCH_OPTIMIZED, RECORD_LIMIT):
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
        most = min(request.max_bytes, self.cluster.fetch_max_bytes)
        limits = Limits(
            request.max_wait_ms, min(request.min_bytes, most), most, request.max_records
        )
        params = AcquireParams(self.key.member_id, mode == RECORD_LIMIT, request.batch_size)
        answers: list[ShareFetchResponse] = []
        answer = answers.append

        def finish(found: Mapping[TopicIdPartition, Fetched]) -> None:
            answer(self._response(found))

        fetch = DelayedShareFetch(
            *(self.cluster, self.leader, self.key.group_id, params, limits),
            finish,
            reads_later=self.call.reads_later,
        )
        fenced = {part for part, each in self.results.items() if each.error in _MOVED}
        fetch.begin(partitions, fenced)
        if answers:
            return answers[0]
        answer = self.call.answer
        self.call.on_lost = fetch.cancel
        return PARKED

    def _found(self) -> dict[TopicIdPartition, Partition]:
        """The partitions of the session that there are, in the order in which they are read."""
        assert self.session is not None
        found: dict[TopicIdPartition, Partition] = {}
        # What a step of the chain refuses: base/chain.py.
        refuses = None if self.call.passage is None else self.call.passage.refuses
        for part in self.session.parts:
            topic = self.cluster.topics.by_id(part.topic_id)
            self.has_unknown_topic |= topic is None
            try:
                if topic is None or not 0 <= part.partition < len(topic.partitions):
                    raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
                if refuses is not None:
                    refuses(topic.name, part.partition)
                found[part] = topic.partitions[part.partition]
            except Refused as refused:
                self.failed[part] = Fetched(refused.error)
        parts = list(found)
        at = self.epoch % len(parts) if parts and self.epoch >= 1 else 0
        return {part: found[part] for part in parts[at:] + parts[:at]}

    # The answer

    def _response(self, found: Mapping[TopicIdPartition, Fetched]) -> ShareFetchResponse:
        response = ShareFetchResponse(
            acquisition_lock_timeout_ms=self.leader.settings(self.key.group_id).lock_ms,
            responses=[],
            node_endpoints=[],
        )
        later = None if self.epoch == INITIAL_EPOCH else self.session
        topics: dict[bytes, Topic] = {}
        leaders: set[int] = set()
        results = {**found, **self.failed}
        if self._is_overtaken():
            response.error_code, results = Error.INVALID_SHARE_SESSION_EPOCH, {}
        for part, fetched in results.items():
            is_error, has_records = bool(fetched.error), len(fetched.records) > 0
            if later is not None and not later.is_news(part, is_error, has_records):
                continue
            result = self.results.pop(part, AckResult())
            self._add(response, topics, part, fetched, result, leaders)
        for part, result in self.results.items():
            self._add(response, topics, part, Fetched(), result, leaders)
        if self.has_unknown_topic and not response.error_code:
            return _refused(Error.UNKNOWN_SERVER_ERROR)
        response.node_endpoints = endpoints(
            ShareFetchResponse.NodeEndpoint, self.cluster, self.call, leaders
        )
        if self.epoch == FINAL_EPOCH:
            self.leader.close_session(self.key)
        return response

    def _is_overtaken(self) -> bool:
        """Whether another request has used the session's next epoch while this one waited."""
        session = self.session
        if session is None or self.epoch == INITIAL_EPOCH:
            return False
        return session.epoch != next_epoch(self.epoch)

    def _add(
        self,
        response: ShareFetchResponse,
        topics: dict[bytes, Topic],
        part: TopicIdPartition,
        fetched: Fetched,
        result: AckResult,
        leaders: set[int],
    ) -> None:
        current = Topic.Partition.LeaderIdAndEpoch(leader_id=0, leader_epoch=0)
        topic = self.cluster.topics.by_id(part.topic_id)
        if fetched.error in _MOVED and topic is not None:
            partition = topic.partitions[part.partition]
            current.leader_id, current.leader_epoch = partition.leader, partition.leader_epoch
            leaders.add(partition.leader)
        if part.topic_id not in topics:
            topics[part.topic_id] = Topic(topic_id=part.topic_id, partitions=[])
            response.responses.append(topics[part.topic_id])
        topics[part.topic_id].partitions.append(
            Topic.Partition(
                partition_index=part.partition,
                error_code=fetched.error,
                acknowledge_error_code=result.error,
                acknowledge_error_message=result.message if self.explains else None,
                current_leader=current,
                # An encoder needs no more than its length.
                records=cast(Buffer, fetched.records),
                acquired_records=[
                    Topic.Partition.AcquiredRecords(**each._asdict()) for each in fetched.acquired
                ],
            )
        )
