"""The load itself: the pieces of the files, to where they are written, and what is said of it.

What a load that failed, or did not end, has written already: a new run would write it again.

Of topics brokers tell it: they know how many records they have of the producers that the load has
noted. Of a data directory the state does: which partitions have got their segments.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ....unavailable import Unavailable
from ...segments.damaged import Damaged
from ...segments.listing import PlaceError
from ...segments.wanted import EVERYTHING
from ...segments.writer import log_end
from ..broker import EARLIEST, LATEST, BrokerError, Cluster, Place, find_topics, offsets
from ..broker.producers import sequences
from ..command import Outcome
from ..engine import Engine, SparkEngine, choose, in_bytes
from ..errors import PipelineError
from ..files import Files, FileSplit
from ..mapping import Columns
from ..places import absolute, broker_place
from ..progress import Progress, progress
from ..retention import Expired, Oldest, expired, retentions, warn
from ..state import Noted, State, Unfinished, default_path
from ..stored import from_plain
from ..topics import Topics
from .target import DirectoryTarget, directory_target
from .to_connector import write_with_connector
from .to_directory import BEGUN, PUBLISHED, write_segments
from .to_topics import write_topics

_SHOWN = 8
"""How many partitions are named."""


@contextmanager
def telling_of_an_unfinished_load() -> Iterator[None]:
    """A load that is refused because an earlier one did not end tells what that one has written."""
    try:
        yield
    except Unfinished as refused:
        there = _records_written(refused.noted)
        if there is None:
            raise
        raise PipelineError(f"{refused} ({_advice(there)})") from refused


@contextmanager
def telling_what_is_there(state: State) -> Iterator[None]:
    """A load that cannot be done, or go on, tells what it has written."""
    try:
        yield
    except (PipelineError, PlaceError) as error:
        there = None if state.plan is None else _records_written(state.noted)
        if there is None:
            raise
        raise PipelineError(f"{error} ({_advice(there)})") from error


def _advice(there: str) -> str:
    return (
        f"{there} already: --resume goes on after them with the same files, a new run "
        "would write them again: empty or delete the topic before one"
    )


def _records_written(noted: Noted) -> str | None:
    """How many records of the load are there, and where; None if there are none."""
    if "producers" not in noted.plan:
        return _as_text(_published(noted))
    topics = broker_place(noted.asked["place"])
    assert topics is not None
    return _records_written_to_broker(topics, noted)


def _published(noted: Noted) -> dict[Place, int]:
    """How many records partitions of a directory have got."""
    merged = len(noted.plan["splits"])
    found: dict[Place, int] = {}
    for number, staged in enumerate(noted.done.get(merged, []), merged + 1):
        place, step = (staged["topic"], staged["partition"]), noted.done.get(number)
        if step == PUBLISHED:
            found[place] = staged["records"]
        elif step == BEGUN:  # killed meanwhile: some of its segments may be there
            found[place] = min(_written_to(staged), staged["records"])
    return {place: count for place, count in found.items() if count}


def _written_to(staged: Mapping[str, Any]) -> int:
    home = os.path.join(staged["directory"], f"{staged['topic']}-{staged['partition']}")
    try:
        return max(0, log_end(home) - int(staged["base_offset"]))
    except (Damaged, PlaceError, OSError):  # which does not hide why the load failed
        return 0


def _records_written_to_broker(topics: Topics, noted: Noted) -> str | None:
    rows = sum(each["rows"] for each in noted.done.values())
    try:
        with Cluster(topics.addresses) as cluster:
            found, most = _written(cluster, topics.topic, noted.plan)
    except (BrokerError, OSError):  # which does not hide why the load failed
        return f"at least {rows:,} records were written" if rows else None
    if not found:  # the broker has forgotten the producers, or the topic was emptied
        rows = min(rows, most)
        return f"about {rows:,} records are there" if rows else None
    return _as_text(found)


def _as_text(found: Mapping[Place, int]) -> str | None:
    if not found:
        return None
    places = [f"{topic}-{index}: {count:,}" for (topic, index), count in sorted(found.items())]
    more = f", {len(places) - _SHOWN} partitions more" if len(places) > _SHOWN else ""
    return f"{sum(found.values()):,} records are there ({', '.join(places[:_SHOWN])}{more})"


def _written(
    cluster: Cluster, topic: str | None, plan: Mapping[str, Any]
) -> tuple[dict[Place, int], int]:
    """How many records partitions have of a load's producers, and how many of all."""
    names = ["*" if topic is None else topic]
    places = [place for each in find_topics(cluster, names, none=True) for place in each.places]
    firsts, ends = offsets(cluster, places, EARLIEST), offsets(cluster, places, LATEST)
    ours = {producer_id for producer_id, _ in plan["producers"]}
    found: dict[Place, int] = {}
    for (place, _), last in sequences(cluster, places, ours).items():
        found[place] = found.get(place, 0) + last + 1
    lengths = {place: ends[place] - firsts[place] for place in places}
    kept = {place: min(count, lengths[place]) for place, count in found.items()}
    return {place: count for place, count in kept.items() if count}, sum(lengths.values())


_SAME = (
    *("files", "place", "format", "codec"),
    *("key", "value", "topic", "partition", "timestamp", "headers"),
)
"""Options that must be the same for a load to be resumed."""

Write = Callable[[State, list[FileSplit], Engine, Progress], None]


def load(options: argparse.Namespace) -> Outcome:
    """Do it. Raises PipelineError, PlaceError, BrokerError, OSError."""
    began = time.monotonic()
    if options.topic_config and options.create_topic is None:
        raise PipelineError("--topic-config is for topics that --create-topic PARTITIONS makes")
    topics = broker_place(options.place)
    target = None if topics is not None else directory_target(options)
    files, where = [os.path.abspath(each) for each in options.files], absolute(options.place)
    asked = {name: getattr(options, name) for name in _SAME} | {"files": files, "place": where}
    path = Path(options.state or default_path("load", [*files, where])).absolute()
    if options.sink == "connector":
        return _with_connector(options, topics, path, began)
    with telling_of_an_unfinished_load():
        state = State(path, asked, resume=options.resume)
    with state, telling_what_is_there(state):
        splits = _noted(state) if state.plan is not None else _splits(options)
        splits = [split for split in splits if split.path != str(path)]  # beside the files
        engine = choose(options, sum(split.size for split in splits))
        with closing(engine), progress(options.quiet) as bar:
            engine.start()
            if topics is not None:
                write_topics(options, topics, state, splits, engine, bar)
                written = [state.done[number] for number in range(len(splits))]
            else:
                assert isinstance(target, DirectoryTarget)
                written = write_segments(options, target, state, splits, engine, bar)
        state.remove()
    outcome = _outcome(options, splits, _rows(written), engine, time.monotonic() - began)
    return _with_warnings(outcome, _expired(written, topics, target))


def _splits(options: argparse.Namespace) -> list[FileSplit]:
    names = ("key", "value", "topic", "partition", "timestamp", "headers")
    columns = Columns(**{name: getattr(options, name) for name in names})
    return Files.at(options.files, options.format).with_columns(columns).splits(EVERYTHING)


def _noted(state: State) -> list[FileSplit]:
    """The pieces of the run that goes on."""
    found = from_plain(state.plan["splits"], state.path)
    return [split for split in found if isinstance(split, FileSplit)]


def _rows(written: list[Any]) -> int:
    return sum(each["rows"] for each in written)


def _expired(
    written: list[Any], topics: Topics | None, target: DirectoryTarget | None
) -> list[Expired]:
    """The topics that got records that are too old for them."""
    oldest = Oldest()
    for each in written:
        oldest.join(each["oldest"])
    kept: dict[str, int | None] = {}
    if topics is not None and oldest.by_topic:
        with Cluster(topics.addresses) as cluster:
            kept = retentions(cluster, sorted(oldest.by_topic))
    elif target is not None:
        kept = target.retentions()
    return expired(oldest.by_topic, kept, int(time.time() * 1000))


def _with_warnings(outcome: Outcome, found: list[Expired]) -> Outcome:
    result = dict(outcome.result) | {"warnings": [each.as_json() for each in found]}
    return Outcome(result, [*outcome.lines, *warn(found)])


def _with_connector(
    options: argparse.Namespace, topics: Topics | None, state: Path, began: float
) -> Outcome:
    refused: dict[str, Any] = {
        "--resume": options.resume,
        "--timestamp": options.timestamp,
        "--engine arrow": options.engine == "arrow",
        "segment files": topics is None,
    }
    for what, is_asked in refused.items():
        if is_asked:
            raise PipelineError(f"--sink connector: Spark's Kafka sink has no {what}")
    assert topics is not None
    splits = _splits(options)
    options.engine = "spark"
    engine = choose(options, 0)
    if not isinstance(engine, SparkEngine):
        raise Unavailable("Spark is not installed: pip install 'odradek[spark]'")
    with closing(engine):
        rows = write_with_connector(options, topics, splits, engine, state)
    outcome = _outcome(options, splits, rows, engine, time.monotonic() - began)
    note = "timestamps are those of writing: Spark's Kafka sink takes no others"
    return Outcome(outcome.result, [*outcome.lines, note])


def _outcome(
    options: argparse.Namespace,
    splits: list[FileSplit],
    rows: int,
    engine: Engine,
    seconds: float,
) -> Outcome:
    files = len({split.path for split in splits})
    size = sum(split.size for split in splits)
    result = {
        "command": "load",
        "files": files,
        "bytes": size,
        "place": options.place,
        "rows": rows,
        "seconds": round(seconds, 3),
        "engine": engine.name,
        "sink": options.sink,
    }
    lines = [
        f"{files:,} file{'' if files == 1 else 's'}, {in_bytes(size)}",
        f"{rows:,} records written to {options.place}",
        f"{seconds:.1f} s with {engine.name}, {rows / max(seconds, 1e-9):,.0f} records/s",
    ]
    return Outcome(result, lines)
