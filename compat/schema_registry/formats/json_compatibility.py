"""Whether what one JSON Schema allows is allowed by another one, and if not, why.

The rules are those of Confluent's registry, which looks at content models: an object is open where
it allows other properties, closed where it allows none, and else partially open. Kinds of reasons
and their words are its own. It is stricter than need be in places, and so is this. Source: "JSON
Schema Serializer", "Schema evolution" of Confluent's documentation; the package `json.diff` of the
registry 8.5, and its answers. Left out: unevaluatedProperties, unevaluatedItems, minContains,
maxContains of the drafts after 7.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ....emulator.base.java_order import hash_map_order
from ..limits import Steps, TooLarge
from ..patterns import is_explosive
from . import Incompatibility, written
from .json_nodes import Node, key_of, node_of

if TYPE_CHECKING:
    from .json_schema import JsonSchema

Reason = tuple[str, tuple[str, ...]]
"""A kind, and the path from the schemas that are compared."""
Reasons = list[Reason]
_FRAME = '{{errorType:"{kind}", description:"{text}\'}}'
_NOT_THERE = (
    "The keyword at path '{path}' in the {reader} schema is not present in the {writer} schema"
)
_MORE, _LESS = (
    "The value at path '{path}' in the {reader} schema is " + how + " than its value in the "
    "{writer} schema"
    for how in ("more", "less")
)
_DIFFERS = "The value at path '{path}' is different between the {reader} and {writer} schema"
_FEWER, _LONGER = (
    "An array or combined type at path '{path}' has " + how + " elements in the {reader} schema "
    "than the {writer} schema"
    for how in ("fewer", "more")
)
_TYPE = "A type at path '{path}' is different between the {reader} schema and the {writer} schema"
_OPEN = (
    "The {reader} schema has an open content model and has a property or item at path '{path}' "
    "which is missing in the {writer} schema"
)
_CLOSED = (
    "The {reader} has a closed content model and is missing a property or item present at path "
    "'{path}' in the {writer} schema"
)
_REMOVED = (
    "A property or item is missing in the {reader} schema but present at path '{path}' in the "
    "{writer} schema and is not covered by its partially open content model"
)
_COVERED = (
    "The {reader} schema has a property or item at path '{path}' which is missing in the {writer} "
    "schema and is not covered by its partially open content model"
)
_TEXTS = {
    "SCHEMA_ADDED": "",
    "DEPENDENCY_ARRAY_EXTENDED": _LONGER,
    "PRODUCT_TYPE_EXTENDED": _LONGER,
    "NOT_TYPE_EXTENDED": _LONGER,
    "ADDITIONAL_ITEMS_NARROWED": _FEWER,
    "ADDITIONAL_PROPERTIES_NARROWED": _FEWER,
    "ENUM_ARRAY_NARROWED": _FEWER,
    "SUM_TYPE_NARROWED": _FEWER,
    "PATTERN_CHANGED": _DIFFERS,
    "MULTIPLE_OF_CHANGED": _DIFFERS,
    "DEPENDENCY_ARRAY_CHANGED": _DIFFERS,
    "TYPE_CHANGED": _TYPE,
    "TYPE_NARROWED": _TYPE,
    "COMBINED_TYPE_CHANGED": _TYPE,
    "COMBINED_TYPE_SUBSCHEMAS_CHANGED": _TYPE,
    "ENUM_ARRAY_CHANGED": _TYPE,
    "MULTIPLE_OF_EXPANDED": _MORE,
    "ADDITIONAL_ITEMS_REMOVED": _NOT_THERE,
    "ADDITIONAL_PROPERTIES_REMOVED": _NOT_THERE,
    "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": _OPEN,
    "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL": _OPEN,
    "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": _OPEN,
    "ITEM_ADDED_TO_OPEN_CONTENT_MODEL": _OPEN,
    "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL": "The {reader} schema has an unopen content "
    "model and has a required property at path '{path}' which is missing in the {writer} schema",
    "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL": _CLOSED,
    "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL": _CLOSED,
    "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": _REMOVED,
    "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": _REMOVED,
    "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": _COVERED,
    "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": _COVERED,
}
_ENDS = {"_ADDED": _NOT_THERE, "_INCREASED": _MORE, "_DECREASED": _LESS}
# Keyword -> its kind, and whether a greater value is the stricter one; in the order of the reasons.
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
_ANY = ("anyOf", "oneOf")
_HERE: tuple[str, ...] = ()
_NAME_MAX = 1_000


def compared(reader: JsonSchema, writer: JsonSchema) -> list[Incompatibility]:
    """Why the reader does not allow all that the writer does. Raises TooLarge."""
    found = _Comparison(reader, writer).pair(writer.root, reader.root)
    return [_incompatibility(*each) for each in found]


def _incompatibility(kind: str, path: tuple[str, ...]) -> Incompatibility:
    text = _TEXTS.get(kind)
    if text is None:
        text = next(words for end, words in _ENDS.items() if kind.endswith(end))
    where = "#/" + "/".join(path)
    return Incompatibility(kind, where, text.replace("{path}", where), frame=_FRAME)


class _Comparison:
    """Of the schema before and the one now; it yields incompatibilities only."""

    def __init__(self, reader: JsonSchema, writer: JsonSchema) -> None:
        self._reader, self._writer = reader, writer
        self._steps = Steps()
        self._known: dict[tuple[Hashable, Hashable], Reasons] = {}

    def pair(self, old: Any, new: Any, path: tuple[str, ...] = _HERE) -> Reasons:
        """One pair of schemas, whose reasons are of paths that begin so; one that is being compared
        is compatible, for now."""
        self._steps.take()
        was, now = node_of(old, self._writer), node_of(new, self._reader)
        key = (was.identity, now.identity)
        if key not in self._known:
            self._known[key] = []
            self._known[key] = list(self._compared(was, now))
        return [(kind, (*path, *rest)) for kind, rest in self._known[key]]

    def _compared(self, was: Node, now: Node) -> Iterator[Reason]:
        if was.sort != now.sort:
            if any(not self.pair(*each) for each in _parts_alone(was, now)):
                return
            if was.sort != "false" and not now.is_empty and not _are_bytes(was, now):
                yield "TYPE_CHANGED", _HERE
            return
        rules = getattr(self, f"_{was.sort}", None)
        if rules is not None:
            yield from rules(was, now)

    # Sorts

    def _string(self, was: Node, now: Node) -> Iterator[Reason]:
        yield from _bounds(was, now)
        before, pattern = was.says.get("pattern"), now.says.get("pattern")
        if pattern is not None and before != pattern:
            yield ("PATTERN_ADDED" if before is None else "PATTERN_CHANGED"), ("pattern",)

    def _number(self, was: Node, now: Node) -> Iterator[Reason]:
        yield from _bounds(was, now)
        before, of = was.says.get("multipleOf"), now.says.get("multipleOf")
        if of is not None:
            yield from (
                (("MULTIPLE_OF_ADDED", ("multipleOf",)),)
                if before is None
                else _multiples(_decimal(before), _decimal(of))
            )
        if now.is_integer and not was.is_integer:
            yield "TYPE_NARROWED", _HERE

    def _enum(self, was: Node, now: Node) -> Iterator[Reason]:
        before, allowed = ({written(each) for each in n.says["enum"]} for n in (was, now))
        if not before <= allowed:
            kind = "ENUM_ARRAY_NARROWED" if allowed <= before else "ENUM_ARRAY_CHANGED"
            yield kind, ("enum",)

    def _const(self, was: Node, now: Node) -> Iterator[Reason]:
        if written(was.says["const"]) != written(now.says["const"]):
            yield "ENUM_ARRAY_CHANGED", ("const",)

    def _not(self, was: Node, now: Node) -> Iterator[Reason]:
        other = _Comparison(self._writer, self._reader)
        if other.pair(now.says["not"], was.says["not"]):
            yield "NOT_TYPE_EXTENDED", ("not",)

    def _combined(self, was: Node, now: Node) -> Iterator[Reason]:
        if not _is_criterion_kept(was, now):
            yield "COMBINED_TYPE_CHANGED", _HERE
            return
        before = list({key_of(each): each for each in was.parts}.values())
        there = list({key_of(each): each for each in now.parts}.values())
        if len(before) < len(there) and now.criterion == "allOf":
            yield "PRODUCT_TYPE_EXTENDED", _HERE
        elif len(before) > len(there) and was.criterion in _ANY:
            yield "SUM_TYPE_NARROWED", _HERE
        edges = [
            [n for n, each in enumerate(there) if not self.pair(part, each)] for part in before
        ]
        if _matched(edges) < min(len(before), len(there)):
            yield "COMBINED_TYPE_SUBSCHEMAS_CHANGED", _HERE

    def _array(self, was: Node, now: Node) -> Iterator[Reason]:
        before, items = was.says.get("items"), now.says.get("items")
        is_tuple = [isinstance(each, list) for each in (before, items)]
        yield from self._either(
            None if is_tuple[0] else before, None if is_tuple[1] else items, ("items",)
        )
        yield from self._tuple(was, now)
        yield from self._more("additionalItems", "ADDITIONAL_ITEMS", was, now)
        yield from _bounds(was, now)
        if now.says.get("uniqueItems") and not was.says.get("uniqueItems"):
            yield "UNIQUE_ITEMS_ADDED", ("uniqueItems",)

    def _tuple(self, was: Node, now: Node) -> Iterator[Reason]:
        before, items = (
            each.says["items"] if isinstance(each.says.get("items"), list) else []
            for each in (was, now)
        )
        for number in range(max(len(before), len(items))):
            path = ("items", str(number))
            if number < len(before) and number < len(items):
                yield from self.pair(before[number], items[number], path)
            elif number < len(before):
                yield from self._gone(before[number], now.says.get("additionalItems"), "ITEM", path)
            else:
                yield from self._new_item(items[number], was.says.get("additionalItems"), path)

    def _new_item(self, item: Any, more: Any, path: tuple[str, ...]) -> Iterator[Reason]:
        if more is None or more is True:
            if not node_of(item, self._reader).is_empty:
                yield "ITEM_ADDED_TO_OPEN_CONTENT_MODEL", path
        elif more is not False and (why := self.pair(more, item, path)):
            yield from why
            yield "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path

    def _object(self, was: Node, now: Node) -> Iterator[Reason]:
        before, there = (each.says.get("properties", {}) for each in (was, now))
        required = now.says.get("required", ())
        for name in hash_map_order(before):
            is_new = name in required and name not in was.says.get("required", ())
            if name in there and is_new and not _has_default(there[name]):
                yield "REQUIRED_ATTRIBUTE_ADDED", ("required", name)
        for name in hash_map_order(
            dict.fromkeys([*hash_map_order(before), *hash_map_order(there)])
        ):
            self._steps.take()
            path = ("properties", name)
            if name in before and name in there:
                yield from self.pair(before[name], there[name], path)
            elif name in before:
                if not _is_open(now.says):
                    partial = _partial(now.says, name)
                    yield from self._gone(before[name], partial, "PROPERTY", path)
            else:
                yield from self._new_property(was, now, name, path)
        yield from self._dependencies(was, now)
        yield from self._more("additionalProperties", "ADDITIONAL_PROPERTIES", was, now)
        yield from _bounds(was, now)

    def _gone(self, old: Any, partial: Any, sort: str, path: tuple[str, ...]) -> Iterator[Reason]:
        """A property or an item that is no longer named; `partial` is of what is not named."""
        if partial is False:
            if node_of(old, self._writer).sort != "false":
                yield f"{sort}_REMOVED_FROM_CLOSED_CONTENT_MODEL", path
        elif partial not in (None, True) and (why := self.pair(old, partial, path)):
            yield from why
            yield f"{sort}_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path

    def _new_property(
        self, was: Node, now: Node, name: str, path: tuple[str, ...]
    ) -> Iterator[Reason]:
        schema = now.says["properties"][name]
        is_required, has_default = name in now.says.get("required", ()), _has_default(schema)
        if _is_open(was.says):
            if not node_of(schema, self._reader).is_empty:
                kind = "REQUIRED" if is_required else "OPTIONAL"
                middle = "_WITH_DEFAULT" * (is_required and has_default)
                yield f"{kind}_PROPERTY{middle}_ADDED_TO_OPEN_CONTENT_MODEL", path
            return
        partial = _partial(was.says, name)
        if partial is not False and (why := self.pair(partial, schema, path)):
            yield from why
            yield "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path
        if is_required and not has_default:
            yield "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL", path

    def _dependencies(self, was: Node, now: Node) -> Iterator[Reason]:
        before, there = (each.says.get("dependencies", {}) for each in (was, now))
        for sort, kind in ((list, "DEPENDENCY_ARRAY"), (object, "DEPENDENCY_SCHEMA")):
            for name in hash_map_order(there):
                asked, old = there[name], before.get(name)
                if isinstance(asked, list) is not (sort is list):
                    continue
                path = ("dependencies", name)
                if old is None or isinstance(old, list) is not (sort is list):
                    yield f"{kind}_ADDED", path
                elif sort is object:
                    yield from self.pair(old, asked, path)
                elif not set(asked) <= set(old):
                    how = "EXTENDED" if set(old) <= set(asked) else "CHANGED"
                    yield f"{kind}_{how}", path

    def _more(self, keyword: str, kind: str, was: Node, now: Node) -> Iterator[Reason]:
        """The schema of properties or items that are not named."""
        before, more = (each.says.get(keyword, True) for each in (was, now))
        if (before is False) != (more is False):
            if more is False:
                yield f"{kind}_REMOVED", (keyword,)
        elif before is True and not isinstance(more, bool):
            yield f"{kind}_NARROWED", (keyword,)
        elif not isinstance(before, bool) and not isinstance(more, bool):
            yield from self.pair(before, more, (keyword,))

    def _either(self, old: Any, new: Any, path: tuple[str, ...]) -> Iterator[Reason]:
        """Schemas of which either may be missing."""
        if new is None:
            return
        if old is None:
            yield "SCHEMA_ADDED", path
        else:
            yield from self.pair(old, new, path)


def _parts_alone(was: Node, now: Node) -> list[tuple[Any, Any]]:
    """Pairs of which one is enough, where one side alone is combined."""
    if now.sort == "combined" and (len(now.parts) == 1 or now.criterion in _ANY):
        return [(was, each) for each in now.parts]
    if was.sort == "combined" and (len(was.parts) == 1 or was.criterion == "allOf"):
        return [(each, now) for each in was.parts]
    return []


def _are_bytes(was: Node, now: Node) -> bool:
    return all(each.says.get("connect.type") == "bytes" for each in (was, now))


def _has_default(schema: Any) -> bool:
    return isinstance(schema, dict) and "default" in schema


def _is_open(says: Any) -> bool:
    return says.get("additionalProperties", True) is True and not says.get("patternProperties")


def _partial(says: Any, name: str) -> Any:
    """The schema of a property of this name, where it is not named; False where there may be
    none."""
    for pattern, schema in says.get("patternProperties", {}).items():
        if is_explosive(pattern) or len(name) > _NAME_MAX:
            raise TooLarge(
                f"whether {name[:40]!r} is of the pattern {pattern[:40]!r} takes too long"
            )
        try:
            if re.search(pattern, name):
                return schema
        except re.error:
            continue
    more = says.get("additionalProperties", True)
    return False if isinstance(more, bool) else more


def _is_criterion_kept(was: Node, now: Node) -> bool:
    """Or changed to one that allows more."""
    is_single = len(now.parts) == 1
    return (
        was.criterion == now.criterion
        or now.criterion == "anyOf"
        or (len(was.parts) == 1 and (is_single or now.criterion == "oneOf"))
        or (is_single and was.criterion == "allOf")
    )


def _matched(edges: list[list[int]]) -> int:
    """How many of these can have one of theirs each."""
    taken: dict[int, int] = {}

    def find(part: int, seen: set[int]) -> bool:
        for other in edges[part]:
            if other not in seen:
                seen.add(other)
                if other not in taken or find(taken[other], seen):
                    taken[other] = part
                    return True
        return False

    return sum(find(part, set()) for part in range(len(edges)))


def _bounds(was: Node, now: Node) -> Iterator[Reason]:
    for keyword, (kind, is_least) in _BOUNDS[was.sort].items():
        before, bound = was.says.get(keyword), now.says.get(keyword)
        if bound is None or isinstance(bound, bool):
            continue
        if before is None or isinstance(before, bool):
            yield f"{kind}_ADDED", (keyword,)
        elif (bound > before) if is_least else (bound < before):
            yield f"{kind}_{'INCREASED' if is_least else 'DECREASED'}", (keyword,)


def _decimal(number: Any) -> Decimal:
    return Decimal(written(number))


def _multiples(before: Decimal, of: Decimal) -> Iterator[Reason]:
    if before == of or (before and of and before % of == 0):
        return
    yield ("MULTIPLE_OF_EXPANDED" if of % before == 0 else "MULTIPLE_OF_CHANGED"), ("multipleOf",)
