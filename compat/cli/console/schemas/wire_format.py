"""Confluent's wire format: a byte 0, the schema's id (4 bytes), what the schema says.

Before a Protobuf message stands which message of its file it is. Bytes that do not begin so, or
whose id the registry does not know, were written without a schema. Left out: ids in headers
(GUIDs).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..client import ConsoleError
from ..decoding import Decoder
from .registry import AVRO, JSON, PROTOBUF, NoSuchSchema, Registry, Schema

Encoder = Callable[[bytes], bytes]
"""From JSON text to what is stored. Raises ValueError."""

_PREFIX = struct.Struct(">bI")
_NEEDED = {AVRO: ("fastavro", "Avro"), PROTOBUF: ("google.protobuf", "Protobuf")}
_KINDS = {".avsc": AVRO, ".avro": AVRO, ".proto": PROTOBUF, ".json": JSON}


def registry_decoder(url: str) -> Decoder:
    """Decodes what was written with a schema; other bytes raise ValueError."""
    registry = Registry(url)
    known: dict[int, Decoder] = {}

    def decode(data: bytes) -> Any:
        if len(data) < _PREFIX.size or data[0] != 0:
            raise ValueError("this was not written with a schema")
        schema_id = _PREFIX.unpack_from(data)[1]
        if schema_id not in known:
            try:
                known[schema_id] = _decoder(registry, registry.by_id(schema_id))
            except NoSuchSchema as error:
                raise ValueError(str(error)) from None
        return known[schema_id](bytes(data[_PREFIX.size :]))

    return decode


def registry_encoder(url: str, subject: str, file: Path | None, message: str | None) -> Encoder:
    """Encodes by the schema in a file, which is registered, or by the newest of the subject. Raises
    ConsoleError."""
    registry = Registry(url)
    if file is not None:
        schema = registry.register(subject, *_read(file))
    else:
        try:
            schema = registry.latest(subject)
        except NoSuchSchema:
            raise ConsoleError(
                f"{registry.url} has no subject {subject}: name a --schema FILE or a --subject"
            ) from None
    encode = _encoder(registry, schema, message)
    prefix = _PREFIX.pack(0, schema.id)
    return lambda data: prefix + encode(data)


def _read(file: Path) -> tuple[str, str]:
    kind = _KINDS.get(file.suffix)
    if kind is None:
        raise ConsoleError(f"{file}: a schema is a file of {', '.join(_KINDS)}")
    try:
        return kind, file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ConsoleError(f"{file} cannot be read: {error}") from None


def _decoder(registry: Registry, schema: Schema) -> Decoder:
    _need(schema.kind)
    if schema.kind == AVRO:
        from .avro import avro_decoder

        return avro_decoder(registry, schema)
    if schema.kind == PROTOBUF:
        from .protobuf import protobuf_decoder

        return protobuf_decoder(registry, schema)
    return json.loads


def _encoder(registry: Registry, schema: Schema, message: str | None) -> Encoder:
    _need(schema.kind)
    if schema.kind == AVRO:
        from .avro import avro_encoder

        return avro_encoder(registry, schema)
    if schema.kind == PROTOBUF:
        from .protobuf import protobuf_encoder

        return protobuf_encoder(registry, schema, message)

    def encode(data: bytes) -> bytes:
        json.loads(data)
        return data

    return encode


def _need(kind: str) -> None:
    module, name = _NEEDED.get(kind, ("json", "JSON"))
    try:
        is_there = find_spec(module) is not None
    except ModuleNotFoundError:  # of its parent
        is_there = False
    if not is_there:
        package = module.rpartition(".")[2]
        raise ConsoleError(f"{name} needs {package}: pip install 'odradek[registry]'")
