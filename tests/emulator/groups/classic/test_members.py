"""The members of a classic group, and the protocol that they vote for."""

from __future__ import annotations

import pytest
from odradek.emulator.groups.classic.members import Member, Roster


def member(member_id: str, *names: str) -> Member:
    return Member(member_id, None, "c", "/h", 1, 1, tuple((name, b"") for name in names))


def roster(*members: Member) -> Roster:
    made = Roster()
    for one in members:
        made.add(one)
    return made


@pytest.mark.parametrize(
    ("wishes", "chosen"),
    [
        (["sticky range", "range sticky"], "sticky"),
        (["roundrobin range", "range roundrobin", "roundrobin range"], "roundrobin"),
        (["best range", "range"], "range"),
        (["a b", "b a", "c a b"], "a"),
    ],
)
def test_members_vote_for_their_first_common_protocol(wishes: list[str], chosen: str) -> None:
    members = [member(str(i), *wish.split()) for i, wish in enumerate(wishes)]
    assert roster(*members).choose_protocol() == chosen


def test_a_protocol_is_common_only_if_everybody_has_it() -> None:
    group = roster(member("a", "range", "sticky"), member("b", "range"))
    assert group.has_common((("range", b""),))
    assert not group.has_common((("sticky", b""),))
    group.remove("b")
    assert group.has_common((("sticky", b""),))
    group.update(group["a"], (("sticky", b""),), 1, 1)
    assert not group.has_common((("range", b""),))
