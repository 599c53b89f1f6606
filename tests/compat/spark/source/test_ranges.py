"""Which ranges of which segments are read, without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from odradek.compat.spark.segments import PlaceError, Segment, Wanted, list_segments
from odradek.compat.spark.source import layout as layouts
from odradek.compat.spark.source.layout import Layout
from odradek.compat.spark.source.offsets import DataLoss, as_json, ending, starting
from odradek.compat.spark.source.options import OptionError, read_options
from odradek.compat.spark.source.pieces import Piece, pieces

from tests.compat.spark.segments.support.placed import T, numbered, placed

ALL_RANGES = [("t", 0, 0, 10), ("t", 0, 10, 20), ("t", 0, 20, 25)]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Three segments of one partition: offsets 0-9, 10-19, 20-24, a record a millisecond."""
    placed(tmp_path, {base: numbered(base, count) for base, count in ((0, 10), (10, 10), (20, 5))})
    return tmp_path


def planned(path: Path, **options: str) -> list[Piece]:
    asked = read_options({"path": str(path), **options}, stream=False)
    now = Layout(asked).now()
    wanted = Wanted(columns=("offset",), isolation=asked.isolation)
    return pieces(now, starting(now, asked), ending(now, asked), wanted, asked)


def ranges(path: Path, **options: str) -> list[tuple[str, int, int, int]]:
    return [
        (each.segment.topic, each.segment.partition, each.start, each.end)
        for each in planned(path, **options)
    ]


def offsets(path: Path, **options: str) -> list[int]:
    found = (batch for piece in planned(path, **options) for batch in piece.read())
    return [offset for batch in found for offset in batch.column("offset").to_pylist()]


def of_t(*values: int) -> str:
    return json.dumps({"t": {str(n): value for n, value in enumerate(values)}})


def test_one_segment_is_one_piece(directory: Path) -> None:
    assert ranges(directory) == ALL_RANGES
    assert offsets(directory) == [*range(25)]


def test_segments_out_of_the_offsets_are_no_piece(directory: Path) -> None:
    asked = {"startingOffsets": of_t(12), "endingOffsets": of_t(20)}
    assert ranges(directory, **asked) == [("t", 0, 12, 20)]
    assert ranges(directory, startingOffsets=of_t(-2), endingOffsets=of_t(-1)) == ALL_RANGES
    assert ranges(directory, startingOffsets=of_t(25)) == []


def test_times_stand_for_offsets(directory: Path) -> None:
    asked = {"startingTimestamp": str(T + 7), "endingTimestamp": str(T + 13)}
    assert offsets(directory, **asked) == [*range(7, 13)]
    by_partition = {
        "startingOffsetsByTimestamp": of_t(T + 7),
        "endingOffsetsByTimestamp": of_t(T + 99),
    }
    assert offsets(directory, **by_partition) == [*range(7, 25)]


def test_a_start_later_than_every_record(directory: Path) -> None:
    with pytest.raises(OptionError, match="t-0 has no record as late as the starting timestamp"):
        ranges(directory, startingTimestamp=str(T + 25))
    asked = {"startingTimestamp": str(T + 25), "startingOffsetsByTimestampStrategy": "latest"}
    assert ranges(directory, **asked) == []


def test_a_segment_whose_time_index_ends_too_early_is_not_opened(directory: Path) -> None:
    segment = directory / "t-0" / "00000000000000000000.log"
    index = (T + 9).to_bytes(8, "big") + (9).to_bytes(4, "big")
    segment.with_suffix(".timeindex").write_bytes(index)
    segment.write_bytes(b"\xff" * segment.stat().st_size)
    assert offsets(directory, startingTimestamp=str(T + 10)) == [*range(10, 25)]


@pytest.mark.parametrize("index", [b"", b"123", bytes(12)])
def test_a_time_index_that_cannot_tell_is_not_believed(directory: Path, index: bytes) -> None:
    (directory / "t-0" / "00000000000000000000.timeindex").write_bytes(index)
    assert offsets(directory, startingTimestamp=str(T + 5))[0] == 5


def test_offsets_name_every_partition(directory: Path) -> None:
    placed(directory, {0: numbered(0, 1)}, topic="u", partition=3)
    with pytest.raises(OptionError, match=r"startingOffsets must .* names t-0; read are t-0, u-3"):
        ranges(directory, startingOffsets=of_t(0))


def test_topics_are_selected(directory: Path) -> None:
    placed(directory, {0: numbered(0, 1)}, topic="u", partition=3)
    placed(directory, {0: numbered(0, 1)}, topic="__own")

    def topics(**options: str) -> list[str]:
        return [f"{topic}-{n}:{start}" for topic, n, start, _ in ranges(directory, **options)]

    of_u = ["u-3:0"]
    assert topics() == ["t-0:0", "t-0:10", "t-0:20", *of_u]
    assert topics(subscribe="u") == topics(assign='{"u": [3]}') == of_u
    assert topics(topics="u*,x*") == topics(subscribePattern="[u-z]") == of_u
    assert topics(subscribe="__own") == ["__own-0:0"]
    assert topics(subscribePattern="u.+") == []
    with pytest.raises(OptionError, match=r"has no v: there are __own, t, u"):
        topics(subscribe="u,v")
    with pytest.raises(OptionError, match=r"has no u-4"):
        topics(assign='{"u": [3, 4]}')


def test_what_is_no_data_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(PlaceError, match="no data directory"):
        ranges(tmp_path)
    with pytest.raises(PlaceError, match="no such file or directory"):
        ranges(tmp_path / "nothing")


def test_what_is_lost_is_named_or_left_out(directory: Path) -> None:
    (directory / "t-0" / "00000000000000000000.log").unlink()
    with pytest.raises(DataLoss, match="t-0: offset 4 is asked for, but the log begins at 10"):
        ranges(directory, startingOffsets=of_t(4))
    with pytest.raises(DataLoss, match="t-0: offset 26 is asked for, but the log ends at 25"):
        ranges(directory, endingOffsets=of_t(26))
    asked = {"startingOffsets": of_t(4), "endingOffsets": of_t(26), "failOnDataLoss": "false"}
    assert ranges(directory, **asked) == ALL_RANGES[1:]


def test_records_that_were_deleted_are_not_read(directory: Path) -> None:
    (directory / "log-start-offset-checkpoint").write_text("0\n1\nt 0 13\n")
    assert offsets(directory) == [*range(13, 25)]


def test_pieces_are_split_to_be_enough(directory: Path) -> None:
    found = ranges(directory, minPartitions="10")
    assert len(found) >= 10
    assert [each[2] for each in found] == [0, *(each[3] for each in found[:-1])]
    assert offsets(directory, minPartitions="100") == [*range(25)]
    assert ranges(directory, minPartitions="2") == ALL_RANGES


def test_a_segment_that_was_merged_meanwhile_is_found(directory: Path) -> None:
    found = planned(directory)
    merged = b"".join(numbered(base, 10) for base in (0, 10))
    (directory / "t-0" / "00000000000000000000.log").write_bytes(merged)
    (directory / "t-0" / "00000000000000000010.log").unlink()
    rows = [batch.column("offset").to_pylist() for batch in found[1].read()]
    assert rows == [[*range(10, 20)]]


def test_a_segment_that_was_removed_meanwhile_is_lost(directory: Path) -> None:
    found = planned(directory)
    lenient = planned(directory, failOnDataLoss="false")
    (directory / "t-0" / "00000000000000000000.log").unlink()
    with pytest.raises(DataLoss, match="t-0: offsets 0 to 9 are gone"):
        [*found[0].read()]
    assert [*lenient[0].read()] == []


def test_the_end_is_that_of_the_last_whole_batch(directory: Path) -> None:
    path = directory / "t-0" / "00000000000000000020.log"
    path.write_bytes(path.read_bytes() + numbered(25, 5)[:-1])
    assert ranges(directory)[-1] == ("t", 0, 20, 25)


def test_reading_up_to_the_high_watermark(directory: Path) -> None:
    (directory / "replication-offset-checkpoint").write_text("0\n1\nt 0 22\n")
    assert ranges(directory)[-1] == ("t", 0, 20, 25)
    assert ranges(directory, readUpTo="highWatermark")[-1] == ("t", 0, 20, 22)


def test_a_layout_goes_on_where_it_was(directory: Path) -> None:
    layout = Layout(read_options({"path": str(directory)}, stream=True))

    def ends() -> object:
        return as_json({key: found.end for key, found in layout.now().items()})

    assert ends() == {"t": {"0": 25}}
    path = directory / "t-0" / "00000000000000000020.log"
    before = path.read_bytes()
    path.write_bytes(bytes(len(before)) + numbered(25, 5))  # what was walked is not looked at again
    assert ends() == {"t": {"0": 30}}
    placed(directory, {30: numbered(30, 3)})
    assert ends() == {"t": {"0": 33}}
    placed(directory, {0: numbered(0, 2)}, partition=1)
    assert ends() == {"t": {"0": 33, "1": 2}}
    (directory / "t-0" / "00000000000000000030.log").write_bytes(b"")
    path.write_bytes(before)
    assert ends() == {"t": {"0": 30, "1": 2}}


def test_a_segment_that_is_removed_while_it_is_looked_at(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As retention does in a directory that a broker has open."""
    first = directory / "t-0" / "00000000000000000000.log"

    def then_removed(*arguments: Any) -> list[Segment]:
        found = list_segments(*arguments)
        first.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(layouts, "list_segments", then_removed)
    committed = {"kafka.isolation.level": "read_committed"}  # every segment is looked at
    assert ranges(directory, **committed) == ALL_RANGES[1:]
