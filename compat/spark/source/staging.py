"""One task of a sink writes segments of its own, with offsets from 0.

They are below a directory of the job, in the data directory, whose name is that of a topic being
deleted: readers and brokers do not take it for a partition, and a broker that starts before the job
commits removes it. Records keep their order within a task and partition; where they stand in the
log is decided at the commit (commit.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from ..segments.encoder import BATCH_BYTES
from ..segments.partitioner import partitions_of
from ..segments.schema import SCHEMA
from ..segments.writer import SegmentWriter, Staged
from .options import OptionError, WriteOptions
from .topics import naming_in

_HEADERS = "array<struct<key:string,value:binary>>"
_TYPES: Mapping[str, tuple[str, ...]] = {
    "topic": ("string",),
    "key": ("binary", "string"),
    "value": ("binary", "string"),
    "partition": ("int",),
    "timestamp": ("timestamp",),
    "headers": (_HEADERS,),
}
"""The columns that make a record, with Spark's types."""
_WRITTEN = ("key", "value", "timestamp", "headers")


def check_columns(types: Mapping[str, str], options: WriteOptions) -> None:
    """Refuse columns that records cannot be made of; those that a reader has besides are ignored.

    `types`: Spark's name of the type of each column. Raises OptionError.
    """
    for name, kind in types.items():
        if name not in SCHEMA.names:
            raise OptionError(f"column {name} cannot be written: there are {', '.join(_TYPES)}")
        if kind not in _TYPES.get(name, (kind,)):
            raise OptionError(f"column {name} is {kind}: it must be {' or '.join(_TYPES[name])}")
    if "value" not in types:
        raise OptionError("there is no column value")
    if "topic" not in types and options.topic is None:
        raise OptionError("name the topic in a column or in the option topic")


class Stage:
    def __init__(
        self, root: str, options: WriteOptions, counts: Mapping[str, int], turn: int = 0
    ) -> None:
        """`root`: the job's directory. `counts`: how many partitions topics have. `turn`: which
        partition the first record without key goes to."""
        self._root = root
        self._options = options
        self._counts = counts
        self._naming = naming_in(options.path)
        self._turn = turn
        self._writers: dict[tuple[str, int], _Buffered] = {}

    def write(self, batch: pa.RecordBatch) -> None:
        """Add records. Raises OptionError, OSError, and ValueError for what cannot be encoded."""
        for topic, rows in self._by_topic(batch):
            self._write_topic(topic, rows)

    def finish(self) -> list[Staged]:
        return [writer.stage() for _, writer in sorted(self._writers.items())]

    def abort(self) -> None:
        for writer in self._writers.values():
            writer.abort()

    def _by_topic(self, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        if self._options.topic is not None:
            yield self._options.topic, batch
            return
        topics = batch.column("topic")
        if topics.null_count:
            raise OptionError("a record has no topic: its column is null")
        distinct = topics.dictionary_encode()
        codes = distinct.indices.to_numpy()
        for code, topic in enumerate(distinct.dictionary.to_pylist()):
            rows = np.flatnonzero(codes == code)
            yield topic, batch if len(rows) == len(codes) else batch.take(pa.array(rows))

    def _write_topic(self, topic: str, rows: pa.RecordBatch) -> None:
        if not rows.num_rows:
            return
        known = self._counts.get(topic, self._options.partitions)
        chosen = partitions_of(_keys(rows), _given(rows), known or 1, self._turn)
        self._turn += rows.num_rows
        least, most = int(chosen.min()), int(chosen.max())
        if least < 0 or (known is not None and most >= known):
            has = f"it has {known}" if known else "they begin with 0"
            raise OptionError(f"{topic} has no partition {least if least < 0 else most}: {has}")
        data = rows.select([name for name in _WRITTEN if name in rows.schema.names])
        for partition in np.unique(chosen).tolist():
            which = np.flatnonzero(chosen == partition)
            part = data if len(which) == rows.num_rows else data.take(pa.array(which))
            self._writer(topic, partition).write(part)

    def _writer(self, topic: str, partition: int) -> _Buffered:
        writer = self._writers.get((topic, partition))
        if writer is None:
            writer = _Buffered(self._root, topic, partition, self._options, self._naming)
            self._writers[topic, partition] = writer
        return writer


class _Buffered:
    """One partition's writer. It waits for enough records to fill a batch."""

    def __init__(
        self, root: str, topic: str, partition: int, options: WriteOptions, naming: str
    ) -> None:
        self._records_max = options.records_in_batch
        os.makedirs(root, exist_ok=True)
        self._writer = SegmentWriter(
            *(root, topic, partition),
            codec=options.codec,
            records_in_batch=options.records_in_batch,
            segment_bytes=options.segment_bytes,
            naming=naming,
        )
        self._waiting: list[pa.RecordBatch] = []

    def write(self, records: pa.RecordBatch) -> None:
        self._waiting.append(records)
        rows = sum(each.num_rows for each in self._waiting)
        if rows >= self._records_max or sum(each.nbytes for each in self._waiting) >= BATCH_BYTES:
            self._flush()

    def stage(self) -> Staged:
        self._flush()
        return self._writer.stage()

    def abort(self) -> None:
        self._writer.abort()

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write(pa.Table.from_batches(self._waiting).combine_chunks())
            self._waiting = []


def _keys(rows: pa.RecordBatch) -> pa.Array:
    if "key" not in rows.schema.names:
        return pa.nulls(rows.num_rows, pa.binary())
    return rows.column("key").cast(pa.binary())


def _given(rows: pa.RecordBatch) -> pa.Array | None:
    return rows.column("partition") if "partition" in rows.schema.names else None
