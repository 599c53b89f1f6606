"""`diff`: what belongs together is chosen by what both sides have; files that are no exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from odradek import Emulator
from odradek.compat.commands import main

from tests.compat.spark.pipeline.compared import diff, row, written
from tests.compat.spark.pipeline.support import Filled

Capture = pytest.CaptureFixture[str]
CSV = "id,customer,at\n1,k7,2026-01-31T12:00:00.123456Z\n2,k1,2026-01-31T12:00:01Z\n3,k7,5\n"
MAPPING = ("--key", "customer", "--timestamp", "at")


def loaded(path: Path, capsys: Capture, *columns: str) -> tuple[Path, str]:
    """A CSV file, and the topic in a data directory that it was loaded into."""
    file = path / "orders.csv"
    file.write_text(CSV)
    topic = str(path / "data" / "orders")
    state = "--state", str(path / "state")
    assert main(["load", str(file), topic, "--create-topic", "3", *columns, *state]) == 0
    capsys.readouterr()
    return file, topic


def test_an_export_is_compared_by_offset(filled: Filled, tmp_path: Path, capsys: Capture) -> None:
    for ending in ("parquet", "jsonl", "csv"):
        out = str(tmp_path / f"orders.{ending}")
        assert main(["export", filled.path, out]) == 0
        capsys.readouterr()
        for one, other in ((filled.path, out), (out, filled.topic), (out, out)):
            status, found = diff(capsys, one, other)
            assert (status, found["by"], found["because"]) == (0, "offset", "both have offsets")
            assert found["not_compared"] == {}


def test_it_is_said_what_was_chosen_and_why(tmp_path: Path, capsys: Capture) -> None:
    export = written(tmp_path / "a.jsonl", [row(n) for n in range(4)])
    raw = written(tmp_path / "b.jsonl", [{"value": f"v{n}", "timestamp": 5} for n in range(4)])
    keyed = written(tmp_path / "c.jsonl", [{"key": "k", "value": f"v{n}"} for n in range(4)])
    for other, expected in (
        (export, ["compared by offset (both have offsets): key, value, headers, timestamp"]),
        (
            raw,
            [
                f"compared by value ({raw} has no keys): value, timestamp",
                f"not compared: key: {raw} has none",
                f"not compared: headers: {raw} has none",
            ],
        ),
        (
            keyed,
            [
                f"compared by key ({keyed} has no offsets): key, value",
                f"not compared: headers: {keyed} has none",
                f"not compared: timestamp: {keyed} has none",
            ],
        ),
    ):
        main(["diff", str(export), str(other)])
        lines = capsys.readouterr().out.splitlines()
        assert [each for each in lines if "compared" in each] == expected


def test_other_partitions_are_compared_by_key(tmp_path: Path, capsys: Capture) -> None:
    with Emulator(topics={"orders": 1}) as kafka:
        for n in range(4):
            kafka.topic("orders").produce(f"v{n}", key=f"k{n}", timestamp=1_700_000_000_000 + n)
        export = written(tmp_path / "a.jsonl", [row(n) for n in range(4)])
        status, found = diff(capsys, export, f"{kafka.bootstrap_servers}/orders")
    assert (status, found["by"]) == (0, "key")
    assert found["because"] == "their partitions are not the same"


def test_a_file_is_compared_with_the_topic_it_was_loaded_into(
    tmp_path: Path, capsys: Capture
) -> None:
    file, topic = loaded(tmp_path, capsys, *MAPPING)
    status, found = diff(capsys, file, topic)  # without a word on its columns
    assert (status, found["by"], found["columns"], found["same"]) == (0, "value", ["value"], 3)
    status, found = diff(capsys, topic, file, *MAPPING)
    assert (status, found["by"], found["same"]) == (0, "key", 3)
    assert found["columns"] == ["key", "value", "timestamp"]
    other = file.with_name("other.csv")
    other.write_text(CSV.replace("1,k7", "9,k7"))
    assert diff(capsys, other, topic)[1]["missing"] == 1
    status, found = diff(capsys, other, topic, *MAPPING)
    assert (status, found["changed"], found["same"]) == (1, 1, 2)
    [sample] = found["samples"]["changed"]
    assert json.loads(sample["a"]["value"])["id"] == "9"


def test_one_column_may_be_the_value(tmp_path: Path, capsys: Capture) -> None:
    file, topic = loaded(tmp_path, capsys, "--value", "id")
    assert diff(capsys, file, topic)[0] == 1
    status, found = diff(capsys, file, topic, "--value", "id")
    assert (status, found["same"]) == (0, 3)


def test_of_two_files_the_columns_are_those_of_the_one_that_is_no_export(
    tmp_path: Path, capsys: Capture
) -> None:
    file, topic = loaded(tmp_path, capsys, *MAPPING)
    export = str(tmp_path / "export.parquet")
    assert main(["export", topic, export]) == 0
    capsys.readouterr()
    assert diff(capsys, export, file, *MAPPING)[0] == 0
    status, found = diff(capsys, export, topic, "--key", "customer")
    assert (status, "--key names a column of a file that is no export" in found) == (2, True)
    status, found = diff(capsys, file, topic, "--key", "custommer")
    assert status == 2
    said = "there is no column custommer, but id, customer, at: did you mean customer?"
    assert found == f"odradek: {file}: {said}\n"


def test_values_may_come_in_any_order_and_number(tmp_path: Path, capsys: Capture) -> None:
    a = written(tmp_path / "a.jsonl", [{"value": each} for each in ("x", "y", "y", None, None)])
    b = written(tmp_path / "b.jsonl", [{"value": each} for each in (None, "y", "x", "y", "y")])
    _, found = diff(capsys, a, b)
    assert (found["by"], found["same"], found["duplicated"]) == ("value", 4, 2)
    assert (found["reordered"], found["missing"], found["extra"]) == (0, 0, 0)


def test_what_is_ignored_does_not_decide(tmp_path: Path, capsys: Capture) -> None:
    rows: list[dict[str, Any]] = [{"key": f"k{n}", "value": "x"} for n in range(3)]
    file = written(tmp_path / "a.jsonl", rows)
    status, found = diff(capsys, file, file, "--ignore", "key")
    assert (status, found["by"], found["because"]) == (0, "value", "keys are ignored")
    status, found = diff(capsys, file, file, "--ignore", "key", "--ignore", "value")
    assert (status, "which --ignore value leaves out" in found) == (2, True)


@pytest.mark.spark
def test_both_engines_compare_by_value_alike(tmp_path: Path, capsys: Capture) -> None:
    a, b = [row(n) for n in range(60)], [row(n) for n in reversed(range(5, 70))]
    b[10].update(key="other")
    one, other = written(tmp_path / "a.jsonl", a), written(tmp_path / "b.jsonl", b)
    on_arrow = diff(capsys, one, other, "--by", "value", "--engine", "arrow")
    assert on_arrow == diff(capsys, one, other, "--by", "value", "--engine", "spark")
    assert (on_arrow[1]["changed"], on_arrow[1]["missing"], on_arrow[1]["extra"]) == (1, 5, 10)
    assert on_arrow[1]["reordered"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--by", "key", "--ignore", "key"], "--by value"),
        (["--by", "value", "--ignore", "value"], "--by key"),
    ],
)
def test_what_contradicts_itself_is_refused(
    arguments: list[str], said: str, tmp_path: Path, capsys: Capture
) -> None:
    file = written(tmp_path / "a.jsonl", [row(n) for n in range(4)])
    status, found = diff(capsys, file, file, *arguments)
    assert status == 2
    assert "which --ignore" in found
    assert said in found


def test_what_a_side_does_not_have_is_refused(tmp_path: Path, capsys: Capture) -> None:
    raw = written(tmp_path / "a.jsonl", [{"value": "x"}])
    export = written(tmp_path / "b.jsonl", [row(0)])
    status, found = diff(capsys, export, raw, "--by", "key")
    assert (status, f"{raw} has no keys: use --by value, or" in found) == (2, True)
    status, found = diff(capsys, export, raw, "--by", "offset")
    assert (status, f"{raw} has no offsets: use --by key or --by value" in found) == (2, True)


def test_with_all_columns_ignored_offsets_are_compared(tmp_path: Path, capsys: Capture) -> None:
    ignored = [each for name in ("key", "value", "headers", "timestamp")
               for each in ("--ignore", name)]  # fmt: skip
    one = written(tmp_path / "a.jsonl", [row(n) for n in range(4)])
    other = written(tmp_path / "b.jsonl", [{**row(n), "value": "other"} for n in range(5)])
    status, found = diff(capsys, one, other, *ignored)
    assert (status, found["same"], found["extra"], found["columns"]) == (1, 4, 1, [])


def test_a_file_without_rows_is_no_failure(tmp_path: Path, capsys: Capture) -> None:
    full = written(tmp_path / "a.jsonl", [row(n) for n in range(4)])
    empty: list[Path] = [tmp_path / "empty.jsonl", tmp_path / "empty.csv", tmp_path / "e.parquet"]
    empty[0].write_text("")
    empty[1].write_text("key,value\n")
    pyarrow.parquet.write_table(pa.table({"value": pa.array([], pa.string())}), empty[2])
    for each in empty:
        status, found = diff(capsys, full, each)
        assert (status, found["missing"], found["records"]) == (1, 4, {"a": 4, "b": 0}), each


def times(found: Any) -> list[str]:
    return [each["a"]["timestamp"] for each in found["samples"]["changed"]]


def test_times_are_compared_to_the_millisecond(tmp_path: Path, capsys: Capture) -> None:
    def file(name: str, us: list[int]) -> Path:
        path = tmp_path / name
        column = pa.array(us, pa.timestamp("us", "UTC"))
        table = pa.table({"key": ["a", "b"], "value": ["x", "y"], "timestamp": column})
        pyarrow.parquet.write_table(table, path)
        return path

    one, other = file("a.parquet", [1_700_000_000_123_456, 7_000]), file("b.parquet", [
        1_700_000_000_123_000, 8_000])  # fmt: skip
    status, found = diff(capsys, one, other)
    assert (status, found["same"], found["changed"]) == (1, 1, 1)
    assert times(found) == ["1970-01-01T00:00:00.007000+00:00"]


def test_columns_to_ignore_may_be_named_at_once(tmp_path: Path, capsys: Capture) -> None:
    one = written(tmp_path / "a.jsonl", [row(n) for n in range(4)])
    other = written(tmp_path / "b.jsonl", [{**row(n), "timestamp": n} for n in range(4)])
    status, found = diff(capsys, one, other, "--ignore", "timestamp, headers", "--ignore", "key")
    assert (status, found["columns"]) == (0, ["value"])
    with pytest.raises(SystemExit):
        diff(capsys, one, other, "--ignore", "key,values")
    assert "nothing that is compared: 'values' (choose from key, " in capsys.readouterr().err


def test_a_folder_for_temporary_files_must_be_there(tmp_path: Path, capsys: Capture) -> None:
    one = written(tmp_path / "a.jsonl", [row(0)])
    status, found = diff(capsys, one, one, "--work", tmp_path / "nowhere")
    assert (status, "nowhere: there is no such directory" in found) == (2, True)
