"""A sink: tasks stage segments (staging.py), the driver commits them (commit.py).

The driver handles names and counts, never records. Tasks are given Arrow batches: Spark 4.0 hands
them to a stream's writer too if it is one for batches as well, later versions have a class for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
import pyspark.sql.datasource as api
from pyspark import TaskContext

from ..segments.writer import Staged
from .commit import Job, commit, partition_counts
from .options import WriteOptions
from .staging import Stage, check_columns

_STREAM_BASES: Final[tuple[Any, ...]] = (
    (api.DataSourceStreamArrowWriter,)
    if hasattr(api, "DataSourceStreamArrowWriter")
    else (api.DataSourceStreamWriter, api.DataSourceArrowWriter)
)


class Written(api.WriterCommitMessage):  # type: ignore[misc]
    """The segments that one task has staged, for which job."""

    def __init__(self, job: Job, staged: list[Staged]) -> None:
        self.job = job
        self.staged = staged


class _Writer:
    def __init__(self, options: WriteOptions, types: Mapping[str, str]) -> None:
        check_columns(types, options)
        self._options = options
        self._counts = partition_counts(options.path)

    def _stage(self, batches: Iterator[pa.RecordBatch], job: Job) -> Written:
        turn = TaskContext.get().partitionId()
        stage = Stage(job.staging, self._options, self._counts, turn)
        try:
            for batch in batches:
                stage.write(batch)
            return Written(job, stage.finish())
        except BaseException:
            stage.abort()
            raise

    def _commit(self, messages: Sequence[Written | None], batch: int | None = None) -> None:
        written = [message for message in messages if message is not None]
        staged = [each for message in written for each in message.staged]
        for job in {message.job for message in written}:
            commit(job, staged, batch, self._options.partitions)


class BatchWriter(_Writer, api.DataSourceArrowWriter):  # type: ignore[misc]
    """Appends once to a data directory."""

    def __init__(self, options: WriteOptions, types: Mapping[str, str]) -> None:
        super().__init__(options, types)
        self._job = Job(options.path, uuid4().hex)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Stage one task's records."""
        return self._stage(iterator, self._job)

    def commit(self, messages: list[Written | None]) -> None:
        self._commit(messages)

    def abort(self, messages: list[Written | None]) -> None:
        self._job.discard()


class StreamWriter(_Writer, *_STREAM_BASES):  # type: ignore[misc]
    """Appends each batch of a stream to a data directory, once, whatever is repeated."""

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Stage one task's records of one batch, under the query's id."""
        query = TaskContext.get().getLocalProperty("sql.streaming.queryId")
        return self._stage(iterator, Job(self._options.path, query.replace("-", "")))

    def commit(self, messages: list[Written | None], batchId: int) -> None:
        """Make the batch visible, unless it is already."""
        self._commit(messages, batchId)

    def abort(self, messages: list[Written | None], batchId: int) -> None:
        """Leave nothing. A task that failed has removed its own segments."""
        for job in {message.job for message in messages if message is not None}:
            job.discard()
