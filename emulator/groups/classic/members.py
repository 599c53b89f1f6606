"""The members of a classic group, their instances, and the protocols they have in common; and the
records of classic groups.

Knows nothing of rebalances. Members are in the order in which they joined; Kafka's order is that of
a hash map, so clients cannot rely on any.

There is one key for each group. Records are written as 4.3 writes them: values in v3. Every version
is read. Times are milliseconds, and timestamps count from 1970.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from ....wire.api.join_group import JoinGroupRequest
from ....wire.errors import Error, Refused
from ....wire.primitives import Buffer
from ....wire.stored.groups import GroupMetadataKey, GroupMetadataValue
from ....wire.stored.keyed import keyed, read_key, read_value
from ...base.call import Call
from ...base.java_order import hash_map_order
from ..records import Decode

NO_MEMBER = ""

Protocols = tuple[tuple[str, bytes], ...]
"""The names of protocols and their metadata, in a member's order of preference."""


def protocols_of(request: JoinGroupRequest) -> Protocols:
    return tuple((each.name, each.metadata) for each in request.protocols)


def rebalance_timeout_of(call: Call, request: JoinGroupRequest) -> int:
    """In milliseconds. Before KIP-62 one timeout served as both."""
    return request.rebalance_timeout_ms if call.version > 0 else request.session_timeout_ms


def host_of(call: Call) -> str:
    """The client's host as it is stored and shown."""
    return f"/{call.client_host}"


@dataclass(slots=True)
class Member:
    """One member. `is_new` until its first Join is answered: it may not know its own id yet, so it
    cannot heartbeat, and a parked Join does not keep it alive for ever."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: Protocols
    assignment: bytes = b""
    is_new: bool = False

    @property
    def is_static(self) -> bool:
        """True if it named an instance (KIP-345)."""
        return self.instance_id is not None

    def supports(self, protocol_name: str) -> bool:
        return any(name == protocol_name for name, _ in self.protocols)

    def metadata(self, protocol_name: str | None) -> bytes:
        """Its metadata for this protocol. Raises KeyError if it does not support it."""
        return dict(self.protocols)[protocol_name or ""]


class Roster:
    def __init__(self) -> None:
        self._members: dict[str, Member] = {}
        self._instances: dict[str, str] = {}
        self._supported: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Member]:
        return iter(self._members.values())

    def __contains__(self, member_id: str) -> bool:
        return member_id in self._members

    def __getitem__(self, member_id: str) -> Member:
        return self._members[member_id]

    def get(self, member_id: str) -> Member | None:
        """The member of that id, or None."""
        return self._members.get(member_id)

    def instance(self, instance_id: str) -> str | None:
        """The member id that holds this instance now, or None."""
        return self._instances.get(instance_id)

    @property
    def rebalance_timeout_ms(self) -> int:
        """How long a round may take: the longest timeout of a member, 0 without members."""
        return max((member.rebalance_timeout_ms for member in self), default=0)

    def add(self, member: Member) -> None:
        """Add a member whose protocols have been checked."""
        self._members[member.member_id] = member
        if member.instance_id is not None:
            self._instances[member.instance_id] = member.member_id
        self._supported.update(name for name, _ in member.protocols)

    def remove(self, member_id: str) -> Member | None:
        """Remove a member and return it; None if there is no such member."""
        member = self._members.pop(member_id, None)
        if member is None:
            return None
        self._supported.subtract(name for name, _ in member.protocols)
        if member.instance_id is not None:
            del self._instances[member.instance_id]
        return member

    def rename(self, old_id: str, new_id: str) -> Member:
        """Give an instance a new member id; the old id is unknown from now on."""
        member = self.remove(old_id)
        assert member is not None
        renamed = replace(member, member_id=new_id, is_new=False)
        self.add(renamed)
        return renamed

    def update(
        self,
        member: Member,
        protocols: Protocols,
        session_timeout_ms: int,
        rebalance_timeout_ms: int,
    ) -> None:
        """Change what a member may change when it joins again. Client id and host stay."""
        self._supported.subtract(name for name, _ in member.protocols)
        member.protocols = protocols
        self._supported.update(name for name, _ in protocols)
        member.session_timeout_ms = session_timeout_ms
        member.rebalance_timeout_ms = rebalance_timeout_ms

    def has_common(self, protocols: Protocols) -> bool:
        """True if every member supports one of these. A member that joins again counts with its
        protocols until now, so a sole member cannot change its protocols."""
        return any(self._supported[name] == len(self._members) for name, _ in protocols)

    def choose_protocol(self) -> str:
        """The protocol of the next generation: each member votes for its first one that all
        support; of those with most votes the first in Java's HashMap order is chosen. Raises
        Refused(UNKNOWN_SERVER_ERROR), as Kafka does, if there is none: of a member that came from a
        consumer group, a protocol that it names twice counts twice."""
        common = {name for name, count in self._supported.items() if count == len(self._members)}
        if not common:
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
        votes = Counter(
            next(name for name, _ in member.protocols if name in common) for member in self
        )
        most = max(votes.values())
        return next(name for name in hash_map_order(votes) if votes[name] == most)


GROUP_TYPE = 2
_VERSION = 3


class MemberRecord(NamedTuple):
    """A member inside a GroupRecord. `subscription` is its metadata for the chosen protocol; a
    rebalance timeout of -1 is one of a record before v1, which has none."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """GroupMetadataValue with its key: the group after its last Sync, or when it became Empty.

    A group that was just created, and a group that only commits, has protocol type "".
    """

    group_id: str
    protocol_type: str
    generation: int
    protocol_name: str | None
    leader: str | None
    state_timestamp: int | None
    members: tuple[MemberRecord, ...] = ()

    @property
    def record_type(self) -> int:
        return GROUP_TYPE

    def encoded(self) -> tuple[bytes, bytes | None]:
        return _key(self.group_id), keyed(_value(self), _VERSION)


@dataclass(frozen=True, slots=True)
class GroupTombstone:
    """A null value: there is no such classic group any more."""

    group_id: str

    @property
    def record_type(self) -> int:
        return GROUP_TYPE

    def encoded(self) -> tuple[bytes, bytes | None]:
        """Key and value; a tombstone has no value."""
        return _key(self.group_id), None


def decode_group(key: Buffer, value: Buffer | None) -> GroupRecord | GroupTombstone:
    """The record in these bytes. Raises WireError."""
    named, _ = read_key((GroupMetadataKey,), key)
    if value is None:
        return GroupTombstone(named.group)
    return _group(named.group, read_value(GroupMetadataValue, value)[0])


DECODERS: dict[int, Decode] = {GROUP_TYPE: decode_group}


def _key(group_id: str) -> bytes:
    return keyed(GroupMetadataKey(group=group_id), GROUP_TYPE)


def _value(record: GroupRecord) -> GroupMetadataValue:
    return GroupMetadataValue(
        protocol_type=record.protocol_type,
        generation=record.generation,
        protocol=record.protocol_name,
        leader=record.leader,
        current_state_timestamp=(-1 if record.state_timestamp is None else record.state_timestamp),
        members=[
            GroupMetadataValue.MemberMetadata(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout=member.rebalance_timeout_ms,
                session_timeout=member.session_timeout_ms,
                subscription=member.subscription,
                assignment=member.assignment,
            )
            for member in record.members
        ],
    )


def _group(group_id: str, value: GroupMetadataValue) -> GroupRecord:
    when = value.current_state_timestamp
    return GroupRecord(
        group_id=group_id,
        protocol_type=value.protocol_type,
        generation=value.generation,
        protocol_name=value.protocol,
        leader=value.leader,
        state_timestamp=None if when == -1 else when,
        members=tuple(
            MemberRecord(
                member_id=member.member_id,
                instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout_ms=member.rebalance_timeout,
                session_timeout_ms=member.session_timeout,
                subscription=member.subscription,
                assignment=member.assignment,
            )
            for member in value.members
        ),
    )
