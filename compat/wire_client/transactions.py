"""Transactions and producers, as a test sees them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...wire import Error
from ...wire.api.describe_producers import DescribeProducersRequest
from ...wire.api.describe_transactions import DescribeTransactionsRequest
from ...wire.api.list_transactions import ListTransactionsRequest
from .moving import TRANSACTION, CoordinatorPartition
from .source import Source, check
from .twins import Steps, Waiting, blocking

_VERSION = 0  # of each of these requests


@dataclass(frozen=True, slots=True)
class SeenTransaction:
    transactional_id: str
    state: str
    """As Kafka names it: "Empty", "Ongoing", "PrepareCommit", "CompleteAbort", ..."""
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    started_at: int | None
    """When it began, in ms since 1970; None if none has begun."""
    partitions: tuple[tuple[str, int], ...]
    """Topic and number of the partitions in the open transaction."""
    source: Source | None = field(default=None, repr=False, compare=False)
    """The broker that listed it."""

    @property
    def is_open(self) -> bool:
        """Whether it has begun, and has not ended in every partition."""
        return self.state in ("Ongoing", "PrepareCommit", "PrepareAbort")

    @Waiting
    def move_coordinator(self, to: int, *, timeout: float | None = None) -> Steps[None]:
        """Have another broker coordinate its transactional id: one with a replica, in sync, of the
        partition of `__transaction_state` that keeps it. What is open goes on. Raises ValueError,
        RuntimeError as `PartitionView.move_leader` does."""
        __tracebackhide__ = True
        kept = yield from blocking(self._kept)
        yield from kept._leading(to, timeout)

    amove_coordinator = move_coordinator.in_coroutine

    def _kept(self) -> CoordinatorPartition:
        if self.source is None:
            text = "no broker listed it: take it from kafka.transactions()"
            raise RuntimeError(f"{self!r}: {text}")
        return CoordinatorPartition(self.source, TRANSACTION, self.transactional_id)

    def __repr__(self) -> str:
        where = ", ".join(f"{topic}-{index}" for topic, index in self.partitions)
        return f"<transaction {self.transactional_id!r}: {self.state}{where and ' in ' + where}>"


@dataclass(frozen=True, slots=True)
class SeenProducer:
    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    last_sequence: int
    """Of its last batch in this epoch; -1 if there is none."""
    last_timestamp: int
    """Of its last batch or marker, in ms since 1970."""
    transaction_start_offset: int | None
    """Where its open transaction begins here; None if none is open."""

    def __repr__(self) -> str:
        start = self.transaction_start_offset
        opened = "" if start is None else f", a transaction open since offset {start}"
        who = f"producer {self.producer_id} epoch {self.producer_epoch}"
        place = f"{self.topic}-{self.partition}"
        return f"<{who} in {place}: last sequence {self.last_sequence}{opened}>"


def transactions_of(source: Source) -> list[SeenTransaction]:
    request = ListTransactionsRequest(state_filters=[], producer_id_filters=[])
    listed = source.ask(request, _VERSION)
    check(listed.error_code, "the transactions")
    names = sorted(each.transactional_id for each in listed.transaction_states)
    answer = source.ask(DescribeTransactionsRequest(transactional_ids=names), _VERSION)
    found = []
    for each in answer.transaction_states:
        if each.error_code == Error.TRANSACTIONAL_ID_NOT_FOUND:  # it has gone meanwhile
            continue
        check(each.error_code, f"the transaction {each.transactional_id!r}")
        start = each.transaction_start_time_ms
        found.append(
            SeenTransaction(
                each.transactional_id,
                each.transaction_state,
                each.producer_id,
                each.producer_epoch,
                each.transaction_timeout_ms,
                start if start >= 0 else None,
                tuple((topic.topic, index) for topic in each.topics for index in topic.partitions),
                source,
            )
        )
    return found


def producers_of(source: Source, topic: str, partitions: Iterable[int]) -> list[SeenProducer]:
    """The producers of these partitions. Raises Refused."""
    asked = DescribeProducersRequest.Topic(name=topic, partition_indexes=list(partitions))
    answer = source.ask(DescribeProducersRequest(topics=[asked]), _VERSION)
    found = []
    for each in answer.topics[0].partitions:
        what = f"the producers of {topic}-{each.partition_index}"
        check(each.error_code, what, each.error_message)
        for one in each.active_producers:
            start = one.current_txn_start_offset
            found.append(
                SeenProducer(
                    topic,
                    each.partition_index,
                    one.producer_id,
                    one.producer_epoch,
                    one.last_sequence,
                    one.last_timestamp,
                    start if start >= 0 else None,
                )
            )
    return found
