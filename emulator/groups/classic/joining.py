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
"""

from __future__ import annotations

from ....wire.errors import Error, Refused
from .effects import Effects, Token
from .group import ClassicGroup
from .members import Member
from .messages import NO_MEMBER, JoinAnswer, JoinRequest
from .rebalance import begin_or_finish
from .states import COMPLETING_REBALANCE, EMPTY, PREPARING_REBALANCE, STABLE
from .static_members import take_over

MEMBER_ID_REQUIRED_SINCE = 4


def join(group: ClassicGroup, token: Token, request: JoinRequest, now: int) -> Effects:
    """A member joins the next generation."""
    effects = Effects()
    if not _has_room(group, request.member_id):
        group.remove(request.member_id)
        effects.answer(token, JoinAnswer(Error.GROUP_MAX_SIZE_REACHED))
        return effects
    try:
        _check_protocols(group, request)
        if request.member_id == NO_MEMBER:
            _newcomer(group, token, request, effects, now)
        elif request.member_id in group.pending:
            _pending(group, token, request, effects, now)
        else:
            _known(group, token, request, effects, now)
    except Refused as refusal:
        effects.answer(token, JoinAnswer(refusal.error, request.member_id))
    return effects


def _has_room(group: ClassicGroup, member_id: str) -> bool:
    """Whether one more may join. During a round the parked Joins are counted, not the members: so
    if the limit was lowered, the last members to rejoin are refused."""
    if group.state is EMPTY:
        return True
    if group.state is PREPARING_REBALANCE:
        return member_id in group.joins or len(group.joins) < group.settings.max_size
    return member_id in group.roster or len(group.roster) < group.settings.max_size


def _check_protocols(group: ClassicGroup, request: JoinRequest) -> None:
    names = [name for name, _ in request.protocols]
    fits = bool(names) and len(names) == len(set(names))
    if group.state is EMPTY:
        fits = fits and bool(request.protocol_type)
    else:
        fits = fits and request.protocol_type == group.protocol_type
        fits = fits and group.roster.has_common(request.protocols)
    if not fits:
        raise Refused(Error.INCONSISTENT_GROUP_PROTOCOL)


def _newcomer(
    group: ClassicGroup, token: Token, request: JoinRequest, effects: Effects, now: int
) -> None:
    if request.instance_id is not None:
        holder = group.roster.instance(request.instance_id)
        new_id = f"{request.instance_id}-{group.new_uuid()}"
        if holder is not None:
            take_over(group, token, request, holder, new_id, effects, now)
        else:
            _add(group, token, request, new_id, effects, now)
        return
    new_id = f"{request.client_id}-{group.new_uuid()}"
    if request.version >= MEMBER_ID_REQUIRED_SINCE:
        group.pending.add(new_id)
        group.deadlines.set(new_id, now + request.session_timeout_ms)
        effects.answer(token, JoinAnswer(Error.MEMBER_ID_REQUIRED, new_id))
    else:
        _add(group, token, request, new_id, effects, now)


def _pending(
    group: ClassicGroup, token: Token, request: JoinRequest, effects: Effects, now: int
) -> None:
    if request.instance_id is not None:
        # Kafka treats this as an internal error, and answers without the id.
        effects.answer(token, JoinAnswer(Error.UNKNOWN_SERVER_ERROR))
        return
    _add(group, token, request, request.member_id, effects, now)


def _add(
    group: ClassicGroup,
    token: Token,
    request: JoinRequest,
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
        request.instance_id,
        request.client_id,
        request.client_host,
        request.session_timeout_ms,
        request.rebalance_timeout_ms,
        request.protocols,
        is_new=True,
    )
    group.roster.add(member)
    group.pending.discard(member_id)
    if group.leader is None:
        group.leader = member_id
    group.joins[member_id] = token
    group.deadlines.set(member_id, now + group.settings.new_member_join_timeout_ms)
    effects.tell("joined", member, members=len(group.roster))
    begin_or_finish(group, effects, now, "a member joined")


def _known(
    group: ClassicGroup, token: Token, request: JoinRequest, effects: Effects, now: int
) -> None:
    member = group.check_member(request.member_id, request.instance_id)
    unchanged = member.protocols == request.protocols
    is_leader = group.leader == member.member_id
    if group.state is COMPLETING_REBALANCE and unchanged:
        members = group.members_for_leader() if is_leader else ()
        effects.answer(token, group.joined(member, members))
    elif group.state is STABLE and unchanged and not is_leader:
        effects.answer(token, group.joined(member))
    else:
        group.roster.update(
            member, request.protocols, request.session_timeout_ms, request.rebalance_timeout_ms
        )
        group.joins.pop(member.member_id, None)
        group.joins[member.member_id] = token
        why = "its leader joined again" if unchanged else "a member changed its subscription"
        begin_or_finish(group, effects, now, why)
