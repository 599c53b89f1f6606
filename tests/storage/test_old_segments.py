"""Segments with messages of magic 0 and 1: opened, recovered, read, searched, checked, compacted.

The segments are those of tests/support/old_segments.py, which a real Kafka answers alike
(tests/clients/test_old_segments.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from struct import pack
from typing import NamedTuple

import pytest
from odradek.storage import repair
from odradek.storage.batch_walk import header_at, walk_batches
from odradek.storage.config import LogConfig
from odradek.storage.index import offset_entries, time_entries
from odradek.storage.log import Log
from odradek.wire.batch import MAGIC, read_header
from odradek.wire.errors import Error, Refused, WireError
from odradek.wire.legacy.as_batches import header_of, read_logged
from odradek.wire.legacy.message_sets import entries, read_entry
from odradek.wire.records import Record, read_records

from tests.storage.support.logs import append, file, flip, home, open_log, place
from tests.support.old_segments import END, TOPICS, TORN, Segments, T, batch, loose, torn, wrapped

CONFIG = LogConfig(index_interval_bytes=300)
DAY_MS = 86_400_000


class One(NamedTuple):
    """An entry of a segment, read without what is tested here."""

    base: int
    """Of its segment."""
    data: bytes
    records: list[Record]

    @property
    def last(self) -> int:
        return self.records[-1].offset


def entries_of(segments: Segments) -> list[One]:
    found = []
    for base, data in segments.items():
        for entry in entries(data):
            if entry.magic == MAGIC:
                records = read_records(data, entry.pos)
            else:
                records = [Record(*message, ()) for message in read_entry(data, entry)]
            found.append(One(base, data[entry.pos : entry.pos + entry.size], records))
    return found


@pytest.fixture(params=TOPICS)
def segments(request: pytest.FixtureRequest, tmp_path: Path) -> Segments:
    place(tmp_path, TOPICS[request.param])
    return TOPICS[request.param]


def config_of(segments: Segments) -> LogConfig:
    """Only compaction leaves holes at the end of a segment."""
    policy = frozenset({"compact" if segments is TOPICS["holes"] else "delete"})
    return replace(CONFIG, cleanup_policy=policy)


def opened(path: Path, segments: Segments) -> Iterator[Log]:
    """The log as after a kill, and then, its indexes stored, as after two clean stops."""
    for clean in (False, True, True):
        log = open_log(path, config_of(segments), clean=clean, now_ms=T + DAY_MS)
        yield log
        assert (log.notices, log.reader.damages) == ([], [])
        log.close()


def test_every_read_begins_with_the_entry_that_holds_the_offset(
    tmp_path: Path, segments: Segments
) -> None:
    found = entries_of(segments)
    for log in opened(tmp_path, segments):
        assert (log.log_start_offset, log.log_end_offset) == (0, found[-1].last + 1)
        for offset in range(log.log_end_offset):
            first = next(one for one in found if one.last >= offset)
            rest = [one.data for one in found if one.base == first.base and one.last >= offset]
            assert log.read(offset, 1) == rest[0], offset
            assert log.read(offset, 1 << 20) == b"".join(rest), offset
            limit = len(rest[0]) + 20
            assert log.read(offset, limit) == b"".join(rest)[:limit], offset


def test_a_read_ends_in_front_of_the_entry_that_it_may_not_show(
    tmp_path: Path, segments: Segments
) -> None:
    for log in opened(tmp_path, segments):
        for one in entries_of(segments):
            if one.base < one.records[0].offset:
                before = log.read(one.base, 1 << 20, upto=one.records[0].offset)
                assert before == segments[one.base].partition(one.data)[0]


def test_the_records_of_all_formats_are_walked_through(tmp_path: Path, segments: Segments) -> None:
    expected = [record for one in entries_of(segments) for record in one.records]
    for log in opened(tmp_path, segments):
        walked = [(header, read_logged(buf, at)) for header, buf, at in log.reader.batches_from(0)]
        assert [record for _, records in walked for record in records] == expected
        for header, records in walked:
            assert header.count == len(records)
            assert (header.base_offset, header.last_offset) == (records[0][0], records[-1][0])
            assert header.magic == MAGIC or header.producer_id == header.leader_epoch == -1


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("chunk", [61, 100, 700, 1 << 20])
def test_a_walk_meets_every_entry_whatever_its_steps(
    tmp_path: Path, segments: Segments, chunk: int, whole: bool
) -> None:
    log = open_log(tmp_path, config_of(segments))
    for segment in log.segments:
        found = [one for one in entries_of(segments) if one.base == segment.base_offset]
        steps = list(walk_batches(segment.file, 0, segment.size, chunk, whole=whole))
        assert [header.last_offset for _, header, _, _ in steps] == [one.last for one in found]
        for (position, header, buf, at), one in zip(steps, found, strict=True):
            assert header == header_of(one.data) == header_at(segment.file, position, segment.size)
            size = len(one.data) if whole else 26
            assert bytes(buf[at : at + size]) == one.data[:size]
            with pytest.raises(WireError, match=f"byte {position} is cut short"):
                list(
                    walk_batches(
                        segment.file, position, position + len(one.data) - 1, chunk, whole=whole
                    )
                )
    log.close()


def test_a_time_is_looked_for_in_wrappers_too(tmp_path: Path, segments: Segments) -> None:
    found = entries_of(segments)
    times = {record.timestamp for one in found for record in one.records} - {-1}
    for log in opened(tmp_path, segments):
        for wanted in sorted({time + by for time in times for by in (-1, 0, 1)}):
            if not times or wanted > max(times):
                continue
            bases = {one.base for one in found if max(r.timestamp for r in one.records) >= wanted}
            records = [r for one in found if one.base == min(bases) for r in one.records]
            first = next(record for record in records if record.timestamp >= wanted)
            answer = log.reader.find_timestamp(wanted)
            assert answer is not None
            assert answer[:2] == first[:2], wanted


def test_the_latest_record_is_none_of_magic_0(tmp_path: Path, segments: Segments) -> None:
    records = [record for one in entries_of(segments) for record in one.records]
    latest = max(record.timestamp for record in records)
    expected = next(r[:2] for r in records if r.timestamp == latest) if latest >= 0 else None
    for log in opened(tmp_path, segments):
        answer = log.reader.max_timestamp()
        assert (answer and answer[:2]) == expected


def indexes_of(base: int, data: bytes) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The entries of a segment's indexes, by Kafka's rules, an entry being a batch."""
    offsets, times, latest, since, position = [], [(-1, 0)], (-1, 0), 0, 0
    for one in entries_of({base: data}):
        latest = max(latest, (header_of(one.data).max_timestamp, one.last - base), key=first_of)
        if since > 4096:
            offsets.append((one.last - base, position))
            times.append(latest)
            since = 0
        since += len(one.data)
        position += len(one.data)
    times.append(latest)
    return offsets, [b for a, b in pairwise(times) if b[0] > a[0]]


def first_of(entry: tuple[int, int]) -> int:
    return entry[0]


def test_indexes_have_an_entry_for_messages_as_for_batches(tmp_path: Path) -> None:
    place(tmp_path, TOPICS["large"])
    open_log(tmp_path, LogConfig()).close()
    for base, data in TOPICS["large"].items():
        offsets = list(offset_entries(file(tmp_path, base, ".index").read_bytes()))
        times = list(time_entries(file(tmp_path, base, ".timeindex").read_bytes()))
        assert (offsets, times) == indexes_of(base, data)
        assert len(offsets) > (base == 0)


def test_indexes_of_brokers_that_noted_the_first_offset_of_a_set_are_sound(tmp_path: Path) -> None:
    """Up to 0.10.1 an entry was made for what a request brought, by its first offset; and there
    were no time indexes before 0.10.1, or nothing in them for messages without a time."""
    place(tmp_path, {0: loose(0, range(60)), 60: batch(60, 1)})
    index = b"".join(pack(">ii", n, len(loose(0, range(n)))) for n in range(9, 60, 9))
    for base in (0, 60):
        file(tmp_path, base, ".index").write_bytes(b"" if base else index)
        file(tmp_path, base, ".timeindex").write_bytes(b"")
    (home(tmp_path) / "leader-epoch-checkpoint").write_text("0\n1\n0 60\n")
    log = open_log(tmp_path, CONFIG, clean=True)
    for offset in range(60):
        assert log.read(offset, 1) == loose(0, [offset])
    log.close()
    assert log.notices == []
    assert file(tmp_path, 0, ".index").read_bytes() == index


@pytest.mark.parametrize("name", TORN)
def test_a_kill_s_rest_is_cut_off_behind_the_last_whole_message(tmp_path: Path, name: str) -> None:
    segments, rest = TORN[name]
    place(tmp_path, torn(name))
    log = open_log(tmp_path, CONFIG)
    assert log.log_end_offset == END
    assert len(log.notices) == 1
    assert log.notices[0].endswith(f"; truncated {len(rest)} bytes")
    log.close()
    assert {base: file(tmp_path, base, ".log").read_bytes() for base in segments} == segments


def test_what_is_appended_is_of_magic_2(tmp_path: Path, segments: Segments) -> None:
    expected = [record for one in entries_of(segments) for record in one.records]
    for clean in (False, True):
        log = open_log(tmp_path, config_of(segments), clean=clean)
        header = append(log, b"new", producer_id=1, sequence=int(clean))
        assert header.base_offset == expected[-1].offset + 1
        data = log.read(header.base_offset, 1)
        assert read_header(data).magic == MAGIC
        expected += read_records(data)
        log.close()
    log = open_log(tmp_path, config_of(segments), clean=False)
    assert log.notices == []
    assert [
        r for _, buf, at in log.reader.batches_from(0) for r in read_logged(buf, at)
    ] == expected
    assert log.producers.states[1].last_sequence == 1
    log.close()


def test_a_log_is_cut_back_between_messages(tmp_path: Path, segments: Segments) -> None:
    found = entries_of(segments)
    for one in reversed(found):
        log = open_log(tmp_path, config_of(segments))
        log.truncate(one.last)
        before = [each for each in found if each.last < one.last]
        assert log.log_end_offset == max(one.base, before[-1].last + 1 if before else 0)
        log.close()
    assert [path.read_bytes() for path in home(tmp_path).glob("*.log")] in ([], [b""])


# Damage in what was flushed.

MIXED: Segments = {
    0: loose(1, range(3)) + wrapped(1, range(3, 6)) + batch(6, 2) + loose(0, [8]) + loose(0, [9]),
    10: wrapped(0, [10, 11]) + loose(1, [12, 13]) + batch(14, 1),
    15: batch(15, 2),
}


def byte_of(entry: int, byte: int) -> int:
    """A byte of one of the entries of the first segment of MIXED."""
    return sum(len(one.data) for one in entries_of(MIXED)[:entry]) + byte


DAMAGE: list[tuple[str, Callable[[Path], object], list[int]]] = [
    ("a loose message", lambda path: flip(file(path, 0, ".log"), byte_of(1, 36)), [1]),
    ("a wrapper", lambda path: flip(file(path, 0, ".log"), byte_of(3, 60)), [3, 4, 5]),
    ("a size", lambda path: flip(file(path, 0, ".log"), byte_of(1, 11)), [1]),
    ("the size of a wrapper", lambda path: flip(file(path, 0, ".log"), byte_of(3, 9)), [3, 4, 5]),
    ("a batch between them", lambda path: flip(file(path, 0, ".log"), byte_of(4, 70)), [6, 7]),
    ("the last message", lambda path: flip(file(path, 0, ".log"), byte_of(6, 20)), [9]),
    ("a magic", lambda path: flip(file(path, 0, ".log"), byte_of(5, 16)), [8]),
    ("the codec of a wrapper", lambda path: flip(file(path, 10, ".log"), 17), [10, 11]),
    (
        "two messages",
        lambda path: [flip(file(path, 0, ".log"), byte_of(n, 20)) for n in (1, 6)],
        [1, 9],
    ),
]


@pytest.mark.parametrize("clean", [True, False], ids=["clean", "killed"])
@pytest.mark.parametrize(("what", "harm", "lost"), DAMAGE, ids=[what for what, _, _ in DAMAGE])
def test_damaged_messages_are_named_and_all_others_served(
    tmp_path: Path, what: str, harm: Callable[[Path], object], lost: list[int], clean: bool
) -> None:
    place(tmp_path, MIXED)
    open_log(tmp_path, CONFIG).close()
    harm(tmp_path)
    log = open_log(tmp_path, CONFIG, clean=clean, recovery_point=17)
    missing = []
    for one in entries_of(MIXED):
        for record in one.records:
            try:
                assert log.read(record.offset, 1) == one.data
            except Refused as refused:
                missing.append((record.offset, refused.error))
    assert missing == [(offset, Error.KAFKA_STORAGE_ERROR) for offset in lost], what
    assert [o for d in log.reader.damages for o in range(d.first_offset, d.next_offset)] == lost
    log.close()


def test_one_bit_changed_takes_one_entry(tmp_path: Path) -> None:
    place(tmp_path, MIXED)
    open_log(tmp_path, CONFIG).close()
    found = entries_of(MIXED)
    for hurt in found:
        path = file(tmp_path, hurt.base, ".log")
        whole = path.read_bytes()
        at = whole.index(hurt.data)
        for number in range(at, at + len(hurt.data), 3) if hurt.data[16] < MAGIC else ():
            flip(path, number)
            log = open_log(tmp_path, CONFIG, recovery_point=17)
            kept = []
            for one in found:
                with suppress(Refused):
                    data = log.read(one.records[0].offset, 1)
                    assert data == one.data, number
                    kept.append(one)
            assert kept == [one for one in found if one is not hurt], number
            log.close(clean=False)
            path.write_bytes(whole)


@pytest.mark.parametrize(("what", "harm", "lost"), DAMAGE, ids=[what for what, _, _ in DAMAGE])
def test_a_repair_sets_damaged_messages_aside(
    tmp_path: Path, what: str, harm: Callable[[Path], object], lost: list[int]
) -> None:
    place(tmp_path, MIXED)
    open_log(tmp_path, CONFIG).close()
    (tmp_path / ".kafka_cleanshutdown").touch()
    (tmp_path / "meta.properties").write_text("version=1\ncluster.id=c\nnode.id=1\n")
    assert repair(tmp_path, config=CONFIG).findings == []
    harm(tmp_path)
    report = repair(tmp_path, config=CONFIG)
    assert len([one for one in report.findings if one.position is not None]) == len(report.findings)
    assert repair(tmp_path, config=CONFIG).findings == [], what
    log = open_log(tmp_path, CONFIG, clean=True)
    left = [r.offset for _, buf, pos in log.reader.batches_from(0) for r in read_logged(buf, pos)]
    assert left == [offset for offset in range(17) if offset not in lost]
    log.close()


def test_a_torn_end_after_a_clean_stop_is_damage(tmp_path: Path) -> None:
    place(tmp_path, {0: loose(1, range(5)), 5: loose(0, range(5, 9))[:-3]})
    log = open_log(tmp_path, CONFIG, clean=True, recovery_point=9)
    assert log.log_end_offset == 9
    assert [(d.first_offset, d.next_offset) for d in log.reader.damages] == [(8, 9)]
    assert log.read(5, 1 << 20) == loose(0, range(5, 8))
    assert append(log, b"new").base_offset == 9
    log.close()


def test_a_message_behind_a_mebibyte_of_nonsense_is_found_wherever_it_begins(
    tmp_path: Path,
) -> None:
    front = loose(1, [0])
    place(tmp_path, {0: front})
    for nonsense in range((1 << 20) - 20, (1 << 20) + 2):
        rest = loose(0, [5]) if nonsense % 2 else wrapped(1, [4, 5])
        file(tmp_path, 0, ".log").write_bytes(front + b"\xff" * nonsense + rest)
        log = open_log(tmp_path, CONFIG, recovery_point=6)
        assert [(d.position, d.size) for d in log.reader.damages] == [(len(front), nonsense)]
        assert log.read(5, 1) == rest
        log.close()


def test_zeros_in_front_of_messages_are_passed_over(tmp_path: Path) -> None:
    place(tmp_path, {0: loose(1, range(3)) + bytes(50_000) + loose(1, range(5, 7)), 7: batch(7, 1)})
    log = open_log(tmp_path, CONFIG, recovery_point=8)
    assert [(d.size, d.first_offset, d.next_offset) for d in log.reader.damages] == [(50_000, 3, 5)]
    assert log.read(5, 1) == loose(1, [5])
    log.close()
