"""UnregisterBroker (64): take a broker out of the cluster (semantics I12).

One that is running can be taken out as well; it then leads nothing, as with a real controller,
until it is started again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Refused
from ...wire.api.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from ..base.call import Call
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster


@handler(UnregisterBrokerRequest)
def unregister_broker(
    cluster: Cluster, call: Call, request: UnregisterBrokerRequest
) -> UnregisterBrokerResponse:
    try:
        cluster.replication.unregister(request.broker_id)
    except Refused as refused:
        message = refused.message if cluster.release.explains_unregistered_brokers else ""
        return UnregisterBrokerResponse(error_code=refused.error, error_message=message)
    return UnregisterBrokerResponse(error_message="")
