"""What members of the classic protocol are answered about a share group: it is none of theirs."""

from __future__ import annotations

from collections.abc import Sequence

from ....wire.errors import Error, Refused
from ..classic.calls import ClassicCalls
from ..classic.effects import Token
from ..classic.messages import (
    HeartbeatRequest,
    JoinAnswer,
    JoinRequest,
    LeaveAnswer,
    Leaver,
    Left,
    SyncAnswer,
    SyncRequest,
)
from ..shard import Shard
from .group import ShareGroup


class NoClassicMembers:
    """How share groups answer members that speak the classic protocol (semantics N6)."""

    def __init__(self, classic: ClassicCalls) -> None:
        self._classic = classic

    def makes_way(self, group: ShareGroup) -> bool:
        """Not even an Empty one does."""
        return False

    def join(self, shard: Shard, group: ShareGroup, token: Token, request: JoinRequest) -> None:
        """Answer a JoinGroup."""
        self._classic.send(token, JoinAnswer(Error.INCONSISTENT_GROUP_PROTOCOL))

    def sync(self, group: ShareGroup, token: Token, request: SyncRequest) -> None:
        """Answer a SyncGroup."""
        self._classic.send(token, SyncAnswer(Error.UNKNOWN_MEMBER_ID))

    def heartbeat(self, group: ShareGroup, request: HeartbeatRequest) -> None:
        """A Heartbeat. Raises Refused(UNKNOWN_MEMBER_ID)."""
        raise Refused(Error.UNKNOWN_MEMBER_ID)

    def leave(
        self, shard: Shard, group: ShareGroup, token: Token, leavers: Sequence[Leaver]
    ) -> None:
        """Answer a LeaveGroup."""
        unknown = Error.UNKNOWN_MEMBER_ID
        missing = tuple(Left(one.member_id, one.instance_id, unknown) for one in leavers)
        self._classic.send(token, LeaveAnswer(Error.NONE, missing))
