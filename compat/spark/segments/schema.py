"""The columns of records as Arrow has them: the Kafka connector's of Spark, and those of the batch.

The first eight have the connector's names, order and types, so that frames of both can be compared:
`timestamp` is in microseconds although Kafka's is in milliseconds, and `headers` is null for a
record without any. `timestampType` is 0 (CreateTime), 1 (LogAppendTime), or -1 in messages of magic
0, which have no time: their `timestamp` is -1 ms. A time that is too large for an int64 of
microseconds becomes the nearest one that is not. Bytes of a header key that are not UTF-8 become
U+FFFD, as in Java.

The others say where a record was found and how its batch was written. `sequence` is the record's
own, -1 without an idempotent producer; `outcome` is what became of its transaction (outcomes.py).
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

HEADERS: Final = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
NAMES: Final = pa.dictionary(pa.int8(), pa.string())
"""Of a column with a handful of different names."""

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
"""By the number in a batch's attributes."""
OUTCOMES: Final = ("none", "committed", "aborted", "open")
"""Of a record's transaction; "none" if it is in none."""
NONE, COMMITTED, ABORTED, OPEN = range(4)

_FIELDS: Final = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": TIMESTAMP,
    "timestampType": pa.int32(),
    "headers": HEADERS,
    "segment": pa.string(),
    "position": pa.int64(),
    "producerId": pa.int64(),
    "producerEpoch": pa.int16(),
    "sequence": pa.int32(),
    "leaderEpoch": pa.int32(),
    "codec": NAMES,
    "transactional": pa.bool_(),
    "control": pa.bool_(),
    "outcome": NAMES,
    "crcOk": pa.bool_(),
}
RECORD_COLUMNS: Final = tuple(_FIELDS)[:8]
"""The columns of Spark's connector, `headers` included."""
BATCH_COLUMNS: Final = tuple(_FIELDS)[8:]
SCHEMA: Final = pa.schema(list(_FIELDS.items()))
"""All columns, in their order."""


def schema_of(columns: tuple[str, ...] | None) -> pa.Schema:
    """These columns, in the order given; None for all. Raises ValueError, which names a column that
    does not exist."""
    if columns is None:
        return SCHEMA
    unknown = [name for name in columns if name not in _FIELDS]
    if unknown:
        raise ValueError(f"there is no column {unknown[0]!r}, but {', '.join(_FIELDS)}")
    return pa.schema([(name, _FIELDS[name]) for name in columns])
