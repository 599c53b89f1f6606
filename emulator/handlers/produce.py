"""Produce (0): append a batch to each of some partitions.

What is checked, in order: the topic and partition; one whole batch of magic 2; whether the
transaction may have it (transactions/admission.py, for all partitions before anything is appended);
acks; internal topics; the batch itself (partitions/produced_batches.py); the producer's epoch and
sequence (storage.producers). Message sets of magic 0 and 1, in v0-2 of old releases:
produce_old.py. With acks 0 there is no answer, and any error closes the connection. Advertised from
v0 on though v0-2 close the connection, because librdkafka would otherwise turn compression off
(KAFKA-18659). The same partition twice in a request: only the last is appended, and answered. Data
that begins with an impossible size or magic refuses the whole request, as a transactional batch
without an id.

Not emulated: waiting for replicas: data is stored once, so acks=all is answered when it is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from ...wire import NO_ID, Buffer, Error, Refused
from ...wire.api.produce import ProduceRequest, ProduceResponse
from ...wire.batch import HEADER_SIZE, OVERHEAD, read_header
from ..base.call import NO_REPLY, Call, Sentinel
from ..partitions.produced_batches import (
    Checked,
    RecordsRejected,
    begins_transactional,
    validate,
    whole_batch,
)
from ..transactions.admission import Candidate, of_produce, refusals
from ..transactions.transaction import Key, Producer
from .node_endpoints import endpoints
from .produce_old import BATCHES_SINCE, refusal_of_all, to_be_stored
from .registry import handles

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..partitions.partition import Partition
    from ..partitions.topic import Topic

Result = ProduceResponse.Topic.Partition
Endpoint = ProduceResponse.NodeEndpoint
_ACKS = (-1, 0, 1)
_CODEC_LATER_SINCE = 7
_PRODUCER_ID_END = 51
_SECOND_GENERATION_SINCE = 12
_ADMIN = "__admin_client"
# What a request holds for each partition of a topic, in its order.
Entries = dict[int, list[Buffer | None]]
# These are found before the log is asked, or say nothing of it: no log start offset with them.
_WITHOUT_LOG_START = frozenset(
    {
        Error.CORRUPT_MESSAGE,
        Error.UNKNOWN_TOPIC_OR_PARTITION,
        Error.MESSAGE_TOO_LARGE,
        Error.RECORD_LIST_TOO_LARGE,
        Error.KAFKA_STORAGE_ERROR,
        Error.NOT_LEADER_OR_FOLLOWER,
        Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        Error.INVALID_PRODUCER_ID_MAPPING,
    }
)


@handles(ProduceRequest)
def produce(cluster: Cluster, call: Call, request: ProduceRequest) -> ProduceResponse | Sentinel:
    if call.version < BATCHES_SINCE:
        refused = refusal_of_all(request, _known(cluster, call, request))
    else:
        refused = _refusal_of_all(request) or _what_breaks_it(cluster, call, request)
    not_admitted: dict[Key, Refused] = {}
    if refused is None and request.transactional_id is not None:
        try:
            not_admitted = _not_admitted(cluster, call, request, request.transactional_id)
        except Refused as error:
            refused = error
    answers: list[ProduceResponse.Topic] = []
    failed = False
    for asked, entries in _by_topic(request):
        topic = _topic(cluster, call, asked)
        results = []
        for index, data in entries.items():
            try:
                if refused is not None:
                    raise refused
                if not_admitted and topic is not None and (topic.name, index) in not_admitted:
                    raise not_admitted[topic.name, index]
                result = _produce(cluster, call, request, topic, index, data)
            except Refused as error:
                result = _refusal(cluster, topic, index, error)
                failed = True
            results.append(result)
        answers.append(
            ProduceResponse.Topic(
                name=asked.name, topic_id=asked.topic_id, partition_responses=results
            )
        )
    if request.acks != 0:
        return ProduceResponse(responses=answers, node_endpoints=_leaders_told(cluster, answers))
    if failed:
        call.close()
    return NO_REPLY


def _by_topic(request: ProduceRequest) -> list[tuple[ProduceRequest.Topic, Entries]]:
    """Each topic once, with its partitions; topics without partitions go."""
    topics: dict[tuple[bytes, str], tuple[ProduceRequest.Topic, Entries]] = {}
    for asked in request.topic_data:
        for entry in asked.partition_data:
            _, entries = topics.setdefault((asked.topic_id, asked.name), (asked, {}))
            entries.setdefault(entry.index, []).append(entry.records)
    return list(topics.values())


def _not_admitted(
    cluster: Cluster, call: Call, request: ProduceRequest, transactional_id: str
) -> dict[Key, Refused]:
    """The partitions whose transactional batch may not come, and why.

    Raises Refused(INVALID_PRODUCER_ID_MAPPING) for batches of several producers.
    """
    producers: set[Producer] = set()
    candidates: list[Candidate] = []
    for asked, entries in _by_topic(request):
        topic = _topic(cluster, call, asked)
        for index, data in entries.items():
            if topic is None or not 0 <= index < len(topic.partitions):
                continue
            batch, _ = _last_whole(data, call.version)
            if batch is None or len(batch) < HEADER_SIZE:
                continue
            header = read_header(batch)
            if header.is_transactional and header.producer_id >= 0:
                producers.add(Producer(header.producer_id, header.producer_epoch))
                candidates.append(Candidate(topic.partitions[index], header.base_sequence))
    if len(producers) > 1:
        message = "Transactional records contained more than one producer ID"
        raise Refused(Error.INVALID_PRODUCER_ID_MAPPING, message)
    if not candidates:
        return {}
    found = refusals(
        *(cluster, transactional_id, producers.pop(), candidates), of_produce(call.version)
    )
    return {key: _as_answered(refused.error, call.version) for key, refused in found.items()}


def _as_answered(error: Error, version: int) -> Refused:
    """Errors of the coordinator that a producer cannot understand become one that it retries."""
    if error is Error.INVALID_TXN_STATE:
        return _BeforeAppend(error, "Partition was not added to the transaction")
    is_old = version < _SECOND_GENERATION_SINCE
    if error is Error.NOT_COORDINATOR or (error is Error.CONCURRENT_TRANSACTIONS and is_old):
        message = (
            "Unable to verify the partition has been added to the transaction."
            f" Underlying error: {error.name}"
        )
        return _BeforeAppend(Error.NOT_ENOUGH_REPLICAS, message)
    return _BeforeAppend(error)


def _topic(cluster: Cluster, call: Call, asked: ProduceRequest.Topic) -> Topic | None:
    if call.version < 13:
        return cluster.topics.get(asked.name)
    return cluster.topics.by_id(asked.topic_id) if asked.topic_id != NO_ID else None


def _produce(
    cluster: Cluster,
    call: Call,
    request: ProduceRequest,
    topic: Topic | None,
    index: int,
    data: list[Buffer | None],
) -> Result:
    """Append to one partition. Named several times, it gets the last of those that are one whole
    batch each; but if any is not, that is the answer, although the batch is stored."""
    if topic is None:
        by_id = call.version >= 13
        raise Refused(Error.UNKNOWN_TOPIC_ID if by_id else Error.UNKNOWN_TOPIC_OR_PARTITION)
    if not 0 <= index < len(topic.partitions):
        raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
    partition = topic.partitions[index]
    if call.version < BATCHES_SINCE:
        _check_place(call, request, topic, partition)
        return _append_set(cluster, call, topic, partition, data[-1])
    batch, problem = _last_whole(data, call.version)
    if problem is not None:
        if batch is not None and request.acks in _ACKS and not topic.is_internal:
            with suppress(Refused):
                _append(cluster, call, topic, partition, batch)
        raise problem
    assert batch is not None
    _check_place(call, request, topic, partition)
    return _append(cluster, call, topic, partition, batch)


def _check_place(call: Call, request: ProduceRequest, topic: Topic, partition: Partition) -> None:
    """Whether this request may append to a partition at all. Raises Refused."""
    if request.acks not in _ACKS:
        raise _BeforeAppend(Error.INVALID_REQUIRED_ACKS)
    if topic.is_internal and call.client_id != _ADMIN:
        raise _BeforeAppend(Error.INVALID_TOPIC_EXCEPTION)
    partition.check_leader(call.node_id)


def _last_whole(
    data: list[Buffer | None], version: int
) -> tuple[memoryview | None, Refused | None]:
    """The last of these that is one whole batch, and what is wrong with the last that is not."""
    batch: memoryview | None = None
    problem: Refused | None = None
    for records in data:
        try:
            batch = whole_batch(records, version)
        except Refused as error:
            problem = _BeforeAppend(error.error, error.message)
    return batch, problem


def _append(
    cluster: Cluster, call: Call, topic: Topic, partition: Partition, batch: memoryview
) -> Result:
    name = f"{topic.name}-{partition.index}"
    checked = validate(batch, topic.config, call.now, cluster.scan_limit, name)
    return _append_checked(call, topic, partition, checked)


def _append_set(
    cluster: Cluster, call: Call, topic: Topic, partition: Partition, data: Buffer | None
) -> Result:
    """Append what an old producer sends; if nothing of it is whole, nothing."""
    name = f"{topic.name}-{partition.index}"
    checked = to_be_stored(data, topic.config, call.now, cluster.scan_limit, name)
    if checked is None:
        return Result(index=partition.index, base_offset=-1)
    return _append_checked(call, topic, partition, checked)


def _append_checked(call: Call, topic: Topic, partition: Partition, found: Checked) -> Result:
    config, log = topic.config, partition.log
    checked, header = found
    if header.size > log.config.segment_bytes:
        raise Refused(Error.RECORD_LIST_TOO_LARGE)
    append_time = header.max_timestamp if config.log_append_time else -1
    if header.producer_id >= 0:
        partition.roll_if_due(header, call.now)
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
    result.error_message = refused.message
    if isinstance(refused, RecordsRejected):
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


def _leaders_told(cluster: Cluster, answers: list[ProduceResponse.Topic]) -> list[Endpoint]:
    """Where the leaders are that some answers name, for clients that know another."""
    results = (result for topic in answers for result in topic.partition_responses)
    told = {result.current_leader.leader_id for result in results if result.error_code}
    return endpoints(Endpoint, cluster, told)


def _known(cluster: Cluster, call: Call, request: ProduceRequest) -> Iterator[Buffer | None]:
    """What is sent to partitions that exist."""
    for asked in request.topic_data:
        topic = _topic(cluster, call, asked)
        for entry in asked.partition_data:
            if topic is not None and 0 <= entry.index < len(topic.partitions):
                yield entry.records


def _what_breaks_it(cluster: Cluster, call: Call, request: ProduceRequest) -> Refused | None:
    """What a broker stumbles over before it looks at partitions, and so refuses all: a batch too
    short for a producer id; and before v7, where the codec is looked at early for zstd, a codec
    that does not exist."""
    looks_at_codec = call.version < _CODEC_LATER_SINCE
    for records in _known(cluster, call, request):
        is_short = records is not None and _size(records) < _PRODUCER_ID_END
        if not (is_short or looks_at_codec):
            continue
        try:
            whole_batch(records, call.version)
        except Refused as refused:
            if refused.error is not Error.UNKNOWN_SERVER_ERROR:
                continue
        else:
            if not is_short:
                continue
        return _BeforeAppend(Error.UNKNOWN_SERVER_ERROR)
    return None


def _size(records: Buffer) -> int:
    """Bytes of the first batch, as it says."""
    return int.from_bytes(records[8:12], "big") + OVERHEAD


def _refusal_of_all(request: ProduceRequest) -> Refused | None:
    """Why all of a request is refused: data that begins with what cannot be a batch, or a
    transactional batch in a request without a transactional id; whichever comes first."""
    for topic in request.topic_data:
        for entry in topic.partition_data:
            try:
                is_transactional = begins_transactional(entry.records)
            except Refused as refused:
                return refused
            if is_transactional:
                if request.transactional_id is not None:
                    return None
                return Refused(Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    return None
