"""The plan of a replay, its pieces and its target, decided once and written into its state."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ...segments.wanted import Wanted
from ..broker import Cluster, Place, create_topic, find_topics
from ..broker.producing import new_identity
from ..command import offsets_of
from ..engine import ArrowEngine, Engine, SparkEngine, choose
from ..errors import PipelineError
from ..places import place
from ..state import State
from ..stored import from_plain, to_plain
from ..topics import Topics
from .sending import no_partition
from .streams import Plan, Position, Stream, places_in, plans_of
from .times import Shift


def begin(
    options: argparse.Namespace,
    wanted: Wanted,
    cluster: Cluster,
    topic: str | None,
    state: State,
) -> tuple[dict[str, int], Engine]:
    """Write the plan down, if there is none yet, once nothing can be refused any more. How many
    partitions each topic has, of which those that are missing are created; and the engine."""
    if state.plan is None:
        plan, engine = _plan(options, wanted, cluster)
    else:
        plan, engine = state.plan, _engine_of(options, state.plan["engine"])
    engine.start()
    try:
        configs = dict(options.topic_config)
        counts = _ensure_topics(cluster, topic, plan["partitions"], configs)
        if options.partitions == "keep":
            _check_partitions(options, plan["places"], topic, counts)
        if state.plan is None:
            state.begin(plan)
    except BaseException:
        engine.close()
        raise
    return counts, engine


def _engine(options: argparse.Namespace, size: int) -> Engine:
    """At a pace it is always this process."""
    if math.isinf(options.speed):
        return choose(options, size, fallback=True)
    return _engine_of(options, ArrowEngine.name)


def _engine_of(options: argparse.Namespace, name: str) -> Engine:
    if name == ArrowEngine.name and options.engine == SparkEngine.name:
        if not math.isinf(options.speed):
            raise PipelineError("--engine spark needs --speed max: one process keeps the pace")
        raise PipelineError("the run that is to go on has the engine arrow: give that, or none")
    if name == SparkEngine.name and options.engine == ArrowEngine.name:
        raise PipelineError("the run that is to go on has the engine spark: give that, or none")
    if name == SparkEngine.name and not math.isinf(options.speed):
        raise PipelineError("the run that is to go on has the engine spark: give --speed max")
    options.engine = name
    return choose(options, 0)


def _plan(
    options: argparse.Namespace, wanted: Wanted, cluster: Cluster
) -> tuple[dict[str, Any], Engine]:
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
    engine = _engine(options, sum(split.size for split in splits))
    producers = len(plans) if isinstance(engine, SparkEngine) else 1
    streams = [Stream(plan, wanted, Position()) for plan in plans]
    dues = [due for each in streams if (due := each.due_ms()) is not None and due >= 0]
    plan = {
        "engine": engine.name,
        "streams": [{"splits": to_plain(each.splits), "place": each.place} for each in plans],
        "partitions": counts,
        "places": places,
        "producers": [
            [each.producer_id, each.epoch]
            for each in (new_identity(cluster) for _ in range(producers))
        ],
        "first_ms": min(dues, default=None),
        "now_ms": int(time.time() * 1000),
    }
    return plan, engine


def noted_plans(state: State) -> list[Plan]:
    found = []
    for each in state.plan["streams"]:
        where = each["place"]
        splits = tuple(from_plain(each["splits"], state.path))
        found.append(Plan(splits, None if where is None else (where[0], where[1])))
    return found


def shift_of(options: argparse.Namespace, plan: Mapping[str, Any]) -> Shift:
    """How times change: the same when the replay goes on."""
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
