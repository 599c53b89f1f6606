"""A FileDescriptorProto as the text of a .proto file: some serializers register Protobuf so, in
base64."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator
from typing import Any


def text_of(text: str) -> str | None:
    """The text of a file whose descriptor this is; None if it is none, or protobuf is not
    installed."""
    try:
        from google.protobuf.descriptor_pb2 import FileDescriptorProto
        from google.protobuf.message import DecodeError
    except ImportError:
        return None
    try:
        file = FileDescriptorProto.FromString(b64decode(text, validate=True))
    except (DecodeError, binascii.Error, ValueError):
        return None
    return "\n".join(_file(file))


def _file(file: Any) -> Iterator[str]:
    syntax = file.syntax or "proto2"
    yield f'syntax = "{syntax}";'
    if file.package:
        yield f"package {file.package};"
    for name in file.dependency:
        yield f'import "{name}";'
    for message in file.message_type:
        yield from _message(message, syntax)
    for enum in file.enum_type:
        yield from _enum(enum)
    for service in file.service:
        yield f"service {service.name} {{"
        for each in service.method:
            asked, answered = (
                ("stream " if is_stream else "") + name
                for is_stream, name in (
                    (each.client_streaming, each.input_type),
                    (each.server_streaming, each.output_type),
                )
            )
            yield f"rpc {each.name} ({asked}) returns ({answered});"
        yield "}"


def _enum(enum: Any) -> Iterator[str]:
    yield f"enum {enum.name} {{"
    if enum.options.allow_alias:
        yield "option allow_alias = true;"
    for value in enum.value:
        yield f"{value.name} = {value.number};"
    yield "}"


def _message(message: Any, syntax: str) -> Iterator[str]:
    yield f"message {message.name} {{"
    for each in message.reserved_range:
        yield f"reserved {each.start} to {each.end - 1};"
    for name in message.reserved_name:
        yield f'reserved "{name}";'
    entries = {each.name: each for each in message.nested_type if each.options.map_entry}
    by_one_of: dict[int, list[Any]] = {}
    for field in message.field:
        if field.HasField("oneof_index") and not field.proto3_optional:
            by_one_of.setdefault(field.oneof_index, []).append(field)
        else:
            yield _field(field, entries, syntax)
    for number, fields in by_one_of.items():
        yield f"oneof {message.oneof_decl[number].name} {{"
        for field in fields:
            yield f"{_type(field)} {field.name} = {field.number};"
        yield "}"
    for nested in message.nested_type:
        if nested.name not in entries:
            yield from _message(nested, syntax)
    for enum in message.enum_type:
        yield from _enum(enum)
    yield "}"


def _field(field: Any, entries: dict[str, Any], syntax: str) -> str:
    entry = entries.get(field.type_name.rpartition(".")[2]) if field.type_name else None
    if entry is not None:
        key, value = (_type(each) for each in entry.field)
        return f"map<{key}, {value}> {field.name} = {field.number};"
    is_plain = syntax == "proto3" and field.label == field.LABEL_OPTIONAL
    label = "" if is_plain and not field.proto3_optional else _LABELS[field.label]
    return f"{label}{_type(field)} {field.name} = {field.number};"


_LABELS = {1: "optional ", 2: "required ", 3: "repeated "}


def _type(field: Any) -> str:
    if field.type_name:
        return str(field.type_name)
    return str(field.Type.Name(field.type)).removeprefix("TYPE_").lower()
