"""What a broker remembers of those who were there once."""

from __future__ import annotations

from odradek.wire.api.init_producer_id import InitProducerIdRequest

from tests.hostile.attacks import attack
from tests.hostile.support.clients import Hostile
from tests.hostile.support.setups import VICTIM, coordinators, now_batch, partitions, until
from tests.hostile.support.target import Target
from tests.requests.produce import produce_all

PARTITIONS = 10


def ten_partitions(target: Target, _: int) -> None:
    """The topic `victim`, with ten partitions."""
    partitions(target, PARTITIONS)


@attack(test=200, full=20_000, setup=ten_partitions, memory_max_mb=4)
def producers_that_write_once(target: Target, count: int) -> None:
    """Idempotent producers, each of which writes a record to each of ten partitions."""
    with Hostile(target.address) as hostile:
        for producer in range(count):
            one = now_batch(b"x", producer_id=producer, producer_epoch=0, base_sequence=0)
            request = produce_all(*((VICTIM, number, one) for number in range(PARTITIONS)))
            hostile.ask(request, 9)


@attack(test=1_000, full=20_000, setup=coordinators, memory_max_mb=4)
def transactional_ids_that_are_used_once(target: Target, count: int) -> None:
    """InitProducerId of ever new transactional ids."""
    with Hostile(target.address) as hostile:
        for number in range(count):
            request = InitProducerIdRequest(
                transactional_id=f"hostile-{number}", transaction_timeout_ms=60_000
            )
            until(hostile, request, 4, lambda answer: answer.error_code == 0)
