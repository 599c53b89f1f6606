"""Places: where records are read from and written to, as text on a command line.

    HOST:PORT[,HOST:PORT]/TOPIC   topics of a Kafka; TOPIC may have * and ?
    PATH                          a data directory, PATH/TOPIC a topic in it, PATH/TOPIC-0 a
                                  partition, a .log file
                                  or a file or folder of Parquet, JSON Lines, CSV or Avro

`place` reads such a text; what it gives has `splits`, the pieces to read. A path that begins with a
dot or a slash is never taken for a broker's address. Splits have absolute paths: a task may run in
another directory.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Protocol

from ....emulator.config.internal_topics import INTERNAL_TOPICS
from ....emulator.metadata.topic_repair import known_partitions
from ....storage.checkpoints import META_PROPERTIES, CheckpointError, read_meta_properties
from ....storage.disk.directory import Directory as _Files
from ....storage.log_directory import LogDirectoryError
from ....storage.naming_detection import naming_in
from ....wire.errors import Refused, WireError
from ..segments.decoder import batch_heads
from ..segments.kept import KeptOffsets, data_directory_of, lost_partitions
from ..segments.listing import PlaceError, Segment, list_partitions, list_segments
from ..segments.outcomes import Outcomes, outcomes
from ..segments.runs import last_offsets
from ..segments.wanted import Wanted
from .files import Files, format_of
from .splits import Offsets, SegmentSplit, Split
from .topics import Topics

_BEYOND = 2**63 - 1
_BROKER = re.compile(r"(?P<addresses>[^/,]+:[0-9]+(?:,[^/,]+:[0-9]+)*)(?:/(?P<topic>[^/]*))?")
_MAY_BE_PATTERN = re.compile(r"[*?\[]")

Run = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[tuple[int, Any]]]
"""`Engine.run`."""


class Place(Protocol):
    text: str
    """As it was written."""

    def splits(
        self, wanted: Wanted, offsets: Offsets | None = None, run: Run | None = None
    ) -> Sequence[Split]:
        """The pieces with what is wanted, in order: topic, partition, offset.

        `run` does what takes longer, such as a look at every transaction, as tasks of an engine.
        Raises PlaceError, ConsoleError.
        """

    def partitions(self) -> list[tuple[str, int]]:
        """Topic and number of each partition, also of those without records; of files none, which
        have what their records say. Raises PlaceError, ConsoleError."""


def in_process(
    task: Callable[[Any], Any], pieces: Sequence[Any], size: int | None = None
) -> Iterator[tuple[int, Any]]:
    """Run tasks right here, one after the other."""
    for number, piece in enumerate(pieces):
        yield number, task(piece)


@dataclass(frozen=True)
class Directory:
    """A data directory, or some of its topics, partitions or segments."""

    text: str
    path: str
    topic: str | None = None
    """A name or pattern; None for all but the internal ones."""

    def segments(self) -> list[Segment]:
        """The present segments. Raises PlaceError if there is no such topic."""
        found = list_segments(self.path, self._topics)
        if not found and self.topic is not None and not self.partitions():
            raise PlaceError(f"{self.path} has no topic {self.topic}{_like(self.path, self.topic)}")
        return found

    def partitions(self) -> list[tuple[str, int]]:
        found = {
            (topic, index)
            for topic, index, directory in list_partitions(self.path, self._topics)
            if not self._hides(topic, directory)
        }
        pattern = "*" if self.topic is None else self.topic
        known = (each for each in _known_partitions(self.path) if fnmatchcase(each[0], pattern))
        return sorted(found | {each for each in known if each[0] not in INTERNAL_TOPICS})

    @property
    def _topics(self) -> list[str] | None:
        return None if self.topic is None else [self.topic]

    def splits(
        self, wanted: Wanted, offsets: Offsets | None = None, run: Run | None = None
    ) -> list[SegmentSplit]:
        partitions: dict[tuple[str, int], list[Segment]] = {}
        for segment in self.segments():
            if self._hides(segment.topic, segment.directory):
                continue
            partitions.setdefault((segment.topic, segment.partition), []).append(segment)
        asked = offsets or Offsets()
        if asked != Offsets():
            asked.check(self.partitions(), self.text)
        found = [
            split for segments in partitions.values() for split in _within(segments, wanted, asked)
        ]
        kept = KeptOffsets(data_directory_of(self.path))
        found = [replace(split, kept=kept.of(split.segment)) for split in found]
        return with_outcomes(found, run)

    def lost(self) -> list[tuple[str, int, int]]:
        """Partitions that have no directory any more, and the end of their offsets."""
        pattern = "*" if self.topic is None else self.topic
        return [
            each
            for each in lost_partitions(self.path)
            if fnmatchcase(each[0], pattern) and (each[0] not in INTERNAL_TOPICS or self.topic)
        ]

    def past_end(self) -> Iterator[tuple[Segment, int]]:
        """The last segment of partitions whose log start is past their end, and this end."""
        for segment in self.segments():
            is_near = segment.next_base is None and segment.log_start > segment.base_offset
            if is_near and not self._hides(segment.topic, segment.directory):
                end = _end(segment)
                if segment.log_start > end:
                    yield segment, end

    def _hides(self, topic: str, directory: str) -> bool:
        """Whether it is of an internal topic, which must be named, as by a broker's clients."""
        is_inside = os.path.dirname(directory) == self.path
        return is_inside and topic in INTERNAL_TOPICS and topic != self.topic


def _known_partitions(path: str) -> list[tuple[str, int]]:
    """The partitions by a data directory's metadata log: our broker makes a partition's directory
    with its first record. Nothing if the log cannot be read; `odradek audit` tells why."""
    home = _Files(path)
    try:
        node_id = read_meta_properties(home.read_bytes(META_PROPERTIES), META_PROPERTIES).node_id
        return known_partitions(home, naming_in(home), node_id)
    except (LogDirectoryError, Refused, WireError, CheckpointError, OSError):
        return []


def _like(path: str, topic: str) -> str:
    names = {name for name, _, _ in list_partitions(path)}
    like = difflib.get_close_matches(topic, names, n=1)
    return f": did you mean {like[0]}?" if like else ""


def _within(segments: list[Segment], wanted: Wanted, offsets: Offsets) -> Iterator[SegmentSplit]:
    """The segments of a partition that can have what is wanted."""
    first = max(segments[0].base_offset, segments[0].log_start)
    end = _end(segments[-1]) if offsets != Offsets() else _BEYOND
    start, after = offsets.of(segments[0].topic, segments[0].partition, first, end)
    low = max(start, wanted.start_offset or 0)
    high = after if wanted.end_offset is None else min(after, wanted.end_offset)
    for segment in segments:
        is_above = segment.base_offset >= high
        is_below = segment.next_base is not None and segment.next_base <= low
        if not (is_above or is_below):
            yield SegmentSplit(segment, start, None if after == _BEYOND else after)


def _end(segment: Segment) -> int:
    """The offset after the last one of a partition."""
    heads = batch_heads(segment)
    return int(last_offsets(heads)[-1]) + 1 if len(heads) else segment.base_offset


def with_outcomes(splits: Sequence[SegmentSplit], run: Run | None = None) -> list[SegmentSplit]:
    directories = sorted({split.segment.directory for split in splits})
    found: dict[str, Outcomes] = {}
    for number, result in (run or in_process)(_outcomes_in, directories):
        found[directories[number]] = result
    return [replace(each, outcomes=found[each.segment.directory]) for each in splits]


def _outcomes_in(directory: str) -> Outcomes:
    return outcomes(list_segments(directory))


def place(text: str, format: str | None = None) -> Directory | Files | Topics:
    """The place that a text names, which must be there. Raises PlaceError."""
    broker = broker_place(text)
    if broker is not None:
        return broker
    path = text.rstrip("/") or text
    if format is None and is_of_segments(path):
        return Directory(text, os.path.abspath(path))
    if format is not None or format_of(text) is not None or os.path.exists(path):
        return Files.at([text], format)
    parent, name = os.path.split(path)
    if name and is_of_segments(parent or "."):
        return Directory(text, os.path.abspath(parent), name)
    raise PlaceError(f"{text}: no such file or directory")


def is_of_segments(path: str) -> bool:
    """Whether a path is a data directory, a partition's directory or a segment."""
    try:
        return bool(list_segments(path)) or os.path.isdir(path)
    except PlaceError:
        return False


def broker_place(text: str) -> Topics | None:
    """Topics of a Kafka, if the text has the form of that."""
    found = None if text.startswith((".", "/")) else _BROKER.fullmatch(text)
    if found is None:
        return None
    return Topics(text, found["addresses"], found["topic"] or None)


def absolute(text: str) -> str:
    """The text of a place, the same from whatever directory it is read."""
    return text if broker_place(text) is not None else os.path.abspath(text)


def is_pattern(topic: str) -> bool:
    """Whether a topic's name has * or ?."""
    return _MAY_BE_PATTERN.search(topic) is not None
