"""The interface of a schema registry for reading and writing values, and its errors."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

AVRO, PROTOBUF, JSON = "AVRO", "PROTOBUF", "JSON"
FILES = {".avsc": AVRO, ".avro": AVRO, ".json": JSON, ".proto": PROTOBUF}
"""How the name of a schema's file ends -> of which kind it is."""


class SchemaError(Exception):
    """A registry cannot be asked, or a package is missing: `str` is one sentence."""


class NoSuchSchema(SchemaError):
    """The registry has no schema of this id or subject."""


class Reference(NamedTuple):
    """Another schema that one is made of."""

    name: str
    subject: str
    version: int


class Schema(NamedTuple):
    id: int
    kind: str
    text: str
    references: tuple[Reference, ...] = ()


class SchemaSource(Protocol):
    """A registry, of which values are read and written. Each raises NoSuchSchema, SchemaError."""

    def by_id(self, schema_id: int) -> Schema:
        """A schema by its id."""

    def latest(self, subject: str) -> Schema:
        """The newest version of a subject."""

    def referred(self, reference: Reference) -> Schema:
        """The schema that a reference means."""

    def descriptor(self, schema_id: int) -> bytes:
        """Of a Protobuf schema, its FileDescriptorProto."""


def kind_of(file: Path) -> str:
    """Of which kind the schema in a file is, by its name. Raises ValueError."""
    kind = FILES.get(file.suffix)
    if kind is None:
        raise ValueError(f"{file}: a schema is a file of {', '.join(FILES)}")
    return kind
