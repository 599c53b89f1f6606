"""Transactional producers. The transactional id is "~x"; producer id and epoch are seen values.

`init()` keeps the producer id and epoch that it gets as `pid()` and `epoch()`; so does `end()` from
version 5 on. Further producers have labels: `init(label="2")` keeps `pid("2")` and `epoch("2")`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from odradek.wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest
from odradek.wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest
from odradek.wire.api.describe_transactions import DescribeTransactionsRequest
from odradek.wire.api.end_txn import EndTxnRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.list_transactions import ListTransactionsRequest
from odradek.wire.api.txn_offset_commit import TxnOffsetCommitRequest
from odradek.wire.api.write_txn_markers import WriteTxnMarkersRequest

from ..engine.steps import Ask, Symbol, World, seen
from .batches import batch
from .records import produce

X = "~x"
FIVE_MINUTES = 300_000


@dataclass(frozen=True)
class Shifted(Symbol):
    """The epoch kept under a label, plus `shift`."""

    label: str
    shift: int

    def resolve(self, world: World) -> int:
        given: int = world.resolve(epoch(self.label))
        return max(-1, min(given + self.shift, 32767))

    def __repr__(self) -> str:
        return f"epoch({self.label!r}){self.shift:+}"


def seen_epoch(label: str, shift: int) -> Any:
    """The epoch that was given last, plus `shift`."""
    return Shifted(label, shift)


Parts = Sequence[tuple[str, Sequence[int]]]


def pid(label: str = "") -> Any:
    """The producer id that was given last."""
    return seen(f"producer{label}", 77_000_000)


def epoch(label: str = "") -> Any:
    """The epoch that was given last."""
    return seen(f"epoch{label}", 0)


def init(
    name: str | None = X,
    version: int | None = 5,
    label: str = "",
    *,
    timeout_ms: int = FIVE_MINUTES,
    of: tuple[Any, Any] = (-1, -1),
    **more: Any,
) -> Ask:
    """InitProducerId; the id and epoch in its answer are kept under the label."""
    request = InitProducerIdRequest(
        transactional_id=name,
        transaction_timeout_ms=timeout_ms,
        producer_id=of[0],
        producer_epoch=of[1],
    )
    keep = {f"producer{label}": "producer_id", f"epoch{label}": "producer_epoch"}
    return Ask(request, version, keep=keep, **more)


def add(
    topics: Parts = (("~t", (0,)),),
    version: int | None = 3,
    name: str = X,
    who: tuple[Any, Any] | None = None,
    *,
    verify_only: bool = False,
) -> Ask:
    """AddPartitionsToTxn; versions up to 3 are for clients, later ones for brokers."""
    producer_id, producer_epoch = (pid(), epoch()) if who is None else who
    added = [AddPartitionsToTxnRequest.Topic(name=t, partitions=list(p)) for t, p in topics]
    return Ask(
        AddPartitionsToTxnRequest(
            transactions=[
                AddPartitionsToTxnRequest.Transaction(
                    transactional_id=name,
                    producer_id=producer_id,
                    producer_epoch=producer_epoch,
                    verify_only=verify_only,
                    topics=added,
                )
            ],
            v3_and_below_transactional_id=name,
            v3_and_below_producer_id=producer_id,
            v3_and_below_producer_epoch=producer_epoch,
            v3_and_below_topics=added,
        ),
        version,
    )


def add_offsets(
    group: str = "~g", version: int | None = 3, name: str = X, who: tuple[Any, Any] | None = None
) -> Ask:
    """AddOffsetsToTxn."""
    producer_id, producer_epoch = (pid(), epoch()) if who is None else who
    return Ask(
        AddOffsetsToTxnRequest(
            transactional_id=name,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            group_id=group,
        ),
        version,
    )


def txn_offsets(
    *entries: tuple[str, int, int],
    version: int | None = 3,
    group: str = "~g",
    name: str = X,
    who: tuple[Any, Any] | None = None,
    metadata: str | None = "m",
    generation: int = -1,
    member: Any = "",
    instance: str | None = None,
) -> Ask:
    """TxnOffsetCommit of (topic, partition, offset) each."""
    producer_id, producer_epoch = (pid(), epoch()) if who is None else who
    part = TxnOffsetCommitRequest.Topic.Partition
    return Ask(
        TxnOffsetCommitRequest(
            transactional_id=name,
            group_id=group,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            generation_id=generation,
            member_id=member,
            group_instance_id=instance,
            topics=[
                TxnOffsetCommitRequest.Topic(
                    name=topic,
                    partitions=[
                        part(
                            partition_index=index, committed_offset=at, committed_metadata=metadata
                        )
                    ],
                )
                for topic, index, at in entries or (("~t", 0, 1),)
            ],
        ),
        version,
    )


def end(
    commit: bool = True,
    version: int | None = 4,
    name: str = X,
    who: tuple[Any, Any] | None = None,
    label: str = "",
) -> Ask:
    """EndTxn; from v5 on the id and epoch in its answer are kept under the label."""
    producer_id, producer_epoch = (pid(label), epoch(label)) if who is None else who
    request = EndTxnRequest(
        transactional_id=name,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        committed=commit,
    )
    keep = {f"producer{label}": "producer_id", f"epoch{label}": "producer_epoch"}
    return Ask(request, version, keep=keep if version is not None and version >= 5 else {})


def txn_batch(
    *values: bytes, sequence: int = 0, who: tuple[Any, Any] | None = None, **options: Any
) -> Any:
    producer_id, producer_epoch = (pid(), epoch()) if who is None else who
    options.setdefault("transactional", True)
    return batch(
        *(values or (b"v",)),
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        sequence=sequence,
        **options,
    )


def write(
    *values: bytes,
    sequence: int = 0,
    version: int = 11,
    topic: str = "~t",
    partition: int = 0,
    name: str | None = X,
    who: tuple[Any, Any] | None = None,
    **options: Any,
) -> Ask:
    data = txn_batch(*values, sequence=sequence, who=who, **options)
    return Ask(produce(data, topic, partition, transactional_id=name), version)


def describe(*names: str) -> Ask:
    """DescribeTransactions."""
    return Ask(DescribeTransactionsRequest(transactional_ids=list(names or (X,))), 0)


def list_all(
    states: Sequence[str] = (),
    pids: Sequence[Any] = (),
    duration_ms: int = -1,
    pattern: str | None = None,
    version: int = 2,
) -> Ask:
    """ListTransactions."""
    return Ask(
        ListTransactionsRequest(
            state_filters=list(states),
            producer_id_filters=list(pids),
            duration_filter=duration_ms,
            transactional_id_pattern=pattern,
        ),
        version,
    )


def mark(
    topics: Parts = (("~t", (0,)),),
    *,
    who: tuple[Any, Any] | None = None,
    commit: bool = True,
    coordinator: int = 0,
    generation: int = 0,
    version: int = 2,
) -> Ask:
    """WriteTxnMarkers for one producer."""
    producer_id, producer_epoch = (pid(), epoch()) if who is None else who
    marker = WriteTxnMarkersRequest.Marker
    return Ask(
        WriteTxnMarkersRequest(
            markers=[
                marker(
                    producer_id=producer_id,
                    producer_epoch=producer_epoch,
                    transaction_result=commit,
                    topics=[marker.Topic(name=t, partition_indexes=list(p)) for t, p in topics],
                    coordinator_epoch=coordinator,
                    transaction_version=generation,
                )
            ]
        ),
        version,
    )
