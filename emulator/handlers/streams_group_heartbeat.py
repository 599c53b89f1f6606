"""StreamsGroupHeartbeat (88): a member of a streams group (KIP-1071) joins, stays, or leaves.

What is refused, in the order in which it is checked (semantics N27, N28): topics of Kafka's own and
names that no topic can have (130); what Kafka does not support yet; empty ids; a join without
rebalance timeout, topology, or empty lists of tasks; a changelog with a number of partitions (130);
an epoch below -1; some kinds of tasks without the others; a topology without joining (42).

Internal topics that are missing are created as by CreateTopics, after the answer was made. What
went wrong with that is answered to later heartbeats, and not tried again for two intervals of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from ...wire import Error, Refused
from ...wire.api.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from ..base.call import Call
from ..config.internal_topics import INTERNAL_TOPICS
from ..groups.modern.member import JOINING_EPOCH, STATIC_LEAVE_EPOCH
from ..metadata.topic_rules import name_problem
from .modern_groups import check_not_empty, has_streams_groups, invalid
from .registry import handler
from .streams_internal_topics import create_missing

if TYPE_CHECKING:
    from ..cluster import Cluster

Request: TypeAlias = StreamsGroupHeartbeatRequest
Response: TypeAlias = StreamsGroupHeartbeatResponse


@handler(StreamsGroupHeartbeatRequest)
def streams_group_heartbeat(
    cluster: Cluster, call: Call, request: StreamsGroupHeartbeatRequest
) -> StreamsGroupHeartbeatResponse:
    if not has_streams_groups(cluster):
        return refused_answer(Refused(Error.UNSUPPORTED_VERSION))
    try:
        check_topics(required_topics(request))
        _check(request)
        streams = cluster.groups.at(call.node_id).streams
        answer, missing = streams.heartbeat(call, request)
    except Refused as refused:
        return refused_answer(refused)
    create_missing(cluster, call, streams.creation_errors, answer, missing)
    return answer


def required_topics(request: Request) -> list[str]:
    """The topics of the topology that a member brings, each once."""
    names: list[str] = []
    for each in () if request.topology is None else request.topology.subtopologies:
        names += each.source_topics
        names += each.repartition_sink_topics
        names += [topic.name for topic in each.repartition_source_topics]
        names += [topic.name for topic in each.state_changelog_topics]
    return [*dict.fromkeys(names)]


def check_topics(names: Iterable[str]) -> None:
    """Raises Refused(STREAMS_INVALID_TOPOLOGY) for topics that an application may not have."""
    listed = [*names]
    internal = [name for name in listed if name in INTERNAL_TOPICS]
    if internal:
        raise _invalid_topology(
            f"Use of Kafka internal topics {','.join(internal)} in a Kafka Streams topology is"
            " prohibited."
        )
    wrong = [name for name in listed if name_problem(name) is not None]
    if wrong:
        raise _invalid_topology(f"Topic names {','.join(wrong)} are not valid topic names.")


def _check(request: Request) -> None:
    _check_support(request)
    check_not_empty(MemberId=request.member_id, GroupId=request.group_id, RackId=request.rack_id)
    epoch = request.member_epoch
    if epoch == JOINING_EPOCH:
        _check_joining(request)
    elif epoch == STATIC_LEAVE_EPOCH:  # no member has an instance
        raise invalid("InstanceId can't be null.")
    elif epoch < STATIC_LEAVE_EPOCH:
        raise invalid(f"MemberEpoch is {epoch}, but must be greater than or equal to -2.")
    kinds = (request.active_tasks, request.standby_tasks, request.warmup_tasks)
    if None in kinds and any(kind is not None for kind in kinds):
        raise invalid("If one task-type is non-null, all must be non-null.")
    if epoch != JOINING_EPOCH and request.topology is not None:
        raise invalid("Topology can only be provided when (re-)joining.")


def _check_support(request: Request) -> None:
    if request.instance_id is not None:
        raise invalid("Static membership is not yet supported.")
    if request.task_offsets is not None:
        raise invalid("TaskOffsets are not supported yet.")
    if request.task_end_offsets is not None:
        raise invalid("TaskEndOffsets are not supported yet.")
    if request.warmup_tasks:
        raise invalid("WarmupTasks are not supported yet.")
    for each in () if request.topology is None else request.topology.subtopologies:
        if each.source_topic_regex:
            raise invalid("Regular expressions for source topics are not supported yet.")


def _check_joining(request: Request) -> None:
    if request.rebalance_timeout_ms == -1:
        raise invalid("RebalanceTimeoutMs must be provided in first request.")
    for name, tasks in (
        ("ActiveTasks", request.active_tasks),
        ("StandbyTasks", request.standby_tasks),
        ("WarmupTasks", request.warmup_tasks),
    ):
        if tasks is None or tasks:
            raise invalid(f"{name} must be empty when (re-)joining.")
    if request.topology is None:
        raise invalid("Topology must be non-null when (re-)joining.")
    for subtopology in request.topology.subtopologies:
        for topic in subtopology.state_changelog_topics:
            if topic.partitions:
                raise _invalid_topology(
                    f"Changelog topic {topic.name} must have an undefined partition count, but it"
                    f" is set to {topic.partitions}."
                )


def _invalid_topology(message: str) -> Refused:
    return Refused(Error.STREAMS_INVALID_TOPOLOGY, message)


def refused_answer(refused: Refused) -> StreamsGroupHeartbeatResponse:
    return Response(
        error_code=refused.error,
        error_message=refused.message,
        member_id="",
        member_epoch=0,
        heartbeat_interval_ms=0,
        acceptable_recovery_lag=0,
        task_offset_interval_ms=0,
        status=[],
        endpoint_information_epoch=0,
    )
