"""Which segments are where: a data directory, a partition's directory or one `.log` file, listed.

Both namings of storage/naming.py are read. Directories and files that are being deleted, cleaned or
were set aside are left out. `__cluster_metadata` is no topic of clients: it is listed only by its
very name, or if its own directory is given.

A segment file that lies there only as `.swap`, because its broker was killed while it replaced the
segments of compaction, is not looked for: the broker's next start finishes that.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ....storage.checkpoints import (
    CLEAN_SHUTDOWN,
    LOG_STARTS,
    META_PROPERTIES,
    PARTITION_METADATA,
    CheckpointError,
    read_offsets,
)
from ....storage.naming import CLUSTER_METADATA, NAMINGS, Naming, renamed_suffix


class PlaceError(ValueError):
    """A path is not what it should be; the text names it and says what is missing."""


@dataclass(frozen=True)
class Segment:
    """One segment's `.log` file as it was when it was listed. Can be sent to another process."""

    topic: str
    partition: int
    path: str
    base_offset: int
    next_base: int | None
    """The base offset of the next segment; None for the last one."""
    size: int
    """Bytes; what is written later is not read."""
    last: bool
    log_start: int = 0
    """The partition's log start offset, as its broker noted it: records below it are deleted."""
    may_be_torn: bool = False
    """Whether it may end in an incomplete batch: it is the last, its broker runs or was killed."""

    @property
    def name(self) -> str:
        """The file's name without its directory."""
        return os.path.basename(self.path)

    @property
    def directory(self) -> str:
        """The partition's directory."""
        return os.path.dirname(self.path)


def list_segments(
    directory: str | os.PathLike[str],
    topics: Sequence[str] | None = None,
    partitions: Collection[int] | None = None,
) -> list[Segment]:
    """The segments below a directory, by topic, partition and offset.

    `directory`: a data directory, the directory of a partition, or a `.log` file, which is one
    segment. `topics`: names or patterns with `*`, `?` and `[...]`; `partitions`: numbers; None for
    all. Raises PlaceError for a path that is none of these, OSError.
    """
    path = os.fspath(directory)
    if os.path.isfile(path):
        found = _of_file(path)
    elif os.path.isdir(path):
        found = [segment for each in _partitions_in(path, topics) for segment in each.segments()]
    else:
        raise PlaceError(f"{path}: no such file or directory")
    return [
        segment
        for segment in found
        if (topics is None or any(fnmatchcase(segment.topic, each) for each in topics))
        and (partitions is None or segment.partition in partitions)
    ]


def list_partitions(
    directory: str | os.PathLike[str], topics: Sequence[str] | None = None
) -> list[tuple[str, int, str]]:
    """The partitions below a directory, as `list_segments` finds them, also those without segments:
    topic, number and directory of each. Raises PlaceError, OSError."""
    path = os.fspath(directory)
    if os.path.isfile(path):
        found = [(each.topic, each.partition, each.directory) for each in _of_file(path)]
    else:
        found = [(each.topic, each.partition, each.path) for each in _partitions_in(path, topics)]
    return [
        each for each in found if topics is None or any(fnmatchcase(each[0], t) for t in topics)
    ]


def _of_file(path: str) -> list[Segment]:
    parent = os.path.dirname(os.path.abspath(path))
    parsed = _partition_of(parent)
    naming = parsed[2] if parsed else _naming_of_file(os.path.basename(path))
    if naming is None:
        raise PlaceError(f"{path}: neither the name of a segment nor in a partition's directory")
    if _base_of(os.path.basename(path), naming) is None:
        raise PlaceError(f"{path}: not the name of a segment's {naming.log_suffix} file")
    topic, partition = parsed[:2] if parsed else ("", 0)
    whole = _Partition(parent, topic, partition, naming)
    return [each for each in whole.segments() if os.path.samefile(each.path, path)]


def _partitions_in(path: str, topics: Sequence[str] | None) -> list[_Partition]:
    parsed = _partition_of(os.path.abspath(path))
    if parsed is not None and _holds_a_partition(path, parsed[2]):
        return [_Partition(path, *parsed)]
    inside = sorted(
        (found[0], found[1], each, found[2])
        for each in _directories(path)
        if (found := _partition_of(each)) is not None and _holds_a_partition(each, found[2])
    )
    if not inside and not os.path.exists(os.path.join(path, META_PROPERTIES)):
        raise PlaceError(
            f"{path}: no data directory: there is no {META_PROPERTIES} and no partition in it"
        )
    hidden = CLUSTER_METADATA not in (topics or ())
    return [
        _Partition(each, topic, partition, naming)
        for topic, partition, each, naming in inside
        if not (hidden and topic == CLUSTER_METADATA)
    ]


def _directories(path: str) -> Iterator[str]:
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir() and renamed_suffix(entry.name) is None:
                yield entry.path


def _partition_of(path: str) -> tuple[str, int, Naming] | None:
    """Topic, partition and naming of a directory, by its name; of two namings that it may follow,
    the one in which its files are named."""
    name = os.path.basename(path)
    fitting = [
        (*parsed, naming)
        for naming in NAMINGS.values()
        if (parsed := naming.parse_directory(name)) is not None
    ]
    return next((each for each in fitting if _has_logs(path, each[2])), next(iter(fitting), None))


def _naming_of_file(name: str) -> Naming | None:
    return next((each for each in NAMINGS.values() if _base_of(name, each) is not None), None)


def _base_of(name: str, naming: Naming) -> int | None:
    parsed = naming.parse_file(name)
    return parsed[0] if parsed is not None and parsed[1] == naming.log_suffix else None


def _has_logs(path: str, naming: Naming) -> bool:
    return os.path.isdir(path) and any(
        _base_of(name, naming) is not None for name in os.listdir(path)
    )


def _holds_a_partition(path: str, naming: Naming) -> bool:
    return _has_logs(path, naming) or os.path.exists(os.path.join(path, PARTITION_METADATA))


@dataclass(frozen=True)
class _Partition:
    path: str
    topic: str
    partition: int
    naming: Naming

    def segments(self) -> Iterator[Segment]:
        with os.scandir(self.path) as entries:
            logs = sorted(
                (base, entry.path, entry.stat().st_size)
                for entry in entries
                if entry.is_file() and (base := _base_of(entry.name, self.naming)) is not None
            )
        parent = os.path.dirname(os.path.abspath(self.path))
        log_start = self._log_start(parent)
        is_clean = os.path.exists(os.path.join(parent, CLEAN_SHUTDOWN))
        bases: list[int | None] = [*(base for base, _, _ in logs[1:]), None]
        for (base, path, size), following in zip(logs, bases, strict=False):
            last = following is None
            yield Segment(
                *(self.topic, self.partition, path, base, following, size, last),
                *(log_start, last and not is_clean),
            )

    def _log_start(self, parent: str) -> int:
        try:
            with open(os.path.join(parent, LOG_STARTS), "rb") as file:
                offsets = read_offsets(file.read(), LOG_STARTS)
        except (FileNotFoundError, CheckpointError):  # a broker goes on without it, too
            return 0
        return offsets.get((self.topic, self.partition), 0)
