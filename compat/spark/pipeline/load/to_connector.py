"""Into topics through Spark's stock Kafka sink.

The pieces become records as everywhere, in Parquet files beside the state file; Spark reads these
and writes them. So rows go from tasks to tasks, and nothing but pyspark is needed.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from ...segments.schema import schema_of
from ..broker import Cluster
from ..engine import SparkEngine
from ..files import FileSplit
from ..topics import Topics
from .to_topics import New

_COLUMNS = ("key", "value", "topic", "partition", "headers")


def write_with_connector(
    options: argparse.Namespace,
    topics: Topics,
    splits: Sequence[FileSplit],
    engine: SparkEngine,
    folder: Path,
) -> int:
    """Write all pieces, by way of this folder; return how many records they have."""
    if topics.topic is not None:
        with Cluster(topics.addresses) as cluster:
            New.of(options).partitions_of(cluster, topics.topic)
    folder.mkdir(parents=True)
    try:
        rows = sum(count for _, count in engine.run(_Stage(str(folder)), list(enumerate(splits))))
        if rows:
            _write(options, topics, engine, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return rows


def _write(options: argparse.Namespace, topics: Topics, engine: SparkEngine, folder: Path) -> None:
    records = engine.session.read.parquet(str(folder))
    writing = records.write.format("kafka").option("kafka.bootstrap.servers", topics.addresses)
    writing = writing.option("kafka.compression.type", options.codec)
    if topics.topic is not None:
        writing = writing.option("topic", topics.topic)
    writing.save()


@dataclass(frozen=True)
class _Stage:
    """The task: one piece as a Parquet file of what the sink takes."""

    folder: str

    def __call__(self, piece: tuple[int, FileSplit]) -> int:
        number, split = piece
        path = os.path.join(self.folder, f"{number:05}.parquet")
        rows = 0
        with pa.parquet.ParquetWriter(path, schema_of(_COLUMNS)) as writer:
            for records in split.records():
                rows += records.num_rows
                writer.write_batch(records.select(_COLUMNS))
        return rows
