"""Whether one Protobuf file can read what another wrote, by the rules of Confluent's registry.

Fields are known by their numbers, wherever in a message they stand; kinds that are alike on the
wire may change into each other. Messages of other files are followed where both sides use them.
Sources: the language guide of Protobuf, "Updating A Message Type"; the package `diff` of the
registry 8.5, and its answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from proto_schema_parser import ast

from ....emulator.base.java_order import hash_map_order
from ..limits import Steps
from . import Incompatibility
from .protobuf_names import SCALARS, Names, Scope, Type, of_kind, package_of

if TYPE_CHECKING:
    from .protobuf import ProtobufSchema

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
    "REQUIRED_FIELD_ADDED": "A required field  at path '{path}' in the {reader} schema is missing "
    "in the {writer} schema",
    "REQUIRED_FIELD_REMOVED": "The {reader} schema is missing a required field at path: '{path}' "
    "in the {writer} schema",
    "FIELD_NUMERIC_LABEL_CHANGED": "The label for a NUMERIC field at path '{path}' in the {reader} "
    "schema does not match its label in the {writer} schema",
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


class _Side(NamedTuple):
    """One of both schemas: its names, and the package that they are looked for from."""

    names: Names
    package: str

    def type(self, name: str, scope: Scope) -> tuple[str, Type] | None:
        complete = self.names.resolve(name, scope, self.package)
        found = None if complete is None else self.names.type(complete)
        return None if complete is None or found is None else (complete, found)


class _Place(NamedTuple):
    new: _Side
    old: _Side
    path: tuple[str, ...]
    scope: Scope
    seen: frozenset[int]
    steps: Steps

    def at(self, *path: str) -> _Place:
        return self._replace(path=(*self.path, *path))

    def within(self, name: str) -> _Place:
        return self._replace(path=(*self.path, name), scope=(*self.scope, name))

    def because(self, kind: str) -> Found:
        where = "#/" + "/".join(self.path)
        return [Incompatibility(kind, where, _TEXTS[kind].replace("{path}", where), frame=_FRAME)]


def compared(reader: ProtobufSchema, writer: ProtobufSchema) -> Found:
    """Why the reader cannot read what the writer wrote. Raises TooLarge."""
    new, old = (_Side(each.names, package_of(each.file)) for each in (reader, writer))
    place = _Place(new, old, (), (), frozenset(), Steps())
    found = place.because("PACKAGE_CHANGED") if new.package != old.package else []
    return found + _types(reader.file.file_elements, writer.file.file_elements, place)


def _types(new: Any, old: Any, place: _Place) -> Found:
    found: Found = []
    there, before = ({each.name: each for each in of_kind(e, ast.Message)} for e in (new, old))
    for name in hash_map_order(dict.fromkeys([*hash_map_order(before), *hash_map_order(there)])):
        if name not in there:
            found += place.within(name).because("MESSAGE_REMOVED")
        elif name in before:
            found += _messages(there[name], before[name], place.within(name))
    return found


def _messages(new: Any, old: Any, place: _Place) -> Found:
    place.steps.take()
    found: Found = []
    if id(old) not in place.seen:
        place = place._replace(seen=place.seen | {id(old)})
        found += _all_fields(_Fields(new), _Fields(old), place)
    return found + _types(new.elements, old.elements, place)


class _Fields:
    """The fields of a message by their numbers, and in which oneof each of them is."""

    def __init__(self, message: Any) -> None:
        self.by_number: dict[int, Any] = {}
        self.one_of: dict[int, str] = {}
        self.one_ofs: dict[str, list[int]] = {}
        for field in of_kind(message.elements, ast.Field, ast.MapField):
            self.by_number[int(field.number)] = field
        for one_of in of_kind(message.elements, ast.OneOf):
            numbers = self.one_ofs[str(one_of.name)] = []
            for field in of_kind(one_of.elements, ast.Field):
                number = int(field.number)
                self.by_number[number] = field
                self.one_of[number] = str(one_of.name)
                numbers.append(number)


def _all_fields(new: _Fields, old: _Fields, place: _Place) -> Found:
    found = list(_moved(new, old, place))
    gone = {
        name
        for name, numbers in old.one_ofs.items()
        if name not in new.one_ofs and not any(each in new.by_number for each in numbers)
    }
    for number in sorted({*new.by_number, *old.by_number}):
        was, of = old.one_of.get(number), new.one_of.get(number)
        if number not in new.by_number:
            if was is None:
                if _is_required(old.by_number[number]):
                    found += place.at(str(number)).because("REQUIRED_FIELD_REMOVED")
            elif was not in gone:
                found += place.at(was, str(number)).because("ONEOF_FIELD_REMOVED")
        elif number not in old.by_number:
            if of is None and _is_required(new.by_number[number]):
                found += place.at(str(number)).because("REQUIRED_FIELD_ADDED")
        else:
            where = place.at(str(number)) if of is None else place.at(of, str(number))
            found += _field(new.by_number[number], old.by_number[number], where)
    return found


def _moved(new: _Fields, old: _Fields, place: _Place) -> Iterator[Incompatibility]:
    """Fields that did not shut each other out, and do so now."""
    for name, numbers in new.one_ofs.items():
        groups = set()
        outside = 0
        for number in numbers:
            if number in old.one_of:
                groups.add(old.one_of[number])
            elif number in old.by_number:
                groups.add(f"/{number}")
                outside += 1
        if len(groups) > 1:
            many, one = "MULTIPLE_FIELDS_MOVED_TO_ONEOF", "FIELD_MOVED_TO_EXISTING_ONEOF"
            yield from place.at(name).because(many if outside > 1 else one)


def _is_required(field: Any) -> bool:
    return getattr(field, "cardinality", None) is ast.FieldCardinality.REQUIRED


def _field(new: Any, old: Any, place: _Place) -> Found:
    labels = tuple(getattr(each, "cardinality", None) for each in (new, old))
    return _kinds(_written(new), _written(old), labels, place)


def _written(field: Any) -> tuple[str, ...]:
    """A type, or the types of a map's keys and values."""
    if isinstance(field, ast.MapField):
        return str(field.key_type), str(field.value_type)
    return (str(field.type),)


def _kinds(
    new: tuple[str, ...], old: tuple[str, ...], labels: tuple[Any, ...], place: _Place
) -> Found:
    place.steps.take()
    of = _kind(new, place.new, place.scope)
    was = _kind(old, place.old, place.scope)
    if of[0] != was[0]:
        return place.because("FIELD_KIND_CHANGED")
    if of[0] == "map":
        key = _kinds(new[:1], old[:1], (None, None), place)
        return key + _kinds(new[1:], old[1:], (None, None), place)
    if of[0] == "message":
        return _named(new[0], old[0], place)
    if of != was:
        return place.because("FIELD_SCALAR_KIND_CHANGED")
    if None not in labels and labels[0] is not labels[1] and of[1] is not _KIND["string"]:
        return place.because("FIELD_NUMERIC_LABEL_CHANGED")
    return []


def _kind(names: tuple[str, ...], side: _Side, scope: Scope) -> tuple[str, Any]:
    """Of a scalar with those that it may change into."""
    if len(names) > 1:
        return "map", None
    if names[0] in SCALARS:
        return "scalar", _KIND[names[0]]
    found = side.type(names[0], scope)
    return ("scalar", _WHOLE) if found is not None and found[1].is_enum else ("message", None)


def _named(new: str, old: str, place: _Place) -> Found:
    """Messages that are fields. They are followed into other files."""
    of, was = place.new.type(new, place.scope), place.old.type(old, place.scope)
    if of is None or was is None:
        return [] if new == old else place.because("FIELD_NAMED_TYPE_CHANGED")
    local = of[0].removeprefix(f"{of[1].package}.")
    if local != was[0].removeprefix(f"{was[1].package}."):
        return place.because("FIELD_NAMED_TYPE_CHANGED")
    if of[1].element is None or was[1].element is None or (of[1].is_own and was[1].is_own):
        return []
    scope = tuple(local.split("."))
    inner = place._replace(
        new=place.new._replace(package=of[1].package),
        old=place.old._replace(package=was[1].package),
        path=scope,
        scope=scope,
    )
    found = _messages(of[1].element, was[1].element, inner)
    return found + place.because("FIELD_NAMED_TYPE_CHANGED") if found else []
