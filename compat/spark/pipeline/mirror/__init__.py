"""Mirror topics of any Kafka into another one, or into a data directory.

    odradek mirror localhost:9092 localhost:9192 --topics 'orders*' payments
    odradek mirror localhost:9092 localhost:9192 --topics '*' --groups '*' --follow
    odradek mirror localhost:9092 ./data --topics orders

Topics are created with the source's partitions and configs. Each record keeps its partition,
offset, time, key, value and headers; batches are passed on as they are stored, not unpacked. What
the source has without records (markers, aborted transactions, what compaction removed, all before
the log start) is filled in a cluster by transactions that are aborted, so read_committed consumers
see exactly the source's records at the source's offsets. A directory gets the source's bytes, and a
real Kafka opens it.

It can be interrupted at any moment, killed too: run again it goes on where the target ends, and
nothing is lost or doubled. With --follow it runs until Ctrl-C, and new topics and partitions are
taken up. --groups copies committed offsets, so that consumers can be moved over. From a cluster to
another it may catch up on Spark, each partition as a task.
"""

from __future__ import annotations

import argparse
import os
from contextlib import closing
from typing import Any

from ....cli.console.arguments import addresses, whole
from ..broker import Cluster, find_topics
from ..command import (
    INTERRUPTED,
    Outcome,
    add_engine_options,
    add_isolation,
    add_output_options,
    run_command,
)
from ..engine import ArrowEngine, Engine, SparkEngine, choose, in_bytes
from ..errors import PipelineError
from ..places import broker_place
from ..progress import progress
from ..progress_line import ProgressLine
from ..stopping import stopping
from ..topics import partition_sizes
from .copying import Done, Mirror, MirrorSettings, Target
from .directory import DirectoryTarget
from .kept_offsets import KeptOffsets, NewOffsets
from .on_spark import bytes_left, mirror_on

FILL_LIMIT = 10_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments after `odradek mirror`."""
    parser.add_argument("source", type=addresses, metavar="SOURCE", help="HOST:PORT of a broker")
    parser.add_argument("target", metavar="TARGET", help="HOST:PORT of a broker, or a directory")
    parser.add_argument(
        "--topics", nargs="+", required=True, metavar="PATTERN", help="names, may have * and ?"
    )
    parser.add_argument(
        "--groups",
        nargs="+",
        default=[],
        metavar="PATTERN",
        help="also copy what these groups have committed; names, may have * and ?",
    )
    parser.add_argument(
        "--follow", action="store_true", help="go on with what is new, until Ctrl-C"
    )
    parser.add_argument(
        "--offsets",
        choices=["keep", "ignore"],
        default="keep",
        help="ignore: records get new offsets in a cluster, and nothing is filled (default: keep)",
    )
    parser.add_argument(
        "--fill-limit",
        type=whole(0, 2**62),
        default=FILL_LIMIT,
        metavar="N",
        help="offsets without records to fill in a partition, before it is refused "
        f"(default: {FILL_LIMIT:,})",
    )
    add_isolation(parser)
    add_engine_options(parser, processes=False)
    parser.add_argument("--resume", action="store_true", help="what it does without it, too")
    add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    return run_command(options, lambda: _run(options))


def _run(options: argparse.Namespace) -> Outcome:
    settings = MirrorSettings(
        options.topics,
        options.groups,
        committed=options.isolation == "read_committed",
        follow=options.follow,
        kept=options.offsets == "keep",
    )
    if settings.groups and not settings.kept:
        raise PipelineError("--groups needs the offsets of the source: not with --offsets ignore")
    if os.path.isdir(options.source):
        raise PipelineError(
            f"{options.source} is a directory: a mirror reads from a broker, HOST:PORT; "
            "odradek replay reads a directory"
        )
    with Cluster(options.source) as source:
        engine = _engine(options, source, settings)
        if isinstance(engine, SparkEngine):
            return _on_spark(options, source, settings, engine)
        return _in_process(options, source, settings)


def _in_process(options: argparse.Namespace, source: Cluster, settings: MirrorSettings) -> Outcome:
    progress = ProgressLine(quiet=options.quiet)
    with stopping() as stop:
        target = _target(options, source, settings)
        try:
            done = Mirror(source, target, settings, stop, progress).run()
        finally:
            progress.clear()
            target.close()
        is_cut = bool(stop) and not options.follow
    return _outcome(done, target, ArrowEngine.name, INTERRUPTED if is_cut else 0)


def _on_spark(
    options: argparse.Namespace, source: Cluster, settings: MirrorSettings, engine: SparkEngine
) -> Outcome:
    target = _target(options, source, settings)
    assert isinstance(target, KeptOffsets | NewOffsets)
    with closing(target), closing(engine), progress(options.quiet) as bar:
        done = mirror_on(engine, source, target, settings, options.fill_limit, bar)
    return _outcome(done, target, engine.name, 0)


def _engine(options: argparse.Namespace, source: Cluster, settings: MirrorSettings) -> Engine:
    """This process, or Spark where much is left to be mirrored from cluster to cluster."""
    place = broker_place(options.target)
    for what, is_so in (("--follow", settings.follow), ("a directory", place is None)):
        if is_so and options.engine == SparkEngine.name:
            raise PipelineError(f"--engine spark: one process writes, with {what}")
    if settings.follow or place is None or options.engine is not None:
        return choose(options, 0)
    topics = find_topics(source, settings.topics, none=True)
    places = [place for topic in topics for place in topic.places]
    size = sum(partition_sizes(source, places).values())
    if size > options.engine_limit:
        with Cluster(place.addresses) as target:
            size = sum(bytes_left(source, target, topics, kept=settings.kept).values())
    return choose(options, size, fallback=True)


def _target(options: argparse.Namespace, source: Cluster, settings: MirrorSettings) -> Target:
    place = broker_place(options.target)
    if place is None:
        if not settings.kept:
            raise PipelineError("--offsets ignore is for a cluster: a directory keeps them anyway")
        if os.path.exists(options.target) and not os.path.isdir(options.target):
            raise PipelineError(f"{options.target} is no directory")
        from ....cli.serving.data_dir import refusal

        if why := refusal(options.target):
            raise PipelineError(why)
        find_topics(source, settings.topics, none=settings.follow)  # before a directory is made
        return DirectoryTarget(options.target)
    if place.topic is not None:
        raise PipelineError(f"{options.target}: a topic keeps its name, so give HOST:PORT alone")
    cluster = Cluster(place.addresses)
    if _brokers(source) & _brokers(cluster):
        cluster.close()
        raise PipelineError(f"{options.source} and {options.target} are the same cluster")
    if settings.kept:
        return KeptOffsets(cluster, committed=settings.committed, fill_limit=options.fill_limit)
    return NewOffsets(cluster, committed=settings.committed)


def _brokers(cluster: Cluster) -> set[tuple[str | None, str, int]]:
    """A cluster's brokers. Its id alone says little: many clusters are set up with the same one."""
    metadata = cluster.brokers.metadata
    return {(metadata.cluster_id, broker.host, broker.port) for broker in metadata.brokers}


def _outcome(done: Done, target: Target, engine: str, status: int) -> Outcome:
    result: dict[str, Any] = {
        "topics": sorted(done.topics),
        "created": sorted(done.created),
        "deleted": sorted(done.deleted),
        "records": target.written,
        "bytes": done.read_bytes,
        "filled": target.filled,
        "passed_over": done.passed_over,
        "lag": done.lag,
        "groups": done.groups,
        "groups_in_use": sorted(done.groups_in_use),
        "groups_unmatched": sorted(done.groups_unmatched),
        "engine": engine,
    }
    names = f"{len(done.topics)} topic{'s' * (len(done.topics) != 1)}"
    created = f", {len(done.created)} of them new" if done.created else ""
    lines = [f"{names}{created}: {target.written:,} records, {in_bytes(done.read_bytes)}"]
    if target.filled:
        lines.append(f"{target.filled:,} offsets without records filled")
    if done.passed_over:
        lines.append(f"{done.passed_over:,} offsets passed over: retention took them first")
    lines += [
        f"topic {name} was deleted in the source; the target keeps what it has"
        for name in sorted(done.deleted)
    ]
    lines += [f"group {name}: {count} offsets" for name, count in sorted(done.groups.items())]
    lines += [
        f"group {name} has members in the target: left alone" for name in sorted(done.groups_in_use)
    ]
    lines += [f"no group of the source is {each}" for each in sorted(done.groups_unmatched)]
    lines.append("everything is there" if not done.lag else f"lag: {done.lag:,} records")
    if status:
        lines.append("interrupted; the same command goes on")
    return Outcome(result, lines, status)
