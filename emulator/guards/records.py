"""What Produce, Fetch and the questions about partitions need (semantics M13)."""

from __future__ import annotations

from typing import Any

from ...wire.api.delete_records import DeleteRecordsRequest
from ...wire.api.describe_producers import DescribeProducersRequest
from ...wire.api.fetch import FetchRequest
from ...wire.api.list_offsets import ListOffsetsRequest
from ...wire.api.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from ...wire.api.produce import ProduceRequest
from ...wire.batch import TRANSACTIONAL
from ..base.call import NO_REPLY
from ..control.rules.entries import Entry
from ..control.rules.places import TOPIC
from ..control.rules.refusing import levels
from ..metadata.topic_rules import name_problem
from ..security.authorizer.terms import Kind, Operation
from .asking import Asking, Verdict
from .guard import guards
from .needs import ERRORS, MESSAGES, lacking, needs_each

_MAGIC_AT, _ATTRIBUTES_AT = 16, 21
_WITH_ATTRIBUTES = 2
_REPLICA_STATE_SINCE, _IDS_SINCE = 15, 13


@guards(ProduceRequest)
def produce(asking: Asking, request: ProduceRequest) -> Verdict:
    """The transactional id comes first, and refuses everything."""
    x, kind = request.transactional_id, Kind.TRANSACTIONAL_ID
    is_asked = x is not None and _has_transactional(request)
    if is_asked and not asking.may(Operation.WRITE, kind, x):
        if request.acks == 0:
            asking.call.close()
            return NO_REPLY
        return asking.refuse(request, ERRORS[kind])  # type: ignore[no-any-return]
    return needs_each(asking, request, Operation.WRITE, Kind.TOPIC)


def _has_transactional(request: ProduceRequest) -> bool:
    return any(
        _is_transactional(partition.records)
        for topic in request.topic_data
        for partition in topic.partition_data
    )


def _is_transactional(records: Any) -> bool:
    """Whether the first batch is; the others are not looked at."""
    if records is None or len(records) <= _ATTRIBUTES_AT + 1:
        return False
    is_batch = records[_MAGIC_AT] >= _WITH_ATTRIBUTES
    return bool(is_batch and records[_ATTRIBUTES_AT + 1] & TRANSACTIONAL)


@guards(FetchRequest)
def fetch(asking: Asking, request: FetchRequest) -> Verdict:
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
    known: dict[str, bool] = {}

    def denies(topic: str) -> bool:
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
def list_offsets(asking: Asking, request: ListOffsetsRequest) -> Verdict:
    return needs_each(asking, request, Operation.DESCRIBE, Kind.TOPIC)


@guards(OffsetForLeaderEpochRequest)
def offset_for_leader_epoch(asking: Asking, request: OffsetForLeaderEpochRequest) -> Verdict:
    """Brokers may ask about any topic."""
    if asking.may_in_cluster(Operation.CLUSTER_ACTION, is_told=False):
        return None
    return needs_each(asking, request, Operation.DESCRIBE, Kind.TOPIC)


@guards(DeleteRecordsRequest)
def delete_records(asking: Asking, request: DeleteRecordsRequest) -> Verdict:
    return needs_each(asking, request, Operation.DELETE, Kind.TOPIC)


@guards(DescribeProducersRequest)
def describe_producers(asking: Asking, request: DescribeProducersRequest) -> Verdict:
    """A name that no topic can have is told first."""
    is_denied = lacking(asking, Operation.READ, Kind.TOPIC)

    def is_refused(entry: Entry) -> bool:
        return name_problem(entry[TOPIC]) is None and is_denied(entry)

    error = ERRORS[Kind.TOPIC]
    level = max(levels(DescribeProducersRequest, asking.version))
    return asking.without(request, is_refused, level, error, MESSAGES[Kind.TOPIC])
