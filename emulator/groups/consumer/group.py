"""A consumer group (KIP-848): the state in its records. It changes only by applying records.

What members do to it stands beside this module, one idea each, as functions that return the records
to write: heartbeat.py, leaving.py, regex.py, classic_members.py, conversion.py. So a refused write
changes nothing, and a restart restores the group. Only deadlines are kept here without records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from typing import Any

from ....wire.errors import Error, Refused
from ....wire.stored import consumer_groups as stored
from ...base.java_order import hash_map_order
from ...base.timers import Deadlines
from ..commit_request import CommitRequest
from ..group import GroupListing
from ..records import MessageRecord
from ..regex.lookup import Lookup
from ..settings import GroupSettings
from ..topics_view import TopicsView
from .members import LEAVE_EPOCH, ConsumerMember, with_current_value, with_member_value
from .members import Assignment as Target
from .records import ResolvedRegex, group_tombstones, restored_target
from .states import ConsumerGroupState, MemberState

CONSUMER_TYPE = "consumer"
FIRST_EPOCH = 1
_MEMBER_EPOCHS_SINCE = 9


class Due(Enum):
    """The kinds of deadlines; a kind and a member's id are the key of a deadline."""

    SESSION = "session"  # no heartbeat
    REBALANCE = "rebalance"  # did not give up its partitions
    JOIN = "join"  # speaks the classic protocol and has to join again
    SYNC = "sync"  # speaks the classic protocol and has not synced
    REGEX = "regex"  # the group's expressions are to be resolved


class ConsumerGroup:
    """One group, without its offsets."""

    expires_when_empty = True

    def __init__(self, group_id: str, settings: GroupSettings, topics: TopicsView) -> None:
        self.group_id = group_id
        self.settings = settings
        self.view = topics
        self.epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.target_epoch = FIRST_EPOCH
        self.target_timestamp = 0
        self.members: dict[str, ConsumerMember] = {}
        self.targets: dict[str, Target] = {}
        self.regexes: dict[str, ResolvedRegex] = {}
        self.deadlines: Deadlines[tuple[Due, str]] = Deadlines()
        # There is a record 4 of an older broker, to be deleted with the next change of the topics.
        self.has_partition_metadata = False
        # The generation of the topics with which `metadata_hash` was last compared, the hashes of
        # those topics then, and when they are compared again in any case.
        self.checked_generation: int | None = None
        self.checked_topics: dict[str, int] = {}
        self.refresh_at = 0
        # See `is_homogeneous`; None until it is needed.
        self._is_homogeneous: bool | None = True
        # By member id: the member's epoch when its rebalance timer began.
        self.revoking_epochs: dict[str, int] = {}
        # The expressions to resolve when (Due.REGEX, "") is due, and the lookup under way.
        self.wanted_regexes: frozenset[str] = frozenset()
        self.lookup: Lookup | None = None
        # Which topics may be found: those that the client may describe whose heartbeat came last.
        self.sees: Callable[[str], bool] | None = None
        self._regex_counts: Counter[str] = Counter()
        self._instances: dict[str, str] = {}
        self._holders: dict[tuple[bytes, int], str] = {}

    # State

    @property
    def state(self) -> ConsumerGroupState:
        """Computed from its epochs and members."""
        if not self.members:
            return ConsumerGroupState.EMPTY
        if self.epoch > self.target_epoch:
            return ConsumerGroupState.ASSIGNING
        if all(member.is_reconciled_to(self.target_epoch) for member in self.members.values()):
            return ConsumerGroupState.STABLE
        return ConsumerGroupState.RECONCILING

    def member(self, member_id: str) -> ConsumerMember:
        """The member of that id. Raises Refused(UNKNOWN_MEMBER_ID)."""
        member = self.members.get(member_id)
        if member is None:
            message = f"Member {member_id} is not a member of group {self.group_id}."
            raise Refused(Error.UNKNOWN_MEMBER_ID, message)
        return member

    def instance(self, instance_id: str | None) -> ConsumerMember | None:
        """The member that holds an instance, if there is one."""
        if instance_id is None:
            return None
        holder = self._instances.get(instance_id)
        return None if holder is None else self.members.get(holder)

    def target_of(self, member: ConsumerMember) -> Target:
        """The target of a member, or of the one whose instance it takes over."""
        holder = self.instance(member.instance_id)
        if member.instance_id is not None:
            return {} if holder is None else self.targets.get(holder.member_id, {})
        return self.targets.get(member.member_id, {})

    def is_held(self, topic_id: bytes, partition: int) -> bool:
        """True if a member has the partition, or has not given it up yet."""
        return (topic_id, partition) in self._holders

    @property
    def is_homogeneous(self) -> bool:
        """Whether all subscribe to the same topics, as of the last change of a member. Kafka uses
        that value unless the topics changed, so a new member without topics does not count."""
        if self._is_homogeneous is None:
            self._is_homogeneous = self.subscribe_alike(self.members.values())
        return self._is_homogeneous

    def regex_counts(self) -> Counter[str]:
        """How many members subscribe to each regular expression: a copy."""
        return self._regex_counts.copy()

    def names_of(self, member: ConsumerMember) -> frozenset[str]:
        """The topics a member subscribes to, by name or by a resolved expression."""
        resolved = self.regexes.get(member.regex) if member.regex else None
        return member.names if resolved is None else member.names | resolved.topics

    def is_subscribed(self, topic: str) -> bool:
        """True if its members read this topic."""
        return any(topic in member.names for member in self.members.values()) or any(
            topic in resolved.topics for resolved in self.regexes.values()
        )

    def __iter__(self) -> Iterator[ConsumerMember]:
        return iter(self.members.values())

    def __len__(self) -> int:
        return len(self.members)

    @property
    def offsets_may_expire(self) -> bool:
        """Offsets of topics that are not subscribed to may always expire."""
        return True

    @property
    def offsets_expire_since(self) -> int | None:
        """Retention begins with each commit."""
        return None

    # What members and administrators ask

    def deadline(self) -> int | None:
        """The next moment at which something is due, or None."""
        return self.deadlines.next()

    def shift(self, milliseconds: int) -> None:
        """The clock was set to another time: sessions and rebalances go on as before."""
        self.deadlines.shift(milliseconds)
        self.refresh_at += milliseconds

    def check_commit(self, request: CommitRequest, *, transactional: bool) -> None:
        """May this member commit these offsets now (semantics G24)? Raises Refused:
        UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH, ILLEGAL_GENERATION, UNSUPPORTED_VERSION."""
        if request.generation < 0 and not self.members:
            return
        is_plain = request.member_id == "" and request.instance_id is None
        if transactional and request.generation == LEAVE_EPOCH and is_plain:
            return
        member = self.member(request.member_id)
        is_new = member.classic is None
        if is_new and not transactional and request.version < _MEMBER_EPOCHS_SINCE:
            raise Refused(Error.UNSUPPORTED_VERSION)
        stale = Error.STALE_MEMBER_EPOCH
        if not is_new or transactional:
            stale = Error.ILLEGAL_GENERATION
        if request.generation > member.epoch:
            raise Refused(stale)
        if request.generation == member.epoch:
            return
        for commit in request.commits:
            # The member may not know its newer epoch yet: a partition that it has had since
            # the epoch in the request may be committed.
            topic = self.view.catalogue.get(commit.topic)  # transactions name no id
            given = None if topic is None else member.given_in(topic.id, commit.partition)
            if given is None or request.generation < given:
                raise Refused(stale)

    def committed(self, member_id: str, now: int) -> None:
        """A commit does not restart a session: only heartbeats do."""

    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        """May this member fetch offsets? Raises Refused: UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH,
        ILLEGAL_GENERATION. A request without a member may; an epoch without a member makes a real
        broker fail: UNKNOWN_SERVER_ERROR."""
        if member_id is None:
            if epoch >= 0:
                raise Refused(Error.UNKNOWN_SERVER_ERROR)
            return
        member = self.member(member_id)
        if epoch != member.epoch:
            is_new = member.classic is None
            raise Refused(Error.STALE_MEMBER_EPOCH if is_new else Error.ILLEGAL_GENERATION)

    def check_offset_delete(self) -> None:
        """Offsets may always be deleted, except of topics that are subscribed to."""

    def check_delete(self) -> None:
        """May the group be deleted? Raises Refused(NON_EMPTY_GROUP)."""
        if self.members:
            raise Refused(Error.NON_EMPTY_GROUP)

    def tombstones(self, instead: Mapping[str, str] | None = None) -> list[MessageRecord]:
        """The records that delete the group; `instead`: other ids for some members."""
        others = instead or {}
        members = [others.get(member_id, member_id) for member_id in self.members]
        return group_tombstones(self.group_id, members, self.regexes)

    def listing(self) -> GroupListing:
        """The group's line in ListGroups."""
        return GroupListing(self.group_id, CONSUMER_TYPE, self.state, CONSUMER_TYPE)

    def preferred_assignor(self, changed: ConsumerMember | None = None) -> str:
        """The assignor that most members name; in a tie the first in a HashMap of them; the default
        if none is named. `changed` counts instead of the member of its id."""
        members: Mapping[str, ConsumerMember] = self.members
        if changed is not None:
            members = {**self.members, changed.member_id: changed}
        votes = Counter(member.assignor for member in members.values() if member.assignor)
        if not votes:
            return self.settings.consumer_assignors[0]
        most = max(votes.values())
        return next(name for name in hash_map_order(votes) if votes[name] == most)

    # Applying records

    def apply(self, record: MessageRecord) -> None:
        """Apply a record that was just written or read from the log."""
        key: Any = record.key
        value: Any = record.value
        match key:
            case stored.ConsumerGroupMetadataKey():
                if value is not None:
                    self.epoch, self.metadata_hash = value.epoch, value.metadata_hash
            case stored.ConsumerGroupPartitionMetadataKey():
                self.has_partition_metadata = value is not None
            case stored.ConsumerGroupMemberMetadataKey():
                self._apply_member(key.member_id, value)
            case stored.ConsumerGroupTargetAssignmentMetadataKey():
                if value is not None:
                    self.target_epoch = value.assignment_epoch
                    self.target_timestamp = value.assignment_timestamp
            case stored.ConsumerGroupTargetAssignmentMemberKey():
                if value is None:
                    self.targets.pop(key.member_id, None)
                else:
                    self.targets[key.member_id] = restored_target(value)
            case stored.ConsumerGroupCurrentMemberAssignmentKey():
                self._apply_current(key.member_id, value)
            case stored.ConsumerGroupRegularExpressionKey():
                self._apply_regex(key.regular_expression, value)

    def subscribe_alike(self, members: Collection[ConsumerMember]) -> bool:
        """Whether all of these subscribe to the same: the same names, or one expression and no
        names."""
        by_name = Counter(name for member in members for name in member.names)
        expressions = Counter(member.regex for member in members if member.regex)
        if not expressions:
            resolved = {name for found in self.regexes.values() for name in found.topics}
            return resolved <= by_name.keys() and all(
                count == len(members) for count in by_name.values()
            )
        return not by_name and list(expressions.values()) == [len(members)]

    def put(self, member: ConsumerMember) -> None:
        """Add or replace the member of this id."""
        before = self.members.get(member.member_id)
        if before is not None:
            self._release(before)
        self.members[member.member_id] = member
        if member.instance_id is not None:
            self._instances[member.instance_id] = member.member_id
        for partition in member.partitions():
            self._holders[partition] = member.member_id
        if member.regex:
            self._regex_counts[member.regex] += 1
        self._is_homogeneous = None

    def _release(self, member: ConsumerMember) -> None:
        """Uncount what a member has and subscribes to, before it changes or leaves."""
        if member.regex:
            self._regex_counts[member.regex] -= 1
            if not self._regex_counts[member.regex]:
                del self._regex_counts[member.regex]
        for partition in member.partitions():
            if self._holders.get(partition) == member.member_id:
                del self._holders[partition]

    def _apply_member(self, member_id: str, value: Any) -> None:
        member = self.members.get(member_id)
        if value is not None:
            self.put(with_member_value(member or ConsumerMember(member_id), value))
        elif member is not None:
            self._release(member)
            del self.members[member_id]
            instance = member.instance_id
            if instance is not None and self._instances.get(instance) == member_id:
                del self._instances[instance]
            self._is_homogeneous = None

    def _apply_current(self, member_id: str, value: Any) -> None:
        member = self.members.get(member_id)
        if value is not None:
            self.put(with_current_value(member or ConsumerMember(member_id), value))
        elif member is not None:
            gone = replace(member, epoch=LEAVE_EPOCH, previous_epoch=LEAVE_EPOCH)
            self.put(replace(gone, state=MemberState.STABLE, assigned={}, revoking={}))

    def _apply_regex(self, regex: str, value: Any) -> None:
        _ = self.is_homogeneous  # computed before this change, as of the last change of a member
        if value is None:
            self.regexes.pop(regex, None)
        else:
            topics = frozenset(value.topics)
            self.regexes[regex] = ResolvedRegex(topics, value.version, value.timestamp)
