"""Waiting for a real broker's catalogue to follow its answers, and for it to be warm.

A topic counts as settled when both sides say the same of it (Metadata: error, partitions, leaders)
and each of its partitions answers ListOffsets alike. Offsets committed for a deleted topic go
within a second of it on a real broker: they are settled when both sides list the same.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from odradek.wire import Request
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest

from ..engine.brokers import Side
from ..engine.versions import Asker
from .cluster import settle_cluster
from .configs import settle_configs
from .transactions import is_warm, settle_transactions

WARM_UP_S = 60.0
_LATEST = -1
_PROBE = AlterClientQuotasRequest.Entry(
    entity=[AlterClientQuotasRequest.Entry.Entity(entity_type="user", entity_name="probe")],
    ops=[AlterClientQuotasRequest.Entry.Op(key="consumer_byte_rate", value=1.0, remove=False)],
)
# What a broker says while something is still being made or loaded.
_NOT_YET = frozenset({5, 6, 14, 15, 16})


class Catalogue:
    """Both brokers' views of topics and offsets, asked for on connections of their own."""

    def __init__(self, sides: Sequence[Side]) -> None:
        self._sides = sides
        self._askers: list[Asker] = []
        self.warm_up()

    def warm_up(self) -> None:
        """Make the coordinators ready: the first look for one creates `__consumer_offsets`."""
        for asker in self._askers:
            asker.close()
        self._askers = [Asker(side.address) for side in self._sides]
        deadline = time.monotonic() + WARM_UP_S
        for asker in self._askers:
            while not (_is_warm(asker) and is_warm(asker)):
                if time.monotonic() > deadline:
                    raise TimeoutError("the group coordinator does not become ready")
                time.sleep(0.02)

    def settle(self, names: Iterable[str], groups: Iterable[str], limit_s: float) -> None:
        """Wait until both sides say the same, for at most `limit_s`."""
        topics, deadline = sorted(names), time.monotonic() + limit_s
        committed = sorted(groups)
        while True:
            views = [_view(asker, topics, committed) for asker in self._askers]
            is_ready = not any(code in _NOT_YET for view in views for code in view[1])
            if (views[0] == views[1] and is_ready) or time.monotonic() > deadline:
                return
            time.sleep(0.003)

    def settle_controller(self) -> None:
        """Wait until both have a controller again: a real one steps down when a request fails in a
        way that it does not know, and what it is asked until the next one is elected is lost."""
        for asker in self._askers:  # what is forwarded waits for a controller
            asker.ask(AlterClientQuotasRequest(entries=[_PROBE], validate_only=True), 0)

    def settle_transactions(self, ids: Iterable[str], limit_s: float) -> None:
        """Wait until both sides describe these transactional ids alike."""
        settle_transactions(self._askers, ids, limit_s)

    def settle_cluster(self, namespace: str, limit_s: float) -> None:
        """Wait until both sides describe features, quotas and their own users alike."""
        settle_cluster(self._askers, namespace, limit_s)

    def settle_configs(self, request: Request, topics: Iterable[str], limit_s: float) -> None:
        """Wait until both sides describe the resources of a request alike, and what follows."""
        settle_configs(self._askers, request, topics, limit_s)


def _is_warm(asker: Asker) -> bool:
    found = asker.ask(FindCoordinatorRequest(key="warm-up", key_type=0), 1)
    producer = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    return not (
        found.error_code
        or asker.ask(ListGroupsRequest(), 3).error_code
        or asker.ask(producer, 0).error_code
    )


def _view(asker: Asker, topics: list[str], groups: list[str]) -> tuple[Any, list[int], Any]:
    """What a broker says of topics; the error of each partition; the offsets of groups."""
    wanted = [MetadataRequest.Topic(name=name) for name in topics]
    answer = asker.ask(MetadataRequest(topics=wanted, allow_auto_topic_creation=False), 8)
    seen = sorted(
        (t.name, t.error_code, sorted((p.partition_index, p.leader_id) for p in t.partitions))
        for t in answer.topics
    )
    offsets = ListOffsetsRequest(
        replica_id=-1,
        topics=[
            ListOffsetsRequest.Topic(
                name=topic.name,
                partitions=[
                    ListOffsetsRequest.Topic.Partition(
                        partition_index=p.partition_index, timestamp=_LATEST
                    )
                    for p in topic.partitions
                ],
            )
            for topic in answer.topics
            if topic.partitions
        ],
    )
    listed = asker.ask(offsets, 1)
    errors = [p.error_code for topic in listed.topics for p in topic.partitions]
    errors += [p.error_code for topic in answer.topics for p in topic.partitions]
    committed = []
    for group in groups:
        found = asker.ask(OffsetFetchRequest(group_id=group, topics=None), 2)
        errors.append(found.error_code)
        committed.append(
            sorted(
                (t.name, p.partition_index, p.committed_offset)
                for t in found.topics
                for p in t.partitions
            )
        )
    return seen, errors, committed
