"""A JSON Schema as Confluent's registry understands it, by the library everit: each schema is of
one sort, and one with several (a type and an enum, say) is all of them combined.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

from . import written

if TYPE_CHECKING:
    from .json_schema import JsonSchema

_COMBINED = ("allOf", "anyOf", "oneOf")
_KEYWORDS = {
    "array": ("items", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "object": (
        "properties", "required", "minProperties", "maxProperties", "dependencies",
        "patternProperties", "additionalProperties", "propertyNames",
    ),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("minLength", "maxLength", "pattern", "format"),
}  # fmt: skip
_SORTS = {"integer": "number"}
_REFERENCES_MAX = 100


class Node(NamedTuple):
    sort: str
    """"empty", "true", "false", "combined", "enum", "const", "not", or a type; "number" of both."""
    says: Any
    """The object that has its keywords."""
    parts: tuple[Any, ...] = ()
    """Of one that is combined: schemas, or nodes."""
    criterion: str = ""
    """Of one that is combined: allOf, anyOf, oneOf."""
    is_integer: bool = False

    @property
    def identity(self) -> Hashable:
        """The same for the same schema of one text, without a look into it."""
        return self.sort, self.criterion, self.is_integer, id(self.says) if self.says else 0

    @property
    def is_empty(self) -> bool:
        """Whether it allows everything."""
        return self.sort in ("empty", "true")


def node_of(schema: Any, of: JsonSchema) -> Node:
    """A schema, or the one that it refers to; one that is not found allows everything."""
    if isinstance(schema, Node):
        return schema
    schema = _referred(schema, of)
    if isinstance(schema, bool):
        return Node("true" if schema else "false", {})
    nodes: list[Node] = []
    if "enum" in schema:
        nodes.append(Node("enum", schema))
    nodes += [Node("combined", schema, tuple(schema[c]), c) for c in _COMBINED if c in schema]
    nodes += [Node(sort, schema) for sort in ("not", "const") if sort in schema]
    typed = schema.get("type")
    if isinstance(typed, list):
        parts = tuple(_of_type(each, schema) for each in typed)
        nodes.append(Node("combined", schema, parts, "anyOf"))
    elif typed is not None:
        nodes.append(_of_type(typed, schema))
    else:
        sniffed = (s for s, words in _KEYWORDS.items() if any(each in schema for each in words))
        nodes += [Node(sort, schema) for sort in sniffed]
    if len(nodes) == 1:
        return nodes[0]
    return Node("combined", schema, tuple(nodes), "allOf") if nodes else Node("empty", schema)


def key_of(part: Any) -> str:
    """The key by which two parts of a combined schema are the same."""
    if not isinstance(part, Node):
        return written(part)
    return f"{part.sort} {part.is_integer} {part.criterion} {written(part.says)}"


def _of_type(name: str, schema: Any) -> Node:
    return Node(_SORTS.get(name, name), schema, is_integer=name == "integer")


def _referred(schema: Any, of: JsonSchema) -> Any:
    for _ in range(_REFERENCES_MAX):
        if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
            return schema if isinstance(schema, dict | bool) else True
        name, _, pointer = schema["$ref"].partition("#")
        schema = of.root if not name else of.named.get(name, True)
        for step in filter(None, pointer.split("/")):
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(schema, list):
                schema = schema[int(key)] if key.isdigit() and int(key) < len(schema) else True
            else:
                schema = schema.get(key, True) if isinstance(schema, dict) else True
    return True
