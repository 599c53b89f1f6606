"""The joining half of a rebalance: a round begins, waits for all members, and ends in a generation.

Rules (semantics G3, G4, G6, G12):
- A round ends when every member has joined and no pending id is left, or when its time (the longest
  rebalance timeout) is up; then absent dynamic members are removed, static ones stay.
- The first round of an Empty group waits `group.initial.rebalance.delay.ms` for more members. One
  that joins meanwhile prolongs it by that much again, up to the rebalance timeout in all.
- An absent leader is replaced. If nobody joined and absent static members are left, the round goes
  on.
- A cooperative rebalance is two rounds; the broker sees no difference.
"""

from __future__ import annotations

from ....wire.errors import Error
from .effects import Effects
from .group import ClassicGroup, Due
from .states import COMPLETING_REBALANCE, EMPTY, PREPARING_REBALANCE, may_become


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
        effects.tell("rebalance begun", reason=why + waits * (group.state is EMPTY))
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
        effects.tell("kicked", member, why, members=len(group.roster))
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
    for member_id, token in group.joins.items():
        members = group.members_for_leader() if member_id == group.leader else ()
        effects.answer(token, group.joined(group.roster[member_id], members))
    group.joins.clear()
    for member in group.roster:  # absent static members too: they get a session like the others
        group.touch(member, now)
        member.is_new = False
        group.unsynced.add(member.member_id)
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
