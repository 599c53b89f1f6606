"""Share groups (KIP-932): what members of group g ask, unless told otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from odradek.wire.api.share_acknowledge import ShareAcknowledgeRequest, ShareAcknowledgeResponse
from odradek.wire.api.share_fetch import ShareFetchRequest, ShareFetchResponse
from odradek.wire.api.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)

from tests.requests.asker import Asker

JOINS, LEAVES = 0, -1
GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
Acks = Sequence[tuple[int, int, Sequence[int]]]
"""First and last offset, and types, of each batch."""
Parts = Mapping[tuple[bytes, int], Acks]


def share_beat(
    client: Asker, member_id: str = "a", epoch: int = JOINS, **more: Any
) -> ShareGroupHeartbeatResponse:
    """The answer to a heartbeat; in epoch 0 it names topic t."""
    fields: dict[str, Any] = {"group_id": "g"}
    if epoch == JOINS:
        fields["subscribed_topic_names"] = ["t"]
    request = ShareGroupHeartbeatRequest(
        member_id=member_id, member_epoch=epoch, **{**fields, **more}
    )
    answer: ShareGroupHeartbeatResponse = client.ask(request, 1)
    return answer


def share_fetch_request(
    parts: Parts | None = None,
    epoch: int = 0,
    member_id: str | None = "a",
    *,
    forgotten: Mapping[bytes, Sequence[int]] | None = None,
    **more: Any,
) -> ShareFetchRequest:
    """A fetch of these partitions, which acknowledges these batches; it does not wait."""
    topics: dict[bytes, ShareFetchRequest.Topic] = {}
    for (topic_id, index), acks in (parts or {}).items():
        topic = topics.setdefault(
            topic_id, ShareFetchRequest.Topic(topic_id=topic_id, partitions=[])
        )
        kind = ShareFetchRequest.Topic.Partition
        batches = [
            kind.AcknowledgementBatch(first_offset=f, last_offset=la, acknowledge_types=[*t])
            for f, la, t in acks
        ]
        topic.partitions.append(kind(partition_index=index, acknowledgement_batches=batches))
    fields: dict[str, Any] = {
        "group_id": "g",
        "max_wait_ms": 0,
        "min_bytes": 0,
        "max_records": 500,
        "batch_size": 500,
    }
    gone = [
        ShareFetchRequest.ForgottenTopic(topic_id=topic_id, partitions=[*indexes])
        for topic_id, indexes in (forgotten or {}).items()
    ]
    return ShareFetchRequest(
        member_id=member_id,
        share_session_epoch=epoch,
        topics=[*topics.values()],
        forgotten_topics_data=gone,
        **{**fields, **more},
    )


def share_fetch(
    client: Asker,
    parts: Parts | None = None,
    epoch: int = 0,
    member_id: str | None = "a",
    *,
    version: int = 2,
    **more: Any,
) -> ShareFetchResponse:
    request = share_fetch_request(parts, epoch, member_id, **more)
    answer: ShareFetchResponse = client.ask(request, version)
    return answer


def share_acknowledge(
    client: Asker,
    parts: Parts,
    epoch: int,
    member_id: str | None = "a",
    *,
    version: int = 2,
    **more: Any,
) -> ShareAcknowledgeResponse:
    """The answer to acknowledgements of these batches."""
    request = share_acknowledge_request(parts, epoch, member_id, **more)
    answer: ShareAcknowledgeResponse = client.ask(request, version)
    return answer


def share_acknowledge_request(
    parts: Parts, epoch: int, member_id: str | None = "a", **more: Any
) -> ShareAcknowledgeRequest:
    topics: dict[bytes, ShareAcknowledgeRequest.Topic] = {}
    for (topic_id, index), acks in parts.items():
        topic = topics.setdefault(
            topic_id, ShareAcknowledgeRequest.Topic(topic_id=topic_id, partitions=[])
        )
        kind = ShareAcknowledgeRequest.Topic.Partition
        batches = [
            kind.AcknowledgementBatch(first_offset=f, last_offset=la, acknowledge_types=[*t])
            for f, la, t in acks
        ]
        topic.partitions.append(kind(partition_index=index, acknowledgement_batches=batches))
    return ShareAcknowledgeRequest(
        **{
            "group_id": "g",
            "member_id": member_id,
            "share_session_epoch": epoch,
            "topics": [*topics.values()],
            **more,
        }
    )


def acquired(answer: ShareFetchResponse) -> list[tuple[int, int, int]]:
    """What was acquired of all partitions: first and last offset, delivery count."""
    return [
        (each.first_offset, each.last_offset, each.delivery_count)
        for topic in answer.responses
        for partition in topic.partitions
        for each in partition.acquired_records
    ]
