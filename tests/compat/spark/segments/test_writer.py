"""Writing segments: what stands where and when, and who opens it."""

from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from odradek import Emulator
from odradek.compat.clients import wait_until
from odradek.compat.java.jars import jars
from odradek.compat.real_kafka import VERSION, RealKafka
from odradek.compat.real_kafka.dump_tool import complaints
from odradek.compat.spark.segments import (
    EVERYTHING,
    Damaged,
    PlaceError,
    SegmentWriter,
    Staged,
    Wanted,
    list_segments,
    make_data_directory,
    publish,
)
from odradek.compat.spark.segments.writer import (
    discard_staged,
    last_crc,
    log_end,
    publish_rest,
)
from odradek.storage.naming import renamed_suffix

from tests.clients.support.broker_contents import everything
from tests.compat.spark.segments.support.placed import T, column, numbered, offsets, placed, read
from tests.compat.spark.segments.support.transactions import marker, of_producer
from tests.support.kafka_log import errors_in
from tests.support.written import record, write_records


def rows(first: int, count: int) -> pa.RecordBatch:
    numbers = range(first, first + count)
    return pa.record_batch(
        {
            "key": [b"%d" % n for n in numbers],
            "value": [b"v%d" % n for n in numbers],
            "timestamp": pa.array([T + n for n in numbers], pa.timestamp("ms", "UTC")),
        }
    )


def written(path: Path, topic: str = "t", partition: int = 0) -> list[bytes]:
    found: list[bytes] = column(read(list_segments(path, [topic], [partition])), "value")
    return found


def leftovers(path: Path) -> list[str]:
    return [each.name for each in path.iterdir() if renamed_suffix(each.name) is not None]


def test_nothing_stands_under_a_final_name_before_the_end(tmp_path: Path) -> None:
    make_data_directory(tmp_path, {"t": 2})
    writer = SegmentWriter(tmp_path, "t", 1)
    writer.write(rows(0, 10))
    assert list_segments(tmp_path) == []
    assert (tmp_path / "t-1").exists(), "with the topic's id, and no segment"
    (segment,) = writer.finish()
    assert (segment.topic, segment.partition, segment.base_offset) == ("t", 1, 0)
    assert written(tmp_path, partition=1) == [b"v%d" % n for n in range(10)]
    assert leftovers(tmp_path) == []


def test_what_is_aborted_leaves_nothing(tmp_path: Path) -> None:
    make_data_directory(tmp_path, {"t": 1})
    before = sorted(path.name for path in tmp_path.rglob("*"))
    with pytest.raises(ZeroDivisionError), SegmentWriter(tmp_path, "t", 0) as writer:  # noqa: PT012
        writer.write(rows(0, 10))
        raise ZeroDivisionError
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_a_writer_that_was_killed_leaves_what_a_broker_removes(tmp_path: Path) -> None:
    make_data_directory(tmp_path, {"t": 1})
    writer = SegmentWriter(tmp_path, "t", 0)
    writer.write(rows(0, 10))
    assert len(leftovers(tmp_path)) == 1
    with Emulator(data_dir=tmp_path) as emulator:
        assert emulator.topic("t").values() == []
    assert leftovers(tmp_path) == []


def test_segments_are_rolled_and_go_on_where_the_partition_ends(tmp_path: Path) -> None:
    make_data_directory(tmp_path, {"t": 1})
    with SegmentWriter(tmp_path, "t", 0, segment_bytes=4000, records_in_batch=20) as writer:
        for first in range(0, 1000, 100):
            writer.write(rows(first, 100))
    before = list_segments(tmp_path)
    assert len(before) > 3
    with SegmentWriter(tmp_path, "t", 0, codec="lz4") as writer:
        writer.write(rows(1000, 50))
    segments = list_segments(tmp_path)
    assert segments[: len(before) - 1] == before[:-1]
    assert segments[-1].base_offset == 1000
    assert offsets(segments) == [*range(1050)]
    with Emulator(data_dir=tmp_path) as emulator:
        assert emulator.topic("t").values() == [b"v%d" % n for n in range(1050)]
        assert emulator.notices == []


def test_segments_of_several_writers_are_published_as_one(tmp_path: Path) -> None:
    make_data_directory(tmp_path, {"t": 1})
    staged = []
    for first in (0, 100, 200):
        writer = SegmentWriter(tmp_path, "t", 0, segment_bytes=1500, records_in_batch=10)
        writer.write(rows(first, 100))
        staged.append(pickle.loads(pickle.dumps(writer.stage())))
    assert list_segments(tmp_path) == []
    publish(staged[:2])
    publish(staged[2:])
    assert leftovers(tmp_path) == []
    assert written(tmp_path) == [b"v%d" % n for n in range(300)]
    assert offsets(list_segments(tmp_path)) == [*range(300)]
    with Emulator(data_dir=tmp_path) as emulator:
        assert emulator.topic("t").values() == [b"v%d" % n for n in range(300)]
        assert emulator.notices == []
        write_records(emulator.bootstrap_servers, "t", 0, record(b"more"))
        assert emulator.topic("t").values()[-1] == b"more"


def test_what_is_discarded_is_gone(tmp_path: Path) -> None:
    make_data_directory(tmp_path, {"t": 1})
    writer = SegmentWriter(tmp_path, "t", 0)
    writer.write(rows(0, 3))
    staged = writer.stage()
    assert isinstance(staged, Staged)
    staged.discard()
    assert leftovers(tmp_path) == []
    with SegmentWriter(tmp_path, "t", 0):
        pass
    assert leftovers(tmp_path) == []
    assert list_segments(tmp_path) == []


def test_offsets_can_be_kept(tmp_path: Path) -> None:
    make_data_directory(tmp_path, {"t": 1})
    kept = rows(0, 3).append_column("offset", pa.array([70, 75, 90]))
    with SegmentWriter(tmp_path, "t", 0, base_offset=70, keep_offsets=True) as writer:
        writer.write(kept)
        assert writer.next_offset == 91
    assert offsets(list_segments(tmp_path)) == [70, 75, 90]
    writer = SegmentWriter(tmp_path, "t", 0, base_offset=80, keep_offsets=True)
    writer.write(rows(0, 1).append_column("offset", pa.array([80])))
    with pytest.raises(PlaceError, match="offset 80 is to be written where 91 is the next"):
        writer.finish()
    assert leftovers(tmp_path) == []
    with Emulator(data_dir=tmp_path) as emulator:
        assert emulator.topic("t")[0].log_start_offset == 70


def test_batches_are_written_as_they_are(tmp_path: Path) -> None:
    make_data_directory(tmp_path, {"t": 1})
    data = [
        of_producer(5, 2, 1, transactional=True, leader_epoch=3),
        numbered(7, 3, leader_epoch=4),
        marker(10, 1, commit=False),
    ]
    with SegmentWriter(tmp_path, "t", 0, base_offset=5) as writer:
        writer.write_batches(b"".join(data) + numbered(11, 2)[:-1])
        assert writer.records == 6
    segments = list_segments(tmp_path)
    assert offsets(segments, Wanted()) == [7, 8, 9]
    table = read(segments, EVERYTHING)
    assert column(table, "leaderEpoch") == [0] * 6
    assert column(table, "outcome")[:2] == ["aborted"] * 2
    assert (tmp_path / "t-0" / "00000000000000000005.txnindex").stat().st_size == 34


def test_a_directory_that_a_broker_has_open_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("odradek.compat.spark.segments.writer._LOCK_WAIT_S", 0.1)
    with Emulator(topics={"t": 1}, data_dir=tmp_path):
        with pytest.raises(PlaceError, match="is in use"):
            make_data_directory(tmp_path, {"t": 1})
        writer = SegmentWriter(tmp_path, "t", 0)
        writer.write(rows(0, 1))
        with pytest.raises(PlaceError, match="is in use by a broker"):
            writer.finish()
        assert leftovers(tmp_path) == []


def test_nothing_is_added_after_an_incomplete_batch(tmp_path: Path) -> None:
    placed(tmp_path, {0: numbered(0, 3) + numbered(3, 3)[:-1]})
    writer = SegmentWriter(tmp_path, "t", 0)
    writer.write(rows(0, 1))
    with pytest.raises(Damaged, match="cut short"):
        writer.finish()
    assert leftovers(tmp_path) == []


def test_topics_are_made_once_and_grow(tmp_path: Path) -> None:
    first = make_data_directory(tmp_path, {"a": 1}, configs={"a": {"retention.ms": "-1"}})
    again = make_data_directory(tmp_path, {"a": 3, "b": 1})
    assert again["a"] == first["a"]
    assert sorted(path.name for path in tmp_path.glob("[ab]-*")) == ["a-0", "a-1", "a-2", "b-0"]
    with Emulator(data_dir=tmp_path) as emulator:
        assert emulator.run(lambda cluster: len(cluster.topic("a").partitions)) == 3
    (tmp_path / "meta.properties").write_text("nonsense")
    with pytest.raises(PlaceError, match=r"meta\.properties"):
        make_data_directory(tmp_path, {"a": 1})


@pytest.mark.real
@pytest.mark.slow
def test_a_real_kafka_opens_what_was_written(tmp_path: Path) -> None:
    jars(VERSION)
    data = tmp_path / "data"
    make_data_directory(data, {"plain": 2, "kept": 1, "raw": 1})
    for partition, codec in enumerate(("zstd", "none")):
        options = {"codec": codec, "segment_bytes": 20_000, "records_in_batch": 50}
        with SegmentWriter(data, "plain", partition, **options) as writer:  # type: ignore[arg-type]
            writer.write(rows(0, 3000))
    publish([_staged(data, first) for first in (3000, 3500)])
    with SegmentWriter(data, "kept", 0, base_offset=70, keep_offsets=True) as writer:
        writer.write(rows(0, 3).append_column("offset", pa.array([70, 75, 90])))
    with SegmentWriter(data, "raw", 0) as writer:
        writer.write_batches(
            of_producer(0, 2, 1, transactional=True) + numbered(2, 3) + marker(5, 1, commit=False)
        )
    assert complaints(data, compacted=["kept"]) == []
    copy = Path(shutil.copytree(data, tmp_path / "copy"))
    with Emulator(data_dir=copy) as emulator:
        ours = everything(emulator.bootstrap_servers, ())
    with RealKafka(data_dir=data) as kafka:
        theirs = everything(kafka.bootstrap_servers, ())
        assert errors_in(kafka.log) == []
        assert theirs.topics == ours.topics
        assert theirs.topics["raw"].partitions[0].aborted
        write_records(kafka.bootstrap_servers, "plain", 0, record(b"more"))
    wait_until(lambda: not (data / ".lock").exists(), "Kafka has stopped")
    assert written(data, "plain", 0)[2999:] == [*(b"v%d" % n for n in range(2999, 4000)), b"more"]


def _staged(data: Path, first: int) -> Staged:
    writer = SegmentWriter(data, "plain", 0, segment_bytes=9000, records_in_batch=100)
    writer.write(rows(first, 500))
    return writer.stage()


# Going on after a crash in the middle of publishing.


def staged_in_segments(path: Path) -> Staged:
    """20 records after the 10 that are there, in several segments."""
    make_data_directory(path, {"t": 1})
    with SegmentWriter(path, "t", 0) as first:
        first.write(rows(0, 10))
    writer = SegmentWriter(
        path, "t", 0, base_offset=log_end(str(path / "t-0")), segment_bytes=400, records_in_batch=5
    )
    writer.write(rows(10, 20))
    return writer.stage()


def test_the_rest_is_published_after_a_crash_between_any_two_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = os.replace
    for most in range(100):
        path = tmp_path / str(most)
        staged = staged_in_segments(path)
        crc = last_crc(staged)
        moved: list[str] = []

        def replace(
            old: str, new: str, most: int = most, moved: list[str] = moved, to: str = staged.final
        ) -> None:
            if str(new).startswith(to):
                if len(moved) == most:
                    raise OSError(5, "as if killed")
                moved.append(new)
            whole(old, new)

        monkeypatch.setattr(os, "replace", replace)
        try:
            publish([staged])
        except OSError:
            monkeypatch.setattr(os, "replace", whole)
            assert publish_rest(staged, crc)
        monkeypatch.setattr(os, "replace", whole)
        assert publish_rest(staged, crc), "once more: it is all there"
        assert written(path) == [b"v%d" % n for n in range(30)]
        assert leftovers(path) == []
        if len(moved) < most:
            break
    assert most > 6


def test_what_is_gone_before_anything_was_published_is_reported(tmp_path: Path) -> None:
    staged = staged_in_segments(tmp_path)
    crc = last_crc(staged)
    staged.discard()
    assert not publish_rest(staged, crc)
    with SegmentWriter(tmp_path, "t", 0) as other:
        other.write(rows(70, 20))
    with pytest.raises(PlaceError, match="was written to from offset 10 on"):
        publish_rest(staged, crc)


def test_what_a_job_has_staged_is_found_by_its_mark(tmp_path: Path) -> None:
    make_data_directory(tmp_path, {"t": 1})
    writers = [
        SegmentWriter(tmp_path, "t", 0, job=job) for job in (b"12345678", b"12345678", b"87654321")
    ]
    for writer in writers:
        writer.write(rows(0, 1))
    ours, kept, other = (writer.stage() for writer in writers)
    discard_staged(str(tmp_path), b"12345678", [kept.path])
    assert [os.path.exists(each.path) for each in (ours, kept, other)] == [False, True, True]
