"""Avro: schemas read, written and normalised as Avro's Java library 1.12 does.

Sources: the specification of Avro 1.12; Schema.java (reading, and how a schema is written as text),
SchemaCompatibility.java (comparison, in avro_compatibility.py), the Confluent client's
AvroSchemaUtils (normalisation).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...schemas.registry import AVRO
from ..limits import read_json
from . import BadSchema, Incompatibility, written

PRIMITIVES = ("string", "bytes", "int", "long", "float", "double", "boolean", "null")
_RESERVED = frozenset(
    {"doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases",
     "default"}
)  # fmt: skip
_SCHEMA_RESERVED = _RESERVED - {"default"}
_FIELD_RESERVED = frozenset({"default", "doc", "name", "order", "type", "aliases"})
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_ORDERS = ("ascending", "descending", "ignore")
_NONE: Any = object()
_INT, _LONG = 1 << 31, 1 << 63
# Which types each logical type may annotate: on others it is ignored, and a plain property.
_LOGICAL = {
    "decimal": ("bytes", "fixed"), "big-decimal": ("bytes",), "uuid": ("string", "fixed"),
    "date": ("int",), "time-millis": ("int",), "time-micros": ("long",),
    "timestamp-millis": ("long",), "timestamp-micros": ("long",), "timestamp-nanos": ("long",),
    "local-timestamp-millis": ("long",), "local-timestamp-micros": ("long",),
    "local-timestamp-nanos": ("long",), "duration": ("fixed",),
}  # fmt: skip


@dataclass(eq=False, slots=True)
class Field:
    name: str
    type: Type
    doc: str | None = None
    default: Any = _NONE
    order: str = "ascending"
    aliases: list[str] = field(default_factory=list)
    props: dict[str, Any] = field(default_factory=dict)

    @property
    def has_default(self) -> bool:
        """Whether a reader may do without it."""
        return self.default is not _NONE


@dataclass(eq=False, slots=True)
class Type:
    """A type. Which attributes count depends on its kind; `kind` is empty where one was named that
    has not been defined."""

    kind: str
    name: str = ""
    space: str | None = None
    doc: str | None = None
    is_error: bool = False
    fields: list[Field] = field(default_factory=list)
    items: Type | None = None
    branches: list[Type] = field(default_factory=list)
    symbols: list[str] = field(default_factory=list)
    size: int = 0
    default: str | None = None
    aliases: list[str] = field(default_factory=list)
    """Full names."""
    props: dict[str, Any] = field(default_factory=dict)

    @property
    def full(self) -> str:
        return f"{self.space}.{self.name}" if self.space else self.name


class AvroSchema:
    kind = AVRO

    def __init__(self, root: Type, named: Mapping[str, str], outside: frozenset[str]) -> None:
        self.root = root
        self._named = named
        self._outside = outside
        self.text = written(_plain(root, None, set(outside)))

    def normalized(self) -> str:
        """Properties in order, documentation that is empty and defaults of Avro left out."""
        return parse(written(_normal(self.root, set(self._outside))), self._named).text

    def formatted(self, how: str) -> str:
        """`resolved`: with what it refers to inside."""
        return written(_plain(self.root, None, set())) if how == "resolved" else self.text

    def cannot_read(self, writer: AvroSchema) -> list[Incompatibility]:
        """See Schema."""
        from .avro_compatibility import compared

        return compared(self.root, writer.root)


def parse(text: str, named: Mapping[str, str], *, strict: bool = False) -> AvroSchema:
    """Raises BadSchema, TooLarge."""
    reader = _Reader(strict)
    outside = []
    for each in named.values():
        referred = reader.whole(each)
        outside.append(referred.full if referred.name else referred.kind)
    return AvroSchema(reader.whole(text), named, frozenset(outside))


class _Reader:
    """Reads texts that share their names."""

    def __init__(self, strict: bool) -> None:
        self._strict = strict
        self._names: dict[str, Type] = {}
        self._defaults: list[tuple[Field, Any]] = []

    def whole(self, text: str) -> Type:
        """The type that a text defines. Raises BadSchema, TooLarge."""
        try:
            given = read_json(text)
        except ValueError as error:
            raise BadSchema(f"it is not JSON: {error}") from None
        found = self._type(given, None)
        for name, each in self._names.items():
            if not each.kind:
                raise BadSchema(f"Undefined schema: {name}")
        for each_field, default in self._defaults if self._strict else ():
            if not _is_valid(each_field.type, default):
                what = f"Invalid default for field {each_field.name}"
                raise BadSchema(f"{what}: {written(default)} not a {_words(each_field.type)}")
        self._defaults.clear()
        return found

    def _type(self, schema: Any, space: str | None) -> Type:
        if isinstance(schema, str):
            return self._named(schema, space)
        if isinstance(schema, list):
            return self._union([self._type(each, space) for each in schema])
        if not isinstance(schema, dict):
            raise BadSchema(f"Schema not yet supported: {written(schema)}")
        kind = _text(schema, "type", "No type")
        if kind in PRIMITIVES:
            return Type(kind, props=_props(schema, _SCHEMA_RESERVED))
        if kind in ("record", "error", "enum", "fixed"):
            return self._definition(kind, schema, space)
        for wanted, of in (("array", "items"), ("map", "values")):
            if kind == wanted:
                if of not in schema:
                    raise BadSchema(f"{kind.title()} has no {of} type: {written(schema)}")
                inner = self._type(schema[of], space)
                return Type(kind, items=inner, props=_props(schema, _SCHEMA_RESERVED))
        return self._named(kind, space)

    def _named(self, name: str, space: str | None) -> Type:
        if name in PRIMITIVES:
            return Type(name)
        full = f"{space}.{name}" if space and "." not in name else name
        found = self._names.get(full) or self._names.get(name)
        if found is None:
            found = self._names[full] = Type("")
        return found

    def _union(self, branches: list[Type]) -> Type:
        names: set[str] = set()
        for each in branches:
            if each.kind == "union":
                raise BadSchema("Nested union")
            name = each.full or each.kind
            if name and name in names:
                raise BadSchema(f"Duplicate in union:{name}")
            names.add(name)
        return Type("union", branches=branches)

    def _definition(self, kind: str, schema: dict[str, Any], space: str | None) -> Type:
        name = _text(schema, "name", "No name in schema")
        own = schema.get("namespace")
        before, dot, last = name.rpartition(".")
        own_space = before if dot else own if isinstance(own, str) else space
        made = Type(
            "record" if kind == "error" else kind, last, own_space or None, _optional(schema, "doc")
        )
        made.is_error = kind == "error"
        self._check(made)
        known = self._names.get(made.full)
        if known is not None and not known.kind:  # it was named before
            for each in ("kind", "name", "space", "doc", "is_error"):
                setattr(known, each, getattr(made, each))
            made = known
        if known is None:
            self._names[made.full] = made
        getattr(self, f"_{made.kind}")(made, schema)
        reserved = _RESERVED if made.kind == "enum" else _SCHEMA_RESERVED
        made.props = _props(schema, reserved)
        made.aliases = [
            each if "." in each or not made.space else f"{made.space}.{each}"
            for each in _aliases(schema)
        ]
        if known is not None and known is not made and not _is_same(known, made):
            raise BadSchema(f"Can't redefine: {made.full}")
        return made

    def _check(self, made: Type) -> None:
        _check_name(made.name)
        if self._strict and made.space:
            for part in made.space.split("."):
                if not _NAME.fullmatch(part):
                    raise BadSchema(f'Namespace part "{part}" is invalid: Illegal name')

    def _record(self, made: Type, schema: dict[str, Any]) -> None:
        fields = schema.get("fields")
        if not isinstance(fields, list):
            raise BadSchema(f"Record has no fields: {written(schema)}")
        for each in fields:
            if not isinstance(each, dict):
                raise BadSchema(f"No field name: {written(each)}")
            found = self._field(each, made.space)
            if any(other.name == found.name for other in made.fields):
                raise BadSchema(f"Duplicate field {found.name} in record {made.full}")
            made.fields.append(found)

    def _field(self, schema: dict[str, Any], space: str | None) -> Field:
        name = _text(schema, "name", "No field name")
        _check_name(name)
        if "type" not in schema:
            raise BadSchema(f"No field type: {written(schema)}")
        found = Field(name, self._type(schema["type"], space), _optional(schema, "doc"))
        order = schema.get("order", "ascending")
        if not isinstance(order, str) or order.lower() not in _ORDERS:
            raise BadSchema(f"No such order: {written(order)}")
        found.order = order.lower()
        if "default" in schema:
            default = schema["default"]
            if found.type.kind in ("float", "double") and isinstance(default, str):
                try:
                    default = float(default)
                except ValueError:
                    raise BadSchema(f"not a number: {default!r}") from None
            found.default = default
            self._defaults.append((found, default))
        found.aliases = _aliases(schema)
        found.props = _props(schema, _FIELD_RESERVED)
        return found

    def _enum(self, made: Type, schema: dict[str, Any]) -> None:
        symbols = schema.get("symbols")
        if not isinstance(symbols, list):
            raise BadSchema(f"Enum has no symbols: {written(schema)}")
        for each in symbols:
            _check_name(each)
            if each in made.symbols:
                raise BadSchema(f"Duplicate enum symbol: {each}")
            made.symbols.append(each)
        made.default = _optional(schema, "default")
        if made.default is not None and made.default not in made.symbols:
            raise BadSchema(f"The Enum Default: {made.default} is not in the enum symbol set")

    def _fixed(self, made: Type, schema: dict[str, Any]) -> None:
        size = schema.get("size")
        if type(size) is not int or not 0 <= size < _INT:
            raise BadSchema(f"Invalid or no size: {written(schema)}")
        made.size = size


def _is_same(one: Type, other: Type) -> bool:
    """Whether two definitions of a name are equal: documentation and aliases do not count."""

    def of(type: Type) -> str:
        return written(_without(_plain(type, None, set()), ("doc", "aliases")))

    return of(one) == of(other)


def _without(value: Any, keys: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return {key: _without(each, keys) for key, each in value.items() if key not in keys}
    return [_without(each, keys) for each in value] if isinstance(value, list) else value


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BadSchema(f"Illegal name: {name}")


def _text(schema: dict[str, Any], key: str, error: str) -> str:
    found = schema.get(key)
    if not isinstance(found, str):
        raise BadSchema(f"{error}: {written(schema)}")
    return found


def _optional(schema: dict[str, Any], key: str) -> str | None:
    found = schema.get(key)
    return found if isinstance(found, str) else None


def _aliases(schema: dict[str, Any]) -> list[str]:
    found = schema.get("aliases")
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise BadSchema(f"aliases not an array of strings: {written(found)}")
    return list(dict.fromkeys(found))


def _props(schema: dict[str, Any], reserved: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in reserved}


def _words(type: Type) -> str:
    return written(_plain(type, None, set()))


def _is_valid(type: Type, value: Any) -> bool:
    if type.kind in ("string", "bytes", "enum", "fixed"):
        return isinstance(value, str)
    if type.kind in ("int", "long"):
        most = _INT if type.kind == "int" else _LONG
        return isinstance(value, int) and not isinstance(value, bool) and -most <= value < most
    if type.kind in ("float", "double"):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if type.kind in ("boolean", "null"):
        return value is None if type.kind == "null" else isinstance(value, bool)
    if type.kind == "array":
        assert type.items is not None
        return isinstance(value, list) and all(_is_valid(type.items, each) for each in value)
    if type.kind == "map":
        assert type.items is not None
        values = value.values() if isinstance(value, dict) else ()
        return isinstance(value, dict) and all(_is_valid(type.items, each) for each in values)
    if type.kind == "union":
        return any(_is_valid(each, value) for each in type.branches)
    return isinstance(value, dict) and all(
        _is_valid(each.type, value.get(each.name, each.default)) for each in type.fields
    )


def _plain(type: Type, space: str | None, known: set[str]) -> Any:
    """As Schema.toString writes it. `space`: the namespace around it."""
    if type.kind == "union":
        return [_plain(each, space, known) for each in type.branches]
    if type.kind in PRIMITIVES:
        return {"type": type.kind, **type.props} if type.props else type.kind
    if type.items is not None:
        of = "items" if type.kind == "array" else "values"
        return {"type": type.kind, of: _plain(type.items, space, known), **type.props}
    if type.full in known:
        is_short = type.space is not None and type.space == space and type.name not in _TYPES
        return type.name if is_short else type.full
    known.add(type.full)
    made: dict[str, Any] = {"type": "error" if type.is_error else type.kind, "name": type.name}
    if type.space != space:
        made["namespace"] = type.space or ""
    if type.doc is not None:
        made["doc"] = type.doc
    if type.kind == "record":
        made["fields"] = [_plain_field(each, type.space, known) for each in type.fields]
    elif type.kind == "enum":
        made["symbols"] = type.symbols
        if type.default is not None:
            made["default"] = type.default
    else:
        made["size"] = type.size
    made.update(type.props)
    if type.aliases:
        made["aliases"] = [_alias(each, type.space) for each in type.aliases]
    return made


_TYPES = (*PRIMITIVES, "record", "enum", "array", "map", "union", "fixed")


def _alias(full: str, space: str | None) -> str:
    before, _, last = full.rpartition(".")
    return last if before and before == space and last not in _TYPES else full


def _plain_field(each: Field, space: str | None, known: set[str]) -> dict[str, Any]:
    made: dict[str, Any] = {"name": each.name, "type": _plain(each.type, space, known)}
    if each.doc is not None:
        made["doc"] = each.doc
    if each.has_default:
        made["default"] = each.default
    if each.order != "ascending":
        made["order"] = each.order
    if each.aliases:
        made["aliases"] = each.aliases
    return {**made, **each.props}


def _normal(type: Type, known: set[str]) -> Any:
    """As the client's normalisation writes it."""
    if type.kind == "union":
        return [_normal(each, known) for each in type.branches]
    props = _normal_props(type)
    if type.kind in PRIMITIVES:
        return {"type": type.kind, **props} if props else type.kind
    if type.items is not None:
        of = "items" if type.kind == "array" else "values"
        return {"type": type.kind, of: _normal(type.items, known), **props}
    if type.full in known:
        return type.full
    known.add(type.full)
    made: dict[str, Any] = {"name": type.full, "type": type.kind}
    if type.kind == "enum":
        made["symbols"] = type.symbols
    elif type.kind == "fixed":
        made["size"] = type.size
    else:
        made["fields"] = [_normal_field(each, known) for each in type.fields]
    logical = {key: props.pop(key) for key in ("logicalType",) if _logical(type)}
    for key in ("precision", "scale") if logical.get("logicalType") == "decimal" else ():
        if key in props:
            logical[key] = props.pop(key)
    made.update(logical)
    if type.doc:
        made["doc"] = type.doc
    if type.aliases:
        made["aliases"] = sorted(type.aliases)
    if type.default is not None:
        made["default"] = type.default
    return {**made, **props}


def _normal_field(each: Field, known: set[str]) -> dict[str, Any]:
    made: dict[str, Any] = {"name": each.name, "type": _normal(each.type, known)}
    made["order"] = each.order.upper()
    if each.doc is not None:
        made["doc"] = each.doc
    if each.aliases:
        made["aliases"] = sorted(each.aliases)
    if each.has_default:
        made["default"] = _sorted(each.default)
    return {**made, **dict(sorted((key, _sorted(value)) for key, value in each.props.items()))}


def _logical(type: Type) -> str | None:
    """The logical type, if it is one that this type may have."""
    name = type.props.get("logicalType")
    return name if isinstance(name, str) and type.kind in _LOGICAL.get(name, ()) else None


def _normal_props(type: Type) -> dict[str, Any]:
    """A valid logical type first, with what belongs to it; then the rest in order."""
    props = dict(sorted((key, _sorted(value)) for key, value in type.props.items()))
    name = _logical(type)
    if name is None:
        return props
    first: dict[str, Any] = {"logicalType": props.pop("logicalType")}
    if name == "decimal":
        for key in ("precision", "scale"):
            if key in props and (key == "precision" or props[key]):
                first[key] = props.pop(key)
    return {**first, **props}


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value
