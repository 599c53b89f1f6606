"""The coordinator's calls of the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup, and
DescribeGroups.

Rules (semantics F7, G2, G8, G9, G11, G13, in the order in which they are checked):
- Sync v5 without protocol type or name: 23. An empty group id: 24.
- No shard: 16. A shard being loaded: 14, but a Heartbeat succeeds meanwhile.
- A session timeout out of bounds: 26. A missing group: 25; Leave answers it for each member.
- A Join without a member id creates the group and writes an empty group record, whatever else
  becomes of the Join.

Answers to Join, Sync and Leave go through `send`, at once or later; the other calls return their
answer or raise Refused. Members that speak this protocol may ask for a group of another type: its
`OtherGroups` answer them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....wire.api.describe_groups import DescribeGroupsResponse
from ....wire.api.heartbeat import HeartbeatRequest
from ....wire.api.join_group import JoinGroupRequest, JoinGroupResponse
from ....wire.api.leave_group import LeaveGroupRequest, LeaveGroupResponse
from ....wire.api.sync_group import SyncGroupRequest
from ....wire.errors import Error, Refused
from ...base.call import Call
from ..group import Group, existing
from ..runtime import Runtime, Shard
from . import joining, rebalance
from .group import DEAD, Answer, ClassicGroup, Effects, refused_join, refused_sync, restore
from .members import DECODERS, GroupRecord, GroupTombstone
from .rebalance import left_member

PROTOCOL_REQUIRED_SINCE = 5
_NULL_PROTOCOL_SINCE = 7
_MEMBERS_SINCE = 3
GROUP_ID_NOT_FOUND_SINCE = 6
_ID_GIVEN = Error.MEMBER_ID_REQUIRED


class OtherGroups:
    """How groups of another type answer members that speak the classic protocol: here as share and
    streams groups do (semantics N6, N36)."""

    def __init__(self, classic: ClassicCalls, *, makes_way: bool) -> None:
        """`makes_way`: whether a new classic group may replace an Empty one."""
        self.classic = classic
        self._makes_way = makes_way

    def makes_way(self, group: Any) -> bool:
        """Whether a new classic group may replace this one."""
        return self._makes_way and not group.members

    def join(self, shard: Shard, group: Any, call: Call, request: JoinGroupRequest) -> None:
        self.classic.send(call, refused_join(Error.INCONSISTENT_GROUP_PROTOCOL))

    def sync(self, group: Any, call: Call, request: SyncGroupRequest) -> None:
        self.classic.send(call, refused_sync(Error.UNKNOWN_MEMBER_ID))

    def heartbeat(self, group: Any, request: HeartbeatRequest) -> None:
        """A Heartbeat. Raises Refused(UNKNOWN_MEMBER_ID)."""
        raise Refused(Error.UNKNOWN_MEMBER_ID)

    def leave(
        self, shard: Shard, group: Any, call: Call, leavers: Sequence[LeaveGroupRequest.Member]
    ) -> None:
        missing = [left_member(one, Error.UNKNOWN_MEMBER_ID) for one in leavers]
        self.classic.send(call, LeaveGroupResponse(members=missing))


class ClassicCalls:
    def __init__(self, runtime: Runtime, send: Callable[[Call, Answer], None]) -> None:
        self.group_class = ClassicGroup
        self.decoders = DECODERS
        self._send = send
        self._runtime = runtime
        self._others: dict[type, OtherGroups] = {}
        runtime.register_type(self)

    def send(self, call: Call, answer: Answer) -> None:
        if isinstance(answer, JoinGroupResponse):
            if answer.protocol_name is None and call.version < _NULL_PROTOCOL_SINCE:
                answer.protocol_name = ""
            with_generation = self._runtime.settings.refuses_joins_without_generation
            if answer.error_code and not with_generation:
                answer.generation_id = 0
        elif isinstance(answer, LeaveGroupResponse) and call.version < _MEMBERS_SINCE:
            # One member, whose error is at the top level.
            errors = [answer.error_code, *(left.error_code for left in answer.members)]
            answer.error_code = next((error for error in errors if error), 0)
            answer.members = []
        self._send(call, answer)

    def register(self, group_class: type, protocol: OtherGroups) -> None:
        """Have groups of another type answer the members that speak this protocol."""
        self._others[group_class] = protocol

    # What members ask

    def join(self, call: Call, request: JoinGroupRequest) -> None:
        group_id = request.group_id
        try:
            shard = self._check_join(request)
        except Refused as refusal:
            # Kafka repeats the member id only if the fault is the request's.
            is_faulty = refusal.error in (Error.INVALID_GROUP_ID, Error.INVALID_SESSION_TIMEOUT)
            self.send(call, refused_join(refusal.error, request.member_id if is_faulty else ""))
            return
        group = shard.groups.get(group_id)
        other = self._others.get(type(group))
        if isinstance(group, ClassicGroup):
            self.carry_out(group, joining.join(group, call, request, self._runtime.now()))
        elif other is not None and not other.makes_way(group):
            other.join(shard, group, call, request)
        elif request.member_id:
            if group is not None:  # it makes way though nobody comes in
                shard.vanish(group_id)
                self._runtime.clear_deadline(group_id)
            self.send(call, refused_join(Error.UNKNOWN_MEMBER_ID, request.member_id))
        else:
            self._join_new(shard, call, request)

    def _check_join(self, request: JoinGroupRequest) -> Shard:
        settings = self._runtime.settings
        if not request.group_id:
            raise Refused(Error.INVALID_GROUP_ID)
        shortest, longest = settings.min_session_timeout_ms, settings.max_session_timeout_ms
        if not shortest <= request.session_timeout_ms <= longest:
            raise Refused(Error.INVALID_SESSION_TIMEOUT)
        return self._runtime.shard_for(request.group_id)

    def _join_new(self, shard: Shard, call: Call, request: JoinGroupRequest) -> None:
        group_id, now = request.group_id, self._runtime.now()
        before = shard.groups.get(group_id)
        # A group that makes way is deleted; its offsets stay.
        records = [] if before is None else [*before.tombstones()]
        group = self.create(shard, group_id, now)
        if self._runtime.settings.writes_new_groups:
            records.append(group.record())
        effects = joining.join(group, call, request, now)
        try:
            if records:
                self._runtime.write(group_id, records)
        except Refused as refusal:
            if before is None:
                shard.forget(group_id)
            else:
                shard.groups[group_id] = before
            # A new member without an id is sent it before the write, and is not known then.
            given_id = [each for each in effects.answers if each[1].error_code == _ID_GIVEN]
            self.send(*(given_id[0] if given_id else (call, refused_join(refusal.error))))
            return
        self.carry_out(group, effects)

    def sync(self, call: Call, request: SyncGroupRequest) -> None:
        try:
            group = self._group_to_sync(call, request)
        except Refused as refusal:
            self.send(call, refused_sync(refusal.error))
            return
        if isinstance(group, ClassicGroup):
            self.carry_out(group, rebalance.sync(group, call, request, self._runtime.now()))
        else:
            self._others[type(group)].sync(group, call, request)

    def _group_to_sync(self, call: Call, request: SyncGroupRequest) -> Group:
        if call.version >= PROTOCOL_REQUIRED_SINCE and (
            request.protocol_type is None or request.protocol_name is None
        ):
            raise Refused(Error.INCONSISTENT_GROUP_PROTOCOL)
        group = self._shard(request.group_id).groups.get(request.group_id)
        if group is None:
            raise Refused(Error.UNKNOWN_MEMBER_ID)
        return group

    def heartbeat(self, request: HeartbeatRequest) -> None:
        """Heartbeat. Raises Refused with the error to answer."""
        runtime, group_id = self._runtime, request.group_id
        if not group_id:
            raise Refused(self._no_name())
        try:
            group = runtime.shard_for(group_id).groups.get(group_id)
        except Refused as refusal:
            if refusal.error is Error.COORDINATOR_LOAD_IN_PROGRESS:
                return
            raise
        if group is None:
            raise Refused(Error.UNKNOWN_MEMBER_ID)
        try:
            if isinstance(group, ClassicGroup):
                group.heartbeat(request, runtime.now())
            else:
                self._others[type(group)].heartbeat(group, request)
        finally:
            runtime.note_deadline(group)

    def leave(self, call: Call, request: LeaveGroupRequest) -> None:
        """LeaveGroup, of one member or of several; answered before this returns."""
        leavers = request.members
        if call.version < _MEMBERS_SINCE:
            leavers = [LeaveGroupRequest.Member(member_id=request.member_id)]
        try:
            shard = self._shard(request.group_id)
        except Refused as refusal:
            self.send(call, LeaveGroupResponse(error_code=refusal.error))
            return
        group = shard.groups.get(request.group_id)
        if group is None:
            missing = [left_member(one, Error.UNKNOWN_MEMBER_ID) for one in leavers]
            self.send(call, LeaveGroupResponse(members=missing))
        elif isinstance(group, ClassicGroup):
            self.carry_out(group, rebalance.leave(group, call, leavers, self._runtime.now()))
        else:
            self._others[type(group)].leave(shard, group, call, leavers)

    def _no_name(self) -> Error:
        """The answer to a member of a group without a name."""
        names = self._runtime.settings.names_empty_group_ids
        return Error.INVALID_GROUP_ID if names else Error.UNKNOWN_MEMBER_ID

    def _shard(self, group_id: str) -> Shard:
        if not group_id:
            raise Refused(self._no_name())
        return self._runtime.shard_for(group_id)

    # What administrators ask

    def describe(self, group_id: str, version: int) -> DescribeGroupsResponse.Group:
        """DescribeGroups, of one group. A missing group is Dead, and from v6 on an error too."""
        try:
            group = existing(group_id, self._runtime.shard_for(group_id).visible(group_id))
            if isinstance(group, ClassicGroup):
                return group.describe()
            raise Refused(Error.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a classic group.")
        except Refused as refusal:
            is_missing = refusal.error is Error.GROUP_ID_NOT_FOUND
            is_error = not is_missing or version >= GROUP_ID_NOT_FOUND_SINCE
            return DescribeGroupsResponse.Group(
                error_code=refusal.error if is_error else Error.NONE,
                error_message=refusal.message if is_missing and is_error else None,
                group_id=group_id,
                group_state=DEAD if is_missing else "",
                protocol_type="",
                protocol_data="",
                members=[],
            )

    def rebalance(self, group: ClassicGroup) -> None:
        """Begin a round, unless one has begun: members learn so by their next heartbeats."""
        effects = Effects()
        why = "forced by the test"
        rebalance.begin_or_finish(group, effects, self._runtime.now(), why)
        self.carry_out(group, effects)

    def end_session(self, group: ClassicGroup, member_id: str) -> None:
        """A member's session is over now. Raises Refused: UNKNOWN_MEMBER_ID,
        REBALANCE_IN_PROGRESS."""
        self.carry_out(group, rebalance.end_session(group, member_id, self._runtime.now()))

    # What becomes of groups

    def create(self, shard: Shard, group_id: str, now: int) -> ClassicGroup:
        """An Empty group that nobody has joined yet, put into the shard."""
        group = ClassicGroup(group_id, self._runtime.settings, now, self._runtime.new_uuid)
        shard.groups[group_id] = group
        return group

    def replay(
        self,
        shard: Shard,
        record: GroupRecord | GroupTombstone,
        now: int,
        producer_id: int | None,
    ) -> None:
        """Apply a group's record or tombstone."""
        group_id = record.group_id
        if isinstance(record, GroupRecord):
            settings, new_uuid = self._runtime.settings, self._runtime.new_uuid
            shard.groups[group_id] = restore(record, settings, now, new_uuid)
        elif isinstance(shard.groups.get(group_id), ClassicGroup):
            del shard.groups[group_id]

    def loaded(self, group: ClassicGroup, now: int) -> None:
        """Every member has a whole session before it. A group that is over the size limit by now
        rebalances, so that its members can commit before some of them must leave."""
        effects = Effects()
        for member in group.roster:
            group.touch(member, now)
        if len(group.roster) > group.settings.max_size:
            why = "it has more members than group.max.size"
            rebalance.begin(group, effects, now, why)
        self.carry_out(group, effects)

    def due(self, shard: Shard, group: ClassicGroup, now: int) -> None:
        self.carry_out(group, rebalance.expire_first(group, now))

    def resigned(self, group: ClassicGroup, now: int) -> None:
        """The partition has moved away: parked requests are answered NOT_COORDINATOR."""
        self.close(group, Error.NOT_COORDINATOR, now)

    def close(self, group: ClassicGroup, error: Error, now: int) -> None:
        """End a group: its parked requests are answered `error`."""
        for call, answer in group.close(error, now).answers:
            self.send(call, answer)

    def interrupt(self, group: ClassicGroup, error: Error) -> None:
        """A group goes on, but its parked requests are answered `error`."""
        for call, answer in group.interrupt(error).answers:
            self.send(call, answer)

    def carry_out(self, group: ClassicGroup, effects: Effects) -> None:
        """Write, tell the group whether that succeeded, then answer. The answers are sent last and
        all together: a client may send its next request while it is being answered."""
        answers = effects.answers
        step: Effects | None = effects
        while step is not None:
            error = Error.NONE
            for event in step.events:
                self._runtime.events.add(group.group_id, *event)
            if step.appends:
                try:
                    self._runtime.write(group.group_id, step.appends)
                except Refused as refusal:
                    error = refusal.error
            step = step.then(error) if step.then is not None else None
            if step is not None:
                answers = answers + step.answers
        self._runtime.note_deadline(group)
        for call, answer in answers:
            self.send(call, answer)
