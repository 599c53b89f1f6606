"""A checked batch of a Produce request appended, and what is answered for its partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.produce import ProduceRequest, ProduceResponse
from ...wire.batch import TRANSACTIONAL, BatchHeader
from ..base.call import Call, Sentinel
from ..base.event import IN_A_TRANSACTION, UNACKNOWLEDGED
from ..base.journal import Journal
from ..partitions.old_sequences import check_sequence
from ..partitions.produced_batches import Checked, RecordsRejected
from .flushed_answers import Acknowledged, once_flushed
from .node_endpoints import endpoints

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..config.configs import TopicConfig
    from ..partitions.partition import Partition, Topic

Result = ProduceResponse.Topic.Partition
Endpoint = ProduceResponse.NodeEndpoint
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


def append_checked(
    journal: Journal,
    call: Call,
    acks: int,
    config: TopicConfig,
    partition: Partition,
    batch: bytearray | memoryview,
    header: BatchHeader,
) -> Result:
    """Append a batch, unless its producer has sent it before. Raises Refused."""
    log = partition.log
    if len(batch) > log.config.segment_bytes:
        raise Refused(Error.RECORD_LIST_TOO_LARGE)
    if header.producer_id >= 0:
        partition.roll_if_due(header, call.now)
        if not config.broker.release.accepts_first_sequences:
            check_sequence(config.broker.release, log.producers, header)
        duplicate = log.producers.check(header)
        if duplicate is not None:
            _tell_again(journal, call, partition, duplicate.base_offset, header)
            return Result(
                index=partition.index,
                base_offset=duplicate.base_offset,
                log_append_time_ms=duplicate.timestamp,
                log_start_offset=log.log_start_offset,
            )
    base_offset = partition.append(batch, header, call.now)
    if journal.is_on:
        how = "" if acks else UNACKNOWLEDGED
        if header.attributes & TRANSACTIONAL:
            how = IN_A_TRANSACTION
        last = base_offset + header.last_offset_delta
        name = partition.topic.name
        journal.run("appended", call.connection.name, name, partition.index, base_offset, last, how)
    return Result(
        index=partition.index,
        base_offset=base_offset,
        log_append_time_ms=header.max_timestamp if config.log_append_time else -1,
        log_start_offset=log.log_start_offset,
    )


def append_messages(
    journal: Journal,
    call: Call,
    acks: int,
    config: TopicConfig,
    partition: Partition,
    checked: Sequence[Checked],
) -> Result:
    """Append what a release before 0.11 stores: messages, and wrappers of some. Raises Refused."""
    base_offset = partition.append_messages(checked, call.now)
    if journal.is_on:
        last, name = partition.log.log_end_offset - 1, partition.topic.name
        how = "" if acks else UNACKNOWLEDGED
        journal.run("appended", call.connection.name, name, partition.index, base_offset, last, how)
    return Result(
        index=partition.index,
        base_offset=base_offset,
        log_append_time_ms=call.now if config.log_append_time else -1,
        log_start_offset=partition.log.log_start_offset,
    )


def _tell_again(
    journal: Journal, call: Call, partition: Partition, first: int, header: BatchHeader
) -> None:
    """A batch was appended already."""
    last, name = first + header.last_offset_delta, partition.topic.name
    journal.run("duplicate", call.connection.name, name, partition.index, first, last)


def refused_result(
    cluster: Cluster,
    call: Call,
    asked: ProduceRequest.Topic,
    topic: Topic | None,
    index: int,
    refused: Refused,
) -> Result:
    """The answer for a partition to which nothing was appended, which is logged as well."""
    name = asked.name if topic is None else topic.name
    client, error = call.connection.name, refused.error
    at, why = cluster.node_label(call.node_id), refused.message or ""
    cluster.journal.refused(client, "Produce", error, name, index, why, broker=at)
    return _refusal(topic, index, refused)


class BeforeAppend(Refused):
    """Refused before the log was asked: the answer holds no log start offset."""


def _refusal(topic: Topic | None, index: int, refused: Refused) -> Result:
    log_start = -1
    known = topic is not None and 0 <= index < len(topic.partitions)
    if known and not isinstance(refused, BeforeAppend):
        assert topic is not None
        is_late = refused.error is Error.INVALID_TIMESTAMP
        knows = not is_late or topic.config.broker.release.starts_after_times
        if refused.error not in _WITHOUT_LOG_START and knows:
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
        _name_leader(result, topic.partitions[index])
    return result


def _name_leader(result: Result, partition: Partition) -> None:
    result.current_leader = Result.LeaderIdAndEpoch(
        leader_id=partition.leader, leader_epoch=partition.leader_epoch
    )


def not_replicated(result: Result, partition: Partition, error: Error) -> None:
    """What was appended may be lost: not every replica in sync has it."""
    result.error_code = error
    if error is Error.NOT_LEADER_OR_FOLLOWER:
        _name_leader(result, partition)


def refuse(result: Result, refused: Refused) -> None:
    """What was appended could not be flushed."""
    result.error_code = refused.error
    result.base_offset = result.log_append_time_ms = result.log_start_offset = -1
    result.error_message = refused.message


def respond(
    cluster: Cluster,
    call: Call,
    topics: list[ProduceResponse.Topic],
    leaders: set[int],
    unflushed: Sequence[Acknowledged],
) -> ProduceResponse | Sentinel:
    """The response to a request that asks for one, when what it acknowledges is flushed. `leaders`:
    the leaders that its refusals name, for clients that know others."""
    response = ProduceResponse(responses=topics)
    if leaders:
        response.node_endpoints = endpoints(Endpoint, cluster, call, leaders)
    return once_flushed(cluster, call, response, unflushed) if unflushed else response
