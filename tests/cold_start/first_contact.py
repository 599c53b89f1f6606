"""What an application meets that asks for a thing right after it was made, with each stock client.

Each step is one verb of the adapters (odradek.compat), which pass their client's errors on: what is
counted here an application would have to handle.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from statistics import median
from typing import Any, NamedTuple

from odradek.compat import Client, NewRecord
from odradek.compat import client as client_named

TIMES = 20
PARTITIONS = 6


class Met(NamedTuple):
    """How often each outcome was met, and how long what succeeded took (ms)."""

    outcomes: Counter[str]
    times_ms: list[float]

    def __str__(self) -> str:
        found = ", ".join(f"{name} {count}" for name, count in self.outcomes.most_common())
        return f"{found} ({median(self.times_ms):.0f} ms)" if self.times_ms else found


Step = Callable[[Client, str, str], object]

AFTER_CREATION: dict[str, Step] = {
    "partitions": lambda client, broker, topic: client.partitions(broker, topic),
    "end offsets": lambda client, broker, topic: client.end_offsets(broker, topic),
    "produce": lambda client, broker, topic: client.produce(broker, topic, [NewRecord(b"x")]),
}
OF_A_NEW_BROKER: dict[str, Step] = {
    "committed": lambda client, broker, topic: client.committed(broker, topic, topic),
    "consume as a group": lambda client, broker, topic: client.consume(
        broker, topic, group=f"{topic}-2", count=1
    ),
    "a transaction": lambda client, broker, topic: client.produce(
        broker, topic, [NewRecord(b"x")], transactional_id=topic
    ),
}


def after_creation(client: str, bootstrap: str, step: str) -> Met:
    """Create a topic of six partitions, and take the step at once; again and again."""
    met = Met(Counter(), [])
    for number in range(TIMES):
        topic = f"{step.replace(' ', '-')}-{client}-{number}"
        client_named(client)._create_topic(bootstrap, topic, PARTITIONS, {})
        _take(met, AFTER_CREATION[step], client_named(client), bootstrap, topic)
    return met


def of_a_new_broker(client: str, start: Callable[[], Any], step: str, brokers: int = 3) -> Met:
    """Take the step as the first that needs a coordinator, at new brokers."""
    met = Met(Counter(), [])
    for _ in range(brokers):
        with start() as broker:
            first = client_named(client)
            first.create_topic(broker.bootstrap_servers, "t")
            _ready(first, broker.bootstrap_servers)
            _take(met, OF_A_NEW_BROKER[step], first, broker.bootstrap_servers, "t")
    return met


def _ready(client: Client, bootstrap: str) -> None:
    """The topic has its leader and a record."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with suppress(Exception):
            client.produce(bootstrap, "t", [NewRecord(b"x")])
            return
        time.sleep(0.05)


def _take(met: Met, step: Step, client: Client, bootstrap: str, topic: str) -> None:
    begin = time.perf_counter()
    try:
        found = step(client, bootstrap, topic)
    except Exception as error:
        met.outcomes[_name(error)] += 1
        return
    is_short = isinstance(found, list | dict) and len(found) < PARTITIONS
    is_short = is_short and step in (AFTER_CREATION["partitions"], AFTER_CREATION["end offsets"])
    met.outcomes["fewer than there are" if is_short else "ok"] += 1
    met.times_ms.append((time.perf_counter() - begin) * 1000)


def _name(error: Exception) -> str:
    """What the client calls it."""
    inner: Any = error.args[0] if error.args else None
    if hasattr(inner, "name") and callable(inner.name):
        return str(inner.name())
    return getattr(error, "kind", type(error).__name__)
