"""The group coordinator: all groups, and the way to each.

Rules (semantics F7, G2, G8, G9, G11, G13, in the order in which they are checked):
- Sync v5 without protocol type or name: 23. An empty group id: 24, where members are concerned.
- No shard 16, shard being loaded 14; a Heartbeat meanwhile is taken for good.
- A session timeout out of bounds: 26. A missing group: 25, and Leave says so for each member.
- A Join without a member id creates the group, and an empty group record with it, whatever else
  becomes of the Join.

Answers to Join, Sync and Leave go through `send`, at once or later; the other calls return their
answer or raise Refused. Which broker of several was asked is not looked at here. What members of
consumer groups (KIP-848) ask is in groups/consumer/calls.py. Left out: share groups and streams
groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...wire.errors import Error, Refused
from .classic.effects import Token
from .classic.group import ClassicGroup, loaded
from .consumer import classic_members as consumer_classic
from .consumer.calls import ConsumerCalls
from .consumer.group import ConsumerGroup
from .messages import (
    HeartbeatRequest,
    JoinAnswer,
    JoinRequest,
    LeaveAnswer,
    Leaver,
    Left,
    SyncAnswer,
    SyncRequest,
)
from .shard import Replayed, Shard, ShardState, TransactionEnd

PROTOCOL_REQUIRED_SINCE = 5


class Coordinator(ConsumerCalls):
    """Holds all groups; the verbs of their members, and of whoever moves their partitions."""

    # ------------------------------------------------------------------ members

    def join(self, token: Token, group_id: str, request: JoinRequest) -> None:
        """JoinGroup."""
        bounds = self.settings.min_session_timeout_ms, self.settings.max_session_timeout_ms
        if not group_id:
            self._send(token, JoinAnswer(Error.INVALID_GROUP_ID, request.member_id))
            return
        if not bounds[0] <= request.session_timeout_ms <= bounds[1]:
            self._send(token, JoinAnswer(Error.INVALID_SESSION_TIMEOUT, request.member_id))
            return
        try:
            shard = self.shard_for(group_id)
        except Refused as refusal:
            self._send(token, JoinAnswer(refusal.error))
            return
        if request.version == 0:  # before KIP-62 one timeout was both
            request = replace(request, rebalance_timeout_ms=request.session_timeout_ms)
        group = shard.groups.get(group_id)
        if isinstance(group, ClassicGroup):
            self._carry_out(group, group.join(token, request, self._now()))
        elif isinstance(group, ConsumerGroup) and group.members:
            self._join_consumer(shard, group, token, request)
        elif request.member_id:
            # A real broker forgets an Empty consumer group here, for some of its calls and until it
            # is restarted; ours stays.
            self._send(token, JoinAnswer(Error.UNKNOWN_MEMBER_ID, request.member_id))
        else:
            self._join_new(shard, token, group_id, request)

    def _join_new(self, shard: Shard, token: Token, group_id: str, request: JoinRequest) -> None:
        now = self._now()
        before = shard.groups.get(group_id)
        # An Empty consumer group makes way; its offsets stay.
        gone = before.tombstones() if isinstance(before, ConsumerGroup) else []
        group = shard.create(group_id, now)
        born = group.record()
        effects = group.join(token, request, now)
        try:
            self._write(group_id, [*gone, born])
        except Refused as refusal:
            if before is None:
                shard.forget(group_id)
            else:
                shard.groups[group_id] = before
            self._send(token, JoinAnswer(refusal.error))
            return
        self._carry_out(group, effects)

    def sync(self, token: Token, group_id: str, request: SyncRequest) -> None:
        """SyncGroup."""
        if request.version >= PROTOCOL_REQUIRED_SINCE and (
            request.protocol_type is None or request.protocol_name is None
        ):
            self._send(token, SyncAnswer(Error.INCONSISTENT_GROUP_PROTOCOL))
            return
        try:
            group = self._member_shard(group_id).groups.get(group_id)
        except Refused as refusal:
            self._send(token, SyncAnswer(refusal.error))
            return
        if group is None:
            self._send(token, SyncAnswer(Error.UNKNOWN_MEMBER_ID))
            return
        if isinstance(group, ConsumerGroup):
            self._sync_consumer(group, token, request)
            return
        self._carry_out(group, group.sync(token, request, self._now()))

    def heartbeat(self, group_id: str, request: HeartbeatRequest) -> None:
        """Heartbeat. Raises Refused with the code to answer."""
        try:
            group = self._member_shard(group_id).groups.get(group_id)
        except Refused as refusal:
            if refusal.error is Error.COORDINATOR_LOAD_IN_PROGRESS:
                return
            raise
        if group is None:
            raise Refused(Error.UNKNOWN_MEMBER_ID)
        try:
            if isinstance(group, ConsumerGroup):
                consumer_classic.heartbeat(group, request, self._now())
            else:
                group.heartbeat(request, self._now())
        finally:
            self._note_deadline(group)

    def leave(self, token: Token, group_id: str, leavers: Sequence[Leaver]) -> None:
        """LeaveGroup; answered before this returns."""
        try:
            shard = self._member_shard(group_id)
        except Refused as refusal:
            self._send(token, LeaveAnswer(refusal.error))
            return
        group = shard.groups.get(group_id)
        if group is None:
            missing = tuple(Left(*leaver, Error.UNKNOWN_MEMBER_ID) for leaver in leavers)
            self._send(token, LeaveAnswer(Error.NONE, missing))
            return
        if isinstance(group, ConsumerGroup):
            self._leave_consumer(shard, group, token, leavers)
            return
        self._carry_out(group, group.leave(token, leavers, self._now()))

    def _member_shard(self, group_id: str) -> Shard:
        if not group_id:
            raise Refused(Error.INVALID_GROUP_ID)
        return self.shard_for(group_id)

    # --------------------------------------------------------------- partitions

    def begin_loading(self, partition: int) -> None:
        """This partition of __consumer_offsets is ours now, and its log is being read."""
        self.shards[partition] = Shard(partition, self.settings, self.topics, self._new_uuid)

    def load(self, partition: int, log: Iterable[Replayed | TransactionEnd] = ()) -> None:
        """This partition of __consumer_offsets is ours, and this is what its log says, in order.
        Its groups come back, every member with a fresh session (semantics F7)."""
        self.begin_loading(partition)
        now = self._now()
        shard = self.shards[partition]
        for entry in log:
            shard.replay(entry, now)
        shard.state = ShardState.ACTIVE
        self._deadlines.set(partition, now + self.settings.retention_check_interval_ms)
        for group in list(shard.groups.values()):
            if isinstance(group, ConsumerGroup):
                self.loaded_consumer(group, now)
            else:
                self._carry_out(group, loaded(group, now))
        self._set_timer()

    def resign(self, partition: int) -> None:
        """This partition is no longer ours: parked requests are answered NOT_COORDINATOR and its
        groups forgotten, here but not in the log. Harmless if it was not ours."""
        shard = self.shards.pop(partition, None)
        if shard is None:
            return
        self._deadlines.clear(partition)
        for group in shard.groups.values():
            self._deadlines.clear(group.group_id)
            if isinstance(group, ConsumerGroup):
                continue  # nothing is ever parked there
            for token, answer in group.close(Error.NOT_COORDINATOR, self._now()).answers:
                self._send(token, answer)

    def shut_down(self) -> None:
        """Resign from every partition."""
        for partition in list(self.shards):
            self.resign(partition)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
