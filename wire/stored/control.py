"""Control records of `__cluster_metadata-0`: the quorum, and the two ends of a snapshot.

    key     int16 version 0, int16 kind
    value   a message that begins with its own version

Commit and abort markers (kinds 1 and 0) are in all partitions, and here in records.py.
Source: the KIPs 595, 630 and 853.
"""

from __future__ import annotations

from struct import Struct as Packer
from typing import TypeAlias

from ..errors import WireError
from ..primitives import NO_ID, Buffer
from ..schema import UUID, Message, Struct, i16, i32, i64, u16, v


class LeaderChange(Message, versions="0-1", flexible="0+"):
    """A new leader, and its voters."""

    version: i16
    leader_id: i32
    voters: list[Voter]
    granting_voters: list[Voter]

    class Voter(Struct):
        voter_id: i32
        voter_directory_id: UUID = v("1+", default=NO_ID)


class SnapshotHeader(Message, versions="0", flexible="0+"):
    """A snapshot begins; the time of its last record in ms."""

    version: i16
    last_contained_log_timestamp: i64


class SnapshotFooter(Message, versions="0", flexible="0+"):
    """A snapshot is complete."""

    version: i16


class KRaftVersion(Message, versions="0", flexible="0+"):
    """1 when the voters are kept in the log itself, 0 when in configs."""

    version: i16
    kraft_version: i16


class KRaftVoters(Message, versions="0", flexible="0+"):
    """The voters, their addresses, and their supported versions."""

    version: i16
    voters: list[Voter]

    class Voter(Struct):
        voter_id: i32
        voter_directory_id: UUID
        endpoints: list[Endpoint]
        kraft_version_feature: KRaftVersionFeature

        class Endpoint(Struct):
            name: str
            host: str
            port: u16

        class KRaftVersionFeature(Struct):
            min_supported_version: i16
            max_supported_version: i16


ControlRecord: TypeAlias = (
    LeaderChange | SnapshotHeader | SnapshotFooter | KRaftVersion | KRaftVoters
)

CONTROL_RECORDS: dict[int, type[ControlRecord]] = {
    2: LeaderChange,
    3: SnapshotHeader,
    4: SnapshotFooter,
    5: KRaftVersion,
    6: KRaftVoters,
}

_KEY = Packer(">hh")
_KINDS = {cls: kind for kind, cls in CONTROL_RECORDS.items()}


def control_record(message: ControlRecord) -> tuple[bytes, bytes]:
    """Return key and value of a control record, in the version that the message names itself."""
    return _KEY.pack(0, _KINDS[type(message)]), message.encode(message.version)


def read_control_record(key: Buffer, value: Buffer) -> ControlRecord:
    """Decode a control record. Raises WireError for damage, and for kinds that are not above."""
    if len(key) != _KEY.size or len(value) < 2:
        raise WireError(f"control record with a key of {len(key)}, value of {len(value)} bytes")
    kind = _KEY.unpack(key)[1]
    if kind not in CONTROL_RECORDS:
        raise WireError(f"no control record of kind {kind} is known")
    version = int.from_bytes(value[:2], "big")
    return CONTROL_RECORDS[kind].decode(value, version)
