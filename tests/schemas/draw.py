"""Requests of a registry, drawn from a seed: what services, tools and mistaken people ask for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from . import draw_json, draw_protobuf

LEVELS = (
    "NONE", "BACKWARD", "FORWARD", "FULL", "BACKWARD_TRANSITIVE", "FORWARD_TRANSITIVE",
    "FULL_TRANSITIVE",
)  # fmt: skip
PRIMITIVES = ("int", "long", "float", "double", "string", "bytes", "boolean", "null")
_SUBJECTS = ("orders-value", "orders-key", "payments", ":.staging:orders-value", "a b/c%")
_DEFAULTS: dict[str, Any] = {
    "int": 1, "long": 2, "float": 1.5, "double": 1e10, "string": "x", "bytes": "y",
    "boolean": True, "null": None,
}  # fmt: skip


class Ask(NamedTuple):
    method: str
    path: str
    body: Any = None


def avro_type(draw: Random, depth: int = 2) -> Any:
    """A type of Avro; two of the same name are often alike, and often not."""
    sort = draw.choice(
        ("primitive",) * 5 + (("union", "record", "array", "map", "enum", "fixed") if depth else ())
    )
    if sort == "primitive":
        return draw.choice(PRIMITIVES)
    if sort == "union":
        return draw.sample(PRIMITIVES, draw.randint(2, 3))
    if sort in ("array", "map"):
        return {
            "type": sort,
            ("items" if sort == "array" else "values"): avro_type(draw, depth - 1),
        }
    if sort == "enum":
        symbols = draw.sample("ABCD", draw.randint(1, 4))
        made = {"type": "enum", "name": "E", "symbols": symbols}
        return made | ({"default": symbols[0]} if draw.random() < 0.3 else {})
    if sort == "fixed":
        return {"type": "fixed", "name": "F", "size": draw.choice((4, 8))}
    return avro_record(draw, depth - 1, draw.choice(("Inner", "Other")))


def avro_record(draw: Random, depth: int = 2, name: str = "R") -> dict[str, Any]:
    """A record of Avro. Named types may be defined twice, which is refused."""
    made: dict[str, Any] = {"type": "record", "name": name}
    if draw.random() < 0.2:
        made["namespace"] = draw.choice(("org.a", "org.b"))
    if draw.random() < 0.1:
        made["aliases"] = [draw.choice(("R", "S", "org.a.R"))]
    if draw.random() < 0.1:
        made["doc"] = "about it"
    fields = []
    for each in draw.sample("abcd", draw.randint(1, 3)):
        field: dict[str, Any] = {"name": each, "type": avro_type(draw, depth)}
        kind = field["type"]
        kind = kind[0] if isinstance(kind, list) else kind
        if isinstance(kind, str) and draw.random() < 0.5:
            field["default"] = _DEFAULTS[kind]
        if draw.random() < 0.05:
            field["aliases"] = [draw.choice("xyz")]
        fields.append(field)
    if draw.random() < 0.05:
        fields.append({"name": "next", "type": ["null", name], "default": None})
    return {**made, "fields": fields}


def schema(draw: Random, kind: str) -> dict[str, Any]:
    """The body of a request that has a schema in it."""
    if kind == "AVRO":
        return _avro(draw)
    body: dict[str, Any] = {"schemaType": kind}
    reference = None
    if draw.random() < 0.15:
        reference = "other.proto" if kind == "PROTOBUF" else "other.json"
        version = draw.choice((1, 1, 1, 2, -1))
        body["references"] = [{"name": reference, "subject": "other", "version": version}]
    if draw.random() < 0.04:
        body["schemaType"] = draw.choice(("AVRO", "JSON", "PROTOBUF", "XML"))
    if kind == "PROTOBUF":
        return {**body, "schema": draw_protobuf.file(draw, reference)}
    if draw.random() < 0.05:
        return {**body, "schema": draw_json.wrong(draw)}
    text = json.dumps(draw_json.schema(draw, reference), indent=draw.choice((None, 2)))
    return {**body, "schema": text}


def _avro(draw: Random) -> dict[str, Any]:
    chance = draw.random()
    if chance < 0.04:
        wrong = ("{", '"nothing"', "[]", '{"type":"record","name":"1","fields":[]}', "")
        return {"schema": draw.choice(wrong)}
    if chance < 0.06:
        return {"schema": '"string"', "schemaType": draw.choice(("AVRO", "XML"))}
    if chance < 0.12:
        name = draw.choice(("R", "Inner", "Absent"))
        subject, version = draw.choice(_SUBJECTS), draw.choice((1, 2, -1))
        text = {"type": "record", "name": "Outer", "fields": [{"name": "r", "type": name}]}
        reference = {"name": name, "subject": subject, "version": version}
        return {"schema": json.dumps(text), "references": [reference]}
    text = draw.choice(
        (avro_record(draw), avro_record(draw, 0), avro_record(draw, 1), avro_type(draw))
    )
    return {"schema": json.dumps(text, indent=draw.choice((None, 2)))}


def requests(seed: int, count: int, kind: str = "AVRO") -> Iterator[Ask]:
    """Requests in the order in which they are to be asked, of a registry that is empty. Two of JSON
    and of Protobuf are about the schema that others refer to."""
    draw = Random(seed)
    if kind != "AVRO":
        text = (draw_protobuf if kind == "PROTOBUF" else draw_json).REFERENCED
        for _ in range(2):
            yield Ask("POST", "/subjects/other/versions", {"schema": text, "schemaType": kind})
        count -= 2
    for _ in range(count):
        yield draw.choices(_SORTS, _WEIGHTS)[0](draw, kind)


def _subject(draw: Random) -> str:
    from urllib.parse import quote

    return quote(draw.choice((*_SUBJECTS, *_SUBJECTS[:3], "absent")), safe="")


def _version(draw: Random) -> str:
    return draw.choice(("1", "2", "3", "4", "5", "latest", "-1", "0", "x", "99"))


def _query(draw: Random, *names: str) -> str:
    asked = [f"{each}=true" for each in names if draw.random() < 0.3]
    return "?" + "&".join(asked) if asked else ""


def _register(draw: Random, kind: str) -> Ask:
    path = f"/subjects/{_subject(draw)}/versions{_query(draw, 'normalize')}"
    return Ask("POST", path, schema(draw, kind))


def _lookup(draw: Random, kind: str) -> Ask:
    path = f"/subjects/{_subject(draw)}{_query(draw, 'normalize', 'deleted')}"
    return Ask("POST", path, schema(draw, kind))


def _compatible(draw: Random, kind: str) -> Ask:
    which = draw.choice(("", f"/{_version(draw)}", "/latest"))
    path = f"/compatibility/subjects/{_subject(draw)}/versions{which}"
    return Ask("POST", path + _query(draw, "verbose", "verbose"), schema(draw, kind))


def _look(draw: Random, kind: str) -> Ask:
    subject, version, number = _subject(draw), _version(draw), draw.randint(0, 30)
    path = draw.choice(
        (
            "/subjects" + _query(draw, "deleted", "deletedOnly"),
            f"/subjects?subjectPrefix={draw.choice(('o', ':.staging:', ':*:pay', ''))}",
            f"/subjects/{subject}/versions" + _query(draw, "deleted", "deletedOnly"),
            f"/subjects/{subject}/versions/{version}" + _query(draw, "deleted"),
            f"/subjects/{subject}/versions/{version}/schema",
            f"/subjects/{subject}/versions/{version}/referencedby",
            f"/schemas/ids/{number}",
            f"/schemas/ids/{number}?subject={subject}",
            f"/schemas/ids/{number}/schema",
            f"/schemas/ids/{number}/subjects" + _query(draw, "deleted"),
            f"/schemas/ids/{number}/versions" + _query(draw, "deleted"),
            "/schemas" + _query(draw, "latestOnly", "deleted"),
            "/schemas/types",
            "/contexts",
            f"/config/{subject}" + _query(draw, "defaultToGlobal"),
            "/config",
            f"/mode/{subject}" + _query(draw, "defaultToGlobal"),
            "/mode",
            "/absent",
        )
    )
    if kind == "PROTOBUF" and path.startswith("/schemas/ids") and "/v" not in path:
        path += _format(draw, path)
    return Ask("GET", path)


def _format(draw: Random, path: str) -> str:
    if draw.random() < 0.5 or path.endswith(("subjects", "true")):
        return ""
    format_ = draw.choice(("serialized", "ignore_extensions", "other"))
    return f"{'&' if '?' in path else '?'}format={format_}"


def _delete(draw: Random, kind: str) -> Ask:
    subject, permanent = _subject(draw), _query(draw, "permanent")
    which = f"/versions/{_version(draw)}" if draw.random() < 0.7 else ""
    return Ask("DELETE", f"/subjects/{subject}{which}{permanent}")


def _config(draw: Random, kind: str) -> Ask:
    of = draw.choice(("", f"/{_subject(draw)}", f"/{_subject(draw)}"))
    if draw.random() < 0.2:
        return Ask("DELETE", f"/config{of}")
    return Ask("PUT", f"/config{of}", {"compatibility": draw.choice((*LEVELS, "full", "SOME"))})


def _mode(draw: Random, kind: str) -> Ask:
    of = draw.choice(("", f"/{_subject(draw)}"))
    if draw.random() < 0.4:
        return Ask("DELETE", f"/mode{of}")
    mode = draw.choice(("READWRITE",) * 4 + ("READONLY", "IMPORT", "none"))
    return Ask("PUT", f"/mode{of}", {"mode": mode})


_SORTS = (_register, _lookup, _compatible, _look, _delete, _config, _mode)
_WEIGHTS = (32, 8, 22, 20, 8, 7, 3)
