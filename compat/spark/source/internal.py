"""Internal topics as DataFrames: what coordinators have written, decoded.

    from odradek.compat.spark.source import decoded

    frame = spark.read.format("odradek").option("subscribe", "__consumer_offsets").load(directory)
    commits = decoded(frame).where("type = 'OffsetCommit'")

`key` and `value` are JSON with the fields of Kafka's own schemas (bytes as base64), so that
`get_json_object(value, '$.offset')` finds them. `value` is null for a tombstone, and all three are
for a record that is none of a coordinator's.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ....wire.errors import WireError
from ....wire.schema import Struct
from ....wire.stored.topics import INTERNAL_TOPICS, read_pair

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NEEDED = ("topic", "partition", "offset", "key", "value")
SCHEMA = "topic string, partition int, offset bigint, type string, key string, value string"
_TEXTS = ("type", "key", "value")
_TYPES = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        *((name, pa.string()) for name in _TEXTS),
    ]
)


def decoded(frame: DataFrame) -> DataFrame:
    """Records of internal topics with their type, and key and value as JSON. The frame has the
    columns `NEEDED`, as `format("odradek")` and the stock connector give them."""
    return frame.select(*NEEDED).mapInArrow(decode, SCHEMA)


def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same for batches of Arrow."""
    for batch in batches:
        rows = [{**row, **_decoded(row)} for row in batch.to_pylist()]
        yield pa.RecordBatch.from_pylist(rows, schema=_TYPES)


def _decoded(row: dict[str, Any]) -> dict[str, str | None]:
    kinds = INTERNAL_TOPICS.get(row["topic"])
    try:
        if kinds is None or row["key"] is None:
            return dict.fromkeys(_TEXTS)
        key, value = read_pair(kinds, row["key"], row["value"])
    except WireError:
        return dict.fromkeys(_TEXTS)
    of_type = type(key).__name__.removesuffix("Key")
    text = None if value is None else json.dumps(_plain(value))
    return {"type": of_type, "key": json.dumps(_plain(key)), "value": text}


def _plain(value: Any) -> Any:
    if isinstance(value, Struct):
        return {field.name: _plain(getattr(value, field.name)) for field, _ in value.fields()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return b64encode(value).decode()
    return value
