"""What happens to a classic group when a deadline passes.

Rules (semantics G3, G4, G8, G11):
- A pending id, or a member, whose session runs out is removed. Waiting in a Join or a Sync keeps a
  member alive, except one whose very first Join is still parked.
- If that was the last one the round waited for, the round ends at once, even an Empty group's
  first.
- Members that have not synced when the rebalance timeout has passed since the generation began are
  removed, and the group rebalances.
"""

from __future__ import annotations

from ....wire.errors import Error, Refused
from .effects import Effects
from .group import ClassicGroup, Due
from .rebalance import begin, begin_or_finish, complete, join_time_is_up
from .states import COMPLETING_REBALANCE, PREPARING_REBALANCE, STABLE


def expire_first(group: ClassicGroup, now: int) -> Effects:
    """Act on the deadline that passed first; no effects if none has passed."""
    effects = Effects()
    due = group.deadlines.pop(now)
    if due is Due.JOIN:
        join_time_is_up(group, effects, now)
    elif due is Due.SYNC:
        _sync_time_is_up(group, effects, now)
    elif due is not None:
        _session_is_over(group, due, effects, now)
    return effects


def end_session(group: ClassicGroup, member_id: str, now: int) -> Effects:
    """A member's session is over now, whenever its deadline is. Raises Refused: UNKNOWN_MEMBER_ID,
    REBALANCE_IN_PROGRESS for a member that waits for others, which keeps it alive."""
    if group.roster.get(member_id) is None:
        raise Refused(Error.UNKNOWN_MEMBER_ID, f"group {group.group_id!r} has no {member_id}")
    if member_id in group.joins or member_id in group.syncs:
        text = f"{member_id} waits for the other members of group {group.group_id!r}"
        raise Refused(Error.REBALANCE_IN_PROGRESS, f"{text}, which keeps it alive")
    effects = Effects()
    _session_is_over(group, member_id, effects, now)
    return effects


def _session_is_over(group: ClassicGroup, member_id: str, effects: Effects, now: int) -> None:
    if member_id in group.pending:
        group.remove(member_id)
    else:
        waits = member_id in group.joins or member_id in group.syncs
        if waits and not group.roster[member_id].is_new:
            return  # its session restarts when it is answered
        member = group.roster[member_id]
        group.dismiss(member_id, effects)
        why = f"no heartbeat for {member.session_timeout_ms} ms, its session timeout"
        effects.tell("session timed out", member, why, members=len(group.roster))
        if group.state in (STABLE, COMPLETING_REBALANCE):
            begin_or_finish(group, effects, now, "a member's session timed out")
            return
    if group.state is PREPARING_REBALANCE and group.all_joined:
        complete(group, effects, now)


def _sync_time_is_up(group: ClassicGroup, effects: Effects, now: int) -> None:
    why = "it did not ask for its assignment within the rebalance timeout"
    for member_id in list(group.unsynced):
        member = group.roster.get(member_id)
        group.remove(member_id)
        if member is not None:
            effects.tell("kicked", member, why, members=len(group.roster))
    begin(group, effects, now, "a member did not ask for its assignment in time")
