"""A schema registry in memory, with what stock clients and `odradek` ask one of Confluent's for.

It compiles nothing: a Protobuf schema that is registered as text is one of `compiled`, where its
descriptor is.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

_NO_SCHEMA, _NO_SUBJECT = 40403, 40401


class Stored(NamedTuple):
    """A schema as it was registered."""

    kind: str
    text: str
    references: list[dict[str, Any]]


class SchemaRegistry:
    """Schemas by id, ids by subject: the first id is 1, the first version 1."""

    def __init__(self, compiled: dict[str, bytes] | None = None) -> None:
        self.schemas: list[Stored] = []
        self.subjects: dict[str, list[int]] = {}
        self.asked: list[str] = []
        self.authorization: str | None = None
        self.url = ""
        self._compiled = compiled or {}

    def register(self, subject: str, stored: Stored) -> int:
        """The schema's id, the same for the same schema."""
        if stored not in self.schemas:
            self.schemas.append(stored)
        found = self.schemas.index(stored) + 1
        versions = self.subjects.setdefault(subject, [])
        if found not in versions:
            versions.append(found)
        return found

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Status and answer of a request."""
        parts = urlsplit(path)
        self.asked.append(f"{method} {path}")
        wants_serialized = parse_qs(parts.query).get("format") == ["serialized"]
        if found := re.fullmatch("/schemas/ids/([0-9]+)", parts.path):
            return self._by_id(int(found[1]), wants_serialized)
        if found := re.fullmatch("/subjects/([^/]+)/versions/(latest|[0-9]+)", parts.path):
            return self._version(unquote(found[1]), found[2])
        if found := re.fullmatch("/subjects/([^/]+)(/versions)?", parts.path):
            stored = Stored(
                body.get("schemaType", "AVRO"), body["schema"], body.get("references") or []
            )
            subject = unquote(found[1])
            number = self.register(subject, stored)
            version = self.subjects[subject].index(number) + 1
            return 200, {
                "id": number,
                "version": version,
                "subject": subject,
                **_schema_body(stored),
            }
        return 404, {"error_code": 404, "message": "HTTP 404 Not Found"}

    def _by_id(self, number: int, wants_serialized: bool) -> tuple[int, Any]:
        if not 0 < number <= len(self.schemas):
            return 404, {"error_code": _NO_SCHEMA, "message": f"Schema {number} not found"}
        stored = self.schemas[number - 1]
        if wants_serialized and stored.text in self._compiled:
            text = b64encode(self._compiled[stored.text]).decode()
            stored = stored._replace(text=text)
        return 200, _schema_body(stored)

    def _version(self, subject: str, version: str) -> tuple[int, Any]:
        versions = self.subjects.get(subject)
        if not versions:
            return 404, {"error_code": _NO_SUBJECT, "message": f"Subject '{subject}' not found."}
        number = len(versions) if version == "latest" else int(version)
        stored = self.schemas[versions[number - 1] - 1]
        body = {"subject": subject, "version": number, "id": versions[number - 1]}
        return 200, body | _schema_body(stored)


def _schema_body(stored: Stored) -> dict[str, Any]:
    body: dict[str, Any] = {"schema": stored.text, "references": stored.references}
    return body if stored.kind == "AVRO" else body | {"schemaType": stored.kind}


@contextmanager
def schema_registry(compiled: dict[str, bytes] | None = None) -> Iterator[SchemaRegistry]:
    """One that listens; its `url`."""
    registry = SchemaRegistry(compiled)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer("GET", None)

        def do_POST(self) -> None:
            self._answer("POST", json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, method: str, body: Any) -> None:
            wanted = registry.authorization
            if wanted is not None and self.headers.get("Authorization") != wanted:
                status, body_text = 401, {"error_code": 401, "message": "Unauthorized"}
            else:
                status, body_text = registry.answer(method, self.path, body)
            data = json.dumps(body_text).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is said."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    registry.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
