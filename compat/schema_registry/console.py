"""Subjects of a schema registry, shown and changed.

  odradek schemas list                              subjects, with their newest versions
  odradek schemas show orders-value [--version 2]   a schema
  odradek schemas register orders-value order.avsc  add a version; a file of .avsc, .json or .proto
  odradek schemas check orders-value order.avsc     whether it may be the next version

The registry is any with Confluent's REST API: --registry URL, or ODRADEK_REGISTRY. A check that
fails ends with 1, so that CI can ask.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..schemas.registry import SchemaError, kind_of
from ..schemas.remote import RemoteRegistry

_DEFAULT = "http://localhost:8081"
_VARIABLE = "ODRADEK_REGISTRY"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("verb", choices=("list", "show", "register", "check"))
    add("subject", nargs="?")
    add("schema", nargs="?", type=Path, metavar="FILE", help="a schema: .avsc, .json, .proto")
    url = os.environ.get(_VARIABLE, _DEFAULT)
    add("--registry", default=url, metavar="URL", help=f"(${_VARIABLE}, or {_DEFAULT})")
    add("--version", default="latest", help="of show: which version (latest)")
    add("--json", action="store_true", help="print what the registry answers")


def run(options: argparse.Namespace) -> int:
    needed = {"list": (), "show": ("subject",)}.get(options.verb, ("subject", "schema"))
    missing = [name for name in needed if getattr(options, name) is None]
    if missing:
        print(f"odradek: {options.verb} needs a {' and a '.join(missing)}", file=sys.stderr)
        return 2
    try:
        registry = RemoteRegistry(options.registry)
        status: int = _VERBS[options.verb](registry, options)
        return status
    except (SchemaError, ValueError, OSError) as error:
        print(f"odradek: {error}", file=sys.stderr)
        return 1


def _list(registry: RemoteRegistry, options: argparse.Namespace) -> int:
    found = registry.ask("/schemas?latestOnly=true")
    if options.json:
        print(json.dumps(found))
        return 0
    rows = [("subject", "version", "id", "type")]
    rows += [
        (each["subject"], str(each["version"]), str(each["id"]), each.get("schemaType", "AVRO"))
        for each in found
    ]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        print(
            "  ".join(each.ljust(width) for each, width in zip(row, widths, strict=True)).rstrip()
        )
    return 0


def _show(registry: RemoteRegistry, options: argparse.Namespace) -> int:
    found = registry.ask(f"{_versions(options.subject)}/{quote(options.version, safe='')}")
    print(json.dumps(found) if options.json else _readable(found["schema"]))
    return 0


def _register(registry: RemoteRegistry, options: argparse.Namespace) -> int:
    found = registry.ask(_versions(options.subject), _body(options.schema))
    print(json.dumps(found) if options.json else f"{options.subject}: id {found['id']}")
    return 0


def _check(registry: RemoteRegistry, options: argparse.Namespace) -> int:
    path = f"/compatibility{_versions(options.subject)}?verbose=true"
    found = registry.ask(path, _body(options.schema))
    if options.json:
        print(json.dumps(found))
    elif found["is_compatible"]:
        print(f"{options.schema} may be the next version of {options.subject}")
    else:
        print(f"{options.schema} may not be the next version of {options.subject}:")
        print("\n".join(f"  {each}" for each in found.get("messages", ())))
    return 0 if found["is_compatible"] else 1


_VERBS = {"list": _list, "show": _show, "register": _register, "check": _check}


def _versions(subject: str) -> str:
    return f"/subjects/{quote(subject, safe='')}/versions"


def _body(file: Path) -> dict[str, Any]:
    return {"schemaType": kind_of(file), "schema": file.read_text()}


def _readable(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text.rstrip("\n")
