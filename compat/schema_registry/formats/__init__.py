"""Avro, JSON Schema and Protobuf: each a module, imported with the first schema of its kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from json.encoder import encode_basestring
from typing import Any, NamedTuple, Protocol

from ...schemas.registry import AVRO, JSON, PROTOBUF
from ..limits import TooLarge, check_text

KINDS: dict[str, str] = {JSON: "json_schema", PROTOBUF: "protobuf", AVRO: "avro"}
"""Type of schema -> its module, in the order of GET /schemas/types."""


class BadSchema(Exception):
    """A schema is none of its kind: `str` says why."""


class Incompatibility(NamedTuple):
    """One reason why a reader's schema cannot read what a writer's schema wrote."""

    kind: str
    path: str
    """Where in the reader's schema, as a pointer: /fields/0/type."""
    text: str
    """A message; {reader} and {writer} stand for which of both is old, and which is new."""
    info: str = ""
    frame: str = "{{errorType:'{kind}', description:'{text}'{info}}}"
    """How kind, text and info are put together."""

    def words(self, reader: str, writer: str) -> str:
        """The message as Confluent's registry words it."""
        text = self.text.replace("{reader}", reader).replace("{writer}", writer)
        info = f", additionalInfo:'{self.info}'" if self.info else ""
        return self.frame.format(kind=self.kind, text=text, info=info)


class Schema(Protocol):
    @property
    def kind(self) -> str:
        """AVRO, JSON or PROTOBUF."""

    @property
    def text(self) -> str:
        """In one way of writing: spaces and the like no longer differ."""

    def normalized(self) -> str:
        """In the one way of writing that all schemas of the same meaning share."""

    def formatted(self, how: str) -> str:
        """With format=HOW; `text` for one that there is not."""

    def cannot_read(self, writer: Any) -> list[Incompatibility]:
        """Why it cannot read what the other schema, of the same kind, wrote; empty if it can.
        Raises TooLarge."""


def parse(kind: str, text: str, named: Mapping[str, str], *, strict: bool = False) -> Schema:
    """A schema, and those it refers to by name. `strict` is for new ones: names and defaults are
    checked. Raises BadSchema."""
    try:
        check_text(text)
        module = import_module(f".{KINDS[kind]}", __package__)
        schema: Schema = module.parse(text, named, strict=strict)
    except (TooLarge, RecursionError) as error:
        raise BadSchema(str(error) or "the schema is nested too deep") from None
    return schema


class Exact(float):
    """A number that is written as it was."""

    def __new__(cls, text: str) -> Exact:
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str


def written(value: Any) -> str:
    """JSON without spaces, numbers as Java writes them."""
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, dict):
        return "{" + ",".join([f"{written(k)}:{written(v)}" for k, v in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    if isinstance(value, Exact):
        return value.text
    if isinstance(value, float):
        return _double(value)
    return json.dumps(value, ensure_ascii=False)


def _double(value: float) -> str:
    """Java's Double.toString: with an exponent from 10^7 on, and below 10^-3."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    digits, _, exponent = f"{value:.17e}".partition("e")
    for precision in range(1, 18):
        digits, _, exponent = f"{value:.{precision}e}".partition("e")
        if float(f"{digits}e{exponent}") == value:
            break
    return f"{digits}E{int(exponent)}"
