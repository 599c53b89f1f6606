"""Streams groups (KIP-1071): what members of group g ask, unless told otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from odradek.wire.api.streams_group_describe import StreamsGroupDescribeRequest
from odradek.wire.api.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

from tests.requests.asker import Asker

JOINS, LEAVES = 0, -1
Request: TypeAlias = StreamsGroupHeartbeatRequest
Subtopology: TypeAlias = Request.Topology.Subtopology
Tasks = Mapping[str, Sequence[int]]


def topic_info(name: str, partitions: int = 0, replicas: int = 0, **configs: str) -> Any:
    """An internal topic; config names with _ for dots."""
    return Request.TopicInfo(
        name=name,
        partitions=partitions,
        replication_factor=replicas,
        topic_configs=[
            Request.KeyValue(key=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )


def subtopology(
    name: str = "0",
    sources: Sequence[str] = ("t",),
    *,
    sinks: Sequence[str] = (),
    repartition: Sequence[Any] = (),
    changelogs: Sequence[Any] = (),
    joined: Sequence[tuple[Sequence[int], Sequence[int]]] = (),
    regexes: Sequence[str] = (),
) -> Subtopology:
    """A subtopology that reads these topics. Internal topics are names, or made by `topic_info`;
    `joined`: the indexes of sources and of repartition topics that are joined."""
    group = Subtopology.CopartitionGroup
    return Subtopology(
        subtopology_id=name,
        source_topics=[*sources],
        source_topic_regex=[*regexes],
        state_changelog_topics=[_info(each) for each in changelogs],
        repartition_sink_topics=[*sinks],
        repartition_source_topics=[_info(each) for each in repartition],
        copartition_groups=[
            group(
                source_topics=[*of_sources],
                source_topic_regex=[],
                repartition_source_topics=[*of_repartition],
            )
            for of_sources, of_repartition in joined
        ],
    )


def _info(topic: Any) -> Any:
    return topic_info(topic) if isinstance(topic, str) else topic


def topology(*subtopologies: Subtopology, epoch: int = 0) -> Request.Topology:
    """A topology; of one subtopology that reads t, if none are given."""
    return Request.Topology(epoch=epoch, subtopologies=[*(subtopologies or (subtopology(),))])


def task_ids(tasks: Tasks) -> list[Request.TaskIds]:
    return [Request.TaskIds(subtopology_id=k, partitions=[*v]) for k, v in tasks.items()]


def streams_beat(
    client: Asker,
    member_id: str = "a",
    epoch: int = JOINS,
    *,
    active: Tasks | None = None,
    standby: Tasks | None = None,
    **more: Any,
) -> StreamsGroupHeartbeatResponse:
    """The answer to a heartbeat; in epoch 0 it brings a topology of one subtopology that reads t,
    of a process that is called as the member. `active` and `standby`: the tasks it reports."""
    answer: StreamsGroupHeartbeatResponse = client.ask(
        streams_beat_request(member_id, epoch, active=active, standby=standby, **more), 0
    )
    return answer


def streams_beat_request(
    member_id: str = "a",
    epoch: int = JOINS,
    *,
    active: Tasks | None = None,
    standby: Tasks | None = None,
    **more: Any,
) -> StreamsGroupHeartbeatRequest:
    """The same as a request."""
    fields: dict[str, Any] = {"group_id": "g", "endpoint_information_epoch": 0}
    if epoch == JOINS:
        active, standby = active or {}, standby or {}
        fields |= {"topology": topology(), "rebalance_timeout_ms": 1500, "process_id": member_id}
    if active is not None or standby is not None:
        fields |= {
            "active_tasks": task_ids(active or {}),
            "standby_tasks": task_ids(standby or {}),
            "warmup_tasks": [],
        }
    return Request(member_id=member_id, member_epoch=epoch, **{**fields, **more})


def held(answer: Any, kind: str = "active") -> dict[str, list[int]] | None:
    """The tasks that an answer assigns; None if it says nothing of them."""
    tasks = getattr(answer, f"{kind}_tasks")
    return None if tasks is None else {each.subtopology_id: each.partitions for each in tasks}


def statuses(answer: Any) -> list[tuple[int, str]]:
    return [(each.status_code, each.status_detail) for each in answer.status]


def describe_streams(client: Asker, *group_ids: str, operations: bool = False) -> list[Any]:
    """StreamsGroupDescribe of these groups."""
    request = StreamsGroupDescribeRequest(
        group_ids=[*group_ids], include_authorized_operations=operations
    )
    groups: list[Any] = client.ask(request, 0).groups
    return groups
