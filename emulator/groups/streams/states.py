"""The states of a streams group (KIP-1071) and of its members.

A group's state follows from its epochs, its topology and its members; a member's state is part of
its record. Members go from state to state as those of consumer groups do (consumer/states.py).
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import NamedTuple


class StreamsGroupState(StrEnum):
    """A group's state, by the name that StreamsGroupDescribe and ListGroups show."""

    EMPTY = "Empty"  # no members
    NOT_READY = "NotReady"  # topics are missing, or have wrong numbers of partitions
    ASSIGNING = "Assigning"  # the group's epoch is ahead of the target assignment's
    RECONCILING = "Reconciling"  # a member has not reached the target assignment
    STABLE = "Stable"


class MemberState(IntEnum):
    """A member's state, by the number in its record."""

    STABLE = 1  # has its target of its epoch
    UNREVOKED = 2  # must give up tasks first
    UNRELEASED = 3  # waits for tasks that others still have
    UNKNOWN = 127  # written by a later release


class StatusCode(IntEnum):
    """What the answer to a heartbeat says of the application, by its number."""

    STALE_TOPOLOGY = 0
    MISSING_SOURCE_TOPICS = 1
    INCORRECTLY_PARTITIONED_TOPICS = 2
    MISSING_INTERNAL_TOPICS = 3
    SHUTDOWN_APPLICATION = 4
    ASSIGNMENT_DELAYED = 5


class Status(NamedTuple):
    """Something that a member is to know of its application."""

    code: StatusCode
    detail: str
