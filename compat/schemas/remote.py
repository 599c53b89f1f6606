"""A schema registry that is asked over HTTP, by Confluent's REST API.

Each schema is asked for once. Source: the API's reference. Left out: clusters of registries,
contexts, rules of data contracts, log-ins other than a user and a password in the URL.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlsplit, urlunsplit
from urllib.request import Request, urlopen

from .registry import AVRO, NoSuchSchema, Reference, Schema, SchemaError

_TYPE = "application/vnd.schemaregistry.v1+json"
_TIMEOUT_S = 15.0
_NOT_FOUND = 404
_SERIALIZED = "?format=serialized"


class RemoteRegistry:
    def __init__(self, url: str) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SchemaError(f"not the URL of a registry: {url!r}")
        host = parts.netloc.rpartition("@")[2]
        self.url = urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
        self._headers = {"Accept": _TYPE, "Content-Type": _TYPE}
        if parts.username:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self._headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        self._by_id: dict[int, Schema | None] = {}

    def by_id(self, schema_id: int) -> Schema:
        """A schema by its id. Raises NoSuchSchema, SchemaError."""
        if schema_id not in self._by_id:
            try:
                body = self.ask(f"/schemas/ids/{schema_id}")
                self._by_id[schema_id] = _schema(body, schema_id)
            except NoSuchSchema:
                self._by_id[schema_id] = None
        found = self._by_id[schema_id]
        if found is None:
            raise NoSuchSchema(f"{self.url} has no schema {schema_id}")
        return found

    def latest(self, subject: str) -> Schema:
        """The newest version of a subject. Raises NoSuchSchema, SchemaError."""
        body = self.ask(f"/subjects/{quote(subject, safe='')}/versions/latest")
        return _schema(body, int(body["id"]))

    def referred(self, reference: Reference) -> Schema:
        """The schema that a reference means. Raises NoSuchSchema, SchemaError."""
        path = f"/subjects/{quote(reference.subject, safe='')}/versions/{reference.version}"
        body = self.ask(path)
        return _schema(body, int(body["id"]))

    def descriptor(self, schema_id: int) -> bytes:
        """Of a Protobuf schema, its FileDescriptorProto. Raises NoSuchSchema, SchemaError."""
        body = self.ask(f"/schemas/ids/{schema_id}{_SERIALIZED}")
        try:
            return b64decode(body["schema"], validate=True)
        except ValueError:
            raise SchemaError(
                f"{self.url} gives Protobuf schemas as text only; it has no format=serialized"
            ) from None

    def register(self, subject: str, kind: str, text: str) -> Schema:
        """The schema under this subject, which is added if it is not there. Raises SchemaError."""
        body = self.ask(
            f"/subjects/{quote(subject, safe='')}/versions", {"schemaType": kind, "schema": text}
        )
        return Schema(int(body["id"]), kind, text)

    def ask(self, path: str, body: object = None) -> Any:
        """The registry's answer to a path. Raises NoSuchSchema, SchemaError."""
        data = None if body is None else json.dumps(body).encode()
        request = Request(self.url + path, data, self._headers)
        try:
            with urlopen(request, timeout=_TIMEOUT_S) as answer:
                return json.load(answer)
        except HTTPError as error:
            said = _message(error)
            if error.code == _NOT_FOUND:
                raise NoSuchSchema(f"{self.url}{path}: {said}") from None
            raise SchemaError(f"the registry {self.url} refuses: {said}") from None
        except (URLError, OSError) as error:
            why = getattr(error, "reason", error)
            raise SchemaError(f"no schema registry at {self.url}: {why}") from None
        except ValueError as error:
            raise SchemaError(f"{self.url} is no schema registry: {error}") from None


def _schema(body: Any, schema_id: int) -> Schema:
    references = tuple(
        Reference(each["name"], each["subject"], int(each["version"]))
        for each in body.get("references") or ()
    )
    return Schema(schema_id, body.get("schemaType", AVRO), body["schema"], references)


def _message(error: HTTPError) -> str:
    try:
        return str(json.load(error)["message"])
    except (ValueError, KeyError, TypeError):
        return f"{error.code} {error.reason}"
