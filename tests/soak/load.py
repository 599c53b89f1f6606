"""`python -m tests.soak.load ADDRESS SEED`: clients that come and go, in a steady mix.

Each kind of work is a method that does one piece of it; a thread does it again and again, with a
pause. Most is done by stock clients; what would take them too much time, because it wants a new
client each time, is also done by hand.

For each line on standard input one of JSON is printed: how often each was done, and what went
wrong, since the last line.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from random import Random

from odradek.compat.clients import Client, NewRecord, client
from odradek.emulator.transactions.transaction import Producer
from odradek.wire import Error
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.requests.produce import batch, produce, produce_request
from tests.requests.transactions import end_request, init_request, new_producer_id
from tests.support.connection import Connection

EVENTS, TABLE = "events", "table"
PARTITIONS, IDS, GROUPS, KEYS = 3, 50, 20, 200
TRANSACTION = 1


class Load:
    """The work, how often each was done, and what went wrong."""

    def __init__(self, address: str, seed: int) -> None:
        self._address = address
        self._random = Random(seed)
        self._numbers = count()
        self._lock = threading.Lock()
        self._done: Counter[str] = Counter()
        self._wrong: Counter[str] = Counter()
        self._stock = [client(name) for name in ("confluent-kafka", "aiokafka", "kafka-python")]
        configs = {"segment.ms": "20000", "retention.ms": "60000", "retention.bytes": "4000000"}
        self._stock[0].create_topic(address, EVENTS, PARTITIONS, configs)
        configs = {"cleanup.policy": "compact", "segment.ms": "20000", "delete.retention.ms": "0"}
        self._stock[0].create_topic(address, TABLE, PARTITIONS, configs)

    def start(self) -> None:
        """Begin all work, each in a thread of its own."""
        with_pauses: list[tuple[Callable[[], None], float]] = [
            (self.new_idempotent_producer, 0.6),
            (self.ids_by_hand, 0.5),
            (self.transaction, 0.7),
            (self.transactions_by_hand, 0.4),
            (self.plain_records, 0.3),
            (self.table_records, 0.6),
            (self.group_member, 1.0),
            (self.group_member, 1.0),
            (self.group_that_was_never, 1.5),
            (self.topic, 1.5),
        ]
        for work, pause_s in with_pauses:
            threading.Thread(target=self._again, args=(work, pause_s), daemon=True).start()

    def counts(self) -> dict[str, dict[str, int]]:
        """Since the last call."""
        with self._lock:
            done, self._done = self._done, Counter()
            wrong, self._wrong = self._wrong, Counter()
        return {"done": dict(done), "wrong": dict(wrong)}

    def _again(self, work: Callable[[], None], pause_s: float) -> None:
        name = work.__name__
        while True:
            time.sleep(pause_s * self._random.uniform(0.5, 1.5))
            try:
                work()
            except Exception as error:
                with self._lock:
                    self._wrong[f"{name}: {type(error).__name__}: {error}"[:300]] += 1
            else:
                with self._lock:
                    self._done[name] += 1

    # The work

    def new_idempotent_producer(self) -> None:
        """A stock producer that is new writes some records."""
        self._any().produce(self._address, EVENTS, self._records(20), idempotent=True)

    def ids_by_hand(self) -> None:
        """Ten new idempotent producers write a batch each to every partition."""
        with Connection(self._address) as connection:
            for _ in range(10):
                producer_id = new_producer_id(connection)
                for partition in range(PARTITIONS):
                    data = batch(
                        b"x" * 100,
                        time=_now(),
                        producer_id=producer_id,
                        producer_epoch=0,
                        base_sequence=0,
                    )
                    result = produce(connection, data, topic=EVENTS, partition=partition)
                    assert result.error_code == Error.NONE, Error(result.error_code)

    def transaction(self) -> None:
        """A stock producer that takes over one of the ids commits or aborts a transaction."""
        self._any().produce(
            self._address,
            EVENTS,
            self._records(5),
            transactional_id=f"stock-{self._random.randrange(IDS)}",
            abort=self._random.random() < 0.3,
        )

    def transactions_by_hand(self) -> None:
        """One of the ids commits and aborts twenty transactions."""
        name = f"hand-{self._random.randrange(IDS)}"
        with Connection(self._address) as connection:
            connection.ask(FindCoordinatorRequest(coordinator_keys=[name], key_type=TRANSACTION), 4)
            who = connection.ask(init_request(name), 4)
            assert who.error_code == Error.NONE, Error(who.error_code)
            for number in range(20):
                data = batch(
                    b"x" * 100,
                    time=_now(),
                    producer_id=who.producer_id,
                    producer_epoch=who.producer_epoch,
                    base_sequence=0,
                    transactional=True,
                )
                request = produce_request(data, EVENTS, number % PARTITIONS, transactional_id=name)
                (result,) = connection.ask(request, 12).responses[0].partition_responses
                if result.error_code == Error.CONCURRENT_TRANSACTIONS:
                    continue  # the last one's markers are being written
                assert result.error_code == Error.NONE, Error(result.error_code)
                producer = Producer(who.producer_id, who.producer_epoch)
                who = connection.ask(end_request(producer, number % 3 > 0, name), 5)
                assert who.error_code == Error.NONE, Error(who.error_code)

    def plain_records(self) -> None:
        """A stock producer without any guarantee writes larger records."""
        self._any().produce(
            self._address,
            EVENTS,
            self._records(20, size=2000),
            acks=1,
            compression=self._random.choice([None, "gzip", "lz4"]),
        )

    def table_records(self) -> None:
        """A stock producer writes and deletes keys of the compacted topic."""
        self._any().produce(self._address, TABLE, self._records(50, deletes=0.2))

    def group_member(self) -> None:
        """A stock consumer joins one of the groups, reads for a while, commits, and leaves."""
        stock = self._stock[0] if self._random.random() < 0.5 else self._any()
        if "consumer" in stock.protocols and self._random.random() < 0.5:
            stock, kind = stock.speaking("consumer"), "new"
        else:
            kind = stock.name  # members of one group have to agree on an assignor
        topic = self._random.choice([EVENTS, TABLE])
        with stock.consumer(
            self._address,
            topic,
            group=f"{kind}-{topic}-{self._random.randrange(GROUPS)}",
            from_beginning=False,
            isolation=self._random.choice(["read_committed", "read_uncommitted"]),
        ) as consumer:
            end = time.monotonic() + self._random.uniform(2, 12)
            while time.monotonic() < end:
                consumer.poll(0.5)
            consumer.commit()

    def group_that_was_never(self) -> None:
        """A group with a new name reads what there is, once."""
        name = f"once-{next(self._numbers)}"
        self._stock[0].consume(self._address, TABLE, group=name, count=10)

    def topic(self) -> None:
        """A topic is made, written to, and deleted."""
        name, stock = f"short-{next(self._numbers)}", self._any()
        stock.create_topic(self._address, name, self._random.randrange(1, 7))
        stock.produce(self._address, name, self._records(20))
        stock.delete_topic(self._address, name)

    def _any(self) -> Client:
        return self._random.choice(self._stock)

    def _records(self, number: int, *, size: int = 100, deletes: float = 0.0) -> list[NewRecord]:
        keys = [b"key-%d" % self._random.randrange(KEYS) for _ in range(number)]
        values = [None if self._random.random() < deletes else b"x" * size for _ in keys]
        return [NewRecord(value, key) for value, key in zip(values, keys, strict=True)]


def _now() -> int:
    return int(time.time() * 1000)


def main(address: str, seed: int) -> None:
    load = Load(address, seed)
    load.start()
    for _ in sys.stdin:
        print(json.dumps(load.counts()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
