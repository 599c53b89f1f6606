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
from ..groups.classic.messages import GroupDescription
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster

# Bits of READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS and ALTER_CONFIGS, as Kafka 4.3 answers.
GROUP_OPERATIONS = 3400
_NOT_ASKED = -(2**31)


@handles(DescribeGroupsRequest)
def describe_groups(
    cluster: Cluster, call: Call, request: DescribeGroupsRequest
) -> Slices[DescribeGroupsResponse]:
    asked = request.include_authorized_operations
    classic = cluster.groups.at(call.node_id).classic

    @cache
    def group(group_id: str) -> DescribeGroupsResponse.Group:
        (found,) = classic.describe([group_id], call.version)
        return _group(found, GROUP_OPERATIONS if asked and not found.error else _NOT_ASKED)

    return DescribeGroupsResponse(groups=(yield from each_of(request.groups, group)))


def _group(found: GroupDescription, operations: int) -> DescribeGroupsResponse.Group:
    return DescribeGroupsResponse.Group(
        error_code=found.error,
        error_message=found.message,
        group_id=found.group_id,
        group_state=found.state,
        protocol_type=found.protocol_type,
        protocol_data=found.protocol_data,
        members=[
            DescribeGroupsResponse.Group.Member(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata,
                member_assignment=member.assignment,
            )
            for member in found.members
        ],
        authorized_operations=operations,
    )
