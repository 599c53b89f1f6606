"""DescribeGroups (15): state and members of classic groups; of no others.

Authorized operations are those of a broker without an authorizer: all of them. A group that is
asked for again is answered again, as it was found first.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ...wire.api.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from ..base.call import Call
from ..base.turns import Slices, each_of
from ..groups.classic.group import COMPLETING_REBALANCE
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

# Bits of READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS and ALTER_CONFIGS, as Kafka 4.3 answers.
GROUP_OPERATIONS = 3400
_BEFORE_1_0 = "AwaitingSync"
"""The state in which members wait for their assignment."""


@handler(DescribeGroupsRequest)
def describe_groups(
    cluster: Cluster, call: Call, request: DescribeGroupsRequest
) -> Slices[DescribeGroupsResponse]:
    asked = request.include_authorized_operations
    classic = cluster.groups.at(call.node_id).classic

    calls_otherwise = not cluster.release.names_completing_rebalances

    @cache
    def group(group_id: str) -> DescribeGroupsResponse.Group:
        found = classic.describe(group_id, call.version)
        if calls_otherwise and found.group_state == COMPLETING_REBALANCE:
            found.group_state = _BEFORE_1_0
        if asked and not found.error_code:
            found.authorized_operations = GROUP_OPERATIONS
        elif not cluster.release.says_what_is_not_asked:
            found.authorized_operations = 0
        return found

    each = cluster.release.describes_each_entry
    groups = request.groups if each else list(dict.fromkeys(request.groups))
    return DescribeGroupsResponse(groups=(yield from each_of(groups, group)))
