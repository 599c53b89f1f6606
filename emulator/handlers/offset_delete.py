"""OffsetDelete (47): forget what a group has committed for topics that it does not read (KIP-496).

Topics and partitions that do not exist are answered 3 and come first, as with OffsetCommit; what
was never committed is no error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from ..dispatch import Call, handles

if TYPE_CHECKING:
    from ..cluster import Cluster

Answered = OffsetDeleteResponse.Topic


@handles(OffsetDeleteRequest)
def offset_delete(
    cluster: Cluster, call: Call, request: OffsetDeleteRequest
) -> OffsetDeleteResponse:
    wanted: list[tuple[str, int]] = []
    answers: list[Answered] = []
    places: list[Answered.Partition] = []
    for asked in request.topics:
        topic = cluster.topics.get(asked.name)
        answer = Answered(name=asked.name, partitions=[])
        for partition in asked.partitions:
            index = partition.partition_index
            place = Answered.Partition(partition_index=index)
            answer.partitions.append(place)
            if topic is None or not 0 <= index < len(topic.partitions):
                place.error_code = Error.UNKNOWN_TOPIC_OR_PARTITION
            else:
                wanted.append((asked.name, index))
                places.append(place)
        answers.append(answer)
    try:
        errors = cluster.groups.delete_offsets(request.group_id, wanted)
    except Refused as refused:
        return OffsetDeleteResponse(error_code=refused.error, topics=[])
    for place, error in zip(places, errors, strict=True):
        place.error_code = error
    return OffsetDeleteResponse(topics=answers)
