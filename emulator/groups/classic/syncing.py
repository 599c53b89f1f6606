"""SyncGroup, of a classic group.

Rules, in the order in which they are checked (semantics G8; a missing group, an empty group id and
the mandatory fields of v5 are checked in calls.py):
- Unknown member 25, fenced instance 82, another generation 22, another protocol type or name 23.
- PreparingRebalance 27. Stable: the stored assignment.
- CompletingRebalance: the Sync is parked. The leader's is written, and then all are answered;
  members it does not mention get empty bytes, unknown members it mentions are ignored.
- If the write is refused, all parked Syncs are answered that error, and the group rebalances.
- A member that syncs again while its Sync is parked is answered there; the first gets no answer.
"""

from __future__ import annotations

from ....wire.errors import Error, Refused
from .effects import Effects, Token
from .group import ClassicGroup, Due
from .members import Member
from .messages import SyncAnswer, SyncRequest
from .rebalance import begin_or_finish, drop_assignments
from .states import COMPLETING_REBALANCE, PREPARING_REBALANCE, STABLE


def sync(group: ClassicGroup, token: Token, request: SyncRequest, now: int) -> Effects:
    """A member asks for its assignment; the leader sends the assignments of all."""
    effects = Effects()
    try:
        member = _check(group, request)
    except Refused as refusal:
        effects.answer(token, SyncAnswer(refusal.error))
        return effects
    group.unsynced.discard(member.member_id)
    if not group.unsynced:
        group.deadlines.clear(Due.SYNC)
    if group.state is STABLE:
        effects.answer(token, group.assignment_of(member))
        return effects
    group.syncs.pop(member.member_id, None)
    group.syncs[member.member_id] = token
    if group.leader == member.member_id:
        _take_assignments(group, dict(request.assignments), effects, now)
    return effects


def _check(group: ClassicGroup, request: SyncRequest) -> Member:
    member = group.check_member(request.member_id, request.instance_id)
    if request.generation != group.generation:
        raise Refused(Error.ILLEGAL_GENERATION)
    if _differ(request.protocol_type, group.protocol_type):
        raise Refused(Error.INCONSISTENT_GROUP_PROTOCOL)
    if _differ(request.protocol_name, group.protocol_name):
        raise Refused(Error.INCONSISTENT_GROUP_PROTOCOL)
    if group.state is PREPARING_REBALANCE:
        raise Refused(Error.REBALANCE_IN_PROGRESS)
    return member


def _differ(asked: str | None, ours: str | None) -> bool:
    """Whether both sides name something, and not the same."""
    return asked is not None and ours is not None and asked != ours


def _take_assignments(
    group: ClassicGroup, assignments: dict[str, bytes], effects: Effects, now: int
) -> None:
    effects.appends.append(group.record(assignments))

    def written(error: Error) -> Effects:
        further = Effects()
        assert group.state is COMPLETING_REBALANCE
        if error:
            drop_assignments(group, error, further, now)
            begin_or_finish(group, further, now, "the assignment could not be stored")
            return further
        for member in group.roster:
            member.assignment = assignments.get(member.member_id, b"")
        group.answer_syncs(Error.NONE, further, now)
        group.move(STABLE, now)
        generation, members = group.generation, len(group.roster)
        further.tell("rebalance finished", generation=generation, members=members)
        return further

    effects.then = written
