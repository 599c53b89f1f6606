"""ConsumerGroupDescribe (69): state and members of consumer groups (KIP-848).

What a member has includes what it has yet to give up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ...wire.api.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from ..base.call import Call
from ..base.java_order import int_order
from ..base.turns import Slices
from ..groups.consumer.group import ConsumerGroup
from ..groups.consumer.members import ConsumerMember
from .modern_groups import described_groups, has_consumer_groups
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster

Response: TypeAlias = ConsumerGroupDescribeResponse
_CLASSIC, _CONSUMER = 0, 1


@handles(ConsumerGroupDescribeRequest)
def consumer_group_describe(
    cluster: Cluster, call: Call, request: ConsumerGroupDescribeRequest
) -> Slices[ConsumerGroupDescribeResponse]:
    groups = yield from described_groups(
        request,
        partial(Response.Group, assignor_name=""),
        partial(_described, cluster, call),
        is_served=has_consumer_groups(cluster),
    )
    return Response(groups=groups)


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
