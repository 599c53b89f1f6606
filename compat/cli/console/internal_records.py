"""Records of coordinators, in words: who committed what, which members a group has.

The commonest kinds are sentences; of the others, the fields.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ....wire import WireError
from ....wire.records import Record
from ....wire.stored.groups import GroupMetadataKey, GroupMetadataValue
from ....wire.stored.offsets import OffsetCommitKey, OffsetCommitValue
from ....wire.stored.topics import INTERNAL_TOPICS, read_pair
from ....wire.stored.transactions import TransactionLogKey, TransactionLogValue
from .tables import ranges

_DELETED = "deleted"
_STATES = (
    *("empty", "ongoing", "prepares to commit", "prepares to abort"),
    *("committed", "aborted", "dead", "prepares to fence"),
)


def decoded_internal(topic: str, record: Record) -> tuple[str, str] | None:
    """Key and value of a coordinator's record, as text; None for other records."""
    kinds = INTERNAL_TOPICS.get(topic)
    if kinds is None or record.key is None:
        return None
    try:
        key, value = read_pair(kinds, record.key, record.value)
    except WireError:
        return None
    return _key(key), _DELETED if value is None else _value(value)


def _key(key: Any) -> str:
    match key:
        case OffsetCommitKey():
            return f"offset of {key.group} in {key.topic}-{key.partition}"
        case GroupMetadataKey():
            return f"group {key.group}"
        case TransactionLogKey():
            return f"transactional id {key.transactional_id}"
    return repr(key)


def _value(value: Any) -> str:
    match value:
        case OffsetCommitValue():
            words = [f"{value.offset}, committed {_time(value.commit_timestamp)}"]
            words += [f"with {value.metadata!r}"] * bool(value.metadata)
            return " ".join(words)
        case GroupMetadataValue():
            members = ", ".join(each.member_id for each in value.members) or "no members"
            how = f" {value.protocol}" if value.protocol else ""
            return f"{value.protocol_type}{how}, generation {value.generation}: {members}"
        case TransactionLogValue():
            state = value.transaction_status
            name = _STATES[state] if 0 <= state < len(_STATES) else f"state {state}"
            parts = " ".join(
                f"{each.topic}:{ranges(each.partition_ids)}"
                for each in value.transaction_partitions or ()
            )
            of = f"producer {value.producer_id} epoch {value.producer_epoch}"
            return f"{name}, {of}" + (f": {parts}" if parts else "")
    return repr(value)


def _time(timestamp: int) -> str:
    return datetime.fromtimestamp(timestamp / 1000).isoformat(timespec="seconds")
