"""The coordinator's answers, as responses of the version that was asked."""

from __future__ import annotations

from ....wire import Error
from ....wire.api.join_group import JoinGroupResponse
from ....wire.api.leave_group import LeaveGroupResponse
from ....wire.api.sync_group import SyncGroupResponse
from ...base.call import Call
from .effects import Answer
from .messages import JoinAnswer, LeaveAnswer, SyncAnswer

_NULL_PROTOCOL_SINCE = 7
_MEMBERS_SINCE = 3


def send(call: Call, answer: Answer) -> None:
    """Answer a JoinGroup, SyncGroup or LeaveGroup that may have been parked."""
    if isinstance(answer, JoinAnswer):
        call.answer(_join(answer, call.version))
    elif isinstance(answer, SyncAnswer):
        call.answer(
            SyncGroupResponse(
                error_code=answer.error,
                protocol_type=answer.protocol_type,
                protocol_name=answer.protocol_name,
                assignment=answer.assignment,
            )
        )
    else:
        call.answer(_leave(answer, call.version))


def _join(answer: JoinAnswer, version: int) -> JoinGroupResponse:
    name = answer.protocol_name
    return JoinGroupResponse(
        error_code=answer.error,
        generation_id=answer.generation,
        protocol_type=answer.protocol_type,
        protocol_name="" if name is None and version < _NULL_PROTOCOL_SINCE else name,
        leader=answer.leader,
        skip_assignment=answer.skip_assignment,
        member_id=answer.member_id,
        members=[
            JoinGroupResponse.Member(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                metadata=member.metadata,
            )
            for member in answer.members
        ],
    )


def _leave(answer: LeaveAnswer, version: int) -> LeaveGroupResponse:
    if version < _MEMBERS_SINCE:
        # One member, whose error is at the top level.
        errors = [answer.error, *(left.error for left in answer.members)]
        return LeaveGroupResponse(error_code=next((e for e in errors if e), Error.NONE))
    return LeaveGroupResponse(
        error_code=answer.error,
        members=[
            LeaveGroupResponse.Member(
                member_id=left.member_id,
                group_instance_id=left.instance_id,
                error_code=left.error,
            )
            for left in answer.members
        ],
    )
