"""AddPartitionsToTxn (24): partitions join a transaction before a producer writes to them.

Up to v3 a client adds partitions to one transaction. From v4 on brokers ask on behalf of clients,
for several transactions at once, and may only verify; without an authorizer anyone may. A partition
that does not exist refuses all of its transaction: it is answered 3, internal topics (to clients)
29, and the others 55. Before v2 a fenced producer is answered INVALID_PRODUCER_EPOCH.

A real broker never answers v4 when no transaction is named, or one twice; this one does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnResponse
from ..base.call import Call
from ..config.internal_topics import INTERNAL_TOPICS
from ..transactions.transaction import TV1, TV2, Key, Producer
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

Asked = AddPartitionsToTxnRequest.Transaction
Topic = AddPartitionsToTxnResponse.Topic
Partition = AddPartitionsToTxnResponse.Partition

BROKERS_SINCE = 4
_FENCED_SINCE = 2


@handler(AddPartitionsToTxnRequest)
def add_partitions_to_txn(
    cluster: Cluster, call: Call, request: AddPartitionsToTxnRequest
) -> AddPartitionsToTxnResponse:
    if call.version >= BROKERS_SINCE:
        results = [
            AddPartitionsToTxnResponse.Transaction(
                transactional_id=asked.transactional_id,
                topic_results=_results(cluster, call, asked),
            )
            for asked in request.transactions
        ]
        if _is_unsupported(results):
            return AddPartitionsToTxnResponse(error_code=Error.UNSUPPORTED_VERSION)
        return AddPartitionsToTxnResponse(results_by_transaction=results)
    asked = Asked(
        transactional_id=request.v3_and_below_transactional_id,
        producer_id=request.v3_and_below_producer_id,
        producer_epoch=request.v3_and_below_producer_epoch,
        topics=request.v3_and_below_topics,
    )
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_results(cluster, call, asked))


def _is_unsupported(results: list[AddPartitionsToTxnResponse.Transaction]) -> bool:
    """Whether the coordinator could not write it at this transaction.version: that fails all."""
    return any(
        partition.partition_error_code == Error.UNSUPPORTED_VERSION
        for transaction in results
        for topic in transaction.topic_results
        for partition in topic.results_by_partition
    )


def _results(cluster: Cluster, call: Call, asked: Asked) -> list[Topic]:
    keys = dict.fromkeys(
        (topic.name, index) for topic in asked.topics for index in topic.partitions
    )
    errors = {key: _problem(cluster, key, call.version) for key in keys}
    if any(errors.values()):
        errors = {key: error or Error.OPERATION_NOT_ATTEMPTED for key, error in errors.items()}
        return _by_topic(errors)
    errors = _asked(cluster, call, asked, list(keys))
    if asked.verify_only:
        return _by_topic(errors)
    return [_result(topic, errors) for topic in asked.topics]


def _by_topic(errors: dict[Key, Error]) -> list[Topic]:
    """Each partition once."""
    topics: dict[str, list[int]] = {}
    for name, index in errors:
        topics.setdefault(name, []).append(index)
    return [
        _result(AddPartitionsToTxnRequest.Topic(name=name, partitions=indexes), errors)
        for name, indexes in topics.items()
    ]


def _result(asked: AddPartitionsToTxnRequest.Topic, errors: dict[Key, Error]) -> Topic:
    results = [
        Partition(partition_index=index, partition_error_code=errors[asked.name, index])
        for index in asked.partitions
    ]
    return Topic(name=asked.name, results_by_partition=results)


def _problem(cluster: Cluster, key: Key, version: int) -> Error:
    name, index = key
    topic = cluster.topics.get(name)
    if version < BROKERS_SINCE and name in INTERNAL_TOPICS:
        return Error.TOPIC_AUTHORIZATION_FAILED
    if topic is None or not 0 <= index < len(topic.partitions):
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    return Error.NONE


def _asked(cluster: Cluster, call: Call, asked: Asked, keys: list[Key]) -> dict[Key, Error]:
    transactional_id = asked.transactional_id
    producer = Producer(asked.producer_id, asked.producer_epoch)
    try:
        coordinator = cluster.transactions.asked_at(call.node_id, transactional_id)
        if call.version >= BROKERS_SINCE and asked.verify_only:
            errors = coordinator.verify(transactional_id, producer, keys)
            return dict(zip(keys, errors, strict=True))
        client_version = TV2 if call.version >= BROKERS_SINCE else TV1
        coordinator.add(transactional_id, producer, keys, client_version)
    except Refused as refused:
        error = refused.error
        if error is Error.PRODUCER_FENCED and call.version < _FENCED_SINCE:
            error = Error.INVALID_PRODUCER_EPOCH
        return dict.fromkeys(keys, error)
    return dict.fromkeys(keys, Error.NONE)
