"""ShareGroupDescribe (77): state and members of share groups (KIP-932)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ...wire.api.share_group_describe import ShareGroupDescribeRequest, ShareGroupDescribeResponse
from ..base.call import Call
from ..base.java_order import id_order, int_order
from ..base.turns import Slices
from ..groups.share.members import ShareMember
from .modern_groups import described_groups, has_share_groups
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

Response: TypeAlias = ShareGroupDescribeResponse
_ASSIGNOR = "simple"


@handler(ShareGroupDescribeRequest)
def share_group_describe(
    cluster: Cluster, call: Call, request: ShareGroupDescribeRequest
) -> Slices[ShareGroupDescribeResponse]:
    groups = yield from described_groups(
        request,
        partial(Response.Group, assignor_name=""),
        partial(_described, cluster, call),
        is_served=has_share_groups(cluster),
    )
    return Response(groups=groups)


def _described(cluster: Cluster, call: Call, group_id: str) -> Response.Group:
    """Raises Refused."""
    group = cluster.groups.at(call.node_id).share.group(group_id)
    return Response.Group(
        group_id=group_id,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=_ASSIGNOR,
        members=[_member(cluster, member) for member in group],
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
