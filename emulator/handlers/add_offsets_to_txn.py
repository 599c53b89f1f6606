"""AddOffsetsToTxn (25): the partition that keeps a group's offsets joins a transaction.

The group need not exist, and its id may be empty: only its place in `__consumer_offsets` counts.
Before v2 a fenced producer is answered INVALID_PRODUCER_EPOCH.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from ..base.call import Call
from ..config.internal_topics import CONSUMER_OFFSETS
from ..transactions.transaction import Producer
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

_FENCED_SINCE = 2


@handler(AddOffsetsToTxnRequest)
def add_offsets_to_txn(
    cluster: Cluster, call: Call, request: AddOffsetsToTxnRequest
) -> AddOffsetsToTxnResponse:
    cluster.groups.ensure_topic()
    key = CONSUMER_OFFSETS, cluster.groups.partition_for(request.group_id)
    producer = Producer(request.producer_id, request.producer_epoch)
    try:
        coordinator = cluster.transactions.asked_at(call.node_id, request.transactional_id)
        coordinator.add(request.transactional_id, producer, [key])
    except Refused as refused:
        error = refused.error
        if error is Error.PRODUCER_FENCED and call.version < _FENCED_SINCE:
            error = Error.INVALID_PRODUCER_EPOCH
        return AddOffsetsToTxnResponse(error_code=error)
    return AddOffsetsToTxnResponse()
