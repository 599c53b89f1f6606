"""Consumer groups (KIP-848): heartbeats of members of group g unless told otherwise."""

from __future__ import annotations

from typing import Any

from odradek.wire.api.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)

from tests.requests.asker import Asker

JOINS, LEAVES, LEAVES_FOR_A_WHILE = 0, -1, -2


def beat_request(
    member_id: str = "a", epoch: int = JOINS, **more: Any
) -> ConsumerGroupHeartbeatRequest:
    """A heartbeat; in epoch 0 it says all that a member of t must say."""
    fields: dict[str, Any] = {"group_id": "g"}
    if epoch == JOINS:
        fields |= {
            "rebalance_timeout_ms": 30_000,
            "subscribed_topic_names": ["t"],
            "topic_partitions": [],
        }
    return ConsumerGroupHeartbeatRequest(
        member_id=member_id, member_epoch=epoch, **{**fields, **more}
    )


def beat(
    client: Asker, member_id: str = "a", epoch: int = JOINS, *, version: int = 1, **more: Any
) -> ConsumerGroupHeartbeatResponse:
    """The answer to a heartbeat."""
    answer: ConsumerGroupHeartbeatResponse = client.ask(
        beat_request(member_id, epoch, **more), version
    )
    return answer
