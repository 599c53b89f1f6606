"""A transactional producer in few words, over a client without a socket."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.transaction import Producer, Transaction
from odradek.wire import Error
from odradek.wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest
from odradek.wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest
from odradek.wire.api.end_txn import EndTxnRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.api.txn_offset_commit import TxnOffsetCommitRequest
from odradek.wire.batch import batches
from odradek.wire.records import read_records

from tests.requests.produce import batch, produce_request
from tests.support.cluster import Client, client_of

TRANSACTION = 1
NOBODY = Producer(-1, -1)


class TxnClient:
    """One transactional id on one connection. `generation` is 1 or 2: how it adds and ends."""

    def __init__(self, cluster: Cluster, name: str = "x", generation: int = 2) -> None:
        self.cluster = cluster
        self.name = name
        self.generation = generation
        self.client: Client = client_of(cluster)
        self.producer = NOBODY
        self.sequences: dict[tuple[str, int], int] = {}

    def moved_to(self, cluster: Cluster) -> None:
        """The broker was started again: a connection to the new one."""
        self.cluster = cluster
        self.client = client_of(cluster)

    @property
    def state(self) -> Transaction:
        """What the coordinator knows."""
        return self.cluster.transactions.coordinator_for(self.name).find(self.name)

    def find(self) -> None:
        """Look for the coordinator, which makes its topic."""
        look = FindCoordinatorRequest(coordinator_keys=[self.name], key_type=TRANSACTION)
        (found,) = self.client.ask(look, 4).coordinators
        assert found.error_code == Error.NONE

    def init(
        self, asked: Producer = NOBODY, *, timeout_ms: int = 60_000, version: int = 4
    ) -> Error:
        """InitProducerId; who it is from then on is kept."""
        self.find()
        answer = self.client.ask(
            InitProducerIdRequest(
                transactional_id=self.name,
                transaction_timeout_ms=timeout_ms,
                producer_id=asked.producer_id,
                producer_epoch=asked.epoch,
            ),
            version,
        )
        if not answer.error_code:
            self._becomes(answer.producer_id, answer.producer_epoch)
        return Error(answer.error_code)

    def begin(self, **more: Any) -> TxnClient:
        """InitProducerId, again if a transaction had to be aborted first."""
        if self.init(**more) is Error.CONCURRENT_TRANSACTIONS:
            assert self.init(**more) is Error.NONE
        return self

    def add(self, *indexes: int, topic: str = "t", version: int = 3) -> Error:
        """AddPartitionsToTxn of a client: the code all of the partitions got."""
        answer = self.client.ask(
            AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self.name,
                v3_and_below_producer_id=self.producer.producer_id,
                v3_and_below_producer_epoch=self.producer.epoch,
                v3_and_below_topics=[
                    AddPartitionsToTxnRequest.Topic(name=topic, partitions=list(indexes))
                ],
            ),
            version,
        )
        (topic_result,) = answer.results_by_topic_v3_and_below
        (code,) = {each.partition_error_code for each in topic_result.results_by_partition}
        return Error(code)

    def write(
        self,
        *values: bytes,
        partition: int = 0,
        topic: str = "t",
        version: int | None = None,
        sequence: int | None = None,
        transactional: bool = True,
    ) -> Error:
        """Produce a batch; a client of the first generation adds the partition before."""
        if self.generation == 1 and version is None:
            error = self.add(partition, topic=topic)
            if error:
                return error
        key = topic, partition
        first = self.sequences.get(key, 0) if sequence is None else sequence
        data = batch(
            *values,
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.epoch,
            base_sequence=first,
            transactional=transactional,
        )
        asked = produce_request(data, topic, partition, transactional_id=self.name)
        if version is None:
            version = 12 if self.generation == 2 else 11
        (result,) = self.client.ask(asked, version).responses[0].partition_responses
        if not result.error_code:
            self.sequences[key] = first + len(values)
        return Error(result.error_code)

    def commit_offset(
        self, offset: int, *, group: str = "g", topic: str = "t", partition: int = 0
    ) -> Error:
        """The offset of a group, inside the transaction."""
        if self.generation == 1:
            added = self.client.ask(
                AddOffsetsToTxnRequest(
                    transactional_id=self.name,
                    producer_id=self.producer.producer_id,
                    producer_epoch=self.producer.epoch,
                    group_id=group,
                ),
                3,
            )
            if added.error_code:
                return Error(added.error_code)
        Topic = TxnOffsetCommitRequest.Topic
        part = Topic.Partition(
            partition_index=partition, committed_offset=offset, committed_metadata=""
        )
        asked = TxnOffsetCommitRequest(
            transactional_id=self.name,
            group_id=group,
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.epoch,
            topics=[Topic(name=topic, partitions=[part])],
        )
        answer = self.client.ask(asked, 5 if self.generation == 2 else 3)
        return Error(answer.topics[0].partitions[0].error_code)

    def end(self, commit: bool, *, asked: Producer | None = None, version: int = 0) -> Error:
        """EndTxn, in the version of the generation unless another is given."""
        who = self.producer if asked is None else asked
        version = version or (5 if self.generation == 2 else 4)
        answer = self.client.ask(
            EndTxnRequest(
                transactional_id=self.name,
                producer_id=who.producer_id,
                producer_epoch=who.epoch,
                committed=commit,
            ),
            version,
        )
        if not answer.error_code and version >= 5:
            self._becomes(answer.producer_id, answer.producer_epoch)
        return Error(answer.error_code)

    def _becomes(self, producer_id: int, epoch: int) -> None:
        if (producer_id, epoch) != self.producer:
            self.sequences.clear()
        self.producer = Producer(producer_id, epoch)


def read(
    cluster: Cluster, *, committed: bool, topic: str = "t", partition: int = 0
) -> list[bytes | None]:
    """The values a consumer sees: it skips markers and, if told to, what was aborted."""
    values: list[bytes | None] = []
    offset = 0
    client = client_of(cluster)
    while True:
        asked = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1 << 20,
            isolation_level=int(committed),
            topics=[
                FetchRequest.Topic(
                    topic=topic,
                    partitions=[
                        FetchRequest.Topic.Partition(
                            partition=partition, fetch_offset=offset, partition_max_bytes=1 << 20
                        )
                    ],
                )
            ],
        )
        answer = client.ask(asked, 12).responses[0].partitions[0]
        assert answer.error_code == Error.NONE
        found = delivered(bytes(answer.records), answer.aborted_transactions or [], offset)
        values += found[0]
        if found[1] == offset:
            return values
        offset = found[1]


def delivered(data: bytes, aborted: Sequence[Any], offset: int) -> tuple[list[bytes | None], int]:
    """What a stock consumer makes of fetched bytes, and where it goes on (KIP-98)."""
    values: list[bytes | None] = []
    pending = sorted(aborted, key=lambda each: each.first_offset)
    open_ids: set[int] = set()
    for pos, header in batches(data):
        while pending and pending[0].first_offset <= header.last_offset:
            open_ids.add(pending.pop(0).producer_id)
        if header.is_control:
            open_ids.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in open_ids):
            values += [r.value for r in read_records(data, pos) if r.offset >= offset]
        offset = max(offset, header.last_offset + 1)
    return values, offset


def committed_offset(cluster: Cluster, group: str = "g", *, stable: bool = True) -> int | Error:
    """What a group has committed for t-0; the error if there is one."""
    asked = OffsetFetchRequest(
        group_id=group,
        topics=[OffsetFetchRequest.Topic(name="t", partition_indexes=[0])],
        require_stable=stable,
    )
    found = client_of(cluster).ask(asked, 7).topics[0].partitions[0]
    return Error(found.error_code) if found.error_code else int(found.committed_offset)
