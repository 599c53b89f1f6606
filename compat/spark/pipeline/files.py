"""Files as a place: Parquet, JSON Lines, CSV, Avro containers; one, several, or folders of them.

Files whose names begin with a dot or an underscore are left out, as by Spark. A file is cut into
row groups (Parquet) or ranges of bytes (JSON Lines); CSV, whose fields may have newlines, Avro and
compressed files are one piece each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from ..segments.listing import PlaceError
from ..segments.schema import COMMITTED, NONE, OUTCOMES, schema_of
from ..segments.wanted import Wanted
from .errors import PipelineError
from .mapping import BY_NAME, Columns, is_of_records, to_records
from .rows import COMPRESSED, Range, Rows, read_rows
from .splits import Offsets

ENDINGS = {
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".avro": "avro",
}
FORMATS = ("parquet", "jsonl", "csv", "avro")
SPLIT_BYTES = 32 << 20
_NAMES_BYTES = 1 << 20


def format_of(name: str) -> str | None:
    """The format that a file's name tells."""
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return ENDINGS.get(os.path.splitext(name.rstrip("/"))[1].lower())


def files_in(path: str) -> Iterator[str]:
    """The files below a folder, in order, without hidden ones."""
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        yield from (os.path.join(folder, name) for name in sorted(names) if name[0] not in "._")


@dataclass(frozen=True)
class FileSplit:
    path: str
    format: str
    part: Range
    size: int
    columns: Columns = BY_NAME
    """Which columns make up a record."""
    topic: str = ""
    """Of records without one."""

    @property
    def name(self) -> str:
        first, end = self.part.start, self.part.end
        if not first and end is None:
            return self.path
        return f"{self.path} ({first} to {'its end' if end is None else end})"

    @property
    def origin(self) -> str:
        """Where its records come from: the file, if they are counted from its beginning."""
        return self.name if self.part.start else self.path

    def records(self) -> Iterator[pa.RecordBatch]:
        """All its rows as records, with nulls where the file says nothing."""
        columns: Columns | None = None
        for rows in read_rows(self.path, self.format, self.part):
            columns = columns or self._columns(rows)
            yield self._to_records(rows, columns)

    def beginning(self) -> tuple[Columns, pa.RecordBatch | None] | None:
        """Which columns make up its records, and the first records, if its columns are those of
        records; None without a row."""
        for rows in read_rows(self.path, self.format, self.part):
            if rows.count:
                columns = self._columns(rows)
                is_plain = is_of_records(self._names(rows))
                return columns, self._to_records(rows, columns) if is_plain else None
        return None

    def has_records(self) -> bool:
        """Whether its columns are those of records, as of an export."""
        first = next(read_rows(self.path, self.format, self.part), None)
        return first is not None and is_of_records(self._names(first))

    def _columns(self, first: Rows) -> Columns:
        names = self._names(first)
        try:
            return self.columns.of(names)
        except PipelineError as error:
            raise PipelineError(f"{self.path}: {error}") from None

    def _to_records(self, rows: Rows, columns: Columns) -> pa.RecordBatch:
        try:
            return to_records(rows, columns)
        except (ValueError, KeyError, OverflowError) as error:
            raise PlaceError(f"{self.path}: {error}") from error

    def first_records(self) -> pa.RecordBatch | None:
        """Some of the records it begins with; None if it has none."""
        part = self.part
        if self.format == "jsonl":  # of the others a piece is read at a time
            end = part.start + _NAMES_BYTES
            part = Range(part.start, end if part.end is None else min(end, part.end))
        return next(replace(self, part=part).records(), None)

    def _names(self, first: Rows) -> list[str]:
        """The columns of the file; of JSON Lines those of its beginning: all parts agree."""
        if self.format == "jsonl":
            first = next(read_rows(self.path, self.format, Range(0, _NAMES_BYTES)), first)
        return list(first.columns)

    def read(self, wanted: Wanted) -> Iterator[pa.RecordBatch]:
        """Its records, of partition 0 and the file's topic unless it says so; what is asked of
        offsets, times and transactions holds for what the file has of them."""
        schema = schema_of(wanted.columns)
        for batch in self.records():
            batch = batch.filter(_mask(batch, wanted))
            topic = pc.fill_null(batch["topic"], self.topic)
            partition = pc.fill_null(batch["partition"], pa.scalar(0, pa.int32()))
            batch = batch.set_column(2, "topic", topic).set_column(3, "partition", partition)
            yield batch.select(schema.names).cast(schema)


def _mask(batch: pa.RecordBatch, wanted: Wanted) -> pa.Array:
    mask: Any = pa.array(np.ones(batch.num_rows, np.bool_))
    offset = batch["offset"]
    ms = batch["timestamp"].cast(pa.timestamp("ms", "UTC"), safe=False).cast(pa.int64())
    tests = [
        (wanted.start_offset, offset, pc.greater_equal),
        (wanted.end_offset, offset, pc.less),
        (wanted.start_ms, ms, pc.greater_equal),
        (wanted.end_ms, ms, pc.less),
    ]
    for bound, column, compare in tests:
        if bound is not None:
            mask = pc.and_(mask, pc.fill_null(compare(column, bound), False))
    if wanted.is_committed_only:
        seen = pa.array([OUTCOMES[NONE], OUTCOMES[COMMITTED]])
        outcome = batch["outcome"].cast(pa.string())
        mask = pc.and_(mask, pc.or_(pc.is_null(outcome), pc.is_in(outcome, value_set=seen)))
    if not wanted.control:
        mask = pc.and_(mask, pc.invert(pc.fill_null(batch["control"], False)))
    return mask


@dataclass(frozen=True)
class Files:
    text: str
    paths: tuple[tuple[str, str], ...]
    """Path and format of each."""
    columns: Columns = BY_NAME

    @classmethod
    def at(cls, texts: Sequence[str], format: str | None = None) -> Files:
        """Files, and those in folders. Raises PlaceError."""
        found = [each for text in texts for each in _found(text, format)]
        return cls(" ".join(texts), tuple((os.path.abspath(path), each) for path, each in found))

    def with_columns(self, columns: Columns) -> Files:
        """The same files, their records made of these columns."""
        return replace(self, columns=columns)

    def splits(
        self, wanted: Wanted | None = None, offsets: Offsets | None = None, run: Any = None
    ) -> list[FileSplit]:
        """The pieces. Raises PlaceError for offsets of partitions, which files cannot look up."""
        if offsets is not None and offsets != Offsets():
            raise PlaceError(f"{self.text}: offsets are those of topics and data directories")
        return [
            FileSplit(path, format, part, size, self.columns, Path(path).name.partition(".")[0])
            for path, format in self.paths
            for part, size in _parts(path, format)
        ]

    def partitions(self) -> list[tuple[str, int]]:
        """None but those that records name."""
        return []


def _found(text: str, format: str | None) -> Iterator[tuple[str, str]]:
    if os.path.isdir(text):
        inside = [(path, format or format_of(path)) for path in files_in(text)]
        known = [(path, each) for path, each in inside if each is not None]
        if not known:
            raise PlaceError(f"{text}: no file with an ending of {', '.join(ENDINGS)} in it")
        yield from known
        return
    if not os.path.exists(text):
        raise PlaceError(f"{text}: no such file or directory")
    named = format or format_of(text)
    if named is None:
        raise PlaceError(f"{text}: the name does not tell its format: --format {'|'.join(FORMATS)}")
    yield text, named


def _parts(path: str, format: str) -> Iterator[tuple[Range, int]]:
    size = os.path.getsize(path)
    if format == "parquet":
        yield from _row_groups(path)
    elif format == "jsonl" and not path.endswith(COMPRESSED):
        for start in range(0, size, SPLIT_BYTES) if size else [0]:
            end = min(start + SPLIT_BYTES, size)
            yield Range(start, end), end - start
    else:
        yield Range(), size


def _row_groups(path: str) -> Iterator[tuple[Range, int]]:
    """Neighbours are put together as long as they are small."""
    try:
        metadata = pa.parquet.read_metadata(path)
    except pa.ArrowInvalid as error:
        raise PlaceError(f"{path} cannot be read as parquet: {error}") from None
    start, size = 0, 0
    for group in range(metadata.num_row_groups):
        size += metadata.row_group(group).total_byte_size
        if size >= SPLIT_BYTES or group + 1 == metadata.num_row_groups:
            yield Range(start, group + 1), size
            start, size = group + 1, 0
