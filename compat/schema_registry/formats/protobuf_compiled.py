"""A Protobuf file as a FileDescriptorProto.

As Confluent's registry has it, for format=serialized: the fields of each oneof come first, names of
types are as they are written, of options those that everybody has. Left out: options of one's own
(extensions), features of editions.
"""

from __future__ import annotations

import re
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from proto_schema_parser import ast
from proto_schema_parser.parser import Parser

from . import BadSchema
from .protobuf_names import SCALARS, Names, Scope, of_kind

DEFAULT_NAME = "default"
_TAG_END = 536_870_912
_REPEATED = ("targets",)
_ENUM_END = 2_147_483_647
_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(.))")


def compiled(file: ast.File, names: Names, name: str = DEFAULT_NAME) -> Any:
    """Its FileDescriptorProto. Raises BadSchema."""
    made = FileDescriptorProto(name=name, package=names.package or None)
    if file.syntax:
        made.syntax = file.syntax
    _types(file.file_elements, made.message_type, made.enum_type, _Of(names, file.syntax))
    for extension in of_kind(file.file_elements, ast.Extension):
        _extend(made.extension, extension, _Of(names, file.syntax))
    for each in of_kind(file.file_elements, ast.Service):
        service = made.service.add(name=each.name)
        for method in of_kind(each.elements, ast.Method):
            service.method.add(
                name=method.name,
                input_type=method.input_type.type,
                output_type=method.output_type.type,
                client_streaming=method.input_type.stream or None,
                server_streaming=method.output_type.stream or None,
            )
    imports = of_kind(file.file_elements, ast.Import)
    for imported in [*(e for e in imports if not e.public), *(e for e in imports if e.public)]:
        if imported.public:
            made.public_dependency.append(len(made.dependency))
        made.dependency.append(imported.name)
    _set_options(made, of_kind(file.file_elements, ast.Option))
    return made


def compiled_text(text: str, name: str) -> Any:
    file = Parser().parse(text)
    return compiled(file, Names(file, {}), name)


class _Of:
    """Where something stands: whose names it uses, in which syntax, within which messages."""

    def __init__(self, names: Names, syntax: str | None, scope: Scope = ()) -> None:
        self.names = names
        self.syntax = syntax
        self.scope = scope

    def within(self, message: str) -> _Of:
        return _Of(self.names, self.syntax, (*self.scope, message))


def _types(elements: Any, messages: Any, enums: Any, of: _Of) -> None:
    for each in of_kind(elements, ast.Message):
        messages.append(_message(each, of.within(each.name)))
    for each in of_kind(elements, ast.Enum):
        enums.append(_enum(each))


def _message(message: Any, of: _Of) -> DescriptorProto:
    made = DescriptorProto(name=message.name)
    _types(message.elements, made.nested_type, made.enum_type, of)
    for index, one_of in enumerate(of_kind(message.elements, ast.OneOf)):
        _one_of(made, one_of.name)
        for each in of_kind(one_of.elements, ast.Field):
            _field(made.field.add(label=1, oneof_index=index), each, of)
        for each in of_kind(one_of.elements, ast.Group):
            _group(made, each, of, index)
    for each in of_kind(message.elements, ast.Field, ast.MapField, ast.Group):
        if isinstance(each, ast.Group):
            _group(made, each, of, None)
        elif isinstance(each, ast.MapField):
            _map_field(made, each, of)
        else:
            field = made.field.add()
            if each.cardinality is not None:
                field.label = _label(each.cardinality)
            if each.cardinality is ast.FieldCardinality.OPTIONAL and of.syntax == "proto3":
                field.proto3_optional = True
                field.oneof_index = len(made.oneof_decl)
                _one_of(made, f"_{each.name}")
            _field(field, each, of)
    for reserved in of_kind(message.elements, ast.Reserved):
        made.reserved_name.extend(reserved.names)
        for start, end in _ranges(reserved.ranges, _TAG_END):
            made.reserved_range.add(start=start, end=end)
    for extensions in of_kind(message.elements, ast.ExtensionRange):
        for start, end in _ranges(extensions.ranges, _TAG_END):
            made.extension_range.add(start=start, end=end)
    for extension in of_kind(message.elements, ast.Extension):
        _extend(made.extension, extension, of)
    _set_options(made, of_kind(message.elements, ast.Option))
    return made


def _enum(enum: ast.Enum) -> EnumDescriptorProto:
    made = EnumDescriptorProto(name=enum.name)
    for each in of_kind(enum.elements, ast.EnumValue):
        value = made.value.add(name=each.name, number=int(each.number))
        _set_options(value, each.options)
    for reserved in of_kind(enum.elements, ast.EnumReserved):
        made.reserved_name.extend(reserved.names)
        for start, end in _ranges(reserved.ranges, _ENUM_END + 1):
            made.reserved_range.add(start=start, end=end - 1)
    _set_options(made, of_kind(enum.elements, ast.Option))
    return made


def _field(made: Any, field: Any, of: _Of) -> None:
    made.name, made.number = field.name, int(field.number)
    _set_type(made, str(field.type), of)
    for option in field.options:
        if option.name == "default":
            made.default_value = _default(option.value)
        elif option.name == "json_name":
            made.json_name = unescaped(str(option.value))
    _set_options(made, [e for e in field.options if e.name not in ("default", "json_name")])


def _set_type(made: Any, name: str, of: _Of) -> None:
    if name in SCALARS:
        made.type = getattr(FieldDescriptorProto, f"TYPE_{name.upper()}")
        return
    complete = of.names.resolve(name, of.scope)
    found = None if complete is None else of.names.type(complete)
    if found is not None:
        is_group = isinstance(found.element, ast.Group)
        made.type = 14 if found.is_enum else 10 if is_group else 11
    made.type_name = name


def _group(message: Any, group: ast.Group, of: _Of, one_of: int | None) -> None:
    message.nested_type.append(_message(group, of.within(group.name)))
    field = message.field.add(name=group.name.lower(), number=int(group.number), type=10)
    field.label = 1 if group.cardinality is None else _label(group.cardinality)
    field.type_name = group.name
    if one_of is not None:
        field.oneof_index = one_of


def _map_field(message: Any, field: ast.MapField, of: _Of) -> None:
    entry = _entry_name(field.name)
    nested = message.nested_type.add(name=entry)
    nested.options.map_entry = True
    for name, number, kind in (("key", 1, field.key_type), ("value", 2, field.value_type)):
        made = nested.field.add(name=name, number=number)
        _set_type(made, str(kind), of.within(entry))
    made = message.field.add(label=3, name=field.name, number=int(field.number), type_name=entry)
    _set_options(made, field.options)


def _one_of(message: Any, name: str) -> None:
    made = message.oneof_decl.add(name=name)
    made.options.SetInParent()


def _entry_name(field: str) -> str:
    """How Confluent's registry calls the type of a map's entries; protoc has f as FEntry, too."""
    if "_" not in field:
        return f"{field}Entry"
    return "".join(each[:1].upper() + each[1:].lower() for each in field.split("_")) + "Entry"


def _extend(made: Any, extension: ast.Extension, of: _Of) -> None:
    for each in of_kind(extension.elements, ast.Field):
        field = made.add(extendee=extension.typeName)
        if each.cardinality is not None:
            field.label = _label(each.cardinality)
        _field(field, each, of)


def _label(cardinality: Any) -> Any:
    return {"OPTIONAL": 1, "REQUIRED": 2, "REPEATED": 3}[cardinality.value]


def _ranges(ranges: list[str], end: int) -> list[tuple[int, int]]:
    """Each with the number after its last."""
    found = []
    for text in ranges:
        start, to, last = text.partition(" to ")
        stop = end if last == "max" else int(last if to else start) + 1
        found.append((int(start), stop))
    return found


def _set_options(made: Any, options: list[ast.Option]) -> None:
    """Those that everybody has."""
    fields = made.options.DESCRIPTOR.fields_by_name
    for option in options:
        field = fields.get(option.name)
        if field is None or field.message_type is not None or option.name in _REPEATED:
            continue
        value: Any = option.value
        try:
            if field.enum_type is not None:
                value = field.enum_type.values_by_name[value.name].number
            elif isinstance(value, str):
                value = unescaped(value)
            setattr(made.options, option.name, value)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise BadSchema(f"{option.name} cannot be {_default(option.value)}") from None


def _default(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return unescaped(value)
    return str(getattr(value, "name", value))


def unescaped(text: str) -> str:
    """A string as it is meant: the parser leaves what is behind backslashes as it was written."""

    def meant(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        return chr(int(found[2], 8)) if found[2] else _ESCAPES.get(found[3], found[3])

    return _ESCAPE.sub(meant, text)
