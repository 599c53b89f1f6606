"""Rows of files as they are there: Parquet, JSON Lines, CSV, Avro containers.

`columns` of `Rows` are Arrow arrays where the file has a schema of its own; else lists of Python
values, as the rows of JSON Lines may differ. CSV has nothing but text: an empty field without
quotes is null. `as_json` is the whole row: of JSON Lines the line itself, byte for byte.

CSV that ends within a quoted field, as a file does that was cut off.

Arrow takes the end of the file for the end of the field. The last field of the last row tells
whether to suspect that: the file ends with a quote and what is in that field. Only then it is
looked through.
"""

from __future__ import annotations

import base64
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from json.encoder import encode_basestring
from json.scanner import make_scanner
from typing import Any, BinaryIO, TypeAlias, cast

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from .errors import PipelineError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_READ_BYTES = 2 << 20
_OPENS = re.compile(rb'(?:^|[,\r])"')
_CLOSES = re.compile(rb'[^"]*(?:""[^"]*)*(")?')


def may_be_open(last: pa.RecordBatch | None, file: BinaryIO) -> bool:
    """Whether the file may end within quotes, judged by its last rows; None: it has none."""
    if last is None or not last.num_rows:
        return True
    field = last.column(last.num_columns - 1)[-1].as_py() or ""
    raw = b'"' + field.replace('"', '""').encode()
    return _tail(file, len(raw)) == raw


def _tail(file: BinaryIO, size: int) -> bytes:
    """The last bytes of a file; one that is compressed is read for that."""
    if file.seekable():
        file.seek(-min(size, file.seek(0, 2)), 2)
        return file.read()
    tail = b""
    while data := file.read(_READ_BYTES):
        tail = (tail + data)[-size:]
    return tail


def open_field(lines: Iterable[bytes]) -> int | None:
    """The number of the line, from 1, at which a quoted field begins that does not end."""
    begins: int | None = None
    for number, line in enumerate(lines, 1):
        text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
        begins = _after(text, number, begins)
    return begins


def _after(line: bytes, number: int, begins: int | None) -> int | None:
    """Where the field begins that is open at the end of this line, if one is."""
    at = 0
    while True:
        if begins is None:
            found = _OPENS.search(line, at)
            if found is None:
                return None
            begins, at = number, found.end()
        closed = _CLOSES.match(line, at)
        if closed is None or closed[1] is None:
            return begins
        begins, at = None, closed.end()


CHUNK_ROWS = 65_536
CHUNK_BYTES = 2 << 20
COMPRESSED = (".gz", ".bz2", ".zst")
"""Endings of files that are expanded while they are read, and thus in one piece."""
_SHOWN = 60
_BLANKS = b" \t\r"

Column: TypeAlias = "pa.Array | list[Any]"


@dataclass(frozen=True)
class Rows:
    count: int
    columns: Mapping[str, Column]
    as_json: Callable[[], list[bytes]]


@dataclass(frozen=True)
class Range:
    """Which part of a file: bytes of JSON Lines, row groups of Parquet; the rest are read whole."""

    start: int = 0
    end: int | None = None


def read_rows(path: str, format: str, part: Range) -> Iterator[Rows]:
    """The rows of a part of a file. Raises PipelineError, which names the file, and OSError."""
    try:
        yield from _READERS[format](path, part)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError, EOFError) as error:
        raise PipelineError(f"{path} cannot be read as {format}: {error}") from error


def _parquet(path: str, part: Range) -> Iterator[Rows]:
    with pa.parquet.ParquetFile(path) as file:
        groups = range(part.start, file.num_row_groups if part.end is None else part.end)
        for batch in file.iter_batches(CHUNK_ROWS, row_groups=list(groups)):
            yield _of_batch(batch)


def _csv(path: str, part: Range) -> Iterator[Rows]:
    with pa.csv.open_csv(path, convert_options=pa.csv.ConvertOptions()) as first:
        names = first.schema.names
    convert = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    options = pa.csv.ReadOptions(block_size=CHUNK_BYTES)
    parse = pa.csv.ParseOptions(newlines_in_values=True)
    last: pa.RecordBatch | None = None
    with pa.csv.open_csv(
        path, read_options=options, parse_options=parse, convert_options=convert
    ) as file:
        for batch in file:
            if last is not None:
                yield _of_texts(last)
            last = batch
    _refuse_open_field(path, last)
    if last is not None:
        yield _of_texts(last)


def _refuse_open_field(path: str, last: pa.RecordBatch | None) -> None:
    """Raises PipelineError if a file of CSV, which has these last rows, ends within quotes."""
    with _opened(path) as file:
        if not may_be_open(last, file):
            return
    with _opened(path) as file:
        line = open_field(file)
    if line is not None:
        raise PipelineError(f"{path}: ends within a quoted field that begins at line {line}")


def _of_texts(batch: pa.RecordBatch) -> Rows:
    """Rows with nothing but texts and nulls: their JSON is made column by column."""
    rows = _of_batch(batch)
    if len(rows.columns) < batch.num_columns:  # two of one name
        return rows

    def as_json() -> list[bytes]:
        columns = zip(batch.schema.names, batch.columns, strict=True)
        fields = [_fields(name, column.to_pylist()) for name, column in columns]
        return [f"{{{','.join(row)}}}".encode() for row in zip(*fields, strict=True)]

    return Rows(rows.count, rows.columns, as_json)


def _fields(name: str, texts: list[str | None]) -> list[str]:
    start = encode_basestring(name) + ":"
    return [start + ("null" if text is None else encode_basestring(text)) for text in texts]


def _of_batch(batch: pa.RecordBatch) -> Rows:
    def as_json() -> list[bytes]:
        return [json_bytes(row) for row in batch.to_pylist()]

    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    return Rows(batch.num_rows, columns, as_json)


def _avro(path: str, part: Range) -> Iterator[Rows]:
    import fastavro

    with open(path, "rb") as file:
        chunk: list[Mapping[str, Any]] = []
        for row in fastavro.reader(file):
            if not isinstance(row, dict):
                raise ValueError("its schema is no record")
            chunk.append(row)
            if len(chunk) == CHUNK_ROWS:
                yield _of_objects(chunk)
                chunk = []
        if chunk:
            yield _of_objects(chunk)


def _of_objects(rows: Sequence[Mapping[str, Any]], lines: list[bytes] | None = None) -> Rows:
    columns = _ColumnsOfObjects(rows)
    return Rows(len(rows), columns, lambda: lines or [json_bytes(row) for row in rows])


class _ColumnsOfObjects(Mapping[str, Column]):
    """The columns of objects: a list is made of one that is asked for."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._rows = rows
        shapes = dict.fromkeys(map(tuple, rows))  # few, mostly one
        self._names = dict.fromkeys(name for shape in shapes for name in shape)

    def __getitem__(self, name: str) -> Column:
        if name not in self._names:
            raise KeyError(name)
        return [row.get(name) for row in self._rows]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _json_lines(path: str, part: Range) -> Iterator[Rows]:
    for position, data in _whole_lines(path, part):
        lines = [line for each in data.split(b"\n") if (line := each.strip(_BLANKS))]
        rows: list[Mapping[str, Any]] = []
        for line in lines:
            why = ""
            try:
                row = _parsed(line)
            except ValueError as error:
                row, why = None, f": {getattr(error, 'msg', str(error))}"
            if not isinstance(row, dict):
                at = position + _start_of(data, len(rows))
                raise _no_object(path, at, line, why)
            rows.append(row)
        if lines:
            yield _of_objects(rows, lines)


def _start_of(data: bytes, number: int) -> int:
    """Where the line of this number begins, from 0, of those that are not blank."""
    at = 0
    for line in data.split(b"\n"):
        if line.strip(_BLANKS):
            if not number:
                break
            number -= 1
        at += len(line) + 1
    return at


def _parsed(line: bytes) -> Any:
    """A line of JSON, as `json.loads` reads it, in two thirds of the time. Raises ValueError."""
    try:
        text = line.decode()
        found, end = _SCAN(text, 0)
    except (ValueError, StopIteration):
        return json.loads(line)  # which says what is wrong
    return found if end == len(text) else json.loads(line)


def _no_object(path: str, position: int, line: bytes, why: str = "") -> PipelineError:
    text = line.decode(errors="replace")
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return PipelineError(f"{path}, line at byte {position}: no JSON object: {shown}{why}")


def _whole_lines(path: str, part: Range) -> Iterator[tuple[int, bytes]]:
    """The lines that begin in a range of bytes, some at a time, with the position of the first."""
    with _opened(path) as file:
        position = part.start
        if part.start:  # the line in the middle of which the range begins is the one before's
            file.seek(part.start - 1)
            position += len(file.readline()) - 1
        while part.end is None or position < part.end:
            wanted = CHUNK_BYTES if part.end is None else min(CHUNK_BYTES, part.end - position)
            data = file.read(wanted)
            if not data:
                return
            if not data.endswith(b"\n"):
                data += file.readline()
            mark = BYTE_ORDER_MARK if position == 0 and data.startswith(BYTE_ORDER_MARK) else b""
            yield position + len(mark), data[len(mark) :] if mark else data
            position += len(data)


def _opened(path: str) -> BinaryIO:
    if not path.endswith(COMPRESSED):
        return open(path, "rb")
    # The stubs have it that only Python's own raw files can be buffered.
    return cast(BinaryIO, io.BufferedReader(cast(Any, pa.input_stream(path)), CHUNK_BYTES))


_READERS: dict[str, Callable[[str, Range], Iterator[Rows]]] = {
    "parquet": _parquet,
    "jsonl": _json_lines,
    "csv": _csv,
    "avro": _avro,
}


def json_bytes(value: Any) -> bytes:
    """A value as JSON in UTF-8, without blanks. What JSON has no form for is text: bytes in base64,
    times in ISO 8601, decimals, and numbers that are not finite."""
    try:
        text = _ENCODE(value)
    except ValueError:
        text = _ENCODE(_finite(value))
    return text.encode("utf-8", "surrogatepass")


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        return (value.astimezone(UTC) if value.tzinfo else value).isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)


_SCAN = make_scanner(cast(Any, json.JSONDecoder()))
_ENCODE = json.JSONEncoder(
    default=_plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False
).encode


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
