"""A streams group (KIP-1071): the state in its records. It changes only by applying records.

What members do to it: heartbeat.py, as functions that return the records to write. Deadlines are
kept here without records, and so is what a broker keeps in memory only (`Unwritten`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from ....wire.errors import Error, Refused
from ....wire.stored import streams_groups as stored
from ...base.timers import Deadlines
from ..commit_request import CommitRequest
from ..group import GroupListing
from ..records import MessageRecord
from ..settings import GroupSettings
from ..topics_view import TopicsView
from .configured import Configured
from .members import LEAVE_EPOCH, StreamsMember, with_current_value, with_member_value
from .messages import MemberPlace
from .reconcile import Holders
from .records import group_tombstones, restored_target
from .states import MemberState, StreamsGroupState
from .tasks import NONE_HELD, Target
from .topology import Topology

STREAMS_TYPE = "streams"
FIRST_EPOCH = 1
_MEMBER_EPOCHS_SINCE = 9
NO_GENERATION = -1


class Due(Enum):
    """The kinds of deadlines; a kind and a member's id are the key of a deadline."""

    SESSION = "session"  # no heartbeat
    REBALANCE = "rebalance"  # did not give up its tasks
    FIRST_ASSIGNMENT = "first assignment"  # the group's, whose member id is ""


FIRST_ASSIGNMENT = (Due.FIRST_ASSIGNMENT, "")


@dataclass
class Unwritten:
    """What a restart forgets, and what a new group does not have until its second heartbeat."""

    configured: Configured | None = None
    """What the topics make of the topology."""
    shown: Configured | None = None
    """The same as calls that only look see it, until something is written to the partition."""
    configured_at: int = 0
    """How often the partition was written to when `configured` was set."""
    seen_generation: int | None = None
    """The generation of the topics when `seen_hash` was computed."""
    seen_hash: int = 0
    """The hash of the topology's topics."""
    compared_epoch: int | None = None
    """The group's epoch, raised by the heartbeat since which the topics have not changed: the hash
    is compared again when they change, or if the group did not come to that epoch."""
    endpoint_epoch: int = 0
    """Rises when the tasks of a member with an endpoint change."""
    shutdown_by: str | None = None
    """The member that asked for the shutdown of the application."""
    places: dict[str, MemberPlace] = field(default_factory=dict)
    """What was told of members' endpoints, by member id, until the member or the topics change."""


class StreamsGroup:
    """One group, without its offsets."""

    expires_when_empty = True

    def __init__(self, group_id: str, settings: GroupSettings, topics: TopicsView) -> None:
        self.group_id = group_id
        self.settings = settings
        self.view = topics
        self.epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.validated_epoch = 0
        """The epoch of the topology that the topics fit; -1 for none."""
        self.last_configs: Mapping[str, str] = {}
        self.topology: Topology | None = None
        self.target_epoch = FIRST_EPOCH
        self.target_timestamp = 0
        self.members: dict[str, StreamsMember] = {}
        self.targets: dict[str, Target] = {}
        self.holders = Holders()
        self.deadlines: Deadlines[tuple[Due, str]] = Deadlines()
        self.revoking_epochs: dict[str, int] = {}
        """By member id: the member's epoch when its rebalance timer began."""
        self.unwritten = Unwritten()
        self.told_problem = ""
        """What events have told last of topics that do not fit."""

    def __iter__(self) -> Iterator[StreamsMember]:
        return iter(self.members.values())

    def __len__(self) -> int:
        return len(self.members)

    @property
    def state(self) -> StreamsGroupState:
        """Computed from its epochs, topology and members."""
        if not self.members:
            return StreamsGroupState.EMPTY
        if not self.is_ready:
            return StreamsGroupState.NOT_READY
        if self.epoch > self.target_epoch:
            return StreamsGroupState.ASSIGNING
        if all(member.is_reconciled_to(self.target_epoch) for member in self):
            return StreamsGroupState.STABLE
        return StreamsGroupState.RECONCILING

    @property
    def is_ready(self) -> bool:
        """Whether the topics fit the topology."""
        return self.topology is not None and self.topology.epoch == self.validated_epoch

    def member(self, member_id: str) -> StreamsMember:
        """The member of that id. Raises Refused(UNKNOWN_MEMBER_ID)."""
        member = self.members.get(member_id)
        if member is None:
            message = f"Member {member_id} is not a member of group {self.group_id}."
            raise Refused(Error.UNKNOWN_MEMBER_ID, message)
        return member

    def set_configured(self, configured: Configured, writes: int) -> None:
        """The topics make this of the topology; `writes`: how often the partition was written
        to."""
        self.unwritten.shown = self.shown_configured(writes)
        self.unwritten.configured = configured
        self.unwritten.configured_at = writes
        self.unwritten.places.clear()

    def shown_configured(self, writes: int) -> Configured | None:
        """What calls that only look see of it: a real broker shows them what there was when the
        partition was last written to."""
        kept = self.unwritten
        return kept.configured if writes > kept.configured_at else kept.shown

    # What the coordinator asks of every group

    def deadline(self) -> int | None:
        """The next moment at which something is due, or None."""
        return self.deadlines.next()

    def shift(self, milliseconds: int) -> None:
        """The clock was set to another time."""
        self.deadlines.shift(milliseconds)

    def check_commit(self, request: CommitRequest, *, transactional: bool) -> None:
        """May this member commit these offsets now (semantics N36)? Raises Refused:
        UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH, ILLEGAL_GENERATION, UNSUPPORTED_VERSION."""
        if request.generation < 0 and not self.members:
            return
        is_plain = request.member_id == "" and request.instance_id is None
        if transactional and request.generation == NO_GENERATION and is_plain:
            return
        member = self.member(request.member_id)
        if not transactional and request.version < _MEMBER_EPOCHS_SINCE:
            raise Refused(Error.UNSUPPORTED_VERSION)
        stale = Error.ILLEGAL_GENERATION if transactional else Error.STALE_MEMBER_EPOCH
        if request.generation > member.epoch:
            raise Refused(stale)
        if request.generation == member.epoch:
            return
        for commit in request.commits:
            # The member may not know its newer epoch yet: the topics of a task that it has had
            # since the epoch in the request may be committed.
            reader = None if self.topology is None else self.topology.readers.get(commit.topic)
            given = None if reader is None else member.given_in(reader, commit.partition)
            if given is None or request.generation < given:
                raise Refused(stale)

    def committed(self, member_id: str, now: int) -> None:
        """A commit does not restart a session: only heartbeats do."""

    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        """May this member fetch offsets? Raises Refused: UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH. A
        request without a member may; an epoch without a member makes a real broker fail:
        UNKNOWN_SERVER_ERROR."""
        if member_id is None:
            if epoch >= 0:
                raise Refused(Error.UNKNOWN_SERVER_ERROR)
        elif epoch != self.member(member_id).epoch:
            raise Refused(Error.STALE_MEMBER_EPOCH)

    def check_offset_delete(self) -> None:
        """Offsets may always be deleted, except of topics that are read."""

    def check_delete(self) -> None:
        """Raises Refused(NON_EMPTY_GROUP) while it has members."""
        if self.members:
            raise Refused(Error.NON_EMPTY_GROUP)

    def is_subscribed(self, topic: str) -> bool:
        """True if its members read this topic."""
        is_read = self.topology is not None and topic in self.topology.readers
        return bool(self.members) and is_read

    @property
    def offsets_may_expire(self) -> bool:
        """Offsets of topics that are not read may always expire."""
        return True

    @property
    def offsets_expire_since(self) -> int | None:
        """Retention begins with each commit."""
        return None

    def tombstones(self) -> list[MessageRecord]:
        """The records that delete the group, which has no members."""
        return group_tombstones(self.group_id)

    def listing(self) -> GroupListing:
        """The group's line in ListGroups."""
        return GroupListing(self.group_id, STREAMS_TYPE, self.state, STREAMS_TYPE)

    # Applying records

    def apply(self, record: MessageRecord) -> None:
        """Apply a record that was just written or read from the log."""
        key: Any = record.key
        value: Any = record.value
        match key:
            case stored.StreamsGroupMetadataKey():
                if value is not None:
                    self._apply_group(value)
            case stored.StreamsGroupTopologyKey():
                self.topology = None if value is None else Topology(value)
            case stored.StreamsGroupMemberMetadataKey():
                self._apply_member(key.member_id, value)
            case stored.StreamsGroupTargetAssignmentMetadataKey():
                if value is not None:
                    self.target_epoch = value.assignment_epoch
                    self.target_timestamp = value.assignment_timestamp
            case stored.StreamsGroupTargetAssignmentMemberKey():
                if value is None:
                    self.targets.pop(key.member_id, None)
                else:
                    self.targets[key.member_id] = restored_target(value)
            case stored.StreamsGroupCurrentMemberAssignmentKey():
                self._apply_current(key.member_id, value)

    def _apply_group(self, value: stored.StreamsGroupMetadataValue) -> None:
        self.epoch, self.metadata_hash = value.epoch, value.metadata_hash
        self.validated_epoch = value.validated_topology_epoch
        configs = value.last_assignment_configs or ()
        self.last_configs = {each.key: each.value for each in configs}

    def _put(self, member: StreamsMember) -> None:
        before = self.members.get(member.member_id)
        if before is not None:
            self.holders.remove(before)
        self.members[member.member_id] = member
        self.holders.add(member)
        self.unwritten.places.pop(member.member_id, None)

    def _apply_member(self, member_id: str, value: Any) -> None:
        member = self.members.get(member_id)
        if value is not None:
            self._put(with_member_value(member or StreamsMember(member_id), value))
        elif member is not None:
            self.holders.remove(member)
            del self.members[member_id]
            self.unwritten.places.pop(member_id, None)
            if not self.members:
                self.unwritten.shutdown_by = None

    def _apply_current(self, member_id: str, value: Any) -> None:
        member = self.members.get(member_id)
        if value is not None:
            self._put(with_current_value(member or StreamsMember(member_id), value))
        elif member is not None:
            gone = replace(member, epoch=LEAVE_EPOCH, previous_epoch=LEAVE_EPOCH)
            state = MemberState.STABLE
            self._put(replace(gone, state=state, assigned=NONE_HELD, revoking=NONE_HELD))
