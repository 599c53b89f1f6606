"""Records of `__consumer_offsets` as brokers before 2.1 write and read them: values in version 1.

An offset has the time when it expires, also where the client has asked for no retention: a broker
of these releases takes one without it for expired. Members have no instances (2.3), and offsets no
leader epoch (2.1). Source: KIP-211, KIP-345; GroupMetadataManager of 0.10.2 to 2.0.
"""

from __future__ import annotations

from ...wire.primitives import wrapped
from ...wire.records import NewRecord
from ...wire.stored.groups import GroupMetadataValue
from ...wire.stored.keyed import keyed, read_value
from ...wire.stored.offsets import OffsetCommitValue

_OFFSET, _GROUP = 1, 2
_VERSION = 1
_NEVER = -1


def as_before_2_1(record: NewRecord, retention_ms: int) -> NewRecord:
    """A record that is encoded already, as such a broker would write it."""
    key, value = record.key, record.value
    kind = int.from_bytes((key or b"")[:2], "big")
    if value is None:
        return record
    if kind == _OFFSET:
        offset, _ = read_value(OffsetCommitValue, value)
        if offset.expire_timestamp == _NEVER:
            offset.expire_timestamp = wrapped(offset.commit_timestamp + retention_ms)
        return record._replace(value=keyed(offset, _VERSION))
    if kind == _GROUP:
        return record._replace(value=keyed(read_value(GroupMetadataValue, value)[0], _VERSION))
    return record
