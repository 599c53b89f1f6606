"""The joining half of a rebalance: a round begins, waits for all members, and ends in a generation.

Rules (semantics G3, G4, G6, G12):
- A round ends when every member has joined and no pending id is left, or when its time (the longest
  rebalance timeout) is up; then absent dynamic members are removed, static ones stay.
- The first round of an Empty group waits `group.initial.rebalance.delay.ms` for more members. One
  that joins meanwhile prolongs it by that much again, up to the rebalance timeout in all.
- An absent leader is replaced. If nobody joined and absent static members are left, the round goes
  on.
- A cooperative rebalance is two rounds; the broker sees no difference.

SyncGroup, of a classic group.

Rules, in the order in which they are checked (semantics G8; a missing group, an empty group id and
the mandatory fields of v5 are checked in calls.py):
- Unknown member 25, fenced instance 82, another generation 22, another protocol type or name 23.
- PreparingRebalance 27. Stable: the stored assignment.
- CompletingRebalance: the Sync is parked. The leader's is written, and then all are answered;
  members it does not mention get empty bytes, unknown members it mentions are ignored.
- If the write is refused, all parked Syncs are answered that error, and the group rebalances.
- A member that syncs again while its Sync is parked is answered there; the first gets no answer.

LeaveGroup, of a classic group.

Rules (semantics G11; a missing group is checked in calls.py):
- Each member is answered its own error. An instance with an empty member id is an administrator's
  removal: 25 if no member has the instance. A pending id leaves whatever instance it names; up to
  Kafka 3.9 that does not begin a new round.
- Another id than the one that holds the instance 82; an unknown id 25, also if the same request has
  just removed it. A static member may leave by its id alone.
- A leaver's parked Join is answered 25.

What happens to a classic group when a deadline passes.

Rules (semantics G3, G4, G8, G11):
- A pending id, or a member, whose session runs out is removed. Waiting in a Join or a Sync keeps a
  member alive, except one whose very first Join is still parked.
- If that was the last one the round waited for, the round ends at once, even an Empty group's
  first.
- Members that have not synced when the rebalance timeout has passed since the generation began are
  removed, and the group rebalances.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....wire.api.leave_group import LeaveGroupRequest, LeaveGroupResponse
from ....wire.api.sync_group import SyncGroupRequest
from ....wire.errors import Error, Refused
from ...base.call import Call
from .group import (
    COMPLETING_REBALANCE,
    EMPTY,
    PREPARING_REBALANCE,
    STABLE,
    ClassicGroup,
    Due,
    Effects,
    may_become,
    refused_sync,
)
from .members import NO_MEMBER, Member


def begin_or_finish(group: ClassicGroup, effects: Effects, now: int, why: str) -> None:
    """Something changed: begin a round, or end the current one if it is complete now."""
    if may_become(group.state, PREPARING_REBALANCE):
        begin(group, effects, now, why)
    else:
        finish_if_all_joined(group, effects, now)


def begin(group: ClassicGroup, effects: Effects, now: int, why: str) -> None:
    """Begin a round; parked Syncs are answered REBALANCE_IN_PROGRESS."""
    if group.roster:
        waits = f", and it waits {group.settings.initial_rebalance_delay_ms} ms for more"
        effects.log("rebalance begun", reason=why + waits * (group.state is EMPTY))
    if group.state is COMPLETING_REBALANCE:
        drop_assignments(group, Error.REBALANCE_IN_PROGRESS, effects, now)
    group.unsynced.clear()
    group.deadlines.clear(Due.SYNC)
    was_empty = group.state is EMPTY
    group.move(PREPARING_REBALANCE, now)
    timeout_ms = group.roster.rebalance_timeout_ms
    if was_empty:
        delay_ms = group.settings.initial_rebalance_delay_ms
        group.gathering = (delay_ms, max(timeout_ms - delay_ms, 0))
        group.deadlines.set(Due.JOIN, now + delay_ms)
    elif group.all_joined:
        complete(group, effects, now)
    else:
        group.deadlines.set(Due.JOIN, now + timeout_ms)


def finish_if_all_joined(group: ClassicGroup, effects: Effects, now: int) -> None:
    """End the round if nobody is missing; but an Empty group's first round always waits."""
    if group.state is PREPARING_REBALANCE and group.gathering is None and group.all_joined:
        complete(group, effects, now)


def join_time_is_up(group: ClassicGroup, effects: Effects, now: int) -> None:
    """The round's deadline has passed. While gathering members, it may be extended."""
    if group.gathering is not None:
        delay_ms, left_ms = group.gathering
        if group.newcomer and left_ms:
            group.newcomer = False
            longer_ms = min(group.settings.initial_rebalance_delay_ms, left_ms)
            group.gathering = (longer_ms, max(left_ms - delay_ms, 0))
            group.deadlines.set(Due.JOIN, now + longer_ms)
            return
    complete(group, effects, now)


def complete(group: ClassicGroup, effects: Effects, now: int) -> None:
    """End the round: a new generation of the members that have joined, perhaps none."""
    group.deadlines.clear(Due.JOIN)
    group.gathering = None
    absent = [m for m in group.roster if m.member_id not in group.joins and not m.is_static]
    for member in absent:
        group.remove(member.member_id)
        why = "it did not join again within its rebalance timeout"
        effects.log("kicked", member, why, members=len(group.roster))
    if group.roster and not _elect_leader(group):
        # Only absent static members. At least a millisecond: a timeout of 0 would loop forever.
        group.deadlines.set(Due.JOIN, now + max(group.roster.rebalance_timeout_ms, 1))
        return
    group.generation += 1
    group.unsynced.clear()
    if group.roster:
        _begin_generation(group, effects, now)
    else:
        group.protocol_name = None
        group.learn_topics()
        group.move(EMPTY, now)
        # Nothing depends on this write: if it is refused, a restart brings back the last
        # generation, whose members time out.
        effects.appends.append(group.record())


def _begin_generation(group: ClassicGroup, effects: Effects, now: int) -> None:
    group.protocol_name = group.roster.choose_protocol()
    group.learn_topics()
    group.move(COMPLETING_REBALANCE, now)
    for member_id, call in group.joins.items():
        is_leader = member_id == group.leader
        effects.answer(call, group.joined(group.roster[member_id], shows_members=is_leader))
    group.joins.clear()
    for member in group.roster:  # absent static members too: they get a session like the others
        group.touch(member, now)
        member.is_new = False
        group.unsynced.add(member.member_id)
    if group.settings.removes_unsynced_members:
        group.deadlines.set(Due.SYNC, now + group.roster.rebalance_timeout_ms)


def _elect_leader(group: ClassicGroup) -> bool:
    """Keep the leader if it has joined, else choose the first that has. False if nobody has."""
    if group.leader not in group.joins:
        group.leader = next(iter(group.joins), group.leader)
    return group.leader in group.joins


def drop_assignments(group: ClassicGroup, error: Error, effects: Effects, now: int) -> None:
    """Forget every member's assignment, and answer the parked Syncs with `error`."""
    for member in group.roster:
        member.assignment = b""
    group.answer_syncs(error, effects, now)


def sync(group: ClassicGroup, call: Call, request: SyncGroupRequest, now: int) -> Effects:
    """A member asks for its assignment; the leader sends the assignments of all."""
    effects = Effects()
    try:
        member = _check(group, request)
    except Refused as refusal:
        effects.answer(call, refused_sync(refusal.error))
        return effects
    group.unsynced.discard(member.member_id)
    if not group.unsynced:
        group.deadlines.clear(Due.SYNC)
    if group.state is STABLE:
        effects.answer(call, group.assignment_of(member))
        return effects
    group.syncs.pop(member.member_id, None)
    group.syncs[member.member_id] = call
    if group.leader == member.member_id:
        assignments = {each.member_id: each.assignment for each in request.assignments}
        _take_assignments(group, assignments, effects, now)
    return effects


def _check(group: ClassicGroup, request: SyncGroupRequest) -> Member:
    member = group.check_member(request.member_id, request.group_instance_id)
    if request.generation_id != group.generation:
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
        further.log("rebalance finished", generation=generation, members=members)
        return further

    effects.then = written


def leave(
    group: ClassicGroup, call: Call, leavers: Sequence[LeaveGroupRequest.Member], now: int
) -> Effects:
    effects = Effects()
    members = len(group.roster)
    left: list[LeaveGroupResponse.Member] = []
    answer = LeaveGroupResponse(members=left)
    for one in leavers:
        instance_id = one.group_instance_id
        is_odd = instance_id is not None and one.member_id in group.pending
        is_odd = is_odd and group.roster.instance(instance_id or "") is None  # else it is fenced
        if is_odd and not group.settings.lets_pending_instances_leave:
            answer = LeaveGroupResponse(error_code=Error.UNKNOWN_SERVER_ERROR, members=[])
            break
        left.append(left_member(one, _leave_one(group, call, one, effects)))
    if any(not one.error_code for one in left):
        if group.state is PREPARING_REBALANCE:
            finish_if_all_joined(group, effects, now)
        elif group.state is not EMPTY and (
            len(group.roster) < members or group.settings.newcomers_leave_with_a_round
        ):
            begin_or_finish(group, effects, now, "a member left")
    effects.answer(call, answer)
    return effects


def left_member(leaver: LeaveGroupRequest.Member, error: Error) -> LeaveGroupResponse.Member:
    """The result of one member that was to leave, with its id and instance as in the request."""
    return LeaveGroupResponse.Member(
        member_id=leaver.member_id, group_instance_id=leaver.group_instance_id, error_code=error
    )


def _leave_one(
    group: ClassicGroup, call: Call, leaver: LeaveGroupRequest.Member, effects: Effects
) -> Error:
    member_id, instance_id = leaver.member_id, leaver.group_instance_id
    holder = None if instance_id is None else group.roster.instance(instance_id)
    is_other = bool(member_id) and holder not in (None, member_id)
    if is_other and not group.settings.refuses_unknown_instances:
        return Error.FENCED_INSTANCE_ID
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
    # The client id of an administrator is not the member's.
    is_own = bool(leaver.member_id) and call.client_id == member.client_id
    kind = "left" if is_own else "kicked"
    effects.log(kind, member, leaver.reason or "", members=len(group.roster))
    return Error.NONE


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
        effects.log("session timed out", member, why, members=len(group.roster))
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
            effects.log("kicked", member, why, members=len(group.roster))
    begin(group, effects, now, "a member did not ask for its assignment in time")
