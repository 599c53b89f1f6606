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
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

# Bits of READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS and ALTER_CONFIGS, as Kafka 4.3 answers.
GROUP_OPERATIONS = 3400


@handler(DescribeGroupsRequest)
def describe_groups(
    cluster: Cluster, call: Call, request: DescribeGroupsRequest
) -> Slices[DescribeGroupsResponse]:
    asked = request.include_authorized_operations
    classic = cluster.groups.at(call.node_id).classic

    @cache
    def group(group_id: str) -> DescribeGroupsResponse.Group:
        found = classic.describe(group_id, call.version)
        if asked and not found.error_code:
            found.authorized_operations = GROUP_OPERATIONS
        return found

    each = cluster.release.describes_each_entry
    groups = request.groups if each else list(dict.fromkeys(request.groups))
    return DescribeGroupsResponse(groups=(yield from each_of(groups, group)))
