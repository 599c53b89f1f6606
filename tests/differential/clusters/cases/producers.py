"""O28: what each broker knows of producers."""

from __future__ import annotations

from odradek.wire.api.init_producer_id import InitProducerIdRequest

from ...ask.batches import batch
from ...ask.cluster import elect, move, producers
from ...ask.clusters import SETTLED, at_each, kill, of_produced, start, stop, topic_on
from ...ask.records import fetch, produce
from ...engine.steps import Ask, Steps, now, seen
from . import case

NEW = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)


def _put(sequence: int, at: int, error: int | None = None, **options: object) -> Ask:
    data = batch(
        b"%d" % sequence, producer_id=seen("pid"), producer_epoch=0, sequence=sequence, time=now()
    )
    says = {} if error is None else of_produced(error_code=error)
    return Ask(produce(data), 12, at=at, says=says)


@case("O28")
def sequences_survive_a_change_of_the_leader() -> Steps:
    return [
        topic_on([1, 2]),
        Ask(NEW, 4, at=3),
        *(_put(number, 1, 0) for number in range(6)),
        *at_each(producers(("~t", [0])), 0),
        Ask(move(("~t", [(0, [2, 1])])), 0, at=1),
        Ask(elect(("~t", [0])), 2, at=1),
        *(_put(number, 2) for number in range(6)),
        _put(8, 2),
        _put(6, 2, 0),
        *at_each(producers(("~t", [0])), 0),
        Ask(fetch(), 12, at=2),
    ]


@case("O28")
def a_stopped_broker_remembers_producers() -> Steps:
    return _restarted(stop(1))


@case("O28")
def a_killed_broker_remembers_the_last_batch() -> Steps:
    return _restarted(kill(1), SETTLED)


def _restarted(*ends: object) -> Steps:
    return [
        topic_on([1, 2]),
        Ask(NEW, 4, at=3),
        *(_put(number, 1, 0) for number in range(6)),
        *ends,  # type: ignore[list-item]
        *(_put(number, 2) for number in (0, 1, 5)),
        start(1),
        *at_each(producers(("~t", [0])), 0),
        Ask(elect(("~t", [0])), 2, at=1),
        *(_put(number, 1) for number in range(6)),
        _put(6, 1, 0),
        *at_each(producers(("~t", [0])), 0),
        Ask(fetch(), 12, at=1),
    ]


@case("O28")
def every_broker_gives_ids_of_its_own() -> Steps:
    return [
        *at_each(NEW, 4, says={"error_code": 0}),
        *at_each(NEW, 4, says={"error_code": 0}),
        stop(3),
        start(3),
        *at_each(NEW, 4),
    ]
