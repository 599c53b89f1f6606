"""OffsetDelete (47): forget what a group has committed for topics that it does not read (KIP-496).

Topics and partitions that do not exist are answered 3, and come first; what was never committed is
no error.
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
    refused: dict[str, Answered] = {}
    places: list[tuple[str, Answered.Partition]] = []
    for asked in request.topics:
        topic = cluster.topics.get(asked.name)
        count = 0 if topic is None else len(topic.partitions)
        if topic is None:
            refused.setdefault(asked.name, Answered(name=asked.name, partitions=[]))
        for partition in asked.partitions:
            place = Answered.Partition(partition_index=partition.partition_index)
            if 0 <= partition.partition_index < count:
                places.append((asked.name, place))
                continue
            place.error_code = Error.UNKNOWN_TOPIC_OR_PARTITION
            answer = refused.setdefault(asked.name, Answered(name=asked.name, partitions=[]))
            answer.partitions.append(place)
    wanted = [(name, place.partition_index) for name, place in places]
    try:
        errors = cluster.groups.delete_offsets(request.group_id, wanted)
    except Refused as error:
        return OffsetDeleteResponse(error_code=error.error, topics=[])
    answers = dict(refused)
    for (name, place), error_code in zip(places, errors, strict=True):
        place.error_code = error_code
        answers.setdefault(name, Answered(name=name, partitions=[])).partitions.append(place)
    return OffsetDeleteResponse(topics=list(answers.values()))
