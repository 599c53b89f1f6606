"""The columns as Spark has them: types, and record batches in the form that Spark reads."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from ..segments.schema import SCHEMA

NAMES = {
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestampType": "int",
    "headers": "array<struct<key:string,value:binary>>",
    "segment": "string",
    "position": "bigint",
    "producerId": "bigint",
    "producerEpoch": "smallint",
    "sequence": "int",
    "leaderEpoch": "int",
    "codec": "string",
    "transactional": "boolean",
    "control": "boolean",
    "outcome": "string",
    "crcOk": "boolean",
}
"""Each column's type, as Spark writes it."""


def ddl(columns: tuple[str, ...]) -> str:
    """The columns in the form of Spark's `schema` methods."""
    return ", ".join(f"`{name}` {NAMES[name]}" for name in columns)


def plain(batches: Iterator[pa.RecordBatch], columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    """The same batches with these columns in this order, and texts for dictionaries, which Spark
    does not read."""
    schema = pa.schema([(name, _plain_type(SCHEMA.field(name).type)) for name in columns])
    for batch in batches:
        yield batch.select(list(columns)).cast(schema)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
