"""O1 to O5: what clients see of brokers and partitions."""

from __future__ import annotations

from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.metadata import MetadataRequest

from ...ask.batches import batch
from ...ask.cluster import elect, move
from ...ask.clusters import (
    about,
    at_each,
    cluster,
    described,
    in_versions,
    of_fetched,
    of_listed,
    start,
    stop,
    topic_on,
    view,
    wrote,
)
from ...ask.records import fetch, list_offsets
from ...ask.topics import topic
from ...engine.steps import Ask, Steps
from . import case

ABC = [1, 2, 3]


@case("O1")
def brokers_as_each_tells_of_them() -> Steps:
    fenced = cluster(is_fenced_too=True)
    return [
        *in_versions(MetadataRequest(topics=[]), 0, 1, 5, 9, 13),
        *in_versions(cluster(), 0, 1, 2),
        *at_each(fenced, 2),
        *(topic_on(ABC, name=f"~made-at-{node}", at=node) for node in ABC),
        *at_each(about("~made-at-1", "~made-at-2", "~made-at-3"), 13),
        stop(2),
        *at_each(MetadataRequest(topics=[]), 13, nodes=(1, 3)),
        *at_each(fenced, 2, nodes=(1, 3), says={"brokers.1.is_fenced": True}),
        *at_each(cluster(), 2, nodes=(1, 3)),
        start(2),
        *at_each(fenced, 2),
        *at_each(cluster(endpoint_type=2), 2),
    ]


@case("O2")
def partitions_as_each_tells_of_them() -> Steps:
    return [
        topic_on(ABC, [2, 3, 1], [3, 1, 2]),
        *in_versions(about("~t"), *range(14)),
        *at_each(described("~t"), 0),
        stop(3),
        *in_versions(about("~t"), 4, 5, 7, 13, nodes=(1, 2)),
        start(3),
        *view(),
        stop(1),
        start(1),
        *view(),
    ]


@case("O2")
def leaders_are_spread_evenly() -> Steps:
    # Which broker is the first is a draw: of a topic "~auto" only the numbers are compared. With
    # one replica a real controller begins its second round anywhere: 1,2,3,3,3,2.
    return [
        Ask(CreateTopicsRequest(topics=[topic(f"~auto-{n}", 6 if n > 1 else 3, n)]), 7, at=n)
        for n in (1, 2, 3)
    ]


@case("O3")
def the_leader_epoch_rises_with_leaders_and_removals() -> Steps:
    return [
        topic_on([1, 2]),
        Ask(move(("~t", [(0, [2, 1])])), 0, at=1),  # another order
        *view(),
        Ask(elect(("~t", [0])), 2, at=3),
        *view(),
        Ask(move(("~t", [(0, [2, 1, 3])])), 0, at=2),  # one more
        *view(),
        Ask(move(("~t", [(0, [2, 1])])), 0, at=2),  # one less
        *view(),
        stop(1),  # the ISR shrinks
        *view(nodes=(2, 3)),
        start(1),
        *view(),
        stop(2),
        *view(nodes=(1, 3)),
    ]


@case("O4")
def a_partition_without_a_leader() -> Steps:
    return [
        topic_on([1, 2]),
        wrote(batch(b"x")),
        stop(2),
        stop(1),
        Ask(about("~t"), 13, at=3, says={"topics.0.error_code": 0}),
        *in_versions(about("~t"), 0, 1, 5, 7, nodes=(3,)),
        Ask(
            described("~t"),
            0,
            at=3,
            says=of_listed(error_code=0, last_known_elr=[1], isr_nodes=[]),
        ),
        wrote(batch(b"y"), at=3, says={"error_code": 6, "current_leader.leader_id": -1}),
        wrote(batch(b"y"), at=3, version=13),
        Ask(list_offsets(-1), 9, at=3, says=of_listed(error_code=6)),
        Ask(fetch(), 12, at=3, says=of_fetched(error_code=6)),
        Ask(fetch(), 17, at=3, says={"node_endpoints": []}),
    ]


@case("O4")
def a_follower_serves_when_there_is_no_leader() -> Steps:
    return [
        topic_on(ABC, min_insync_replicas="1"),
        wrote(batch(b"x")),
        stop(3),
        stop(2),
        wrote(batch(b"y")),
        start(2),
        stop(1),
        *at_each(fetch(), 12, nodes=(2,)),
        *at_each(fetch(), 17, nodes=(2,)),
        *view(nodes=(2,)),
    ]


@case("O5")
def more_replicas_than_brokers() -> Steps:
    def made(name: str, factor: int) -> CreateTopicsRequest:
        return CreateTopicsRequest(topics=[topic(name, 1, factor)])

    return [
        *at_each(made("~four", 4), 7, says={"topics.0.error_code": 38}),
        stop(3),
        Ask(made("~auto", 3), 7, at=1, says={"topics.0.error_code": 0}),
        topic_on([3, 2, 1], name="~dead-first"),
        topic_on([3], name="~dead-only"),
        topic_on([3, 7], name="~unknown"),
        topic_on([1, 1], name="~twice"),
        topic_on([1, 2], [1], name="~uneven"),
        topic_on([1, 2], [2, 2, 2], name="~uneven"),
        *view("~dead-first", nodes=(1, 2)),
        Ask(about("~dead-only", "~unknown"), 13, at=1),
        start(3),
        *view("~dead-first"),
    ]
