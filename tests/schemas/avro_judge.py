"""Avro's own reader as the judge of our comparison: fastavro reads with one schema what was written
with another one.

    python -m tests.schemas.avro_judge --pairs 5000 --seed 1

Where we say that a reader is compatible, it must read every value that we draw for the writer.
Where we say that it is not, some value of the writer's must make it fail: the witness.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections import Counter
from random import Random
from typing import Any, NamedTuple

import fastavro
from odradek.compat.schema_registry.formats import BadSchema, Incompatibility, written
from odradek.compat.schema_registry.formats.avro import AvroSchema, parse
from odradek.compat.schema_registry.limits import read_json

from .draw import avro_record, avro_type

_VALUES = 12
_PRIMITIVE: dict[str, tuple[Any, ...]] = {
    "int": (0, -1, 2**31 - 1), "long": (0, 2**40), "float": (0.0, 1.5), "double": (0.0, 2.5),
    "string": ("", "x"), "bytes": (b"", b"y"), "boolean": (True, False), "null": (None,),
}  # fmt: skip


class Verdict(NamedTuple):
    """A pair of schemas: what we say of it, and what the reader did."""

    reasons: list[Incompatibility]
    failed: str
    """Why it could not read a value, or nothing."""


def value(draw: Random, schema: Any, named: dict[str, Any], depth: int = 0) -> Any:
    """A value that this schema can write."""
    if isinstance(schema, str) and schema in _PRIMITIVE:
        return draw.choice(_PRIMITIVE[schema])
    if isinstance(schema, str):
        return value(draw, named[schema], named, depth + 1)
    if isinstance(schema, list):
        return value(draw, schema[0] if depth > 3 else draw.choice(schema), named, depth + 1)
    kind = schema["type"]
    if kind == "record":
        return {f["name"]: value(draw, f["type"], named, depth + 1) for f in schema["fields"]}
    if kind == "enum":
        return draw.choice(schema["symbols"])
    if kind == "fixed":
        return bytes(schema["size"])
    if kind == "array":
        return [value(draw, schema["items"], named, depth + 1) for _ in range(draw.randint(0, 2))]
    if kind == "map":
        return {each: value(draw, schema["values"], named, depth + 1) for each in "ab"}
    return value(draw, kind, named, depth)


def judged(draw: Random, reader: AvroSchema, writer: AvroSchema) -> Verdict:
    """What we say, and what reading values of the writer's does."""
    reasons = reader.cannot_read(writer)
    named: dict[str, Any] = {}
    reads = fastavro.parse_schema(read_json(reader.text))
    writes: Any = fastavro.parse_schema(read_json(writer.text), named_schemas=named)
    for _ in range(_VALUES):
        data = io.BytesIO()
        fastavro.schemaless_writer(data, writes, value(draw, writes, named))
        data.seek(0)
        try:
            fastavro.schemaless_reader(data, writes, reads)
        except Exception as error:  # whatever a reader raises, it could not read
            return Verdict(reasons, f"{type(error).__name__}: {error}")
    return Verdict(reasons, "")


def pair(draw: Random) -> tuple[AvroSchema, AvroSchema] | None:
    """A reader and a writer that are alike more often than not; None for one that is no schema."""
    first = avro_record(draw) if draw.random() < 0.8 else avro_type(draw)
    second = changed(draw, first) if draw.random() < 0.7 else avro_record(draw)
    try:
        return parse(written(first), {}, strict=True), parse(written(second), {}, strict=True)
    except BadSchema:
        return None


def changed(draw: Random, schema: Any) -> Any:
    """A schema like this one, with one thing otherwise."""
    if not isinstance(schema, dict) or not schema.get("fields"):
        return draw.choice(
            (schema, avro_type(draw, 0), [schema, "null"] if schema != "null" else schema)
        )
    made = {**schema, "fields": [dict(each) for each in schema["fields"]]}
    field = draw.choice(made["fields"])
    what = draw.randrange(6)
    if what == 0:
        made["fields"].remove(field)
    elif what == 1:
        made["fields"].append({"name": "added", "type": "int"})
    elif what == 2:
        made["fields"].append({"name": "added", "type": "string", "default": ""})
    elif what == 3:
        field.pop("default", None)
        field["type"] = {"int": "long", "float": "double", "string": "bytes"}.get(
            str(field["type"]), field["type"]
        )
    elif what == 4 and isinstance(field["type"], dict):
        field["type"] = changed(draw, field["type"])
    else:
        field.pop("default", None)
        field["type"] = avro_type(draw, 1)
    return made


def run(seed: int, count: int) -> tuple[Counter[str], list[str]]:
    """How many pairs ended how, and those that contradict us."""
    draw, ended, wrong = Random(seed), Counter[str](), list[str]()
    while sum(ended.values()) < count:
        both = pair(draw)
        if both is None:
            continue
        reader, writer = both
        verdict = judged(draw, reader, writer)
        if not verdict.reasons and verdict.failed:
            ended["compatible, and not read"] += 1
            wrong.append(f"{reader.text}\n  {writer.text}\n  {verdict.failed}")
        elif not verdict.reasons:
            ended["compatible, and read"] += 1
        elif verdict.failed:
            ended["incompatible, with a witness"] += 1
        else:
            kinds = sorted({each.kind for each in verdict.reasons})
            ended[f"incompatible, without a witness: {', '.join(kinds)}"] += 1
    return ended, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    ended, wrong = run(options.seed, options.pairs)
    for name, count in sorted(ended.items()):
        print(f"{count:6} {name}")
    print("\n".join(wrong[:10]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
