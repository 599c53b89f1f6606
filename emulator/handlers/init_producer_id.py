"""InitProducerId (22): a producer id for an idempotent producer.

A null transactional id gets a fresh id and epoch 0 every time, whatever else is asked; only an id
without an epoch, or the reverse, is refused.

Not emulated: transactions. A transactional id is refused with a sentence that says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ..dispatch import Call, handles

if TYPE_CHECKING:
    from ..cluster import Cluster


@handles(InitProducerIdRequest)
def init_producer_id(
    cluster: Cluster, call: Call, request: InitProducerIdRequest
) -> InitProducerIdResponse:
    is_half_given = (request.producer_id == -1) != (request.producer_epoch == -1)
    if is_half_given or request.transactional_id == "":
        error = Error.INVALID_REQUEST
    elif request.transactional_id is None:
        return InitProducerIdResponse(producer_id=cluster.next_producer_id(), producer_epoch=0)
    else:
        error = Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    return InitProducerIdResponse(error_code=error, producer_id=-1, producer_epoch=-1)
