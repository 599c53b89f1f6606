"""What members of the classic protocol are answered about a group that is none of theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....wire.errors import Error, Refused
from ..shard import Shard
from .calls import ClassicCalls
from .effects import Token
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


class NotClassic:
    """How share groups and streams groups answer members that speak the classic protocol (semantics
    N6, N36). `makes_way`: whether a new classic group may replace this one."""

    def __init__(self, classic: ClassicCalls, makes_way: Callable[[Any], bool]) -> None:
        self.makes_way = makes_way
        self._classic = classic

    def join(self, shard: Shard, group: object, token: Token, request: JoinRequest) -> None:
        """Answer a JoinGroup."""
        self._classic.send(token, JoinAnswer(Error.INCONSISTENT_GROUP_PROTOCOL))

    def sync(self, group: object, token: Token, request: SyncRequest) -> None:
        """Answer a SyncGroup."""
        self._classic.send(token, SyncAnswer(Error.UNKNOWN_MEMBER_ID))

    def heartbeat(self, group: object, request: HeartbeatRequest) -> None:
        """A Heartbeat. Raises Refused(UNKNOWN_MEMBER_ID)."""
        raise Refused(Error.UNKNOWN_MEMBER_ID)

    def leave(self, shard: Shard, group: object, token: Token, leavers: Sequence[Leaver]) -> None:
        """Answer a LeaveGroup."""
        unknown = Error.UNKNOWN_MEMBER_ID
        missing = tuple(Left(one.member_id, one.instance_id, unknown) for one in leavers)
        self._classic.send(token, LeaveAnswer(Error.NONE, missing))
