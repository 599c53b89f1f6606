"""Transactions: requests of a transactional producer, x unless told otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from odradek.emulator.transactions.transaction import Producer
from odradek.wire import Error
from odradek.wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest
from odradek.wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest
from odradek.wire.api.end_txn import EndTxnRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.txn_offset_commit import TxnOffsetCommitRequest
from odradek.wire.api.write_txn_markers import WriteTxnMarkersRequest

from tests.requests.asker import Asker

NOBODY = Producer(-1, -1)
Topics = Sequence[tuple[str, list[int]]]


def init_request(
    name: str | None = "x", who: Producer = NOBODY, *, timeout_ms: int = 60_000
) -> InitProducerIdRequest:
    """InitProducerId, which may name the producer that asks."""
    return InitProducerIdRequest(
        transactional_id=name,
        transaction_timeout_ms=timeout_ms,
        producer_id=who.producer_id,
        producer_epoch=who.epoch,
    )


def new_producer_id(client: Asker) -> int:
    answer = client.ask(init_request(None, timeout_ms=0), 4)
    assert answer.error_code == Error.NONE
    return int(answer.producer_id)


def add_request(
    who: Producer, topics: Topics, name: str = "x", *, verify_only: bool = False
) -> AddPartitionsToTxnRequest:
    """AddPartitionsToTxn, in the forms of clients (up to v3) and of brokers."""
    Topic, Transaction = AddPartitionsToTxnRequest.Topic, AddPartitionsToTxnRequest.Transaction
    added = [Topic(name=topic, partitions=indexes) for topic, indexes in topics]
    of_broker = Transaction(
        transactional_id=name,
        producer_id=who.producer_id,
        producer_epoch=who.epoch,
        verify_only=verify_only,
        topics=added,
    )
    return AddPartitionsToTxnRequest(
        transactions=[of_broker],
        v3_and_below_transactional_id=name,
        v3_and_below_producer_id=who.producer_id,
        v3_and_below_producer_epoch=who.epoch,
        v3_and_below_topics=added,
    )


def add_offsets_request(who: Producer, group: str = "g", name: str = "x") -> AddOffsetsToTxnRequest:
    """AddOffsetsToTxn."""
    return AddOffsetsToTxnRequest(
        transactional_id=name,
        producer_id=who.producer_id,
        producer_epoch=who.epoch,
        group_id=group,
    )


def txn_commit_request(
    who: Producer,
    *offsets: tuple[str, int, int],
    group: str = "g",
    name: str = "x",
    metadata: str | None = "",
    **more: Any,
) -> TxnOffsetCommitRequest:
    """TxnOffsetCommit of topic, partition and offset each."""
    Topic = TxnOffsetCommitRequest.Topic
    return TxnOffsetCommitRequest(
        transactional_id=name,
        group_id=group,
        producer_id=who.producer_id,
        producer_epoch=who.epoch,
        topics=[
            Topic(
                name=topic,
                partitions=[
                    Topic.Partition(
                        partition_index=index, committed_offset=at, committed_metadata=metadata
                    )
                ],
            )
            for topic, index, at in offsets
        ],
        **more,
    )


def end_request(who: Producer, commit: bool = True, name: str = "x") -> EndTxnRequest:
    """EndTxn."""
    return EndTxnRequest(
        transactional_id=name,
        producer_id=who.producer_id,
        producer_epoch=who.epoch,
        committed=commit,
    )


def marker(
    who: Producer,
    topics: Topics = (("t", [0]),),
    *,
    commit: bool = True,
    coordinator_epoch: int = 0,
    transaction_version: int = 0,
) -> WriteTxnMarkersRequest.Marker:
    """The end of one producer's transaction, for WriteTxnMarkers."""
    Marker = WriteTxnMarkersRequest.Marker
    return Marker(
        producer_id=who.producer_id,
        producer_epoch=who.epoch,
        transaction_result=commit,
        topics=[Marker.Topic(name=name, partition_indexes=indexes) for name, indexes in topics],
        coordinator_epoch=coordinator_epoch,
        transaction_version=transaction_version,
    )
