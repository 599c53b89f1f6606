"""Runs of seeds: one alone with its trace, or very many in two processes."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from random import Random
from typing import NamedTuple

from odradek.emulator.config.internal_topics import METADATA_TOPIC

from tests.simulation.cast import TOPICS, actors, topics
from tests.simulation.checks import check
from tests.simulation.consuming import Reader
from tests.simulation.misfortunes import schedule
from tests.simulation.plan import Plan, drawn
from tests.simulation.process import seeded
from tests.simulation.world import World

PROCESSES = 2
AT_A_TIME = 100


class Result(NamedTuple):
    """One seed: what was broken, if anything, and what has happened."""

    seed: int
    broken: str
    trace: list[str]


def play(seed: int, plan: Plan | None = None) -> Result:
    """Play a seed; with another plan than it draws, if one is given."""
    with seeded(Random(seed)), _silence():
        world = World(plan or drawn(seed))
        broken = ""
        try:
            _set_up(world)
            world.run()
            world.tell("end", "check")
            check(world)
        except Exception as error:  # whatever it is, it is a finding
            broken = "".join(traceback.format_exception_only(error)).strip()
            where = traceback.extract_tb(error.__traceback__)[-1]
            broken += f" ({where.name}, line {where.lineno} of {where.filename.split('/')[-1]})"
        finally:
            world.process.end()
    return Result(
        seed, broken, [f"{world.plan}", *(" ".join(map(str, each)) for each in world.trace)]
    )


@contextmanager
def _silence() -> Iterator[None]:
    """Of the broker's log, which tells of misfortunes that are meant."""
    logger = logging.getLogger("odradek")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _set_up(world: World) -> None:
    cluster = world.process.start()
    for name in topics(world.plan.cast):
        partitions, configs = TOPICS[name]
        cluster.create_topic(name, partitions, configs)
        world.places += [(name, index) for index in range(partitions)]
    if world.plan.is_durable:  # no topic is made durable before its first record
        cluster.log_manager.flusher.flush(cluster.log_dir.logs[METADATA_TOPIC, 0])
    world.actors = actors(world)
    world.writers = [actor for actor in world.actors if not isinstance(actor, Reader)]
    members = (actor.member.group for actor in world.actors if hasattr(actor, "member"))
    world.groups = sorted(set(members))
    schedule(world)


def _play_some(seeds: range) -> list[Result]:
    found = (play(seed) for seed in seeds)
    return [result for result in found if result.broken]


def broken_of(seeds: range) -> Iterator[tuple[int, list[Result]]]:
    """Play seeds in parallel; yields how many are done and what was broken among them."""
    parts = [seeds[at : at + AT_A_TIME] for at in range(0, len(seeds), AT_A_TIME)]
    done = 0
    with ProcessPoolExecutor(PROCESSES) as pool:
        for part, results in zip(parts, pool.map(_play_some, parts), strict=True):
            done += len(part)
            yield done, results
