"""Whether one Avro schema can read what another wrote, and if not, why: Avro's own rules.

Source: the specification, "Schema Resolution"; SchemaCompatibility.java of Avro 1.12, whose order
and places of messages are kept, since clients show them.
"""

from __future__ import annotations

from ..limits import Steps
from . import Incompatibility
from .avro import Field, Type

Found = list[Incompatibility]
_PROMOTED = {
    ("long", "int"), ("float", "int"), ("float", "long"), ("double", "int"), ("double", "long"),
    ("double", "float"), ("bytes", "string"), ("string", "bytes"),
}  # fmt: skip
_TEXTS = {
    "FIXED_SIZE_MISMATCH": "The size of FIXED type field at path '{path}' in the {reader} schema "
    "does not match with the {writer} schema",
    "TYPE_MISMATCH": "The type (path '{path}') of a field in the {reader} schema does not match "
    "with the {writer} schema",
    "NAME_MISMATCH": "The name of the schema has changed (path '{path}')",
    "MISSING_ENUM_SYMBOLS": "The {reader} schema is missing enum symbols '{info}' at path '{path}' "
    "in the {writer} schema",
    "MISSING_UNION_BRANCH": "The {reader} schema is missing a type inside a union field at path "
    "'{path}' in the {writer} schema",
    "READER_FIELD_MISSING_DEFAULT_VALUE": "The field '{info}' at path '{path}' in the {reader} "
    "schema has no default value and is missing in the {writer} schema",
}


def compared(reader: Type, writer: Type) -> Found:
    """Why the reader cannot read what the writer wrote. Raises TooLarge."""
    return _Comparison().pair(reader, writer, ())


def _because(kind: str, path: tuple[str, ...], info: str) -> Found:
    where = "/" + "/".join(path)
    text = _TEXTS[kind].replace("{path}", where).replace("{info}", info)
    return [Incompatibility(kind, where, text, info)]


class _Comparison:
    """Each pair of types is compared once; one that is being compared is compatible, for now."""

    def __init__(self) -> None:
        self._steps = Steps()
        self._known: dict[tuple[int, int], Found] = {}

    def pair(self, reader: Type, writer: Type, path: tuple[str, ...]) -> Found:
        self._steps.take()
        key = (id(reader), id(writer))
        if key not in self._known:
            self._known[key] = []
            self._known[key] = self._compare(reader, writer, path)
        return self._known[key]

    def _compare(self, reader: Type, writer: Type, path: tuple[str, ...]) -> Found:
        if reader.kind == writer.kind:
            return self._same(reader, writer, path)
        if writer.kind == "union":
            found: Found = []
            for number, each in enumerate(writer.branches):
                found += self.pair(reader, each, (*path, str(number)))
            return found
        if reader.kind == "union":
            if any(not self.pair(each, writer, ()) for each in reader.branches):
                return []
            return _because("MISSING_UNION_BRANCH", path, _lacking(writer))
        if (reader.kind, writer.kind) in _PROMOTED:
            return []
        info = f"reader type: {_named(reader)} not compatible with writer type: {_named(writer)}"
        return _because("TYPE_MISMATCH", path, info)

    def _same(self, reader: Type, writer: Type, path: tuple[str, ...]) -> Found:
        if reader.items is not None and writer.items is not None:
            of = "items" if reader.kind == "array" else "values"
            return self.pair(reader.items, writer.items, (*path, of))
        if reader.kind == "union":
            found: Found = []
            for number, each in enumerate(writer.branches):
                if self.pair(reader, each, ()):
                    where = (*path, str(number))
                    found += _because("MISSING_UNION_BRANCH", where, _lacking(each))
            return found
        if reader.kind not in ("fixed", "enum", "record"):
            return []
        found = []
        if reader.name != writer.name and writer.full not in reader.aliases:
            found += _because("NAME_MISMATCH", (*path, "name"), f"expected: {writer.full}")
        if reader.kind == "fixed":
            return found + self._sizes(reader, writer, path)
        if reader.kind == "enum":
            return found + self._symbols(reader, writer, path)
        return found + self._fields(reader, writer, path)

    def _sizes(self, reader: Type, writer: Type, path: tuple[str, ...]) -> Found:
        if reader.size == writer.size:
            return []
        info = f"expected: {writer.size}, found: {reader.size}"
        return _because("FIXED_SIZE_MISMATCH", (*path, "size"), info)

    def _symbols(self, reader: Type, writer: Type, path: tuple[str, ...]) -> Found:
        missing = sorted(set(writer.symbols) - set(reader.symbols))
        if not missing or reader.default is not None:
            return []
        return _because("MISSING_ENUM_SYMBOLS", (*path, "symbols"), f"[{', '.join(missing)}]")

    def _fields(self, reader: Type, writer: Type, path: tuple[str, ...]) -> Found:
        found: Found = []
        for number, each in enumerate(reader.fields):
            where = (*path, "fields", str(number))
            other = _of_writer(writer, each)
            if other is not None:
                found += self.pair(each.type, other.type, (*where, "type"))
            elif not each.has_default:
                if each.type.kind == "enum" and each.type.default is not None:
                    found += self.pair(each.type, writer, (*where, "type"))
                else:
                    found += _because("READER_FIELD_MISSING_DEFAULT_VALUE", where, each.name)
        return found


def _of_writer(writer: Type, field: Field) -> Field | None:
    """The writer's field of the same name, else of one of the aliases."""
    by_name = {each.name: each for each in writer.fields}
    names = (field.name, *field.aliases)
    return next((by_name[name] for name in names if name in by_name), None)


def _named(type: Type) -> str:
    return type.kind.upper()


def _lacking(writer: Type) -> str:
    return f"reader union lacking writer type: {_named(writer)}"
