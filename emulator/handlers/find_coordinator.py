"""FindCoordinator (10): which broker keeps a group or a transactional id. With one, that one.

The first look makes `__consumer_offsets` or `__transaction_state`; a real broker answers 15 until
it has made them, as this one does while it cannot (a full disk, too few brokers).

Not emulated: share groups, of which a real broker refuses only malformed keys, and those before v6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ..base.call import INVALID_REQUEST_TEXT, Call
from ..base.logger import log
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster

GROUP, TRANSACTION, SHARE = 0, 1, 2
_MANY_SINCE = 4
_SHARE_SINCE = 6
Coordinator = FindCoordinatorResponse.Coordinator


@handles(FindCoordinatorRequest)
def find_coordinator(
    cluster: Cluster, call: Call, request: FindCoordinatorRequest
) -> FindCoordinatorResponse:
    if call.version >= _MANY_SINCE:
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
    if key_type in (GROUP, TRANSACTION):
        try:
            if key_type == GROUP:
                cluster.groups.ensure_topic()
            else:
                cluster.transactions.ensure_topic()
        except Refused as refused:  # its topic cannot be made: no disk, or too few brokers
            log.warning("no coordinator for %r: %s", key, refused)
            return _none(key, Error.COORDINATOR_NOT_AVAILABLE, "The coordinator is not available.")
        broker = cluster.brokers[cluster.controller_id]
        return Coordinator(
            key=key, node_id=broker.node_id, host=broker.host, port=broker.port, error_message=""
        )
    if key_type != SHARE or call.version < _MANY_SINCE:
        return _none(key, Error.INVALID_REQUEST, INVALID_REQUEST_TEXT)
    if call.version >= _SHARE_SINCE and not cluster.release.has_share_coordinator:
        return _none(key, Error.COORDINATOR_NOT_AVAILABLE, "")
    return _none(key, Error.INVALID_REQUEST, "")


def _none(key: str, error: Error, message: str) -> Coordinator:
    return Coordinator(
        key=key, node_id=-1, host="", port=-1, error_code=error, error_message=message
    )
