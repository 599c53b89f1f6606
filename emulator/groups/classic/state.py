"""The state of one classic group, and the small steps every larger one is made of.

The larger steps live beside this module, one idea each: `joining`, `static_members`, `rebalance`,
`syncing`, `leaving`, `expiry`; `classic` is their common face.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from uuid import uuid4

from ....wire.errors import Error, Refused
from ...base.deadlines import Deadlines
from ..messages import JoinAnswer, JoinMember, SyncAnswer
from ..records import GroupRecord, MemberRecord
from ..settings import GroupSettings
from .effects import Effects, Token
from .members import Member, Roster
from .states import EMPTY, STABLE, GroupState, may_become
from .subscription import subscribed_topics

CONSUMER = "consumer"


class Due(Enum):
    """The deadlines a group has besides its members' sessions."""

    JOIN = "join"  # the round ends, whoever has not joined
    SYNC = "sync"  # whoever has not synced is out


def random_uuid() -> str:
    """The random half of a member id."""
    return str(uuid4())


class Group:
    """Everything there is to know about a group besides its offsets."""

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
        # Ids that were given out with MEMBER_ID_REQUIRED and have not come back.
        self.pending: set[str] = set()
        # Parked requests by member id, in the order they came.
        self.joins: dict[str, Token] = {}
        self.syncs: dict[str, Token] = {}
        # Members that have their Join answer and have not sent a Sync since.
        self.unsynced: set[str] = set()
        # What the members subscribe to; None if that cannot be known.
        self.topics: frozenset[str] | None = None
        # Set while an Empty group gathers its first members: the delay under way and what may
        # still be added to it, in milliseconds.
        self.gathering: tuple[int, int] | None = None
        # A member came while gathering. Kafka never resets this when the time is used up, so the
        # next gathering of the same group may last one delay longer; so does ours.
        self.newcomer = False
        self.deadlines: Deadlines[str | Due] = Deadlines()

    def move(self, state: GroupState, now: int) -> None:
        """Change state. Raises AssertionError where the table of states has no such arrow."""
        assert may_become(self.state, state), f"{self.group_id}: {self.state} -> {state}"
        self.state = state
        self.state_timestamp = now

    @property
    def is_consumer_group(self) -> bool:
        """True if its members speak the consumer's embedded protocol."""
        return self.protocol_type == CONSUMER

    @property
    def all_joined(self) -> bool:
        """True if nobody is missing from the round, not even the holder of a pending id."""
        return len(self.joins) == len(self.roster) and not self.pending

    def check_member(self, member_id: str, instance_id: str | None) -> Member:
        """The member. Raises Refused: UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID if another id
        holds the instance."""
        if instance_id is not None:
            holder = self.roster.instance(instance_id)
            if holder is None:
                raise Refused(Error.UNKNOWN_MEMBER_ID)
            if holder != member_id:
                raise Refused(Error.FENCED_INSTANCE_ID)
        member = self.roster.get(member_id)
        if member is None:
            raise Refused(Error.UNKNOWN_MEMBER_ID)
        return member

    def touch(self, member: Member, now: int) -> None:
        """Start the member's session anew."""
        self.deadlines.set(member.member_id, now + member.session_timeout_ms)

    def remove(self, member_id: str) -> None:
        """Forget a member or a pending id; a leader is replaced by whoever came first."""
        self.roster.remove(member_id)
        self.pending.discard(member_id)
        self.unsynced.discard(member_id)
        self.deadlines.clear(member_id)
        if self.leader == member_id:
            self.leader = next((member.member_id for member in self.roster), None)

    def dismiss(self, member_id: str, effects: Effects) -> None:
        """Forget a member and answer what it has parked with UNKNOWN_MEMBER_ID, so that a live
        client joins again. (A real broker never answers the parked Sync of a member that another
        connection removes; a client of ours need not wait for its request timeout.)"""
        if member_id in self.joins:
            effects.answer(self.joins.pop(member_id), JoinAnswer(Error.UNKNOWN_MEMBER_ID))
        if member_id in self.syncs:
            effects.answer(self.syncs.pop(member_id), SyncAnswer(Error.UNKNOWN_MEMBER_ID))
        self.remove(member_id)

    def answer_syncs(self, error: Error, effects: Effects, now: int) -> None:
        """Answer every parked Sync: with its assignment, or with an error. Either starts the
        member's session anew, for it ran out unnoticed while the member was waiting."""
        for member_id, token in self.syncs.items():
            member = self.roster[member_id]
            effects.answer(token, SyncAnswer(error) if error else self.assignment_of(member))
            self.touch(member, now)
        self.syncs.clear()

    def assignment_of(self, member: Member) -> SyncAnswer:
        """The answer to a Sync that succeeds."""
        return SyncAnswer(Error.NONE, self.protocol_type, self.protocol_name, member.assignment)

    def joined(self, member: Member, members: Iterable[JoinMember] = ()) -> JoinAnswer:
        """The answer to a Join that succeeds, in the current generation."""
        return JoinAnswer(
            Error.NONE,
            member.member_id,
            self.generation,
            self.protocol_type,
            self.protocol_name,
            self.leader or "",
            members=tuple(members),
        )

    def members_for_leader(self) -> tuple[JoinMember, ...]:
        """What only the leader is told: everybody, with what they said about themselves."""
        name = self.protocol_name
        return tuple(JoinMember(m.member_id, m.instance_id, m.metadata(name)) for m in self.roster)

    def learn_topics(self) -> None:
        """Work out what the members of the current generation subscribe to."""
        self.topics = None
        if not self.is_consumer_group:
            return
        if not self.roster:
            self.topics = frozenset()
        elif self.protocol_name is not None:
            name = self.protocol_name
            try:
                all_topics = [subscribed_topics(member.metadata(name)) for member in self.roster]
            except ValueError:
                return  # nobody knows, so every topic counts as subscribed
            self.topics = frozenset().union(*all_topics)

    @property
    def offsets_may_expire(self) -> bool:
        """Whether any of its offsets may outlive their retention now."""
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
        """True if its members (may) read this topic."""
        return self.is_consumer_group if self.topics is None else topic in self.topics

    def record(self, assignments: dict[str, bytes] | None = None) -> GroupRecord:
        """The group as it is written down, with these assignments instead of the present ones."""
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
