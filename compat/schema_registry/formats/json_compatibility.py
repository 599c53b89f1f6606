"""Whether what one JSON Schema allows is allowed by another one, and if not, why.

The rules are those of Confluent's registry, which looks at content models: an object is open where
it allows other properties, closed where it allows none, and else partially open. Kinds of reasons
and their words are its own. It is stricter than need be in places, and so is this. Source: "JSON
Schema Serializer", "Schema evolution" of Confluent's documentation; answers of the registry 8.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..limits import Steps
from . import Incompatibility, written

if TYPE_CHECKING:
    from .json_schema import JsonSchema

Found = list[Incompatibility]
_FRAME = '{{errorType:"{kind}", description:"{text}\'}}'
_ADDED = "The keyword at path '{path}' in the {reader} schema is not present in the {writer} schema"
_STRICTER = (
    "The value at path '{path}' in the {reader} schema is {how} its value in the {writer} schema"
)
_OTHERWISE = {
    **dict.fromkeys(
        (
            "TYPE_CHANGED",
            "TYPE_NARROWED",
            "COMBINED_TYPE_CHANGED",
            "COMBINED_TYPE_SUBSCHEMAS_CHANGED",
            "ENUM_ARRAY_CHANGED",
        ),
        "A type at path '{path}' is different between the {reader} schema and the {writer} schema",
    ),
    **dict.fromkeys(
        (
            "SUM_TYPE_NARROWED",
            "ENUM_ARRAY_NARROWED",
            "ADDITIONAL_PROPERTIES_NARROWED",
        ),
        "An array or combined type at path '{path}' has fewer elements in the {reader} schema than "
        "the {writer} schema",
    ),
    **dict.fromkeys(
        ("PRODUCT_TYPE_EXTENDED", "NOT_TYPE_EXTENDED"),
        "An array or combined type at path '{path}' has more elements in the {reader} schema than "
        "the {writer} schema",
    ),
    "SCHEMA_ADDED": "",
    "DEPENDENCY_ARRAY_ADDED": _ADDED,
    "DEPENDENCY_SCHEMA_ADDED": _ADDED,
    "UNIQUE_ITEMS_ADDED": _ADDED,
    "ADDITIONAL_PROPERTIES_REMOVED": _ADDED,
    "REQUIRED_ATTRIBUTE_ADDED": _ADDED,
    "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": "The {reader} schema has an open content "
    "model and has a property or item at path '{path}' which is missing in the {writer} schema",
    "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": "The {reader} schema has an open content "
    "model and has a property or item at path '{path}' which is missing in the {writer} schema",
    "ITEM_ADDED_TO_OPEN_CONTENT_MODEL": "The {reader} schema has an open content model and has a "
    "property or item at path '{path}' which is missing in the {writer} schema",
    "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL": "The {reader} has a closed content model and is "
    "missing a property or item present at path '{path}' in the {writer} schema",
    "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": "The {reader} schema has a "
    "property or item at path '{path}' which is missing in the {writer} schema and is not covered "
    "by its partially open content model",
    "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": "A property or item is missing "
    "in the {reader} schema but present at path '{path}' in the {writer} schema and is not covered "
    "by its partially open content model",
    "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL": "The {reader} schema has an unopen content "
    "model and has a required property at path '{path}' which is missing in the {writer} schema",
    "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL": "The {reader} has a closed content model and is "
    "missing a property or item present at path '{path}' in the {writer} schema",
}
# Keyword -> its kind, and whether a greater value is the stricter one.
_BOUNDS = {
    "string": {"maxLength": ("MAX_LENGTH", False), "minLength": ("MIN_LENGTH", True)},
    "number": {
        "maximum": ("MAXIMUM", False), "minimum": ("MINIMUM", True),
        "exclusiveMaximum": ("EXCLUSIVE_MAXIMUM", False),
        "exclusiveMinimum": ("EXCLUSIVE_MINIMUM", True),
    },
    "array": {"maxItems": ("MAX_ITEMS", False), "minItems": ("MIN_ITEMS", True)},
    "object": {"maxProperties": ("MAX_PROPERTIES", False),
               "minProperties": ("MIN_PROPERTIES", True)},
}  # fmt: skip
_MANY = ("anyOf", "oneOf")


def compared(reader: JsonSchema, writer: JsonSchema) -> Found:
    """Why the reader does not allow all that the writer does. Raises TooLarge."""
    return _Comparison(reader, writer).pair(reader.root, writer.root, ())


class _Comparison:
    def __init__(self, reader: JsonSchema, writer: JsonSchema) -> None:
        self._reader, self._writer = reader, writer
        self._steps = Steps()
        self._known: dict[tuple[int, int], Found] = {}

    def pair(self, reader: Any, writer: Any, path: tuple[str, ...]) -> Found:
        """One pair of schemas; one that is being compared is compatible, for now."""
        self._steps.take()
        reader = _resolved(reader, self._reader)
        writer = _resolved(writer, self._writer)
        key = (id(reader), id(writer))
        if key not in self._known:
            self._known[key] = []
            self._known[key] = self._compare(reader, writer, path)
        return self._known[key]

    def _compare(self, reader: Any, writer: Any, path: tuple[str, ...]) -> Found:
        if _allows_all(reader) or writer is False:
            return []
        if reader is False or _allows_all(writer):
            return _because("TYPE_CHANGED", path)
        sort, was = (next((key for key in _MANY if key in each), "") for each in (reader, writer))
        if sort == "oneOf" and was == "anyOf":
            return _because("COMBINED_TYPE_CHANGED", path)
        readers, writers = _options(reader), _options(writer)
        if sort and sort == was and len(readers) == 1 < len(writers):
            return _because("SUM_TYPE_NARROWED", path)
        if "not" in reader:
            return self._not(reader, writer, path)
        if len(readers) > 1 or len(writers) > 1:
            return self._many(readers, writers, path)
        return self._one(readers[0], writers[0], path)

    def _many(self, readers: list[Any], writers: list[Any], path: tuple[str, ...]) -> Found:
        """Each of the writer's options is allowed by one of the reader's."""
        for writer in writers:
            if not any(not self.pair(reader, writer, path) for reader in readers):
                if len(writers) == 1 or len(readers) == 1:
                    return _because("TYPE_CHANGED", path)
                is_less = len(readers) < len(writers)
                kind = "SUM_TYPE_NARROWED" if is_less else "COMBINED_TYPE_SUBSCHEMAS_CHANGED"
                return _because(kind, path)
        return []

    def _one(self, reader: Any, writer: Any, path: tuple[str, ...]) -> Found:
        if "enum" in reader or "const" in reader:
            found = _values(reader, writer, path)
            is_typed = "type" in reader and "type" in writer
            return (
                _because("COMBINED_TYPE_SUBSCHEMAS_CHANGED", path) if found and is_typed else found
            )
        if "allOf" in reader or "allOf" in writer:
            return self._all(reader, writer, path)
        of, was = reader.get("type"), writer.get("type")
        if of is None:
            return self._keywords(reader, writer, was or "object", path)
        if was is None and ("enum" in writer or "const" in writer):
            kinds = {_type_of(each) for each in _allowed(writer)}
            return (
                []
                if kinds <= {of, "integer" if of == "number" else of}
                else _because("TYPE_CHANGED", path)
            )
        if of == "integer" and was == "number":
            return _because("TYPE_NARROWED", path)
        if of != was and (of, was) != ("number", "integer"):
            return _because("TYPE_CHANGED", path)
        return self._keywords(reader, writer, of, path)

    def _not(self, reader: Any, writer: Any, path: tuple[str, ...]) -> Found:
        """What the reader excludes, the writer excludes, too."""
        if "not" in writer and not self.pair(writer["not"], reader["not"], ()):
            return []
        return _because("NOT_TYPE_EXTENDED", (*path, "not"))

    def _all(self, reader: Any, writer: Any, path: tuple[str, ...]) -> Found:
        """What every one of the reader's conditions asks for is asked by one of the writer's."""
        wanted, asked = reader.get("allOf", [reader]), writer.get("allOf", [writer])
        for condition in wanted:
            if not any(not self.pair(condition, each, path) for each in asked):
                is_more = len(wanted) > len(asked) and "allOf" in writer
                kind = "PRODUCT_TYPE_EXTENDED" if is_more else "COMBINED_TYPE_SUBSCHEMAS_CHANGED"
                return _because(kind, path)
        return []

    def _keywords(self, reader: Any, writer: Any, of: str, path: tuple[str, ...]) -> Found:
        found = _bounds(reader, writer, "number" if of == "integer" else of, path)
        if of == "string":
            found += _same("pattern", "PATTERN", reader, writer, path)
        elif of in ("number", "integer"):
            found += _same("multipleOf", "MULTIPLE_OF", reader, writer, path)
        elif of == "array":
            found += self._items(reader, writer, path)
        elif of == "object":
            found += self._properties(reader, writer, path)
        return found

    def _items(self, reader: Any, writer: Any, path: tuple[str, ...]) -> Found:
        found: Found = []
        if reader.get("uniqueItems") and not writer.get("uniqueItems"):
            found += _because("UNIQUE_ITEMS_ADDED", (*path, "uniqueItems"))
        new, old = reader.get("items", True), writer.get("items", True)
        if isinstance(new, list) or isinstance(old, list):
            return found + self._tuples(reader, writer, path)
        if _allows_all(old) and not _allows_all(new):
            return found + _because("SCHEMA_ADDED", (*path, "items"))
        return found + self.pair(new, old, (*path, "items"))

    def _tuples(self, reader: Any, writer: Any, path: tuple[str, ...]) -> Found:
        """Items that have a schema each, by their places."""
        found: Found = []
        new, old = (
            each["items"] if isinstance(each.get("items"), list) else []
            for each in (reader, writer)
        )
        for number in range(max(len(new), len(old))):
            where = (*path, "items", str(number))
            if number < len(new) and number < len(old):
                found += self.pair(new[number], old[number], where)
            elif number < len(new) and _allows_all(writer.get("additionalItems", True)):
                found += _because("ITEM_ADDED_TO_OPEN_CONTENT_MODEL", where)
            elif number >= len(new) and reader.get("additionalItems") is False:
                found += _because("ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL", where)
        return found

    def _properties(self, reader: Any, writer: Any, path: tuple[str, ...]) -> Found:
        found: Found = []
        new, old = reader.get("properties", {}), writer.get("properties", {})
        more, was_more = (each.get("additionalProperties", True) for each in (reader, writer))
        where = (*path, "additionalProperties")
        if more is False and was_more is not False:
            found += _because("ADDITIONAL_PROPERTIES_REMOVED", where)
        elif _allows_all(was_more) and not _allows_all(more):
            found += _because("ADDITIONAL_PROPERTIES_NARROWED", where)
        elif not _allows_all(more) and was_more is not False:
            found += self.pair(more, was_more, where)
        for name, asked in reader.get("dependencies", {}).items():
            if name not in writer.get("dependencies", {}):
                kind = "DEPENDENCY_ARRAY" if isinstance(asked, list) else "DEPENDENCY_SCHEMA"
                found += _because(f"{kind}_ADDED", (*path, "dependencies", name))
        wanted = [each for each in reader.get("required", ()) if each in old or each not in new]
        for each in wanted:
            has_default = isinstance(new.get(each), dict) and "default" in new[each]
            if each not in writer.get("required", ()) and not has_default:
                found += _because("REQUIRED_ATTRIBUTE_ADDED", (*path, "required", each))
        for name in sorted({*new, *old}):
            where = (*path, "properties", name)
            if name in new and name in old:
                found += self.pair(new[name], old[name], where)
            elif name in new:
                found += self._added(reader, new[name], name, was_more, where)
            elif more is False:
                found += _because("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", where)
            elif not _allows_all(more) and (why := self.pair(more, old[name], where)):
                kind = "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
                found += why + _because(kind, where)
        return found

    def _added(
        self, reader: Any, schema: Any, name: str, was_more: Any, where: tuple[str, ...]
    ) -> Found:
        """A property that the writer does not name: what it allowed under this name before."""
        has_default = isinstance(schema, dict) and "default" in schema
        is_required = name in reader.get("required", ()) and not has_default
        if _allows_all(was_more):
            if _allows_all(schema):
                return []
            kind = "REQUIRED" if is_required else "OPTIONAL"
            return _because(f"{kind}_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", where)
        if is_required:
            return _because("REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL", where)
        if was_more is not False and (why := self.pair(schema, was_more, where)):
            kind = "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
            return why + _because(kind, where)
        return []


def _because(kind: str, path: tuple[str, ...], text: str = "") -> Found:
    where = "#/" + "/".join(path)
    words = (text or _OTHERWISE[kind]).replace("{path}", where)
    return [Incompatibility(kind, where, words, frame=_FRAME)]


def _resolved(schema: Any, of: JsonSchema) -> Any:
    """What a $ref leads to, after at most a hundred; what it does not find allows everything."""
    for _ in range(100):
        if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
            return schema
        name, _, pointer = schema["$ref"].partition("#")
        schema = of.root if not name else of.named.get(name, True)
        for step in filter(None, pointer.split("/")):
            key = step.replace("~1", "/").replace("~0", "~")
            schema = schema.get(key, True) if isinstance(schema, dict) else True
    return True


def _allows_all(schema: Any) -> bool:
    notes = {"title", "description", "default", "examples", "$schema", "$id", "$comment"}
    return schema is True or (isinstance(schema, dict) and not schema.keys() - notes)


def _options(schema: Any) -> list[Any]:
    """The schemas of which one has to fit: several types are as many schemas."""
    for key in _MANY:
        if key in schema:
            return list(schema[key])
    if isinstance(schema.get("type"), list):
        return [{**schema, "type": each} for each in schema["type"]]
    return [schema]


def _allowed(schema: Any) -> list[Any]:
    return list(schema["enum"]) if "enum" in schema else [schema["const"]]


def _values(reader: Any, writer: Any, path: tuple[str, ...]) -> Found:
    if "enum" not in writer and "const" not in writer:
        return _because("TYPE_CHANGED", path)
    allowed = {written(each) for each in _allowed(reader)}
    before = {written(each) for each in _allowed(writer)}
    if before <= allowed:
        return []
    kind = "ENUM_ARRAY_NARROWED" if allowed < before else "ENUM_ARRAY_CHANGED"
    return _because(kind, (*path, "enum" if "enum" in reader else "const"))


def _type_of(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    kinds = {str: "string", int: "integer", list: "array", dict: "object"}
    return next((name for kind, name in kinds.items() if isinstance(value, kind)), "number")


def _bounds(reader: Any, writer: Any, of: str, path: tuple[str, ...]) -> Found:
    found: Found = []
    for keyword, (kind, is_least) in _BOUNDS.get(of, {}).items():
        now, before = reader.get(keyword), writer.get(keyword)
        if now is None or now is False:
            continue
        where = (*path, keyword)
        if before is None or before is False:
            found += _because(f"{kind}_ADDED", where, _ADDED)
        elif (now > before) if is_least else (now < before):
            how = "more than" if is_least else "less than"
            step = "INCREASED" if is_least else "DECREASED"
            found += _because(f"{kind}_{step}", where, _STRICTER.replace("{how}", how))
    return found


def _same(keyword: str, kind: str, reader: Any, writer: Any, path: tuple[str, ...]) -> Found:
    """A keyword of which nothing is known but whether it is the same; of multipleOf also whether
    what it allows was allowed before."""
    now, before = reader.get(keyword), writer.get(keyword)
    if now is None or now == before:
        return []
    where = (*path, keyword)
    if before is None:
        return _because(f"{kind}_ADDED", where, _ADDED)
    if keyword == "multipleOf" and before % now == 0:
        return []
    if keyword == "multipleOf" and now % before == 0:
        return _because(f"{kind}_EXPANDED", where, _STRICTER.replace("{how}", "more than"))
    text = "The value at path '{path}' is different between the {reader} and {writer} schema"
    return _because(f"{kind}_CHANGED", where, text)
