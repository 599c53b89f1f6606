"""Coordinators answer when all replicas in sync have what they wrote, while one of them may lag.

A step of the chain, from when a replica gets less than its leader has until every one of the
internal topics' has everything. Meanwhile:
- What a group's coordinator does, heartbeats too, is answered when the high watermark has come as
  far as the log; after `offsets.commit.timeout.ms` it is COORDINATOR_NOT_AVAILABLE, though done.
- A transaction coordinator waits for as long as the transaction may last; what else is asked about
  the transactional id is CONCURRENT_TRANSACTIONS until then.
- Committed offsets are those below the high watermark. A fetch of stable ones waits, and is then
  NOT_COORDINATOR.
What is refused is refused at once. Time is real time, as for whoever waits.

Left out: descriptions and lists of groups show what is written, and a transaction whose record was
too late stays as it is written. Source: three nodes of Kafka 4.3.1 (semantics O30, O31).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import GeneratorType
from typing import TYPE_CHECKING, Any, ClassVar, cast

from ...wire import Error, Refused, Request, Response
from ...wire.api import api_keys
from ...wire.api.delete_groups import DeleteGroupsRequest
from ...wire.api.init_producer_id import InitProducerIdRequest
from ...wire.api.offset_fetch import OffsetFetchRequest
from ..base.call import PARKED, Call, as_coordinator
from ..base.chain import Outcome, Step
from ..base.java_order import partition_for
from ..config.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from ..division.refusing import refused, whole
from ..handlers.registry import SERVED
from ..partitions.acknowledging import AckWait, Unreplicated
from .refusals import finder

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..groups.coordinator import Coordinator
    from ..partitions.partition import Partition

_OF_GROUPS = api_keys(
    "consumer_group_heartbeat",
    "delete_groups",
    "heartbeat",
    "leave_group",
    "offset_commit",
    "offset_delete",
    "offset_fetch",
    "share_group_heartbeat",
    "streams_group_heartbeat",
    "sync_group",
    "txn_offset_commit",
)
_OF_TRANSACTIONS = api_keys(
    "add_offsets_to_txn", "add_partitions_to_txn", "end_txn", "init_producer_id"
)
_GROUPS_SINCE = 8
_OF_BROKERS_SINCE = 4


class Replicated(Step):
    """Holds answers; a step of the chain only while there is something to wait for."""

    rank: ClassVar[int] = 1

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._unreplicated: set[str] = set()
        """Transactional ids whose last record not all replicas in sync have."""

    def concerns(self, api_key: int) -> bool:
        return api_key in _OF_GROUPS or api_key in _OF_TRANSACTIONS

    def before(self, call: Call, request: Request) -> Outcome:
        if self._is_over:
            self._cluster.chain.remove(self)
            return None
        if _transactional_id(request, call.version) in self._unreplicated:
            return _refused(request, call.version, Error.CONCURRENT_TRANSACTIONS)
        if isinstance(request, DeleteGroupsRequest):
            # A real coordinator looks for states of share groups first, which is a write, too.
            return self._hold(call, request, call.go_on)
        if _is_read(request):
            behind = self._behind(call, request)
            if behind:
                return self._below(call, request, behind)
        return None

    def after(self, call: Call, request: Request, response: Response | None) -> Outcome:
        is_done = response is not None and call.is_open and not finder(type(response))(response)
        if not is_done or _is_read(request):
            return None
        return self._hold(call, request, partial(call.answer, response))

    def _hold(self, call: Call, request: Request, go_on: Callable[[], None]) -> Outcome:
        """Hold a request or its answer until what is written is replicated."""
        behind = self._behind(call, request)
        if not behind:
            return None
        name = _transactional_id(request, call.version)
        self._unreplicated |= {name} if name else set()
        errors: list[Error] = []

        def finish() -> None:
            self._unreplicated.discard(name)
            if errors:
                call.answer(_refused(request, call.version, _answered_error(request, errors[0])))
            else:
                go_on()

        waited = [Unreplicated(p, call.node_id, p.log_end_offset, errors.append) for p in behind]
        AckWait(self._cluster, waited, finish).begin(self._most_ms(request, name))
        return PARKED

    @property
    def _is_over(self) -> bool:
        topics = map(self._cluster.topics.get, (CONSUMER_OFFSETS, TRANSACTION_STATE))
        replication = self._cluster.replication
        return not replication.may_lag and not any(
            partition.apart is not None
            for topic in topics
            if topic is not None
            for partition in topic.partitions
        )

    def _behind(self, call: Call, request: Request) -> list[Partition]:
        """The partitions of what a request is about that the broker leads, and that not all
        replicas in sync have to their ends."""
        name = _transactional_id(request, call.version)
        is_of_groups = request.api_key in _OF_GROUPS
        keys = _groups(request, call.version) if is_of_groups else [name] if name else []
        topic = self._cluster.topics.get(CONSUMER_OFFSETS if is_of_groups else TRANSACTION_STATE)
        if topic is None:
            return []
        of_broker = [each for each in topic.partitions if each.leader == call.node_id]
        indexes = {partition_for(key, len(topic.partitions)) for key in keys}
        return [
            each
            for each in of_broker
            if each.index in indexes and each.high_watermark < each.log_end_offset
        ]

    def _most_ms(self, request: Request, name: str) -> int:
        if isinstance(request, InitProducerIdRequest):
            return request.transaction_timeout_ms
        if name:
            coordinator = self._cluster.transactions.coordinator_for(name)
            return coordinator.transactions[name].timeout_ms
        most_ms: int = self._cluster.config.get("offsets.commit.timeout.ms")
        return most_ms

    def _below(self, call: Call, request: Request, behind: list[Partition]) -> Response:
        """The offsets committed below the high watermark."""
        known = _Known(self._cluster, self._cluster.groups.below(call.node_id, behind))
        outcome: Any = SERVED[request.api_key].handler(cast("Cluster", known), call, request)
        if isinstance(outcome, GeneratorType):
            while True:
                try:
                    next(outcome)
                except StopIteration as end:
                    outcome = end.value
                    break
        return cast(Response, outcome)


class _Known:
    """A cluster, one of whose coordinators of groups knows less."""

    def __init__(self, cluster: Cluster, coordinator: Coordinator) -> None:
        self._cluster = cluster
        self._coordinator = coordinator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    @property
    def groups(self) -> _Known:
        return self

    def at(self, node_id: int) -> Coordinator:
        return self._coordinator


def _is_read(request: Request) -> bool:
    """Whether a coordinator answers it by what is replicated, and waits for nothing."""
    return isinstance(request, OffsetFetchRequest) and not request.require_stable


def _answered_error(request: Request, error: Error) -> Error:
    """The error for a record that was not replicated."""
    if isinstance(request, OffsetFetchRequest):
        return Error.NOT_COORDINATOR
    return as_coordinator(Refused(error)).error


def _refused(request: Request, version: int, error: Error) -> Response:
    made: Response = refused(request, version, whole(type(request), version), error)
    return made


def _transactional_id(request: Any, version: int) -> str:
    """Of a request to a transaction coordinator, "" if there is none."""
    if request.api_key not in _OF_TRANSACTIONS:
        return ""
    if hasattr(request, "transactional_id"):
        return request.transactional_id or ""
    return request.v3_and_below_transactional_id if version < _OF_BROKERS_SINCE else ""


def _groups(request: Any, version: int) -> list[str]:
    if isinstance(request, DeleteGroupsRequest):
        return request.groups_names
    if isinstance(request, OffsetFetchRequest) and version >= _GROUPS_SINCE:
        return [each.group_id for each in request.groups]
    return [request.group_id]
