"""Into the segment files of a data directory, without a broker.

Topics that are not there are created first; where PLACE names none, that takes a look at all rows.
Then each piece is written as segments of its own, one set for each partition, where nobody sees
them (segments/writer.py). The sets of a partition are put together as one, in the order of the
files, with the offsets that come next there. At last, as all are complete, the partitions get them.
Bytes are encoded and compressed in the first of these steps; the second only sets offsets.

What was staged and is gone, as a broker was started meanwhile, is done again. A partition that was
getting its segments when the load was killed gets the rest: its offsets and the checksum of the
last batch tell how far that went. What tasks leave that were killed has the load's mark in its
name, and is removed when the load ends or goes on.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow.compute as pc

from .....wire.batch import assign, batches
from ...segments.data_directory import make_data_directory
from ...segments.listing import PlaceError, list_segments
from ...segments.writer import (
    SegmentWriter,
    Staged,
    discard_staged,
    last_crc,
    log_end,
    publish,
    publish_rest,
)
from ..engine import Engine
from ..errors import PipelineError
from ..files import FileSplit
from ..progress import Progress
from ..retention import Oldest
from ..state import State
from ..stored import to_plain
from .checking import check_files
from .routing import Place, Routing
from .target import DirectoryTarget

_MERGED_BYTES = 8 << 20
_STAGED_SEGMENT_BYTES = 1 << 30
BEGUN, PUBLISHED, LOST = "begun", "published", "lost"
"""The entry in the state of a partition that gets its segments."""


def write_segments(
    options: argparse.Namespace,
    target: DirectoryTarget,
    state: State,
    splits: list[FileSplit],
    engine: Engine,
    bar: Progress,
) -> list[Any]:
    if state.plan is None:
        state.begin(_plan(options, target, splits, engine))
    else:
        _check_topics(target, state)
    load = _Load(target, options.codec, state, splits, engine)
    bar.begin(f"load into {target.path}", sum(split.size for split in splits))
    try:
        load.discard_unfinished()
        while not load.publish():
            load.stage(bar)
            load.merge()
    finally:
        engine.close()
        load.discard_unfinished()
    return load.results


def _plan(
    options: argparse.Namespace, target: DirectoryTarget, splits: list[FileSplit], engine: Engine
) -> dict[str, Any]:
    """The plan is written down before the first piece. Topics are created last, when nothing else
    can be refused."""
    there = target.counts()
    check_files(splits, target.topic, there, target.create, engine)
    counts, now_ms = _counts(target, splits, engine), int(time.time() * 1000)
    plain = to_plain(splits)
    new = {name: dict(options.topic_config) for name in counts if name not in there}
    make_data_directory(target.path, counts, configs=new)
    return {"splits": plain, "counts": counts, "now_ms": now_ms, "job": os.urandom(8).hex()}


def _check_topics(target: DirectoryTarget, state: State) -> None:
    """Raises PipelineError if topics of the load that is to go on were removed."""
    gone = sorted(set(state.plan["counts"]) - set(target.counts()))
    if gone or not os.path.isdir(target.path):
        what = f"topic {gone[0]} in {target.path}" if os.path.isdir(target.path) else target.path
        raise PipelineError(
            f"{what} has gone since the run that is to go on: remove {state.path} to begin again"
        )


class _Load:
    """A load, begun or resumed. Its steps, by their numbers in the state: the pieces, then which
    sets of segments partitions get, then each of these."""

    def __init__(
        self,
        target: DirectoryTarget,
        codec: str,
        state: State,
        splits: Sequence[FileSplit],
        engine: Engine,
    ) -> None:
        self._target, self._state, self._engine = target, state, engine
        self._splits = splits
        self._merged = len(splits)
        self._now_ms = state.plan["now_ms"]
        self._job = bytes.fromhex(state.plan["job"])
        self._task = _Stage(target, codec, state.plan["counts"], self._now_ms, self._job)

    @property
    def results(self) -> list[Any]:
        return [self._state.done[number] for number in range(len(self._splits))]

    def discard_unfinished(self) -> None:
        """Remove segments that no step that is done has left: of tasks that were killed."""
        kept = [each["path"] for each in self._state.done.get(self._merged, [])]
        if self._merged not in self._state.done:
            pieces = [self._state.done.get(number) for number in range(len(self._splits))]
            kept = [each["path"] for done in pieces if done for each in done["staged"]]
        discard_staged(self._target.path, self._job, kept)

    def stage(self, bar: Progress) -> None:
        """Each piece that is not done yet as segments that nobody sees."""
        _forget_lost(self._state, self._merged)
        done, size = self._state.done, sum(split.size for split in self._splits)
        pieces = [(n, split) for n, split in enumerate(self._splits) if n not in done]
        bar.advance(size - sum(split.size for _, split in pieces))
        for index, result in self._engine.run(self._task, pieces, size):
            number, split = pieces[index]
            self._state.finish_piece(number, result)
            bar.advance(split.size)

    def merge(self) -> None:
        """One set of segments for each partition that has not got its own yet."""
        sets: dict[Place, list[Staged]] = {}
        for result in self.results:
            for each in result["staged"]:
                staged = Staged(**each)
                sets.setdefault((staged.topic, staged.partition), []).append(staged)
        parts = [tuple(sets[place]) for place in sorted(sets)]
        wanted = [n for n in range(len(parts)) if not self._is_published(n)]
        size = sum(each.size for number in wanted for each in parts[number])
        task = _Merge(self._now_ms, self._job)
        found = self._state.done.get(self._merged) or [None] * len(parts)
        for index, whole in self._engine.run(task, [parts[number] for number in wanted], size):
            found[wanted[index]] = whole
        self._state.finish_piece(self._merged, found)
        self.discard_unfinished()

    def publish(self) -> bool:
        """Give the partitions their segments; False if some of these are not there."""
        if self._merged not in self._state.done:
            return False
        for index, whole in enumerate(self._state.done[self._merged]):
            if not self._is_published(index):
                self._publish(self._merged + 1 + index, **whole)
        return all(map(self._is_published, range(len(self._state.done[self._merged]))))

    def _publish(self, number: int, crc: int, **staged: Any) -> None:
        whole = Staged(**staged)
        was_begun = self._state.done.get(number) == BEGUN
        if not was_begun and not _fits(whole):
            return
        self._state.finish_piece(number, BEGUN)
        try:
            is_there = _publish(whole, crc, was_begun)
        except PlaceError as error:
            raise PipelineError(
                f"{error} ({self._state.path} notes how far this load is)"
            ) from error
        self._state.finish_piece(number, PUBLISHED if is_there else LOST)

    def _is_published(self, index: int) -> bool:
        return bool(self._state.done.get(self._merged + 1 + index) == PUBLISHED)


def _counts(target: DirectoryTarget, splits: Sequence[FileSplit], engine: Engine) -> dict[str, int]:
    """How many partitions each topic has, or gets, that records go to. Raises PipelineError."""
    topics = {target.topic} if target.topic is not None else set[str]()
    if target.topic is None:
        for _, found in engine.run(_topics_in, splits, sum(split.size for split in splits)):
            topics |= set(found)
    there = target.counts()
    missing = sorted(topics - set(there))
    if missing and target.create is None:
        raise PipelineError(
            f"{target.path} has no topic {missing[0]}: --create-topic PARTITIONS makes it"
        )
    return {topic: there.get(topic) or target.create or 1 for topic in sorted(topics)}


def _topics_in(split: FileSplit) -> list[str]:
    found: set[str] = set()
    for records in split.records():
        column = records["topic"]
        if column.null_count:
            raise PipelineError("a record has no topic: name one in PLACE, or --topic COLUMN")
        found |= set(pc.unique(column).to_pylist())
    return sorted(found)


def _forget_lost(state: State, pieces: int) -> None:
    """Pieces whose segments are gone are not done."""
    for number in range(pieces):
        if number in state.done:
            staged = [Staged(**each) for each in state.done[number]["staged"]]
            if not all(os.path.isdir(each.inner) for each in staged):
                del state.done[number]


@dataclass(frozen=True)
class _Stage:
    """The task: one piece of a file as segments that nobody sees."""

    target: DirectoryTarget
    codec: str
    counts: Mapping[str, int]
    now_ms: int
    job: bytes

    def __call__(self, piece: tuple[int, FileSplit]) -> dict[str, Any]:
        number, split = piece
        topic, count = self.target.topic, self.counts.__getitem__
        routing = Routing(topic, count, turn=number, source=split.origin)
        writers: dict[Place, SegmentWriter] = {}
        rows, oldest = 0, Oldest()
        try:
            for records in split.records():
                rows += records.num_rows
                for place, some in routing.route(records):
                    oldest.add(place[0], some)
                    if place not in writers:
                        writers[place] = self._writer(place)
                    writers[place].write(some)
            staged = [writers[place].stage() for place in sorted(writers)]
        except BaseException:
            for writer in writers.values():
                writer.abort()
            raise
        found = [asdict(each) for each in staged]
        return {"rows": rows, "oldest": oldest.by_topic, "staged": found}

    def _writer(self, place: Place) -> SegmentWriter:
        return SegmentWriter(
            *(self.target.path, *place),
            codec=self.codec,
            segment_bytes=_STAGED_SEGMENT_BYTES,
            now_ms=self.now_ms,
            job=self.job,
        )


@dataclass(frozen=True)
class _Merge:
    """The task: the sets of one partition, put together, at the offsets that come next there."""

    now_ms: int
    job: bytes

    def __call__(self, sets: tuple[Staged, ...]) -> dict[str, Any]:
        first = sets[0]
        end = log_end(first.final)
        if len(sets) == 1 and not end:
            return {**asdict(first), "crc": last_crc(first)}
        writer = SegmentWriter(
            *(first.directory, first.topic, first.partition),
            base_offset=end,
            now_ms=self.now_ms,
            job=self.job,
        )
        try:
            for each in sets:
                for segment in list_segments(each.inner):
                    _append(writer, segment.path)
            staged = writer.stage()
        except BaseException:
            writer.abort()
            raise
        return {**asdict(staged), "crc": last_crc(staged)}


def _append(writer: SegmentWriter, path: str) -> None:
    """Write a segment's batches with the offsets that come next."""
    with open(path, "rb") as file:
        rest = b""
        while data := file.read(_MERGED_BYTES):
            buffer = bytearray(rest + data)
            end, following = 0, writer.next_offset
            for position, header in batches(buffer):
                if position + header.size > len(buffer):
                    break
                assign(memoryview(buffer)[position:], 0, following, 0)
                following += header.last_offset_delta + 1
                end = position + header.size
            writer.write_batches(memoryview(buffer)[:end])
            rest = bytes(buffer[end:])


def _fits(staged: Staged) -> bool:
    """Whether a set is there, and the partition still ends where it begins."""
    return os.path.isdir(staged.inner) and log_end(staged.final) == staged.base_offset


def _publish(staged: Staged, crc: int, was_begun: bool) -> bool:
    """Give a partition its new segments; False if they are gone. Raises PlaceError."""
    # New segments of a partition that has none are put there in one step; others one by one.
    if was_begun:
        return publish_rest(staged, crc)
    publish([staged])
    return True
