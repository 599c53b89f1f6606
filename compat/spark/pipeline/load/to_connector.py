"""Into topics through Spark's stock Kafka sink.

The pieces become records as everywhere, in Parquet files beside the state file; Spark reads these
and writes them. So rows go from tasks to tasks, and nothing but pyspark is needed.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
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

_PARTS = ".parts"
_LOCK = ".lock"  # Spark passes over files whose names begin with a dot
_COLUMNS = ("key", "value", "topic", "partition", "headers")


def write_with_connector(
    options: argparse.Namespace,
    topics: Topics,
    splits: Sequence[FileSplit],
    engine: SparkEngine,
    state: Path,
) -> int:
    """Write all pieces, by way of a folder beside this file; return how many records they have."""
    if topics.topic is not None:
        with Cluster(topics.addresses) as cluster:
            New.of(options).partitions_of(cluster, topics.topic)
    with _parts(state) as folder:
        rows = sum(count for _, count in engine.run(_Stage(str(folder)), list(enumerate(splits))))
        if rows:
            _write(options, topics, engine, folder)
    return rows


@contextmanager
def _parts(state: Path) -> Iterator[Path]:
    """A new folder beside the state file, which is removed at the end. Those of loads that were
    killed are removed first: nobody holds the lock in them."""
    for left in state.parent.glob(f"*{_PARTS}"):
        with suppress(OSError), open(left / _LOCK, "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
    folder = state.with_suffix(f".{os.getpid()}{_PARTS}")
    new = folder.with_suffix(".new")  # until it is locked
    new.mkdir(parents=True)
    with open(new / _LOCK, "xb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        new.rename(folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


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
