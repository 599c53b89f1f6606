"""Topics that a broker does not serve yet, taken out of a request and put back into its answer.

Rules:
- The other topics of the request are served as ever.
- By id a topic that is not known is refused with UNKNOWN_TOPIC_ID, by name with
  UNKNOWN_TOPIC_OR_PARTITION.
- A fetch that names such a topic does not wait, and ends its session, as after a restart: the
  client begins another. So no session forgets what was taken out.
- Metadata, which may create topics, and DescribeTopicPartitions are asked as ever; their answers
  are changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from ...wire import NO_ID, Error, Request, Response
from ...wire.api.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from ...wire.api.fetch import FetchRequest, FetchResponse
from ...wire.api.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from ...wire.api.metadata import MetadataRequest, MetadataResponse
from ...wire.api.produce import ProduceRequest, ProduceResponse

ErrorOf: TypeAlias = Callable[[str, bytes], Error]
"""What a topic, by name or by id, is refused with now."""
Describing: TypeAlias = MetadataRequest | DescribeTopicPartitionsRequest
FINAL_EPOCH = -1


class Withheld(NamedTuple):
    """The answers for what was taken out of a request, and whether anything is left of it."""

    answers: list[Any]
    is_all: bool


NOTHING = Withheld([], False)


def withhold(request: Request, error_of: ErrorOf) -> Withheld:
    """Take out what is not served yet."""
    if isinstance(request, ProduceRequest):
        request.topic_data, refused = _split(request.topic_data, error_of)
        return Withheld([_produced(*each) for each in refused], not request.topic_data)
    if isinstance(request, ListOffsetsRequest):
        request.topics, refused = _split(request.topics, error_of)
        return Withheld([_listed(*each) for each in refused], not request.topics)
    if isinstance(request, FetchRequest):
        request.topics, refused = _split(request.topics, error_of)
        if refused:
            request.session_epoch, request.max_wait_ms = FINAL_EPOCH, 0
        return Withheld([_fetched(*each) for each in refused], False)
    return NOTHING


def put_back(response: Response | None, withheld: Withheld) -> None:
    """Add the answers for what was taken out."""
    if isinstance(response, ProduceResponse | FetchResponse):
        response.responses += withheld.answers
    elif isinstance(response, ListOffsetsResponse):
        response.topics += withheld.answers


def answer_for(request: Request, withheld: Withheld) -> Response:
    """The answer to a request of which nothing is left."""
    if isinstance(request, ProduceRequest):
        return ProduceResponse(responses=withheld.answers)
    return ListOffsetsResponse(topics=withheld.answers)


def hide(request: Describing, response: Response, error_of: ErrorOf) -> None:
    """Answer Metadata or DescribeTopicPartitions as if these topics were not there yet."""
    assert isinstance(response, MetadataResponse | DescribeTopicPartitionsResponse)
    answer: Any = response
    shown = []
    for topic in answer.topics:
        if error_of(topic.name or "", NO_ID) is not Error.UNKNOWN_TOPIC_OR_PARTITION:
            shown.append(topic)
        elif request.topics:
            by_name = any(asked.name == topic.name for asked in request.topics)
            shown.append(_unknown(topic, by_name))
    answer.topics = shown


def _unknown(topic: Any, by_name: bool) -> Any:
    if by_name:
        return type(topic)(
            error_code=Error.UNKNOWN_TOPIC_OR_PARTITION,
            name=topic.name,
            topic_id=NO_ID,
            is_internal=topic.is_internal,
            partitions=[],
        )
    return type(topic)(
        error_code=Error.UNKNOWN_TOPIC_ID, name=None, topic_id=topic.topic_id, partitions=[]
    )


def _split(topics: list[Any], error_of: ErrorOf) -> tuple[list[Any], list[tuple[Any, Error]]]:
    """What is served, and what is not with its error."""
    served, refused = [], []
    for topic in topics:
        name = getattr(topic, "name", "") or getattr(topic, "topic", "")
        topic_id = getattr(topic, "topic_id", NO_ID)
        error = error_of(name, topic_id)
        if not error:
            served.append(topic)
            continue
        if topic_id != NO_ID and error is Error.UNKNOWN_TOPIC_OR_PARTITION:
            error = Error.UNKNOWN_TOPIC_ID
        refused.append((topic, error))
    return served, refused


def _produced(topic: ProduceRequest.Topic, error: Error) -> ProduceResponse.Topic:
    Topic = ProduceResponse.Topic
    return Topic(
        name=topic.name,
        topic_id=topic.topic_id,
        partition_responses=[
            Topic.Partition(index=each.index, error_code=error, base_offset=-1)
            for each in topic.partition_data
        ],
    )


def _fetched(topic: FetchRequest.Topic, error: Error) -> FetchResponse.Topic:
    Topic = FetchResponse.Topic
    return Topic(
        topic=topic.topic,
        topic_id=topic.topic_id,
        partitions=[
            Topic.Partition(
                partition_index=each.partition, error_code=error, high_watermark=-1, records=b""
            )
            for each in topic.partitions
        ],
    )


def _listed(topic: ListOffsetsRequest.Topic, error: Error) -> ListOffsetsResponse.Topic:
    Topic = ListOffsetsResponse.Topic
    return Topic(
        name=topic.name,
        partitions=[
            Topic.Partition(partition_index=each.partition_index, error_code=error)
            for each in topic.partitions
        ],
    )
