"""A broker's state of a producer: how far it has come in each partition."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from .....wire.api.describe_producers import DescribeProducersRequest
from .cluster import Cluster, Place, refuse
from .producing import Identity

_NO_SEQUENCE = -1


def last_sequences(
    cluster: Cluster, places: Iterable[Place], identity: Identity
) -> dict[Place, int]:
    """The sequence of the last record that the producer has written to each of these partitions;
    without those that it has not written to. Raises BrokerError, also from brokers before 2.8."""
    found = sequences(cluster, places, {identity.producer_id})
    return {place: last for (place, _), last in found.items()}


def sequences(
    cluster: Cluster, places: Iterable[Place], producer_ids: Collection[int]
) -> dict[tuple[Place, int], int]:
    """The same of several producers: partition and producer id -> sequence."""
    return {
        (place, producer.producer_id): producer.last_sequence
        for place, producers in _active(cluster, places).items()
        for producer in producers
        if producer.producer_id in producer_ids
    }


def next_sequences(
    cluster: Cluster, identity: Identity, places: Iterable[Place]
) -> dict[Place, int]:
    found = _active(cluster, places)
    return {place: _next_sequence(identity, producers) for place, producers in found.items()}


def _next_sequence(identity: Identity, producers: Iterable[Any]) -> int:
    for each in producers:
        is_it = (each.producer_id, each.producer_epoch) == (identity.producer_id, identity.epoch)
        if is_it and each.last_sequence != _NO_SEQUENCE:
            return (int(each.last_sequence) + 1) % (1 << 31)
    return 0


def _active(cluster: Cluster, places: Iterable[Place]) -> dict[Place, list[Any]]:
    """The producers that each partition's leader knows."""
    wanted = list(places)

    def ask() -> dict[Place, list[Any]]:
        found: dict[Place, list[Any]] = {}
        for node, led in cluster.by_leader(wanted).items():
            answer = cluster.brokers.ask(_request(led), node=node)
            for topic in answer.topics:
                for part in topic.partitions:
                    place = (topic.name, part.partition_index)
                    refuse(part.error_code, f"{place[0]}-{place[1]}", part.error_message)
                    found[place] = part.active_producers
        return found

    return cluster.repeated(ask, "producers")


def _request(places: Iterable[Place]) -> DescribeProducersRequest:
    topics: dict[str, DescribeProducersRequest.Topic] = {}
    for name, index in places:
        topic = topics.setdefault(
            name, DescribeProducersRequest.Topic(name=name, partition_indexes=[])
        )
        topic.partition_indexes.append(index)
    return DescribeProducersRequest(topics=list(topics.values()))
