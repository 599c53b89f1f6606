"""Avro: what is a schema, how it is written, and who can read what, with Avro's reader as judge."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from odradek.compat.schema_registry.formats import BadSchema, parse
from odradek.compat.schema_registry.formats.avro import AvroSchema
from odradek.compat.schema_registry.formats.avro import parse as parse_avro

from .avro_judge import run


def _record(*fields: Any, **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", **more, "fields": list(fields)}


def _parsed(schema: Any, **named: str) -> AvroSchema:
    return parse_avro(json.dumps(schema), named, strict=True)


def test_what_reads_is_compatible_and_what_does_not_is_not() -> None:
    ended, wrong = run(seed=7, count=300)
    assert wrong == []
    assert set(ended) == {"compatible, and read", "incompatible, with a witness"}


@pytest.mark.slow
def test_five_thousand_pairs_and_the_reader_agrees() -> None:
    ended, wrong = run(seed=1, count=5_000)
    assert wrong == []
    assert ended["compatible, and read"] > 1_000
    assert ended["incompatible, with a witness"] > 1_000


REFUSED = {
    "Undefined schema: Absent": "Absent",
    "No type": {"name": "R"},
    "No name in schema": {"type": "record", "fields": []},
    "Record has no fields": {"type": "record", "name": "R"},
    "Duplicate field a": _record({"name": "a", "type": "int"}, {"name": "a", "type": "int"}),
    "Illegal name: 1a": _record({"name": "1a", "type": "int"}),
    "Nested union": [["int"], "string"],
    "Duplicate in union:int": ["int", "int"],
    "Duplicate enum symbol: A": {"type": "enum", "name": "E", "symbols": ["A", "A"]},
    "The Enum Default": {"type": "enum", "name": "E", "symbols": ["A"], "default": "B"},
    "Invalid or no size": {"type": "fixed", "name": "F", "size": "4"},
    "Invalid default for field a": _record({"name": "a", "type": "int", "default": "x"}),
    "Can't redefine: F": [
        {"type": "fixed", "name": "F", "size": 4},
        {"type": "map", "values": {"type": "fixed", "name": "F", "size": 8}},
    ],
    "Array has no items type": {"type": "array"},
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_no_schema_is_refused_with_the_reason(reason: str) -> None:
    with pytest.raises(BadSchema, match=reason):
        _parsed(REFUSED[reason])


def test_names_are_written_against_the_namespace_around_them() -> None:
    inner = {"type": "enum", "name": "E", "symbols": ["A"], "namespace": "b"}
    schema = _record(
        {"name": "x", "type": inner, "default": "A", "order": "ignore"},
        {"name": "y", "type": ["null", "a.R"]},
        {"name": "z", "type": "b.E", "unit": "ms"},
        namespace="a",
        doc="about",
    )
    assert _parsed(schema).text == (
        '{"type":"record","name":"R","namespace":"a","doc":"about","fields":['
        '{"name":"x","type":{"type":"enum","name":"E","namespace":"b","symbols":["A"]},'
        '"default":"A","order":"ignore"},{"name":"y","type":["null","R"]},'
        '{"name":"z","type":"b.E","unit":"ms"}]}'
    )


def test_what_a_schema_refers_to_stays_outside_unless_it_is_resolved() -> None:
    money = json.dumps({"type": "fixed", "name": "Money", "namespace": "m", "size": 8})
    schema = _parsed(_record({"name": "price", "type": "m.Money"}), Money=money)
    assert '"type":"m.Money"' in schema.text
    assert '"size":8' in schema.formatted("resolved")
    assert schema.formatted("of no kind") == schema.text


def test_a_type_may_be_named_before_it_is_defined() -> None:
    schema = _record(
        {"name": "a", "type": ["null", "E"]},
        {"name": "b", "type": {"type": "enum", "name": "E", "symbols": ["A"]}},
    )
    assert '"symbols":["A"]' in _parsed(schema).text


def test_a_list_of_itself_is_compared_in_bounded_time() -> None:
    node = _record({"name": "next", "type": ["null", "R"], "default": None})
    assert _parsed(node).cannot_read(_parsed(node)) == []


def _nested(depth: int) -> str:
    return '{"type":"array","items":' * depth + '"int"' + "}" * depth


def _branches(count: int) -> str:
    fields = [{"name": f"f{n}", "type": ["null", "int"]} for n in range(count)]
    return json.dumps([_record(*fields) | {"name": f"R{n}"} for n in range(count)])


BOMBS = {
    "levels deep": _nested(5_000),
    "characters": json.dumps(_record(doc="x" * (2 << 20))),
}


@pytest.mark.parametrize("reason", BOMBS)
def test_a_schema_that_is_a_bomb_is_refused_at_once(reason: str) -> None:
    began = time.monotonic()
    with pytest.raises(BadSchema, match=reason):
        parse("AVRO", BOMBS[reason], {})
    assert time.monotonic() - began < 5
