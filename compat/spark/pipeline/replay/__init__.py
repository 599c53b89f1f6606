"""Replay records into a broker, at the pace at which they once came, or faster.

    odradek replay orders.parquet localhost:9092 --speed 60 --shift now
    odradek replay ./data/orders localhost:9092/orders-again --speed max
    odradek replay localhost:9192/orders localhost:9092 --key '^42$' --since 2026-01-31T12:00
    odradek replay orders.jsonl localhost:9092 --mask-keys --mask-value user.email --secret FILE

PLACE is an export, a data directory or topics of another Kafka. Each partition keeps its order, and
several of them keep each other's pace. Topics that are missing are created.

Ctrl-C stops it and says where; with --resume it goes on there, also after it was killed: what was
sent is not sent twice.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...segments.schema import CODECS
from ...segments.wanted import Wanted
from ..broker import Cluster, Identity, Place, Producer, create_topic, find_topics
from ..command import (
    INTERRUPTED,
    Outcome,
    add_isolation,
    add_output_options,
    add_ranges,
    add_resume_options,
    add_topic_configs,
    offsets_of,
    run_command,
)
from ..engine import in_bytes
from ..errors import PipelineError
from ..files import FORMATS
from ..places import absolute, broker_place, place
from ..retention import Expired, expired, retentions, warn
from ..state import State, default_path
from ..stopping import stopping
from ..stored import from_plain, to_plain
from ..telling import Telling
from ..topics import Topics
from .masks import Choice, Masks
from .options import at_path, json_path, partition, secret_of, shift, speed
from .playing import Changes, Player, no_partition
from .progress_file import ProgressFile
from .streams import Plan, Position, Stream, places_in, plans_of
from .times import Pace, Shift


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
    """Run the command; return the exit code."""
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
    telling = Telling(quiet=options.quiet)
    with (
        stopping() as stop,
        State(path, _asked(options), resume=options.resume) as state,
        Cluster(target.addresses) as cluster,
    ):
        counts = _begin(options, wanted, cluster, target.topic, state)
        plans = _plans(state)
        noted = ProgressFile(path)
        progress = noted.read() if options.resume else None
        positions = progress.positions if progress else [Position() for _ in plans]
        streams = [
            Stream(plan, wanted, position) for plan, position in zip(plans, positions, strict=True)
        ]
        producer = Producer(
            cluster, Identity(*state.plan["identity"]), progress.sequences if progress else None
        )
        changes = Changes(
            choice,
            masks,
            _shift(options, state.plan),
            target.topic,
            options.partitions == "key",
            options.codec,
            state.plan["now_ms"],
        )
        player = Player(streams, producer, counts, changes, noted)
        with _cleared(telling):
            if progress:
                player.go_on(progress)
            is_done = player.play(Pace(options.speed), stop, telling)
        if is_done:
            noted.remove()
            state.remove()
        too_old = _too_old(cluster, player.oldest.by_topic)
    return _outcome(player, streams, is_done, too_old)


def _too_old(cluster: Cluster, oldest: Mapping[str, int]) -> list[Expired]:
    kept = retentions(cluster, sorted(oldest)) if oldest else {}
    return expired(oldest, kept, int(time.time() * 1000))


@contextmanager
def _cleared(telling: Telling) -> Iterator[None]:
    try:
        yield
    finally:
        telling.clear()


def _asked(options: argparse.Namespace) -> dict[str, Any]:
    """What must be the same to go on."""
    names = ("place", "target", "shift", "partitions", "codec", "isolation", "since", "until")
    found = {name: getattr(options, name) for name in names} | {"place": absolute(options.place)}
    found["where"] = [[".".join(path), regex] for path, regex in options.where]
    found["mask_value"] = [".".join(path) for path in options.mask_value]
    return found | {name: getattr(options, name) for name in ("key", "partition", "mask_keys")}


def _begin(
    options: argparse.Namespace,
    wanted: Wanted,
    cluster: Cluster,
    topic: str | None,
    state: State,
) -> dict[str, int]:
    """Write the plan down, if there is none yet, once nothing can be refused any more. How many
    partitions each topic has; those that are missing are created."""
    plan = _plan(options, wanted, cluster) if state.plan is None else state.plan
    configs = dict(options.topic_config)
    counts = _ensure_topics(cluster, topic, plan["partitions"], configs)
    if options.partitions == "keep":
        _check_partitions(options, plan["places"], topic, counts)
    if state.plan is None:
        state.begin(plan)
    return counts


def _plan(options: argparse.Namespace, wanted: Wanted, cluster: Cluster) -> dict[str, Any]:
    source = place(options.place, options.from_format)
    splits = source.splits(wanted, offsets_of(options))
    plans = plans_of(splits, wanted)
    counts: dict[str, int] = {}
    places = [
        each
        for plan in plans
        for each in ([plan.place] if plan.place else places_in(plan.splits[0], wanted))
    ]
    for topic, index in places:
        counts[topic] = max(counts.get(topic, 1), index + 1)
    if isinstance(source, Topics):
        with Cluster(source.addresses) as theirs:
            counts |= {each.name: len(each.partitions) for each in find_topics(theirs, [*counts])}
    producer = Producer(cluster)
    streams = [Stream(plan, wanted, Position()) for plan in plans]
    dues = [due for each in streams if (due := each.due_ms()) is not None and due >= 0]
    return {
        "streams": [{"splits": to_plain(each.splits), "place": each.place} for each in plans],
        "partitions": counts,
        "places": places,
        "identity": [producer.identity.producer_id, producer.identity.epoch],
        "first_ms": min(dues, default=None),
        "now_ms": int(time.time() * 1000),
    }


def _plans(state: State) -> list[Plan]:
    found = []
    for each in state.plan["streams"]:
        where = each["place"]
        splits = tuple(from_plain(each["splits"], state.path))
        found.append(Plan(splits, None if where is None else (where[0], where[1])))
    return found


def _shift(options: argparse.Namespace, plan: Mapping[str, Any]) -> Shift:
    if options.shift != "now":
        return Shift(int(options.shift * 1000))
    first = plan["first_ms"]
    if first is None:
        return Shift(0)
    return Shift(plan["now_ms"] - first, first, options.speed)


def _ensure_topics(
    cluster: Cluster,
    topic: str | None,
    partitions: Mapping[str, int],
    configs: Mapping[str, str],
) -> dict[str, int]:
    """Create what is missing. How many partitions each topic has."""
    wanted = dict(partitions) if topic is None else {topic: max(partitions.values(), default=1)}
    there = {each.name: len(each.partitions) for each in find_topics(cluster, [*wanted], none=True)}
    for name, count in wanted.items():
        if name not in there:
            create_topic(cluster, name, count, configs=configs)
    return wanted | there


def _check_partitions(
    options: argparse.Namespace,
    places: Sequence[Place],
    topic: str | None,
    counts: Mapping[str, int],
) -> None:
    """Whether the topics have the partitions that are to be written. Raises PipelineError."""
    for name, index in places:
        is_wanted = not options.partition or index in options.partition
        if is_wanted and index >= counts[topic or name]:
            raise PipelineError(no_partition(topic or name, counts[topic or name], index))


def _outcome(
    player: Player, streams: Sequence[Stream], is_done: bool, too_old: list[Expired]
) -> Outcome:
    left = {
        each.name: {"split": each.position.split, "rows": each.position.rows}
        | ({} if each.position.offset is None else {"offset": each.position.offset})
        for each in streams
        if not is_done
    }
    result = {
        "records": player.sent,
        "bytes": player.sent_bytes,
        "late_seconds": round(player.late_ms / 1000, 3),
        "done": is_done,
        "stopped_at": left,
        "warnings": [each.as_json() for each in too_old],
    }
    lines = [f"{player.sent:,} records, {in_bytes(player.sent_bytes)}"]
    if player.late_ms >= 1000:
        lines.append(f"up to {player.late_ms / 1000:.1f} s late: it was too much to keep the pace")
    for name, at in left.items():
        where = f"offset {at['offset']}" if "offset" in at else f"record {at['rows']}"
        lines.append(f"{name}: stopped before {where}")
    if not is_done:
        lines.append("interrupted; --resume goes on")
    lines += warn(too_old)
    return Outcome(result, lines, 0 if is_done else INTERRUPTED)
