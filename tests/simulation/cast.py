"""The cast of a plan: its topics, and its actors."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.simulation.actor import Actor
from tests.simulation.consuming import GroupConsumer, Reader
from tests.simulation.membership import ClassicMember, ModernMember
from tests.simulation.pipe import Pipe
from tests.simulation.producing import IdempotentProducer
from tests.simulation.transactions import TransactionalWriter
from tests.simulation.world import World

PARTITIONS = 2
KEYS = 3
RETENTION_MS = 30_000
SMALL = {"internal.segment.bytes": "700"}
TOPICS: dict[str, tuple[int, dict[str, str]]] = {
    "t": (PARTITIONS, {}),
    "out": (PARTITIONS, {}),
    "keyed": (1, {"cleanup.policy": "compact", **SMALL}),
    "retained": (1, {"retention.ms": f"{RETENTION_MS}", **SMALL}),
}
"""Name -> partitions and configs."""
BATCHES, TRANSACTIONS, PROCESSES = 8, 5, 2

Make = Callable[[World, str], Iterator[Actor]]


def _producer(world: World, name: str) -> Iterator[Actor]:
    yield IdempotentProducer(world, name, "t", PARTITIONS, BATCHES)


def _keyed(world: World, name: str) -> Iterator[Actor]:
    yield IdempotentProducer(world, name, "keyed", 1, BATCHES * 2, keys=KEYS)


def _retained(world: World, name: str) -> Iterator[Actor]:
    yield IdempotentProducer(world, name, "retained", 1, BATCHES * 2)
    yield Reader(world, f"{name}'s reader", ("retained", 0), committed=False)


def _writer(generation: int) -> Make:
    def make(world: World, name: str) -> Iterator[Actor]:
        yield TransactionalWriter(world, name, "t", PARTITIONS, TRANSACTIONS, generation)

    return make


def _reader(*, committed: bool) -> Make:
    def make(world: World, name: str) -> Iterator[Actor]:
        for index in range(PARTITIONS):
            yield Reader(world, f"{name} {index}", ("t", index), committed=committed)

    return make


def _group(member: type[ClassicMember] | type[ModernMember]) -> Make:
    def make(world: World, name: str) -> Iterator[Actor]:
        for number in range(PROCESSES):
            yield GroupConsumer(world, f"{name} {number}", member, name, "t", PARTITIONS)

    return make


def _pipe(member: type[ClassicMember] | type[ModernMember], generation: int) -> Make:
    def make(world: World, name: str) -> Iterator[Actor]:
        topics = "t", "out"
        for number in range(PROCESSES):
            yield Pipe(world, f"{name} {number}", member, name, topics, PARTITIONS, generation)

    return make


ROLES: dict[str, Make] = {
    "producer": _producer,
    "keyed producer": _keyed,
    "retained producer": _retained,
    "writer 1": _writer(1),
    "writer 2": _writer(2),
    "reader": _reader(committed=False),
    "committed reader": _reader(committed=True),
    "classic group": _group(ClassicMember),
    "modern group": _group(ModernMember),
    "classic pipe 1": _pipe(ClassicMember, 1),
    "classic pipe 2": _pipe(ClassicMember, 2),
    "modern pipe 1": _pipe(ModernMember, 1),
    "modern pipe 2": _pipe(ModernMember, 2),
}


def actors(world: World) -> list[Actor]:
    """Everybody who takes part, in order."""
    return [
        actor
        for number, role in enumerate(world.plan.cast)
        for actor in ROLES[role](world, f"{role}{'' if number < 1 else f' ({number})'}")
    ]


def topics(cast: tuple[str, ...]) -> list[str]:
    """The topics that a cast needs."""
    more = ["out" if "pipe" in each else each.split()[0] for each in cast]
    return ["t", *(name for name in TOPICS if name != "t" and name in more)]
