"""DescribeTransactions (65): the state of transactional ids, one answer for each as asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Refused
from ...wire.api.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from ..base.call import Call
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

Described = DescribeTransactionsResponse.TransactionState


@handler(DescribeTransactionsRequest)
def describe_transactions(
    cluster: Cluster, call: Call, request: DescribeTransactionsRequest
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[_describe(cluster, call, each) for each in request.transactional_ids]
    )


def _describe(cluster: Cluster, call: Call, transactional_id: str) -> Described:
    try:
        coordinator = cluster.transactions.asked_at(call.node_id, transactional_id)
        known = coordinator.find(transactional_id)
    except Refused as refused:
        return Described(
            error_code=refused.error,
            transactional_id=transactional_id,
            transaction_state="",
            transaction_timeout_ms=0,
            transaction_start_time_ms=0,
            producer_id=0,
            producer_epoch=0,
            topics=[],
        )
    topics: dict[str, Described.Topic] = {}
    for name, index in known.partitions:
        topic = topics.setdefault(name, Described.Topic(topic=name, partitions=[]))
        topic.partitions.append(index)
    return Described(
        transactional_id=transactional_id,
        transaction_state=known.state.value,
        transaction_timeout_ms=known.timeout_ms,
        transaction_start_time_ms=known.start_ms,
        producer_id=known.producer_id,
        producer_epoch=known.epoch,
        topics=list(topics.values()),
    )
