"""FindCoordinator (10): which broker keeps a group. With one broker, that one.

The first look makes `__consumer_offsets`; a real broker answers 15 until it has made it.

Not emulated: transactions and share groups. Their keys are refused with a sentence that says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error
from ...wire.api.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ..dispatch import INVALID_REQUEST_TEXT, Call, handles

if TYPE_CHECKING:
    from ..cluster import Cluster

GROUP, TRANSACTION, SHARE = 0, 1, 2
Coordinator = FindCoordinatorResponse.Coordinator


@handles(FindCoordinatorRequest)
def find_coordinator(
    cluster: Cluster, call: Call, request: FindCoordinatorRequest
) -> FindCoordinatorResponse:
    if call.version >= 4:
        return FindCoordinatorResponse(
            coordinators=[
                _find(cluster, call, key, request.key_type) for key in request.coordinator_keys
            ]
        )
    found = _find(cluster, call, request.key, request.key_type)
    return FindCoordinatorResponse(
        error_code=found.error_code,
        error_message=found.error_message if found.error_code else "NONE",
        node_id=found.node_id,
        host=found.host,
        port=found.port,
    )


def _find(cluster: Cluster, call: Call, key: str, key_type: int) -> Coordinator:
    if key_type == GROUP:
        cluster.groups.ensure_topic()
        broker = cluster.brokers[cluster.controller_id]
        return Coordinator(
            key=key, node_id=broker.node_id, host=broker.host, port=broker.port, error_message=""
        )
    if key_type == TRANSACTION:
        error = Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        return _none(key, error, "Transactions are not emulated yet.")
    return _none(key, Error.INVALID_REQUEST, INVALID_REQUEST_TEXT)


def _none(key: str, error: Error, message: str) -> Coordinator:
    return Coordinator(
        key=key, node_id=-1, host="", port=-1, error_code=error, error_message=message
    )
