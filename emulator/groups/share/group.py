"""A share group (KIP-932): the state in its records. It changes only by applying records.

What members do to it: heartbeat.py; which of its partitions have a state: states.py. Both are
functions that return the records to write. Only deadlines are kept here without records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ....wire.errors import Error, Refused
from ....wire.stored import share_groups as stored
from ...base.timers import Deadlines
from ..commit_request import CommitRequest
from ..group import EMPTY, GroupListing
from ..records import MessageRecord
from ..settings import GroupSettings
from ..topics_view import TopicsView
from .members import LEAVE_EPOCH, Assignment, ShareMember
from .records import NO_STATE, StatePartitions, group_tombstones, restored_state

SHARE_TYPE = "share"
STABLE = "Stable"
FIRST_EPOCH = 1


class ShareGroup:
    """One group."""

    expires_when_empty = False

    def __init__(self, group_id: str, settings: GroupSettings, topics: TopicsView) -> None:
        self.group_id = group_id
        self.settings = settings
        self.view = topics
        self.epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.target_epoch = FIRST_EPOCH
        self.target_timestamp = 0
        self.members: dict[str, ShareMember] = {}
        self.targets: dict[str, Assignment] = {}
        self.states: StatePartitions | None = None
        """Which partitions have a state; None before any had."""
        self.deadlines: Deadlines[str] = Deadlines()
        """When the sessions of members end."""
        self.checked_generation: int | None = None
        """The generation of the topics with which `metadata_hash` was last compared."""

    def __iter__(self) -> Iterator[ShareMember]:
        return iter(self.members.values())

    @property
    def state(self) -> str:
        """Stable or Empty."""
        return STABLE if self.members else EMPTY

    @property
    def known_states(self) -> StatePartitions:
        """Which partitions have a state."""
        return NO_STATE if self.states is None else self.states

    def member(self, member_id: str) -> ShareMember:
        """The member of that id. Raises Refused(UNKNOWN_MEMBER_ID)."""
        member = self.members.get(member_id)
        if member is None:
            message = f"Member {member_id} is not a member of group {self.group_id}."
            raise Refused(Error.UNKNOWN_MEMBER_ID, message)
        return member

    def subscriptions(self, changed: ShareMember | None = None) -> Counter[str]:
        """How many members subscribe to each topic; `changed` counts instead of the member of its
        id."""
        members = dict(self.members)
        if changed is not None:
            members[changed.member_id] = changed
        return Counter(name for member in members.values() for name in member.names)

    # What the coordinator asks of every group

    def deadline(self) -> int | None:
        """When the next session ends, or None."""
        return self.deadlines.next()

    def shift(self, milliseconds: int) -> None:
        """The clock was set to another time."""
        self.deadlines.shift(milliseconds)

    def check_commit(self, request: CommitRequest, *, transactional: bool) -> None:
        """Raises Refused(GROUP_ID_NOT_FOUND): a share group commits no offsets."""
        raise self._no_consumer_group()

    def committed(self, member_id: str, now: int) -> None:
        """Never called: nothing is committed."""

    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        """Anybody may ask for offsets; there are none."""

    def check_offset_delete(self) -> None:
        """Raises Refused(GROUP_ID_NOT_FOUND)."""
        raise self._no_consumer_group()

    def _no_consumer_group(self) -> Refused:
        message = f"Group {self.group_id} is not a consumer group."
        return Refused(Error.GROUP_ID_NOT_FOUND, message)

    def check_delete(self) -> None:
        """Raises Refused(NON_EMPTY_GROUP) while it has members."""
        if self.members:
            raise Refused(Error.NON_EMPTY_GROUP)

    def is_subscribed(self, topic: str) -> bool:
        """True if its members read this topic."""
        return any(topic in member.names for member in self.members.values())

    @property
    def offsets_may_expire(self) -> bool:
        """It has no offsets."""
        return False

    @property
    def offsets_expire_since(self) -> int | None:
        """It has no offsets."""
        return None

    def tombstones(self) -> list[MessageRecord]:
        """The records that delete the group."""
        return group_tombstones(self.group_id)

    def listing(self) -> GroupListing:
        """The group's line in ListGroups."""
        return GroupListing(self.group_id, SHARE_TYPE, self.state, SHARE_TYPE)

    # Applying records

    def apply(self, record: MessageRecord, now: int) -> None:
        """Apply a record that was just written or read from the log."""
        key: Any = record.key
        value: Any = record.value
        match key:
            case stored.ShareGroupMetadataKey():
                if value is not None:
                    self.epoch, self.metadata_hash = value.epoch, value.metadata_hash
            case stored.ShareGroupMemberMetadataKey():
                self._apply_member(key.member_id, value)
            case stored.ShareGroupTargetAssignmentMetadataKey():
                if value is not None:
                    self.target_epoch = value.assignment_epoch
                    self.target_timestamp = value.assignment_timestamp
            case stored.ShareGroupTargetAssignmentMemberKey():
                if value is None:
                    self.targets.pop(key.member_id, None)
                else:
                    self.targets[key.member_id] = _held(value.topic_partitions)
            case stored.ShareGroupCurrentMemberAssignmentKey():
                self._apply_current(key.member_id, value)
            case stored.ShareGroupStatePartitionMetadataKey():
                self.states = None if value is None else restored_state(value, now)

    def _apply_member(self, member_id: str, value: Any) -> None:
        if value is None:
            self.members.pop(member_id, None)
            return
        member = self.members.get(member_id) or ShareMember(member_id)
        self.members[member_id] = replace(
            member,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            names=frozenset(value.subscribed_topic_names),
        )

    def _apply_current(self, member_id: str, value: Any) -> None:
        member = self.members.get(member_id)
        if value is not None:
            self.members[member_id] = replace(
                member or ShareMember(member_id),
                epoch=value.member_epoch,
                previous_epoch=value.previous_member_epoch,
                assigned=_held(value.assigned_partitions),
            )
        elif member is not None:
            self.members[member_id] = replace(
                member, epoch=LEAVE_EPOCH, previous_epoch=LEAVE_EPOCH, assigned={}
            )


def _held(topics: Any) -> Assignment:
    return {each.topic_id: frozenset(each.partitions) for each in topics}
