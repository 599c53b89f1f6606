"""EndTxn (26): commit or abort a transaction (transactions/coordinator.py has the tables).

Answered once the end is decided and written; the markers follow. From v5 on the answer names the
epoch, and perhaps the producer id, to go on with. Before v2 a fenced producer is answered
INVALID_PRODUCER_EPOCH.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.end_txn import EndTxnRequest, EndTxnResponse
from ..base.call import Call
from ..transactions.transaction import TV1, TV2, Producer
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

_SECOND_GENERATION_SINCE = 5
_FENCED_SINCE = 2


@handler(EndTxnRequest)
def end_txn(cluster: Cluster, call: Call, request: EndTxnRequest) -> EndTxnResponse:
    try:
        coordinator = cluster.transactions.asked_at(call.node_id, request.transactional_id)
        following = coordinator.end(
            request.transactional_id,
            Producer(request.producer_id, request.producer_epoch),
            commit=request.committed,
            client_version=TV2 if call.version >= _SECOND_GENERATION_SINCE else TV1,
        )
    except Refused as refused:
        error = refused.error
        if error is Error.PRODUCER_FENCED and call.version < _FENCED_SINCE:
            error = Error.INVALID_PRODUCER_EPOCH
        return EndTxnResponse(error_code=error)
    return EndTxnResponse(producer_id=following.producer_id, producer_epoch=following.epoch)
