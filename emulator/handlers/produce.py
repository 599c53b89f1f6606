"""Produce (0): append a batch to each of some partitions.

What is checked, in order: the topic and partition; one whole batch of magic 2; acks; internal
topics; the batch itself (validation.py); the producer's epoch and sequence (storage.producers).
With acks 0 there is no answer, and any error closes the connection. Advertised from v0 on though
v0-2 close the connection, because librdkafka would otherwise turn compression off (KAFKA-18659).
The same partition twice in a request: only the last is appended, and answered.

Not emulated: transactions (a transactional batch is refused with 53), and waiting for replicas:
data is stored once, so acks=all is answered when it is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import NO_ID, Error, Refused
from ...wire.api.produce import ProduceRequest, ProduceResponse
from ...wire.batch import HEADER_SIZE, read_header
from ..dispatch import NO_REPLY, Call, Sentinel, handles
from ..validation import RecordsRejected, validate, whole_batch

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..partition import Partition
    from ..topics import Topic

Result = ProduceResponse.Topic.Partition
_ADMIN = "__admin_client"
# These are found before the log is asked, or say nothing of it: no log start offset with them.
_WITHOUT_LOG_START = frozenset(
    {
        Error.CORRUPT_MESSAGE,
        Error.UNKNOWN_TOPIC_OR_PARTITION,
        Error.MESSAGE_TOO_LARGE,
        Error.RECORD_LIST_TOO_LARGE,
        Error.KAFKA_STORAGE_ERROR,
        Error.NOT_LEADER_OR_FOLLOWER,
    }
)


@handles(ProduceRequest)
def produce(cluster: Cluster, call: Call, request: ProduceRequest) -> ProduceResponse | Sentinel:
    refused = _is_transactional_without_id(request)
    answers: list[ProduceResponse.Topic] = []
    failed = False
    for asked in request.topic_data:
        topic = _topic(cluster, call, asked)
        # The last entry of a partition wins, in the place of the first.
        entries = {entry.index: entry for entry in asked.partition_data}
        results = []
        for entry in entries.values():
            try:
                if refused:
                    raise Refused(Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
                result = _produce(cluster, call, request, topic, entry)
            except Refused as error:
                result = _refusal(cluster, topic, entry.index, error)
                failed = True
            results.append(result)
        answers.append(
            ProduceResponse.Topic(
                name=asked.name, topic_id=asked.topic_id, partition_responses=results
            )
        )
    if request.acks != 0:
        return ProduceResponse(responses=answers)
    if failed:
        call.close()
    return NO_REPLY


def _topic(cluster: Cluster, call: Call, asked: ProduceRequest.Topic) -> Topic | None:
    if call.version < 13:
        return cluster.topics.get(asked.name)
    return cluster.topics.by_id(asked.topic_id) if asked.topic_id != NO_ID else None


def _produce(
    cluster: Cluster,
    call: Call,
    request: ProduceRequest,
    topic: Topic | None,
    entry: ProduceRequest.Topic.Partition,
) -> Result:
    if topic is None:
        by_id = call.version >= 13
        raise Refused(Error.UNKNOWN_TOPIC_ID if by_id else Error.UNKNOWN_TOPIC_OR_PARTITION)
    if not 0 <= entry.index < len(topic.partitions):
        raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
    partition = topic.partitions[entry.index]
    try:
        batch = whole_batch(entry.records, call.version)
    except Refused as error:
        raise _BeforeAppend(error.error) from None
    if request.acks not in (-1, 0, 1):
        raise _BeforeAppend(Error.INVALID_REQUIRED_ACKS)
    if topic.is_internal and call.client_id != _ADMIN:
        raise _BeforeAppend(Error.INVALID_TOPIC_EXCEPTION)
    partition.check_leader(call.node_id)
    return _append(cluster, call, topic, partition, batch)


def _append(
    cluster: Cluster, call: Call, topic: Topic, partition: Partition, batch: memoryview
) -> Result:
    config = topic.config
    checked, header = validate(batch, config, call.now, cluster.scan_limit)
    if header.is_transactional:
        raise _BeforeAppend(Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    log = partition.log
    if header.size > log.config.segment_bytes:
        raise Refused(Error.RECORD_LIST_TOO_LARGE)
    append_time = header.max_timestamp if config.log_append_time else -1
    if header.producer_id >= 0:
        duplicate = log.producers.check(header)
        if duplicate is not None:
            return Result(
                index=partition.index,
                base_offset=duplicate.base_offset,
                log_append_time_ms=duplicate.timestamp,
                log_start_offset=log.log_start_offset,
            )
    base_offset = partition.append(checked, header, call.now)
    return Result(
        index=partition.index,
        base_offset=base_offset,
        log_append_time_ms=append_time,
        log_start_offset=log.log_start_offset,
    )


class _BeforeAppend(Refused):
    """Refused before the log was asked: the answer holds no log start offset."""


def _refusal(cluster: Cluster, topic: Topic | None, index: int, refused: Refused) -> Result:
    log_start = -1
    known = topic is not None and 0 <= index < len(topic.partitions)
    if known and not isinstance(refused, _BeforeAppend):
        assert topic is not None
        if refused.error not in _WITHOUT_LOG_START:
            log_start = topic.partitions[index].log_start_offset
    result = Result(
        index=index,
        error_code=refused.error,
        base_offset=-1,
        log_start_offset=log_start,
    )
    if isinstance(refused, RecordsRejected):
        result.error_message = refused.message
        result.record_errors = [
            Result.RecordError(batch_index=i, batch_index_error_message=message)
            for i, message in refused.records
        ]
    if known and refused.error is Error.NOT_LEADER_OR_FOLLOWER:
        assert topic is not None
        partition = topic.partitions[index]
        result.current_leader = Result.LeaderIdAndEpoch(
            leader_id=partition.leader, leader_epoch=partition.leader_epoch
        )
    return result


def _is_transactional_without_id(request: ProduceRequest) -> bool:
    """A transactional batch in a request without a transactional id refuses all of it."""
    if request.transactional_id is not None:
        return False
    return any(
        entry.records is not None
        and len(entry.records) >= HEADER_SIZE
        and read_header(entry.records).magic == 2
        and read_header(entry.records).is_transactional
        for topic in request.topic_data
        for entry in topic.partition_data
    )
