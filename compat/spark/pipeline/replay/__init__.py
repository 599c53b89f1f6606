"""Replay records into a broker, at the pace at which they once came, or faster.

    odradek replay orders.parquet localhost:9092 --speed 60 --shift now
    odradek replay ./data/orders localhost:9092/orders-again --speed max
    odradek replay localhost:9192/orders localhost:9092 --key '^42$' --since 2026-01-31T12:00
    odradek replay orders.jsonl localhost:9092 --mask-keys --mask-value user.email --secret FILE

PLACE is an export, a data directory or topics of another Kafka. Each partition keeps its order, and
several of them keep each other's pace. Topics that are missing are created.

Ctrl-C stops it and says where; with --resume it goes on there, also after it was killed: what was
sent is not sent twice. With --speed max it may run on Spark: then each partition is a task.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ...segments.schema import CODECS
from ...segments.wanted import Wanted
from ..broker import Cluster, Identity, Producer
from ..command import (
    Outcome,
    add_engine_options,
    add_isolation,
    add_output_options,
    add_ranges,
    add_resume_options,
    add_topic_configs,
    run_command,
)
from ..engine import SparkEngine
from ..errors import PipelineError
from ..files import FORMATS
from ..places import absolute, broker_place
from ..progress import progress
from ..progress_line import ProgressLine
from ..retention import Expired, expired, retentions
from ..state import State, Unfinished, default_path
from ..stopping import stopping
from .masks import Choice, Masks
from .on_spark import SendStream, send_streams
from .options import at_path, json_path, partition, secret_of, shift, speed
from .planning import begin, noted_plans, shift_of
from .playing import Ended, Player, ProgressFile
from .sending import Changes, Sender
from .streams import Plan, Position, Stream
from .times import Pace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments after `odradek replay`."""
    parser.add_argument("place", help="files, a data directory or a part of it, HOST:PORT/TOPIC")
    parser.add_argument("target", metavar="HOST:PORT[/TOPIC]", help="where to; one topic for all")
    parser.add_argument("--from-format", choices=FORMATS, help="of PLACE, if its ending is another")
    parser.add_argument(
        "--speed",
        type=speed,
        default=1.0,
        metavar="N",
        help="so many times as fast as they came; max: as fast as it goes (default: 1)",
    )
    parser.add_argument(
        "--shift",
        type=shift,
        default=0.0,
        metavar="SECONDS",
        help="times are later by so much; now: the first record's time is the present, and those "
        "after it are when they are sent (default: 0)",
    )
    parser.add_argument(
        "--partitions",
        choices=["keep", "key"],
        default="keep",
        help="each record's own partition, or that of its key (default: keep)",
    )
    parser.add_argument("--codec", choices=CODECS, default="none", help="of the batches")
    add_topic_configs(parser)
    _add_choice(parser)
    add_isolation(parser)
    add_ranges(parser)
    add_engine_options(parser, processes=False)
    add_resume_options(parser)
    add_output_options(parser)


def _add_choice(parser: argparse.ArgumentParser) -> None:
    chosen = parser.add_argument_group("records and what is hidden in them")
    chosen.add_argument("--key", metavar="REGEX", help="only records whose key matches")
    chosen.add_argument(
        "--partition", type=partition, action="append", default=[], metavar="N", help="only this"
    )
    chosen.add_argument(
        "--where",
        type=at_path,
        action="append",
        default=[],
        metavar="PATH=REGEX",
        help="only records with this in their JSON value, such as user.country=^DE$",
    )
    chosen.add_argument("--mask-keys", action="store_true", help="equal keys get equal masks")
    chosen.add_argument(
        "--mask-value",
        type=json_path,
        action="append",
        default=[],
        metavar="PATH",
        help="hide this in the JSON values, such as user.email or items[*].name",
    )
    chosen.add_argument(
        "--secret",
        metavar="FILE",
        help="what masks are made with (default: the environment's ODRADEK_SECRET)",
    )


def run(options: argparse.Namespace) -> int:
    return run_command(options, lambda: _run(options))


def _run(options: argparse.Namespace) -> Outcome:
    target = broker_place(options.target)
    if target is None:
        raise PipelineError(f"{options.target} is not of the form HOST:PORT or HOST:PORT/TOPIC")
    wanted = Wanted(start_ms=options.since, end_ms=options.until, isolation=options.isolation)
    is_masking = options.mask_keys or bool(options.mask_value)
    secret = secret_of(options.secret) if is_masking else b""
    masks = Masks(secret, options.mask_keys, tuple(options.mask_value))
    choice = Choice(options.key, tuple(options.where), frozenset(options.partition))
    choice.check()
    where = [absolute(options.place), options.target]
    path = Path(options.state or default_path("replay", where)).absolute()
    with _state(path, options) as state, Cluster(target.addresses) as cluster:
        counts, engine = begin(options, wanted, cluster, target.topic, state)
        plans = noted_plans(state)
        changes = Changes(
            *(choice, masks, shift_of(options, state.plan), target.topic),
            by_key=options.partitions == "key",
            codec=options.codec,
            now_ms=state.plan["now_ms"],
        )
        task = SendStream(target.addresses, wanted, counts, changes)
        if isinstance(engine, SparkEngine):
            with closing(engine), progress(options.quiet) as bar:
                ended = send_streams(task, plans, state, engine, bar)
        else:
            ended = _play(options, task, plans, cluster, state)
        if not ended.stopped:
            state.remove()
        too_old = _too_old(cluster, ended.oldest)
    return ended.outcome(engine.name, too_old)


def _play(
    options: argparse.Namespace,
    task: SendStream,
    plans: Sequence[Plan],
    cluster: Cluster,
    state: State,
) -> Ended:
    """Replay all streams in this process, at the pace that was asked for."""
    noted = ProgressFile(state.path)
    done = noted.read() if options.resume else None
    positions = done.positions if done else [Position() for _ in plans]
    streams = [
        Stream(plan, task.wanted, position) for plan, position in zip(plans, positions, strict=True)
    ]
    (identity,) = state.plan["producers"]
    producer = Producer(cluster, Identity(*identity), done.sequences if done else None)
    sender = Sender(producer, task.partitions, task.changes)
    player = Player(streams, sender, noted)
    progress = ProgressLine(quiet=options.quiet)
    with stopping() as stop, _cleared(progress):
        if done:
            player.go_on(done)
        is_done = player.play(Pace(options.speed), stop, progress)
    if is_done:
        noted.remove()
    counts = sender.sent, sender.sent_bytes, sender.oldest.by_topic
    return Ended(*counts, player.late_ms, [] if is_done else streams)


def _state(path: Path, options: argparse.Namespace) -> State:
    """The state. One that is refused tells how much the run that did not end has sent."""
    try:
        return State(path, _asked(options), resume=options.resume)
    except Unfinished as refused:
        noted = ProgressFile(path).read()
        sent = sum(each["records"] for each in refused.noted.done.values())
        sent += noted.sent if noted else 0
        if not sent:
            raise
        raise PipelineError(
            f"{refused} (at least {sent:,} records were sent already: a new run would send "
            "them again)"
        ) from refused


def _too_old(cluster: Cluster, oldest: Mapping[str, int]) -> list[Expired]:
    kept = retentions(cluster, sorted(oldest)) if oldest else {}
    return expired(oldest, kept, int(time.time() * 1000))


@contextmanager
def _cleared(progress: ProgressLine) -> Iterator[None]:
    try:
        yield
    finally:
        progress.clear()


def _asked(options: argparse.Namespace) -> dict[str, Any]:
    names = ("place", "target", "shift", "partitions", "codec", "isolation", "since", "until")
    found = {name: getattr(options, name) for name in names} | {"place": absolute(options.place)}
    found["where"] = [[".".join(path), regex] for path, regex in options.where]
    found["mask_value"] = [".".join(path) for path in options.mask_value]
    return found | {name: getattr(options, name) for name in ("key", "partition", "mask_keys")}
