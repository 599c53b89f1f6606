"""The states of a member of a consumer group."""

from __future__ import annotations

from odradek.emulator.groups.modern.member import TRANSITIONS, MemberState, picture


def test_every_member_state_leads_somewhere_and_shows_in_the_picture() -> None:
    assert set(TRANSITIONS) == set(MemberState)
    assert len(picture().splitlines()) == sum(len(after) for after in TRANSITIONS.values())
