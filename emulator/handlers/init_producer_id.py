"""InitProducerId (22): a producer id, and for a transactional id the next epoch of its own.

A null transactional id gets a fresh id and epoch 0 every time, whatever else is asked; only an id
without an epoch, or the reverse, is refused. What a transactional id gets stands in
transactions/coordinator.py. Before v4 a fenced producer is answered INVALID_PRODUCER_EPOCH.

Not emulated: two-phase commit (v6, which a 4.3 broker does not serve either).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ..base.call import Call
from ..transactions.transaction import Producer
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

_FENCED_SINCE = 4
_NONE = -1


@handler(InitProducerIdRequest)
def init_producer_id(
    cluster: Cluster, call: Call, request: InitProducerIdRequest
) -> InitProducerIdResponse:
    try:
        producer = _begin(cluster, call.node_id, request)
    except Refused as refused:
        error = refused.error
        if error is Error.PRODUCER_FENCED and call.version < _FENCED_SINCE:
            error = Error.INVALID_PRODUCER_EPOCH
        return InitProducerIdResponse(error_code=error, producer_id=_NONE, producer_epoch=_NONE)
    return InitProducerIdResponse(producer_id=producer.producer_id, producer_epoch=producer.epoch)


def _begin(cluster: Cluster, node_id: int, request: InitProducerIdRequest) -> Producer:
    if (request.producer_id == _NONE) != (request.producer_epoch == _NONE):
        raise Refused(Error.INVALID_REQUEST)
    if request.transactional_id is None:
        return Producer(cluster.brokers[node_id].next_producer_id(), 0)
    asked = Producer(request.producer_id, request.producer_epoch)
    coordinator = cluster.transactions.asked_at(node_id, request.transactional_id)
    return coordinator.begin(
        request.transactional_id,
        request.transaction_timeout_ms,
        None if asked.producer_id == _NONE else asked,
    )
