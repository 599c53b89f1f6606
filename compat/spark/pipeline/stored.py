"""Splits as plain values, for the state file of a command that can be resumed, and back.

What was cut must still be there when a command goes on: a file with another size or time of change
is refused by name, since its pieces would be others. Of a segment a broker may have written more,
or closed and reopened it; it may not be shorter.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ..segments.kept import RequiredOffsets
from ..segments.listing import Segment
from .errors import PipelineError
from .files import FileSplit
from .mapping import Columns
from .places import with_outcomes
from .rows import Range
from .splits import SegmentSplit, Split
from .topics import TopicSplit


class _Changed(Exception):
    """The input has changed since it was cut."""


def to_plain(splits: Iterable[Split]) -> list[Any]:
    """The form that `from_plain` reads."""
    return [_plain(split) for split in splits]


def _plain(split: Split) -> dict[str, Any]:
    if isinstance(split, SegmentSplit):
        return {"segment": asdict(replace(split, outcomes=None))}
    if isinstance(split, TopicSplit):
        return {"topic": asdict(split)}
    assert isinstance(split, FileSplit)
    return {"file": asdict(split), "version": _version(split.path)}


def from_plain(plain: Sequence[Any], state: Path) -> list[Split]:
    """The splits again, which a state file has. Raises PipelineError, also if a file is not what it
    was."""
    try:
        splits = [_split(each) for each in plain]
    except _Changed as changed:
        raise PipelineError(
            f"{changed} since the run that is to go on: remove {state} to begin again"
        ) from None
    except (KeyError, TypeError, ValueError) as error:
        raise PipelineError(f"{state} is of another version: {error}") from None
    ours = [split for split in splits if isinstance(split, SegmentSplit)]
    known = iter(with_outcomes(ours))
    return [next(known) if isinstance(split, SegmentSplit) else split for split in splits]


def _split(plain: Any) -> Split:
    if "segment" in plain:
        fields = plain["segment"]
        segment = Segment(**fields["segment"])
        _check_segment(segment)
        kept = None if fields.get("kept") is None else RequiredOffsets(**fields["kept"])
        return SegmentSplit(**fields | {"segment": segment, "kept": kept})
    if "topic" in plain:
        return TopicSplit(**plain["topic"])
    fields = plain["file"]
    _check_file(fields["path"], plain["version"])
    part, columns = Range(**fields["part"]), Columns(**fields["columns"])
    return FileSplit(**fields | {"part": part, "columns": columns})


def _version(path: str) -> list[int]:
    """The version of a file: its size, and its time of change in nanoseconds."""
    status = os.stat(path)
    return [status.st_size, status.st_mtime_ns]


def _check_file(path: str, version: list[int]) -> None:
    if not os.path.exists(path):
        raise _Changed(f"{path} has gone")
    if _version(path) != version:
        raise _Changed(f"{path} has changed")


def _check_segment(segment: Segment) -> None:
    if not os.path.exists(segment.path):
        raise _Changed(f"{segment.path} has gone")
    if os.path.getsize(segment.path) < segment.size:
        raise _Changed(f"{segment.path} has changed")
