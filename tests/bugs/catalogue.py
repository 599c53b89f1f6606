"""The bugs, what each service promises, and the one test by which all are held to it: it knows
nothing of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.bugs import at_least_once, exactly_once
from tests.bugs.parts import COUNTS, INVOICES, ORDERS


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


@dataclass(frozen=True)
class Bug:
    """One of them."""

    function: Callable[..., None]
    promise: str
    more: dict[str, Any] = field(default_factory=dict)
    """Arguments of the mark."""

    @property
    def name(self) -> str:
        """For people."""
        return self.function.__name__.replace("_", " ")

    @property
    def arguments(self) -> dict[str, Any]:
        """Of the mark."""
        if self.promise == STATE:
            return {"of": ORDERS, "to": counts, "state": counted, **self.more}
        return {"of": ORDERS, "to": INVOICES, "by": number, **self.more}


_ZOMBIES = {"but": ("app-pause", "kick", "timeout")}
"""Only transactions keep order against them."""
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
)
