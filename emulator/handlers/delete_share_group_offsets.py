"""DeleteShareGroupOffsets (92): forget where a share group without members is in topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ...wire import NO_ID, Error, Refused
from ...wire.api.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
)
from ..base.call import UNSUPPORTED_VERSION_TEXT, Call
from .modern_groups import has_share_groups
from .registry import handler
from .share_group_offsets import sentence_of

if TYPE_CHECKING:
    from ..cluster import Cluster

Response: TypeAlias = DeleteShareGroupOffsetsResponse


@handler(DeleteShareGroupOffsetsRequest)
def delete_share_group_offsets(
    cluster: Cluster, call: Call, request: DeleteShareGroupOffsetsRequest
) -> DeleteShareGroupOffsetsResponse:
    if not has_share_groups(cluster):
        error = Refused(Error.UNSUPPORTED_VERSION, UNSUPPORTED_VERSION_TEXT)
        return Response(error_code=error.error, error_message=error.message, responses=[])
    names = [topic.topic_name for topic in request.topics]
    if not names and not cluster.release.alters_share_offsets:
        return Response(responses=[])
    try:
        deleted = cluster.groups.at(call.node_id).share.delete_offsets(request.group_id, names)
    except Refused as refused:
        return Response(error_code=refused.error, error_message=sentence_of(refused), responses=[])
    return Response(
        responses=[
            Response.Topic(
                topic_name=each.name,
                topic_id=each.topic_id or NO_ID,
                error_code=each.error,
                error_message=each.message,
            )
            for each in deleted
        ]
    )
