"""The columns as Spark has them: types, and record batches in the form that Spark reads."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

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
BATCH_NAMES = {
    "topic": "string",
    "partition": "int",
    "segment": "string",
    "position": "bigint",
    "size": "int",
    "baseOffset": "bigint",
    "lastOffset": "bigint",
    "count": "int",
    "baseSequence": "int",
    "lastSequence": "int",
    "producerId": "bigint",
    "producerEpoch": "smallint",
    "leaderEpoch": "int",
    "codec": "string",
    "transactional": "boolean",
    "control": "boolean",
    "outcome": "string",
    "timestampType": "int",
    "baseTimestamp": "timestamp",
    "maxTimestamp": "timestamp",
    "deleteHorizon": "timestamp",
    "magic": "int",
    "crc": "bigint",
    "crcOk": "boolean",
}
"""The same where a row is a batch."""


def ddl(columns: tuple[str, ...]) -> str:
    """The columns in the form of Spark's `schema` methods."""
    known = {**NAMES, **BATCH_NAMES}
    return ", ".join(f"`{name}` {known[name]}" for name in columns)


def plain(batches: Iterator[pa.RecordBatch], columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    """The same batches with these columns in this order, and texts for dictionaries, which Spark
    does not read."""
    for batch in batches:
        some = batch.select(list(columns))
        yield some.cast(pa.schema([(each.name, _plain_type(each.type)) for each in some.schema]))


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
