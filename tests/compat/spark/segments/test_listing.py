"""Which segments a path names."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.spark.segments import PlaceError, list_segments

from tests.compat.spark.segments.support.placed import numbered, placed
from tests.support.written import record, write_records

META = "version=1\ncluster.id=a\nnode.id=1\n"


def found(path: Path, **more: object) -> list[tuple[str, int, int]]:
    listed = list_segments(path, **more)  # type: ignore[arg-type]
    return [(each.topic, each.partition, each.base_offset) for each in listed]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "meta.properties").write_text(META)
    placed(tmp_path, {0: numbered(0, 2), 2: b""}, "b")
    placed(tmp_path, {7: numbered(7, 1)}, "a-x")
    placed(tmp_path, {0: b""}, "__cluster_metadata")
    (tmp_path / "empty-3").mkdir()
    (tmp_path / f"gone-0.{'0' * 32}-delete").mkdir()
    (tmp_path / "b-0" / "00000000000000000001.log.deleted").write_bytes(b"x")
    (tmp_path / "b-0" / "00000000000000000001.snapshot").write_bytes(b"x")
    return tmp_path


def test_segments_are_listed_by_topic_and_offset(data: Path) -> None:
    assert found(data) == [("a-x", 0, 7), ("b", 0, 0), ("b", 0, 2)]
    first, last = list_segments(data, topics=["b"])
    assert (first.next_base, first.last, last.next_base, last.last) == (2, False, None, True)
    assert first.size == len(numbered(0, 2))
    assert last.size == 0
    assert pickle.loads(pickle.dumps(first)) == first


def test_topics_are_names_or_patterns(data: Path) -> None:
    assert found(data, topics=["a*"]) == [("a-x", 0, 7)]
    assert found(data, topics=["nothing"]) == []
    assert found(data, topics=["*"], partitions=[1]) == []
    assert found(data, topics=["__cluster_metadata"]) == [("__cluster_metadata", 0, 0)]


def test_a_partition_directory_and_a_file_are_places_too(data: Path) -> None:
    assert found(data / "b-0") == [("b", 0, 0), ("b", 0, 2)]
    assert found(data / "__cluster_metadata-0") == [("__cluster_metadata", 0, 0)]
    assert found(data / "b-0" / "00000000000000000000.log") == [("b", 0, 0)]
    (one,) = list_segments(data / "b-0" / "00000000000000000000.log")
    assert one.next_base == 2


def test_a_file_outside_of_a_partition_directory_has_no_topic(tmp_path: Path) -> None:
    (tmp_path / "00000000000000000005.log").write_bytes(numbered(5, 1))
    assert found(tmp_path / "00000000000000000005.log") == [("", 0, 5)]


def test_what_is_no_place_is_refused_by_name(data: Path, tmp_path: Path) -> None:
    with pytest.raises(PlaceError, match=r"missing: no such file or directory"):
        list_segments(tmp_path / "missing")
    (tmp_path / "other").mkdir()
    with pytest.raises(PlaceError, match=r"other: no data directory"):
        list_segments(tmp_path / "other")
    with pytest.raises(PlaceError, match=r"snapshot: not the name of a segment's \.log file"):
        list_segments(data / "b-0" / "00000000000000000001.snapshot")
    with pytest.raises(PlaceError, match=r"meta.properties: neither the name"):
        list_segments(data / "meta.properties")


def test_the_documented_naming_is_found(tmp_path: Path) -> None:
    with Emulator(data_dir=tmp_path, naming="documented") as emulator:
        emulator.create_topic("my_topic", 2)
        write_records(emulator.bootstrap_servers, "my_topic", 1, record(b"x"))
    assert found(tmp_path) == [("my_topic", 1, 0)]
    assert found(tmp_path / "my_topic_1") == [("my_topic", 1, 0)]


def test_log_starts_and_the_mark_of_a_clean_stop(data: Path) -> None:
    assert {each.log_start for each in list_segments(data)} == {0}
    assert [each.may_be_torn for each in list_segments(data, ["b"])] == [False, True]
    (data / "log-start-offset-checkpoint").write_text("0\n1\nb 0 1\n")
    (data / ".kafka_cleanshutdown").write_text("")
    assert [each.log_start for each in list_segments(data)] == [0, 1, 1]
    assert [each.may_be_torn for each in list_segments(data, ["b"])] == [False, False]
    (data / "log-start-offset-checkpoint").write_text("malformed")
    assert {each.log_start for each in list_segments(data)} == {0}
