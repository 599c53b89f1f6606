"""JoinGroup, of a classic group.

Rules, in the order in which they are checked (semantics G2, G3, G5, G14; the group id, the session
timeout and a missing group are checked in calls.py):
- A full group refuses newcomers with 81; an Empty one never does.
- The protocol type must be the group's and one protocol must be common to all: 23. A list with
  one name twice hangs a real broker's group; here it is 23 too.
- From v4 on, a dynamic member without an id is given one with 79 and is awaited from then on. A
  static member joins at once, and takes over its instance if a member has it already.
- An id the group does not know: 25; another id than the one that holds the instance: 82.
- PreparingRebalance: park. CompletingRebalance: unchanged metadata gets the same answer again,
  changed metadata begins a new round. Stable: the leader, or changed metadata, begins a round; an
  unchanged follower is answered with the current generation at once.
- A member that joins again while its Join is parked is answered there; the first gets no answer.

A static member that joins again without its id: the instance gets a new member id (KIP-345).

Rules (semantics G7):
- The old id is fenced: its parked requests are answered 82 at once.
- Stable, and the chosen protocol would stay the same: no rebalance, even with new metadata. The
  group is written with the new id, and the member answered in the current generation.
- From v9 on such a leader is sent all members and skipAssignment; before, it is sent its OLD id as
  the leader, so that it takes itself for a follower and syncs.
- Otherwise a round begins (CompletingRebalance, other protocol) or goes on (PreparingRebalance).
- Kafka still awaits a Sync from the old id, if that had not synced: such a group rebalances once
  more when the time for that is up. So does ours.
"""

from __future__ import annotations

from ....wire.api.join_group import JoinGroupRequest, JoinGroupResponse
from ....wire.errors import Error, Refused
from ...base.call import Call
from .group import (
    COMPLETING_REBALANCE,
    EMPTY,
    PREPARING_REBALANCE,
    STABLE,
    ClassicGroup,
    Effects,
    refused_join,
    refused_sync,
)
from .members import NO_MEMBER, Member, host_of, protocols_of, rebalance_timeout_of
from .rebalance import begin, begin_or_finish, finish_if_all_joined

MEMBER_ID_REQUIRED_SINCE = 4


def join(group: ClassicGroup, call: Call, request: JoinGroupRequest, now: int) -> Effects:
    effects = Effects()
    if not _has_room(group, request.member_id):
        group.remove(request.member_id)
        effects.answer(call, refused_join(Error.GROUP_MAX_SIZE_REACHED))
        return effects
    try:
        _check_protocols(group, request)
        if request.member_id == NO_MEMBER:
            _newcomer(group, call, request, effects, now)
        elif request.member_id in group.pending:
            _pending(group, call, request, effects, now)
        else:
            _known(group, call, request, effects, now)
    except Refused as refusal:
        effects.answer(call, refused_join(refusal.error, request.member_id))
    return effects


def _has_room(group: ClassicGroup, member_id: str) -> bool:
    """Whether one more may join. During a round the parked Joins are counted, not the members: so
    if the limit was lowered, the last members to rejoin are refused."""
    if group.state is EMPTY:
        return True
    if group.state is PREPARING_REBALANCE:
        return member_id in group.joins or len(group.joins) < group.settings.max_size
    return member_id in group.roster or len(group.roster) < group.settings.max_size


def _check_protocols(group: ClassicGroup, request: JoinGroupRequest) -> None:
    protocols = protocols_of(request)
    names = [name for name, _ in protocols]
    fits = bool(names) and len(names) == len(set(names))
    if group.state is EMPTY:
        fits = fits and bool(request.protocol_type)
    else:
        fits = fits and request.protocol_type == group.protocol_type
        fits = fits and group.roster.has_common(protocols)
    if not fits:
        raise Refused(Error.INCONSISTENT_GROUP_PROTOCOL)


def _newcomer(
    group: ClassicGroup, call: Call, request: JoinGroupRequest, effects: Effects, now: int
) -> None:
    if request.group_instance_id is not None:
        holder = group.roster.instance(request.group_instance_id)
        new_id = f"{request.group_instance_id}-{group.new_uuid()}"
        if holder is not None:
            take_over(group, call, request, holder, new_id, effects, now)
        else:
            _add(group, call, request, new_id, effects, now)
        return
    new_id = f"{call.client_id}-{group.new_uuid()}"
    if call.version >= MEMBER_ID_REQUIRED_SINCE:
        group.pending.add(new_id)
        group.deadlines.set(new_id, now + request.session_timeout_ms)
        effects.answer(call, refused_join(Error.MEMBER_ID_REQUIRED, new_id))
    else:
        _add(group, call, request, new_id, effects, now)


def _pending(
    group: ClassicGroup, call: Call, request: JoinGroupRequest, effects: Effects, now: int
) -> None:
    if request.group_instance_id is not None:
        # Kafka treats this as an internal error, and answers without the id.
        effects.answer(call, refused_join(Error.UNKNOWN_SERVER_ERROR))
        return
    _add(group, call, request, request.member_id, effects, now)


def _add(
    group: ClassicGroup,
    call: Call,
    request: JoinGroupRequest,
    member_id: str,
    effects: Effects,
    now: int,
) -> None:
    """Add a member. Its first session is five minutes, not its session timeout: it cannot heartbeat
    before it knows its id."""
    if group.gathering is not None:
        group.newcomer = True
    if not group.roster:
        group.protocol_type = request.protocol_type
    member = Member(
        member_id,
        request.group_instance_id,
        call.client_id,
        host_of(call),
        request.session_timeout_ms,
        rebalance_timeout_of(call, request),
        protocols_of(request),
        is_new=True,
    )
    group.roster.add(member)
    group.pending.discard(member_id)
    if group.leader is None:
        group.leader = member_id
    group.joins[member_id] = call
    group.deadlines.set(member_id, now + group.settings.new_member_join_timeout_ms)
    effects.log("joined", member, members=len(group.roster))
    begin_or_finish(group, effects, now, "a member joined")


def _known(
    group: ClassicGroup, call: Call, request: JoinGroupRequest, effects: Effects, now: int
) -> None:
    member = group.check_member(request.member_id, request.group_instance_id, joins=True)
    protocols = protocols_of(request)
    unchanged = member.protocols == protocols
    is_leader = group.leader == member.member_id
    if group.state is COMPLETING_REBALANCE and unchanged:
        effects.answer(call, group.joined(member, shows_members=is_leader))
    elif group.state is STABLE and unchanged and not is_leader:
        effects.answer(call, group.joined(member))
    else:
        timeout_ms = rebalance_timeout_of(call, request)
        group.roster.update(member, protocols, request.session_timeout_ms, timeout_ms)
        group.joins.pop(member.member_id, None)
        group.joins[member.member_id] = call
        why = "its leader joined again" if unchanged else "a member changed its subscription"
        begin_or_finish(group, effects, now, why)


SKIP_ASSIGNMENT_SINCE = 9


def take_over(
    group: ClassicGroup,
    call: Call,
    request: JoinGroupRequest,
    old_id: str,
    new_id: str,
    effects: Effects,
    now: int,
) -> None:
    """`new_id` becomes the member that `old_id` was."""
    old_leader = group.leader or ""
    before = group.roster[old_id]
    if old_id in group.joins:
        fenced = refused_join(Error.FENCED_INSTANCE_ID, old_id)
        effects.answer(group.joins.pop(old_id), fenced)
    if old_id in group.syncs:
        effects.answer(group.syncs.pop(old_id), refused_sync(Error.FENCED_INSTANCE_ID))
    member = _rename(group, old_id, new_id, now)
    effects.log("joined", member, members=len(group.roster))
    timeout_ms = rebalance_timeout_of(call, request)
    group.roster.update(member, protocols_of(request), request.session_timeout_ms, timeout_ms)
    if group.state is STABLE and group.roster.choose_protocol() == group.protocol_name:
        effects.appends.append(group.record())

        def written(error: Error) -> Effects:
            further = Effects()
            if error:
                group.roster.update(
                    member, before.protocols, before.session_timeout_ms, before.rebalance_timeout_ms
                )
                _rename(group, new_id, old_id, now)
                further.answer(call, _not_written(group, error, old_leader))
            else:
                further.answer(call, _taken_over(group, member, call.version, old_leader))
            return further

        effects.then = written
        return
    group.joins[new_id] = call
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


def _taken_over(
    group: ClassicGroup, member: Member, version: int, old_leader: str
) -> JoinGroupResponse:
    knows_skip = version >= SKIP_ASSIGNMENT_SINCE
    skip = group.leader == member.member_id and knows_skip
    answer = group.joined(member, shows_members=skip)
    answer.skip_assignment = skip
    if not knows_skip:
        answer.leader = old_leader
    return answer


def _not_written(group: ClassicGroup, error: Error, leader: str) -> JoinGroupResponse:
    answer = refused_join(error)
    answer.generation_id = group.generation
    answer.protocol_type, answer.protocol_name = group.protocol_type, group.protocol_name
    answer.leader = leader
    return answer
