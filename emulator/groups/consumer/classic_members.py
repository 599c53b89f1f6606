"""Members of a consumer group that speak the classic protocol: JoinGroup, SyncGroup, Heartbeat.

Rules (semantics G26), in the order in which they are checked:
- Join: a full group 81; another type than "consumer", or no protocol common to all such members
  23; from v4 on a dynamic member without an id is given one first (79); metadata that is no
  subscription -1. It is answered at once, whatever others do: its generation is its epoch, it never
  leads, and its protocol is the first in its list.
- Sync: a member of the new protocol 25, another generation 22, another type or name than in its
  Join's answer 23, 27 if there is a newer target assignment; else what the broker assigns, in the
  member's own encoding.
- Heartbeat: 27 when it has to join again: for a newer epoch, to give up partitions, or to get those
  that have become free. Then it has its rebalance timeout to do so.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ....wire.errors import Error, Refused
from ..classic.consumer_protocol import (
    Malformed,
    Subscription,
    read_subscription,
    write_assignment,
)
from ..classic.group import CONSUMER
from ..classic.joining import MEMBER_ID_REQUIRED_SINCE
from ..classic.messages import (
    NO_MEMBER,
    HeartbeatRequest,
    JoinAnswer,
    JoinRequest,
    SyncAnswer,
    SyncRequest,
)
from ..records import MessageRecord
from .conversion import may_join_classic
from .group import ConsumerGroup, Due
from .heartbeat import Step, check_instance, check_room, take_over
from .members import ClassicSide, ConsumerMember
from .states import MemberState
from .times import ConsumerTimes


class Joining:
    """A JoinGroup being answered; `member_id` is the request's, or a new one."""

    def __init__(self, group: ConsumerGroup, request: JoinRequest, new_id: str) -> None:
        self.group = group
        self.request = request
        self.is_unknown = request.member_id == NO_MEMBER
        self.member_id = new_id if self.is_unknown else request.member_id
        self.records: list[MessageRecord] = []
        # The member from which it takes over the instance, if that is another.
        self.replaced: ConsumerMember | None = None
        self.has_changed_topics = False

    def needs_id(self) -> bool:
        """Check whether it may join; True if it has to join again with its id. Raises Refused:
        GROUP_MAX_SIZE_REACHED, INCONSISTENT_GROUP_PROTOCOL."""
        may_join_classic(self.group)
        check_room(self.group, self.member_id)
        names = [name for name, _ in self.request.protocols]
        if self.request.protocol_type != CONSUMER or not _is_common(self.group, names):
            raise Refused(Error.INCONSISTENT_GROUP_PROTOCOL)
        is_dynamic = self.request.instance_id is None
        return self.is_unknown and is_dynamic and self.request.version >= MEMBER_ID_REQUIRED_SINCE

    def before(self) -> ConsumerMember:
        """The member until now. Raises Refused: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        group, instance_id = self.group, self.request.instance_id
        if instance_id is None:
            return group.members.get(self.member_id) or ConsumerMember(self.member_id)
        holder = group.instance(instance_id)
        if not self.is_unknown:
            return check_instance(holder, instance_id, self.member_id)
        if holder is None:
            return ConsumerMember(self.member_id)
        self.replaced = holder
        return take_over(group, holder, self.member_id, self.records)

    def step(self, times: ConsumerTimes, now: int) -> Step:
        """The changes that the join means for the group, not made yet. Raises Refused."""
        before = self.before()
        told = self.subscription()
        request = self.request
        timeout = request.rebalance_timeout_ms
        after = replace(
            before,
            instance_id=before.instance_id or request.instance_id,
            rack_id=before.rack_id if told.rack_id is None else told.rack_id,
            rebalance_timeout_ms=before.rebalance_timeout_ms if timeout == -1 else timeout,
            names=told.names,
            regex="",
            client_id=request.client_id,
            client_host=request.client_host,
            classic=ClassicSide(request.session_timeout_ms, request.protocols),
        )
        return Step(self.group, before, after, told.owned, times, now)

    def subscription(self) -> Subscription:
        """The subscription in its metadata. Raises Refused(UNKNOWN_SERVER_ERROR) if there is none,
        as a real broker does."""
        try:
            return read_subscription(self.request.protocols[0][1], self.group.view)
        except Malformed as error:
            raise Refused(Error.UNKNOWN_SERVER_ERROR, str(error)) from None

    def answer(self, member: ConsumerMember) -> JoinAnswer:
        """The answer to a member that has joined."""
        name = self.request.protocols[0][0]
        return JoinAnswer(Error.NONE, member.member_id, member.epoch, CONSUMER, name)

    def start_timers(self, group: ConsumerGroup, now: int) -> None:
        """From now on it has to sync, and to send heartbeats."""
        member_id = self.member_id
        group.deadlines.clear((Due.JOIN, member_id))
        group.deadlines.set((Due.SESSION, member_id), now + self.request.session_timeout_ms)
        group.deadlines.set((Due.SYNC, member_id), now + self.request.rebalance_timeout_ms)


def _is_common(group: ConsumerGroup, names: list[str]) -> bool:
    """Whether all classic members support one of these. As in Kafka, a protocol that a member names
    twice counts twice, and then is no longer what all have in common."""
    sides = [member.classic for member in group if member.classic is not None]
    named = Counter(name for side in sides for name, _ in side.protocols)
    return any(named[name] == len(sides) for name in names)


def sync(group: ConsumerGroup, request: SyncRequest, now: int) -> SyncAnswer:
    """SyncGroup. Raises Refused with the code to answer."""
    member, side = _classic_member(group, request.member_id, request.instance_id)
    if request.generation != member.epoch:
        raise Refused(Error.ILLEGAL_GENERATION)
    if request.protocol_type not in (None, CONSUMER):
        raise Refused(Error.INCONSISTENT_GROUP_PROTOCOL)
    if request.protocol_name not in (None, side.protocol_name):
        raise Refused(Error.INCONSISTENT_GROUP_PROTOCOL)
    if group.target_epoch > member.epoch and member.state is not MemberState.UNREVOKED:
        _await_join(group, member, now)
        raise Refused(Error.REBALANCE_IN_PROGRESS)
    group.deadlines.clear((Due.SYNC, member.member_id))
    group.deadlines.set((Due.SESSION, member.member_id), now + side.session_timeout_ms)
    metadata = side.protocols[0][1]
    assignment = write_assignment(member.assigned, metadata, group.view)
    return SyncAnswer(Error.NONE, request.protocol_type, request.protocol_name, assignment)


def heartbeat(group: ConsumerGroup, request: HeartbeatRequest, now: int) -> None:
    """Heartbeat. Raises Refused with the code to answer."""
    member, side = _classic_member(group, request.member_id, request.instance_id)
    if request.generation != member.epoch:
        raise Refused(Error.ILLEGAL_GENERATION)
    group.deadlines.set((Due.SESSION, member.member_id), now + side.session_timeout_ms)
    has_to_join = (
        member.epoch < group.target_epoch
        or member.state is MemberState.UNREVOKED
        or (member.state is MemberState.UNRELEASED and not _is_waiting(group, member))
    )
    if has_to_join:
        _await_join(group, member, now)
        raise Refused(Error.REBALANCE_IN_PROGRESS)


def _is_waiting(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether others still have partitions of the member's target."""
    target = group.targets.get(member.member_id, {})
    return any(
        partition not in member.assigned.get(topic, ()) and group.is_held(topic, partition)
        for topic, partitions in target.items()
        for partition in partitions
    )


def _await_join(group: ConsumerGroup, member: ConsumerMember, now: int) -> None:
    key = (Due.JOIN, member.member_id)
    if group.deadlines.get(key) is None:
        group.deadlines.set(key, now + member.rebalance_timeout_ms)


def _classic_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None
) -> tuple[ConsumerMember, ClassicSide]:
    if instance_id is None:
        member = group.member(member_id)
    else:
        member = check_instance(group.instance(instance_id), instance_id, member_id)
    if member.classic is None:
        raise Refused(Error.UNKNOWN_MEMBER_ID)
    return member, member.classic
