"""Which columns of a file make up a record, and rows as records.

Files with the columns of Spark's connector (key, value, topic, partition, offset, timestamp,
headers, ...) are records already, also where a column is named `key_base64` or `value_base64`: text
formats cannot hold all bytes. Of any other file the value is the whole row as JSON, unless a column
is named.

Text becomes UTF-8, bytes are taken as they are, everything else as its JSON. Times are Arrow's own,
numbers of milliseconds, or ISO 8601.
"""

from __future__ import annotations

import base64
import difflib
import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..segments.schema import HEADERS, SCHEMA, TIMESTAMP
from .errors import PipelineError
from .rows import Column, Rows, json_bytes

BASE64 = "_base64"
WHOLE_ROW = "json"
_DIGITS = re.compile("-?[0-9]{1,18}")


@dataclass(frozen=True)
class Columns:
    """Names of the columns; None leaves the choice to the file. `value` may be `json`."""

    key: str | None = None
    value: str | None = None
    topic: str | None = None
    partition: str | None = None
    timestamp: str | None = None
    headers: str | None = None

    def of(self, names: Collection[str]) -> Columns:
        """The columns to read in a file that has those names. Raises PipelineError."""
        for each in (self.key, self.topic, self.partition, self.timestamp, self.headers):
            if each is not None and not _has(names, each):
                raise PipelineError(_no_column(each, names))
        if self.value not in (None, WHOLE_ROW) and not _has(names, self.value or ""):
            raise PipelineError(_no_column(self.value or "", names))
        default: Callable[[str], str | None] = lambda name: None  # noqa: E731
        if is_of_records(names):
            default = lambda name: name if _has(names, name) else None  # noqa: E731
        return Columns(
            key=self.key or default("key"),
            value=self.value or default("value") or WHOLE_ROW,
            topic=self.topic or default("topic"),
            partition=self.partition or default("partition"),
            timestamp=self.timestamp or default("timestamp"),
            headers=self.headers or default("headers"),
        )


def _no_column(name: str, names: Collection[str]) -> str:
    like = difflib.get_close_matches(name, list(names), n=1)
    meant = f": did you mean {like[0]}?" if like else ""
    return f"there is no column {name}, but {', '.join(names)}{meant}"


BY_NAME = Columns()
"""By the file's own columns."""


def is_of_records(names: Collection[str]) -> bool:
    plain = {name.removesuffix(BASE64) for name in names}
    return "value" in plain and plain <= set(SCHEMA.names)


def _has(names: Collection[str], name: str) -> bool:
    return name in names or name + BASE64 in names


def to_records(rows: Rows, columns: Columns) -> pa.RecordBatch:
    """Rows as records, with all columns of segments/schema.py; null where the file has nothing.

    `columns`: with a value (`Columns.of`). Raises PipelineError, ValueError.
    """
    value = columns.value
    found: dict[str, pa.Array] = {
        "key": binary(rows, columns.key),
        "value": pa.array(rows.as_json(), pa.binary())
        if value == WHOLE_ROW
        else binary(rows, value),
        "topic": _text(rows, columns.topic),
        "partition": _number(rows, columns.partition, pa.int32()),
        "timestamp": _times(rows, columns.timestamp),
        "headers": _headers(rows, columns.headers),
    }
    for field in SCHEMA:
        if field.name in found:
            continue
        there = value != WHOLE_ROW and field.name in rows.columns and is_of_records(rows.columns)
        found[field.name] = (
            _cast(rows.columns[field.name], field.type)
            if there
            else pa.nulls(rows.count, field.type)
        )
    return pa.RecordBatch.from_arrays([found[name] for name in SCHEMA.names], schema=SCHEMA)


def _cast(column: Column, type: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(type):
        return _cast(column, type.value_type).dictionary_encode().cast(type)
    if pa.types.is_boolean(type) and isinstance(column, list):
        return pa.array([each in (True, "true") if each is not None else None for each in column])
    found = pa.array(column) if isinstance(column, list) else column
    return pa.nulls(len(found), type) if pa.types.is_null(found.type) else found.cast(type)


def binary(rows: Rows, name: str | None) -> pa.Array:
    """A column as keys or values are: bytes, or null."""
    if name is None:
        return pa.nulls(rows.count, pa.binary())
    plain, coded = rows.columns.get(name), rows.columns.get(name + BASE64)
    found = pa.nulls(rows.count, pa.binary()) if plain is None else _as_bytes(plain)
    if coded is None:
        return found
    decoded = [
        None if each is None else base64.b64decode(each, validate=True) for each in _listed(coded)
    ]
    return pc.coalesce(found, pa.array(decoded, pa.binary()))


def _as_bytes(column: Column) -> pa.Array:
    column = _typed(column, str)
    if isinstance(column, list):
        return pa.array(map(_one_as_bytes, column), pa.binary(), size=len(column))
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_integer(column.type):
        column = column.cast(pa.string())
    kind = column.type
    if any(
        test(kind)
        for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_large_binary)
    ):
        return column.cast(pa.binary())
    if pa.types.is_binary(kind):
        return column
    return _as_bytes(column.to_pylist())


def _typed(column: Column, kind: type) -> Column:
    """A list with nothing but values of this type, or null, as Arrow's; any other as it is."""
    if not isinstance(column, list) or not {kind, type(None)}.issuperset(map(type, column)):
        return column
    try:
        return pa.array(column, {str: pa.string(), int: pa.int64()}[kind])
    except (ValueError, OverflowError):  # half of a surrogate pair, a number of more than 64 bits
        return column


def _one_as_bytes(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    text = json_bytes(value)
    return text[1:-1] if text.startswith(b'"') else text  # a time, a number that is not finite


def _text(rows: Rows, name: str | None) -> pa.Array:
    return binary(rows, name).cast(pa.string())


def _number(rows: Rows, name: str | None, type: pa.DataType) -> pa.Array:
    column = rows.columns.get(name or "")
    return pa.nulls(rows.count, type) if column is None else _cast(column, type)


def _times(rows: Rows, name: str | None) -> pa.Array:
    column = rows.columns.get(name or "")
    if column is None:
        return pa.nulls(rows.count, TIMESTAMP)
    column = _typed(column, int)
    if not isinstance(column, list):
        if pa.types.is_timestamp(column.type):
            # Without a zone it is UTC; what is finer than a microsecond is cut.
            return column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(TIMESTAMP)
        if pa.types.is_integer(column.type):
            return _of_ms(column.cast(pa.int64()))
    micros = pa.array((_micros(each) for each in _listed(column)), pa.int64(), size=len(column))
    return micros.cast(TIMESTAMP)


def _of_ms(column: pa.Array) -> pa.Array:
    return column.cast(pa.timestamp("ms", "UTC")).cast(TIMESTAMP)


def _micros(value: Any) -> int | None:
    """A time in microseconds. Raises ValueError."""
    if value is None:
        return None
    if isinstance(value, str):
        if _DIGITS.fullmatch(value):
            return int(value) * 1000
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        passed = aware - datetime(1970, 1, 1, tzinfo=UTC)
        return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds
    if isinstance(value, int) and not isinstance(value, bool):
        return value * 1000
    raise ValueError(f"not a time: {value!r}")


def _headers(rows: Rows, name: str | None) -> pa.Array:
    """Headers: a list of keys and values, an object, or either as JSON text."""
    column = rows.columns.get(name or "")
    if column is None:
        return pa.nulls(rows.count, HEADERS)
    if not isinstance(column, list) and pa.types.is_list(column.type):
        return column.cast(HEADERS)
    return pa.array((_pairs(each) for each in _listed(column)), HEADERS, size=len(column))


def _pairs(value: Any) -> list[Mapping[str, Any]] | None:
    if isinstance(value, str | bytes):
        value = json.loads(value)
    if value in (None, "", [], {}):
        return None
    if isinstance(value, dict):
        return [{"key": key, "value": _one_as_bytes(each)} for key, each in value.items()]
    if not isinstance(value, list):
        raise ValueError(f"not headers, a list of keys and values or an object: {value!r}")
    if isinstance(value[0], tuple):  # an Arrow map
        return [{"key": key, "value": _one_as_bytes(each)} for key, each in value]
    return [_pair(each) for each in value]


def _pair(value: Any) -> Mapping[str, Any]:
    """One header. Raises ValueError."""
    if not isinstance(value, dict) or not isinstance(value.get("key"), str):
        raise ValueError(f"not a header, which has a key and a value: {value!r}")
    coded = value.get("value" + BASE64)
    if coded is not None:
        return {"key": value["key"], "value": base64.b64decode(coded, validate=True)}
    return {"key": value["key"], "value": _one_as_bytes(value.get("value"))}


def _listed(column: Column) -> list[Any]:
    return column if isinstance(column, list) else column.to_pylist()
