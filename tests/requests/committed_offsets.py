"""Offsets of groups: OffsetCommit and OffsetFetch."""

from __future__ import annotations

from typing import Any

from odradek.wire import NO_ID, Error
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest, OffsetFetchResponse

from tests.requests.asker import Asker

Topic = OffsetCommitRequest.Topic
Committed = OffsetFetchResponse.Group.Topic.Partition | OffsetFetchResponse.Topic.Partition


def commit_all(
    *offsets: tuple[str, int, int], group: str = "g", metadata: str | None = "", **more: Any
) -> OffsetCommitRequest:
    """A request to commit offsets of several partitions: topic, partition and offset each."""
    topics = [
        Topic(
            name=name,
            partitions=[
                Topic.Partition(
                    partition_index=index, committed_offset=at, committed_metadata=metadata
                )
            ],
        )
        for name, index, at in offsets
    ]
    return OffsetCommitRequest(group_id=group, topics=topics, **more)


def commit_request(
    offset: int, topic: str = "t", partition: int = 0, *, topic_id: bytes = NO_ID, **more: Any
) -> OffsetCommitRequest:
    """A request to commit the offset of one partition; the version takes its topic's name or id."""
    request = commit_all((topic, partition, offset), **more)
    request.topics[0].topic_id = topic_id
    return request


def commit(client: Asker, offset: int, *, version: int = 8, **more: Any) -> Error:
    """Commit the offset of one partition (t-0 for group g unless told otherwise)."""
    answer = client.ask(commit_request(offset, **more), version)
    return Error(answer.topics[0].partitions[0].error_code)


def offset_fetch_request(
    topic: str = "t",
    partition: int = 0,
    *,
    group: str = "g",
    topic_id: bytes = NO_ID,
    **more: Any,
) -> OffsetFetchRequest:
    """A request for what a group committed for one partition, in the forms of all versions."""
    Group = OffsetFetchRequest.Group
    old = OffsetFetchRequest.Topic(name=topic, partition_indexes=[partition])
    new = Group.Topic(name=topic, topic_id=topic_id, partition_indexes=[partition])
    groups = [Group(group_id=group, topics=[new])]
    return OffsetFetchRequest(group_id=group, topics=[old], groups=groups, **more)


def committed(client: Asker, *, version: int = 9, **more: Any) -> Committed:
    """What a group committed for one partition (group g and t-0 unless told otherwise)."""
    answer = client.ask(offset_fetch_request(**more), version)
    topics = answer.topics if version < 8 else answer.groups[0].topics
    found: Committed = topics[0].partitions[0]
    return found
