"""What Produce, Fetch and the questions about partitions need (semantics M13)."""

from __future__ import annotations

from typing import Any

from ...wire import Request
from ...wire.api.describe_producers import DescribeProducersRequest, DescribeProducersResponse
from ...wire.api.fetch import FetchRequest
from ...wire.api.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from ...wire.api.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from ...wire.api.produce import ProduceRequest
from ..base.call import NO_REPLY
from ..metadata.topic_rules import name_problem
from ..partitions.produced import Produced
from ..security.authorizer.acl import Kind, Operation
from .asking import (
    ERRORS,
    MESSAGES,
    Authorization,
    PartlyDenied,
    Verdict,
    each_once,
    needs_each,
    once,
)
from .guard import guards

_BATCHES_SINCE = 3
_ISOLATION_LEVELS = (0, 1)
_REPLICA_STATE_SINCE, _IDS_SINCE = 15, 13


@guards(ProduceRequest)
def produce(asking: Authorization, request: ProduceRequest) -> Verdict:
    """The transactional id comes first, and refuses everything; but for that all batches up to the
    first transactional one are read, and what cannot be is left to the handler, which refuses all
    of it then."""
    if asking.version >= _BATCHES_SINCE:
        x, kind = request.transactional_id, Kind.TRANSACTIONAL_ID
        first = _first_odd(asking, request)
        if first is not None and (first.damage is not None or x is None):
            return None
        if first is not None and not asking.may(Operation.WRITE, kind, x):
            if request.acks == 0:
                asking.call.close()
                return NO_REPLY
            refusal: Any = asking.refuse(request, ERRORS[kind])
            return once(refusal, "responses", "partition_responses", "index")  # type: ignore[no-any-return]
    found = needs_each(asking, request, Operation.WRITE, Kind.TOPIC)
    return each_once(found, "responses", "partition_responses", "index")


def _first_odd(asking: Authorization, request: ProduceRequest) -> Produced | None:
    """The first batch that is transactional or cannot be read."""
    for topic in request.topic_data:
        for partition in topic.partition_data:
            data = Produced(partition.records, asking.version)
            if data.damage is not None or data.is_transactional:
                return data
    return None


@guards(FetchRequest)
def fetch(asking: Authorization, request: FetchRequest) -> Verdict:
    """Each partition is judged when it is looked up: a session has those that are not named."""
    replica = request.replica_id
    if asking.version >= _REPLICA_STATE_SINCE:
        replica = request.replica_state.replica_id
    passage = asking.call.passage
    assert passage is not None, "a call that meets a guard passes the chain"
    if replica >= 0:
        is_replica = asking.may_in_cluster(Operation.CLUSTER_ACTION)
        passage.denies = None if is_replica else lambda topic: True
        return None
    known: dict[str | None, bool] = {None: False}

    def denies(topic: str | None) -> bool:
        if topic not in known:
            known[topic] = not asking.may(Operation.READ, Kind.TOPIC, topic)
        return known[topic]

    for topic in request.topics:  # so that it is told
        by_id = asking.version >= _IDS_SINCE
        name = asking.topic_name(topic.topic_id) if by_id else topic.topic
        if name is not None:
            denies(name)
    passage.denies = denies
    return None


@guards(ListOffsetsRequest)
def list_offsets(asking: Authorization, request: ListOffsetsRequest) -> Verdict:
    """What may not be seen comes last, as it was asked for."""
    allowed, denied = _split(asking, request.topics, [topic.name for topic in request.topics])
    if not denied or (allowed and request.isolation_level not in _ISOLATION_LEVELS):
        return None  # nobody knows that level: the handler refuses all of it
    topic = ListOffsetsResponse.Topic
    answers = [
        topic(
            name=asked.name,
            partitions=[
                topic.Partition(
                    partition_index=each.partition_index, error_code=ERRORS[Kind.TOPIC], offset=-1
                )
                for each in asked.partitions
            ],
        )
        for asked in denied
    ]
    narrowed = ListOffsetsRequest(
        replica_id=request.replica_id,
        isolation_level=request.isolation_level,
        topics=allowed,
        timeout_ms=request.timeout_ms,
    )
    return _with(narrowed if allowed else None, answers)


def _split(
    asking: Authorization, topics: list[Any], names: list[str]
) -> tuple[list[Any], list[Any]]:
    """Topics that may be described, and those that may not."""
    seen = asking.allowed(Operation.DESCRIBE, Kind.TOPIC, names)
    both = list(zip(topics, names, strict=True))
    return [t for t, name in both if name in seen], [t for t, name in both if name not in seen]


def _with(narrowed: Request | None, answers: list[Any]) -> PartlyDenied:
    def finish(own: Any) -> None:
        own.topics += answers

    return PartlyDenied(narrowed, finish)


@guards(OffsetForLeaderEpochRequest)
def offset_for_leader_epoch(asking: Authorization, request: OffsetForLeaderEpochRequest) -> Verdict:
    """Brokers may ask about any topic."""
    if asking.may_in_cluster(Operation.CLUSTER_ACTION, is_told=False):
        return None
    allowed, denied = _split(asking, request.topics, [topic.topic for topic in request.topics])
    if not denied:
        return None
    topic = OffsetForLeaderEpochResponse.Topic
    answers = [
        topic(
            topic=asked.topic,
            partitions=[
                topic.Partition(
                    partition=each.partition, error_code=ERRORS[Kind.TOPIC], end_offset=-1
                )
                for each in asked.partitions
            ],
        )
        for asked in denied
    ]
    narrowed = OffsetForLeaderEpochRequest(replica_id=request.replica_id, topics=allowed)
    return _with(narrowed if allowed else None, answers)


@guards(DescribeProducersRequest)
def describe_producers(asking: Authorization, request: DescribeProducersRequest) -> Verdict:
    """A name that no topic can have is told first. The answer has the topics in their order."""
    response = DescribeProducersResponse.Topic
    allowed: list[Any] = []
    refused: dict[int, Any] = {}
    for number, topic in enumerate(request.topics):
        name = topic.name
        if name_problem(name) is not None or asking.may(Operation.READ, Kind.TOPIC, name):
            allowed.append(topic)
            continue
        partitions = [
            response.Partition(
                partition_index=index,
                error_code=ERRORS[Kind.TOPIC],
                error_message=MESSAGES[Kind.TOPIC],
                active_producers=[],
            )
            for index in topic.partition_indexes
        ]
        refused[number] = response(name=name, partitions=partitions)
    if not refused:
        return None

    def finish(own: Any) -> None:
        rest = iter(own.topics)
        own.topics = [refused.get(n) or next(rest) for n in range(len(request.topics))]

    return PartlyDenied(DescribeProducersRequest(topics=allowed) if allowed else None, finish)
