"""Groups of consumers and of Kafka Streams: the list, their members, their committed offsets.

A member of a streams group has the partitions of its active tasks, by the topics that those read.

Share groups (KIP-932) as `odradek groups` shows them: members, start offsets, lag.

Where a share group (KIP-932) begins: set by `odradek groups reset`, deleted by `forget`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ....wire import WireError
from ....wire.api.alter_share_group_offsets import AlterShareGroupOffsetsRequest
from ....wire.api.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from ....wire.api.delete_share_group_offsets import DeleteShareGroupOffsetsRequest
from ....wire.api.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from ....wire.api.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from ....wire.api.list_groups import ListGroupsRequest
from ....wire.api.offset_commit import OffsetCommitRequest
from ....wire.api.offset_fetch import OffsetFetchRequest
from ....wire.api.share_group_describe import (
    ShareGroupDescribeRequest,
)
from ....wire.api.streams_group_describe import (
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)
from ....wire.stored.consumer_protocol import ConsumerProtocolAssignment
from ....wire.stored.keyed import read_value
from .client import Brokers, ConsoleError, check
from .offsets import Place

CLASSIC = "classic"
CONSUMER = "consumer"
SHARE = "share"
STREAMS = "streams"
DEAD = "Dead"
"""The state of a group that does not exist."""
_BY_NAME_UP_TO = 9  # OffsetFetch
NO_SUCH_GROUP = 69


@dataclass(frozen=True)
class Member:
    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    assigned: dict[str, list[int]]


@dataclass(frozen=True)
class Group:
    """A group in its current state; `how` is its protocol or assignor."""

    kind: str
    state: str
    how: str
    members: list[Member] = field(default_factory=list)


@dataclass(frozen=True)
class Listed:
    """A group's entry in the list of groups."""

    kind: str
    state: str


def list_groups(brokers: Brokers) -> dict[str, Listed]:
    """Every group by name, in order. Raises ConsoleError."""
    found: dict[str, Listed] = {}
    for node in brokers.nodes:
        answer = brokers.ask(ListGroupsRequest(), node=node)
        check(answer.error_code, "the list of groups")
        for group in answer.groups:
            kind = group.group_type.lower() or CLASSIC  # none before ListGroups v5
            found[group.group_id] = Listed(kind, group.group_state)
    return dict(sorted(found.items()))


def describe(brokers: Brokers, name: str, listed: Listed | None) -> Group:
    """A group, whose type `listed` tells; Dead if there is none. Raises ConsoleError.

    A group of another type has no members here: they are not consumers.
    """
    if listed is not None and listed.kind == STREAMS:
        return _streams_group(brokers, name)
    if listed is not None and listed.kind not in (CLASSIC, CONSUMER):
        return Group(listed.kind, listed.state, "")
    if listed is not None and listed.kind == CONSUMER:
        request = ConsumerGroupDescribeRequest(
            group_ids=[name], include_authorized_operations=False
        )
        (new,) = brokers.ask_coordinator(name, request).groups
        if new.error_code == NO_SUCH_GROUP:  # not any more
            return Group(CONSUMER, DEAD, "")
        check(new.error_code, f"group {name}", new.error_message)
        members = [_member(member) for member in new.members]
        return Group(CONSUMER, new.group_state, new.assignor_name, members)
    (group,) = brokers.ask_coordinator(name, DescribeGroupsRequest(groups=[name])).groups
    if group.error_code != NO_SUCH_GROUP:
        check(group.error_code, f"group {name}", group.error_message)
    classic = [_classic_member(member) for member in group.members]
    return Group(CLASSIC, group.group_state, group.protocol_data, classic)


def _streams_group(brokers: Brokers, name: str) -> Group:
    request = StreamsGroupDescribeRequest(group_ids=[name], include_authorized_operations=False)
    (group,) = brokers.ask_coordinator(name, request).groups
    if group.error_code == NO_SUCH_GROUP:  # not any more
        return Group(STREAMS, DEAD, "")
    check(group.error_code, f"group {name}", group.error_message)
    read = {
        each.subtopology_id: [
            *each.source_topics,
            *(topic.name for topic in each.repartition_source_topics),
        ]
        for each in group.topology.subtopologies
    }
    members = [_streams_member(member, read) for member in group.members]
    return Group(STREAMS, group.group_state, "", members)


def _streams_member(
    member: StreamsGroupDescribeResponse.Group.Member, read: dict[str, list[str]]
) -> Member:
    assigned: dict[str, list[int]] = {}
    for tasks in member.assignment.active_tasks:
        topics = read.get(tasks.subtopology_id, ())
        assigned |= {topic: list(tasks.partitions) for topic in topics}
    identity = member.member_id, member.instance_id, member.client_id, member.client_host
    return Member(*identity, assigned)


def _member(member: ConsumerGroupDescribeResponse.Group.Member) -> Member:
    assigned = {
        topic.topic_name: list(topic.partitions) for topic in member.assignment.topic_partitions
    }
    identity = member.member_id, member.instance_id, member.client_id, member.client_host
    return Member(*identity, assigned)


def _classic_member(member: DescribeGroupsResponse.Group.Member) -> Member:
    assigned: dict[str, list[int]] = {}
    if member.member_assignment:
        try:
            found, _ = read_value(ConsumerProtocolAssignment, member.member_assignment, newer=True)
            assigned = {t.topic: list(t.partitions) for t in found.assigned_partitions}
        except WireError:
            assigned = {}  # not a group of consumers: its assignments have another format
    identity = member.member_id, member.group_instance_id, member.client_id, member.client_host
    return Member(*identity, assigned)


def committed(brokers: Brokers, name: str) -> dict[Place, int]:
    """The offsets a group has committed. Raises ConsoleError."""
    request = OffsetFetchRequest(
        group_id=name,
        topics=None,
        groups=[OffsetFetchRequest.Group(group_id=name, topics=None)],
    )
    answer = brokers.ask_coordinator(name, request, most=_BY_NAME_UP_TO)
    group = answer.groups[0] if answer.groups else answer
    check(group.error_code, f"group {name}")
    return {
        (topic.name, part.partition_index): part.committed_offset
        for topic in group.topics
        for part in topic.partitions
        if part.committed_offset >= 0
    }


def commit_request(group: str, offsets: Mapping[Place, int]) -> OffsetCommitRequest:
    """Of nobody: for a group without members."""
    topics: dict[str, OffsetCommitRequest.Topic] = {}
    for (name, index), offset in offsets.items():
        topic = topics.setdefault(name, OffsetCommitRequest.Topic(name=name, partitions=[]))
        topic.partitions.append(
            OffsetCommitRequest.Topic.Partition(
                partition_index=index, committed_offset=offset, committed_metadata=""
            )
        )
    return OffsetCommitRequest(group_id=group, topics=list(topics.values()))


def owners(group: Group) -> dict[Place, str]:
    return {
        (topic, index): member.member_id
        for member in group.members
        for topic, indexes in member.assigned.items()
        for index in indexes
    }


UNKNOWN = -1
"""An offset, or a lag, of which nothing is known: nothing was acknowledged there yet."""


def describe_shares(brokers: Brokers, name: str) -> Group:
    """A share group; Dead if it is gone. Raises ConsoleError."""
    request = ShareGroupDescribeRequest(group_ids=[name], include_authorized_operations=False)
    (group,) = brokers.ask_coordinator(name, request).groups
    if group.error_code == NO_SUCH_GROUP:
        return Group(SHARE, DEAD, "")
    check(group.error_code, f"group {name}", group.error_message)
    members = [
        Member(
            *(each.member_id, None, each.client_id, each.client_host),
            {
                topic.topic_name: list(topic.partitions)
                for topic in each.assignment.topic_partitions
            },
        )
        for each in group.members
    ]
    return Group(SHARE, group.group_state, group.assignor_name, members)


def share_offsets(brokers: Brokers, name: str) -> dict[Place, tuple[int, int]]:
    """By partition where the group begins, and its lag; UNKNOWN where nothing was acknowledged.
    Raises ConsoleError."""
    asked = DescribeShareGroupOffsetsRequest.Group(group_id=name, topics=None)
    request = DescribeShareGroupOffsetsRequest(groups=[asked])
    (group,) = brokers.ask_coordinator(name, request).groups
    check(group.error_code, f"group {name}", group.error_message)
    return {
        (topic.topic_name, each.partition_index): (each.start_offset, each.lag)
        for topic in group.topics
        for each in topic.partitions
        if not each.error_code
    }


def set_starts(brokers: Brokers, name: str, offsets: Mapping[Place, int]) -> None:
    """Have a group without members begin at these offsets. Raises ConsoleError."""
    topics: dict[str, AlterShareGroupOffsetsRequest.Topic] = {}
    for (topic, index), offset in offsets.items():
        new = AlterShareGroupOffsetsRequest.Topic(topic_name=topic, partitions=[])
        part = AlterShareGroupOffsetsRequest.Topic.Partition(
            partition_index=index, start_offset=offset
        )
        topics.setdefault(topic, new).partitions.append(part)
    request = AlterShareGroupOffsetsRequest(group_id=name, topics=list(topics.values()))
    answer = brokers.ask_coordinator(name, request)
    check(answer.error_code, f"group {name}", answer.error_message)
    for found in answer.responses:
        for part in found.partitions:
            place = f"{found.topic_name}-{part.partition_index}"
            check(part.error_code, place, part.error_message)


def forget_starts(brokers: Brokers, name: str, wanted: Iterable[tuple[str, int | None]]) -> None:
    """Delete what a group without members has of these topics. Raises ConsoleError, also for one
    partition: Kafka deletes what a share group has of a whole topic."""
    topics = []
    for topic, index in wanted:
        if index is not None:
            raise ConsoleError(
                f"{topic}:{index}: a share group forgets whole topics; name it as {topic}"
            )
        topics.append(DeleteShareGroupOffsetsRequest.Topic(topic_name=topic))
    request = DeleteShareGroupOffsetsRequest(group_id=name, topics=topics)
    answer = brokers.ask_coordinator(name, request)
    check(answer.error_code, f"group {name}", answer.error_message)
    for found in answer.responses:
        check(found.error_code, f"topic {found.topic_name}", found.error_message)
