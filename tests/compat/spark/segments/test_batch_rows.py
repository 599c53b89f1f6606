"""Batches as rows, without their records."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from odradek.compat.spark.segments import Segment, Wanted
from odradek.compat.spark.segments.batch_rows import BATCH_ROWS, read_batches
from odradek.compat.spark.segments.damaged import Damaged
from odradek.compat.spark.source.columns import BATCH_NAMES
from odradek.compat.spark.source.layout import Layout
from odradek.compat.spark.source.offsets import ending, starting
from odradek.compat.spark.source.options import OptionError, columns_of, read_options
from odradek.compat.spark.source.pieces import pieces
from odradek.compat.spark.source.reader import BatchReader
from odradek.compat.spark.source.stream import StreamReader
from odradek.wire.batch import DELETE_HORIZON, read_header
from odradek.wire.records import end_transaction_batch

from tests.compat.spark.segments.support.placed import T, numbered, placed

TRANSACTION = {"producer_id": 7, "producer_epoch": 2, "base_sequence": 4, "transactional": True}


def rows(segments: Iterable[Segment], wanted: Wanted | None = None, **more: Any) -> list[Any]:
    found = (batch for each in segments for batch in read_batches(each, wanted, **more))
    return [row for batch in found for row in batch.to_pylist()]


def marker(offset: int, *, commit: bool) -> bytes:
    return bytes(
        end_transaction_batch(
            commit,
            base_offset=offset,
            timestamp=T,
            producer_id=7,
            producer_epoch=2,
            coordinator_epoch=0,
            leader_epoch=3,
        )
    )


def test_a_batch_has_what_its_header_says(tmp_path: Path) -> None:
    data = numbered(5, 3, leader_epoch=3, **TRANSACTION)
    segments = placed(tmp_path, {5: data + marker(8, commit=True)})
    first, second = rows(segments)
    position, path = len(data), segments[0].path
    assert first.pop("baseTimestamp").timestamp() * 1000 == T + 5
    assert first.pop("maxTimestamp").timestamp() * 1000 == T + 7
    assert first == {
        "topic": "t",
        "partition": 0,
        "segment": path,
        "position": 0,
        "size": position,
        "baseOffset": 5,
        "lastOffset": 7,
        "count": 3,
        "baseSequence": 4,
        "lastSequence": 6,
        "producerId": 7,
        "producerEpoch": 2,
        "leaderEpoch": 3,
        "codec": "none",
        "transactional": True,
        "control": False,
        "outcome": "committed",
        "timestampType": 0,
        "deleteHorizon": None,
        "magic": 2,
        "crc": read_header(data).crc,
        "crcOk": True,
    }
    assert (second["control"], second["baseOffset"], second["position"]) == (True, 8, position)
    assert (second["baseSequence"], second["lastSequence"], second["crcOk"]) == (-1, -1, True)


def test_columns_are_those_of_the_schema() -> None:
    assert BATCH_ROWS.names == list(BATCH_NAMES) == list(columns_of({"rows": "batches"}))
    assert columns_of({"rows": "batches", "columns": "COUNT,codec"}) == ("count", "codec")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"columns": "value"}, "there is no column value: there are topic, partition"),
        ({"includeHeaders": "true"}, "option includeHeaders: it is of rows that are records"),
        ({"batchColumns": "true"}, "option batchColumns: it is of rows that are records"),
        ({"rows": "batch"}, "option rows: 'batch' is none of records, batches"),
    ],
)
def test_what_is_of_records_is_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        columns_of({"rows": "batches", **given})


def test_ranges_that_follow_one_another_have_each_batch_once(tmp_path: Path) -> None:
    sizes = [(0, 4), (4, 1), (5, 9), (14, 2)]
    segments = placed(tmp_path, {0: b"".join(numbered(*each) for each in sizes)})
    for edge in range(17):
        parts = [Wanted(end_offset=edge), Wanted(start_offset=edge)]
        bases = [row["baseOffset"] for part in parts for row in rows(segments, part)]
        assert bases == [base for base, _ in sizes], edge


def test_a_wrong_checksum_is_a_row(tmp_path: Path) -> None:
    data = bytearray(numbered(0, 3) + numbered(3, 3))
    data[80] ^= 1
    segments = placed(tmp_path, {0: bytes(data)})
    assert [(row["baseOffset"], row["crcOk"]) for row in rows(segments)] == [(0, False), (3, True)]


def test_where_no_batch_is_reading_fails_or_goes_on_behind(tmp_path: Path) -> None:
    first, second = numbered(0, 3), numbered(3, 3)
    segments = placed(tmp_path, {0: first + b"\7" * 99 + second, 6: numbered(6, 1)})
    with pytest.raises(Damaged, match=f"byte {len(first)}, offset 3"):
        rows(segments)
    damages: list[Damaged] = []
    found = rows(segments, on_damage=damages.append)
    assert [row["baseOffset"] for row in found] == [0, 3, 6]
    assert [each.position for each in damages] == [len(first)]


def test_offsets_out_of_order_are_damage(tmp_path: Path) -> None:
    segments = placed(tmp_path, {0: numbered(3, 3) + numbered(0, 3), 6: numbered(6, 1)})
    with pytest.raises(Damaged, match="offsets out of order"):
        rows(segments)


def test_committed_batches_and_all(tmp_path: Path) -> None:
    aborted = numbered(0, 3, **TRANSACTION) + marker(3, commit=False) + numbered(4, 1)
    segments = placed(tmp_path, {0: aborted})
    assert [row["outcome"] for row in rows(segments)] == ["aborted", "aborted", "none"]
    committed = rows(segments, Wanted(columns=("baseOffset",)))
    assert committed == [{"baseOffset": 4}]


def test_the_delete_horizon_stands_where_the_first_timestamp_stood(tmp_path: Path) -> None:
    data = bytearray(numbered(0, 1))
    data[22] |= DELETE_HORIZON
    (row,) = rows(placed(tmp_path, {0: bytes(data)}))
    assert row["baseTimestamp"] is None
    assert row["deleteHorizon"].timestamp() * 1000 == T


def test_the_source_gives_them(tmp_path: Path) -> None:
    placed(tmp_path, {0: numbered(0, 4) + numbered(4, 4), 8: numbered(8, 2)})
    damaged = bytearray(numbered(0, 5))
    damaged[-1] ^= 1
    placed(tmp_path, {0: bytes(damaged)}, partition=1)
    given = {"path": str(tmp_path), "rows": "batches", "minPartitions": "7"}
    reader = BatchReader(read_options(given, stream=False))
    found = [
        row
        for task in reader.partitions()
        for batch in reader.read(task)
        for row in batch.to_pylist()
    ]
    assert [(row["partition"], row["baseOffset"], row["count"], row["crcOk"]) for row in found] == [
        (0, 0, 4, True),
        (0, 4, 4, True),
        (0, 8, 2, True),
        (1, 0, 5, False),
    ]


def test_a_stream_gives_each_batch_once_wherever_it_stops(tmp_path: Path) -> None:
    sizes = [(0, 4), (4, 1), (5, 9), (14, 2)]
    placed(tmp_path, {0: b"".join(numbered(*each) for each in sizes)})
    given = {"rows": "batches", "startingOffsets": "earliest", "maxOffsetsPerTrigger": "3"}
    stream = StreamReader(read_options({"path": str(tmp_path), **given}, stream=True))
    at, found = stream.initialOffset(), []
    while (end := stream.latestOffset()) != at:
        for task in stream.partitions(at, end):
            found += [row for batch in stream.read(task) for row in batch.to_pylist()]
        at = end
    assert at == {"t": {"0": 16}}
    assert [(row["baseOffset"], row["count"]) for row in found] == sizes


def test_a_segment_that_was_merged_meanwhile_is_looked_up_again(tmp_path: Path) -> None:
    placed(tmp_path, {1: numbered(1, 3), 4: numbered(4, 4)})
    options = read_options({"path": str(tmp_path), "rows": "batches"}, stream=False)
    now = Layout(options).now()
    planned = pieces(now, starting(now, options), ending(now, options), Wanted(), options)
    for file in tmp_path.glob("t-0/*.log"):
        file.unlink()
    placed(tmp_path, {0: numbered(0, 2) + numbered(2, 6)})
    found = [
        row["baseOffset"] for each in planned for batch in each.read() for row in batch.to_pylist()
    ]
    assert found == [0, 2]
