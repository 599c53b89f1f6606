"""Whether one Protobuf file can read what another wrote, by the rules of Confluent's registry.

Fields are told by their numbers; kinds that are alike on the wire may change into each other.
Sources: the language guide of Protobuf, "Updating A Message Type"; answers of the registry 8.5.
"""

from __future__ import annotations

from typing import Any

from proto_schema_parser import ast

from . import Incompatibility
from .protobuf import of_kind

Found = list[Incompatibility]
_FRAME = '{{errorType:"{kind}", description:"{text}"}}'
_TEXTS = {
    "PACKAGE_CHANGED": "The package at '{path}' in the {reader} schema does not match the package "
    "in the {writer} schema",
    "MESSAGE_REMOVED": "The {reader} schema is missing a MESSAGE type at path '{path}' in the "
    "{writer} schema",
    "FIELD_SCALAR_KIND_CHANGED": "The kind of a SCALAR field at path '{path}' in the {reader} "
    "schema does not match its kind in the {writer} schema",
    "FIELD_KIND_CHANGED": "The type of a field at path '{path}' in the {reader} schema does not "
    "match the {writer} schema",
    "FIELD_NAMED_TYPE_CHANGED": "The type of a MESSAGE field at path '{path}' in the {reader} "
    "schema does not match its type in the {writer} schema",
    "REQUIRED_FIELD_ADDED": "A required field at path '{path}' in the {reader} schema is missing "
    "in the {writer} schema",
    "REQUIRED_FIELD_REMOVED": "The {reader} schema is missing a required field at path: '{path}' "
    "in the {writer} schema",
    "ONEOF_FIELD_REMOVED": "The {reader} schema is missing a oneof field at path '{path}' in the "
    "{writer} schema",
    "FIELD_MOVED_TO_EXISTING_ONEOF": "A field in the oneof at path '{path}' in the {reader} schema "
    "is outside an existing oneof in the {writer} schema",
    "MULTIPLE_FIELDS_MOVED_TO_ONEOF": "Multiple fields in the oneof at path '{path}' in the "
    "{reader} schema are outside a oneof in the {writer} schema",
}
_ALIKE: tuple[frozenset[str], ...] = (
    frozenset({"int32", "uint32", "int64", "uint64", "bool"}),
    frozenset({"sint32", "sint64"}),
    frozenset({"string", "bytes"}),
    frozenset({"fixed32", "sfixed32"}),
    frozenset({"fixed64", "sfixed64"}),
    frozenset({"float"}),
    frozenset({"double"}),
)
_KIND = {name: kinds for kinds in _ALIKE for name in kinds}
_WHOLE = _KIND["int32"]


def compared(reader: ast.File, writer: ast.File) -> Found:
    """Why the reader cannot read what the writer wrote."""
    new, old = (
        [each.name for each in of_kind(file.file_elements, ast.Package)]
        for file in (reader, writer)
    )
    if new != old:
        return _because("PACKAGE_CHANGED", ())
    return _types(reader.file_elements, writer.file_elements, (), frozenset())


def _because(kind: str, path: tuple[str, ...]) -> Found:
    where = "#/" + "/".join(path)
    return [Incompatibility(kind, where, _TEXTS[kind].replace("{path}", where), frame=_FRAME)]


def _types(reader: Any, writer: Any, path: tuple[str, ...], enums: frozenset[str]) -> Found:
    found: Found = []
    enums |= {each.name for side in (reader, writer) for each in of_kind(side, ast.Enum)}
    new = {each.name: each for each in of_kind(reader, ast.Message)}
    for old in sorted(of_kind(writer, ast.Message), key=lambda each: str(each.name)):
        where = (*path, old.name)
        if old.name not in new:
            found += _because("MESSAGE_REMOVED", where)
        else:
            found += _messages(new[old.name], old, where, enums)
    return found


def _messages(new: Any, old: Any, path: tuple[str, ...], enums: frozenset[str]) -> Found:
    enums |= {each.name for side in (new, old) for each in of_kind(side.elements, ast.Enum)}
    found = _fields(_plain(new), _plain(old), path, enums)
    found += _one_ofs(new, old, path, enums)
    return found + _types(new.elements, old.elements, path, enums)


def _plain(message: Any) -> dict[int, Any]:
    fields = of_kind(message.elements, ast.Field, ast.MapField)
    return {each.number: each for each in fields}


def _in(one_of: Any) -> dict[int, Any]:
    return {each.number: each for each in of_kind(one_of.elements, ast.Field)}


def _fields(
    new: dict[int, Any], old: dict[int, Any], path: tuple[str, ...], enums: frozenset[str]
) -> Found:
    found: Found = []
    for number in sorted({*new, *old}):
        where = (*path, str(number))
        if number in new and number in old:
            found += _kinds(new[number], old[number], where, enums)
        elif number in new and _is_required(new[number]):
            found += _because("REQUIRED_FIELD_ADDED", where)
        elif number in old and _is_required(old[number]):
            found += _because("REQUIRED_FIELD_REMOVED", where)
    return found


def _is_required(field: Any) -> bool:
    return getattr(field, "cardinality", None) is ast.FieldCardinality.REQUIRED


def _kinds(new: Any, old: Any, path: tuple[str, ...], enums: frozenset[str]) -> Found:
    of, was = (_kind(each, enums) for each in (new, old))
    if of == was:
        return []
    if isinstance(of, frozenset) and isinstance(was, frozenset):
        return _because("FIELD_SCALAR_KIND_CHANGED", path)
    if isinstance(of, str) and isinstance(was, str):
        return _because("FIELD_NAMED_TYPE_CHANGED", path)
    return _because("FIELD_KIND_CHANGED", path)


def _kind(field: Any, enums: frozenset[str]) -> frozenset[str] | str:
    """A set for a scalar: those it may change into; a name for a message."""
    if isinstance(field, ast.MapField):
        return f"map<{field.key_type}, {field.value_type}>"
    name = str(field.type).lstrip(".")
    if name in _KIND:
        return _KIND[name]
    last = name.rpartition(".")[2]
    return _WHOLE if last in enums else last


def _one_ofs(new: Any, old: Any, path: tuple[str, ...], enums: frozenset[str]) -> Found:
    found: Found = []
    before = {each.name: each for each in of_kind(old.elements, ast.OneOf)}
    outside = _plain(old)
    for one_of in of_kind(new.elements, ast.OneOf):
        where, fields = (*path, one_of.name), _in(one_of)
        moved = [number for number in fields if number in outside]
        for number in moved:
            found += _kinds(fields[number], outside[number], (*path, str(number)), enums)
        if one_of.name in before and moved:
            found += _because("FIELD_MOVED_TO_EXISTING_ONEOF", where)
        elif len(moved) > 1:
            found += _because("MULTIPLE_FIELDS_MOVED_TO_ONEOF", where)
        if one_of.name in before:
            were = _in(before[one_of.name])
            for number in sorted(were):
                if number not in fields:
                    found += _because("ONEOF_FIELD_REMOVED", (*where, str(number)))
                else:
                    found += _kinds(fields[number], were[number], (*where, str(number)), enums)
    return found
