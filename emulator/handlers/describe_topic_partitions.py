"""DescribeTopicPartitions (75): partitions of topics in the order of their names, page by page.

The cursor is where a page begins; topics before it are not looked at. A page ends after
`response_partition_limit` partitions (1 to `max.request.partition.size.limit`, 2000), topics that
fail not counted, and says where the next one begins (semantics I12). With topics named, the
cursor's must be among them.

A partition that nobody leads is no error here.
"""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, NamedTuple

from ...wire import NO_ID, Error
from ...wire.api.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from ..base.call import Call
from ..base.node import alive
from ..config.internal_topics import INTERNAL_TOPICS
from ..metadata.topic_rules import name_problem
from .metadata import TOPIC_OPERATIONS, placement
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..metadata.image import MetadataImage
    from ..partitions.partition import Topic

Answer = DescribeTopicPartitionsResponse.Topic
Cursor = DescribeTopicPartitionsResponse.Cursor


class Start(NamedTuple):
    """Where a page begins."""

    name: str
    partition: int


@handler(DescribeTopicPartitionsRequest)
def describe_topic_partitions(
    cluster: Cluster, call: Call, request: DescribeTopicPartitionsRequest
) -> DescribeTopicPartitionsResponse:
    asked = [topic.name for topic in request.topics]
    start = Start("", 0)
    if request.cursor is not None:
        start = Start(request.cursor.topic_name, request.cursor.partition_index)
        if start.partition < 0 or (asked and start.name not in asked):
            return _refused(asked, Error.INVALID_REQUEST)
    if "" in asked and request.cursor is None:
        return _refused(asked, Error.UNKNOWN_SERVER_ERROR)
    every = sorted(set(asked)) if asked else [topic.name for topic in cluster.topics]
    names = [name for name in every if name >= start.name]
    largest = cluster.config.get("max.request.partition.size.limit")
    left = min(max(request.response_partition_limit, 1), largest)
    able = alive(cluster.nodes)
    topics: list[Answer] = []
    for name in names:
        first = start.partition if name == start.name else 0
        if left == 0:
            return DescribeTopicPartitionsResponse(
                topics=topics, next_cursor=Cursor(topic_name=name, partition_index=first)
            )
        topic = cluster.topics.get(name)
        if topic is None:
            topics.append(_missing(name))
            continue
        answer = _found(cluster.metadata.image, topic, able, first, first + left)
        left -= len(answer.partitions)
        topics.append(answer)
        if first + len(answer.partitions) < len(topic.partitions):
            index = first + len(answer.partitions)
            return DescribeTopicPartitionsResponse(
                topics=topics, next_cursor=Cursor(topic_name=name, partition_index=index)
            )
    return DescribeTopicPartitionsResponse(topics=topics)


def _found(
    image: MetadataImage, topic: Topic, able: Container[int], first: int, end: int
) -> Answer:
    known = image.topics[topic.id].partitions
    partitions = []
    for partition in topic.partitions[first:end]:
        answer = Answer.Partition(
            **placement(partition, able),
            eligible_leader_replicas=known[partition.index].eligible_leaders,
            last_known_elr=known[partition.index].last_eligible_leaders,
        )
        answer.error_code = Error.NONE
        partitions.append(answer)
    return Answer(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.is_internal,
        partitions=partitions,
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def _missing(name: str) -> Answer:
    error = Error.UNKNOWN_TOPIC_OR_PARTITION
    if name_problem(name) is not None:
        error = Error.INVALID_TOPIC_EXCEPTION
    return Answer(
        error_code=error,
        name=name,
        topic_id=NO_ID,
        is_internal=name in INTERNAL_TOPICS,
        partitions=[],
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def _refused(asked: list[str], error: Error) -> DescribeTopicPartitionsResponse:
    return DescribeTopicPartitionsResponse(
        topics=[
            Answer(error_code=error, name=name, topic_id=NO_ID, partitions=[]) for name in asked
        ]
    )
