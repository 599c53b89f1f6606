"""Protobuf messages as JSON (its own mapping), and back.

The registry is asked for the descriptor of a schema's file, so nothing compiles `.proto` text here.
Before a message stand the indexes that lead to its type in the file: zigzag varints, their number
first; a single 0 is the first message.

Source: Confluent's wire format; the ProtoJSON mapping.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.message import DecodeError, Message

from .registry import Schema, SchemaError, SchemaSource

_WELL_KNOWN = ("google/protobuf/", "google/type/")


def protobuf_decoder(registry: SchemaSource, schema: Schema) -> Callable[[bytes], Any]:
    """Decodes what was written with this schema. Raises ValueError for damage."""
    file = _file(registry, schema)

    def decode(data: bytes) -> Any:
        indexes, position = _indexes(data)
        try:
            kind = _message_at(file, indexes)
            found = message_factory.GetMessageClass(kind).FromString(data[position:])
        except (IndexError, DecodeError) as error:
            raise ValueError(f"this is not of schema {schema.id}: {error}") from None
        return json_format.MessageToDict(
            found, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
        )

    return decode


def protobuf_encoder(
    registry: SchemaSource, schema: Schema, message: str | None
) -> Callable[[Any], bytes]:
    """Encodes what JSON has of this message, by default the first of the file, or the message
    itself. Raises SchemaError."""
    file = _file(registry, schema)
    indexes = [0] if message is None else _indexes_of(file, message)
    kind = message_factory.GetMessageClass(_message_at(file, indexes))
    prefix = b"\0" if indexes == [0] else b"".join(map(_zigzag, [len(indexes), *indexes]))

    def encode(value: Any) -> bytes:
        if isinstance(value, Message):
            return prefix + bytes(value.SerializeToString())
        try:
            found = json_format.ParseDict(value, kind())
        except (json_format.ParseError, TypeError, AttributeError) as error:
            raise ValueError(f"this is not of the schema: {error}") from None
        return prefix + bytes(found.SerializeToString())

    return encode


def _file(registry: SchemaSource, schema: Schema) -> Any:
    """The descriptor of the schema's file, with those of the files it imports."""
    pool = descriptor_pool.DescriptorPool()
    name = f"schema-{schema.id}.proto"
    try:
        _add(registry, pool, schema, name, set())
        return pool.FindFileByName(name)
    except (TypeError, KeyError, ImportError) as error:
        text = f"the descriptor of schema {schema.id} does not hold together: {error}"
        raise SchemaError(text) from None


def _add(registry: SchemaSource, pool: Any, schema: Schema, name: str, added: set[str]) -> None:
    if name in added:
        return
    added.add(name)
    for reference in schema.references:
        _add(registry, pool, registry.referred(reference), reference.name, added)
    file = descriptor_pb2.FileDescriptorProto.FromString(registry.descriptor(schema.id))
    file.name = name
    for imported in file.dependency:
        _add_well_known(pool, imported, added)
    pool.Add(file)


def _add_well_known(pool: Any, name: str, added: set[str]) -> None:
    if not name.startswith(_WELL_KNOWN) or name in added:
        return
    added.add(name)
    module = import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2")
    file = descriptor_pb2.FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(file)
    for imported in file.dependency:
        _add_well_known(pool, imported, added)
    pool.Add(file)


def _message_at(file: Any, indexes: list[int]) -> Any:
    own = descriptor_pb2.FileDescriptorProto()
    file.CopyToProto(own)
    found = file.message_types_by_name[own.message_type[indexes[0]].name]
    for index in indexes[1:]:
        found = found.nested_types[index]
    return found


def _indexes_of(file: Any, message: str) -> list[int]:
    own = descriptor_pb2.FileDescriptorProto()
    file.CopyToProto(own)
    level, indexes = list(own.message_type), []
    for part in message.removeprefix(f"{own.package}.").split("."):
        names = [each.name for each in level]
        if part not in names:
            raise SchemaError(f"the schema has no message {message}: {', '.join(names)}")
        indexes.append(names.index(part))
        level = list(level[indexes[-1]].nested_type)
    return indexes


def _indexes(data: bytes) -> tuple[list[int], int]:
    count, position = _unzigzag(data, 0)
    if count == 0:
        return [0], position
    indexes = []
    for _ in range(count):
        index, position = _unzigzag(data, position)
        indexes.append(index)
    return indexes, position


def _zigzag(number: int) -> bytes:
    left, out = number << 1, bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)
    return bytes(out)


def _unzigzag(data: bytes, position: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        if position >= len(data):
            raise ValueError("the indexes of the message are cut off")
        byte = data[position]
        position += 1
        found |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (found >> 1) ^ -(found & 1), position
