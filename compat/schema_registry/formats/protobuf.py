"""Protobuf: files of proto2 and proto3, read by the package proto-schema-parser.

They are written as the registry's own library (Wire) lays them out, without comments. Left out:
normalisation (the text as it is), format=serialized, services' and extensions' options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from antlr4.error.ErrorListener import ErrorListener
from proto_schema_parser import ast
from proto_schema_parser.parser import Parser

from ...schemas.registry import PROTOBUF
from . import BadSchema, Incompatibility


class ProtobufSchema:
    """A file that was read."""

    kind = PROTOBUF

    def __init__(self, file: ast.File) -> None:
        self.file = file
        self.text = "\n".join(_file(file)) + "\n"

    def normalized(self) -> str:
        """The text as it is."""
        return self.text

    def formatted(self, how: str) -> str:
        """The text as it is. Raises BadSchema for a descriptor."""
        if how == "serialized":
            raise BadSchema("format=serialized is not served: ask for the text")
        return self.text

    def cannot_read(self, writer: ProtobufSchema) -> list[Incompatibility]:
        """See Schema."""
        from .protobuf_compatibility import compared

        return compared(self.file, writer.file)


def parse(text: str, named: Mapping[str, str], *, strict: bool = False) -> ProtobufSchema:
    """Of a text, or of a descriptor in base64. Raises BadSchema."""
    if "{" not in text:
        from .protobuf_descriptor import text_of

        text = text_of(text) or text
    try:
        file = Parser(setup_lexer=_strict, setup_parser=_strict).parse(text)
    except Exception as error:  # the parser's own, and those of its grammar
        raise BadSchema(f"Could not parse Protobuf - {error}") from None
    if not any(isinstance(each, ast.Message | ast.Enum) for each in file.file_elements):
        raise BadSchema("Could not parse Protobuf - it has no message and no enum")
    return ProtobufSchema(file)


class _Raising(ErrorListener):  # type: ignore[misc]  # it has no types
    def syntaxError(
        self, recognizer: Any, symbol: Any, line: int, column: int, message: str, error: Any
    ) -> None:
        raise BadSchema(f"Syntax error in :{line}:{column}: {message}")


def _strict(recognizer: Any) -> None:
    """Have it refuse what it would print a word about, and go on."""
    recognizer.removeErrorListeners()
    recognizer.addErrorListener(_Raising())


def of_kind(elements: Any, *kinds: type) -> list[Any]:
    """The elements of these kinds, in order."""
    return [each for each in elements if isinstance(each, kinds)]


def _file(file: ast.File) -> Iterator[str]:
    all_of = file.file_elements
    if file.syntax:
        yield f'syntax = "{file.syntax}";'
    for package in of_kind(all_of, ast.Package):
        yield f"package {package.name};"
    imports = of_kind(all_of, ast.Import)
    if imports:
        yield ""
    for each in sorted(imports, key=lambda found: bool(found.public)):
        how = "public " if each.public else "weak " if each.weak else ""
        yield f'import {how}"{each.name}";'
    options = of_kind(all_of, ast.Option)
    if options:
        yield ""
    for option in options:
        yield f"option {_option(option)};"
    types = of_kind(all_of, ast.Message) + of_kind(all_of, ast.Enum)
    if types:
        yield ""
    for each in types:
        yield from _type(each)
    services = of_kind(all_of, ast.Service)
    if services:
        yield ""
    for service in services:
        yield f"service {service.name} {{"
        for method in of_kind(service.elements, ast.Method):
            yield f"  rpc {method.name} ({_message(method.input_type)}) returns " + (
                f"({_message(method.output_type)});"
            )
        yield "}"


def _message(given: Any) -> str:
    return f"stream {given.type}" if given.stream else str(given.type)


def _type(each: Any) -> Iterator[str]:
    is_message = isinstance(each, ast.Message)
    yield f"{'message' if is_message else 'enum'} {each.name} {{"
    lines = _body(each) if is_message else _values(each)
    for line in lines:
        yield f"  {line}" if line else ""
    yield "}"


def _values(enum: ast.Enum) -> Iterator[str]:
    for option in of_kind(enum.elements, ast.Option):
        yield f"option {_option(option)};"
    for reserved in of_kind(enum.elements, ast.EnumReserved):
        yield f"reserved {_reserved(reserved)};"
    for value in of_kind(enum.elements, ast.EnumValue):
        yield f"{value.name} = {value.number}{_options(value.options)};"


def _body(message: ast.Message) -> Iterator[str]:
    """Its parts in the order of the registry, an empty line before each that follows another."""
    parts = [
        [f"option {_option(each)};" for each in of_kind(message.elements, ast.Option)],
        [f"reserved {_reserved(each)};" for each in of_kind(message.elements, ast.Reserved)],
        [
            line
            for each in of_kind(message.elements, ast.Field, ast.MapField)
            for line in _field(each)
        ],
        [line for each in of_kind(message.elements, ast.OneOf) for line in _one_of(each)],
        [line for each in of_kind(message.elements, ast.Message) for line in _type(each)]
        + [line for each in of_kind(message.elements, ast.Enum) for line in _type(each)],
    ]
    is_first = True
    for part in filter(None, parts):
        if not is_first:
            yield ""
        is_first = False
        yield from part


def _one_of(each: ast.OneOf) -> Iterator[str]:
    yield f"oneof {each.name} {{"
    for field in of_kind(each.elements, ast.Field):
        for line in _field(field):
            yield f"  {line}"
    yield "}"


def type_of(field: Any) -> str:
    """The type of a field, as it is written."""
    if isinstance(field, ast.MapField):
        return f"map<{field.key_type}, {field.value_type}>"
    return str(field.type)


def _field(field: Any) -> list[str]:
    cardinality = getattr(field, "cardinality", None)
    label = f"{cardinality.value.lower()} " if cardinality else ""
    text = f"{label}{type_of(field)} {field.name} = {field.number}{_options(field.options)};"
    return text.split("\n")


def _options(options: list[Any]) -> str:
    if not options:
        return ""
    written = [_option(each) for each in options]
    if len(written) == 1:
        return f" [{written[0]}]"
    return " [\n  " + ",\n  ".join(written) + "\n]"


def _option(option: Any) -> str:
    value = option.value
    if isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, str) and not isinstance(value, ast.Identifier):
        text = f'"{value}"'
    else:
        text = str(getattr(value, "name", value))
    return f"{option.name} = {text}"


def _reserved(reserved: Any) -> str:
    return ", ".join([*map(str, reserved.ranges), *(f'"{name}"' for name in reserved.names)])
