"""What members ask in the classic protocol, and the answers: plain data, independent of encoding.

A handler makes a request of the message it decoded; `responses.py` makes the response of an answer.
Times are milliseconds. Behaviour that depends on the request's version (member id required, one
timeout in JoinGroup v0, skipAssignment, the leader that an old static leader is told) depends on
`version` here. What is only a matter of encoding (a null protocol name is "" before JoinGroup v7,
LeaveGroup v0-2 has one error) is left to `responses.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....wire.errors import Error
from .members import Protocols

NO_GENERATION = -1
NO_MEMBER = ""


@dataclass(frozen=True, slots=True)
class JoinRequest:
    """JoinGroup. `client_host` is stored and shown as given; Kafka writes it as /127.0.0.1."""

    version: int
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: Protocols


class JoinMember(NamedTuple):
    """A member as the leader is sent it."""

    member_id: str
    instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True)
class JoinAnswer:
    """The answer to a JoinRequest; the defaults are those of a refusal."""

    error: Error
    member_id: str = NO_MEMBER
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = NO_MEMBER
    skip_assignment: bool = False
    members: tuple[JoinMember, ...] = ()


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """SyncGroup. `assignments`: the leader's, as (member id, bytes)."""

    version: int
    member_id: str
    instance_id: str | None
    generation: int
    protocol_type: str | None
    protocol_name: str | None
    assignments: Sequence[tuple[str, bytes]] = ()


@dataclass(frozen=True, slots=True)
class SyncAnswer:
    """The answer to a SyncRequest; the defaults are those of a refusal."""

    error: Error
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


class HeartbeatRequest(NamedTuple):
    """Heartbeat. A tuple, since one is made for every heartbeat."""

    member_id: str
    instance_id: str | None
    generation: int


class Leaver(NamedTuple):
    """One of the members a LeaveGroup names: by id, or by instance with an empty id."""

    member_id: str
    instance_id: str | None = None
    reason: str = ""
    asked_by: str | None = None
    """The client id of the request: an administrator's is not the member's."""


class Left(NamedTuple):
    """The result for one Leaver, with its id and instance as in the request."""

    member_id: str
    instance_id: str | None
    error: Error


@dataclass(frozen=True, slots=True)
class LeaveAnswer:
    """The answer to a LeaveGroup, whatever its version."""

    error: Error
    members: tuple[Left, ...] = ()


@dataclass(frozen=True, slots=True)
class MemberDescription:
    """A member in DescribeGroups; `metadata` is empty unless the group is Stable."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """A group in DescribeGroups."""

    group_id: str
    error: Error = Error.NONE
    message: str | None = None
    state: str = ""
    protocol_type: str = ""
    protocol_data: str = ""
    members: tuple[MemberDescription, ...] = ()
