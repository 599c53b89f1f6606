"""What goes into applications of Kafka Streams, and what comes out."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from typing import Any, NamedTuple

import confluent_kafka
from odradek.compat.clients import wait_until

PARTITIONS = 3
LINES = 60
ENOUGH_S = 120.0
WORDS = ["ristretto", "espresso", "lungo", "doppio", "macchiato", "cortado"]
CUSTOMERS = [f"customer-{n}" for n in range(12)]
BEGIN_MS = 1_700_000_000_000
WINDOW_MS = 10_000


def producer(bootstrap: str) -> Any:
    """A producer that chooses partitions as Kafka's Java client does."""
    config = {"bootstrap.servers": bootstrap, "enable.idempotence": True}
    return confluent_kafka.Producer({**config, "partitioner": "murmur2_random"})


class Text:
    """Lines that are written, with the count of their words."""

    def __init__(self, bootstrap: str) -> None:
        self.counts: Counter[str] = Counter()
        self._drawn = random.Random(1)
        self._producer = producer(bootstrap)

    def write(self, lines: int = LINES) -> None:
        """So many more lines of three words."""
        for _ in range(lines):
            words = self._drawn.choices(WORDS, k=3)
            self.counts.update(words)
            self._producer.produce(
                "lines", " ".join(words), partition=self._drawn.randrange(PARTITIONS)
            )
        assert self._producer.flush(ENOUGH_S) == 0

    def counted_once(self) -> dict[str, list[int]]:
        """What the output holds then."""
        return {word: list(range(1, count + 1)) for word, count in self.counts.items()}


class _Paper(NamedTuple):
    """An order or a payment."""

    customer: str
    name: str
    at_ms: int


class Shop:
    """Orders and payments that are written, and which of them belong together."""

    def __init__(self, bootstrap: str) -> None:
        self.orders: list[_Paper] = []
        self.payments: list[_Paper] = []
        self._drawn = random.Random(2)
        self._producer = producer(bootstrap)

    def write(self, number: int = LINES) -> None:
        """So many more orders, and as many payments, within a minute."""
        for _ in range(number):
            self._write("orders", self.orders)
            self._write("payments", self.payments)
        assert self._producer.flush(ENOUGH_S) == 0

    def _write(self, topic: str, papers: list[_Paper]) -> None:
        at_ms = BEGIN_MS + self._drawn.randrange(60_000)
        paper = _Paper(self._drawn.choice(CUSTOMERS), f"{topic}-{len(papers)}", at_ms)
        papers.append(paper)
        self._producer.produce(topic, paper.name, paper.customer, timestamp=at_ms)

    def counts(self) -> Counter[str]:
        """The number of orders of each customer."""
        return Counter(order.customer for order in self.orders)

    def paid_once(self) -> Counter[tuple[str, str]]:
        """What the join gives: each pair of one customer that is in one window, once."""
        return Counter(
            (order.customer, f"{order.name}+{payment.name}")
            for order in self.orders
            for payment in self.payments
            if order.customer == payment.customer and abs(order.at_ms - payment.at_ms) <= WINDOW_MS
        )


class Output:
    """What a consumer that reads committed records finds in a topic, as keys and values."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.found: list[tuple[str, str]] = []
        config = {"bootstrap.servers": bootstrap, "group.id": f"{topic} reader"}
        self._consumer = confluent_kafka.Consumer(
            {**config, "isolation.level": "read_committed", "enable.auto.commit": False}
        )
        places = [confluent_kafka.TopicPartition(topic, n, 0) for n in range(PARTITIONS)]
        self._consumer.assign(places)

    def read(self, number: int) -> None:
        """Wait until there are so many records in all."""

        def is_there() -> bool:
            for message in self._consumer.consume(500, 0.2):
                if message.error() is None:
                    self.found.append((message.key().decode(), message.value().decode()))
            return len(self.found) >= number

        wait_until(is_there, f"{number} records; there are {len(self.found)}", ENOUGH_S)

    def counts(self) -> dict[str, list[int]]:
        """For each key its values, numbers, in order."""
        found: dict[str, list[int]] = defaultdict(list)
        for key, value in self.found:
            found[key].append(int(value))
        return found

    def close(self) -> None:
        self._consumer.close()
