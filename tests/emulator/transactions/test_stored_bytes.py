"""The same requests to a real Kafka and to ours leave the same bytes in `__transaction_state`, in
`__consumer_offsets` and in the partitions of a transaction; times and producer ids aside (H8, H10).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from odradek.compat import RealKafka
from odradek.emulator.base.java_order import partition_for
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.batch import BatchHeader, batches
from odradek.wire.records import read_marker, read_records
from odradek.wire.stored.keyed import read_key, read_value
from odradek.wire.stored.offsets import OffsetCommitKey, OffsetCommitValue
from odradek.wire.stored.transactions import TransactionLogKey, TransactionLogValue

from tests.differential.ask.transactions import (
    add,
    add_offsets,
    end,
    epoch,
    init,
    pid,
    txn_offsets,
    write,
)
from tests.differential.engine.asker import Asker
from tests.differential.engine.brokers import EmulatedBroker
from tests.differential.engine.engine import Engine
from tests.differential.engine.steps import Sequence, Sleep, Steps

pytestmark = [pytest.mark.real, pytest.mark.slow]

STATE, OFFSETS, PARTITIONS = "__transaction_state", "__consumer_offsets", 50
CONFIG = {
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
    "group.share.assignment.interval.ms": "0",  # the engine waits for a share group, too
}


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with RealKafka(config=CONFIG) as real, EmulatedBroker(CONFIG) as ours:
        yield Engine(real, ours)


def everything() -> Steps:
    """Both generations, fences, timeouts, commits, aborts and offsets."""
    from tests.differential.ask.topics import create

    steps: Steps = [create("~t", 2)]
    first, second = (pid(), epoch()), (pid("2"), epoch("2"))
    steps += [init("~one"), add(name="~one"), write(name="~one", who=first)]
    steps += [add_offsets(name="~one"), txn_offsets(name="~one"), end(True, 4, "~one")]
    steps += [add(name="~one"), write(name="~one", sequence=1), end(False, 4, "~one")]
    steps += [init("~two", label="2"), write(name="~two", who=second, version=12)]
    steps += [txn_offsets(name="~two", who=second, version=5)]
    steps += [
        write(name="~two", who=second, version=12, partition=1),
        end(True, 5, "~two", label="2"),
    ]
    steps += [end(False, 5, "~two", label="2"), write(name="~two", who=second, version=12)]
    steps += [
        init("~two", label="lost"),
        init("~two", label="2"),
        init("~two", label="2", of=second),
    ]
    steps += [init("~one", timeout_ms=150), add(name="~one"), write(name="~one", who=first)]
    return [*steps, Sleep(0.6), init("~one"), init("~one", of=first)]


def test_every_record_is_kafkas_own(engine: Engine) -> None:
    result = engine.run(Sequence("records", tuple(everything())))
    assert not result.findings
    namespace = f"{engine._prefix}x{engine.sequences:05d}-"
    real, ours = (Asker(side.address) for side in engine.sides)
    for name in ("one", "two"):
        index = partition_for(namespace + name, PARTITIONS)
        logs = [Log(each, STATE, index, namespace).lines() for each in (real, ours)]
        assert logs[0] == logs[1]
        assert len(logs[0]) >= 10
    index = partition_for(namespace + "g", PARTITIONS)
    logs = [Log(each, OFFSETS, index, namespace).lines() for each in (real, ours)]
    assert logs[0] == logs[1]
    assert len(logs[0]) == 4, "two commits, two markers"
    for partition in (0, 1):
        logs = [Log(each, namespace + "t", partition, namespace).lines() for each in (real, ours)]
        assert logs[0] == logs[1]
    real.close()
    ours.close()


class Log:
    """A partition as it is fetched. Producer ids are numbered, times close to now are one word."""

    def __init__(self, asker: Asker, topic: str, partition: int, namespace: str) -> None:
        part = FetchRequest.Topic.Partition(
            partition=partition, fetch_offset=0, partition_max_bytes=1 << 20
        )
        asked = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1 << 20,
            topics=[FetchRequest.Topic(topic=topic, partitions=[part])],
        )
        answer = asker.ask(asked, 12).responses[0].partitions[0]
        assert answer.error_code == 0
        self.data = bytes(answer.records)
        self.namespace = namespace
        self.is_internal = topic.startswith("__")
        self.ids: dict[int, str] = {}

    def lines(self) -> list[Any]:
        """A line for each batch. In an internal topic others may have the same partition."""
        found = batches(self.data)
        return [self.line(pos, header) for pos, header in found if self.is_own(pos, header)]

    def is_own(self, pos: int, header: BatchHeader) -> bool:
        if not self.is_internal or header.is_control:
            return True
        return self.namespace.encode() in self.data[pos : pos + header.size]

    def line(self, pos: int, header: Any) -> Any:
        who = self.id(header.producer_id), header.producer_epoch, header.base_sequence
        head = header.attributes, header.last_offset_delta, header.batch_length, *who
        if header.is_control:
            return *head, read_marker(self.data, pos)
        return *head, [self.record(each) for each in read_records(self.data, pos)]

    def record(self, record: Any) -> Any:
        key = bytes(record.key or b"")
        if key[:2] == b"\0\0":
            named, _ = read_key((TransactionLogKey,), key)
            return named, self.fields(*read_value(TransactionLogValue, record.value))
        if key[:2] == b"\0\1":
            place, _ = read_key((OffsetCommitKey,), key)
            return place.partition, self.fields(*read_value(OffsetCommitValue, record.value))
        return key, record.value

    def fields(self, value: Any, version: int) -> Any:
        found: dict[str, Any] = {"version": version}
        for field, _ in type(value).fields():
            content = getattr(value, field.name)
            if field.name.endswith("producer_id"):
                content = self.id(content)
            elif "timestamp" in field.name and content > 0:
                content = "now"
            elif field.name == "topic_id":
                content = bytes(content) != bytes(16)
            elif field.name == "transaction_partitions" and content is not None:
                content = sorted((each.topic, sorted(each.partition_ids)) for each in content)
            found[field.name] = content
        return found

    def id(self, number: int) -> str:
        return self.ids.setdefault(number, f"<{len(self.ids)}>") if number >= 0 else str(number)
