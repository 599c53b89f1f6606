"""ConsumerGroupDescribe (69): state and members of consumer groups (KIP-848).

What a member has includes what it has yet to give up. Authorized operations are those of a broker
without an authorizer: all of them. A group that is asked for again is answered again, as it was
found first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from ...wire import Error, Refused
from ...wire.api.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from ..base.call import Call
from ..base.java_order import int_order
from ..base.turns import Slices, each_of
from ..groups.consumer.group import ConsumerGroup
from ..groups.consumer.members import ConsumerMember
from .consumer_group_heartbeat import has_new_protocol
from .describe_groups import GROUP_OPERATIONS
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster

Response: TypeAlias = ConsumerGroupDescribeResponse
_CLASSIC, _CONSUMER = 0, 1


@handles(ConsumerGroupDescribeRequest)
def consumer_group_describe(
    cluster: Cluster, call: Call, request: ConsumerGroupDescribeRequest
) -> Slices[ConsumerGroupDescribeResponse]:
    is_served = has_new_protocol(cluster)
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
        group = cluster.groups.at(call.node_id).consumer.group(group_id)
    except Refused as refused:
        return _refused(group_id, refused)
    described = Response.Group(
        group_id=group_id,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=group.preferred_assignor(),
        members=[_member(cluster, group, member) for member in group],
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


def _member(
    cluster: Cluster, group: ConsumerGroup, member: ConsumerMember
) -> Response.Group.Member:
    held: dict[bytes, list[int]] = {}
    for topic_id, partition in member.partitions():
        held.setdefault(topic_id, []).append(partition)
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
