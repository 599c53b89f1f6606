"""The states of a consumer group (KIP-848) and of its members.

A group's state follows from its epochs and its members; a member's state is part of its record. The
table says what moves a member from one state to another; `picture()` returns it as text.
Source: KIP-848 and a broker's ConsumerGroupDescribe.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum


class ConsumerGroupState(StrEnum):
    """A group's state, by the name that ConsumerGroupDescribe and ListGroups show."""

    EMPTY = "Empty"  # no members
    ASSIGNING = "Assigning"  # the group's epoch is ahead of the target assignment's
    RECONCILING = "Reconciling"  # a member has not reached the target assignment
    STABLE = "Stable"
    DEAD = "Dead"  # shown for groups that do not exist


class MemberState(IntEnum):
    """A member's state, by the number in its record."""

    STABLE = 0  # has its target of its epoch
    UNREVOKED = 1  # must give up partitions first
    UNRELEASED = 2  # waits for partitions that others still have


_GIVE_UP = "it has partitions that it shall not keep"
_WAIT = "others still have partitions that it shall get"
_DONE = "it has all it shall have"

TRANSITIONS: dict[MemberState, dict[MemberState, str]] = {
    MemberState.STABLE: {
        MemberState.STABLE: f"a new target: {_DONE}",
        MemberState.UNREVOKED: f"a new target or subscription: {_GIVE_UP}",
        MemberState.UNRELEASED: f"a new target: {_WAIT}",
    },
    MemberState.UNREVOKED: {
        MemberState.STABLE: f"it has given them up, and {_DONE}",
        MemberState.UNREVOKED: f"the target or subscription changed again: {_GIVE_UP}",
        MemberState.UNRELEASED: f"it has given them up, and {_WAIT}",
    },
    MemberState.UNRELEASED: {
        MemberState.STABLE: _DONE,
        MemberState.UNREVOKED: f"a new target: {_GIVE_UP}",
        MemberState.UNRELEASED: f"some have come free, but {_WAIT}",
    },
}


def picture() -> str:
    """The table as text, one transition a line."""
    width = max(len(state.name) for state in MemberState)
    return "\n".join(
        f"{before.name:<{width}} -> {after.name:<{width}}  {reason}"
        for before, targets in TRANSITIONS.items()
        for after, reason in targets.items()
    )
