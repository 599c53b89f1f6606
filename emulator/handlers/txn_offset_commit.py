"""TxnOffsetCommit (28): a group's offsets that count once the transaction is committed.

Looked at in this order: partitions that do not exist (3); the group's id; the transaction, which a
client of the second generation (v5) joins now; the member; each partition's metadata. A transaction
is joined even if the member is then refused (semantics H4). Other than a plain commit, this one is
stored without the topic's id, as a real broker does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from ..base.call import Call, Sentinel
from ..config.internal_topics import CONSUMER_OFFSETS
from ..groups.group import CommitRequest, OffsetCommit
from ..groups.runtime import Producer as OffsetsProducer
from ..transactions.admission import Candidate, of_offsets, refusals
from ..transactions.transaction import Producer
from .flushed_answers import once_commit_flushed
from .merging import merged
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster

Answered = TxnOffsetCommitResponse.Topic
Partition = Answered.Partition


@handler(TxnOffsetCommitRequest)
def txn_offset_commit(
    cluster: Cluster, call: Call, request: TxnOffsetCommitRequest
) -> TxnOffsetCommitResponse | Sentinel:
    refused: dict[str, Answered] = {}
    accepted: list[Answered] = []
    commits: list[OffsetCommit] = []
    places: list[Partition] = []
    any_index = not cluster.release.looks_for_partitions_of_offsets
    for asked in request.topics:
        topic = cluster.topics.get(asked.name)
        if topic is None:  # answered even if it is asked for without partitions
            _place(refused, asked.name)
        stored: list[Partition] = []
        for partition in asked.partitions:
            index = partition.partition_index
            answer = Partition(partition_index=index)
            is_there = topic is not None and 0 <= index < len(topic.partitions)
            if topic is None or not (is_there or any_index):
                answer.error_code = Error.UNKNOWN_TOPIC_OR_PARTITION
                _place(refused, asked.name).partitions.append(answer)
                continue
            stored.append(answer)
            places.append(answer)
            commits.append(
                OffsetCommit(
                    topic.name,
                    index,
                    partition.committed_offset,
                    partition.committed_leader_epoch,
                    partition.committed_metadata,
                )
            )
        if stored:
            accepted.append(Answered(name=asked.name, partitions=stored))
    errors = _store(cluster, call, request, commits) if commits else []
    if Error.UNKNOWN_SERVER_ERROR in errors and not cluster.release.verifies_transactional_offsets:
        return _failed(request)
    response = TxnOffsetCommitResponse(topics=merged(refused, accepted, _name))
    return once_commit_flushed(cluster, call, response, request.group_id, places, errors)


def _failed(request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse:
    """An old broker that fails to write the offsets refuses all of a request."""
    error = Error.UNKNOWN_SERVER_ERROR
    return TxnOffsetCommitResponse(
        topics=[
            Answered(
                name=topic.name,
                partitions=[
                    Partition(partition_index=each.partition_index, error_code=error)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _place(answers: dict[str, Answered], name: str) -> Answered:
    return answers.setdefault(name, Answered(name=name, partitions=[]))


def _name(answered: Answered) -> str:
    return answered.name


def _store(
    cluster: Cluster, call: Call, request: TxnOffsetCommitRequest, commits: list[OffsetCommit]
) -> list[Error]:
    try:
        _admit(cluster, call, request)
        return cluster.groups.at(call.node_id).offsets.commit_in_transaction(
            request.group_id,
            CommitRequest(
                version=call.version,
                member_id=request.member_id,
                instance_id=request.group_instance_id,
                generation=request.generation_id,
                commits=commits,
            ),
            OffsetsProducer(request.producer_id, request.producer_epoch),
        )
    except Refused as refused:
        return [refused.error] * len(commits)


def _admit(cluster: Cluster, call: Call, request: TxnOffsetCommitRequest) -> None:
    """Let the offsets into the transaction. Raises Refused."""
    if not request.group_id and cluster.release.names_empty_group_ids:
        raise Refused(Error.INVALID_GROUP_ID)
    cluster.groups.ensure_topic()
    partition = cluster.partition(CONSUMER_OFFSETS, cluster.groups.partition_for(request.group_id))
    if partition.leader != call.node_id:
        raise Refused(Error.NOT_COORDINATOR)
    if not cluster.release.verifies_transactional_offsets:
        return
    candidate = Candidate(partition)
    producer = Producer(request.producer_id, request.producer_epoch)
    ask, config = cluster.transactions.ask, cluster.brokers[call.node_id].config
    generation = of_offsets(call.version)
    found = refusals(ask, config, request.transactional_id, producer, [candidate], generation)
    for refusal in found.values():
        raise refusal
