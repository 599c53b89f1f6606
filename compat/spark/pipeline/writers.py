"""Record batches as files: Parquet, JSON Lines, CSV.

Text formats have no bytes. A key or value that is UTF-8 is text, under its own name; any other is
base64, in a column named `key_base64` or `value_base64`. So what is written can be loaded again
byte for byte. That is `text`; with `base64` all of them are; with `json` a value that is a JSON
object or array stands in the line as such, of which blanks may be lost. Times are milliseconds.
Headers are a list of objects with `key` and `value` (or `value_base64`), in CSV as JSON text.
"""

from __future__ import annotations

import json
from binascii import b2a_base64
from collections.abc import Callable, Iterable, Sequence
from json.encoder import encode_basestring
from typing import Any, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from .mapping import BASE64

DECODINGS = ("text", "base64", "json")
_BINARY = ("key", "value")


class Writer(Protocol):
    def write(self, batch: pa.RecordBatch) -> None:
        """Add records."""

    def close(self) -> None:
        """The file is complete."""


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The columns as files have them: no dictionaries, which are Arrow's own."""
    return pa.schema(
        [
            (
                field.name,
                field.type.value_type if pa.types.is_dictionary(field.type) else field.type,
            )
            for field in schema
        ]
    )


class ParquetWriter:
    """Row groups of what is written at once."""

    def __init__(self, path: str, schema: pa.Schema, decode: str) -> None:
        self._schema = plain_schema(schema)
        self._writer = pa.parquet.ParquetWriter(path, self._schema)

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch.cast(self._schema))

    def close(self) -> None:
        self._writer.close()


class JsonLinesWriter:
    """One object a line."""

    def __init__(self, path: str, schema: pa.Schema, decode: str) -> None:
        self._file: BinaryIO = open(path, "wb")  # noqa: SIM115 -- closed with the writer
        self._decode = decode

    def write(self, batch: pa.RecordBatch) -> None:
        columns = [
            _fragments(name, column, self._decode)
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        lines = ["{" + ",".join(fields) + "}\n" for fields in zip(*columns, strict=True)]
        self._file.write("".join(lines).encode())

    def close(self) -> None:
        self._file.close()


class CsvWriter:
    """A line of names, then the rows; a field without quotes is a number or null."""

    def __init__(self, path: str, schema: pa.Schema, decode: str) -> None:
        self._decode = decode
        empty = pa.RecordBatch.from_pylist([], schema=schema)
        self._writer = pa.csv.CSVWriter(path, self._as_text(empty).schema)

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(self._as_text(batch))

    def close(self) -> None:
        self._writer.close()

    def _as_text(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        found: dict[str, pa.Array] = {}
        for field, column in zip(batch.schema, batch.columns, strict=True):
            name = field.name
            if name in _BINARY:
                plain, coded = _split(column, self._decode)
                if self._decode != "base64":
                    found[name] = pa.array(plain, pa.string())
                found[name + BASE64] = pa.array(coded, pa.string())
            elif name == "headers":
                found[name] = pa.array(_headers(column), pa.string())
            elif name == "timestamp":
                found[name] = _milliseconds(column)
            elif pa.types.is_dictionary(field.type):
                found[name] = column.cast(pa.string())
            else:
                found[name] = column
        return pa.RecordBatch.from_pydict(found)


WRITERS: dict[str, Callable[[str, pa.Schema, str], Writer]] = {
    "parquet": ParquetWriter,
    "jsonl": JsonLinesWriter,
    "csv": CsvWriter,
}
"""By the name of the format: path, schema, how bytes are shown."""


def join(paths: Sequence[str], target: str, format: str, schema: pa.Schema) -> None:
    """Files of one format as one file, in their order."""
    if format == "parquet":
        with pa.parquet.ParquetWriter(target, plain_schema(schema)) as writer:
            for path in paths:
                with pa.parquet.ParquetFile(path) as file:
                    for group in range(file.num_row_groups):
                        writer.write_table(file.read_row_group(group))
        return
    with open(target, "wb") as out:
        for number, path in enumerate(paths):
            with open(path, "rb") as file:
                if format == "csv" and number:
                    file.readline()  # the names
                while piece := file.read(1 << 20):
                    out.write(piece)


def _milliseconds(column: pa.Array) -> pa.Array:
    return column.cast(pa.timestamp("ms", "UTC"), safe=False).cast(pa.int64())


def _texts(column: pa.Array) -> list[str | None] | None:
    """Bytes as text, if all of them are UTF-8."""
    try:
        found: list[str | None] = column.cast(pa.string()).to_pylist()
    except pa.ArrowInvalid:
        return None
    return found


def _split(column: pa.Array, decode: str) -> tuple[list[str | None], list[str | None]]:
    """Keys or values as text, and as base64: each of them in one of the two."""
    if decode != "base64":
        texts = _texts(column)
        if texts is not None:
            return texts, [None] * len(texts)
    plain: list[str | None] = []
    coded: list[str | None] = []
    for value in column.to_pylist():
        text = None if value is None or decode == "base64" else _text(value)
        plain.append(text)
        coded.append(None if value is None or text is not None else _base64(value))
    return plain, coded


def _text(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _base64(value: bytes) -> str:
    return b2a_base64(value, newline=False).decode()


def _fragments(name: str, column: pa.Array, decode: str) -> Iterable[str]:
    """A column's part of each line: its name and its value."""
    if name in _BINARY:
        plain, coded = _split(column, decode)
        show = _json_or_text if decode == "json" and name == "value" else encode_basestring
        return [
            f'"{name}":{show(text)}'
            if text is not None
            else f'"{name}":null'
            if code is None
            else f'"{name}{BASE64}":"{code}"'
            for text, code in zip(plain, coded, strict=True)
        ]
    if name == "headers":
        return [f'"{name}":{each or "null"}' for each in _headers(column)]
    values = (_milliseconds(column) if name == "timestamp" else column).to_pylist()
    known: dict[Any, str] = {}
    if name not in ("offset", "timestamp", "position", "sequence"):
        known = {value: f'"{name}":{json.dumps(value)}' for value in set(values)}
        return [known[value] for value in values]
    return [f'"{name}":{"null" if value is None else value}' for value in values]


def _json_or_text(text: str) -> str:
    """An object or array as it is, on one line; anything else as text."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return encode_basestring(text)
        if "\n" not in text and "\r" not in text:
            return text
        return json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return encode_basestring(text)


def _headers(column: pa.Array) -> list[str | None]:
    """The headers of each record as JSON."""
    flat = column.flatten()
    plain, coded = _split(flat.field("value"), "text")
    each = [
        f'{{"key":{encode_basestring(key)},"value":{encode_basestring(text)}}}'
        if text is not None
        else f'{{"key":{encode_basestring(key)},"value":null}}'
        if code is None
        else f'{{"key":{encode_basestring(key)},"value{BASE64}":"{code}"}}'
        for key, text, code in zip(flat.field("key").to_pylist(), plain, coded, strict=True)
    ]
    found: list[str | None] = []
    at = 0
    for count in pc.list_value_length(column).fill_null(0).to_pylist():
        found.append("[" + ",".join(each[at : at + count]) + "]" if count else None)
        at += count
    return found
