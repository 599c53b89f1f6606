"""OffsetCommit (8): remember how far a group has read.

Topics and partitions that do not exist are answered 3 (unknown ids: 100) and do not keep the others
from being stored. Topics with such partitions are answered first, and in a topic such partitions.
A member of a consumer group (KIP-848) commits with its epoch, in v9 or later.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from ..base.call import Call, Sentinel
from ..groups.group import CommitRequest, OffsetCommit
from .flushed_answers import once_commit_flushed
from .merging import merged
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..partitions.partition import Topic

Answered = OffsetCommitResponse.Topic
Partition = Answered.Partition


@handler(OffsetCommitRequest)
def offset_commit(
    cluster: Cluster, call: Call, request: OffsetCommitRequest
) -> OffsetCommitResponse | Sentinel:
    if call.version == 0 and not cluster.release.has_kraft:
        from .offsets_old import commit_old

        return commit_old(cluster, request)
    if call.version == 0:
        return _unsupported(cluster, request)
    if not cluster.release.has_members:
        from .offsets_old import commit_without_members

        return commit_without_members(cluster, call, request)
    refused: dict[bytes | str, Answered] = {}
    accepted: list[Answered] = []
    commits: list[OffsetCommit] = []
    places: list[Partition] = []
    for asked in request.topics:
        topic = _topic(cluster, call, asked)
        failed: list[Partition] = []
        stored: list[Partition] = []
        for partition in asked.partitions:
            answer = Partition(partition_index=partition.partition_index)
            error = _problem(topic, partition.partition_index, by_id=call.version >= 10)
            if topic is not None and not cluster.release.looks_for_partitions_of_offsets:
                error = Error.NONE
            if error:
                answer.error_code = error
                failed.append(answer)
                continue
            assert topic is not None
            stored.append(answer)
            places.append(answer)
            commits.append(_commit(topic, partition))
        if failed or topic is None:
            answer_ = Answered(name=asked.name, topic_id=asked.topic_id, partitions=[])
            refused.setdefault(_key(call, asked), answer_).partitions += failed
        if stored:
            accepted.append(Answered(name=asked.name, topic_id=asked.topic_id, partitions=stored))
    errors = _store(cluster, call, request, commits) if commits else []
    response = OffsetCommitResponse(topics=merged(refused, accepted, partial(_key, call)))
    return once_commit_flushed(cluster, call, response, request.group_id, places, errors)


def _unsupported(cluster: Cluster, request: OffsetCommitRequest) -> OffsetCommitResponse:
    """v0, whose offsets lay in ZooKeeper; that is found out where one partition is known."""
    error = Error.UNKNOWN_TOPIC_OR_PARTITION
    for topic in request.topics:
        known = cluster.topics.get(topic.name)
        if not all(_problem(known, p.partition_index, by_id=False) for p in topic.partitions):
            error = Error.UNSUPPORTED_VERSION
    return OffsetCommitResponse(
        topics=[
            Answered(
                name=topic.name,
                partitions=[
                    Partition(partition_index=p.partition_index, error_code=error)
                    for p in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _key(call: Call, topic: OffsetCommitRequest.Topic | Answered) -> bytes | str:
    return topic.topic_id if call.version >= 10 else topic.name


def _topic(cluster: Cluster, call: Call, asked: OffsetCommitRequest.Topic) -> Topic | None:
    if call.version >= 10:
        return cluster.topics.by_id(asked.topic_id)
    return cluster.topics.get(asked.name)


def _problem(topic: Topic | None, index: int, by_id: bool) -> Error:
    if topic is None and by_id:
        return Error.UNKNOWN_TOPIC_ID
    if topic is None or not 0 <= index < len(topic.partitions):
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    return Error.NONE


def _commit(topic: Topic, partition: OffsetCommitRequest.Topic.Partition) -> OffsetCommit:
    return OffsetCommit(
        topic.name,
        partition.partition_index,
        partition.committed_offset,
        partition.committed_leader_epoch,
        partition.committed_metadata,
        topic.id,
        partition.commit_timestamp,
    )


def _store(
    cluster: Cluster, call: Call, request: OffsetCommitRequest, commits: list[OffsetCommit]
) -> list[Error]:
    try:
        return cluster.groups.at(call.node_id).offsets.commit(
            request.group_id,
            CommitRequest(
                version=call.version,
                member_id=request.member_id,
                instance_id=request.group_instance_id,
                generation=request.generation_id_or_member_epoch,
                commits=commits,
                retention_ms=request.retention_time_ms,
            ),
        )
    except Refused as refused:
        return [refused.error] * len(commits)
