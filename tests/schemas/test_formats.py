"""JSON Schema and Protobuf: pairs of an old and a new schema, and what Confluent's registry 8.5
says of them under BACKWARD; and how it writes schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from odradek.compat.schema_registry.compatibility import Earlier, problems
from odradek.compat.schema_registry.formats import BadSchema, Schema, parse
from odradek.compat.schema_registry.limits import TooLarge
from odradek.compat.schema_registry.patterns import is_explosive

RECORDED = Path(__file__).parent / "recorded"


def _rows(name: str) -> list[Any]:
    return [json.loads(line) for line in (RECORDED / name).read_text().splitlines()]


def _reasons(kind: str, old: str, new: str) -> list[str]:
    reader, writer = (parse(kind, each, {}, strict=True) for each in (new, old))
    return [each.words("new", "old") for each in reader.cannot_read(writer)]


@pytest.mark.parametrize("row", _rows("json.jsonl"), ids=lambda row: json.dumps(row[1])[:60])
def test_json_schemas_are_compared_as_confluents_registry_does(row: list[Any]) -> None:
    old, new, expected = row
    assert _reasons("JSON", json.dumps(old), json.dumps(new)) == expected


def _json(text: str, **named: str) -> Schema:
    return parse("JSON", text, named)


def test_json_is_written_without_spaces_and_with_its_numbers_as_they_were() -> None:
    schema = _json('{"type": "number", "minimum": 1.0, "default": 10000000000.0}')
    assert schema.text == '{"type":"number","minimum":1.0,"default":10000000000.0}'
    assert schema.normalized() == '{"default":10000000000.0,"minimum":1.0,"type":"number"}'


@pytest.mark.parametrize("text", ["[1]", "{", '{"type": "objekt"}', '{"type": 5}', '"x"'])
def test_what_is_no_json_schema_is_refused(text: str) -> None:
    with pytest.raises(BadSchema):
        _json(text)


def test_json_schemas_refer_to_each_other_by_name_and_to_themselves() -> None:
    text = '{"type": "object", "properties": {"next": {"$ref": "#"}, "n": {"$ref": "n.json"}}}'
    number, word = '{"type": "number"}', '{"type": "string"}'
    assert _json(text, **{"n.json": number}).cannot_read(_json(text, **{"n.json": number})) == []
    (reason,) = _json(text, **{"n.json": word}).cannot_read(_json(text, **{"n.json": number}))
    assert (reason.kind, reason.path) == ("TYPE_CHANGED", "#/properties/n")


@pytest.mark.parametrize("row", _rows("protobuf.jsonl"), ids=lambda row: str(len(row[1])))
def test_protobuf_files_are_compared_as_confluents_registry_does(row: list[Any]) -> None:
    old, new, expected = row
    assert _reasons("PROTOBUF", old, new) == expected


def test_protobuf_is_written_as_confluents_registry_writes_it() -> None:
    text = (
        'syntax = "proto3"; package a.b; import "x.proto"; option java_package="q";\n// c\n'
        'message M { reserved 4, 6 to 8; reserved "zz"; int32 a = 1; enum E { A=0; } '
        "oneof o { int32 x = 10; N y = 11;} map<string, int32> m = 3; "
        'message N { optional int32 q=1; } E e = 5 [deprecated=true, json_name="ee"];}\n'
        "service S { rpc R (M) returns (stream M); }"
    )
    written = parse("PROTOBUF", text, {}).text
    assert written == (
        'syntax = "proto3";\npackage a.b;\n\nimport "x.proto";\n\noption java_package = "q";\n\n'
        'message M {\n  reserved 4, 6 to 8;\n  reserved "zz";\n\n  int32 a = 1;\n'
        "  map<string, int32> m = 3;\n  E e = 5 [\n    deprecated = true,\n"
        '    json_name = "ee"\n  ];\n\n  oneof o {\n    int32 x = 10;\n    N y = 11;\n  }\n\n'
        "  message N {\n    optional int32 q = 1;\n  }\n  enum E {\n    A = 0;\n  }\n}\n\n"
        "service S {\n  rpc R (M) returns (stream M);\n}\n"
    )
    assert parse("PROTOBUF", written, {}).text == written


@pytest.mark.parametrize("text", ["message M { int32 a", "message", "message M { int32 a = 1; }"])
def test_what_is_no_protobuf_is_refused(text: str) -> None:
    with pytest.raises(BadSchema, match="Could not parse Protobuf"):
        parse("PROTOBUF", text, {})


PROTO = """syntax = "proto3"; package a.b;
import "z.proto"; import "google/protobuf/timestamp.proto"; import "z.proto";
option java_package = "q"; option deprecated = true;
message M { reserved 9 to 11, 7; reserved "x"; N n = 2; map<string, N> m = 1;
  oneof o { google.protobuf.Timestamp t = 6; string s = 5; } c.Z z = 3;
  message N {} enum E { B = 1; A = 0; } }
service S { rpc Get (M.N) returns (stream M); }
"""
NORMAL = """syntax = "proto3";
package a.b;

import "google/protobuf/timestamp.proto";
import "z.proto";

option deprecated = true;
option java_package = "q";

message M {
  reserved 7;
  reserved 9 to 11;
  reserved "x";

  map<string, .a.b.M.N> m = 1;
  .a.b.M.N n = 2;
  .c.Z z = 3;

  oneof o {
    string s = 5;
    .google.protobuf.Timestamp t = 6;
  }

  message N {}
  enum E {
    A = 0;
    B = 1;
  }
}

service S {
  rpc Get (.a.b.M.N) returns (stream .a.b.M);
}
"""


def test_the_normal_form_of_protobuf_has_complete_names_in_order() -> None:
    schema = parse("PROTOBUF", PROTO, {"z.proto": 'syntax="proto3"; package c; message Z {}'})
    assert schema.normalized() == NORMAL
    again = parse("PROTOBUF", NORMAL, {"z.proto": 'syntax="proto3"; package c; message Z {}'})
    assert again.normalized() == NORMAL


@pytest.mark.parametrize(
    "text",
    ["message A { optional B b = 1; }", "message A {} message A {}", "message A { int32 a = 1; }",
     'syntax = "proto3"; message A { required int32 a = 1; }'],
)  # fmt: skip
def test_protobuf_that_does_not_hold_together_is_refused(text: str) -> None:
    with pytest.raises(BadSchema):
        parse("PROTOBUF", text, {}, strict=True)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("(a+)+$", True), ("^(a|b)*c", True), ("((a*)b)+", True), ("^x", False), ("(ab)+", False),
     ("[(+]+(a)", False), (r"\(a+\)+", False)],
)  # fmt: skip
def test_patterns_that_may_take_for_ever_are_known(pattern: str, expected: bool) -> None:
    assert is_explosive(pattern) is expected


def test_json_schemas_that_are_bombs_are_compared_in_bounded_time() -> None:
    pattern = {"type": "object", "patternProperties": {"(a+)+$": {"type": "string"}}}
    named = {**pattern, "properties": {"a" * 40 + "!": {"type": "string"}}}
    with pytest.raises(TooLarge, match="takes too long"):
        _reasons("JSON", json.dumps(pattern), json.dumps(named))
    many = [
        {"type": "object", "properties": {f"p{n}-{at}": {"type": "null"} for at in range(40)}}
        for n in range(200)
    ]
    with pytest.raises(TooLarge, match="steps"):
        _reasons("JSON", json.dumps({"anyOf": many}), json.dumps({"anyOf": many, "title": "x"}))


def test_a_chain_of_references_is_refused_and_not_a_failure() -> None:
    chain = {f"d{n}": {"properties": {"a": {"$ref": f"#/definitions/d{n + 1}"}}}
             for n in range(3_000)}  # fmt: skip
    text = json.dumps({"$ref": "#/definitions/d0", "definitions": chain})
    schema = parse("JSON", text, {})
    found = problems("BACKWARD", schema, [Earlier(1, lambda: schema)])
    assert "too many levels" in found[0]
