"""`odradek export`: each place, format and range; whole or not at all; both engines the same."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from odradek.compat.commands import main
from odradek.compat.spark.pipeline import export as export_module
from odradek.compat.spark.pipeline import topics as topics_module
from odradek.compat.spark.pipeline.engine import ArrowEngine
from odradek.compat.spark.pipeline.errors import PipelineError
from odradek.compat.spark.pipeline.places import place
from odradek.compat.spark.pipeline.state import State
from odradek.compat.spark.segments.schema import BATCH_COLUMNS, RECORD_COLUMNS
from odradek.compat.spark.segments.wanted import Wanted

from tests.compat.spark.pipeline.support import TIME, Filled

SPARK = pytest.param("spark", marks=pytest.mark.spark)
ALL = 303


def records(text: object, wanted: Wanted | None = None) -> list[dict[str, Any]]:
    asked = wanted or Wanted(columns=RECORD_COLUMNS)
    splits = place(str(text)).splits(asked)
    return [row for each in splits for batch in each.read(asked) for row in batch.to_pylist()]


def export(*arguments: object, status: int = 0) -> None:
    assert main(["export", *map(str, arguments)]) == status


@pytest.mark.parametrize("format", ["parquet", "jsonl", "csv"])
def test_what_is_exported_is_read_again_byte_for_byte(
    format: str, filled: Filled, tmp_path: Path
) -> None:
    out = tmp_path / f"out.{format}"
    export(filled.path, out)
    assert records(out) == records(filled.path)
    assert os.listdir(tmp_path) == [out.name]


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_all_keys_and_values_can_be_base64(format: str, filled: Filled, tmp_path: Path) -> None:
    out = tmp_path / f"out.{format}"
    export(filled.path, out, "--decode", "base64")
    assert records(out) == records(filled.path)
    if format == "csv":
        with out.open(newline="") as file:
            names = next(csv.reader(file))
        assert names[:2] == ["key_base64", "value_base64"]
    else:
        assert all(
            "key" not in json.loads(line) or line.startswith('{"key":null') for line in out.open()
        )


@pytest.mark.parametrize("engine", ["arrow", SPARK])
@pytest.mark.parametrize("where", ["topic", "path"])
def test_both_engines_give_the_same_from_broker_and_directory(
    engine: str,
    where: str,
    filled: Filled,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = tmp_path / "expected.jsonl"
    export(filled.path, expected)
    monkeypatch.setattr(topics_module, "SPLIT_ROWS_MIN", 40)
    monkeypatch.setattr(topics_module, "SPLIT_BYTES", 1)
    monkeypatch.setattr("odradek.compat.spark.pipeline.engine.IN_PROCESS_BYTES", 0)
    export(getattr(filled, where), tmp_path / "out.jsonl", "--engine", engine)
    assert (tmp_path / "out.jsonl").read_bytes() == expected.read_bytes()


@pytest.mark.parametrize("engine", ["arrow", SPARK])
def test_folders_of_parts_have_everything_once(engine: str, filled: Filled, tmp_path: Path) -> None:
    out = tmp_path / "out"
    by = ("--format", "parquet", "--partition-by", "topic,partition,date")
    export(filled.address, out, *by, "--engine", engine)
    folders = {path.relative_to(out).parent for path in out.rglob("*.parquet")}
    assert folders == {Path(f"topic=orders/partition={n}/date=2023-11-14") for n in range(3)}
    assert records(out) == records(filled.path)
    for partition in range(3):
        found = records(out / f"topic=orders/partition={partition}")
        assert {row["partition"] for row in found} == {partition}


def test_dates_are_folders_in_utc(tmp_path: Path) -> None:
    day = 86_400_000
    rows = [{"value": str(n), "timestamp": when} for n, when in enumerate((0, day - 1, day, None))]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    export(tmp_path / "in.jsonl", tmp_path / "out", "--format", "csv", "--partition-by", "date")
    found = {
        path.parent.name: [row["value"] for row in records(path)]
        for path in (tmp_path / "out").rglob("*.csv")
    }
    assert found == {
        "date=1970-01-01": [b"0", b"1"],
        "date=1970-01-02": [b"2"],
        "date=__HIVE_DEFAULT_PARTITION__": [b"3"],
    }


def test_a_name_of_a_topic_makes_one_folder(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"value": "1", "topic": "../a/b"}\n')
    export(tmp_path / "in.jsonl", tmp_path / "out", "--format", "csv", "--partition-by", "topic")
    assert [path.parent.name for path in (tmp_path / "out").rglob("*.csv")] == ["topic=..%2Fa%2Fb"]


@pytest.mark.parametrize("where", ["topic", "path"])
def test_offsets_and_times_bound_it(where: str, filled: Filled, tmp_path: Path) -> None:
    def offsets(*arguments: str) -> list[tuple[int, int]]:
        out = tmp_path / "out.jsonl"
        export(getattr(filled, where), out, "--overwrite", *arguments)
        return [(row["partition"], row["offset"]) for row in records(out)]

    assert len(offsets("--from-offset", "earliest", "--to-offset", "latest")) == ALL
    assert offsets("--from-offset", "98", "--to-offset", "100") == [
        (partition, offset) for partition in range(3) for offset in (98, 99)
    ]
    some = '{"orders": {"0": 99, "1": -1, "2": -1}}'
    assert offsets("--from-offset", some) == [(0, 99), (0, 100)]
    since, until = str(TIME + 3), "2023-11-14T22:13:20.006Z"
    assert offsets("--since", since, "--until", until) == [(0, 1), (1, 1), (2, 1)]


@pytest.mark.parametrize("where", ["topic", "path"])
def test_offsets_past_every_end_are_warned_of(
    where: str, filled: Filled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def warned(*arguments: str) -> list[str]:
        export(getattr(filled, where), tmp_path / "o.jsonl", "--overwrite", "--json", *arguments)
        said = capsys.readouterr()
        found = [each["text"] for each in json.loads(said.out)["warnings"]]
        assert said.err == "".join(f"odradek: {each}\n" for each in found)
        return found

    what = "warning: no partition has a record to export from"
    assert warned("--from-offset", "9999999") == [f"{what} offset 9999999 on"]
    some = '{"orders": {"0": 9999, "1": 9999, "2": 9999}}'
    assert warned("--from-offset", some) == [f"{what} the offsets of --from-offset on"]
    assert warned("--from-offset", "50", "--to-offset", "50") == [
        f"{what} offset 50 on, within the other bounds"
    ]
    assert warned("--from-offset", "latest") == warned("--from-offset", "99") == []


def test_aborted_records_and_batches_are_there_if_asked_for(filled: Filled, tmp_path: Path) -> None:
    asked = ("--isolation", "read_uncommitted", "--batch-columns")
    wanted = Wanted(columns=RECORD_COLUMNS + BATCH_COLUMNS, isolation="read_uncommitted")
    for format in ("parquet", "jsonl", "csv"):
        export(filled.path, tmp_path / f"out.{format}", *asked)
        found = records(tmp_path / f"out.{format}", wanted)
        assert found == records(filled.path, wanted)
        assert [row["outcome"] for row in found].count("aborted") == 3
    export(filled.topic, tmp_path / "over.parquet", *asked)
    over_the_wire = records(tmp_path / "over.parquet", wanted)
    for ours, theirs in zip(over_the_wire, records(filled.path, wanted), strict=True):
        same = set(ours) - {"segment", "position"}
        assert {name: ours[name] for name in same} == {name: theirs[name] for name in same}


def test_values_of_json_are_part_of_the_line(tmp_path: Path) -> None:
    values = ['{"a": 1.10, "b": [1]}', "[1,\n2]", "5", '"text"', "{broken", "[" * 5000, None]
    rows = [{"value": value} for value in values]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    export(tmp_path / "in.jsonl", tmp_path / "out.jsonl", "--decode", "json")
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert '"value":{"a": 1.10, "b": [1]},' in lines[0]
    found = [json.loads(line)["value"] for line in lines]
    assert found == [{"a": 1.1, "b": [1]}, [1, 2], "5", '"text"', "{broken", "[" * 5000, None]


def test_nothing_is_an_empty_file_with_columns(filled: Filled, tmp_path: Path) -> None:
    export(f"{filled.address}/empty", tmp_path / "out.parquet")
    assert pa.parquet.read_table(tmp_path / "out.parquet").schema.names == list(RECORD_COLUMNS)
    export(filled.path, tmp_path / "out", "--format", "csv", "--from-offset", "latest")
    (only,) = (tmp_path / "out").iterdir()
    assert only.read_text().count("\n") == 1


def test_the_summary_is_text_or_json(
    filled: Filled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export(filled.path, tmp_path / "a.parquet")
    out, err = capsys.readouterr()
    assert out.startswith(f"303 records of {filled.path}\n1 parquet file, ")
    assert err == ""
    export(filled.path, tmp_path / "b.jsonl", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == ALL
    assert found["bytes"] == (tmp_path / "b.jsonl").stat().st_size
    assert found["engine"] == "arrow"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("missing", "out.csv"), "missing: no such file or directory"),
        (("127.0.0.1:1/orders", "out.csv"), "no broker at 127.0.0.1:1"),
        (
            ("in.jsonl", "out"),
            "out does not tell a format that is written: --format parquet|jsonl|csv",
        ),
        (("in.jsonl", "in.jsonl"), "in.jsonl is there already: --overwrite replaces it"),
        (("in.jsonl", "no/out.csv"), "no is no directory"),
        (("in.jsonl", "out.csv", "--resume"), "there is nothing to resume"),
        (("in.jsonl", "out.csv", "--from-offset", "3"), "offsets are those of topics"),
        (("bad.parquet", "out.csv"), "bad.parquet cannot be read as parquet"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    arguments: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "bad.parquet").write_text("no")
    export(*arguments, status=2)
    error = capsys.readouterr().err
    assert said in error
    assert error.startswith("odradek: ")
    assert error.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["bad.parquet", "in.jsonl"]


def test_an_export_replaces_another_when_it_is_whole(filled: Filled, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "old").touch()
    export(filled.path, out, "--format", "jsonl", "--overwrite")
    assert not (out / "old").exists()
    assert len(records(out)) == ALL
    export(filled.path, out, "--format", "csv", "--overwrite", "--partition-by", "topic")
    assert [path.name for path in out.iterdir()] == ["topic=orders"]
    assert os.listdir(tmp_path) == ["out"]


def test_an_export_goes_on_where_it_failed(
    filled: Filled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third piece fails; what was done before it is not done again."""
    out = tmp_path / "out.jsonl"
    read: list[str] = []
    whole = export_module.by_folder

    def by_folder(batch: Any, keys: Any) -> Any:
        read.append(batch["segment"][0].as_py())
        if len(read) == 3:
            raise OSError(28, "No space left on device")
        return whole(batch, keys)

    monkeypatch.setattr(export_module, "by_folder", by_folder)
    export(filled.path, out, "--batch-columns", status=2)
    assert os.listdir(tmp_path) == ["out.jsonl.partial"]
    parts = {path.name for path in (tmp_path / "out.jsonl.partial/parts").iterdir()}
    assert parts == {"part-00000.jsonl", "part-00001.jsonl"}
    export(filled.path, out, "--batch-columns", status=2)  # not unasked
    export(filled.path, out, "--resume", status=2)  # another command
    assert len(read) == 3
    export(filled.path, out, "--batch-columns", "--resume")
    assert read[2] == read[3]
    assert len(set(read)) == len(read) - 1
    assert records(out) == records(filled.path)
    assert os.listdir(tmp_path) == ["out.jsonl"]


SLOW = """
import sys, time
from odradek.compat.commands import main
from odradek.compat.spark.pipeline import export
whole = export.by_folder
def by_folder(batch, keys):
    time.sleep(0.15)
    return whole(batch, keys)
export.by_folder = by_folder
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_export_leaves_nothing_under_its_name(
    how: signal.Signals, filled: Filled, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    command = ["export", filled.path, str(out)]
    process = subprocess.Popen([sys.executable, "-c", SLOW, *command], stderr=subprocess.PIPE)
    parts = tmp_path / "out.csv.partial" / "parts"
    deadline = time.monotonic() + 60
    while not (parts / "part-00001.csv").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(how)
    _, error = process.communicate(timeout=60)
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert error == b"odradek: interrupted; --resume goes on\n"
    assert os.listdir(tmp_path) == ["out.csv.partial"]
    export(filled.path, out, "--resume")
    assert records(out) == records(filled.path)
    assert os.listdir(tmp_path) == ["out.csv"]


def test_what_an_earlier_run_left_is_no_part_of_the_folder(
    filled: Filled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its parts when its state was removed; and what a run that was killed was writing."""
    out, whole = tmp_path / "out", export_module.by_folder
    asked = ("--format", "jsonl")
    monkeypatch.setattr(
        export_module._PartFiles, "finish", lambda files: (_ for _ in ()).throw(OSError(28, "full"))
    )
    monkeypatch.setattr(export_module._PartFiles, "discard", lambda files: None)  # as if killed
    export(filled.path, out, *asked, status=2)
    (_unfinished,) = (tmp_path / "out.partial/parts").iterdir()
    monkeypatch.undo()
    assert export_module.by_folder is whole
    (tmp_path / "out.partial/parts/part-00099.jsonl").write_text('{"value": "stale"}\n')
    (tmp_path / "out.partial/state.jsonl").unlink()
    export(filled.path, out, *asked)
    assert records(out) == records(filled.path)
    assert not [path.name for path in out.iterdir() if path.name.startswith(".")]

    monkeypatch.setattr(
        export_module._PartFiles, "finish", lambda files: (_ for _ in ()).throw(OSError(28, "full"))
    )
    monkeypatch.setattr(export_module._PartFiles, "discard", lambda files: None)
    export(filled.path, tmp_path / "other", *asked, status=2)
    monkeypatch.undo()
    export(filled.path, tmp_path / "other", *asked, "--resume")
    assert not [path for path in (tmp_path / "other").iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    "wrong", [("--engine-limit", "0"), ("--from-offset", '{"orders": {"9": 1}}')]
)
def test_a_refused_export_does_not_lock_the_right_one_out(
    wrong: tuple[str, ...], filled: Filled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("odradek.compat.spark.pipeline.engine.find_spec", lambda name: None)
    export(filled.path, tmp_path / "out.jsonl", *wrong, status=2)
    assert os.listdir(tmp_path) == []
    export(filled.path, tmp_path / "out.jsonl")


def test_nothing_is_begun_if_the_engine_does_not_start(
    filled: Filled,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    export(filled.path, tmp_path / "o.csv", "--engine", "spark", "--master", "sprak://x", status=2)
    assert capsys.readouterr().err.startswith("odradek: sprak://x is no master of Spark: ")

    def failing(engine: ArrowEngine) -> None:
        raise PipelineError("it does not start")

    monkeypatch.setattr(ArrowEngine, "start", failing)
    export(filled.path, tmp_path / "out.jsonl", status=2)
    assert os.listdir(tmp_path) == []


def test_a_place_that_changed_or_is_another_is_not_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "in.jsonl").write_text('{"value": "1"}\n')
    monkeypatch.chdir(tmp_path / "one")
    monkeypatch.setattr(
        export_module, "by_folder", lambda batch, keys: (_ for _ in ()).throw(OSError(28, "full"))
    )
    out = tmp_path / "out.csv"
    export("in.jsonl", out, status=2)
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path / "other")
    export("in.jsonl", out, "--resume", status=2)
    assert "is of a run with another place: give the same" in capsys.readouterr().err
    path = tmp_path / "one/in.jsonl"
    path.write_text('{"value": "2"}\n')
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    export(path, out, "--resume", status=2)
    assert f"{path} has changed since the run that is to go on" in capsys.readouterr().err
    path.unlink()
    export(path, out, "--resume", status=2)
    assert f"{path} has gone since the run that is to go on" in capsys.readouterr().err


def test_segments_may_grow_but_not_shrink(
    filled: Filled,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = tmp_path / "data"
    shutil.copytree(filled.directory, data)
    monkeypatch.setattr(
        export_module, "by_folder", lambda batch, keys: (_ for _ in ()).throw(OSError(28, "full"))
    )
    export(data / "orders", tmp_path / "out.csv", status=2)
    monkeypatch.undo()
    last = sorted((data / "orders-0").glob("*.log"))[-1]
    content = last.read_bytes()
    last.write_bytes(content[:-1])
    export(data / "orders", tmp_path / "out.csv", "--resume", status=2)
    assert f"{last} has changed" in capsys.readouterr().err
    last.write_bytes(content * 2)
    export(data / "orders", tmp_path / "out.csv", "--resume")
    assert records(tmp_path / "out.csv") == records(filled.path)


@pytest.mark.parametrize("name", ["out.jsonl", "out"])
def test_a_run_that_was_killed_at_its_very_end_is_ended(
    name: str, filled: Filled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(State, "remove", lambda state: (_ for _ in ()).throw(OSError))
    one = ("--to-offset", '{"orders": {"0": 5, "1": 0, "2": 0}}')  # one part
    export(filled.path, tmp_path / name, "--format", "jsonl", *one, status=2)
    monkeypatch.undo()
    export(filled.path, tmp_path / name, "--format", "jsonl", *one, "--resume")
    assert len(records(tmp_path / name)) == 5
    assert os.listdir(tmp_path) == [name]


@pytest.mark.spark
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_export_on_spark_leaves_nothing_under_its_name(
    how: signal.Signals, filled: Filled, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    command = ["export", filled.path, str(out), "--engine", "spark", "--master", "local[1]"]
    process = subprocess.Popen([sys.executable, "-m", "odradek", *command], stderr=subprocess.PIPE)
    state = tmp_path / "out.csv.partial" / "state.jsonl"
    deadline = time.monotonic() + 60
    while not (state.exists() and state.read_text().count("\n") >= 2):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(how)
    _, error = process.communicate(timeout=60)
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert error.decode().endswith("odradek: interrupted; --resume goes on\n")
        assert b"Traceback" not in error
    assert os.listdir(tmp_path) == ["out.csv.partial"]
    export(filled.path, out, "--resume")
    assert records(out) == records(filled.path)
