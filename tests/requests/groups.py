"""Classic groups: JoinGroup, SyncGroup, Heartbeat, LeaveGroup; of group g unless told otherwise."""

from __future__ import annotations

from typing import Any

from odradek.wire import Error
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.join_group import JoinGroupRequest, JoinGroupResponse
from odradek.wire.api.leave_group import LeaveGroupRequest
from odradek.wire.api.sync_group import SyncGroupRequest
from odradek.wire.stored.consumer_protocol import ConsumerProtocolSubscription
from odradek.wire.stored.keyed import keyed

from tests.requests.asker import Asker


def subscription(*topics: str) -> bytes:
    """What a consumer of these topics says of itself."""
    return keyed(ConsumerProtocolSubscription(topics=list(topics), user_data=None), 0)


READS_NOTHING = subscription()


def join_request(
    member_id: str = "", metadata: bytes = READS_NOTHING, **more: Any
) -> JoinGroupRequest:
    """A request to join as a consumer that knows the assignor `range`."""
    fields: dict[str, Any] = {
        "group_id": "g",
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 30_000,
        "member_id": member_id,
        "protocol_type": "consumer",
        "protocols": [JoinGroupRequest.Protocol(name="range", metadata=metadata)],
    }
    return JoinGroupRequest(**{**fields, **more})


def joined(client: Asker, version: int = 7, **more: Any) -> JoinGroupResponse:
    """Become the only member: from v4 on a first answer gives the id, the second the generation."""
    first: JoinGroupResponse = client.ask(join_request(**more), version)
    if first.error_code != Error.MEMBER_ID_REQUIRED:
        return first
    second: JoinGroupResponse = client.ask(join_request(first.member_id, **more), version)
    return second


def sync_request(
    member: JoinGroupResponse, assignment: bytes = b"", version: int = 3, **more: Any
) -> SyncGroupRequest:
    """A request of a leader that gives itself this assignment."""
    given = SyncGroupRequest.Assignment(member_id=member.member_id, assignment=assignment)
    fields: dict[str, Any] = {
        "group_id": "g",
        "generation_id": member.generation_id,
        "member_id": member.member_id,
        "protocol_type": "consumer" if version >= 5 else None,
        "protocol_name": "range" if version >= 5 else None,
        "assignments": [given],
    }
    return SyncGroupRequest(**{**fields, **more})


def stable(client: Asker, assignment: bytes = b"all", version: int = 7) -> JoinGroupResponse:
    """Become the only member of a stable group."""
    member = joined(client, version)
    assert client.ask(sync_request(member, assignment), 3).error_code == 0
    return member


def heartbeat_request(member: JoinGroupResponse, **more: Any) -> HeartbeatRequest:
    fields: dict[str, Any] = {
        "group_id": "g",
        "generation_id": member.generation_id,
        "member_id": member.member_id,
    }
    return HeartbeatRequest(**{**fields, **more})


def leave_request(*member_ids: str, group: str = "g") -> LeaveGroupRequest:
    """A request to leave; versions before 3 take the first member."""
    members = [LeaveGroupRequest.Member(member_id=each) for each in member_ids]
    return LeaveGroupRequest(
        group_id=group, member_id=member_ids[0] if member_ids else "", members=members
    )
