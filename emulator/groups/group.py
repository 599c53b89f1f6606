"""The interface of a group of any type to the coordinator and to OffsetCommit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from ...wire.errors import Error, Refused
from ...wire.primitives import NO_ID
from .records import Record

NO_LEADER_EPOCH = -1
NO_RETENTION = -1
NO_TIME = -1

EMPTY = "Empty"
"""The state in which every type of group has no members."""


class GroupListing(NamedTuple):
    group_id: str
    protocol_type: str
    state: str
    type: str

    @property
    def state_filter(self) -> str:
        """The state as a filter of ListGroups names it, in lower case."""
        return "not_ready" if self.state == "NotReady" else self.state.lower()


class OffsetCommit(NamedTuple):
    topic: str
    partition: int
    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str | None = ""
    topic_id: bytes = NO_ID
    timestamp: int = NO_TIME
    """When it was committed (ms); -1 means now. Only OffsetCommit v1 sends another."""


class CommitRequest(NamedTuple):
    """OffsetCommit or TxnOffsetCommit, of partitions that exist. `retention_ms` is -1 for the
    broker's own; only OffsetCommit v2-4 sends another."""

    version: int
    member_id: str
    instance_id: str | None
    generation: int
    commits: Sequence[OffsetCommit]
    retention_ms: int = NO_RETENTION


class Group(Protocol):
    """A group of any type, without its offsets."""

    @property
    def group_id(self) -> str: ...

    @property
    def state(self) -> str:
        """The state's name, as clients are shown it."""
        ...

    @property
    def members(self) -> Any:
        """Has `get`: a member by its id, or None."""
        ...

    def deadline(self) -> int | None:
        """The next time at which something is due, or None."""
        ...

    def shift(self, milliseconds: int) -> None:
        """The clock was set to another time: what is due is due as long from now as before."""
        ...

    def check_commit(self, request: CommitRequest, *, transactional: bool) -> None:
        """Raises Refused if the member may not commit these offsets now."""
        ...

    def committed(self, member_id: str, now: int) -> None:
        """A commit has passed the check: it may count as a sign of life."""
        ...

    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        """Raises Refused if the member may not fetch offsets now."""
        ...

    def check_offset_delete(self) -> None:
        """Raises Refused if no offsets of the group may be deleted now."""
        ...

    def check_delete(self) -> None:
        """Raises Refused(NON_EMPTY_GROUP) if the group may not be deleted now."""
        ...

    def is_subscribed(self, topic: str) -> bool:
        """True if its members read this topic, or may do so."""
        ...

    @property
    def expires_when_empty(self) -> bool:
        """Whether it is deleted when it has neither members nor offsets any more."""
        ...

    @property
    def offsets_may_expire(self) -> bool:
        """Whether any of its offsets may expire now."""
        ...

    @property
    def offsets_expire_since(self) -> int | None:
        """When retention begins for all of its offsets, or None if with each commit."""
        ...

    def tombstones(self) -> Sequence[Record]:
        """The records that delete the group, but not its offsets."""
        ...

    def listing(self) -> GroupListing:
        """The group's line in ListGroups."""
        ...


def existing(group_id: str, group: Group | None) -> Group:
    """The group. Raises Refused(GROUP_ID_NOT_FOUND) if there is none."""
    if group is None:
        raise Refused(Error.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
    return group
