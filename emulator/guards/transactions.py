"""What the APIs of producers and transactions need (semantics M13)."""

from __future__ import annotations

from typing import Any

from ...wire import Error
from ...wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest
from ...wire.api.describe_transactions import DescribeTransactionsRequest
from ...wire.api.init_producer_id import InitProducerIdRequest
from ...wire.api.list_transactions import ListTransactionsRequest
from ..config.internal_topics import INTERNAL_TOPICS
from ..security.authorizer.acl import Kind, Operation
from .asking import (
    ERRORS,
    Authorization,
    PartlyDenied,
    Verdict,
    lacking,
    needs_cluster,
    needs_one,
)
from .guard import authorize

_BROKERS_SINCE = 4


@authorize(InitProducerIdRequest)
def init_producer_id(asking: Authorization, request: InitProducerIdRequest) -> Verdict:
    """Without a transactional id, who may write to any topic may have one."""
    if request.transactional_id is not None:
        x = request.transactional_id
        return needs_one(asking, request, Operation.WRITE, Kind.TRANSACTIONAL_ID, x)
    if asking.may_in_cluster(Operation.IDEMPOTENT_WRITE, is_logged=False):
        return None
    if asking.may_any(Operation.WRITE, Kind.TOPIC):
        return None
    return asking.refuse(request, ERRORS[Kind.CLUSTER])  # type: ignore[no-any-return]


@authorize(AddPartitionsToTxnRequest)
def add_partitions(asking: Authorization, request: AddPartitionsToTxnRequest) -> Verdict:
    """From version 4 on brokers ask; before, one topic that is refused refuses all partitions."""
    if asking.version >= _BROKERS_SINCE:
        return needs_cluster(asking, request, Operation.CLUSTER_ACTION)
    x = request.v3_and_below_transactional_id
    refusal = needs_one(asking, request, Operation.WRITE, Kind.TRANSACTIONAL_ID, x)
    if refusal is not None:
        return refusal
    names = [t.name for t in request.v3_and_below_topics if t.name not in INTERNAL_TOPICS]
    allowed = asking.allowed(Operation.WRITE, Kind.TOPIC, names)
    if allowed.issuperset(names):
        return None
    answer: Any = asking.refuse(request, Error.OPERATION_NOT_ATTEMPTED)
    for topic in answer.results_by_topic_v3_and_below:
        for partition in topic.results_by_partition:
            error = Error(partition.partition_error_code)
            if topic.name not in allowed:
                error = ERRORS[Kind.TOPIC]
            elif not _is_there(asking, topic.name, partition.partition_index):
                error = Error.UNKNOWN_TOPIC_OR_PARTITION
            partition.partition_error_code = error
    return answer  # type: ignore[no-any-return]


def _is_there(asking: Authorization, name: str, index: int) -> bool:
    topic = asking.cluster.topics.get(name)
    return topic is not None and 0 <= index < len(topic.partitions)


@authorize(DescribeTransactionsRequest)
def describe_transactions(asking: Authorization, request: DescribeTransactionsRequest) -> Verdict:
    """Of a transaction only the topics are shown that may be described."""

    def hide(own: Any) -> None:
        for state in own.transaction_states:
            names = [topic.topic for topic in state.topics]
            shown = asking.allowed(Operation.DESCRIBE, Kind.TOPIC, names)
            state.topics = [topic for topic in state.topics if topic.topic in shown]

    return asking.without(request, lacking(asking, Operation.DESCRIBE, Kind.TRANSACTIONAL_ID), hide)


@authorize(ListTransactionsRequest)
def list_transactions(asking: Authorization, request: ListTransactionsRequest) -> Verdict:
    def finish(own: Any) -> None:
        ids = [state.transactional_id for state in own.transaction_states]
        allowed = asking.allowed(Operation.DESCRIBE, Kind.TRANSACTIONAL_ID, ids, is_logged=False)
        own.transaction_states = [
            state for state in own.transaction_states if state.transactional_id in allowed
        ]

    return PartlyDenied(request, finish)
