"""The records of `_schemas`: keys and values, JSON as Confluent's registry writes it.

| key | value |
|---|---|
| SCHEMA, subject, version, magic 1 | one version; a tombstone where it was deleted for good |
| CONFIG, subject or none, magic 0 | compatibility level and the like |
| MODE, subject or none, magic 0 | READWRITE, READONLY, IMPORT ... |
| DELETE_SUBJECT, subject, magic 0 | the versions up to this one are deleted softly |
| CONTEXT, tenant, context, magic 0 | there is such a context |
| NOOP, magic 0 | nothing: written to learn where the topic ends |
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import md5
from typing import Any
from uuid import UUID

from ..schemas.registry import AVRO
from .formats import written

SCHEMA, CONFIG, MODE = "SCHEMA", "CONFIG", "MODE"
DELETE_SUBJECT, CONTEXT, NOOP = "DELETE_SUBJECT", "CONTEXT", "NOOP"
_MAGIC = {SCHEMA: 1}
_TENANT = "default"


@dataclass(slots=True)
class Version:
    subject: str
    version: int
    id: int
    kind: str
    text: str
    references: list[dict[str, Any]] = field(default_factory=list)
    metadata: dict[str, Any] | None = None
    rule_set: dict[str, Any] | None = None
    deleted: bool = False
    ts: int = 0

    @property
    def content(self) -> tuple[str, str, str]:
        """The content by which it is the same schema as another one, whatever its subject."""
        more = [self.references, self.metadata, self.rule_set]
        return self.kind, self.text, json.dumps(more, sort_keys=True)

    @property
    def guid(self) -> str:
        """The same for the same schema in all registries."""
        data = md5(self.text.encode(), usedforsecurity=False)
        for each in self.references:
            data.update(f"{each['name']}{each['subject']}".encode())
            data.update(int(each["version"]).to_bytes(4, "big", signed=True))
        if self.metadata is not None:
            data.update(b"\x01" + b"".join(_metadata(self.metadata)))
        if self.rule_set is not None:
            data.update(b"\x01" + written(self.rule_set).encode())
        return str(UUID(bytes=data.digest()))

    def value(self) -> dict[str, Any]:
        made: dict[str, Any] = {"subject": self.subject, "version": self.version, "id": self.id}
        made["schemaType"] = self.kind
        if self.references:
            made["references"] = self.references
        if self.metadata is not None:
            made["metadata"] = self.metadata
        if self.rule_set is not None:
            made["ruleSet"] = self.rule_set
        return {**made, "schema": self.text, "deleted": self.deleted}


def _metadata(metadata: dict[str, Any]) -> list[bytes]:
    parts: list[str] = []
    for key, values in sorted((metadata.get("tags") or {}).items()):
        parts += [key, *values]
    for key, value in sorted((metadata.get("properties") or {}).items()):
        parts += [key, str(value)]
    parts += metadata.get("sensitive") or []
    return [each.encode() for each in parts]


def version_of(value: dict[str, Any], ts: int) -> Version:
    """The version that a record's value says. Raises KeyError, TypeError, ValueError."""
    return Version(
        str(value["subject"]),
        int(value["version"]),
        int(value["id"]),
        value.get("schemaType") or AVRO,
        str(value["schema"]),
        list(value.get("references") or ()),
        value.get("metadata"),
        value.get("ruleSet"),
        bool(value.get("deleted", False)),
        ts,
    )


def key_of(kind: str, subject: str | None = None, version: int | None = None) -> bytes:
    """A record's key."""
    made: dict[str, Any] = {"keytype": kind}
    if kind == CONTEXT:
        made |= {"tenant": _TENANT, "context": subject}
    elif subject is not None:
        made["subject"] = subject
    if version is not None:
        made["version"] = version
    made["magic"] = _MAGIC.get(kind, 0)
    return written(made).encode()
