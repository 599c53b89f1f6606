"""OffsetDelete (47): forget what a group has committed for topics that it does not read (KIP-496).

Topics and partitions that do not exist are answered 3, and come first; what was never committed is
no error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from ..base.call import Call
from .merging import merged
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

Answered = OffsetDeleteResponse.Topic


@handler(OffsetDeleteRequest)
def offset_delete(
    cluster: Cluster, call: Call, request: OffsetDeleteRequest
) -> OffsetDeleteResponse:
    refused: dict[str, Answered] = {}
    accepted: list[Answered] = []
    for asked in request.topics:
        topic = cluster.topics.get(asked.name)
        count = 0 if topic is None else len(topic.partitions)
        answer = Answered(name=asked.name, partitions=[])
        for partition in asked.partitions:
            place = Answered.Partition(partition_index=partition.partition_index)
            if 0 <= partition.partition_index < count:
                answer.partitions.append(place)
                continue
            place.error_code = Error.UNKNOWN_TOPIC_OR_PARTITION
            failed = refused.setdefault(asked.name, Answered(name=asked.name, partitions=[]))
            failed.partitions.append(place)
        if topic is None:
            refused.setdefault(asked.name, answer)
        elif answer.partitions:
            accepted.append(answer)
    places = [(answer.name, place) for answer in accepted for place in answer.partitions]
    wanted = [(name, place.partition_index) for name, place in places]
    try:
        errors = cluster.groups.at(call.node_id).offsets.delete(request.group_id, wanted)
    except Refused as error:
        return OffsetDeleteResponse(error_code=error.error, topics=[])
    for (_, place), code in zip(places, errors, strict=True):
        place.error_code = code
    return OffsetDeleteResponse(topics=merged(refused, accepted, _name))


def _name(answer: Answered) -> str:
    return answer.name
