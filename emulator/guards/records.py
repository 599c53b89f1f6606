"""What Produce, Fetch and the questions about partitions need (semantics M13)."""

from __future__ import annotations

from typing import Any

from ...wire.api.describe_producers import DescribeProducersRequest
from ...wire.api.fetch import FetchRequest
from ...wire.api.list_offsets import ListOffsetsRequest
from ...wire.api.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from ...wire.api.produce import ProduceRequest, ProduceResponse
from ..base.call import NO_REPLY
from ..division.division import Refusal, once
from ..division.entries import Entry
from ..division.places import TOPIC, answered
from ..metadata.topic_rules import name_problem
from ..partitions.produced import Produced
from ..security.authorizer.acl import Kind, Operation
from .asking import ERRORS, MESSAGES, Authorization, Verdict, lacking
from .guard import authorize

_BATCHES_SINCE = 3
_ISOLATION_LEVELS = (0, 1)
_REPLICA_STATE_SINCE, _IDS_SINCE = 15, 13


@authorize(ProduceRequest)
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
            (_, place), *_ = answered(ProduceResponse, asking.version).lists
            for topic in refusal.responses:
                once(topic, place)
            return refusal  # type: ignore[no-any-return]
    return asking.without(request, lacking(asking, Operation.WRITE, Kind.TOPIC))


def _first_odd(asking: Authorization, request: ProduceRequest) -> Produced | None:
    """The first batch that is transactional or cannot be read."""
    for topic in request.topic_data:
        for partition in topic.partition_data:
            data = Produced(partition.records, asking.version)
            if data.damage is not None or data.is_transactional:
                return data
    return None


@authorize(FetchRequest)
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

    for topic in request.topics:  # so that it is logged
        by_id = asking.version >= _IDS_SINCE
        name = asking.topic_name(topic.topic_id) if by_id else topic.topic
        if name is not None:
            denies(name)
    passage.denies = denies
    return None


@authorize(ListOffsetsRequest)
def list_offsets(asking: Authorization, request: ListOffsetsRequest) -> Verdict:
    found = asking.without(request, lacking(asking, Operation.DESCRIBE, Kind.TOPIC))
    is_left = found is not None and found.request is not None
    if is_left and request.isolation_level not in _ISOLATION_LEVELS:
        return None  # nobody knows that level: the handler refuses all of it
    return found


@authorize(OffsetForLeaderEpochRequest)
def offset_for_leader_epoch(asking: Authorization, request: OffsetForLeaderEpochRequest) -> Verdict:
    """Brokers may ask about any topic."""
    if asking.may_in_cluster(Operation.CLUSTER_ACTION, is_logged=False):
        return None
    return asking.without(request, lacking(asking, Operation.DESCRIBE, Kind.TOPIC))


@authorize(DescribeProducersRequest)
def describe_producers(asking: Authorization, request: DescribeProducersRequest) -> Verdict:
    """A name that no topic can have is answered first."""
    lacks = lacking(asking, Operation.READ, Kind.TOPIC, MESSAGES[Kind.TOPIC])

    def refuse(entry: Entry) -> Refusal | None:
        return None if name_problem(entry[TOPIC]) is not None else lacks(entry)

    return asking.without(request, refuse)
