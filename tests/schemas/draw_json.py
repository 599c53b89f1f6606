"""JSON Schemas, drawn: two are often alike, and often not."""

from __future__ import annotations

from random import Random
from typing import Any

_TYPES = ("string", "integer", "number", "boolean", "null")
_NAMES = ("a", "b", "c", "d")
_WRONG = ("{", "[]", '{"type": "nothing"}', '{"type": 5}', '{"required": "a"}', "5", "")
REFERENCED = '{"type":"object","properties":{"id":{"type":"string"}}}'


def wrong(draw: Random) -> str:
    """What is no JSON Schema."""
    return draw.choice(_WRONG)


def schema(draw: Random, reference: str | None = None) -> Any:
    """A schema; `reference` is the name of another that it refers to."""
    made = _object(draw, 2, reference) if draw.random() < 0.8 else _any(draw, 2, reference)
    if isinstance(made, dict):
        if draw.random() < 0.3:
            made["title"] = draw.choice(("Order", "Line"))
        if draw.random() < 0.3:
            made["$schema"] = "http://json-schema.org/draft-07/schema#"
    return made


def _any(draw: Random, depth: int, reference: str | None) -> Any:
    if reference is not None and draw.random() < 0.3:
        return {"$ref": reference}
    sorts = ["plain"] * 5
    if depth:
        sorts += ["object", "array", "enum", "anyOf", "oneOf", "types"]
    sort = draw.choice(sorts)
    if sort == "plain":
        return _plain(draw)
    if sort == "object":
        return _object(draw, depth - 1, reference)
    if sort == "array":
        made: dict[str, Any] = {"type": "array", "items": _any(draw, depth - 1, reference)}
        if draw.random() < 0.3:
            made[draw.choice(("minItems", "maxItems"))] = draw.randint(1, 3)
        if draw.random() < 0.1:
            made["uniqueItems"] = True
        return made
    if sort == "enum":
        return {"enum": draw.sample(("x", "y", "z"), draw.randint(1, 3))}
    if sort == "types":
        return {"type": draw.sample(_TYPES, 2)}
    return {sort: [_plain(draw) for _ in range(draw.randint(1, 3))]}


def _plain(draw: Random) -> dict[str, Any]:
    kind = draw.choice(_TYPES)
    made: dict[str, Any] = {"type": kind}
    if kind == "string" and draw.random() < 0.3:
        made[draw.choice(("minLength", "maxLength"))] = draw.randint(1, 9)
    if kind == "string" and draw.random() < 0.1:
        made["pattern"] = draw.choice(("^a", "b$"))
    if kind in ("integer", "number") and draw.random() < 0.3:
        made[draw.choice(("minimum", "maximum", "multipleOf"))] = draw.randint(1, 9)
    return made


def _object(draw: Random, depth: int, reference: str | None) -> dict[str, Any]:
    names = draw.sample(_NAMES, draw.randint(0, 3))
    properties = {name: _any(draw, depth, reference) for name in names}
    made: dict[str, Any] = {"type": "object", "properties": properties}
    if names and draw.random() < 0.4:
        made["required"] = draw.sample(names, draw.randint(1, len(names)))
    if draw.random() < 0.4:
        made["additionalProperties"] = draw.choice((False, False, True, {"type": "string"}))
    if draw.random() < 0.1:
        made["patternProperties"] = {"^x": _plain(draw)}
    if draw.random() < 0.1:
        made[draw.choice(("minProperties", "maxProperties"))] = draw.randint(1, 4)
    return made
