"""LeaveGroup, of a classic group.

Rules (semantics G11; a missing group is checked in calls.py):
- Each member is answered its own error. An instance with an empty member id is an administrator's
  removal: 25 if no member has the instance. A pending id leaves whatever instance it names; up to
  Kafka 3.9 that does not begin a new round.
- Another id than the one that holds the instance 82; an unknown id 25, also if the same request has
  just removed it. A static member may leave by its id alone.
- A leaver's parked Join is answered 25.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....wire.errors import Error, Refused
from .effects import Effects, Token
from .group import ClassicGroup
from .messages import NO_MEMBER, LeaveAnswer, Leaver, Left
from .rebalance import begin_or_finish, finish_if_all_joined
from .states import EMPTY, PREPARING_REBALANCE


def leave(group: ClassicGroup, token: Token, leavers: Sequence[Leaver], now: int) -> Effects:
    """Members leave, or are removed by an administrator."""
    effects = Effects()
    members = len(group.roster)
    left = tuple(
        Left(one.member_id, one.instance_id, _leave_one(group, one, effects)) for one in leavers
    )
    if any(one.error is Error.NONE for one in left):
        if group.state is PREPARING_REBALANCE:
            finish_if_all_joined(group, effects, now)
        elif group.state is not EMPTY and (
            len(group.roster) < members or group.settings.newcomers_leave_with_a_round
        ):
            begin_or_finish(group, effects, now, "a member left")
    effects.answer(token, LeaveAnswer(Error.NONE, left))
    return effects


def _leave_one(group: ClassicGroup, leaver: Leaver, effects: Effects) -> Error:
    member_id, instance_id = leaver.member_id, leaver.instance_id
    if member_id in group.pending:
        group.remove(member_id)
        return Error.NONE
    if member_id == NO_MEMBER:
        member_id = group.roster.instance(instance_id) or "" if instance_id is not None else ""
        instance_id = None
    try:
        member = group.check_member(member_id, instance_id)
    except Refused as refusal:
        return refusal.error
    group.dismiss(member_id, effects)
    is_own = bool(leaver.member_id) and leaver.asked_by in (None, member.client_id)
    kind = "left" if is_own else "kicked"
    effects.tell(kind, member, leaver.reason, members=len(group.roster))
    return Error.NONE
