"""A group since KIP-848: the state in its records. It changes only by applying records.

What members do to it are functions that return the records to write (heartbeat.py, and those of its
type). So a refused write changes nothing, and a restart restores the group. Only deadlines are kept
here without records.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import Enum, StrEnum
from typing import Any, ClassVar, Generic, TypeVar

from ....wire.errors import Error, Refused
from ...base.timers import Deadlines
from ..group import CommitRequest, GroupListing, OffsetCommit
from ..records import MessageRecord
from ..settings import GroupSettings
from ..topics_view import TopicsView
from .member import LEAVE_EPOCH, ModernMember
from .records import GroupRecords

FIRST_EPOCH = 1
_MEMBER_EPOCHS_SINCE = 9
_WITH_EPOCHS = (
    "assigned_partitions",
    "partitions_pending_revocation",
)
"""Fields of what members have, with the epochs in which it came."""

M = TypeVar("M", bound=ModernMember[Any])
T = TypeVar("T")


class GroupState(StrEnum):
    """A group's state, by the name that describing and listing it show."""

    EMPTY = "Empty"  # no members
    NOT_READY = "NotReady"  # streams: topics are missing, or have wrong numbers of partitions
    ASSIGNING = "Assigning"  # the group's epoch is ahead of the target assignment's
    RECONCILING = "Reconciling"  # a member has not reached the target assignment
    STABLE = "Stable"


class Due(Enum):
    """The kinds of deadlines; a kind and a member's id are the key of a deadline."""

    SESSION = "session"  # no heartbeat
    REBALANCE = "rebalance"  # did not give up what it shall not keep
    JOIN = "join"  # speaks the classic protocol and has to join again
    SYNC = "sync"  # speaks the classic protocol and has not synced
    REGEX = "regex"  # the group's expressions are to be resolved; the member id is ""
    FIRST_ASSIGNMENT = "first assignment"  # the group's, whose member id is ""


class ModernGroup(Generic[M, T]):
    """One group of members of one class, each with a target. Its offsets are elsewhere."""

    type_name: ClassVar[str]
    """The type's name in ListGroups."""
    records: ClassVar[GroupRecords]
    member_class: ClassVar[type[ModernMember[Any]]]
    expires_when_empty = True
    offsets_may_expire = True  # of topics that are not read
    offsets_expire_since: int | None = None  # each commit
    counts_epochs_from_1 = keeps_epochs = False
    """In every release, whatever its other groups do."""
    rebalances = True
    """Whether its members give up what others are to get."""
    changes: ClassVar[str] = ""
    """The reason of its rebalances in events, apart from members that come and go."""

    def __init__(self, group_id: str, settings: GroupSettings, topics: TopicsView) -> None:
        self.group_id = group_id
        self.settings = settings
        self.view = topics
        first = FIRST_EPOCH if settings.counts_epochs_from_1 else 0
        self.epoch = FIRST_EPOCH if self.counts_epochs_from_1 else first
        self.metadata_hash = 0
        self.target_epoch = first
        self.target_timestamp = 0
        self.members: dict[str, M] = {}
        self.targets: dict[str, T] = {}
        self.deadlines: Deadlines[tuple[Due, str]] = Deadlines()
        self.revoking_epochs: dict[str, int] = {}
        """By member id: the member's epoch when its rebalance timer began."""
        self.checked_generation: int | None = None
        """The generation of the topics with which `metadata_hash` was last compared."""

    def __iter__(self) -> Iterator[M]:
        return iter(self.members.values())

    def __len__(self) -> int:
        return len(self.members)

    @property
    def state(self) -> GroupState:
        """Computed from its epochs and members."""
        if not self.members:
            return GroupState.EMPTY
        if self.epoch > self.target_epoch:
            return GroupState.ASSIGNING
        if all(member.is_reconciled_to(self.target_epoch) for member in self):
            return GroupState.STABLE
        return GroupState.RECONCILING

    @property
    def max_size(self) -> int:
        raise NotImplementedError

    def member(self, member_id: str) -> M:
        """The member of that id. Raises Refused(UNKNOWN_MEMBER_ID)."""
        member = self.members.get(member_id)
        if member is None:
            message = f"Member {member_id} is not a member of group {self.group_id}."
            raise Refused(Error.UNKNOWN_MEMBER_ID, message)
        return member

    def new_member(self, member_id: str) -> M:
        made: Any = self.member_class(member_id)
        return made  # type: ignore[no-any-return]

    def record(self, epoch: int, metadata_hash: int) -> MessageRecord:
        """The group's record with another epoch and another hash of its topics."""
        return self.records.group_record(self.group_id, epoch, metadata_hash)

    def raised(self) -> MessageRecord:
        """The record that raises the group's epoch, and changes nothing else."""
        return self.record(self.epoch + 1, self.metadata_hash)

    def current_record(self, member: M) -> MessageRecord:
        record = self.records.current_record(self.group_id, member)
        if not self.settings.keeps_epochs_of_partitions:
            for name in _WITH_EPOCHS:
                for each in getattr(record.value, name, ()):
                    each.assignment_epochs = type(each)().assignment_epochs
        return record

    def target_record(self, member_id: str, target: T) -> MessageRecord:
        """The record of a member's target."""
        raise NotImplementedError

    def removal(self, members: Collection[Any]) -> list[MessageRecord]:
        raise NotImplementedError

    # What the coordinator asks of every group

    def deadline(self) -> int | None:
        """The next moment at which something is due, or None."""
        return self.deadlines.next()

    def shift(self, milliseconds: int) -> None:
        """The clock was set to another time: sessions and rebalances go on as before."""
        self.deadlines.shift(milliseconds)

    def check_commit(self, request: CommitRequest, *, transactional: bool) -> None:
        """May this member commit these offsets now (semantics G24, N36)? Raises Refused:
        UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH, ILLEGAL_GENERATION, UNSUPPORTED_VERSION."""
        if request.generation < 0 and not self.members:
            return
        is_plain = request.member_id == "" and request.instance_id is None
        if transactional and request.generation == LEAVE_EPOCH and is_plain:
            return
        member = self.member(request.member_id)
        has_generations = transactional or member.is_classic
        if not has_generations and request.version < _MEMBER_EPOCHS_SINCE:
            raise Refused(Error.UNSUPPORTED_VERSION)
        stale = Error.ILLEGAL_GENERATION if has_generations else Error.STALE_MEMBER_EPOCH
        if request.generation > member.epoch:
            raise Refused(stale)
        if request.generation == member.epoch:
            return
        for commit in request.commits:
            # The member may not know its newer epoch yet: what it has had since the epoch in the
            # request may be committed.
            given = None
            if self.settings.keeps_epochs_of_partitions or self.keeps_epochs:
                given = self.given_in(member, commit)
            if given is None or request.generation < given:
                raise Refused(stale)

    def given_in(self, member: M, commit: OffsetCommit) -> int | None:
        """The epoch in which a member got this partition, if it has it or has not given it up
        yet."""
        raise NotImplementedError

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
            is_classic = member.is_classic
            raise Refused(Error.ILLEGAL_GENERATION if is_classic else Error.STALE_MEMBER_EPOCH)

    def check_offset_delete(self) -> None:
        """Offsets may always be deleted, except of topics that are read."""

    def check_delete(self) -> None:
        """May the group be deleted? Raises Refused(NON_EMPTY_GROUP)."""
        if self.members:
            raise Refused(Error.NON_EMPTY_GROUP)

    def is_subscribed(self, topic: str) -> bool:
        raise NotImplementedError

    def tombstones(self) -> list[MessageRecord]:
        raise NotImplementedError

    def listing(self) -> GroupListing:
        """The group's line in ListGroups."""
        return GroupListing(self.group_id, self.type_name, self.state, self.type_name)

    # Applying records

    def apply(self, record: MessageRecord, now: int) -> None:
        """Apply a record that was just written or read from the log."""
        key: Any = record.key
        value: Any = record.value
        kind, table = type(key), self.records
        if kind is table.member_key:
            self._apply_member(key.member_id, value)
        elif kind is table.current_key:
            self._apply_current(key.member_id, value)
        elif kind is table.target_key:
            if value is None:
                self.targets.pop(key.member_id, None)
            else:
                self.targets[key.member_id] = self.restored_target(value)
        elif kind is table.target_epoch_key:
            if value is not None:
                self.target_epoch = value.assignment_epoch
                self.target_timestamp = value.assignment_timestamp
        elif kind is not table.group_key:
            self.apply_own(key, value, now)
        elif value is not None:
            self.apply_group(value)

    def apply_group(self, value: Any) -> None:
        """Apply the group's record."""
        self.epoch, self.metadata_hash = value.epoch, value.metadata_hash

    def apply_own(self, key: Any, value: Any, now: int) -> None:
        """Apply a record that only groups of its type have."""
        raise NotImplementedError

    def restored_target(self, value: Any) -> T:
        raise NotImplementedError

    def put(self, member: M) -> None:
        self.members[member.member_id] = member

    def drop(self, member: M) -> None:
        del self.members[member.member_id]

    def _apply_member(self, member_id: str, value: Any) -> None:
        member = self.members.get(member_id)
        if value is not None:
            self.put((member or self.new_member(member_id)).with_reported(value))
        elif member is not None:
            self.drop(member)

    def _apply_current(self, member_id: str, value: Any) -> None:
        member = self.members.get(member_id)
        if value is not None:
            self.put((member or self.new_member(member_id)).with_current(value))
        elif member is not None:
            self.put(member.emptied())
