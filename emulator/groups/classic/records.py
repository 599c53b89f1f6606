"""Records of classic groups: one key for each group.

Written as 4.3 writes them: values in v3. Every version is read. Times are milliseconds, and
timestamps count from 1970.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ....wire.primitives import Buffer
from ....wire.stored.groups import GroupMetadataKey, GroupMetadataValue
from ....wire.stored.keyed import keyed, read_key, read_value
from ..records import Decode

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
        """The number that leads its key."""
        return GROUP_TYPE

    def encoded(self) -> tuple[bytes, bytes | None]:
        """Key and value."""
        return _key(self.group_id), keyed(_value(self), _VERSION)


@dataclass(frozen=True, slots=True)
class GroupTombstone:
    """A null value: there is no such classic group any more."""

    group_id: str

    @property
    def record_type(self) -> int:
        """The number that leads its key."""
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
