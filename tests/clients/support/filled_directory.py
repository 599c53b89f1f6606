"""What a data directory is filled with: every codec and kind of producer, transactions, segments,
compaction, deleted records, groups of both kinds, and configs, by stock clients and by hand.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pytest
from odradek.compat.clients import wait_until
from odradek.wire import Error
from odradek.wire.batch import batches
from odradek.wire.records import read_records

from tests.clients.support.broker_contents import Shown
from tests.requests.produce import produce_numbered
from tests.requests.transactions import new_producer_id
from tests.support.connection import BrokerAt

confluent = pytest.importorskip("confluent_kafka")
admin = pytest.importorskip("confluent_kafka.admin")

TIMEOUT_S = 60.0
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
QUIET = {"enable.metrics.push": False, "log_level": 0}

# Topics: partitions and configs.
TOPICS: dict[str, tuple[int, dict[str, str]]] = {
    "codecs": (2, {"segment.bytes": "1048576", "retention.ms": "-1"}),
    "stamped": (1, {"message.timestamp.type": "LogAppendTime", "segment.ms": "150"}),
    "transacted": (1, {"segment.bytes": "1048576"}),
    "compacted": (
        1,
        {
            "cleanup.policy": "compact",
            "segment.ms": "50",
            "min.cleanable.dirty.ratio": "0.01",
            "delete.retention.ms": "100000000",
        },
    ),
    "deleted": (1, {"segment.bytes": "1048576", "file.delete.delay.ms": "1000"}),
    "configured": (5, {"retention.ms": "123456789", "max.message.bytes": "234567"}),
    "by-hand": (1, {"retention.ms": "-1"}),
}
GROUPS = ("classic", "modern", "transactional")

Place = tuple[str, int, int]  # topic, partition, offset
Content = tuple[bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]


@dataclass
class Filled:
    """What was acknowledged, and who wrote it. One of these goes with one directory."""

    acknowledged: dict[Place, tuple[Content, int | None]] = field(default_factory=dict)
    """Key, value and headers; the time given (None: the broker's)."""
    aborted: set[Place] = field(default_factory=set)
    commits: dict[str, int] = field(default_factory=dict)
    """By group: the offset committed last for partition 0 of `codecs`."""
    deleted_before: int = 0
    """The log start of `deleted`."""
    by_hand: list[int] = field(default_factory=list)
    """Ids of producers that wrote sequences 0 to 4 to `by-hand` in two batches."""
    open_transactions: list[Any] = field(default_factory=list)
    rounds: int = 0
    chance: random.Random = field(default_factory=lambda: random.Random(1))

    def copy(self) -> Filled:
        """For a copy of the directory, which goes its own way."""
        values = {name: copy(value) for name, value in vars(self).items()}
        return replace(self, **values)

    def missing(self, shown: Shown) -> list[str]:
        """What was acknowledged and is not there, or is not what was written."""
        found = {
            (name, index, record.offset): (
                (record.key, record.value, tuple(record.headers)),
                record.timestamp,
            )
            for name, topic in shown.topics.items()
            for index, partition in topic.partitions.items()
            for data in partition.batches.values()
            if not next(batches(data))[1].is_control
            for record in read_records(data)
        }
        wrong = []
        for place, (content, timestamp) in self.acknowledged.items():
            name, index, offset = place
            partition = shown.topics[name].partitions[index]
            if name == "compacted" or offset < partition.log_start_offset:
                continue
            there = found.get(place)
            if there is None or there[0] != content or timestamp not in (None, there[1]):
                wrong.append(f"{place}: {str(content)[:80]}, {timestamp}, found {str(there)[:80]}")
        for group, offset in self.commits.items():
            if shown.groups[group].get(("codecs", 0), (-1,))[0] != offset:
                wrong.append(f"{group}: {offset}, found {shown.groups[group]}")
        return wrong


def can_be_used(address: str, name: str) -> bool:
    """Whether a topic that was just created takes records."""
    return end_of(address, name) == 0


def create_topics(address: str) -> None:
    """Create what is written to, and some that go again."""
    client = admin.AdminClient({**QUIET, "bootstrap.servers": address})
    new = {name: admin.NewTopic(name, count, 1, config=configs)
           for name, (count, configs) in TOPICS.items()}  # fmt: skip
    new |= {name: admin.NewTopic(name, 1, 1) for name in ("gone", "again")}
    _done(client.create_topics(list(new.values())))
    for name in ("gone", "again"):
        _settled(partial(can_be_used, address, name), f"{name} can be used")
        _send(Filled(), address, name, "none", False, [(None, b"lost", ())])
    _done(client.delete_topics(["gone", "again"]))
    listed = lambda: set(client.list_topics(timeout=TIMEOUT_S).topics)  # noqa: E731
    _settled(lambda: not {"gone", "again"} & listed(), "two topics are gone")
    _done(client.create_topics([new["again"]]))
    _settled(lambda: {*TOPICS, "again"} <= listed(), "all topics are there")


def fill(address: str, filled: Filled) -> None:
    filled.rounds += 1
    _fill_codecs(address, filled)
    _fill_stamped(address, filled)
    _fill_compacted(address, filled)
    _fill_deleted(address, filled)
    _fill_by_hand(address, filled)
    _fill_transacted(address, filled)
    _commit(address, filled, "classic", "classic")
    _commit(address, filled, "modern", "consumer")


def _fill_codecs(address: str, filled: Filled) -> None:
    """All at once: what takes long is that librdkafka rests before it asks for a producer id."""

    def send(codec: str, idempotent: bool, partition: int, records: list[Content]) -> None:
        _send(filled, address, "codecs", codec, idempotent, records, partition, timed=True)

    work = [
        (codec, idempotent, partition, _records(filled))
        for codec in CODECS
        for idempotent in (False, True)
        for partition in range(2)
    ]
    with ThreadPoolExecutor(len(work)) as pool:
        for done in [pool.submit(send, *each) for each in work]:
            done.result(TIMEOUT_S)


def _records(filled: Filled) -> list[Content]:
    return [
        (b"key %d" % (n % 7) if n % 3 else None, _value(filled, n), _headers(n)) for n in range(120)
    ]


def _value(filled: Filled, number: int) -> bytes | None:
    if number % 50 == 7:
        return None
    return filled.chance.randbytes(number % 9 * 100) + b"again and again " * 20


def _headers(number: int) -> tuple[tuple[str, bytes | None], ...]:
    return (("number", b"%d" % number), ("empty", b""), ("null", None)) if number % 5 == 0 else ()


def _fill_stamped(address: str, filled: Filled) -> None:
    for codec in CODECS:  # a pause, for the next to begin a segment
        _send(filled, address, "stamped", codec, False, [(None, b"%d" % n, ()) for n in range(20)])
        time.sleep(0.06)


def _fill_compacted(address: str, filled: Filled) -> None:
    for turn in range(3):
        records = [
            (b"key %d" % n, None if n % 10 == turn else b"turn %d" % turn, ())
            for n in filled.chance.sample(range(60), 40)
        ]
        _send(filled, address, "compacted", CODECS[turn], turn == 1, records)  # type: ignore[arg-type]
        time.sleep(0.06)


def _fill_deleted(address: str, filled: Filled) -> None:
    """Over a segment's worth; then the first of it goes, up to the middle of a batch."""
    records = [(None, filled.chance.randbytes(20_000), ()) for _ in range(90)]
    places = _send(filled, address, "deleted", "none", False, records)  # type: ignore[arg-type]
    client = admin.AdminClient({**QUIET, "bootstrap.servers": address})
    filled.deleted_before = places[len(places) * 2 // 3] - 7
    before = confluent.TopicPartition("deleted", 0, filled.deleted_before)
    _done(client.delete_records([before]))


def _fill_by_hand(address: str, filled: Filled) -> None:
    producer_id = new_producer_id(BrokerAt(address))
    for sequence, count in ((0, 2), (2, 3)):
        error, _ = produce_by_hand(address, producer_id, sequence, count)
        assert error is Error.NONE
    filled.by_hand.append(producer_id)


def _fill_transacted(address: str, filled: Filled) -> None:
    """Two producers that commit, one of them offsets too, and two that abort, all at once; then,
    from the second round on, one that leaves its transaction open."""

    def transact(turn: int, kind: str) -> None:
        producer = confluent.Producer(
            {
                **QUIET,
                "bootstrap.servers": address,
                "transactional.id": f"id {turn}",
                "transaction.timeout.ms": 900_000,
                "compression.type": CODECS[turn],
            }
        )
        producer.init_transactions(TIMEOUT_S)
        for again in range(2 if kind != "open" else 1):
            producer.begin_transaction()
            size = 100_000 if kind != "open" else 10
            value = random.Random(f"{filled.rounds} {turn} {again}").randbytes(size)
            records: list[Content] = [(b"%d" % n, value, ()) for n in range(4)]
            places = _through(filled, producer, "transacted", 0, records, False)
            if turn == 0:
                _commit_within(address, filled, producer, places[-1])
            if kind == "commit":
                producer.commit_transaction(TIMEOUT_S)
            elif kind == "abort":
                filled.aborted.update(("transacted", 0, offset) for offset in places)
                producer.abort_transaction(TIMEOUT_S)
            else:
                filled.open_transactions.append(producer)  # kept: nobody ends it

    with ThreadPoolExecutor(4) as pool:
        kinds = ("commit", "commit", "abort", "abort")
        for done in [pool.submit(transact, *each) for each in enumerate(kinds)]:
            done.result(TIMEOUT_S)
    if filled.rounds > 1:
        transact(4, "open")


def _commit_within(address: str, filled: Filled, producer: Any, offset: int) -> None:
    consumer = confluent.Consumer(
        {**QUIET, "bootstrap.servers": address, "group.id": "transactional"}
    )
    offsets = [confluent.TopicPartition("codecs", 0, offset)]
    producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), TIMEOUT_S)
    filled.commits["transactional"] = offset
    consumer.close()


def _commit(address: str, filled: Filled, group: str, protocol: str) -> None:
    """Read some as a member, and commit; the position is the group's."""
    consumer = confluent.Consumer(
        {
            **QUIET,
            "bootstrap.servers": address,
            "group.id": group,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(["codecs"])
    read = {0: 0, 1: 0}
    deadline = time.monotonic() + TIMEOUT_S
    while min(read.values()) == 0:
        assert time.monotonic() < deadline, f"group {group} reads nothing of {read}"
        for message in consumer.consume(100, 0.5):
            assert message.error() is None, message.error()
            read[message.partition()] = message.offset() + 1
    offsets = [confluent.TopicPartition("codecs", p, offset, metadata=f"note {filled.rounds}")
               for p, offset in read.items()]  # fmt: skip
    consumer.commit(offsets=offsets, asynchronous=False)
    consumer.close()
    filled.commits[group] = read[0]


def _send(
    filled: Filled,
    address: str,
    topic: str,
    codec: str,
    idempotent: bool,
    records: list[Content],
    partition: int = 0,
    timed: bool = False,
) -> list[int]:
    """Produce and wait; return the offsets."""
    options = {"compression.type": codec, "enable.idempotence": idempotent, "linger.ms": 5}
    options["batch.num.messages"] = 25
    producer = confluent.Producer({**QUIET, "bootstrap.servers": address, "acks": "all", **options})
    return _through(filled, producer, topic, partition, records, timed)


def _through(
    filled: Filled,
    producer: Any,
    topic: str,
    partition: int,
    records: list[Content],
    timed: bool,
) -> list[int]:
    places: list[int] = []
    errors: list[str] = []

    def report(content: Content, timestamp: int | None) -> Callable[[Any, Any], None]:
        def delivered(error: Any, message: Any) -> None:
            if error is not None:
                errors.append(str(error))
                return
            places.append(message.offset())
            filled.acknowledged[topic, partition, message.offset()] = content, timestamp

        return delivered

    for number, content in enumerate(records):
        key, value, headers = content
        # Neither in order nor distinct, as times of records may be.
        given = 1_700_000_000_000 + number * 40 - number % 4 * 100 if timed else None
        extra = {"timestamp": given} if given is not None else {}
        producer.produce(topic, value, key, partition, report(content, given),
                         headers=list(headers), **extra)  # fmt: skip
    assert producer.flush(TIMEOUT_S) == 0
    assert errors == []
    return sorted(places)


def produce_by_hand(address: str, producer_id: int, sequence: int, count: int) -> tuple[Error, int]:
    """Send one batch of that producer to `by-hand`; return what is answered."""
    values = [b"%d" % (sequence + n) for n in range(count)]
    return produce_numbered(BrokerAt(address), producer_id, sequence, values, "by-hand")


def sequences(address: str, filled: Filled) -> list[tuple[Error, int]]:
    """What each producer by hand is told of its last batch again, and of one behind a gap."""
    return [
        produce_by_hand(address, producer_id, sequence, 3)
        for producer_id in filled.by_hand
        for sequence in (2, 9)
    ]


def end_of(address: str, topic: str) -> int:
    """Where partition 0 ends, or -1 as long as it cannot be asked."""
    client = admin.AdminClient({**QUIET, "bootstrap.servers": address})
    wanted = {confluent.TopicPartition(topic, 0): admin.OffsetSpec.latest()}
    try:
        [found] = client.list_offsets(wanted).values()
        return int(found.result(TIMEOUT_S).offset)
    except confluent.KafkaException:
        return -1


def _settled(condition: Callable[[], bool], what: str) -> None:
    wait_until(condition, what, TIMEOUT_S)


def _done(futures: dict[Any, Any]) -> None:
    for future in futures.values():
        future.result(TIMEOUT_S)
