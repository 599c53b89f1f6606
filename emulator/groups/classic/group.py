"""A classic consumer group: a synchronous state machine that is told what time it is.

Every call says what is to be written and answered (`Effects`) and does neither itself. It knows no
socket, no clock and no wire message. Times are milliseconds; moments are since 1970.

Not emulated: a parked request whose connection closes stays parked, as on a real broker. A member
that repeats a parked Join or Sync elsewhere is answered there, and the first is let go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....wire.errors import Error, Refused
from ..messages import (
    GroupDescription,
    GroupListing,
    HeartbeatRequest,
    JoinAnswer,
    JoinRequest,
    Leaver,
    MemberDescription,
    SyncAnswer,
    SyncRequest,
)
from ..offsets.committed import CommitRequest
from ..records import GroupRecord
from ..settings import GroupSettings
from . import expiry, joining, leaving, rebalance, syncing
from .effects import Effects, Token
from .members import Member
from .state import Group, random_uuid
from .states import COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE

CLASSIC = "classic"


class ClassicGroup(Group):
    """One group, as its members and administrators see it."""

    def join(self, token: Token, request: JoinRequest, now: int) -> Effects:
        """JoinGroup; `token` comes back with the answer, at once or later."""
        return joining.join(self, token, request, now)

    def sync(self, token: Token, request: SyncRequest, now: int) -> Effects:
        """SyncGroup; `token` comes back with the answer, at once or later."""
        return syncing.sync(self, token, request, now)

    def leave(self, token: Token, leavers: Sequence[Leaver], now: int) -> Effects:
        """LeaveGroup; answered at once."""
        return leaving.leave(self, token, leavers, now)

    def heartbeat(self, request: HeartbeatRequest, now: int) -> None:
        """Heartbeat (semantics G9). Raises Refused: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID,
        ILLEGAL_GENERATION, or REBALANCE_IN_PROGRESS, which counts as a sign of life too."""
        member = self.check_member(request.member_id, request.instance_id)
        if request.generation != self.generation:
            raise Refused(Error.ILLEGAL_GENERATION)
        self.touch(member, now)
        if self.state is PREPARING_REBALANCE:
            raise Refused(Error.REBALANCE_IN_PROGRESS)

    def deadline(self) -> int | None:
        """The next moment at which something expires, or None."""
        return self.deadlines.next()

    def tick(self, now: int) -> Effects:
        """Let the first deadline that has passed take effect; call again while `deadline()` is
        not later than `now`."""
        return expiry.expire_first(self, now)

    def check_commit(self, request: CommitRequest, *, transactional: bool) -> None:
        """May this member commit offsets now (semantics G10, H4)? Raises Refused:
        UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS."""
        member_id, instance_id = request.member_id, request.instance_id
        generation = request.generation
        if generation < 0 and self.state is EMPTY:
            return  # a consumer that assigns its own partitions, or an administrator
        if generation >= 0 or member_id or instance_id is not None:
            self.check_member(member_id, instance_id)
            if generation != self.generation:
                raise Refused(Error.ILLEGAL_GENERATION)
        elif not transactional:
            raise Refused(Error.UNKNOWN_MEMBER_ID)
        if self.state is COMPLETING_REBALANCE and not transactional:
            raise Refused(Error.REBALANCE_IN_PROGRESS)

    def committed(self, member_id: str, now: int) -> None:
        """A commit that passed the check is a sign of life, if it came from a member."""
        member = self.roster.get(member_id)
        if member is not None:
            self.touch(member, now)

    def check_offset_delete(self) -> None:
        """May offsets be deleted (semantics G28)? Raises Refused(NON_EMPTY_GROUP) for a live group
        whose subscriptions a broker cannot read."""
        if self.state is not EMPTY and not self.is_consumer_group:
            raise Refused(Error.NON_EMPTY_GROUP)

    def check_delete(self) -> None:
        """May the group be deleted? Raises Refused(NON_EMPTY_GROUP)."""
        if self.state is not EMPTY:
            raise Refused(Error.NON_EMPTY_GROUP)

    def close(self, error: Error, now: int) -> Effects:
        """The group is deleted, or its partition moves away: everything parked gets `error`."""
        effects = Effects()
        for member_id, join in self.joins.items():
            effects.answer(join, JoinAnswer(error, member_id))
        for sync in self.syncs.values():
            effects.answer(sync, SyncAnswer(error))
        self.joins.clear()
        self.syncs.clear()
        self.move(DEAD, now)
        return effects

    def describe(self) -> GroupDescription:
        """DescribeGroups (semantics G13)."""
        stable = self.state is STABLE
        return GroupDescription(
            self.group_id,
            state=self.state,
            protocol_type=self.protocol_type or "",
            protocol_data=(self.protocol_name or "") if stable else "",
            members=tuple(
                MemberDescription(
                    member.member_id,
                    member.instance_id,
                    member.client_id,
                    member.client_host,
                    member.metadata(self.protocol_name) if stable else b"",
                    member.assignment,
                )
                for member in self.roster
            ),
        )

    def listing(self) -> GroupListing:
        """The group's line in ListGroups."""
        return GroupListing(self.group_id, self.protocol_type or "", self.state, CLASSIC)


def restore(
    record: GroupRecord,
    settings: GroupSettings,
    now: int,
    new_uuid: Callable[[], str] = random_uuid,
) -> ClassicGroup:
    """The group that this last record of it describes (semantics F7): Stable with the members it
    names, else Empty. Its sessions begin with `loaded`."""
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
                # Records of before KIP-62 have no rebalance timeout.
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


def loaded(group: ClassicGroup, now: int) -> Effects:
    """The log has been read to its end: every member has a whole session before it. A group that
    is over the limit by now rebalances, so that its members can commit before some must go."""
    effects = Effects()
    for member in group.roster:
        group.touch(member, now)
    if len(group.roster) > group.settings.max_size:
        rebalance.begin(group, effects, now)
    return effects
