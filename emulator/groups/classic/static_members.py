"""A static member that joins again without its id: the instance gets a new member id (KIP-345).

Rules (semantics G7):
- The old id is fenced: its parked requests are answered 82 at once.
- Stable, and the chosen protocol would stay the same: no rebalance, even with new metadata. The
  group is written with the new id, and the member answered in the current generation.
- From v9 on such a leader is sent all members and skipAssignment; before, it is told its OLD id as
  the leader, so that it takes itself for a follower and syncs.
- Otherwise a round begins (CompletingRebalance, other protocol) or goes on (PreparingRebalance).
- Kafka still awaits a Sync from the old id, if that had not synced: such a group rebalances once
  more when the time for that is up. So does ours.
"""

from __future__ import annotations

from ....wire.errors import Error
from .effects import Effects, Token
from .group import ClassicGroup
from .members import Member
from .messages import JoinAnswer, JoinRequest, SyncAnswer
from .rebalance import begin, begin_or_finish, finish_if_all_joined
from .states import COMPLETING_REBALANCE, STABLE

SKIP_ASSIGNMENT_SINCE = 9


def take_over(
    group: ClassicGroup,
    token: Token,
    request: JoinRequest,
    old_id: str,
    new_id: str,
    effects: Effects,
    now: int,
) -> None:
    """`new_id` becomes the member that `old_id` was."""
    old_leader = group.leader or ""
    before = group.roster[old_id]
    if old_id in group.joins:
        fenced = JoinAnswer(Error.FENCED_INSTANCE_ID, old_id)
        effects.answer(group.joins.pop(old_id), fenced)
    if old_id in group.syncs:
        effects.answer(group.syncs.pop(old_id), SyncAnswer(Error.FENCED_INSTANCE_ID))
    member = _rename(group, old_id, new_id, now)
    effects.tell("joined", member, members=len(group.roster))
    group.roster.update(
        member, request.protocols, request.session_timeout_ms, request.rebalance_timeout_ms
    )
    if group.state is STABLE and group.roster.choose_protocol() == group.protocol_name:
        effects.appends.append(group.record())

        def written(error: Error) -> Effects:
            further = Effects()
            if error:
                group.roster.update(
                    member, before.protocols, before.session_timeout_ms, before.rebalance_timeout_ms
                )
                _rename(group, new_id, old_id, now)
                further.answer(token, _not_written(group, error, old_leader))
            else:
                further.answer(token, _taken_over(group, member, request.version, old_leader))
            return further

        effects.then = written
        return
    group.joins[new_id] = token
    why = "a static member came back"
    if group.state is STABLE:
        begin_or_finish(group, effects, now, why)
    elif group.state is COMPLETING_REBALANCE:
        begin(group, effects, now, why)
    else:
        finish_if_all_joined(group, effects, now)


def _rename(group: ClassicGroup, old_id: str, new_id: str, now: int) -> Member:
    member = group.roster.rename(old_id, new_id)
    if group.leader == old_id:
        group.leader = new_id
    group.deadlines.clear(old_id)
    group.touch(member, now)
    return member


def _taken_over(group: ClassicGroup, member: Member, version: int, old_leader: str) -> JoinAnswer:
    is_leader = group.leader == member.member_id
    knows_skip = version >= SKIP_ASSIGNMENT_SINCE
    skip = is_leader and knows_skip
    return JoinAnswer(
        Error.NONE,
        member.member_id,
        group.generation,
        group.protocol_type,
        group.protocol_name,
        (group.leader or "") if knows_skip else old_leader,
        skip_assignment=skip,
        members=group.members_for_leader() if skip else (),
    )


def _not_written(group: ClassicGroup, error: Error, leader: str) -> JoinAnswer:
    return JoinAnswer(
        error,
        "",
        group.generation,
        group.protocol_type,
        group.protocol_name,
        leader,
    )
