"""What a broker knows, to be compared before and after a restart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from odradek.emulator.cluster import Cluster
from odradek.wire.api.offset_fetch import OffsetFetchRequest

from tests.simulation.book import Broken, Place
from tests.support.cluster import Client


class State(NamedTuple):
    """Partitions, offsets of groups, and transactions."""

    partitions: dict[Place, tuple[Any, ...]]
    offsets: dict[str, dict[Place, int]]
    transactions: dict[str, tuple[Any, ...]]


def state_of(cluster: Cluster, places: Sequence[Place], groups: Sequence[str]) -> State:
    """What a broker knows now, of what outlives it."""
    return State(
        {place: _of_partition(cluster, place) for place in places},
        {group: _offsets(cluster, group) for group in groups},
        _transactions(cluster),
    )


def check_same(before: State, after: State) -> None:
    """Raises Broken if a restart has changed anything."""
    for name in State._fields:
        was: dict[Any, Any] = getattr(before, name)
        found: dict[Any, Any] = getattr(after, name)
        for key in was.keys() | found.keys():
            if was.get(key) != found.get(key):
                raise Broken(f"{name} {key!r}: {was.get(key)} before a restart, {found.get(key)}")


def _of_partition(cluster: Cluster, place: Place) -> tuple[Any, ...]:
    partition = cluster.partition(*place)
    producers = {
        # Of the batches Kafka's snapshots have the last one, and its time is that of a marker.
        producer_id: (
            state.epoch,
            state.txn_first_offset,
            [each[:4] for each in state.batches[-1:]],
        )
        for producer_id, state in partition.log.producers.states.items()
    }
    marks = partition.log_start_offset, partition.log_end_offset, partition.last_stable_offset
    return *marks, producers


def _offsets(cluster: Cluster, group: str) -> dict[Place, int]:
    """What a group has committed, in transactions that are over."""
    client = Client(cluster, "state")
    answer = client.ask(OffsetFetchRequest(group_id=group, topics=None), 7)
    return {
        (topic.name, each.partition_index): each.committed_offset
        for topic in answer.topics
        for each in topic.partitions
    }


def _transactions(cluster: Cluster) -> dict[str, tuple[Any, ...]]:
    coordinator = cluster.transactions.coordinator_for("")
    return {
        name: (each.producer, each.state, frozenset(each.partitions))
        for name, each in coordinator.transactions.items()
        if not each.state.is_prepared  # which goes on by itself
    }
