"""Streams groups (KIP-1071): topologies, heartbeats, descriptions, configs.

    Ask(stream_enter("a", words()))                joins with the topology of a word count
    Ask(stream_beat("a", 2, active=[("0", [0])]))  reports which tasks the member has

Topics of a topology are the sequence's own: both brokers create the internal ones under one name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from odradek.wire.api.streams_group_describe import StreamsGroupDescribeRequest
from odradek.wire.api.streams_group_heartbeat import StreamsGroupHeartbeatRequest

from tests.requests.configs import change_request

from ..engine.steps import Ask, Sleep, Steps, seen
from .consumer_groups import SETTLED_S, known_topic
from .groups import FAR_MS

CREATED_S = 4 * SETTLED_S
"""How long a real coordinator takes at most to create internal topics and to learn of them."""
LEAVES = -1
STALE, NO_SOURCES, WRONG_COUNTS, NO_INTERNAL, SHUTDOWN, DELAYED = range(6)
"""Codes of the statuses in an answer to a heartbeat."""
_GROUP = 32

Tasks = Sequence[tuple[str, list[int]]] | Any
"""Partitions by subtopology; or what was seen in an earlier answer."""
Topology = StreamsGroupHeartbeatRequest.Topology
Subtopology = Topology.Subtopology
TopicInfo = StreamsGroupHeartbeatRequest.TopicInfo
_Pair = StreamsGroupHeartbeatRequest.KeyValue


def internal(name: str, partitions: int = 0, replication: int = 0, **configs: str) -> TopicInfo:
    """A repartition or changelog topic; 0 leaves the number to the broker."""
    pairs = [_Pair(key=key.replace("_", "."), value=value) for key, value in configs.items()]
    return TopicInfo(
        name=name, partitions=partitions, replication_factor=replication, topic_configs=pairs
    )


def subtopology(
    id: str,
    *sources: str,
    reads: Sequence[TopicInfo] = (),
    writes: Sequence[str] = (),
    changelogs: Sequence[TopicInfo] = (),
    together: Iterable[tuple[Sequence[int], Sequence[int]]] = (),
    patterns: Sequence[str] = (),
) -> Subtopology:
    """One subtopology. `reads` and `writes` are repartition topics; `together` has the groups of
    copartitioned topics: places in `sources`, and in `reads`."""
    group = Subtopology.CopartitionGroup
    return Subtopology(
        subtopology_id=id,
        source_topics=[*sources],
        source_topic_regex=[*patterns],
        state_changelog_topics=[*changelogs],
        repartition_sink_topics=[*writes],
        repartition_source_topics=[*reads],
        copartition_groups=[
            group(source_topics=[*one], source_topic_regex=[], repartition_source_topics=[*other])
            for one, other in together
        ],
    )


def topology(*subtopologies: Subtopology, epoch: int = 0) -> Topology:
    """What a member says its application consists of."""
    return Topology(epoch=epoch, subtopologies=[*subtopologies])


def plain(*sources: str, epoch: int = 0) -> Topology:
    """One subtopology without state."""
    return topology(subtopology("0", *(sources or ("~t",))), epoch=epoch)


def stateful(*sources: str, epoch: int = 0) -> Topology:
    """One subtopology with a store."""
    one = subtopology("0", *(sources or ("~t",)), changelogs=[internal("~store-changelog")])
    return topology(one, epoch=epoch)


def words(partitions: int = 0, epoch: int = 0) -> Topology:
    """Two subtopologies with a repartition topic between them; the second has a store."""
    by_word = internal("~words-repartition", partitions, cleanup_policy="delete")
    counts = internal("~counts-changelog", cleanup_policy="compact")
    return topology(
        subtopology("0", "~t", writes=["~words-repartition"]),
        subtopology("1", reads=[by_word], changelogs=[counts]),
        epoch=epoch,
    )


def stream_beat(
    member: str = "a",
    epoch: int = 1,
    *,
    active: Tasks = None,
    standby: Tasks = None,
    group: str = "~g",
    **more: Any,
) -> StreamsGroupHeartbeatRequest:
    """A heartbeat with only the fields that are given. Who reports active tasks or standbys reports
    tasks of all kinds."""
    fields: dict[str, Any] = {"endpoint_information_epoch": 0}
    if active is not None or standby is not None:
        fields["active_tasks"] = _tasks(active or [])
        fields["standby_tasks"] = _tasks(standby or [])
        fields["warmup_tasks"] = []
    names = {
        "timeout_ms": "rebalance_timeout_ms",
        "rack": "rack_id",
        "process": "process_id",
        "instance": "instance_id",
        "known": "endpoint_information_epoch",
        "shutdown": "shutdown_application",
    }
    for name, value in more.items():
        if name == "tags":
            fields["client_tags"] = [_Pair(key=key, value=each) for key, each in value.items()]
        elif name == "endpoint":
            host, port = value
            fields["user_endpoint"] = StreamsGroupHeartbeatRequest.Endpoint(host=host, port=port)
        else:
            fields[names.get(name, name)] = value
    return StreamsGroupHeartbeatRequest(
        group_id=group, member_id=member, member_epoch=epoch, **fields
    )


def _tasks(tasks: Tasks) -> Any:
    kind = StreamsGroupHeartbeatRequest.TaskIds
    if not isinstance(tasks, list | tuple):
        return tasks
    return [kind(subtopology_id=id, partitions=those) for id, those in tasks]


def stream_enter(
    member: str = "a", sent: Topology | None = None, **more: Any
) -> StreamsGroupHeartbeatRequest:
    """A heartbeat that joins, by default with one subtopology that reads "~t", in a process of the
    member's own."""
    fields: dict[str, Any] = {
        "active": [],
        "topology": sent or plain(),
        "timeout_ms": FAR_MS,
        "process": f"p-{member}",
        "tags": {},
    }
    return stream_beat(member, 0, **(fields | more))


def stream_depart(member: str = "a", epoch: int = LEAVES, **more: Any) -> Any:
    return stream_beat(member, epoch, **more)


def describe_streams(*groups: str) -> StreamsGroupDescribeRequest:
    """StreamsGroupDescribe."""
    return StreamsGroupDescribeRequest(
        group_ids=list(groups or ("~g",)), include_authorized_operations=True
    )


def streams_config(group: str = "~g", **configs: str | None) -> Ask:
    """Set configs of a group, "streams." left out, with _ for dots; None removes one."""
    changes = [
        (f"streams.{name.replace('_', '.')}", 0 if value is not None else 1, value)
        for name, value in configs.items()
    ]
    return Ask(change_request((_GROUP, group, changes)))


def streams_group(partitions: int = 2, sent: Topology | None = None, **more: Any) -> Steps:
    """A topic "~t" and a group "~g", of which member a has all tasks: in epoch 2, or in epoch 3 if
    there are internal topics."""
    sent = sent or plain()
    steps = [*known_topic("~t", partitions), Ask(stream_enter("a", sent, **more))]
    if any(
        each.repartition_source_topics or each.state_changelog_topics for each in sent.subtopologies
    ):
        steps += [Sleep(CREATED_S), Ask(stream_beat("a", 2))]
    return steps


def enters(member: str, sent: Topology | None = None, **more: Any) -> Ask:
    """A join that keeps the member's epoch and tasks."""
    return Ask(stream_enter(member, sent, **more), keep=_kept(member))


def tells(member: str, **more: Any) -> Ask:
    """A heartbeat of a member that has what it was assigned last."""
    tasks = {"active": seen(f"active {member}", []), "standby": seen(f"standby {member}", [])}
    request = stream_beat(member, seen(f"epoch {member}", 1), **tasks, **more)
    return Ask(request, keep=_kept(member))


def _kept(member: str) -> dict[str, str]:
    return {
        f"epoch {member}": "member_epoch",
        f"active {member}": "active_tasks",
        f"standby {member}": "standby_tasks",
    }


def rounds(*members: str, times: int = 3) -> Steps:
    """Every member tells what it has, so many times: enough for all to be reconciled."""
    return [tells(member) for _ in range(times) for member in members]
