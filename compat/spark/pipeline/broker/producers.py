"""What a broker knows of a producer: how far it has come in each partition."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from .....wire.api.describe_producers import DescribeProducersRequest
from .cluster import Cluster, Place, refuse
from .producing import Identity


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
    wanted = list(places)

    def ask() -> dict[tuple[Place, int], int]:
        found: dict[tuple[Place, int], int] = {}
        for node, led in cluster.by_leader(wanted).items():
            answer = cluster.brokers.ask(_request(led), node=node)
            for topic in answer.topics:
                for part in topic.partitions:
                    place = (topic.name, part.partition_index)
                    refuse(part.error_code, f"{place[0]}-{place[1]}", part.error_message)
                    for producer in part.active_producers:
                        if producer.producer_id in producer_ids:
                            found[place, producer.producer_id] = producer.last_sequence
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
