"""Confluent's wire format: a byte 0, the schema's id (4 bytes), what the schema says.

Before a Protobuf message stands which message of its file it is (protobuf.py). Left out: ids in
headers (GUIDs).
"""

from __future__ import annotations

import struct

_PREFIX = struct.Struct(">bI")


def framed(schema_id: int, data: bytes) -> bytes:
    """A value as it is stored."""
    return _PREFIX.pack(0, schema_id) + data


def unframed(data: bytes) -> tuple[int, bytes] | None:
    """The id of a value's schema, and what was written with it; None for other bytes."""
    if len(data) < _PREFIX.size or data[0] != 0:
        return None
    return _PREFIX.unpack_from(data)[1], bytes(data[_PREFIX.size :])
