"""A transactional producer in few words, over a client without a socket."""

from __future__ import annotations

from typing import Any

from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.transaction import Producer, Transaction
from odradek.wire import Error
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.requests.produce import batch, produce_request
from tests.requests.transactions import (
    NOBODY,
    add_offsets_request,
    add_request,
    end_request,
    init_request,
    txn_commit_request,
)
from tests.support.cluster import Client, client_of

TRANSACTION = 1
NOT_KNOWN = [
    ("unknown", (0, 0), Error.INVALID_PRODUCER_ID_MAPPING),
    ("x", (1, 0), Error.INVALID_PRODUCER_ID_MAPPING),
    ("x", (0, 1), Error.PRODUCER_FENCED),
    ("", (0, 0), Error.INVALID_REQUEST),
]
"""Who may add nothing to the transaction of x: a name, what differs in producer id and epoch, and
how that is refused."""


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
        answer = self.client.ask(init_request(self.name, asked, timeout_ms=timeout_ms), version)
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
            add_request(self.producer, [(topic, list(indexes))], self.name), version
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
            added = self.client.ask(add_offsets_request(self.producer, group, self.name), 3)
            if added.error_code:
                return Error(added.error_code)
        asked = txn_commit_request(
            self.producer, (topic, partition, offset), group=group, name=self.name
        )
        answer = self.client.ask(asked, 5 if self.generation == 2 else 3)
        return Error(answer.topics[0].partitions[0].error_code)

    def end(self, commit: bool, *, asked: Producer | None = None, version: int = 0) -> Error:
        """EndTxn, in the version of the generation unless another is given."""
        who = self.producer if asked is None else asked
        version = version or (5 if self.generation == 2 else 4)
        answer = self.client.ask(end_request(who, commit, self.name), version)
        if not answer.error_code and version >= 5:
            self._becomes(answer.producer_id, answer.producer_epoch)
        return Error(answer.error_code)

    def _becomes(self, producer_id: int, epoch: int) -> None:
        if (producer_id, epoch) != self.producer:
            self.sequences.clear()
        self.producer = Producer(producer_id, epoch)
