"""StreamsGroupDescribe (89): state, topology and members of streams groups (KIP-1071).

Numbers of partitions of internal topics are those that were worked out, once something was written
to the group's partition of `__consumer_offsets` after that; before, and while topics are missing,
those that the application gives (0 for most).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ...wire import Error, Refused
from ...wire.api.streams_group_describe import (
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)
from ...wire.stored.streams_groups import StreamsGroupTopologyValue
from ..base.call import Call
from ..base.java_order import hash_map_order
from ..base.turns import Slices
from ..groups.streams.group import StreamsGroup
from ..groups.streams.members import NOTHING, Epochs, StreamsMember, Tasks
from ..groups.streams.topology import Configured, InternalTopic, Subtopology, Topology
from .modern_groups import described_groups, has_streams_groups
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

Response: TypeAlias = StreamsGroupDescribeResponse


@handler(StreamsGroupDescribeRequest)
def streams_group_describe(
    cluster: Cluster, call: Call, request: StreamsGroupDescribeRequest
) -> Slices[StreamsGroupDescribeResponse]:
    groups = yield from described_groups(
        request,
        partial(Response.Group, topology=None),
        partial(_described, cluster, call),
        is_served=has_streams_groups(cluster),
    )
    return Response(groups=groups)


def _described(cluster: Cluster, call: Call, group_id: str) -> Response.Group:
    """Raises Refused."""
    streams = cluster.groups.at(call.node_id).streams
    group = streams.group(group_id)
    if group.topology is None:  # a real broker fails, too
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    return Response.Group(
        group_id=group_id,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        topology=_topology(group.topology, streams.configured(group)),
        members=[_member(group, member) for member in group],
    )


def _topology(topology: Topology, configured: Configured | None) -> Response.Group.Topology:
    known: Mapping[str, InternalTopic] = {}
    if configured is not None and configured.is_ready:
        for each in (configured.subtopologies or {}).values():
            known = {**known, **each.repartition_sources, **each.changelogs}
    return Response.Group.Topology(
        epoch=topology.epoch,
        subtopologies=[
            _subtopology(topology.by_id[name], known) for name in sorted(topology.by_id)
        ],
    )


def _subtopology(
    subtopology: Subtopology, known: Mapping[str, InternalTopic]
) -> Response.Group.Topology.Subtopology:
    def names(listed: Iterable[str]) -> list[str]:
        return sorted(set(listed) if known else listed)

    def topics(listed: Iterable[StreamsGroupTopologyValue.TopicInfo]) -> list[Response.TopicInfo]:
        found = [_topic(each, known.get(each.name)) for each in listed]
        return sorted(found, key=lambda topic: topic.name)

    return Response.Group.Topology.Subtopology(
        subtopology_id=subtopology.subtopology_id,
        source_topics=names(subtopology.source_topics),
        repartition_sink_topics=names(subtopology.repartition_sink_topics),
        state_changelog_topics=topics(subtopology.state_changelog_topics),
        repartition_source_topics=topics(subtopology.repartition_source_topics),
    )


def _topic(
    topic: StreamsGroupTopologyValue.TopicInfo, known: InternalTopic | None
) -> Response.TopicInfo:
    configs = {each.key: each.value for each in topic.topic_configs}
    return Response.TopicInfo(
        name=topic.name,
        partitions=topic.partitions if known is None else known.partitions,
        replication_factor=topic.replication_factor,
        topic_configs=[
            Response.KeyValue(key=key, value=value)
            for key, value in (configs if known is None else known.configs).items()
        ],
    )


def _member(group: StreamsGroup, member: StreamsMember) -> Response.Group.Member:
    at, target = member.endpoint, group.targets.get(member.member_id, NOTHING)
    return Response.Group.Member(
        member_id=member.member_id,
        member_epoch=member.epoch,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=None if at is None else Response.Endpoint(host=at.host, port=at.port),
        client_tags=[
            Response.KeyValue(key=key, value=member.client_tags[key])
            for key in hash_map_order(sorted(member.client_tags))
        ],
        task_offsets=[],
        task_end_offsets=[],
        assignment=_assignment(member.assigned.active, member.assigned.standby),
        target_assignment=_assignment(target.active, target.standby),
        is_classic=False,
    )


def _assignment(active: Epochs | Tasks, standby: Tasks) -> Response.Assignment:
    return Response.Assignment(
        active_tasks=_task_ids(active), standby_tasks=_task_ids(standby), warmup_tasks=[]
    )


def _task_ids(tasks: Epochs | Tasks) -> list[Response.TaskIds]:
    return [
        Response.TaskIds(subtopology_id=name, partitions=sorted(tasks[name]))
        for name in sorted(tasks)
    ]
