"""The states of a classic group, and the allowed transitions.

The table is Kafka's; `picture()` returns it as text. Source: the group coordinator's classic group
states (KIP-62, KIP-134 and KIP-345 describe the behaviour).

What a call to a classic group leads to, in the order in which it has to happen.

1. The records in `appends` are written, as one batch.
2. `then`, if set, is called with the result of the write (Error.NONE, or the error to answer) and
   returns further effects. Whatever depends on the write is decided there and only there, so a
   refused write loses nothing.
3. `answers` are sent, those of the first effects before those of the further ones. An answer in the
   first effects does not depend on the write.

`events` are logged, those of the first effects before anything is written.

A classic consumer group: its state, and the small steps that every larger one is made of.

The larger steps stand beside this module, as functions of a group: `joining`, `rebalance`. They are
synchronous, take `now`, and return what is to be written and answered (`Effects`) without doing
either. Times are milliseconds; timestamps count from 1970.

Not emulated: a parked request whose connection closes stays parked, as on a real broker. A member
that repeats a parked Join or Sync elsewhere is answered there; the first request gets no answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, NamedTuple

from ....wire.api.describe_groups import DescribeGroupsResponse
from ....wire.api.heartbeat import HeartbeatRequest
from ....wire.api.join_group import JoinGroupResponse
from ....wire.api.leave_group import LeaveGroupResponse
from ....wire.api.sync_group import SyncGroupResponse
from ....wire.errors import Error, Refused
from ...base.call import Call
from ...base.timers import Deadlines
from ..group import CommitRequest, GroupListing
from ..records import Record
from ..runtime import random_uuid
from ..settings import GroupSettings
from .consumer_protocol import Malformed, subscribed_topics
from .members import NO_MEMBER, GroupRecord, GroupTombstone, Member, MemberRecord, Roster


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


Answer = JoinGroupResponse | SyncGroupResponse | LeaveGroupResponse


def refused_join(error: Error, member_id: str = NO_MEMBER) -> JoinGroupResponse:
    return JoinGroupResponse(error_code=error, member_id=member_id, protocol_name=None)


def refused_sync(error: Error) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=error)


class GroupEvent(NamedTuple):
    kind: str
    member: Member | None
    reason: str
    details: dict[str, Any]


@dataclass(slots=True)
class Effects:
    """Records to write, answers to send, and events to log."""

    answers: list[tuple[Call, Answer]] = field(default_factory=list)
    appends: list[Record] = field(default_factory=list)
    then: Callable[[Error], Effects] | None = None
    events: list[GroupEvent] = field(default_factory=list)

    def answer(self, call: Call, answer: Answer) -> None:
        self.answers.append((call, answer))

    def log(
        self, kind: str, member: Member | None = None, reason: str = "", **details: Any
    ) -> None:
        self.events.append(GroupEvent(kind, member, reason, details))


CLASSIC = "classic"
CONSUMER = "consumer"


class Due(Enum):
    JOIN = "join"  # the round ends, even if some have not joined
    SYNC = "sync"  # members that have not synced are removed


class ClassicGroup:
    expires_when_empty = True

    def __init__(
        self,
        group_id: str,
        settings: GroupSettings,
        now: int,
        new_uuid: Callable[[], str] = random_uuid,
    ) -> None:
        self.group_id = group_id
        self.settings = settings
        self.new_uuid = new_uuid
        self.state: GroupState = EMPTY
        self.state_timestamp: int | None = now
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader: str | None = None
        self.roster = Roster()
        # Ids that were answered with MEMBER_ID_REQUIRED and have not joined since.
        self.pending: set[str] = set()
        # Parked requests by member id, in the order in which they came.
        self.joins: dict[str, Call] = {}
        self.syncs: dict[str, Call] = {}
        # Members whose Join has been answered and who have not sent a Sync since.
        self.unsynced: set[str] = set()
        # What the members subscribe to; None if that cannot be known.
        self.topics: frozenset[str] | None = None
        # Set while an Empty group gathers its first members: the current delay and how much may
        # still be added to it, in milliseconds.
        self.gathering: tuple[int, int] | None = None
        # A member joined while gathering. Kafka does not reset this when the time is used up, so
        # the next gathering of the same group may last one delay longer; ours may too.
        self.newcomer = False
        self.deadlines: Deadlines[str | Due] = Deadlines()

    def move(self, state: GroupState, now: int) -> None:
        """Change state. Raises AssertionError for a transition that the table does not allow."""
        assert may_become(self.state, state), f"{self.group_id}: {self.state} -> {state}"
        self.state = state
        self.state_timestamp = now

    @property
    def members(self) -> Roster:
        return self.roster

    @property
    def is_consumer_group(self) -> bool:
        """True if its members speak the consumer's embedded protocol."""
        return self.protocol_type == CONSUMER

    @property
    def all_joined(self) -> bool:
        """True if nobody is missing from the round, not even the holder of a pending id."""
        return len(self.joins) == len(self.roster) and not self.pending

    def check_member(
        self, member_id: str, instance_id: str | None, *, joins: bool = False
    ) -> Member:
        """The member. Raises Refused: UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID if another id
        holds the instance."""
        if instance_id is not None:
            holder = self.roster.instance(instance_id)
            if holder is None and (joins or self.settings.refuses_unknown_instances):
                raise Refused(Error.UNKNOWN_MEMBER_ID)
            if holder not in (None, member_id):
                raise Refused(Error.FENCED_INSTANCE_ID)
        member = self.roster.get(member_id)
        if member is None:
            raise Refused(Error.UNKNOWN_MEMBER_ID)
        return member

    def touch(self, member: Member, now: int) -> None:
        """Restart the member's session."""
        self.deadlines.set(member.member_id, now + member.session_timeout_ms)

    def remove(self, member_id: str) -> None:
        """Remove a member or a pending id; the first of the others replaces a leader."""
        self.roster.remove(member_id)
        self.pending.discard(member_id)
        self.unsynced.discard(member_id)
        self.deadlines.clear(member_id)
        if self.leader == member_id:
            self.leader = next((member.member_id for member in self.roster), None)

    def dismiss(self, member_id: str, effects: Effects) -> None:
        """Remove a member and answer its parked requests with UNKNOWN_MEMBER_ID, so that a live
        client joins again. (A real broker never answers the parked Sync of a member that another
        connection removes, so the client waits for its request timeout; ours need not.)"""
        if member_id in self.joins:
            effects.answer(self.joins.pop(member_id), refused_join(Error.UNKNOWN_MEMBER_ID))
        if member_id in self.syncs:
            effects.answer(self.syncs.pop(member_id), refused_sync(Error.UNKNOWN_MEMBER_ID))
        self.remove(member_id)

    def answer_syncs(self, error: Error, effects: Effects, now: int) -> None:
        """Answer every parked Sync: with its assignment, or with an error. Either restarts the
        member's session, which did not count while the member was waiting."""
        for member_id, call in self.syncs.items():
            member = self.roster[member_id]
            effects.answer(call, refused_sync(error) if error else self.assignment_of(member))
            self.touch(member, now)
        self.syncs.clear()

    def assignment_of(self, member: Member) -> SyncGroupResponse:
        return SyncGroupResponse(
            protocol_type=self.protocol_type,
            protocol_name=self.protocol_name,
            assignment=member.assignment,
        )

    def joined(self, member: Member, *, shows_members: bool = False) -> JoinGroupResponse:
        """The answer to a Join that succeeds, in the current generation. Only the leader is sent
        all members with their metadata."""
        name = self.protocol_name
        part = JoinGroupResponse.Member
        return JoinGroupResponse(
            generation_id=self.generation,
            protocol_type=self.protocol_type,
            protocol_name=name,
            leader=self.leader or "",
            member_id=member.member_id,
            members=[
                part(
                    member_id=each.member_id,
                    group_instance_id=each.instance_id,
                    metadata=each.metadata(name),
                )
                for each in (self.roster if shows_members else ())
            ],
        )

    def learn_topics(self) -> None:
        """Read what the members of the current generation subscribe to."""
        self.topics = None
        if not self.is_consumer_group:
            return
        if not self.roster:
            self.topics = frozenset()
        elif self.protocol_name is not None:
            name = self.protocol_name
            try:
                all_topics = [subscribed_topics(member.metadata(name)) for member in self.roster]
            except Malformed:
                return  # unknown, so every topic counts as subscribed
            self.topics = frozenset().union(*all_topics)

    # What members and administrators ask

    def heartbeat(self, request: HeartbeatRequest, now: int) -> None:
        """Heartbeat (semantics G9). Raises Refused: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID,
        ILLEGAL_GENERATION, or REBALANCE_IN_PROGRESS, which counts as a sign of life too."""
        member = self.check_member(request.member_id, request.group_instance_id)
        is_waiting = self.state is COMPLETING_REBALANCE
        if is_waiting and not self.settings.checks_generations_first:
            raise Refused(Error.REBALANCE_IN_PROGRESS)
        if request.generation_id != self.generation:
            raise Refused(Error.ILLEGAL_GENERATION)
        if is_waiting and not self.settings.lets_waiting_members_beat:
            raise Refused(Error.REBALANCE_IN_PROGRESS)
        self.deadlines.set(member.member_id, now + member.session_timeout_ms)
        if self.state is PREPARING_REBALANCE:
            raise Refused(Error.REBALANCE_IN_PROGRESS)

    def deadline(self) -> int | None:
        """The next time at which something expires, or None."""
        return self.deadlines.next()

    def shift(self, milliseconds: int) -> None:
        """The clock was set to another time: sessions and rounds go on as before."""
        self.deadlines.shift(milliseconds)

    def check_commit(self, request: CommitRequest, *, transactional: bool) -> None:
        """May this member commit offsets now (semantics G10, H4)? Raises Refused:
        UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS."""
        member_id, instance_id = request.member_id, request.instance_id
        generation = request.generation
        if transactional and not self.settings.checks_transactions_like_commits:
            self._check_old_transaction(request)
            return
        if generation < 0 and self.state is EMPTY:
            return  # a consumer that assigns its own partitions, or an administrator
        is_waiting = self.state is COMPLETING_REBALANCE and not transactional
        if is_waiting and not self.settings.checks_generations_first:
            raise Refused(Error.REBALANCE_IN_PROGRESS)
        if generation >= 0 or member_id or instance_id is not None:
            self.check_member(member_id, instance_id)
            if generation != self.generation:
                raise Refused(Error.ILLEGAL_GENERATION)
        elif not transactional:
            raise Refused(Error.UNKNOWN_MEMBER_ID)
        if is_waiting:
            raise Refused(Error.REBALANCE_IN_PROGRESS)

    def _check_old_transaction(self, request: CommitRequest) -> None:
        """What a broker up to 2.8 looks at, also where the group is empty: what is given."""
        holder = self.roster.instance(request.instance_id) if request.instance_id else None
        if holder not in (None, request.member_id):
            raise Refused(Error.FENCED_INSTANCE_ID)
        if request.member_id and self.roster.get(request.member_id) is None:
            raise Refused(Error.UNKNOWN_MEMBER_ID)
        if request.generation >= 0 and request.generation != self.generation:
            raise Refused(Error.ILLEGAL_GENERATION)

    def committed(self, member_id: str, now: int) -> None:
        """A commit of a member restarts its session."""
        member = self.roster.get(member_id)
        if member is not None:
            self.touch(member, now)

    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        """Anybody may fetch the offsets of a classic group."""

    def check_offset_delete(self) -> None:
        """May offsets be deleted (semantics G28)? Raises Refused(NON_EMPTY_GROUP) for a live group
        whose subscriptions a broker cannot read."""
        if self.state is not EMPTY and not self.is_consumer_group:
            raise Refused(Error.NON_EMPTY_GROUP)

    def check_delete(self) -> None:
        """May the group be deleted? Raises Refused(NON_EMPTY_GROUP)."""
        if self.state is not EMPTY:
            raise Refused(Error.NON_EMPTY_GROUP)

    def interrupt(self, error: Error) -> Effects:
        """All parked requests are answered `error`; their members may ask again."""
        effects = Effects()
        for member_id, join in self.joins.items():
            effects.answer(join, refused_join(error, member_id))
        for sync in self.syncs.values():
            effects.answer(sync, refused_sync(error))
        self.joins.clear()
        self.syncs.clear()
        return effects

    def close(self, error: Error, now: int) -> Effects:
        """The group ends, or its partition moves away: all parked requests are answered `error`."""
        effects = self.interrupt(error)
        self.move(DEAD, now)
        return effects

    def describe(self) -> DescribeGroupsResponse.Group:
        """DescribeGroups (semantics G13); metadata is shown while the group is Stable."""
        stable = self.state is STABLE
        return DescribeGroupsResponse.Group(
            group_id=self.group_id,
            group_state=self.state,
            protocol_type=self.protocol_type or "",
            protocol_data=(self.protocol_name or "") if stable else "",
            members=[
                DescribeGroupsResponse.Group.Member(
                    member_id=member.member_id,
                    group_instance_id=member.instance_id,
                    client_id=member.client_id,
                    client_host=member.client_host,
                    member_metadata=member.metadata(self.protocol_name) if stable else b"",
                    member_assignment=member.assignment,
                )
                for member in self.roster
            ],
        )

    def listing(self) -> GroupListing:
        """The group's line in ListGroups."""
        return GroupListing(self.group_id, self.protocol_type or "", self.state, CLASSIC)

    # What the records and the offsets depend on

    @property
    def offsets_may_expire(self) -> bool:
        if self.protocol_type is None or self.state is EMPTY:
            return True
        return self.is_consumer_group and self.topics is not None and self.state is STABLE

    @property
    def offsets_expire_since(self) -> int | None:
        """When retention begins for all of its offsets, or None if with each commit."""
        if self.protocol_type is None or self.state is not EMPTY:
            return None
        return self.state_timestamp

    def is_subscribed(self, topic: str) -> bool:
        return self.is_consumer_group if self.topics is None else topic in self.topics

    def record(self, assignments: dict[str, bytes] | None = None) -> GroupRecord:
        """The group's record, with these assignments instead of the present ones."""
        return GroupRecord(
            self.group_id,
            self.protocol_type or "",
            self.generation,
            self.protocol_name,
            self.leader,
            self.state_timestamp,
            tuple(
                MemberRecord(
                    member.member_id,
                    member.instance_id,
                    member.client_id,
                    member.client_host,
                    member.rebalance_timeout_ms,
                    member.session_timeout_ms,
                    member.metadata(self.protocol_name),
                    member.assignment
                    if assignments is None
                    else assignments.get(member.member_id, b""),
                )
                for member in self.roster
            ),
        )

    def tombstones(self) -> list[GroupTombstone]:
        """The record that deletes the group, if any record of it was written."""
        if not self.generation and not self.settings.writes_new_groups:
            return []
        return [GroupTombstone(self.group_id)]


def restore(
    record: GroupRecord,
    settings: GroupSettings,
    now: int,
    new_uuid: Callable[[], str] = random_uuid,
) -> ClassicGroup:
    """The group that its last record describes (semantics F7): Stable with the members it names,
    else Empty. Sessions begin once the whole log has been read."""
    group = ClassicGroup(record.group_id, settings, now, new_uuid)
    group.generation = record.generation
    group.protocol_type = record.protocol_type or None
    group.protocol_name = record.protocol_name
    group.leader = record.leader
    for member in record.members:
        group.roster.add(
            Member(
                member.member_id,
                member.instance_id,
                member.client_id,
                member.client_host,
                member.session_timeout_ms,
                # Before KIP-62 one timeout served as both.
                member.session_timeout_ms
                if member.rebalance_timeout_ms == -1
                else member.rebalance_timeout_ms,
                ((record.protocol_name or "", member.subscription),),
                member.assignment,
            )
        )
        group.leader = group.leader or member.member_id
    group.state = STABLE if record.members else EMPTY
    group.state_timestamp = record.state_timestamp
    group.learn_topics()
    return group
