"""AlterShareGroupOffsets (91): set where a share group without members begins (semantics N21, N22).

Offsets are not compared with the log. A partition whose leader has the group's state already
notices only when it writes that again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ...wire import NO_ID, Error, Refused
from ...wire.api.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
)
from ..base.call import UNSUPPORTED_VERSION_TEXT, Call
from .modern_groups import has_share_groups
from .registry import handler
from .share_group_offsets import sentence_of

if TYPE_CHECKING:
    from ..cluster import Cluster

Response: TypeAlias = AlterShareGroupOffsetsResponse


@handler(AlterShareGroupOffsetsRequest)
def alter_share_group_offsets(
    cluster: Cluster, call: Call, request: AlterShareGroupOffsetsRequest
) -> AlterShareGroupOffsetsResponse:
    if not has_share_groups(cluster):
        error = Refused(Error.UNSUPPORTED_VERSION, UNSUPPORTED_VERSION_TEXT)
        return Response(error_code=error.error, error_message=error.message, responses=[])
    named: dict[str, list[tuple[int, int]]] = {}
    for each in request.topics:
        offsets = [(part.partition_index, part.start_offset) for part in each.partitions]
        named.setdefault(each.topic_name, []).extend(offsets)
    if not cluster.release.alters_share_offsets:
        return _unknown(cluster, named)
    wanted = [(name, dict(offsets)) for name, offsets in named.items()]
    try:
        answers = cluster.groups.at(call.node_id).share.alter_offsets(request.group_id, wanted)
    except Refused as refused:
        return Response(error_code=refused.error, error_message=sentence_of(refused), responses=[])
    # What is unknown comes first, and not at all if no partition of it was named.
    unknown: list[Response.Topic] = []
    known: list[Response.Topic] = []
    for (name, offsets), altered in zip(named.items(), answers, strict=True):
        topic = cluster.topics.get(name)
        if topic is None and not offsets:
            continue
        found = {each.partition: each for each in altered}
        (unknown if topic is None else known).append(
            Response.Topic(
                topic_name=name,
                topic_id=NO_ID if topic is None else topic.id,
                partitions=[
                    Response.Topic.Partition(
                        partition_index=index,
                        error_code=found[index].error,
                        error_message=found[index].message,
                    )
                    for index, _ in offsets
                ],
            )
        )
    return Response(responses=unknown + known)


def _unknown(cluster: Cluster, named: Mapping[str, Sequence[tuple[int, int]]]) -> Response:
    """All that a broker of 4.1 answers, by a defect: it alters nothing."""
    part = partial(
        Response.Topic.Partition,
        error_code=Error.UNKNOWN_TOPIC_OR_PARTITION,
        error_message="This server does not host this topic-partition.",
    )
    return Response(
        responses=[
            Response.Topic(
                topic_name=name,
                topic_id=NO_ID,
                partitions=[part(partition_index=index) for index, _ in offsets],
            )
            for name, offsets in named.items()
            if offsets and cluster.topics.get(name) is None
        ]
    )
