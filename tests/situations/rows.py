"""The rows of the table: a situation, an application, and how the two are brought together."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from odradek import Emulator, Situation
from odradek.compat.clients import wait_until

from tests.situations.apps.app import (
    DEFAULT,
    GROUP,
    IDEMPOTENT,
    PLAIN,
    TOPIC,
    TRANSACTIONAL,
    TRANSACTIONAL_ID,
)
from tests.situations.judging import RECOVERS, Outcome, of_consumer, of_producer, of_transactions
from tests.situations.stage import LIMIT_S, Stage

Begins = Callable[[Emulator], object]
RECORDS = [b"%d" % number for number in range(10)]


class NeverMet(Exception):
    """The client has not met the situation, so the run shows nothing."""


@dataclass(frozen=True)
class Row:
    """One row. `verb` is the situation as a test writes it, `application` what it happens to."""

    verb: str
    application: str
    run: Callable[[Stage], Outcome]
    config: Mapping[str, Any] = field(default_factory=dict)
    """Of the broker."""
    well: str = RECOVERS
    """What it comes to if all is well."""

    @property
    def key(self) -> str:
        """What it is called in files, and by --only."""
        return f"{self.verb}, {self.application}"


def _met(situation: object) -> None:
    if isinstance(situation, Situation) and not situation.hits:
        raise NeverMet(str(situation))


def produces(kind: str, begins: Begins, value: bytes = b"during") -> Callable[[Stage], Outcome]:
    """A producer sends a record before, one in the situation, and one after."""

    def run(stage: Stage) -> Outcome:
        producer = stage.apps.producer(stage.bootstrap, kind)
        try:
            stage.send(producer, b"before")
            stage.story.sent.clear()
            situation = begins(stage.kafka)
            stage.send(producer, value)
            stage.send(producer, b"after")
        finally:
            producer.close()
        _met(situation)
        return of_producer(stage.story, stage.log())

    return run


def starts(begins: Begins) -> Callable[[Stage], Outcome]:
    """A producer is started in the situation, and sends a record; so is a consumer, which reads."""

    def run(stage: Stage) -> Outcome:
        situation = begins(stage.kafka)
        begin = time.monotonic()
        if not stage.tries(lambda: _sends_one(stage), "start"):
            return of_consumer(stage.story, [], 0)
        outcome = of_producer(stage.story, stage.log())
        if outcome.seconds is None:
            return outcome
        stage.expected = [b"during"]
        consumer = stage.apps.consumer(stage.bootstrap)
        try:
            stage.consume(consumer)
        finally:
            consumer.close()
        _met(situation)
        stage.story.seconds = time.monotonic() - begin
        return of_consumer(stage.story, stage.expected, 0)

    return run


def _sends_one(stage: Stage) -> None:
    producer = stage.apps.producer(stage.bootstrap, DEFAULT)
    try:
        stage.send(producer, b"during")
    finally:
        producer.close()


def transacts(begins: Begins) -> Callable[[Stage], Outcome]:
    """A producer does three transactions; in the second one it meets the situation."""

    def run(stage: Stage) -> Outcome:
        producer = stage.apps.producer(stage.bootstrap, TRANSACTIONAL)
        try:
            stage.tries(producer.begin, "begin")
            stage.send(producer, b"before")
            stage.tries(lambda: producer.commit(LIMIT_S), "commit")
            stage.story.sent.clear()
            begin = time.monotonic()
            situation: list[object] = []
            is_done = (
                stage.tries(producer.begin, "begin")
                and stage.send(producer, b"during")
                and not situation.append(begins(stage.kafka))
                and stage.send(producer, b"still during")
                and stage.tries(lambda: producer.commit(LIMIT_S), "commit")
            )
            if not is_done:
                stage.tries(lambda: producer.abort(LIMIT_S), "abort")
            stage.story.seconds = time.monotonic() - begin
            if stage.tries(producer.begin, "begin") and stage.send(producer, b"after"):
                stage.tries(lambda: producer.commit(LIMIT_S), "commit")
        finally:
            producer.close()
        _met(situation[0])
        stage.kafka.wait_idle(timeout=LIMIT_S)
        return of_transactions(stage.story, stage.log(), second_committed=is_done)

    return run


def consumes(
    begins: Callable[[Stage], object], *, after_batches: int = 2, work_s: float = 0.0
) -> Callable[[Stage], Outcome]:
    """A consumer reads ten records in batches of two, and commits after each. The situation begins
    between a batch and its commit, or, after none, before the consumer starts."""

    def run(stage: Stage) -> Outcome:
        stage.kafka.topic(TOPIC).produce_all(RECORDS)
        stage.expected = list(RECORDS)
        situation: list[object] = []

        def begin() -> None:
            situation.append(begins(stage))

        if not after_batches:
            begin()
        consumer = stage.apps.consumer(stage.bootstrap)
        try:
            begin_then = begin if after_batches else None
            stage.consume(consumer, begin_then, after_batches=after_batches, work_s=work_s)
        finally:
            consumer.close()
        _met(situation[0])
        return of_consumer(stage.story, stage.expected, stage.skipped())

    return run


def behind(stage: Stage) -> object:
    """Half of the records are gone, which the consumer has not asked for yet."""
    stage.kafka.group(GROUP).commit({(TOPIC, 0): 2})
    stage.kafka.situations.retention_overtakes(TOPIC, group=GROUP, keep=5)
    stage.expected = RECORDS[5:]
    return None


def recreated(stage: Stage) -> object:
    """The topic is another one, and has a dozen new records."""
    topic = stage.kafka.situations.topic_recreated(TOPIC)
    stage.expected = [b"new %d" % number for number in range(12)]
    stage.story.read.clear()
    topic.produce_all(stage.expected)
    return None


def more_partitions(stage: Stage) -> object:
    """There is a record in a partition that the consumer does not know of."""
    stage.kafka.situations.partitions_added(TOPIC)
    stage.kafka.topic(TOPIC)[1].produce(b"elsewhere")
    stage.expected = [*RECORDS, b"elsewhere"]
    return None


def past_the_timeout(kafka: Emulator) -> object:
    """The open transaction is overdue, and the broker has noticed it."""
    kafka.situations.clock_jump(120)
    wait_until(lambda: not any(each.is_open for each in kafka.transactions()), "it is aborted")
    return None


_LARGE = b"x" * 5_000
PRODUCER, CONSUMER = "a producer", "a consumer"
ROWS = (
    Row(
        'lost_acknowledgement("orders")',
        f"{PRODUCER}, not idempotent",
        produces(PLAIN, lambda k: k.situations.lost_acknowledgement(TOPIC)),
    ),
    Row(
        'lost_acknowledgement("orders")',
        f"{PRODUCER}, idempotent",
        produces(IDEMPOTENT, lambda k: k.situations.lost_acknowledgement(TOPIC)),
    ),
    Row(
        'retry_storm("orders", 5)',
        f"{PRODUCER}, not idempotent",
        produces(PLAIN, lambda k: k.situations.retry_storm(TOPIC, 5)),
    ),
    Row(
        'retry_storm("orders", 5)',
        f"{PRODUCER}, idempotent",
        produces(IDEMPOTENT, lambda k: k.situations.retry_storm(TOPIC, 5)),
    ),
    Row(
        'producer_id_expired("orders")',
        f"{PRODUCER}, idempotent",
        produces(IDEMPOTENT, lambda k: k.situations.producer_id_expired(TOPIC)),
    ),
    Row(
        'message_too_large("orders", 1000)',
        PRODUCER,
        produces(DEFAULT, lambda k: k.situations.message_too_large(TOPIC, 1000), _LARGE),
    ),
    Row(
        'not_leader("orders", seconds=2)',
        PRODUCER,
        produces(DEFAULT, lambda k: k.situations.not_leader(TOPIC, seconds=2)),
    ),
    Row(
        'not_leader("orders", seconds=2)',
        f"{CONSUMER} that starts then",
        consumes(lambda s: s.kafka.situations.not_leader(TOPIC, seconds=2), after_batches=0),
    ),
    Row(
        'coordinator_loading(group="billing", seconds=3)',
        CONSUMER,
        consumes(lambda s: s.kafka.situations.coordinator_loading(group=GROUP, seconds=3)),
    ),
    Row(
        'coordinator_loading(transactional_id="payments", seconds=3)',
        "a transaction",
        transacts(
            lambda k: k.situations.coordinator_loading(transactional_id=TRANSACTIONAL_ID, seconds=3)
        ),
    ),
    Row(
        'coordinator_moved(group="billing")',
        CONSUMER,
        consumes(lambda s: s.kafka.situations.coordinator_moved(group=GROUP)),
    ),
    Row(
        'coordinator_moved(transactional_id="payments")',
        "a transaction",
        transacts(lambda k: k.situations.coordinator_moved(transactional_id=TRANSACTIONAL_ID)),
    ),
    Row(
        'rebalance_in_batch("billing")',
        f"{CONSUMER} that works for 4 s on a batch",
        consumes(lambda s: s.kafka.situations.rebalance_in_batch(GROUP), after_batches=0, work_s=4),
    ),
    Row(
        'zombie_consumer("billing")',
        CONSUMER,
        consumes(lambda s: s.kafka.situations.zombie_consumer(GROUP)),
    ),
    Row(
        'zombie_producer("payments")',
        "a transaction",
        transacts(lambda k: k.situations.zombie_producer(TRANSACTIONAL_ID)),
    ),
    Row(
        'transaction_timeout("payments")',
        "a transaction",
        transacts(lambda k: k.situations.transaction_timeout(TRANSACTIONAL_ID)),
    ),
    Row(
        'retention_overtakes("orders", group="billing", keep=5)',
        f"{CONSUMER} that starts then",
        consumes(behind, after_batches=0),
        well="goes on with what is left, and tells nothing",
    ),
    Row(
        'topic_recreated("orders")',
        f"{CONSUMER} that has fetched 10 records",
        consumes(recreated, after_batches=2),
    ),
    Row(
        'partitions_added("orders")',
        CONSUMER,
        consumes(more_partitions),
    ),
    Row(
        "disk_full(seconds=3)",
        PRODUCER,
        produces(DEFAULT, lambda k: k.situations.disk_full(seconds=3)),
    ),
    Row(
        "clock_jump(-7200)",
        PRODUCER,
        produces(DEFAULT, lambda k: k.situations.clock_jump(-7200)),
    ),
    Row(
        "clock_jump(120)",
        "a transaction with a timeout of 60 s",
        transacts(past_the_timeout),
        {"transaction.abort.timed.out.transaction.cleanup.interval.ms": 1000},
    ),
    Row(
        "slow_broker(5)",
        PRODUCER,
        produces(DEFAULT, lambda k: k.situations.slow_broker(5)),
    ),
    Row(
        "throttled(1000)",
        PRODUCER,
        produces(DEFAULT, lambda k: k.situations.throttled(1000)),
    ),
    Row(
        'older_broker("2.1")',
        "a producer and a consumer that start then",
        starts(lambda k: k.situations.older_broker("2.1")),
    ),
    Row(
        'older_broker("0.11")',
        "a producer and a consumer that start then",
        starts(lambda k: k.situations.older_broker("0.11")),
    ),
)
