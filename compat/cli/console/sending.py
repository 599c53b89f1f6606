"""Records to a topic of any Kafka: batches to the leaders, each sent until it is stored.

A broker that allows it is asked for a producer id, so that what is sent again after a lost
connection is stored once (KIP-98). In a transaction all of it is committed at the end, or nothing.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ....wire import Error, Refused
from ....wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest
from ....wire.api.end_txn import EndTxnRequest
from ....wire.api.init_producer_id import InitProducerIdRequest
from ....wire.api.produce import ProduceRequest
from ....wire.records import NewRecord, build_batch
from ...wire_client.produced import murmur2
from .client import Brokers, ConsoleError, Unreachable, check
from .transactions import transaction_coordinator

_NAMES_UP_TO = 11  # Produce names topics up to 12, and adds no partitions to transactions up to 11
_ADD_PARTITIONS, _END = 3, 3  # versions that name one transaction
_BATCH_BYTES = 512 << 10
_OVERHEAD = 100
_RETRY_S = 0.1
_PERHAPS_STORED = (Error.REQUEST_TIMED_OUT, Error.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
_SOON = (
    Error.LEADER_NOT_AVAILABLE,
    Error.NOT_LEADER_OR_FOLLOWER,
    Error.NOT_ENOUGH_REPLICAS,
    Error.COORDINATOR_NOT_AVAILABLE,
    Error.COORDINATOR_LOAD_IN_PROGRESS,
    Error.NOT_COORDINATOR,
    Error.CONCURRENT_TRANSACTIONS,
)


class Placed(NamedTuple):
    record: NewRecord
    partition: int | None = None
    source: tuple[str, int, int] | None = None
    """Topic, partition and offset of the record that it is a copy of, if that is known."""


@dataclass
class _Batch:
    partition: int
    records: list[NewRecord]
    base_sequence: int


@dataclass
class Sender:
    brokers: Brokers
    topic: str
    codec: int = 0
    acks: int = -1
    transactional_id: str | None = None
    partitions: int = 0
    sent: dict[int, int] = field(default_factory=dict)
    """How many records are stored, by partition."""
    _producer: tuple[int, int] = (-1, -1)
    _sequences: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    _leaders: dict[int, int] = field(default_factory=dict)
    _in_transaction: set[int] = field(default_factory=set)
    _turn: int = 0

    def begin(self) -> None:
        """Learn of the topic, and get a producer id. Raises ConsoleError."""
        self._look_up(is_new=False)
        if self.transactional_id is not None:
            self._producer = self._new_producer(self._coordinator())
        elif self.acks == -1:
            try:
                self._producer = self._new_producer(None)
            except Unreachable:
                raise
            except ConsoleError:  # before 0.11, or not allowed: then without
                self._producer = (-1, -1)

    def send(self, records: Iterable[Placed]) -> None:
        """Store these records. Raises ConsoleError that says which were not."""
        by_partition: dict[int, list[NewRecord]] = defaultdict(list)
        for each in records:
            by_partition[self._place(each)].append(each.record)
        if self.transactional_id is not None:
            self._add(sorted(set(by_partition) - self._in_transaction))
        waiting = {
            partition: self._batches(partition, by_partition[partition])
            for partition in by_partition
        }
        while waiting:
            heads = {p: batch for p, batches in waiting.items() if (batch := next(batches, None))}
            waiting = {p: waiting[p] for p in heads}
            self._store(list(heads.values()))

    def end(self, *, commit: bool) -> None:
        """End the transaction, if there is one. Raises ConsoleError."""
        if self.transactional_id is None or self._producer[0] < 0:
            return
        request = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self._producer[0],
            producer_epoch=self._producer[1],
            committed=commit,
        )
        what = "committing" if commit else "aborting"
        if self._in_transaction:
            self._ask_coordinator(request, _END, f"{what} {self.transactional_id}")

    # Where to

    def _look_up(self, *, is_new: bool) -> None:
        topic = self.brokers.topic(self.topic, is_new=is_new)
        self.partitions = len(topic.partitions)
        self._leaders = {each.partition_index: each.leader_id for each in topic.partitions}

    def _place(self, placed: Placed) -> int:
        partition = placed.partition
        if partition is None and placed.record.key is not None:
            return (murmur2(bytes(placed.record.key)) & 0x7FFFFFFF) % self.partitions
        if partition is None:
            self._turn += 1
            return (self._turn - 1) % self.partitions
        if partition not in self._leaders:
            raise ConsoleError(
                f"topic {self.topic} has no partition {partition}: it has {self.partitions}"
            )
        return partition

    def _batches(self, partition: int, records: Sequence[NewRecord]) -> Iterator[_Batch]:
        batch: list[NewRecord] = []
        size = 0
        for record in records:
            own = _OVERHEAD + len(record.key or b"") + len(record.value or b"")
            own += sum(len(name) + len(value or b"") for name, value in record.headers)
            if batch and size + own > _BATCH_BYTES:
                yield self._batch(partition, batch)
                batch, size = [], 0
            batch.append(record)
            size += own
        if batch:
            yield self._batch(partition, batch)

    def _batch(self, partition: int, records: list[NewRecord]) -> _Batch:
        base = self._sequences[partition]
        self._sequences[partition] = (base + len(records)) & 0x7FFFFFFF
        return _Batch(partition, records, base)

    # Storing

    def _store(self, batches: list[_Batch]) -> None:
        """Send these, one for each partition at most, until all are stored."""
        deadline = time.monotonic() + self.brokers.timeout
        while batches:
            again: list[_Batch] = []
            by_leader: dict[int, list[_Batch]] = defaultdict(list)
            for batch in batches:
                by_leader[self._leaders[batch.partition]].append(batch)
            for leader, ours in by_leader.items():
                again += self._produce(leader, ours, is_last=time.monotonic() > deadline)
            if again:
                time.sleep(_RETRY_S)
                self._look_up(is_new=True)
            batches = again

    def _produce(self, leader: int, batches: list[_Batch], *, is_last: bool) -> list[_Batch]:
        """Send to one broker; return what is to be sent again. Raises ConsoleError."""
        try:
            answer = self.brokers.ask(self._request(batches), most=_NAMES_UP_TO, node=leader)
        except Unreachable:
            if is_last or self._producer[0] < 0:  # else it might be stored twice
                raise
            return batches
        again = []
        # What may be stored already is stored once more only where that is noticed.
        later = _SOON if self._producer[0] < 0 else (*_SOON, *_PERHAPS_STORED)
        results = {each.index: each for each in answer.responses[0].partition_responses}
        for batch in batches:
            result = results[batch.partition]
            if result.error_code in later and not is_last:
                again.append(batch)
            elif result.error_code != Error.DUPLICATE_SEQUENCE_NUMBER:  # it was stored before
                self._check(batch, result)
            if batch not in again:
                self.sent[batch.partition] = self.sent.get(batch.partition, 0) + len(batch.records)
        return again

    def _check(self, batch: _Batch, result: Any) -> None:
        messages = [each.batch_index_error_message for each in result.record_errors]
        reasons = "; ".join(filter(None, [result.error_message, *messages]))
        count = len(batch.records)
        records = "1 record" if count == 1 else f"{count:,} records"
        check(result.error_code, f"{records} to {self.topic}-{batch.partition}", reasons)

    def _request(self, batches: list[_Batch]) -> ProduceRequest:
        producer_id, epoch = self._producer
        entries = [
            ProduceRequest.Topic.Partition(
                index=batch.partition,
                records=build_batch(
                    batch.records,
                    codec=self.codec,
                    producer_id=producer_id,
                    producer_epoch=epoch,
                    base_sequence=batch.base_sequence if producer_id >= 0 else -1,
                    transactional=self.transactional_id is not None,
                ),
            )
            for batch in batches
        ]
        return ProduceRequest(
            transactional_id=self.transactional_id,
            acks=self.acks,
            timeout_ms=int(self.brokers.timeout * 1000),
            topic_data=[ProduceRequest.Topic(name=self.topic, partition_data=entries)],
        )

    # Producer ids and transactions

    def _new_producer(self, node: int | None) -> tuple[int, int]:
        request = InitProducerIdRequest(
            transactional_id=self.transactional_id, transaction_timeout_ms=60_000
        )

        def look() -> tuple[int, int]:
            answer = self.brokers.ask(request, most=4, node=node)
            if answer.error_code:
                raise Refused(Error(answer.error_code))
            return answer.producer_id, answer.producer_epoch

        return self.brokers.patiently(look, "a producer id", _SOON)

    def _coordinator(self) -> int:
        assert self.transactional_id is not None
        return transaction_coordinator(self.brokers, self.transactional_id)

    def _add(self, partitions: list[int]) -> None:
        if not partitions:
            return
        assert self.transactional_id is not None
        topic = AddPartitionsToTxnRequest.Topic(name=self.topic, partitions=partitions)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self._producer[0],
            v3_and_below_producer_epoch=self._producer[1],
            v3_and_below_topics=[topic],
        )
        self._ask_coordinator(request, _ADD_PARTITIONS, f"transaction {self.transactional_id}")
        self._in_transaction.update(partitions)

    def _ask_coordinator(self, request: Any, most: int, what: str) -> None:
        def look() -> None:
            answer = self.brokers.ask(request, most=most, node=self._coordinator())
            for code in _codes(answer):
                if code:
                    raise Refused(Error(code))

        self.brokers.patiently(look, what, _SOON)


def _codes(answer: Any) -> Iterator[int]:
    yield getattr(answer, "error_code", 0)
    for topic in getattr(answer, "results_by_topic_v3_and_below", ()):
        yield from (each.partition_error_code for each in topic.results_by_partition)
