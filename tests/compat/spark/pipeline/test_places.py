"""Places as text, and their splits: what a broker and its directory give is the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat.spark.pipeline import topics as topics_module
from odradek.compat.spark.pipeline.broker import BrokerError
from odradek.compat.spark.pipeline.files import Files
from odradek.compat.spark.pipeline.places import Directory, absolute, place
from odradek.compat.spark.pipeline.splits import Offsets
from odradek.compat.spark.pipeline.topics import Topics
from odradek.compat.spark.segments.listing import PlaceError
from odradek.compat.spark.segments.schema import RECORD_COLUMNS
from odradek.compat.spark.segments.wanted import Wanted

from tests.compat.spark.pipeline.support import TIME, Filled

RECORDS = Wanted(columns=RECORD_COLUMNS)


def read(text: str, wanted: Wanted = RECORDS, offsets: Offsets | None = None) -> list[Any]:
    found = place(text).splits(wanted, offsets)
    return [row for split in found for batch in split.read(wanted) for row in batch.to_pylist()]


def where(rows: list[Any]) -> list[tuple[int, int]]:
    return [(row["partition"], row["offset"]) for row in rows]


def test_a_text_names_a_place(tmp_path: Path) -> None:
    (tmp_path / "orders-0").mkdir()
    (tmp_path / "orders-0" / "00000000000000000000.log").touch()
    (tmp_path / "a.csv").touch()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.parquet").touch()
    data = str(tmp_path)
    assert place("a:1,b:2/or*s") == Topics("a:1,b:2/or*s", "a:1,b:2", "or*s")
    assert place("a:1") == Topics("a:1", "a:1", None)
    assert place("[::1]:9092/orders") == Topics("[::1]:9092/orders", "[::1]:9092", "orders")
    assert place(data) == Directory(data, data)
    assert place(f"{data}/orders") == Directory(f"{data}/orders", data, "orders")
    assert place(f"{data}/orders-0") == Directory(f"{data}/orders-0", f"{data}/orders-0")
    assert isinstance(place(f"{data}/a.csv"), Files)
    assert isinstance(place(f"{data}/out"), Files)
    for wrong in (f"{data}/x/y", f"{data}/missing.csv"):
        with pytest.raises(PlaceError, match="no such file or directory"):
            place(wrong)


def test_a_place_is_the_same_from_any_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute("a:1,b:2/orders") == "a:1,b:2/orders"
    assert absolute("in/../x.csv") == absolute(f"{tmp_path}/x.csv/") == f"{tmp_path}/x.csv"
    assert absolute("./a:1/orders") == f"{tmp_path}/a:1/orders"


def test_splits_can_be_read_from_any_directory(
    filled: Filled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.jsonl").write_text('{"value": "1"}\n')
    monkeypatch.chdir(tmp_path)
    (of_file,) = place("in.jsonl").splits(RECORDS)
    monkeypatch.chdir(filled.directory)
    of_directory = [
        *(place(".").splits(RECORDS)[0], place("orders").splits(RECORDS)[0]),
        place("orders-0").splits(RECORDS)[0],
    ]
    monkeypatch.chdir("/")
    assert [batch.num_rows for batch in of_file.read(RECORDS)] == [1]
    first = [list(split.read(RECORDS)) for split in of_directory]
    assert first[0] == first[1] == first[2] != []


def test_a_topic_that_is_not_there_is_named(filled: Filled) -> None:
    with pytest.raises(PlaceError, match=r"has no topic other$"):
        read(f"{filled.directory}/other")
    with pytest.raises(BrokerError, match=r"there is no topic order at .*: did you mean orders"):
        read(f"{filled.address}/order")


def test_broker_and_directory_give_the_same(filled: Filled) -> None:
    from_broker, from_directory = read(filled.topic), read(filled.path)
    assert from_broker == from_directory
    assert len(from_broker) == 303
    assert where(from_broker) == sorted(where(from_broker))
    assert read(filled.address) == from_broker
    assert read(str(filled.directory)) == read(f"{filled.directory}/*") == from_broker
    assert read(str(filled.directory / "orders-1")) == [
        row for row in from_broker if row["partition"] == 1
    ]


@pytest.mark.parametrize("topic", ["ord*", "orde?s"])
def test_patterns_name_topics(topic: str, filled: Filled) -> None:
    assert len(read(f"{filled.address}/{topic}")) == 303
    assert len(read(f"{filled.directory}/{topic}")) == 303


def test_what_transactions_aborted_is_there_if_it_is_wanted(filled: Filled) -> None:
    wanted = Wanted(columns=(*RECORD_COLUMNS, "outcome"), isolation="read_uncommitted")
    from_broker, from_directory = read(filled.topic, wanted), read(filled.path, wanted)
    assert from_broker == from_directory
    outcomes = [row["outcome"] for row in from_broker]
    assert (outcomes.count("committed"), outcomes.count("aborted")) == (3, 3)


def test_internal_topics_are_read_by_their_names(filled: Filled) -> None:
    internal = "__transaction_state"
    whole = read(f"{filled.directory}/{internal}")
    assert {row["topic"] for row in whole} == {internal}
    assert whole == read(f"{filled.address}/{internal}")
    (number,) = {row["partition"] for row in whole}
    assert read(f"{filled.directory}/{internal}-{number}") == whole


def test_a_partition_is_cut_into_ranges(filled: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read(filled.topic)
    monkeypatch.setattr(topics_module, "SPLIT_ROWS_MIN", 7)
    monkeypatch.setattr(topics_module, "SPLIT_BYTES", 1)
    assert len(place(filled.topic).splits(RECORDS)) > 40
    assert read(filled.topic) == whole


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        (Offsets(start=98), [98, 99, 100]),
        (Offsets(start=-2, end=2), [0, 1]),
        (Offsets(start=-1), []),
        (Offsets(end=-1, start=99), [99, 100]),
        (
            Offsets(start=-1, starts={("orders", 0): 99, ("orders", 1): 99, ("orders", 2): 99}),
            [99, 100],
        ),
        (Offsets(end=0, ends={("orders", n): 2 for n in range(3)}), [0, 1]),
    ],
)
def test_offsets_bound_each_partition(
    offsets: Offsets, expected: list[int], filled: Filled
) -> None:
    wanted = [(partition, offset) for partition in range(3) for offset in expected]
    assert where(read(filled.topic, offsets=offsets)) == wanted
    assert where(read(filled.path, offsets=offsets)) == wanted


def test_partitions_that_offsets_leave_out_are_whole(filled: Filled) -> None:
    """Spark's connector refuses them; here a partition without a bound has none."""
    whole = [(partition, offset) for partition, offset in where(read(filled.topic))]
    some = Offsets(starts={("orders", 0): 99}, ends={("orders", 1): 2})
    expected = [
        (partition, offset)
        for partition, offset in whole
        if (partition != 0 or offset >= 99) and (partition != 1 or offset < 2)
    ]
    assert where(read(filled.topic, offsets=some)) == expected
    assert where(read(filled.path, offsets=some)) == expected
    assert where(read(filled.address, offsets=Offsets(ends={("empty", 0): 0}))) == whole


def test_offsets_of_an_unknown_partition_are_refused(filled: Filled) -> None:
    for text in (filled.topic, filled.path):
        with pytest.raises(PlaceError, match="has no partition orders-3"):
            read(text, offsets=Offsets(starts={("orders", 3): 1}))


def test_segments_and_ranges_that_are_not_needed_are_not_read(filled: Filled) -> None:
    found = place(filled.path)
    assert isinstance(found, Directory)
    ends = [split.segment.next_base for split in found.splits(RECORDS, Offsets(start=100))]
    assert all(end is None or end > 100 for end in ends)
    assert len(ends) < len(found.splits(RECORDS))
    assert len(place(filled.topic).splits(RECORDS, Offsets(start=100_000))) == 0


def test_times_bound_what_is_read(filled: Filled) -> None:
    wanted = Wanted(columns=RECORD_COLUMNS, start_ms=TIME + 100, end_ms=TIME + 103)
    from_broker = read(filled.topic, wanted)
    assert from_broker == read(filled.path, wanted)
    assert [row["timestamp"].timestamp() for row in from_broker] == [
        (TIME + ms) / 1000 for ms in (102, 100, 101)
    ]
    assert read(filled.topic, Wanted(start_ms=TIME + 100_000)) == []


def test_splits_know_about_how_large_they_are(filled: Filled) -> None:
    on_disk = sum(path.stat().st_size for path in filled.directory.glob("orders-*/*.log"))
    assert sum(split.size for split in place(filled.path).splits(RECORDS)) == on_disk
    by_broker = sum(split.size for split in place(filled.topic).splits(RECORDS))
    assert on_disk * 0.9 < by_broker <= on_disk


def test_plain_json_of_offsets_is_spark_s(filled: Filled) -> None:
    from odradek.compat.spark.pipeline.command import offsets

    assert offsets(json.dumps({"a": {"0": 23, "1": -1}})) == {("a", 0): 23, ("a", 1): -1}
    assert [offsets(text) for text in ("earliest", "latest", "7")] == [-2, -1, 7]


def test_what_retention_takes_meanwhile_is_an_error_rather_than_a_gap() -> None:
    with Emulator(topics={"short": 1}) as kafka:
        kafka.topic("short").produce_all([str(number) for number in range(20)])
        (split,) = place(f"{kafka.bootstrap_servers}/short").splits(RECORDS)
        kafka.topic("short").truncate(10)
        with pytest.raises(BrokerError, match=r"short-0 has no offset 0: it has 10 up to 20"):
            list(split.read(RECORDS))
