"""ShareGroupDescribe (77): state and members of share groups (KIP-932).

Authorized operations are those of a broker without an authorizer: all of them. A group that is
asked for again is answered again, as it was found first.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from ...wire import Error, Refused
from ...wire.api.share_group_describe import ShareGroupDescribeRequest, ShareGroupDescribeResponse
from ..base.call import Call
from ..base.java_order import id_order, int_order
from ..base.turns import Slices, each_of
from ..groups.share.members import ShareMember
from .describe_groups import GROUP_OPERATIONS
from .registry import handles
from .share_acknowledgements import has_share_groups

if TYPE_CHECKING:
    from ..cluster import Cluster

Response: TypeAlias = ShareGroupDescribeResponse
_ASSIGNOR = "simple"


@handles(ShareGroupDescribeRequest)
def share_group_describe(
    cluster: Cluster, call: Call, request: ShareGroupDescribeRequest
) -> Slices[ShareGroupDescribeResponse]:
    is_served = has_share_groups(cluster)
    asked = request.include_authorized_operations

    @cache
    def group(group_id: str) -> Response.Group:
        if not is_served:
            return _refused(group_id, Refused(Error.UNSUPPORTED_VERSION))
        return _described(cluster, call, group_id, asked)

    return Response(groups=(yield from each_of(request.group_ids, group)))


def _described(
    cluster: Cluster, call: Call, group_id: str, with_operations: bool
) -> Response.Group:
    try:
        group = cluster.groups.at(call.node_id).share.group(group_id)
    except Refused as refused:
        return _refused(group_id, refused)
    described = Response.Group(
        group_id=group_id,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=_ASSIGNOR,
        members=[_member(cluster, member) for member in group],
    )
    if with_operations:
        described.authorized_operations = GROUP_OPERATIONS
    return described


def _refused(group_id: str, refused: Refused) -> Response.Group:
    return Response.Group(
        error_code=refused.error,
        error_message=refused.message,
        group_id=group_id,
        group_state="",
        group_epoch=0,
        assignment_epoch=0,
        assignor_name="",
        members=[],
    )


def _member(cluster: Cluster, member: ShareMember) -> Response.Group.Member:
    entries = []
    for topic_id in id_order(member.assigned):
        topic = cluster.topics.by_id(topic_id)
        if topic is not None:
            parts = int_order(member.assigned[topic_id])
            entry = Response.TopicPartitions(
                topic_id=topic_id, topic_name=topic.name, partitions=parts
            )
            entries.append(entry)
    return Response.Group.Member(
        member_id=member.member_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.names),
        assignment=Response.Assignment(topic_partitions=entries),
    )
