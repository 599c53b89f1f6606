"""The bugs, what each service promises, and the one test by which all are held to it: it knows
nothing of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.bugs import at_least_once, exactly_once, on_aiokafka
from tests.bugs.parts import COUNTS, INVOICES, ORDERS
from tests.bugs.programs import Program


def number(record: Any) -> Any:
    """Which order a record is about."""
    return record.json()["id"]


def counted(inputs: list[Any]) -> dict[str, int]:
    """How many orders each customer has."""
    found: Counter[str] = Counter()
    for each in inputs:
        try:
            if isinstance(each.json(), dict):
                found[each.key.decode()] += 1
        except (TypeError, ValueError):  # a tombstone, poison
            continue
    return dict(found)


def counts(kafka: Any) -> dict[str, int]:
    """What the service has counted."""
    return {key.decode(): json.loads(value) for key, value in kafka.topic(COUNTS).by_key().items()}


LEAST, ONCE, ORDER, STATE = "at_least_once", "exactly_once", "in_order_per_key", "state_equals"


CAUSES = {
    "commit_before_processing": ("committed first",),
    "auto_commit_with_a_worker": ("committed first",),
    "buffer_not_flushed": ("rebalance", "committed first"),
    "position_at_revocation": ("rebalance", "committed first"),
    "delivery_errors_ignored": ("delivery errors",),
    "flush_for_a_moment_at_the_end": ("flush at the end", "committed first"),
    "reads_uncommitted": ("aborted input",),
    "partition_0_alone": ("partitions",),
    "latest_for_a_new_group": ("the end of a new one",),
    "seek_to_the_end_on_assign": ("the end",),
    "poison": ("poison",),
    "tombstones": ("tombstones",),
    "latest_after_retention": ("after retention",),
    "retries_0": ("retries",),
    "longer_than_max_poll_interval": ("max.poll.interval",),
    "one_static_id": ("static id",),
    "batch_half_done": ("half done", "delivery errors"),
    "offset_not_the_next": ("offset + 1",),
    "no_transaction": ("no transaction",),
    "offsets_outside": ("offsets outside",),
    "fenced_producer_kept": ("after a failed transaction",),
    "dedupe_in_memory": ("no transaction",),
    "no_answer_in_0_3_seconds": ("late answer",),
    "own_retry": ("retried by itself",),
    "order_across_partitions": ("several partitions",),
    "state_not_restored": ("state",),
    "send_not_awaited": ("committed first",),
    "a_task_for_each": ("committed first",),
    "errors_gathered": ("delivery errors", "half done"),
    "errors_caught": ("delivery errors",),
    "isolation_by_default": ("aborted input",),
    "latest_by_default": ("the end of a new one",),
    "begins_at_the_end": ("the end of a new one",),
    "not_from_the_beginning": ("the end of a new one",),
}
"""By bug: what the report may name as its cause, by names of the table of causes."""


@dataclass(frozen=True)
class Bug:
    """One of them."""

    app: Callable[..., object] | Program
    promise: str
    more: dict[str, Any] = field(default_factory=dict)
    """Arguments of the mark."""
    client: str = "confluent-kafka"

    @property
    def key(self) -> str:
        """No other has it."""
        if isinstance(self.app, Program):
            return f"{self.app.language}_{self.app.bug}"
        return self.app.__name__

    @property
    def bug(self) -> str:
        """Of CAUSES: services of several clients may have it."""
        bug = self.app.bug if isinstance(self.app, Program) else self.app.__name__
        return bug.removeprefix(f"{self.client}_")

    @property
    def name(self) -> str:
        """For people."""
        return self.bug.replace("_", " ")

    @property
    def what(self) -> str:
        """What it does, in a sentence."""
        app = self.app
        text = app.what if isinstance(app, Program) else (app.__doc__ or "").split("\n")[0]
        return text.rstrip(".")

    def start(self, kafka: Any, right: bool) -> None:
        """The service, with its bug or without. Raises Unavailable."""
        if isinstance(self.app, Program):
            kafka.service(self.app.command(right))
        else:
            kafka.service(self.app, kafka.bootstrap_servers, right)

    @property
    def arguments(self) -> dict[str, Any]:
        """Of the mark."""
        if self.promise == STATE:
            return {"of": ORDERS, "to": counts, "state": counted, **self.more}
        return {"of": ORDERS, "to": INVOICES, "by": number, **self.more}


_ZOMBIES = {"but": ("app-pause", "kick", "timeout")}
"""Only transactions keep order against them."""
_NOT_FENCED = {"but": ("app-pause", "app-scale", "kick", "rebalance", "timeout")}
"""kafkajs sends offsets of a transaction without its generation: a zombie is not fenced."""
BUGS = (
    *(
        Bug(each, LEAST)
        for each in (
            at_least_once.commit_before_processing,
            at_least_once.auto_commit_with_a_worker,
            at_least_once.buffer_not_flushed,
            at_least_once.position_at_revocation,
            at_least_once.delivery_errors_ignored,
            at_least_once.flush_for_a_moment_at_the_end,
            at_least_once.reads_uncommitted,
            at_least_once.partition_0_alone,
            at_least_once.latest_for_a_new_group,
            at_least_once.seek_to_the_end_on_assign,
            at_least_once.poison,
            at_least_once.tombstones,
            at_least_once.latest_after_retention,
            at_least_once.retries_0,
            at_least_once.longer_than_max_poll_interval,
            at_least_once.one_static_id,
            at_least_once.batch_half_done,
        )
    ),
    *(
        Bug(each, ONCE)
        for each in (
            exactly_once.offset_not_the_next,
            exactly_once.no_transaction,
            exactly_once.offsets_outside,
            exactly_once.fenced_producer_kept,
            exactly_once.dedupe_in_memory,
            exactly_once.no_answer_in_0_3_seconds,
        )
    ),
    Bug(exactly_once.own_retry, ORDER, _ZOMBIES),
    Bug(exactly_once.order_across_partitions, ORDER, _ZOMBIES),
    Bug(exactly_once.state_not_restored, STATE),
    *(
        Bug(each, LEAST, client="aiokafka")
        for each in (
            on_aiokafka.aiokafka_send_not_awaited,
            on_aiokafka.aiokafka_a_task_for_each,
            on_aiokafka.aiokafka_errors_gathered,
            on_aiokafka.aiokafka_isolation_by_default,
            on_aiokafka.aiokafka_latest_by_default,
        )
    ),
    *(
        Bug(Program(language, bug, what), promise, more, client)
        for language, client, bug, promise, more, what in (
            *(
                ("go", "franz-go", bug, promise, {}, what)
                for bug, promise, what in (
                    ("auto_commit_with_a_worker", LEAST, "What a goroutine has yet to do is done"),
                    ("delivery_errors_ignored", LEAST, "Produce() without a promise, and Flush()"),
                    ("reads_uncommitted", LEAST, "As a client of franz-go does by default"),
                    ("begins_at_the_end", LEAST, "What was there before it is never read"),
                    ("offsets_outside", ONCE, "A transaction, and CommitRecords() after it"),
                )
            ),
            *(
                ("java", "Java client", bug, promise, {}, what)
                for bug, promise, what in (
                    ("auto_commit_with_a_worker", LEAST, "What an executor has yet to do is done"),
                    ("delivery_errors_ignored", LEAST, "send() without a callback, and flush()"),
                    ("isolation_by_default", LEAST, "Consumers read what is not committed"),
                    ("latest_by_default", LEAST, "A new group begins at the end"),
                    ("poison", LEAST, "A record that is no JSON: it dies of it, again and again"),
                    ("offset_not_the_next", ONCE, "sendOffsetsToTransaction() of the last one"),
                )
            ),
            *(
                ("js", "kafkajs", bug, promise, more, what)
                for bug, promise, more, what in (
                    ("commit_before_processing", LEAST, {}, "A kill between the two loses it"),
                    ("send_not_awaited", LEAST, {}, "send() without await"),
                    ("errors_caught", LEAST, {}, "Errors of send() are logged"),
                    ("not_from_the_beginning", LEAST, {}, "fromBeginning: false, the default"),
                    ("poison", LEAST, {}, "JSON.parse() throws in eachMessage, again and again"),
                    ("offset_not_the_next", ONCE, _NOT_FENCED, "sendOffsets() of the last one"),
                )
            ),
        )
    ),
)
