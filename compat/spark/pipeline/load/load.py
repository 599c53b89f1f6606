"""The load itself: the pieces of the files, to where they are written, and what is said of it."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from ....unavailable import Unavailable
from ...segments.wanted import EVERYTHING
from ..broker import Cluster
from ..command import Outcome
from ..engine import Engine, SparkEngine, choose, in_bytes
from ..errors import PipelineError
from ..files import Files, FileSplit
from ..mapping import Columns
from ..places import absolute, broker_place
from ..progress import Progress, progress
from ..retention import Expired, Oldest, expired, retentions, warn
from ..state import State, default_path
from ..stored import from_plain
from ..topics import Topics
from .already import telling_of_an_unfinished_load, telling_what_is_there
from .target import DirectoryTarget, directory_target
from .to_connector import write_with_connector
from .to_directory import write_segments
from .to_topics import write_topics

_SAME = (
    *("files", "place", "format", "codec"),
    *("key", "value", "topic", "partition", "timestamp", "headers"),
)
"""What must be the same for a load to be resumed."""

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
