"""Sequences for clusters drawn from a seed: the same seed draws the same steps.

Topics: `~a` has two partitions on three brokers each, `~b` two on two brokers, `~c` one on one. A
sequence is a few rounds: something happens (a broker stops, is killed, stands still or comes back;
an election, a reassignment, another config), and then brokers that run are asked. What is asked is
about any partition at any broker, so most of it is refused somewhere and served elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from odradek.wire import Request
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from odradek.wire.api.produce import ProduceRequest

from ..ask.batches import TIME, batch
from ..ask.cluster import elect, move, producers
from ..ask.clusters import (
    NODES,
    SETTLED,
    about,
    cluster,
    described,
    kill,
    moves,
    pause,
    resume,
    set_config,
    start,
    stop,
    topic_on,
)
from ..ask.groups import beat, commit, describe, offsets_of
from ..ask.homes import homed
from ..ask.records import delete_records, fetch, list_offsets, produce
from ..engine.served import Served
from ..engine.steps import Ask, Sequence, Step, Steps, now, seen

PLACES = [("~a", 0), ("~a", 1), ("~b", 0), ("~b", 1), ("~c", 0)]
EPOCHS = (-1,) * 6 + (0, 0, 1, 1, 2, 3, 5)
OFFSETS = (0, 0, 0, 1, 2, 3, 5, 8, 13, -1)
TIMES = (-1, -1, -1, -2, -3, TIME, TIME + 100)
SHORT_MS = 500
ROUNDS = (3, 4, 5)
QUESTIONS = 24
_IN_ALL = 18
"""One question of so many is put to every broker that runs."""


class Drawing:
    """A sequence on its way, and which brokers run by then."""

    def __init__(self, random: Random, served: Served) -> None:
        self.random = random
        self.served = served
        self.running = set(NODES)
        self.paused: set[int] = set()
        self.sequence = 0

    def pick(self) -> int:
        return self.random.choice(sorted(self.running))

    def place(self) -> tuple[str, int]:
        return self.random.choice(PLACES)

    def version(self, api: type[Request], first: int = 0) -> int:
        return self.random.choice([v for v in self.served.versions(api) if v >= first])


def draw(seed: int, served: Served) -> Sequence:
    drawing = Drawing(Random(seed), served)
    steps = _beginning(drawing)
    for _ in range(drawing.random.choice(ROUNDS)):
        steps += drawing.random.choice(HAPPENS)(drawing)
        for _ in range(QUESTIONS):
            steps += _question(drawing)
    return Sequence(f"clusters, seed {seed}", tuple(steps))


def _beginning(drawing: Drawing) -> Steps:
    least = drawing.random.choice(("1", "2"))
    return [
        topic_on([1, 2, 3], [2, 3, 1], name="~a", min_insync_replicas=least),
        topic_on([3, 1], [1, 2], name="~b", min_insync_replicas=drawing.random.choice(("1", "2"))),
        topic_on([2], name="~c"),
        Ask(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000), 4, at=1),
    ]


# What happens


def _ends(drawing: Drawing) -> Steps:
    """A broker ends, or all that have ended come back."""
    if len(drawing.running) == 1 or (len(drawing.running) == 2 and drawing.random.random() < 0.6):
        return _back(drawing)
    node = drawing.pick()
    drawing.running.discard(node)
    how = drawing.random.choice((stop, stop, kill, pause))
    if how is pause:
        drawing.paused.add(node)
    return [how(node)] if how is stop else [how(node), SETTLED]


def _back(drawing: Drawing) -> Steps:
    away = sorted({*NODES} - drawing.running)
    if not away:
        return _elects(drawing)
    node = drawing.random.choice(away)
    drawing.running.add(node)
    if node in drawing.paused:
        drawing.paused.discard(node)
        return [resume(node)]
    return [start(node)]


def _elects(drawing: Drawing) -> Steps:
    named = [(name, [index]) for name, index in PLACES if drawing.random.random() < 0.5]
    kind = drawing.random.choice((0, 0, 1))
    return [Ask(elect(*(named or [("~a", [0])]), kind=kind), 2, at=drawing.pick())]


def _moves(drawing: Drawing) -> Steps:
    name, index = drawing.place()
    number = 1 if name == "~c" else drawing.random.choice((2, 2, 3))
    target = drawing.random.sample(NODES, number)
    wanted: list[int] | None = None if drawing.random.random() < 0.15 else target
    then = _elects(drawing) if drawing.random.random() < 0.5 else []
    return [Ask(move((name, [(index, wanted)])), 0, at=drawing.pick()), *then]


def _configures(drawing: Drawing) -> Steps:
    name = drawing.random.choice(("~a", "~b", "~c"))
    value = drawing.random.choice(("1", "2", "2", "3"))
    return [set_config("min.insync.replicas", value, name, at=drawing.pick())]


HAPPENS: list[Callable[[Drawing], Steps]] = [
    *(_ends,) * 4,
    *(_back,) * 3,
    *(_elects,) * 2,
    *(_moves,) * 4,
    _configures,
]


# What is asked


def _question(drawing: Drawing) -> Steps:
    step = drawing.random.choice(ASKS)(drawing)
    if isinstance(step, Ask) and drawing.random.randrange(_IN_ALL) == 0:
        return [Ask(step.request, step.version, at=node) for node in sorted(drawing.running)]
    return [step]


def _produce(drawing: Drawing) -> Step:
    name, index = drawing.place()
    data = batch(*(b"v",) * drawing.random.choice((1, 1, 2)), time=TIME + drawing.sequence)
    acks = drawing.random.choice((-1, -1, 1))
    request = produce(data, name, index, acks=acks, timeout_ms=SHORT_MS)
    return Ask(request, drawing.version(ProduceRequest, 3), at=drawing.pick())


def _produce_in_order(drawing: Drawing) -> Step:
    number = drawing.random.choice((drawing.sequence, drawing.sequence, 0, 1, drawing.sequence + 1))
    drawing.sequence += number == drawing.sequence
    data = batch(b"i", producer_id=seen("pid"), producer_epoch=0, sequence=number, time=now())
    request = produce(data, "~a", 0, timeout_ms=SHORT_MS)
    return Ask(request, drawing.version(ProduceRequest, 9), at=drawing.pick())


def _fetch(drawing: Drawing) -> Step:
    random = drawing.random
    name, index = drawing.place()
    request = fetch(
        random.choice(OFFSETS),
        name,
        index,
        current_leader_epoch=random.choice(EPOCHS),
        last_fetched_epoch=random.choice(EPOCHS),
        isolation_level=random.choice((0, 0, 1)),
        rack_id=random.choice(("", "", "", "a", "b", "c")),
    )
    return Ask(request, drawing.version(FetchRequest, 4), at=drawing.pick())


def _offsets(drawing: Drawing) -> Step:
    random = drawing.random
    name, index = drawing.place()
    request = list_offsets(
        random.choice(TIMES),
        name=name,
        isolation=random.choice((0, 0, 1)),
        epoch=random.choice(EPOCHS),
        replica=random.choice((-1, -1, -1, -2)),
    )
    request.topics[0].partitions[0].partition_index = index
    return Ask(request, drawing.version(ListOffsetsRequest, 4), at=drawing.pick())


def _epochs(drawing: Drawing) -> Step:
    random = drawing.random
    name, index = drawing.place()
    made = OffsetForLeaderEpochRequest
    part = made.Topic.Partition(
        partition=index,
        current_leader_epoch=random.choice(EPOCHS),
        leader_epoch=random.choice((0, 1, 2, 3, 4, 6, -1)),
    )
    request = made(replica_id=-1, topics=[made.Topic(topic=name, partitions=[part])])
    return Ask(request, drawing.version(made), at=drawing.pick())


def _metadata(drawing: Drawing) -> Step:
    version = drawing.version(MetadataRequest, 1)
    return Ask(about("~a", "~b", "~c"), version, at=drawing.pick())


def _looks(drawing: Drawing) -> Step:
    name, index = drawing.place()
    asked: list[tuple[Request, int]] = [
        (described("~a", "~b", "~c"), 0),
        (producers((name, [index])), 0),
        (cluster(is_fenced_too=True), 2),
        (FindCoordinatorRequest(key=_group(drawing), key_type=drawing.random.choice((0, 1))), 2),
        (moves(), 0),
    ]
    request, version = drawing.random.choice(asked)
    return Ask(request, version, at=drawing.pick())


def _group(drawing: Drawing) -> Any:
    return homed("g", drawing.random.choice(NODES))


def _groups(drawing: Drawing) -> Step:
    group = _group(drawing)
    name, index = drawing.place()
    asked: list[tuple[Request, int]] = [
        (commit((name, index, drawing.random.randrange(9)), group=group), 7),
        (offsets_of(group, [(name, [index])]), 7),
        (describe(group), 5),
        (beat("stranger", group=group), 4),
    ]
    request, version = drawing.random.choice(asked)
    return Ask(request, version, at=drawing.pick())


def _deletes(drawing: Drawing) -> Step:
    name, index = drawing.place()
    offset = drawing.random.choice((0, 1, 2, -1, 50))
    return Ask(delete_records((name, index, offset)), 2, at=drawing.pick())


ASKS: list[Callable[[Drawing], Step]] = [
    *(_produce,) * 9,
    *(_produce_in_order,) * 2,
    *(_fetch,) * 10,
    *(_offsets,) * 4,
    *(_epochs,) * 3,
    *(_metadata,) * 2,
    *(_looks,) * 3,
    *(_groups,) * 3,
    _deletes,
]
