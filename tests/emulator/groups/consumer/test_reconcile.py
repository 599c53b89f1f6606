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
