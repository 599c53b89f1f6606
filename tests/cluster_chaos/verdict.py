"""What must hold when all is over: what the topics hold is compared with what a client was told."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from tests.clients.support.ground import Ground
from tests.cluster_chaos.worker import AT_ONCE, KINDS, PARTITIONS, topic_of

READ_S = 60.0


@dataclass
class Verdict:
    """One client's. `wrong` is what must not be."""

    client: str
    counts: dict[str, int]
    errors: dict[str, int]
    wrong: list[str]

    def lines(self) -> list[str]:
        counts = ", ".join(f"{number} {name}" for name, number in self.counts.items())
        errors = [f"    {number} x {text}" for text, number in self.errors.items()]
        return [f"{self.client}: {counts}", *errors, *(f"    WRONG: {each}" for each in self.wrong)]


def judged(ground: Ground, client: str, report: dict[str, Any]) -> Verdict:
    """Judge what one client was told."""
    wrong: list[str] = []
    counts: dict[str, int] = {}
    for kind in KINDS[:2]:
        _records(ground, client, kind, report, counts, wrong)
    _transactions(ground, client, report, counts, wrong)
    unread = set(report["acked"]["idempotent"]) - set(report["read"])
    counts["unread"] = len(unread)
    if unread:
        wrong.append(f"acknowledged, and not read by the group: {_some(unread)}")
    for kind in KINDS:
        for partition in range(PARTITIONS):
            _all_is_stable(ground, topic_of(client, kind), partition, wrong)
    return Verdict(client, counts, report["errors"], wrong)


def _records(
    ground: Ground,
    client: str,
    kind: str,
    report: dict[str, Any],
    counts: dict[str, int],
    wrong: list[str],
) -> None:
    held = contents(ground.bootstrap_servers, topic_of(client, kind))
    times = Counter(int(value) for values in held for value in values)
    lost = set(report["acked"][kind]) - set(times)
    twice = {number for number, count in times.items() if count > 1}
    counts |= {
        f"{kind} acknowledged": len(report["acked"][kind]),
        f"{kind} failed": len(report["failed"][kind]),
        f"{kind} lost": len(lost),
        f"{kind} twice": len(twice),
    }
    if lost:
        wrong.append(f"{kind}: acknowledged, and lost: {_some(lost)}")
    if kind == "idempotent":
        if twice:
            wrong.append(f"{kind}: written twice: {_some(twice)}")
        orders = [[int(value) for value in values] for values in held]
        if not report["failed"][kind] and any(each != sorted(each) for each in orders):
            wrong.append(f"{kind}: out of order")


def _transactions(
    ground: Ground, client: str, report: dict[str, Any], counts: dict[str, int], wrong: list[str]
) -> None:
    held = contents(ground.bootstrap_servers, topic_of(client, "transactions"), "read_committed")
    times = Counter(value for values in held for value in values)
    parts = Counter(int(value.split(b":")[0]) for value in times)
    torn = {number for number, count in parts.items() if count != AT_ONCE}
    lost = set(report["committed"]) - set(parts)
    seen = set(report["aborted"]) & set(parts)
    twice = {value for value, count in times.items() if count > 1}
    counts |= {
        "committed": len(report["committed"]),
        "aborted": len(report["aborted"]),
        "with an unknown outcome": len(report["unknown"]),
        "torn": len(torn),
    }
    for what, which in (
        ("torn", torn),
        ("committed, and lost", lost),
        ("aborted, and seen", seen),
        ("a record is there twice", twice),
    ):
        if which:
            wrong.append(f"transactions: {what}: {_some(which)}")


def _all_is_stable(ground: Ground, topic: str, partition: int, wrong: list[str]) -> None:
    """No transaction stays open."""
    deadline = time.monotonic() + READ_S
    while True:
        stable, end = ground.end(topic, partition, committed=True), ground.end(topic, partition)
        if stable == end:
            return
        if time.monotonic() > deadline:
            wrong.append(f"a transaction stays open in {topic}-{partition}: {stable} of {end}")
            return
        time.sleep(0.2)


def contents(bootstrap: str, topic: str, isolation: str = "read_uncommitted") -> list[list[bytes]]:
    """The values in each partition, in order, up to its end. Raises TimeoutError."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "verdict",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "isolation.level": isolation,
        }
    )
    held: list[list[bytes]] = [[] for _ in range(PARTITIONS)]
    left = set(range(PARTITIONS))
    deadline = time.monotonic() + READ_S
    try:
        consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
        while left:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{topic} was not read to the end of {sorted(left)}")
            for message in consumer.consume(500, 0.2):
                if (error := message.error()) is None:
                    held[message.partition()].append(message.value())
                elif error.code() == KafkaError._PARTITION_EOF:
                    left.discard(message.partition())
                elif not error.retriable():
                    raise KafkaException(error)
    finally:
        consumer.close()
    return held


def _some(which: set[Any]) -> str:
    return f"{len(which)} ({', '.join(map(str, sorted(which)[:5]))})"
