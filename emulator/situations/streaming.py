"""Streams groups (KIP-1071): tasks that move, internal topics that are missing, topologies that
change."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...wire import Error, Refused, Response
from ...wire.api.streams_group_heartbeat import StreamsGroupHeartbeatResponse
from ..base.call import Call
from ..control.rules.verbs.noticing import Notice
from ..facets.rule_view import RuleView
from ..groups.streams.states import StatusCode
from ..groups.streams.tasks import TaskId
from ..seen import SeenMember, StreamsGroupView
from .expiring import one_member

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..groups.streams.calls import StreamsCalls
    from .situated import Situated

_API = "StreamsGroupHeartbeat"
_NEVER_MS = 1 << 62


def task_id(text: str) -> TaskId:
    """A task as Kafka Streams writes it, "0_1". Raises ValueError, TypeError."""
    if not isinstance(text, str):
        raise TypeError(f'a task is written as "0_1", not {text!r}')
    name, _, number = text.rpartition("_")
    if not name or not number.isdecimal():
        raise ValueError(f'a task is its subtopology and its partition, as "0_1", not {text!r}')
    return TaskId(name, int(number))


def warmed_up(
    kafka: Situated, group: StreamsGroupView, task: TaskId, wanted: SeenMember | str | None
) -> tuple[RuleView, Callable[[], None]]:
    """A member gets a task as a standby. Returns what counts how often it was told so, and what has
    it become the active one. Raises Refused, ValueError."""
    member_id = one_member(group, wanted).member_id
    _move(kafka, group, task, member_id, warms_up=True)

    def is_told(_: Call, response: Response) -> bool:
        return isinstance(response, StreamsGroupHeartbeatResponse) and any(
            each.subtopology_id == task.subtopology and task.partition in each.partitions
            for each in response.standby_tasks or ()
        )

    when = kafka.on(_API, group=group.group_id, member=member_id)
    told = when._set("warms up", Notice(is_told))
    return told, lambda: _move(kafka, group, task, member_id, warms_up=False)


def _move(
    kafka: Situated, group: StreamsGroupView, task: TaskId, member_id: str, *, warms_up: bool
) -> None:
    def move(cluster: Cluster) -> None:
        streams = _calls(cluster, group.group_id)
        streams.move_task(streams.group(group.group_id), task, member_id, warms_up=warms_up)

    kafka.run(move)


def topics_missing(
    kafka: Situated, group: StreamsGroupView, sentence: str
) -> tuple[RuleView, Callable[[], None]]:
    """Delete a group's internal topics, and have them not created. Returns what counts the answers
    that say so, and what lets them be created. Raises ValueError if there are none."""
    wanted = {name for each in group.topology for name in each.topics}
    wanted -= {name for each in group.topology for name in each.source_topics}
    there = sorted(wanted.intersection(kafka.topics()))
    if not there:
        raise ValueError(f"{group!r} has no internal topics that could be missing")

    def until(when: int) -> None:
        def note(cluster: Cluster) -> None:
            for node_id in cluster.brokers:
                for name in there:
                    errors = cluster.groups.at(node_id).streams.creation_errors
                    errors.put(name, sentence, when)

        kafka.run(note)

    until(_NEVER_MS)
    for name in there:
        kafka.delete_topic(name)

    def is_told(_: Call, response: Response) -> bool:
        return isinstance(response, StreamsGroupHeartbeatResponse) and any(
            each.status_code == StatusCode.MISSING_INTERNAL_TOPICS for each in response.status or ()
        )

    rule = kafka.on(_API, group=group.group_id)._set("missing", Notice(is_told))
    return rule, lambda: until(-_NEVER_MS)


def newer_topology(kafka: Situated, group: StreamsGroupView) -> int:
    """Raise the epoch of a group's topology; return it. Raises Refused."""

    def change(cluster: Cluster) -> int:
        streams = _calls(cluster, group.group_id)
        return streams.raise_topology_epoch(streams.group(group.group_id))

    return kafka.run(change)


def _calls(cluster: Cluster, group_id: str) -> StreamsCalls:
    try:
        return cluster.groups.at(cluster.groups.leader_of(group_id)).streams
    except Refused as refused:
        text = f"there is no streams group {group_id!r}"
        raise Refused(Error.GROUP_ID_NOT_FOUND, text) from refused
