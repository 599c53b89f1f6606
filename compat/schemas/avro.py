"""Avro values: read as Python has them, and written from that or from what JSON has of them.

Of JSON: a union is its value alone, or as Avro's own JSON has it, {"string": "x"}. Bytes are text
of the characters 0 to 255, as there. Times are ISO 8601, decimals text; numbers of Avro are taken
too.

Source: the Avro specification, "JSON Encoding", "Logical Types".
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any

import fastavro
from fastavro.validation import ValidationError, validate

from .registry import Schema, SchemaSource

Named = dict[str, Any]
_NUMBERS = ("float", "double")


def avro_decoder(registry: SchemaSource, schema: Schema) -> Callable[[bytes], Any]:
    """Decodes what was written with this schema. Raises ValueError for damage."""
    parsed, _ = _parsed(registry, schema)

    def decode(data: bytes) -> Any:
        try:
            return fastavro.schemaless_reader(io.BytesIO(data), parsed, None)
        except (EOFError, IndexError, KeyError, TypeError) as error:
            raise ValueError(f"this is not of schema {schema.id}: {error}") from None

    return decode


def avro_encoder(registry: SchemaSource, schema: Schema) -> Callable[[Any], bytes]:
    """Encodes a value. Raises ValueError that names what does not fit."""
    parsed, named = _parsed(registry, schema)

    def encode(value: Any) -> bytes:
        shaped = _shaped(parsed, value, named, "value")
        try:
            validate(shaped, parsed, raise_errors=True)
        except ValidationError as error:
            raise ValueError(f"this is not of the schema: {error}") from None
        written = io.BytesIO()
        fastavro.schemaless_writer(written, parsed, shaped)
        return written.getvalue()

    return encode


def _parsed(registry: SchemaSource, schema: Schema) -> tuple[Any, Named]:
    named: Named = {}
    _add_references(registry, schema, named)
    text = schema.text.strip()
    return fastavro.parse_schema(json.loads(text), named_schemas=named), named


def _add_references(registry: SchemaSource, schema: Schema, named: Named) -> None:
    for each in schema.references:
        if each.name not in named:
            found = registry.referred(each)
            _add_references(registry, found, named)
            fastavro.parse_schema(json.loads(found.text), named_schemas=named)


def _shaped(schema: Any, value: Any, named: Named, where: str) -> Any:
    """A value of JSON as the schema has it. Raises ValueError."""
    if isinstance(schema, str) and schema in named:
        schema = named[schema]
    if isinstance(schema, list):
        return _of_union(schema, value, named, where)
    kind = schema["type"] if isinstance(schema, dict) else schema
    if isinstance(schema, dict) and isinstance(value, str) and "logicalType" in schema:
        return _of_text(schema["logicalType"], value, where)
    if kind in ("bytes", "fixed") and isinstance(value, str):
        return value.encode("latin-1")
    if kind in _NUMBERS and isinstance(value, int):
        return float(value)
    if kind == "record" and isinstance(value, dict):
        return _of_record(schema, value, named, where)
    if kind == "array" and isinstance(value, list):
        items = schema["items"]
        return [_shaped(items, each, named, f"{where}[{n}]") for n, each in enumerate(value)]
    if kind == "map" and isinstance(value, dict):
        of = schema["values"]
        return {name: _shaped(of, each, named, f"{where}.{name}") for name, each in value.items()}
    return value


def _of_record(schema: Any, value: Mapping[str, Any], named: Named, where: str) -> Any:
    fields = {each["name"]: each for each in schema["fields"]}
    if unknown := set(value) - set(fields):
        raise ValueError(f"{where} has no field {min(unknown)!r}: {', '.join(fields)}")
    for name, field in fields.items():
        if name not in value and "default" not in field:
            raise ValueError(f"{where} lacks the field {name!r}")
    return {
        name: _shaped(fields[name]["type"], each, named, f"{where}.{name}")
        for name, each in value.items()
    }


def _of_union(branches: list[Any], value: Any, named: Named, where: str) -> Any:
    if isinstance(value, tuple):  # fastavro's own: the name of the branch, and the value
        return value
    tagged = next(iter(value)) if isinstance(value, dict) and len(value) == 1 else None
    for branch in branches:
        if tagged is not None and tagged == _name(branch):
            return _shaped(branch, value[tagged], named, where)
    problems = []
    for branch in branches:
        try:
            shaped = _shaped(branch, value, named, where)
        except ValueError as error:
            problems.append(str(error))
            continue
        if validate(shaped, named.get(branch, branch) if isinstance(branch, str) else branch,
                    raise_errors=False):  # fmt: skip
            return shaped
    names = ", ".join(map(str, map(_name, branches)))
    raise ValueError(problems[0] if len(problems) == 1 else f"{where} is none of {names}")


def _name(branch: Any) -> Any:
    if isinstance(branch, dict):
        return branch.get("name", branch["type"])
    return branch


def _of_text(logical: str, text: str, where: str) -> Any:
    """The value of a text where Avro has a number or bytes."""
    try:
        if logical.startswith(("timestamp", "local-timestamp")):
            return datetime.fromisoformat(text)
        if logical.startswith("time-"):
            return time.fromisoformat(text)
        if logical == "date":
            return date.fromisoformat(text)
        return Decimal(text) if logical == "decimal" else text
    except (ValueError, InvalidOperation):
        raise ValueError(f"{where} is no {logical}: {text!r}") from None
