"""A message as JSON, with the names of Kafka's schemas: `throttle_time_ms` is `throttleTimeMs`.

Bytes are base64, ids of topics as Kafka writes them. Records are told by their batches, since their
bytes are in the frame: `{"sizeInBytes": 130, "batches": [{"baseOffset": 0, ...}]}`.
Only the fields of the message's version are there.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from typing import Any

from ....wire import Message, WireError, id_text
from ....wire.batch import batches
from ....wire.schema import BYTES, Struct, Type


def plain(message: Message, version: int) -> dict[str, Any]:
    """The fields that a version of a message has."""
    return _struct(message, version)


@cache
def kafkas_name(name: str) -> str:
    """A field's name in Kafka's schemas, as JSON has it."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _struct(struct: Struct, version: int) -> dict[str, Any]:
    return {
        kafkas_name(field.name): _value(getattr(struct, field.name), kind, version)
        for field, kind in type(struct).fields()
        if field.is_in(version)
    }


def _value(value: Any, kind: Type, version: int) -> Any:
    if value is None:
        return None
    if kind.is_list:
        each = kind._replace(is_list=False)
        return [_value(item, each, version) for item in value]
    if kind.struct is not None:
        return _struct(value, version)
    assert kind.kind is not None
    if kind.kind.name == "uuid":
        return id_text(value)
    if kind.kind is BYTES:
        return b64encode(value).decode()
    if kind.kind.name == "records":
        return {"sizeInBytes": len(value), "batches": _batches(value)}
    return value


def _batches(records: Any) -> list[dict[str, Any]]:
    """The heads of batches, as far as they can be read; none of the older formats."""
    found = []
    try:
        for _, head in batches(records):
            found.append(
                {
                    "baseOffset": head.base_offset,
                    "recordCount": head.count,
                    "codec": head.codec.name.lower(),
                    "isTransactional": head.is_transactional,
                    "isControl": head.is_control,
                    "producerId": head.producer_id,
                    "producerEpoch": head.producer_epoch,
                    "baseSequence": head.base_sequence,
                }
            )
    except WireError as error:
        found.append({"damaged": str(error)})
    return found
