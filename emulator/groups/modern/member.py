"""A member of a group since KIP-848: what it has reported of itself, and what it has.

A member is an immutable value. What it has are partitions, or tasks of a streams application. The
table says what moves a member from one state to another; `picture()` returns it as text. Source:
KIP-848, KIP-932, KIP-1071.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, ClassVar, Generic, Self, TypeVar

from ....wire import Message

H = TypeVar("H")

JOINING_EPOCH = 0
LEAVE_EPOCH = -1
STATIC_LEAVE_EPOCH = -2
NO_TIMEOUT = -1


class MemberState(IntEnum):
    """A member's state, by the number in the records of consumer and share groups."""

    STABLE = 0  # has its target of its epoch
    UNREVOKED = 1  # must give up something first
    UNRELEASED = 2  # waits for what others still have
    UNKNOWN = 127  # of a streams group, written by a later release


_GIVE_UP = "it has what it shall not keep"
_WAIT = "others still have what it shall get"
_DONE = "it has all it shall have"

TRANSITIONS: dict[MemberState, dict[MemberState, str]] = {
    MemberState.STABLE: {
        MemberState.STABLE: f"a new target: {_DONE}",
        MemberState.UNREVOKED: f"a new target or subscription: {_GIVE_UP}",
        MemberState.UNRELEASED: f"a new target: {_WAIT}",
    },
    MemberState.UNREVOKED: {
        MemberState.STABLE: f"it has given that up, and {_DONE}",
        MemberState.UNREVOKED: f"the target or subscription changed again: {_GIVE_UP}",
        MemberState.UNRELEASED: f"it has given that up, and {_WAIT}",
    },
    MemberState.UNRELEASED: {
        MemberState.STABLE: _DONE,
        MemberState.UNREVOKED: f"a new target: {_GIVE_UP}",
        MemberState.UNRELEASED: f"some has come free, but {_WAIT}",
    },
    MemberState.UNKNOWN: {
        MemberState.STABLE: f"it reports that it has nothing, and {_DONE}",
        MemberState.UNRELEASED: f"it reports that it has nothing, and {_WAIT}",
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


def _nothing() -> Any:
    return {}


@dataclass(frozen=True, slots=True)
class ModernMember(Generic[H]):
    """One member. Those of share groups have nothing to give up, and are always stable; only those
    of consumer groups may be static."""

    nothing: ClassVar[Any] = {}
    """The empty assignment."""

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    epoch: int = JOINING_EPOCH
    previous_epoch: int = JOINING_EPOCH
    rebalance_timeout_ms: int = NO_TIMEOUT
    state: MemberState = MemberState.STABLE
    assigned: H = field(default_factory=_nothing)
    revoking: H = field(default_factory=_nothing)

    @property
    def is_classic(self) -> bool:
        return False

    @property
    def own_session_timeout_ms(self) -> int | None:
        """Its session timeout, if it has chosen one; else the group's counts."""
        return None

    def is_reconciled_to(self, epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == epoch

    def moved(self, state: MemberState, epoch: int, assigned: H, revoking: H) -> Self:
        return replace(
            self,
            state=state,
            epoch=epoch,
            previous_epoch=self.epoch,
            assigned=assigned,
            revoking=revoking,
        )

    def emptied(self) -> Self:
        """The member when the record of what it has is deleted."""
        return replace(
            self,
            state=MemberState.STABLE,
            epoch=LEAVE_EPOCH,
            previous_epoch=LEAVE_EPOCH,
            assigned=self.nothing,
            revoking=self.nothing,
        )

    # As the records of its type have it

    def reported_value(self) -> Message:
        raise NotImplementedError

    def with_reported(self, value: Any) -> Self:
        """The member with what such a record says; what it has stays."""
        raise NotImplementedError

    def current_value(self) -> Message:
        raise NotImplementedError

    def with_current(self, value: Any) -> Self:
        """The member with what such a record says."""
        raise NotImplementedError
