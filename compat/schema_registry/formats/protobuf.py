"""Protobuf: files of proto2 and proto3, read by the package proto-schema-parser.

What a file refers to is read with it, so that names are resolved: a name that means nothing is
refused. Comments are not kept. Left out: editions.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from antlr4.error.ErrorListener import ErrorListener
from proto_schema_parser import ast
from proto_schema_parser.parser import Parser

from ...schemas.registry import PROTOBUF
from . import BadSchema, Incompatibility
from .protobuf_names import Names, of_kind
from .protobuf_text import text_of_file


class ProtobufSchema:
    kind = PROTOBUF

    def __init__(self, file: ast.File, others: Mapping[str, ast.File]) -> None:
        """`others`: those it refers to, directly or not, by the names that imports give them."""
        self.file = file
        self.others = others
        self.text = text_of_file(file)

    @cached_property
    def names(self) -> Names:
        return Names(self.file, self.others)

    def normalized(self) -> str:
        """With complete names, and what has no order in one. Raises BadSchema for a name that means
        nothing."""
        return text_of_file(self.file, self.names)

    def formatted(self, how: str) -> str:
        """`serialized`: its descriptor, in base64; `ignore_extensions`: without options and
        extensions of one's own; else the text."""
        if how == "serialized":
            from .protobuf_compiled import compiled

            made = compiled(self.file, self.names)
            return b64encode(made.SerializeToString(deterministic=True)).decode()
        if how == "ignore_extensions":
            return text_of_file(self.file, ignore_extensions=True)
        return self.text

    def cannot_read(self, writer: ProtobufSchema) -> list[Incompatibility]:
        """See Schema."""
        from .protobuf_compatibility import compared

        return compared(self, writer)


def parse(text: str, named: Mapping[str, str], *, strict: bool = False) -> ProtobufSchema:
    """Of a text, or of a descriptor in base64. Raises BadSchema."""
    schema = ProtobufSchema(_read(text), {name: _read(each) for name, each in named.items()})
    schema.normalized()  # names that mean nothing are found by it
    return schema


def _read(text: str) -> ast.File:
    if "{" not in text:
        from .protobuf_descriptor import text_of

        text = text_of(text) or text
    try:
        file = Parser(setup_lexer=_strict, setup_parser=_strict).parse(text)
        _check_labels(file.file_elements, file.syntax or "proto2")
        _check_names(file.file_elements)
    except Exception as error:  # the parser's own, and those of its grammar
        raise BadSchema(f"Could not parse Protobuf - {error}") from None
    return file


def _check_labels(elements: Any, syntax: str) -> None:
    """Which the grammar takes in both: each field of proto2 has one, and none of proto3 is
    required."""
    for each in of_kind(elements, ast.Message, ast.Group, ast.Extension):
        for field in of_kind(each.elements, ast.Field):
            if syntax == "proto2" and field.cardinality is None:
                raise BadSchema(f"unexpected label: {field.type}")
            if syntax == "proto3" and field.cardinality is ast.FieldCardinality.REQUIRED:
                raise BadSchema("'required' label forbidden in proto3 field declarations")
        _check_labels(each.elements, syntax)


def _check_names(elements: Any) -> None:
    """Raises BadSchema for a type that is defined twice."""
    types = of_kind(elements, ast.Message, ast.Enum)
    names = [each.name for each in types]
    for each in types:
        if names.count(each.name) > 1:
            raise BadSchema(f"{each.name} is already defined")
        if isinstance(each, ast.Message):
            _check_names(each.elements)


class _Raising(ErrorListener):  # type: ignore[misc]  # it has no types
    def syntaxError(
        self, recognizer: Any, symbol: Any, line: int, column: int, message: str, error: Any
    ) -> None:
        raise BadSchema(f"Syntax error in :{line}:{column}: {message}")


def _strict(recognizer: Any) -> None:
    """Have it refuse what it would print a word about, and go on."""
    recognizer.removeErrorListeners()
    recognizer.addErrorListener(_Raising())
