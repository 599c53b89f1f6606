"""FindCoordinator (10): which broker coordinates a group or a transactional id.

It is the leader of the partition that keeps it. The first such request creates `__consumer_offsets`
or `__transaction_state`; a real broker answers 15 until it has created them, as this one does while
it cannot (a full disk, too few brokers), or with `timing="kafka"`.

Since v6 a key of share groups names a group and a partition: `group:id of the topic:number`; the
leader of the partition of `__share_group_state` that keeps it coordinates that.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Protocol

from ...wire import Error, Refused
from ...wire.api.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ..base.call import INVALID_REQUEST_TEXT, NO_REPLY, UNEXPECTED_TEXT, Call, Sentinel
from ..base.logger import log
from ..base.turns import Slices, each_of
from ..share.state import is_share_key
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

GROUP, TRANSACTION, SHARE = 0, 1, 2
_MANY_SINCE = 4
_SHARE_SINCE = 6
_KEYS_A_SLICE = 20
_OLD_TYPES = (GROUP, TRANSACTION)
_NOT_AVAILABLE = "The coordinator is not available."
Coordinator = FindCoordinatorResponse.Coordinator


@handler(FindCoordinatorRequest, cached=True)
def find_coordinator(
    cluster: Cluster, call: Call, request: FindCoordinatorRequest
) -> Slices[FindCoordinatorResponse | Sentinel]:
    find = cache(partial(_find, cluster, call, request.key_type))
    if call.version >= _MANY_SINCE:
        coordinators = yield from each_of(request.coordinator_keys, find, _KEYS_A_SLICE)
        return FindCoordinatorResponse(coordinators=coordinators)
    if request.key_type not in _OLD_TYPES and not cluster.release.answers_unknown_coordinators:
        call.close()
        return NO_REPLY
    found = find(request.key)
    good = "NONE" if cluster.release.answers_unknown_coordinators else None
    return FindCoordinatorResponse(
        error_code=found.error_code,
        error_message=found.error_message if found.error_code else good,
        node_id=found.node_id,
        host=found.host,
        port=found.port,
    )


def _find(cluster: Cluster, call: Call, key_type: int, key: str) -> Coordinator:
    if key_type == SHARE and (error := _share_error(cluster, call, key)):
        text = INVALID_REQUEST_TEXT if call.version < _MANY_SINCE else ""
        return _none(key, error, text)
    if key_type in (GROUP, TRANSACTION, SHARE):
        of_its_kind = _coordinators(cluster, key_type)
        try:
            of_its_kind.ensure_topic()
        except Refused as refused:  # no disk, or too few brokers
            log.warning("no coordinator for %r: %s", key, refused)
            return _none(key, Error.COORDINATOR_NOT_AVAILABLE, _NOT_AVAILABLE)
        node = cluster.nodes.get(of_its_kind.leader_of(key))
        if node is None or not node.is_alive:
            return _none(key, Error.COORDINATOR_NOT_AVAILABLE, _NOT_AVAILABLE)
        host, port = node.at(call.listener)
        return Coordinator(key=key, node_id=node.node_id, host=host, port=port, error_message="")
    if not cluster.release.refuses_unknown_coordinators:
        return _none(key, Error.UNKNOWN_SERVER_ERROR, UNEXPECTED_TEXT)
    return _none(key, Error.INVALID_REQUEST, INVALID_REQUEST_TEXT)


def _share_error(cluster: Cluster, call: Call, key: str) -> Error:
    """Why no share coordinator is looked for, if it is not."""
    if call.version < _SHARE_SINCE:
        return Error.INVALID_REQUEST
    if not cluster.release.has_share_coordinator:
        return Error.COORDINATOR_NOT_AVAILABLE
    return Error.NONE if is_share_key(key) else Error.INVALID_REQUEST


class _Coordinators(Protocol):
    def ensure_topic(self) -> None: ...

    def leader_of(self, key: str, /) -> int: ...


def _coordinators(cluster: Cluster, key_type: int) -> _Coordinators:
    if key_type == SHARE:
        return cluster.share_coordinators
    return cluster.groups if key_type == GROUP else cluster.transactions


def _none(key: str, error: Error, message: str) -> Coordinator:
    return Coordinator(
        key=key, node_id=-1, host="", port=-1, error_code=error, error_message=message
    )
