"""Transactions of one transactional id, in the requests of KIP-98.

- A transactional id that is initialised fences whoever used it before: its open transaction is
  aborted, and this is over when `begin_anew` returns.
- The partition of each record is added first, as clients before KIP-890 do it: a partition that
  was added gets a marker at the end, also without records.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from .....wire import Error
from .....wire.api.add_offsets_to_txn import AddOffsetsToTxnRequest
from .....wire.api.add_partitions_to_txn import AddPartitionsToTxnRequest
from .....wire.api.describe_transactions import DescribeTransactionsRequest
from .....wire.api.end_txn import EndTxnRequest
from .....wire.api.init_producer_id import InitProducerIdRequest
from .....wire.api.list_transactions import ListTransactionsRequest
from .....wire.api.txn_offset_commit import TxnOffsetCommitRequest
from .cluster import Cluster, Place, refuse
from .coordinator import GROUP, TRANSACTION, Coordinator
from .producing import Identity

_TIMEOUT_MS = 60_000
_ENDED = ("Empty", "CompleteCommit", "CompleteAbort")
_INIT_NEWEST, _ADD_NEWEST, _END_NEWEST, _COMMIT_NEWEST = 4, 3, 4, 4


class Transactions:
    def __init__(self, cluster: Cluster, name: str) -> None:
        self.name = name
        self._cluster = cluster
        self._coordinator = Coordinator(cluster, TRANSACTION, name)

    def begin_anew(self) -> Identity:
        """An identity that fences the earlier ones, and ends their open transaction."""
        request = InitProducerIdRequest(
            transactional_id=self.name, transaction_timeout_ms=_TIMEOUT_MS
        )

        def take(answer: Any) -> Identity:
            refuse(answer.error_code, self.name)
            return Identity(answer.producer_id, answer.producer_epoch)

        what = f"transactional id {self.name}"
        return self._coordinator.ask(request, take, what, most=_INIT_NEWEST)

    def go_on(self) -> Identity:
        """The identity that was used last, if its transactions have ended; otherwise a new one."""
        found = self._known()
        return found[0] if found is not None and found[1] else self.begin_anew()

    def abort_open(self) -> None:
        found = self._known()
        if found is not None and not found[1]:
            self.begin_anew()

    def _known(self) -> tuple[Identity, bool] | None:
        """The identity that was used last, and whether its transactions have ended."""
        request = DescribeTransactionsRequest(transactional_ids=[self.name])

        def take(answer: Any) -> tuple[Identity, bool] | None:
            (state,) = answer.transaction_states
            if state.error_code == Error.TRANSACTIONAL_ID_NOT_FOUND:
                return None
            refuse(state.error_code, self.name)
            identity = Identity(state.producer_id, state.producer_epoch)
            return identity, state.transaction_state in _ENDED

        return self._coordinator.ask(request, take, f"transactional id {self.name}")

    def add(self, identity: Identity, places: Iterable[Place]) -> None:
        """Begin a transaction, or add more partitions to it."""
        topics: dict[str, AddPartitionsToTxnRequest.Topic] = {}
        for name, index in places:
            topic = topics.setdefault(
                name, AddPartitionsToTxnRequest.Topic(name=name, partitions=[])
            )
            topic.partitions.append(index)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.name,
            v3_and_below_producer_id=identity.producer_id,
            v3_and_below_producer_epoch=identity.epoch,
            v3_and_below_topics=list(topics.values()),
        )

        def take(answer: Any) -> None:
            for topic in answer.results_by_topic_v3_and_below:
                for part in topic.results_by_partition:
                    if part.partition_error_code != Error.OPERATION_NOT_ATTEMPTED:
                        refuse(part.partition_error_code, f"{topic.name}-{part.partition_index}")

        what = f"transaction of {self.name}"
        self._coordinator.ask(request, take, what, most=_ADD_NEWEST)

    def commit_offsets(self, identity: Identity, group: str, offsets: Mapping[Place, int]) -> None:
        """Add offsets of a group to the transaction: they count if it is committed."""
        added = AddOffsetsToTxnRequest(
            transactional_id=self.name,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            group_id=group,
        )
        what = f"transaction of {self.name}"
        self._coordinator.ask(
            added, lambda answer: refuse(answer.error_code, group), what, most=_ADD_NEWEST
        )
        topics: dict[str, TxnOffsetCommitRequest.Topic] = {}
        for (name, index), offset in offsets.items():
            topic = topics.setdefault(name, TxnOffsetCommitRequest.Topic(name=name, partitions=[]))
            topic.partitions.append(
                TxnOffsetCommitRequest.Topic.Partition(
                    partition_index=index, committed_offset=offset, committed_metadata=""
                )
            )
        request = TxnOffsetCommitRequest(
            transactional_id=self.name,
            group_id=group,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            topics=list(topics.values()),
        )

        def take(answer: Any) -> None:
            for topic in answer.topics:
                for part in topic.partitions:
                    refuse(part.error_code, f"{topic.name}-{part.partition_index}")

        Coordinator(self._cluster, GROUP, group).ask(request, take, what, most=_COMMIT_NEWEST)

    def end(self, identity: Identity, *, commit: bool) -> None:
        """End the transaction. Its markers are written a moment later."""
        request = EndTxnRequest(
            transactional_id=self.name,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            committed=commit,
        )
        self._coordinator.ask(
            request,
            lambda answer: refuse(answer.error_code, self.name),
            f"transaction of {self.name}",
            most=_END_NEWEST,
        )


def abort_unfinished(cluster: Cluster, prefixes: Collection[str]) -> None:
    """End the open transactions of all transactional ids that begin so. Raises BrokerError, also
    from brokers before 3.0."""

    def ask() -> set[str]:
        request = ListTransactionsRequest(state_filters=[], producer_id_filters=[])
        found = set()
        for node in cluster.brokers.nodes:
            answer = cluster.brokers.ask(request, node=node)
            refuse(answer.error_code, "transactions")
            found |= {
                each.transactional_id
                for each in answer.transaction_states
                if each.transaction_state not in _ENDED
            }
        return found

    for name in sorted(cluster.repeated(ask, "transactions")):
        if name.startswith(tuple(prefixes)):
            Transactions(cluster, name).begin_anew()
