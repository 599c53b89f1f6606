"""ConsumerGroupDescribe (69): state and members of consumer groups (KIP-848).

What a member has includes what it has yet to give up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ...wire import Error, Refused
from ...wire.api.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from ..base.call import Call
from ..base.java_order import int_order
from ..base.turns import Slices
from ..groups.consumer.group import ConsumerGroup
from ..groups.consumer.members import ConsumerMember
from .describe_groups import GROUP_OPERATIONS
from .modern_groups import described_groups, has_consumer_groups
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

Response: TypeAlias = ConsumerGroupDescribeResponse
_CLASSIC, _CONSUMER = 0, 1


@handler(ConsumerGroupDescribeRequest)
def consumer_group_describe(
    cluster: Cluster, call: Call, request: ConsumerGroupDescribeRequest
) -> Slices[ConsumerGroupDescribeResponse]:
    if not cluster.release.describes_each_group_once:
        return _by_partition(cluster, call, request)
    groups = yield from described_groups(
        request,
        partial(Response.Group, assignor_name=""),
        partial(_described, cluster, call),
        is_served=has_consumer_groups(cluster),
    )
    return Response(groups=groups)


def _by_partition(cluster: Cluster, call: Call, request: ConsumerGroupDescribeRequest) -> Response:
    """What 4.0 answers: every partition that keeps one of the groups is asked for all of them."""
    ids = request.group_ids
    if not has_consumer_groups(cluster) or not all(ids):
        is_served = has_consumer_groups(cluster)
        error = Error.UNKNOWN_SERVER_ERROR if is_served else Error.UNSUPPORTED_VERSION
        return Response(groups=[_none(group_id, Refused(error)) for group_id in ids])
    places = {group_id: cluster.groups.partition_for(group_id) for group_id in ids}
    groups = []
    for place in dict.fromkeys(places.values()):
        for group_id in ids:
            try:
                if places[group_id] != place:
                    message = f"Group {group_id} not found."
                    raise Refused(Error.GROUP_ID_NOT_FOUND, message)
                groups.append(_described(cluster, call, group_id))
            except Refused as refused:
                groups.append(_none(group_id, refused))
    if request.include_authorized_operations:
        for each in groups:
            if not each.error_code:
                each.authorized_operations = GROUP_OPERATIONS
    return Response(groups=groups)


def _none(group_id: str, refused: Refused) -> Response.Group:
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


def _described(cluster: Cluster, call: Call, group_id: str) -> Response.Group:
    """Raises Refused."""
    group = cluster.groups.at(call.node_id).consumer.group(group_id)
    return Response.Group(
        group_id=group_id,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=group.preferred_assignor(),
        members=[_member(cluster, group, member) for member in group],
    )


def _member(
    cluster: Cluster, group: ConsumerGroup, member: ConsumerMember
) -> Response.Group.Member:
    held: dict[bytes, list[int]] = {}
    if cluster.release.describes_unrevoked_partitions:
        for topic_id, partition in member.partitions():
            held.setdefault(topic_id, []).append(partition)
    else:
        held = {topic_id: [*partitions] for topic_id, partitions in member.assigned.items()}
    return Response.Group.Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.names),
        subscribed_topic_regex=member.regex,
        assignment=_assignment(cluster, held),
        target_assignment=_assignment(cluster, group.targets.get(member.member_id, {})),
        member_type=_CONSUMER if member.classic is None else _CLASSIC,
    )


def _assignment(cluster: Cluster, held: Mapping[bytes, Iterable[int]]) -> Response.Assignment:
    entries = []
    for topic_id, partitions in held.items():
        topic = cluster.topics.by_id(topic_id)
        if topic is not None:
            entries.append(
                Response.TopicPartitions(
                    topic_id=topic_id, topic_name=topic.name, partitions=int_order(partitions)
                )
            )
    return Response.Assignment(topic_partitions=entries)
