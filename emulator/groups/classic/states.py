"""The states of a classic group, and the allowed transitions.

The table is Kafka's; `picture()` returns it as text. Source: the group coordinator's classic group
states (KIP-62, KIP-134 and KIP-345 describe the behaviour).
"""

from __future__ import annotations

from enum import StrEnum


class GroupState(StrEnum):
    """A state, by the name that DescribeGroups and ListGroups show."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


EMPTY = GroupState.EMPTY
PREPARING_REBALANCE = GroupState.PREPARING_REBALANCE
COMPLETING_REBALANCE = GroupState.COMPLETING_REBALANCE
STABLE = GroupState.STABLE
DEAD = GroupState.DEAD

TRANSITIONS: dict[GroupState, dict[GroupState, str]] = {
    EMPTY: {
        PREPARING_REBALANCE: "a first member joins",
        DEAD: "deleted, expired, or its partition moved away",
    },
    PREPARING_REBALANCE: {
        COMPLETING_REBALANCE: "all have joined, or time is up: a new generation",
        EMPTY: "nobody is left: a new generation without members",
        DEAD: "its partition moved away",
    },
    COMPLETING_REBALANCE: {
        STABLE: "the leader's assignment is written",
        PREPARING_REBALANCE: "someone joins, changes, leaves, dies or does not sync",
        DEAD: "its partition moved away",
    },
    STABLE: {
        PREPARING_REBALANCE: "someone joins, changes, leaves, dies or did not sync; leader rejoins",
        DEAD: "its partition moved away",
    },
    DEAD: {},
}


def may_become(before: GroupState, after: GroupState) -> bool:
    """True if a group in state `before` may move to state `after`."""
    return after in TRANSITIONS[before]


def picture() -> str:
    """The table as text, one transition a line."""
    width = max(len(state) for state in GroupState)
    lines = []
    for before, targets in TRANSITIONS.items():
        if not targets:
            lines.append(f"{before:<{width}}  (final)")
        for after, reason in targets.items():
            lines.append(f"{before:<{width}} -> {after:<{width}}  {reason}")
    return "\n".join(lines)
