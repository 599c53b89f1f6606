"""A log beside a plain list of batches, under whatever sequence of operations Hypothesis makes up.

After a clean stop the index files are compared, byte by byte, with what Kafka's rules give.
"""

from __future__ import annotations

import shutil
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from odradek.storage.config import LogConfig
from odradek.storage.disk.mirror import link_image, mirror
from odradek.storage.log import Log
from odradek.storage.recovery.known import learn
from odradek.storage.retention import before_log_start
from odradek.wire.batch import read_header
from odradek.wire.errors import Error, Refused
from odradek.wire.records import build_batch, read_records

from tests.storage.support.logs import disk_full_at, expected_indexes, home, open_log, read_all
from tests.support.drawn import examples


class Batch(NamedTuple):
    base: int
    last: int
    latest: int
    data: bytes


class Image(NamedTuple):
    """Files that are shared with the log, what was in them, and what the log was then."""

    place: Path
    content: dict[str, bytes]
    batches: list[Batch]
    start: int
    end: int


def content_of(place: Path) -> dict[str, bytes]:
    files = (path for path in place.rglob("*") if path.is_file())
    return {path.name: path.read_bytes() for path in files if path.suffix != ".deleted"}


class Logs(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.path = Path(tempfile.mkdtemp(prefix="odradek-test-"))
        self.log: Log
        self.batches: list[Batch] = []
        self.start = self.end = 0
        self.views: list[tuple[bytes, object]] = []
        self.image: Image | None = None
        self.known: object = None

    @initialize(
        segment_bytes=st.sampled_from([1, 300, 1000, 1 << 20]),
        segment_ms=st.sampled_from([5, 1000]),
        interval=st.sampled_from([0, 150, 4096]),
    )
    def open(self, segment_bytes: int, segment_ms: int, interval: int) -> None:
        self.config = LogConfig(
            segment_bytes=segment_bytes,
            segment_ms=segment_ms,
            index_interval_bytes=interval,
            # A gap between the segments of any other log is damage.
            cleanup_policy=frozenset({"compact", "delete"}),
        )
        self.log = open_log(self.path, self.config)

    def teardown(self) -> None:
        if hasattr(self, "log"):
            self.log.close(clean=False)
        shutil.rmtree(self.path)
        if self.image is not None:
            shutil.rmtree(self.image.place)

    def make(self, times: list[int], size: int, gap: int) -> Batch:
        base = self.end + gap * bool(self.batches)  # a log's first epoch begins where the log does
        values = [
            (time, None, b"%d:" % (base + at) + bytes(size), ()) for at, time in enumerate(times)
        ]
        data = bytes(build_batch(values, base_offset=base, leader_epoch=0))
        return Batch(base, base + len(times) - 1, max(times), data)

    BATCH: ClassVar[dict[str, Any]] = {
        "times": st.lists(st.integers(-1, 30), min_size=1, max_size=4),
        "size": st.sampled_from([0, 50, 400]),
        "gap": st.sampled_from([0, 0, 0, 3]),
    }

    @rule(**BATCH, repeat=st.sampled_from([1, 1, 1, 10]))
    def append(self, times: list[int], size: int, gap: int, repeat: int) -> None:
        for _ in range(repeat):
            batch = self.make(times, size, gap)
            self.log.append(batch.data, read_header(batch.data), 0)
            self.batches.append(batch)
            self.end = batch.last + 1

    @rule(**BATCH, room=st.integers(0, 100))
    def append_on_a_full_disk(self, times: list[int], size: int, gap: int, room: int) -> None:
        batch = self.make(times, size, gap)
        with disk_full_at(min(room, len(batch.data) - 1)), pytest.raises(Refused) as why:
            self.log.append(batch.data, read_header(batch.data), 0)
        assert why.value.error is Error.KAFKA_STORAGE_ERROR

    @rule(data=st.data())
    def delete_records(self, data: st.DataObject) -> None:
        self.start = data.draw(st.integers(self.start, self.end), label="before")
        self.log.delete_records(self.start)

    @rule()
    def drop_passed_segments(self) -> None:
        self.log.delete_old_segments(
            0, policy=lambda log, _: before_log_start(log.segments, self.start)
        )
        first, *others = self.log.segments
        assert not others or others[0].base_offset > self.start
        self.batches = [batch for batch in self.batches if batch.base >= first.base_offset]

    @rule(count=st.integers(0, 4), data=st.data())
    def drop_oldest_segments(self, count: int, data: st.DataObject) -> None:
        limit = data.draw(st.integers(self.start, self.end), label="high watermark")
        before = self.log.segments
        gone = self.log.delete_old_segments(0, high_watermark=limit, policy=lambda *_: count)
        first = self.log.segments[0].base_offset
        assert gone <= count
        assert [one for one in before if one not in self.log.segments] == before[:gone]
        assert first <= max(limit, before[0].base_offset)
        self.batches = [batch for batch in self.batches if batch.base >= first]
        self.start = max(self.start, first)

    @rule(now=st.integers(59_999, 60_000))
    def unlink_deleted(self, now: int) -> None:
        self.log.unlink_deleted(now)
        if self.log.exists and now == 60_000:
            assert not list(home(self.path).glob("*.deleted"))

    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        offset = data.draw(st.integers(self.start, self.end), label="offset")
        before = self.log.segments
        self.log.truncate(offset)
        if offset >= self.end:
            return
        self.batches = [batch for batch in self.batches if batch.last < offset]
        kept = [one.base_offset for one in before if one.base_offset <= offset] or [offset]
        self.end = max(kept[-1], *(batch.last + 1 for batch in self.batches[-1:] or [self.batch_0]))
        self.start = min(self.start, self.end)

    batch_0 = Batch(0, -1, -1, b"")

    @rule(clean=st.booleans(), point=st.booleans())
    def open_again(self, clean: bool, point: bool) -> None:
        image = self.log.image()
        self.log.close(clean=clean)
        if clean and self.log.exists:
            content = content_of(home(self.path))
            assert content == {
                name: content[name] if data is None else data for name, data in image.items()
            }
            for log_file in home(self.path).glob("*.log"):
                names = (log_file.with_suffix(suffix) for suffix in (".index", ".timeindex"))
                expected = expected_indexes(
                    log_file, self.config.index_interval_bytes, stopped=True
                )
                assert tuple(name.read_bytes() for name in names) == expected
        recovery_point = self.log.recovery_point if point else 0
        self.log = open_log(
            self.path,
            self.config,
            clean=clean,
            recovery_point=recovery_point,
            log_start_offset=self.start,
        )
        if self.batches:
            assert self.log.notices == []

    @precondition(lambda self: self.batches and self.log.segments[-1].size)
    @rule(data=st.data())
    def tear_the_last_batch(self, data: st.DataObject) -> None:
        self.log.close(clean=False)
        newest = max(home(self.path).glob("*.log"))
        lost = data.draw(st.integers(1, len(self.batches[-1].data)), label="bytes lost")
        content = newest.read_bytes()
        newest.unlink()  # an image may share it
        newest.write_bytes(content[: len(content) - lost])
        self.batches.pop()
        log_end = max([self.log.active_base_offset, *(batch.last + 1 for batch in self.batches)])
        self.end = max(self.start, log_end)
        self.log = open_log(self.path, self.config, log_start_offset=self.start)
        if log_end < self.start:
            self.batches = []

    @rule()
    def take_image(self) -> None:
        if self.image is not None:
            shutil.rmtree(self.image.place)
        place = Path(tempfile.mkdtemp(prefix="odradek-test-"))
        if files := self.log.image():
            link_image(str(self.path), {home(self.path).name: files}, str(place))
            self.known = learn(self.log.segments[-1])
        self.image = Image(place, content_of(place), list(self.batches), self.start, self.end)

    @precondition(lambda self: self.image is not None)
    @rule()
    def go_back_to_the_image(self) -> None:
        assert self.image is not None
        place, _, batches, self.start, self.end = self.image
        self.batches = list(batches)
        self.log.close(clean=False)
        mirror(str(place), str(self.path))
        self.log = open_log(
            *(self.path, self.config),
            clean=True,
            recovery_point=self.end,
            log_start_offset=self.start,
        )
        assert self.log.notices == []

    @invariant()
    def the_image_never_changes(self) -> None:
        if self.image is not None:
            assert content_of(self.image.place) == self.image.content

    @rule(data=st.data(), whole_first=st.booleans())
    def read(self, data: st.DataObject, whole_first: bool) -> None:
        offset = data.draw(st.integers(self.start - 1, self.end + 1), label="offset")
        upto = data.draw(st.none() | st.integers(0, self.end + 1), label="upto")
        max_bytes = data.draw(st.integers(-1, 1500), label="max_bytes")
        if not self.start <= offset <= self.end:
            with pytest.raises(Refused):
                self.log.read(offset, max_bytes, upto=upto, whole_first=whole_first)
            return
        found = self.log.read(offset, max_bytes, upto=upto, whole_first=whole_first)
        self.views.append((bytes(found), found))

        end = self.end if upto is None else min(upto, self.end)
        later = [batch for batch in self.batches if batch.last >= offset]
        if not later or offset >= end or later[0].base >= end:
            assert found == b""
            return
        segment_end = next(
            (one.base_offset for one in self.log.segments if one.base_offset > later[0].base), end
        )
        limit = min(end, segment_end)
        available = b"".join(batch.data for batch in later if batch.base < limit)
        most = max(max_bytes, len(later[0].data) if whole_first else 0)
        assert found == available[:most]

    @rule(time=st.integers(0, 31))
    def find_timestamp(self, time: int) -> None:
        found = self.log.reader.find_timestamp(time)
        bases = [*(one.base_offset for one in self.log.segments), 1 << 62]
        expected = None
        for base, end in pairwise(bases):
            inside = [batch for batch in self.batches if base <= batch.base < end]
            latest = max((batch.latest for batch in inside), default=-1)
            modified = next(one for one in self.log.segments if one.base_offset == base).modified_ms
            if inside and (latest if latest >= 0 else modified) >= time:
                records = [record for batch in inside for record in read_records(batch.data)]
                expected = next(
                    (
                        (one.offset, one.timestamp, 0)
                        for one in records
                        if one.timestamp >= time and one.offset >= self.start
                    ),
                    None,
                )
                break
        assert found == expected

    @invariant()
    def the_log_knows_where_it_begins_and_ends(self) -> None:
        if hasattr(self, "log"):
            assert (self.log.log_start_offset, self.log.log_end_offset) == (self.start, self.end)
            assert self.log.size == sum(len(batch.data) for batch in self.batches)

    @invariant()
    def what_was_read_stays_as_it_was(self) -> None:
        assert all(copy == view for copy, view in self.views)
        del self.views[:-3]

    @invariant()
    def every_record_is_there(self) -> None:
        if hasattr(self, "log"):
            records = [record for batch in self.batches for record in read_records(batch.data)]
            expected = [(one.offset, one.value) for one in records if one.offset >= self.start]
            assert read_all(self.log, max_bytes=700) == expected


TestLogs = Logs.TestCase
TestLogs.settings = examples(40, stateful_step_count=25)
