"""How two places are compared: what belongs together, and which columns both of them have.

Unless it is said, by offset where both have offsets, else by key where both have keys, else by
value. A column that one side has nothing of (a CSV file without times) is not compared: all records
would differ. What was chosen, and why, is in the summary.

Files are judged by their first rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from ..errors import PipelineError
from ..files import Files, FileSplit
from ..mapping import BY_NAME, Columns
from ..places import Directory
from ..splits import SegmentSplit, Split
from ..topics import Topics, TopicSplit
from . import COMPARED
from .hashed import Comparison

Place = Directory | Files | Topics
Partitions = set[tuple[str, int]]

FROM_FILE = ("key", "value", "timestamp", "headers")
"""Options that take columns of a file that is no export, as `odradek load` does."""


@dataclass(frozen=True)
class Side:
    name: str
    columns: Collection[str] = COMPARED
    """Those of COMPARED that its records have."""
    has_offsets: bool = True
    partitions: Partitions = field(default_factory=set)
    """Topics and partitions; of a file, those of its first rows, without a topic."""
    is_file: bool = False


@dataclass(frozen=True)
class Choice:
    comparison: Comparison
    reason: str = ""
    """Why it is by offset, key or value; empty if it was asked for."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Columns that are not compared, and why."""


def with_columns(places: tuple[Place, Place], options: argparse.Namespace) -> tuple[Place, Place]:
    """The places, with what the options say of files that are no exports. Raises PipelineError."""
    columns = Columns(**{name: getattr(options, name) for name in FROM_FILE})
    if columns == BY_NAME:
        return places
    found = tuple(_mapped(each, columns) for each in places)
    if found == places:
        asked = next(name for name in FROM_FILE if getattr(options, name) is not None)
        raise PipelineError(
            f"--{asked} names a column of a file that is no export, but {places[0].text} and "
            f"{places[1].text} have records as they are"
        )
    return found[0], found[1]


def _mapped(place: Place, columns: Columns) -> Place:
    if not isinstance(place, Files) or any(each.has_records() for each in place.splits()[:1]):
        return place
    return place.with_columns(columns)


def side(place: Place, splits: Sequence[Split]) -> Side:
    """The side of a place. Raises the errors of reading a file."""
    if not isinstance(place, Files):
        return Side(place.text, partitions=_partitions(splits))
    first = next((each for each in splits if isinstance(each, FileSplit)), None)
    found = None if first is None else first.beginning()
    if found is None:
        return Side(place.text, is_file=True)  # without a row it differs in nothing but their count
    columns, batch = found
    names = [name for name in COMPARED if getattr(columns, name) is not None]
    if batch is None:
        return Side(place.text, names, has_offsets=False, is_file=True)
    offset, partition = batch["offset"], batch["partition"]
    return Side(
        place.text,
        names,
        offset.null_count == partition.null_count == 0,
        {("", number) for number in partition.unique().to_pylist() if number is not None},
        is_file=True,
    )


def _partitions(splits: Sequence[Split]) -> Partitions:
    found = set()
    for split in splits:
        if isinstance(split, SegmentSplit):
            found.add((split.segment.topic, split.segment.partition))
        elif isinstance(split, TopicSplit):
            found.add((split.topic, split.partition))
    return found


def choose_comparison(sides: tuple[Side, Side], options: argparse.Namespace) -> Choice:
    """How to compare them. Raises PipelineError for what contradicts itself."""
    topics = [{topic for topic, _ in each.partitions} for each in sides]
    with_topic = max(map(len, topics)) > 1
    by, reason = (options.by, "") if options.by else _by(sides, with_topic, options.ignore)
    _check(by, sides, options.ignore)
    left_out = {
        name: "neither has any" if len(without) > 1 else f"{without[0]} has none"
        for name in COMPARED
        if name not in options.ignore
        and (without := [each.name for each in sides if name not in each.columns])
    }
    columns = tuple(name for name in COMPARED if name not in {*options.ignore, *left_out})
    return Choice(Comparison(by, columns, with_topic, options.isolation), reason, left_out)


def _by(sides: tuple[Side, Side], with_topic: bool, ignored: Collection[str]) -> tuple[str, str]:
    reason = "their partitions are not the same"
    without = next((each for each in sides if not each.has_offsets), None)
    if without is not None:
        reason = f"{without.name} has no offsets"
    elif _same_partitions(sides, with_topic):
        return "offset", "both have offsets"
    if "key" in ignored:
        return "value", "keys are ignored"
    keyless = next((each for each in sides if "key" not in each.columns), None)
    return ("key", reason) if keyless is None else ("value", f"{keyless.name} has no keys")


def _same_partitions(sides: tuple[Side, Side], with_topic: bool) -> bool:
    """Whether they have the same partitions; a file, some of the other's."""
    parts = [
        {(topic if with_topic and not each.is_file else "", number)
         for topic, number in each.partitions}
        for each in sides
    ]  # fmt: skip
    if any(each.is_file for each in sides):
        numbers = [{number for _, number in each} for each in parts]
        smaller, other = numbers if sides[0].is_file else reversed(numbers)
        return smaller <= other or (sides[1].is_file and other <= smaller)
    return parts[0] == parts[1] or not all(parts)


def _check(by: str, sides: tuple[Side, Side], ignored: Collection[str]) -> None:
    for each in sides:
        if by == "offset" and not each.has_offsets:
            raise PipelineError(f"{each.name} has no offsets: use --by key or --by value")
        if by == "key" and by not in each.columns:
            raise PipelineError(
                f"{each.name} has no keys: use --by value, or name the column with --key"
            )
    if by in ignored:
        others = {"key": "value", "value": "key"}
        raise PipelineError(
            f"records are compared by {by}, which --ignore {by} leaves out: do without it, or "
            f"take --by {others[by]}"
        )
