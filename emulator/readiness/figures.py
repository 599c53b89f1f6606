"""How long a real node takes: the one table, in milliseconds.

Each row has the least, the quartiles, 95 % and the most; a value is drawn from the straight lines
between them. From several runs of `python -m tests.cold_start` on one node of Apache Kafka 4.3.1,
with everything on two busy cores, and rounded (docs/timing.md has some of what it prints). The most
is less than the longest that was measured: outliers of a busy machine are left out. A cluster of
several nodes takes longer.
"""

from __future__ import annotations

from bisect import bisect_right
from random import Random
from typing import TypeAlias

Figures: TypeAlias = tuple[float, float, float, float, float, float]

SHARES = (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)

COMMITTED: Figures = (27.2, 29.1, 31.0, 34.3, 40.5, 65.0)
"""Until a change of topics is in force: CreateTopics, CreatePartitions, DeleteTopics, and a topic
that Metadata creates."""

LED: dict[int, Figures] = {
    1: (0.0, 0.0, 0.0, 2.0, 5.0, 7.0),
    3: (0.0, 5.0, 15.0, 20.0, 40.0, 130.0),
    6: (20.0, 35.0, 45.0, 60.0, 100.0, 140.0),
    12: (35.0, 60.0, 85.0, 110.0, 230.0, 260.0),
    50: (25.0, 100.0, 240.0, 450.0, 1100.0, 1500.0),
}
"""From then until the broker leads the partitions of a topic, by how many there are at least."""

COORDINATOR_KNOWN: Figures = (36.0, 40.0, 60.0, 90.0, 140.0, 150.0)
"""From the first search for a coordinator, whose topic is created, until it is found."""
COORDINATOR_ELECTED: Figures = (240.0, 320.0, 450.0, 650.0, 990.0, 1600.0)
"""From then, or from a restart, until the broker knows that it is the coordinator."""
COORDINATOR_LOADED: Figures = (20.0, 30.0, 50.0, 62.0, 70.0, 80.0)
"""From then until it has read the log."""

MARKERS: Figures = (0.1, 0.4, 0.7, 1.0, 4.0, 6.0)
"""From the answer to EndTxn until the markers are written and the transaction is complete."""

STOPPING: Figures = (1900.0, 2100.0, 2150.0, 2200.0, 2250.0, 2300.0)
"""From the move of the leaders of a node that is stopped, one of three, until its connections
close."""

RETRY_MS = 20
"""How often a broker asks whether the transaction before is complete, to which a Produce of the
second generation would add a partition (`add.partitions.to.txn.retry.backoff.ms`), ..."""
RETRIES_MS = 100
"""... and for how long (`add.partitions.to.txn.retry.backoff.max.ms`)."""

LATENCY: dict[str, Figures] = {
    "Metadata": (0.15, 0.27, 0.34, 0.47, 2.8, 5.0),
    "FindCoordinator": (0.10, 0.20, 0.25, 0.33, 2.2, 4.0),
    "Produce": (0.13, 0.23, 0.31, 0.41, 3.3, 8.0),
    "ListOffsets": (0.13, 0.20, 0.26, 0.33, 0.9, 4.0),
    "OffsetCommit": (0.17, 0.36, 0.44, 0.50, 0.9, 5.0),
    "OffsetFetch": (0.12, 0.20, 0.24, 0.31, 2.0, 5.0),
    "JoinGroup": (0.36, 0.49, 0.55, 0.66, 1.8, 8.0),
    "SyncGroup": (0.29, 0.33, 0.39, 0.44, 0.6, 5.0),
    "Heartbeat": (0.11, 0.16, 0.19, 0.24, 0.7, 5.0),
    "InitProducerId": (0.10, 0.15, 0.18, 0.27, 1.4, 9.0),
    "AddPartitionsToTxn": (0.53, 0.73, 0.79, 0.91, 5.0, 10.0),
    "EndTxn": (0.25, 0.50, 0.75, 0.94, 2.3, 10.0),
}
"""Of answers, by API; a Produce with a transactional id has its own."""
TRANSACTIONAL_PRODUCE: Figures = (0.73, 0.96, 1.3, 1.8, 7.0, 12.0)


def drawn(figures: Figures, random: Random) -> float:
    """A value, in ms."""
    share = random.random()
    number = bisect_right(SHARES, share) - 1
    low, high = figures[number], figures[number + 1]
    return low + (high - low) * (share - SHARES[number]) / (SHARES[number + 1] - SHARES[number])


def led_after(partitions: int) -> Figures:
    return LED[max(least for least in LED if least <= max(1, partitions))]
