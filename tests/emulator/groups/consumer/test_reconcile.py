"""The next step of a member towards what it shall have."""

from __future__ import annotations

from odradek.emulator.groups.consumer.members import ConsumerMember, Goal, reconcile
from odradek.emulator.groups.modern.member import MemberState


def test_wanting_nothing_anew_is_a_step_though_there_is_nothing_to_give_up() -> None:
    member = ConsumerMember("a", epoch=1, previous_epoch=0)
    goal = Goal(1, {}, frozenset(), False, True, lambda *_: False, None)
    after = reconcile(member, goal)
    assert (after.epoch, after.previous_epoch, after.state) == (1, 1, MemberState.STABLE)
    assert reconcile(member, goal._replace(subscription_changed=False)) is member
    assert reconcile(member, goal._replace(asks=True)) is member  # for a topic that is not there


def test_what_it_has_not_given_up_yet_is_free_for_itself_since_4_2() -> None:
    topic = bytes(16)
    member = ConsumerMember("a", epoch=1, previous_epoch=0)
    member = member.moved(MemberState.UNREVOKED, 1, {topic: {0: 1}}, {topic: {1: 1}})
    target = {topic: frozenset({0, 1, 2})}
    held = {0, 1}
    goal = Goal(2, target, frozenset({topic}), True, False, lambda _, p: p in held, {topic: {0}})
    found = reconcile(member, goal)
    assert (found.state, sorted(found.assigned[topic])) == (MemberState.STABLE, [0, 1, 2])
    found = reconcile(member, goal._replace(frees_own=False))
    assert (found.state, sorted(found.assigned[topic])) == (MemberState.UNRELEASED, [0, 2])
    held = {0}
    found = reconcile(found, goal._replace(frees_own=False))
    assert (found.state, sorted(found.assigned[topic])) == (MemberState.STABLE, [0, 1, 2])
