"""One segment: index entries by Kafka's rules, finding batches, and writes that fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.storage.batch_walk import walk_batches
from odradek.storage.disk.directory import Directory
from odradek.storage.naming import DOCUMENTED, KAFKA
from odradek.storage.segment import Segment, containing
from odradek.wire.batch import read_header
from odradek.wire.errors import WireError
from odradek.wire.records import build_batch

from tests.storage.support.logs import disk_full_at, expected_indexes, records

INTERVAL = 200


@pytest.fixture
def segment(tmp_path: Path) -> Iterator[Segment]:
    segment = new_segment(tmp_path)
    yield segment
    segment.close()


def new_segment(path: Path, base_offset: int = 0, interval: int = INTERVAL) -> Segment:
    return Segment(Directory(path), KAFKA, base_offset, now_ms=0, index_interval_bytes=interval)


def add(
    segment: Segment,
    *values: bytes,
    timestamp: int = -1,
    offset: int | None = None,
    now_ms: int = 0,
) -> None:
    batch = build_batch(
        [(timestamp, None, value, ()) for value in values],
        base_offset=segment.next_offset if offset is None else offset,
    )
    segment.append(batch, read_header(batch), now_ms)


def index_files(path: Path, base_offset: int = 0) -> tuple[bytes, bytes]:
    names = (path / f"{base_offset:020d}{suffix}" for suffix in (".index", ".timeindex"))
    offset_index, time_index = (name.read_bytes() for name in names)
    return offset_index, time_index


BATCHES = st.lists(
    st.tuples(st.integers(1, 3), st.integers(0, 300), st.integers(-1, 20), st.integers(0, 2)),
    max_size=40,
)


@given(BATCHES, st.sampled_from([0, 100, INTERVAL, 4096]), st.sampled_from([0, 7, 1 << 33]))
def test_indexes_are_what_kafka_would_have_written(
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[tuple[int, int, int, int]],
    interval: int,
    base_offset: int,
) -> None:
    path = tmp_path_factory.mktemp("segment")
    segment = new_segment(path, base_offset, interval)
    for count, size, timestamp, gap in batches:
        offset = segment.next_offset + gap
        add(segment, *[bytes(size)] * count, timestamp=timestamp, offset=offset)
    log_file = path / f"{base_offset:020d}.log"

    segment.store_indexes()
    if segment.offset_index.count:
        assert index_files(path, base_offset) == expected_indexes(log_file, interval, stopped=False)

    segment.finish()
    segment.close()
    if batches:
        assert index_files(path, base_offset) == expected_indexes(log_file, interval, stopped=True)
    else:
        assert list(path.iterdir()) == []


@given(BATCHES, st.booleans())
def test_a_batch_is_found_by_every_offset_up_to_its_last(
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[tuple[int, int, int, int]],
    settled: bool,
) -> None:
    path = tmp_path_factory.mktemp("segment")
    segment = new_segment(path, base_offset=5)
    places = []
    for count, size, timestamp, gap in batches:
        start = segment.next_offset
        place = segment.size, start + gap
        add(segment, *[bytes(size)] * count, timestamp=timestamp, offset=start + gap)
        places += [(offset, *place) for offset in range(start, segment.next_offset)]
    if settled:
        segment.finish()
        segment.seal(segment.offset_index.count, segment.time_index.count)

    for offset, position, base in places:
        found = segment.locate(offset)
        assert found is not None
        assert found[:2] == (position, base)
        assert segment.position_of(base) == position
    assert segment.locate(segment.next_offset) is None
    assert segment.position_of(segment.next_offset) == segment.size
    segment.close()


def test_batches_far_back_are_found_when_only_the_recent_are_known_exactly(
    segment: Segment,
) -> None:
    for number in range(1000):
        add(segment, b"%d" % number)
    size = segment.size
    for number in range(1000):
        found = segment.locate(number)
        assert found is not None
        position, base, length = found
        assert base == number
        assert records(segment.file.read(position, length))[0].value == b"%d" % number
        assert segment.position_of(number) == position
    assert segment.locate(1000) is None
    assert segment.position_of(1000) == size
    assert len(segment._lasts) < 1000


def test_the_first_batch_of_all_with_the_latest_time_is_the_one_indexed(segment: Segment) -> None:
    for timestamp in (5, 9, 9, 3):
        add(segment, bytes(300), timestamp=timestamp)
    assert (segment.max_timestamp, segment.max_timestamp_offset) == (9, 1)
    assert segment.first_timestamp == 5


def test_without_timestamps_the_time_of_the_last_write_stands_in(segment: Segment) -> None:
    add(segment, b"x", now_ms=1000)
    add(segment, b"y", now_ms=2000)
    assert segment.largest_timestamp == 2000
    segment.finish()
    assert segment.file.path.endswith("00.log")
    assert Path(segment.file.path).stat().st_mtime == 2

    add(segment, b"z", timestamp=7, now_ms=3000)
    assert segment.largest_timestamp == 7


def test_files_exist_from_the_first_batch_on(segment: Segment, tmp_path: Path) -> None:
    segment.store_indexes()
    assert list(tmp_path.iterdir()) == []
    add(segment, b"x")
    segment.store_indexes()
    assert [path.name for path in tmp_path.iterdir()] == ["00000000000000000000.log"]
    segment.finish()
    assert {path.suffix for path in tmp_path.iterdir()} == {".log", ".index", ".timeindex"}


@pytest.mark.parametrize("room", [0, 1, 30, 90])
def test_a_write_that_fails_changes_nothing(segment: Segment, tmp_path: Path, room: int) -> None:
    for value in (b"a", b"b"):
        add(segment, value, timestamp=3)
    before = (tmp_path / f"{0:020d}.log").read_bytes()

    with disk_full_at(len(before) + room), pytest.raises(OSError, match="too large"):
        add(segment, bytes(1000), timestamp=99)

    assert (tmp_path / f"{0:020d}.log").read_bytes() == before
    assert (segment.size, segment.next_offset) == (len(before), 2)
    assert segment.max_timestamp == 3
    add(segment, b"c")
    assert [one.value for one in records(segment.file.read(0, segment.size))] == [b"a", b"b", b"c"]


def test_what_could_not_be_cut_off_is_cut_before_the_next_write(
    segment: Segment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(size: int) -> None:
        raise OSError(5, "the disk is gone")

    add(segment, b"a")
    size = segment.size
    with monkeypatch.context() as broken:
        broken.setattr(type(segment.file), "truncate", lambda self, size: fail(size))
        with disk_full_at(size + 100), pytest.raises(OSError, match="too large"):
            add(segment, bytes(1000))
        assert (tmp_path / f"{0:020d}.log").stat().st_size == size + 100
        assert segment.read(0, 1 << 20, 99, True) == segment.file.read(0, size)
        with pytest.raises(OSError, match="gone"):
            add(segment, b"b")
        with pytest.raises(OSError, match="gone"):
            segment.finish()

    add(segment, b"b")

    assert (tmp_path / f"{0:020d}.log").stat().st_size == segment.size
    assert [one.value for one in records(segment.file.read(0, segment.size))] == [b"a", b"b"]


def test_removing_can_leave_the_files_under_another_name(segment: Segment, tmp_path: Path) -> None:
    add(segment, b"x")
    segment.finish()
    segment.retire()
    assert {path.name.partition(".")[2] for path in tmp_path.iterdir()} == {
        "log.deleted",
        "index.deleted",
        "timeindex.deleted",
    }


def test_a_walk_ends_with_an_error_where_there_is_no_batch(segment: Segment) -> None:
    add(segment, b"first")
    size = segment.size
    for tail, problem in (
        (bytes(500), f"no batch at byte {size}"),
        (bytes(60), f"the batch at byte {size} is cut short"),
        (bytes(build_batch([(0, None, bytes(100), ())]))[:-1], f"at byte {size} is cut short"),
        (bytes(8) + (48).to_bytes(4, "big") + b"\0\0\0\0\2" + bytes(60), "no batch at byte"),
        (bytes(8) + b"\x7f\xff\xff\xff" + b"\0\0\0\0\2" + bytes(60), "is cut short"),
    ):
        segment.file.truncate(size)
        segment.file.write(tail, size)
        for whole in (True, False):
            steps = walk_batches(segment.file, 0, size + len(tail), 100, whole=whole)
            assert next(steps)[0] == 0
            with pytest.raises(WireError, match=problem):
                next(steps)


@pytest.mark.parametrize("chunk", [61, 100, 700, 1 << 20])
def test_a_walk_meets_every_batch_whatever_its_steps(segment: Segment, chunk: int) -> None:
    for size in (0, 10, 1000, 5, 300):
        add(segment, bytes(size))
    for whole in (True, False):
        steps = list(walk_batches(segment.file, 0, segment.size, chunk, whole=whole))
        assert [header.base_offset for _, header, _, _ in steps] == [0, 1, 2, 3, 4]
        if whole:
            values = [records(memoryview(buf)[at : at + one.size]) for _, one, buf, at in steps]
            assert [len(value[0].value or b"") for value in values] == [0, 10, 1000, 5, 300]


def test_the_documentation_names_files_with_eleven_digits(tmp_path: Path) -> None:
    assert DOCUMENTED.log(0) == "00000000000.kafka"
    assert DOCUMENTED.directory("my_topic", 0) == "my_topic_0"
    assert DOCUMENTED.parse_directory("my_topic_0") == ("my_topic", 0)
    assert DOCUMENTED.parse_file("00000000042.kafka") == (42, ".kafka")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("orders-0", ("orders", 0)),
        ("a-b.c_d-12", ("a-b.c_d", 12)),
        ("orders", None),
        ("-1", None),
        ("orders-x", None),
        ("orders-01", None),
        ("lost+found", None),
    ],
)
def test_a_directory_is_a_partitions_or_not(name: str, expected: tuple[str, int] | None) -> None:
    assert KAFKA.parse_directory(name) == expected


def test_a_long_topic_is_cut_so_that_its_directory_can_be_renamed() -> None:
    name = KAFKA.renamed_directory("t" * 249, 3, bytes(16), "-delete")
    assert len(name) == 255
    assert name.endswith(f"t-3.{'0' * 32}-delete")


def test_a_segment_contains_what_lies_before_the_next_one(tmp_path: Path) -> None:
    segments = [new_segment(tmp_path, base) for base in (10, 20, 30)]
    assert [containing(segments, offset) for offset in (5, 10, 19, 20, 99)] == [0, 0, 0, 1, 2]
