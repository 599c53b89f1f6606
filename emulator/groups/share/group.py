"""A share group (KIP-932): the state in its records. It changes only by applying records.

What members do to it: heartbeat.py; which of its partitions have a state: states.py. Both are
functions that return the records to write. It commits no offsets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from ....wire.errors import Error, Refused
from ....wire.stored import share_groups as stored
from ..group import CommitRequest
from ..modern.group import GroupState, ModernGroup
from ..records import MessageRecord
from ..settings import GroupSettings
from ..topics_view import TopicsView
from .members import (
    NO_STATE,
    RECORDS,
    Assignment,
    ShareMember,
    StatePartitions,
    group_tombstones,
    restored,
    restored_state,
    target_value,
)


class ShareGroup(ModernGroup[ShareMember, Assignment]):
    type_name = "share"
    records = RECORDS
    member_class = ShareMember
    expires_when_empty = False
    rebalances = False
    offsets_may_expire = False

    def __init__(self, group_id: str, settings: GroupSettings, topics: TopicsView) -> None:
        super().__init__(group_id, settings, topics)
        self.states: StatePartitions | None = None
        """Which partitions have a state; None before any had."""

    @property
    def state(self) -> GroupState:
        return GroupState.STABLE if self.members else GroupState.EMPTY

    @property
    def max_size(self) -> int:
        return self.settings.share_max_size

    @property
    def known_states(self) -> StatePartitions:
        return NO_STATE if self.states is None else self.states

    def subscriptions(self, changed: ShareMember | None = None) -> Counter[str]:
        """How many members subscribe to each topic; `changed` counts instead of the member of its
        id."""
        members = dict(self.members)
        if changed is not None:
            members[changed.member_id] = changed
        return Counter(name for member in members.values() for name in member.names)

    # What the coordinator asks of every group

    def check_commit(self, request: CommitRequest, *, transactional: bool) -> None:
        """Raises Refused(GROUP_ID_NOT_FOUND): a share group commits no offsets."""
        raise self._no_consumer_group()

    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        """Anybody may ask for offsets; there are none."""

    def check_offset_delete(self) -> None:
        """Raises Refused(GROUP_ID_NOT_FOUND)."""
        raise self._no_consumer_group()

    def _no_consumer_group(self) -> Refused:
        message = f"Group {self.group_id} is not a consumer group."
        return Refused(Error.GROUP_ID_NOT_FOUND, message)

    def is_subscribed(self, topic: str) -> bool:
        return any(topic in member.names for member in self.members.values())

    def target_record(self, member_id: str, target: Assignment) -> MessageRecord:
        """13: the target of a member."""
        return RECORDS.target_record(self.group_id, member_id, target_value(target))

    def removal(self, members: Collection[ShareMember]) -> list[MessageRecord]:
        names = self.subscriptions()
        gone: list[MessageRecord] = []
        for member in members:
            names.subtract(member.names)
            gone += RECORDS.member_tombstones(self.group_id, member.member_id)
        rest = [name for name, count in names.items() if count > 0]
        return [*gone, self.record(self.epoch + 1, self.view.hash_of(rest))]

    def tombstones(self) -> list[MessageRecord]:
        return group_tombstones(self.group_id)

    # Applying records

    def apply_own(self, key: Any, value: Any, now: int) -> None:
        """Apply 15: which partitions have a state."""
        self.states = None if value is None else restored_state(value, now)

    def restored_target(self, value: stored.ShareGroupTargetAssignmentMemberValue) -> Assignment:
        """The target in record 13."""
        return restored(value.topic_partitions)
