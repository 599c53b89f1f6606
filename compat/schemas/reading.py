"""Values read and written by the schemas of a registry.

As Confluent's serializers frame them: a byte 0, the schema's id (4 bytes), what the schema says;
before a Protobuf message stands which message of its file it is (protobuf.py). Left out: ids in
headers (GUIDs).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from ..unavailable import is_installed
from .registry import AVRO, PROTOBUF, NoSuchSchema, Schema, SchemaError, SchemaSource

_PREFIX = struct.Struct(">bI")


def framed(schema_id: int, data: bytes) -> bytes:
    return _PREFIX.pack(0, schema_id) + data


def unframed(data: bytes) -> tuple[int, bytes] | None:
    """The id of a value's schema, and what was written with it; None for other bytes."""
    if len(data) < _PREFIX.size or data[0] != 0:
        return None
    return _PREFIX.unpack_from(data)[1], bytes(data[_PREFIX.size :])


def plain(value: Any) -> Any:
    """A value without what JSON has not."""
    match value:
        case dict():
            return {name: plain(each) for name, each in value.items()}
        case list() | tuple():
            return [plain(each) for each in value]
        case bytes():
            return value.decode("latin-1")
        case datetime() | date() | time():
            return value.isoformat()
        case Decimal() | UUID():
            return str(value)
    return value


Decode = Callable[[bytes], Any]
"""From what follows a schema's id to a value. Raises ValueError for damage."""
Encode = Callable[[Any], bytes]
"""The reverse. Raises ValueError that names what does not fit."""

_NEEDED = {AVRO: ("fastavro", "Avro"), PROTOBUF: ("google.protobuf", "Protobuf")}


class Reader:
    """Reads values, each by the schema whose id it begins with. Raises ValueError for bytes that
    were not written with a schema of the registry, SchemaError."""

    def __init__(self, registry: SchemaSource) -> None:
        self._registry = registry
        self._known: dict[int, tuple[str, Decode]] = {}

    def __call__(self, data: bytes) -> Any:
        return self.with_kind(data)[1]

    def auto(self, data: bytes) -> Any:
        """The value; of bytes without a schema what JSON has of them, else their text, else
        themselves."""
        if unframed(data) is not None:
            return self(data)
        for read in (json.loads, bytes.decode):
            with suppress(ValueError):  # it is something else
                return read(data)
        return bytes(data)

    def with_kind(self, data: bytes) -> tuple[str, Any]:
        """The kind of the schema: AVRO, JSON or PROTOBUF; and the value."""
        found = unframed(data)
        if found is None:
            raise ValueError("this was not written with a schema")
        schema_id, rest = found
        if schema_id not in self._known:
            try:
                schema = self._registry.by_id(schema_id)
            except NoSuchSchema as error:
                raise ValueError(str(error)) from None
            self._known[schema_id] = schema.kind, decoder(self._registry, schema)
        kind, decode = self._known[schema_id]
        return kind, decode(rest)


def decoder(registry: SchemaSource, schema: Schema) -> Decode:
    """Raises SchemaError where a package is missing."""
    _need(schema.kind)
    if schema.kind == AVRO:
        from .avro import avro_decoder

        return avro_decoder(registry, schema)
    if schema.kind == PROTOBUF:
        from .protobuf import protobuf_decoder

        return protobuf_decoder(registry, schema)
    return json.loads


def encoder(registry: SchemaSource, schema: Schema, message: str | None = None) -> Encode:
    """Writes values with this schema, id and all; `message` is which one of a Protobuf file, by
    default its first. Raises SchemaError."""
    encode = _encoder(registry, schema, message)
    return lambda value: framed(schema.id, encode(value))


def _encoder(registry: SchemaSource, schema: Schema, message: str | None) -> Encode:
    _need(schema.kind)
    if schema.kind == AVRO:
        from .avro import avro_encoder

        return avro_encoder(registry, schema)
    if schema.kind == PROTOBUF:
        from .protobuf import protobuf_encoder

        return protobuf_encoder(registry, schema, message)
    return lambda value: json.dumps(value, ensure_ascii=False).encode()


def is_text(schema: Schema) -> bool:
    """Whether its values are texts alone."""
    if schema.kind != AVRO:
        return False
    found = json.loads(schema.text)
    return "string" in (found, found.get("type") if isinstance(found, dict) else None)


def _need(kind: str) -> None:
    module, name = _NEEDED.get(kind, ("json", "JSON"))
    if not is_installed(module):
        package = module.rpartition(".")[2]
        raise SchemaError(f"{name} needs {package}: pip install 'odradek[registry]'")
