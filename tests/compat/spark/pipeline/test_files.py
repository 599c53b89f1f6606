"""Files as records: each format, each way to name columns, each way to cut a file."""

from __future__ import annotations

import base64
import datetime
import gzip
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from odradek.compat.spark.pipeline import files as files_module
from odradek.compat.spark.pipeline import rows as rows_module
from odradek.compat.spark.pipeline.errors import PipelineError
from odradek.compat.spark.pipeline.files import Files
from odradek.compat.spark.pipeline.mapping import Columns
from odradek.compat.spark.pipeline.rows import json_bytes, open_field
from odradek.compat.spark.segments.listing import PlaceError
from odradek.compat.spark.segments.schema import RECORD_COLUMNS, SCHEMA
from odradek.compat.spark.segments.wanted import Wanted

ROWS = [{"id": number, "name": f"n{number}", "ok": number % 2 == 0} for number in range(10)]


def records(
    path: Path | str, columns: Columns | None = None, wanted: Wanted | None = None
) -> list[dict[str, Any]]:
    found = Files.at([str(path)]).with_columns(columns or Columns())
    return [
        row
        for split in found.splits()
        for batch in split.read(wanted or Wanted(columns=RECORD_COLUMNS))
        for row in batch.to_pylist()
    ]


def values(path: Path | str, columns: Columns | None = None) -> list[bytes | None]:
    return [row["value"] for row in records(path, columns)]


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def of_format(format: str, folder: Path) -> Path:
    path = folder / f"orders.{format}"
    table = pa.Table.from_pylist(ROWS)
    if format == "parquet":
        pa.parquet.write_table(table, path, row_group_size=3)
    elif format == "csv":
        pa.csv.write_csv(table, path)
    elif format == "jsonl":
        lines(path, *ROWS)
    else:
        fields = [
            {"name": n, "type": t}
            for n, t in zip(ROWS[0], ("long", "string", "boolean"), strict=True)
        ]
        with path.open("wb") as file:
            fastavro.writer(file, {"type": "record", "name": "row", "fields": fields}, ROWS)
    return path


@pytest.mark.parametrize("format", ["parquet", "csv", "jsonl", "avro"])
def test_a_row_is_a_value_of_json_and_a_column_a_key(format: str, tmp_path: Path) -> None:
    found = records(of_format(format, tmp_path), Columns(key="id"))
    assert [row["key"] for row in found] == [str(number).encode() for number in range(10)]
    assert {row["topic"] for row in found} == {"orders"}
    first = json.loads(found[0]["value"])
    if format == "csv":  # has nothing but text
        assert first == {"id": "0", "name": "n0", "ok": "true"}
    else:
        assert first == ROWS[0]


@pytest.mark.parametrize("format", ["parquet", "csv", "jsonl", "avro"])
def test_a_column_can_be_the_value(format: str, tmp_path: Path) -> None:
    path = of_format(format, tmp_path)
    assert values(path, Columns(value="name"))[:2] == [b"n0", b"n1"]
    with pytest.raises(PipelineError, match="there is no column size, but id, name, ok"):
        values(path, Columns(value="size"))


def test_a_row_of_csv_is_the_same_json_as_any_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('n,"a ""b""",n\n1,"é\n\\",2\n,"",\n')
    assert values(path) == [
        json_bytes({"n": "2", 'a "b"': "é\n\\"}),
        json_bytes({"n": None, 'a "b"': ""}),
    ]
    path.write_text('n,"a ""b"""\n1,"é\n\\"\n,""\n')
    assert values(path) == [
        json_bytes({"n": "1", 'a "b"': "é\n\\"}),
        json_bytes({"n": None, 'a "b"': ""}),
    ]


@pytest.mark.parametrize(
    "keys",
    [
        ["a", None, "é"],
        [1, None, 2**63 - 1],
        [2**70, 1],
        [1, "1", True, None, 1.5, {"x": 1}, ["é"], ""],
        [True, False],
        [None, None],
    ],
)
def test_a_key_is_text_or_its_json(keys: list[Any], tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", *({"k": key} for key in keys))
    found = [row["key"] for row in records(path, Columns(key="k"))]
    assert found == [
        None if key is None else key.encode() if isinstance(key, str) else json_bytes(key)
        for key in keys
    ]


@pytest.mark.parametrize(
    "line", [b'{"a": 1} x', b'{"a": 1}{', b'{"a": "\xff"}', b'{"a"', b"nope", b'{"a": "\\q"}']
)
def test_a_line_that_is_no_json_is_reported_in_the_words_of_json(
    line: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(line + b"\n")
    with pytest.raises(ValueError) as expected:  # noqa: PT011 -- of json's many kinds, its text
        json.loads(line)
    with pytest.raises(PipelineError) as raised:
        records(path)
    shown = line.decode(errors="replace")
    why = getattr(expected.value, "msg", expected.value)
    assert str(raised.value).endswith(f"line at byte 0: no JSON object: {shown}: {why}")


def test_a_time_that_is_a_truth_value_is_refused(tmp_path: Path) -> None:
    for times in ([True], [5, True], [2**70]):
        path = lines(tmp_path / "a.jsonl", *({"t": time} for time in times))
        with pytest.raises((PlaceError, PipelineError)):
            records(path, Columns(timestamp="t"))


def test_a_line_of_json_is_the_value_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"b": 1,  "a":"\\u00e9"}\r\n\n{"c":[]}')
    assert values(path) == [b'{"b": 1,  "a":"\\u00e9"}', b'{"c":[]}']


def test_files_of_records_are_records(tmp_path: Path) -> None:
    row = {
        "key_base64": base64.b64encode(b"\xff\x00").decode(),
        "value": "text",
        "partition": 3,
        "offset": 41,
        "timestamp": 1_700_000_000_123,
        "headers": [{"key": "h", "value_base64": "AA=="}, {"key": "n", "value": None}],
    }
    tombstone = {"key": "k", "value": None, "partition": 0, "offset": 42, "timestamp": None}
    found = records(lines(tmp_path / "a.jsonl", row, tombstone))
    assert found[0] == {
        "key": b"\xff\x00",
        "value": b"text",
        "topic": "a",
        "partition": 3,
        "offset": 41,
        "timestamp": datetime.datetime(2023, 11, 14, 22, 13, 20, 123000, tzinfo=datetime.UTC),
        "timestampType": None,
        "headers": [{"key": "h", "value": b"\x00"}, {"key": "n", "value": None}],
    }
    assert (found[1]["key"], found[1]["value"], found[1]["timestamp"]) == (b"k", None, None)


def test_a_row_with_a_value_among_other_columns_is_a_row(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {"value": 3, "unit": "kg"})
    assert values(path) == [b'{"value": 3, "unit": "kg"}']


def test_what_json_has_no_form_for_is_text(tmp_path: Path) -> None:
    moment = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
    table = pa.table(
        {"b": [b"\xff"], "d": [Decimal("1.50")], "t": [moment], "f": [float("nan")], "n": [None]}
    )
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    (value,) = values(tmp_path / "a.parquet")
    assert value == (b'{"b":"/w==","d":"1.50","t":"2026-01-02T03:04:05+00:00","f":"nan","n":null}')
    keys = [
        records(tmp_path / "a.parquet", Columns(key=name))[0]["key"]
        for name in ("b", "d", "t", "n")
    ]
    assert keys == [b"\xff", b"1.50", b"2026-01-02T03:04:05+00:00", None]


@pytest.mark.parametrize("size", [1, 1000])
def test_lines_may_lack_columns(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In some parts of the file there may be none of a column at all."""
    monkeypatch.setattr(files_module, "SPLIT_BYTES", size)
    row = {"k": "a", "p": 1, "t": 5, "h": {"x": "y"}}
    path = lines(tmp_path / "a.jsonl", row, {}, {"k": "b"})
    found = records(path, Columns(key="k", partition="p", timestamp="t", headers="h"))
    assert [row["key"] for row in found] == [b"a", None, b"b"]
    assert [row["partition"] for row in found] == [1, 0, 0]
    assert [row["headers"] is None for row in found] == [False, True, True]
    assert [row["timestamp"] is None for row in found] == [False, True, True]


def test_times_are_milliseconds_or_iso(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {"t": 1500}, {"t": "1500"}, {"t": "1970-01-01T00:00:01.5"})
    found = records(path, Columns(timestamp="t"))
    assert {row["timestamp"].timestamp() for row in found} == {1.5}
    with pytest.raises(PlaceError, match=r"a.jsonl: .*'soon'"):
        records(lines(tmp_path / "a.jsonl", {"t": "soon"}), Columns(timestamp="t"))


def test_headers_may_be_an_object_or_text(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {"h": {"a": "1"}}, {"h": '{"a": "1"}'}, {"h": None}, {})
    found = [row["headers"] for row in records(path, Columns(headers="h"))]
    assert found == [[{"key": "a", "value": b"1"}]] * 2 + [None] * 2


@pytest.mark.parametrize("size", [1, 7, 30, 1000])
def test_ranges_of_json_lines_have_each_line_once(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_module, "SPLIT_BYTES", size)
    monkeypatch.setattr(rows_module, "CHUNK_BYTES", 11)
    path = lines(tmp_path / "a.jsonl", *ROWS)
    assert values(path) == path.read_bytes().splitlines()


@pytest.mark.parametrize("size", [1, 1000])
def test_row_groups_have_each_row_once(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_module, "SPLIT_BYTES", size)
    path = of_format("parquet", tmp_path)
    assert len(Files.at([str(path)]).splits()) == (4 if size == 1 else 1)
    assert [json.loads(value or b"")["id"] for value in values(path)] == list(range(10))


def test_compressed_lines_and_folders(tmp_path: Path) -> None:
    folder = tmp_path / "in" / "day=1"
    folder.mkdir(parents=True)
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(b'{"a":1}\n{"a":2}\n'))
    lines(tmp_path / "in" / "day=1" / "a.jsonl", {"a": 0})
    (tmp_path / "in" / "_SUCCESS").touch()
    (tmp_path / "in" / ".part.jsonl").write_text("half")
    assert values(tmp_path / "in") == [b'{"a": 0}', b'{"a":1}', b'{"a":2}']


def test_an_empty_field_of_csv_is_null_and_a_quoted_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('key,value\n,""\n"",\nNULL,"a\nb"\n')
    found = [(row["key"], row["value"]) for row in records(tmp_path / "a.csv")]
    assert found == [(None, b""), (b"", None), (b"NULL", b"a\nb")]


def test_what_is_wanted_of_offsets_times_and_outcomes_holds(tmp_path: Path) -> None:
    rows = [
        {"value": str(n), "offset": n, "timestamp": 1000 * n, "outcome": outcome, "control": n == 4}
        for n, outcome in enumerate(["none", "committed", "aborted", "open", "committed", "none"])
    ]
    path = lines(tmp_path / "a.jsonl", *rows)

    def seen(**wanted: Any) -> list[int]:
        return [row["offset"] for row in records(path, wanted=Wanted(**wanted))]

    assert seen() == [0, 1, 5]
    assert seen(isolation="read_uncommitted") == [0, 1, 2, 3, 5]
    assert seen(isolation="read_uncommitted", control=True) == [0, 1, 2, 3, 4, 5]
    assert seen(start_offset=1, end_offset=5) == [1]
    assert seen(start_ms=1000, end_ms=5000) == [1]


def test_the_columns_are_those_of_segments(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {"value": "1", "codec": "gzip", "crcOk": True})
    (split,) = Files.at([str(path)]).splits()
    (batch,) = split.read(Wanted())
    assert batch.schema == SCHEMA
    assert batch.to_pylist()[0]["codec"] == "gzip"
    assert batch.to_pylist()[0]["crcOk"] is True


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonl", '{"a":1}\n[2]\n', r"^[^:]+a.jsonl, line at byte 8: no JSON object: \[2\]$"),
        ("a.jsonl", "\ufeff \n\n{}\r\n\n 5\n{}", r"line at byte 11: no JSON object: 5$"),
        ("a.jsonl", '{"a":\n', 'no JSON object: {"a":: Expecting value$'),
        ("a.parquet", "PAR", "a.parquet cannot be read as parquet"),
        ("a.avro", "Obj", "a.avro cannot be read as avro"),
        ("a.csv", "a,b\n1\n", "a.csv cannot be read as csv"),
        ("a.csv", 'a,b\n1,"x\n2,y\n', "a.csv: ends within a quoted field that begins at line 2$"),
        ("a.csv", 'a,b\n1,"', "a.csv: ends within a quoted field that begins at line 2$"),
    ],
)
def test_a_file_that_is_not_what_it_says_is_named(
    name: str, text: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises((PipelineError, PlaceError), match=said):
        records(tmp_path / name)


def test_the_byte_of_a_broken_line_is_its_own_in_later_chunks_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_module, "CHUNK_BYTES", 11)
    path = lines(tmp_path / "a.jsonl", *ROWS)
    byte = path.stat().st_size
    path.write_bytes(path.read_bytes() + b"{}\nbroken\n{}\n")
    with pytest.raises(PipelineError, match=f"line at byte {byte + 3}: no JSON object: broken"):
        records(path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,b\n1,"x', 2),
        ('a,b\n1,"x\n\n', 2),
        ('a,b\n"1\n\n2",3\n4,"x""\n', 5),
        ('\ufeff"a\n', 1),
        ('"a\n", "b", "\n', None),  # a quote after a blank begins no quoted field
        ('a,b\n1,"x"', None),
        ('a,b\n1,5" pipe', None),
        ('a,b\n1,"x\n"\n', None),
        ('a,b\n1,""""', None),
        ('a\r"b""\r"\rc', None),
        ('a\r"b\r"",\rc', 1),
        ("a,b", None),
        ("", None),
    ],
)
def test_a_quoted_field_that_does_not_end_is_found(text: str, line: int | None) -> None:
    assert open_field(io.BytesIO(text.encode())) == line


@pytest.mark.parametrize("is_compressed", [False, True])
def test_csv_that_was_cut_off_within_quotes_is_refused_before_its_last_rows(
    is_compressed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_module, "CHUNK_BYTES", 40)
    whole = "a,b\n" + "".join(f'{n},"x\ny"\n' for n in range(50))
    path = tmp_path / ("a.csv.gz" if is_compressed else "a.csv")
    for end in ("", "\n"):
        text = (whole[:-3] + end).encode()
        path.write_bytes(gzip.compress(text) if is_compressed else text)
        with pytest.raises(PipelineError, match=r"a quoted field that begins at line 100$"):
            records(path)
    text = whole[:-1].encode()
    path.write_bytes(gzip.compress(text) if is_compressed else text)
    assert len(records(path)) == 50


def test_a_place_of_files_is_checked(tmp_path: Path) -> None:
    with pytest.raises(PlaceError, match="no such file"):
        Files.at([str(tmp_path / "a.csv")])
    (tmp_path / "a.txt").touch()
    with pytest.raises(PlaceError, match="--format"):
        Files.at([str(tmp_path / "a.txt")])
    with pytest.raises(PlaceError, match="no file with an ending"):
        Files.at([str(tmp_path)])
    assert Files.at([str(tmp_path / "a.txt")], "csv").paths == ((str(tmp_path / "a.txt"), "csv"),)
