"""O24 to O27: brokers that stop, are killed, and start."""

from __future__ import annotations

from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest

from ...ask.batches import batch
from ...ask.cluster import elect
from ...ask.clusters import (
    SETTLED,
    about,
    at_each,
    cluster,
    in_versions,
    kill,
    of_listed,
    pause,
    resume,
    start,
    stop,
    topic_on,
    view,
    wrote,
)
from ...ask.homes import homed
from ...ask.records import fetch, list_offsets, produce
from ...engine.steps import Ask, Send, Sleep, Steps
from . import case

LONG_MS = 20_000
FIND = FindCoordinatorRequest(key=homed("g", 1), key_type=0)
LIST = MetadataRequest(topics=[])


@case("O24")
def a_leader_stops() -> Steps:
    return [
        topic_on([1, 2, 3], [2, 3, 1], [3, 1, 2]),
        wrote(batch(b"x")),
        stop(1),
        *view(nodes=(2, 3)),
        *at_each(LIST, 13, (2, 3)),
        *at_each(fetch(), 12, (2, 3)),
        wrote(batch(b"y"), at=3, says={"error_code": 6, "current_leader.leader_id": 2}),
        wrote(batch(b"y"), at=2, says={"error_code": 0}),
        Ask(fetch(), 12, at=1),
        start(1),
        *view(),
        *at_each(fetch(), 12),
    ]


@case("O24")
def fetches_wait_while_a_leader_stops() -> Steps:
    return [
        topic_on([1, 2]),
        wrote(batch(b"x")),
        Send(fetch(1, wait_ms=LONG_MS, min_bytes=1), 12, on="new", at=1),
        Send(fetch(1, wait_ms=LONG_MS, min_bytes=1), 12, on="follower", at=2),
        stop(1),
        Sleep(0.3),
        wrote(batch(b"y"), at=2),
        Sleep(0.3),
    ]


@case("O24")
def an_old_fetch_waits_while_a_leader_stops() -> Steps:
    return [
        topic_on([1, 2]),
        wrote(batch(b"x")),
        Send(fetch(1, wait_ms=LONG_MS, min_bytes=1), 10, on="old", at=1),
        stop(1),
        Sleep(0.3),
    ]


@case("O24")
def the_only_replica_stops() -> Steps:
    return [
        topic_on([1], [2]),
        wrote(batch(b"x")),
        stop(1),
        *view(nodes=(2, 3)),
        *at_each(list_offsets(-1), 9, (2, 3), says=of_listed(error_code=6)),
        start(1),
        *view(),
        Ask(fetch(), 12, at=1),
    ]


@case("O25")
def a_leader_is_killed() -> Steps:
    return [
        topic_on([1, 2, 3]),
        wrote(batch(b"x")),
        kill(1),
        *at_each(about("~t"), 13, (2, 3), says=of_listed(leader_id=1, leader_epoch=0)),
        *at_each(cluster(is_fenced_too=True), 2, (2, 3)),
        wrote(batch(b"y"), at=2, says={"error_code": 6, "current_leader.leader_id": 1}),
        Ask(
            elect(("~t", [0]), kind=1),
            2,
            at=2,
            says={"replica_election_results.0.partition_result.0.error_code": 84},
        ),
        *at_each(FIND, 3, (2, 3), says={"node_id": 1}),
        *at_each(fetch(), 12, (2, 3)),
        Ask(fetch(), 12, at=1),
        SETTLED,
        *view(nodes=(2, 3)),
        wrote(batch(b"y"), at=2, says={"error_code": 0, "base_offset": 1}),
        *at_each(FIND, 3, (2, 3), says={"node_id": 2}),
        start(1),
        *view(),
        *at_each(fetch(), 12),
    ]


@case("O25")
def who_waits_when_a_broker_is_killed() -> Steps:
    return [
        topic_on([1, 2]),
        wrote(batch(b"x")),
        Send(fetch(1, wait_ms=LONG_MS, min_bytes=1), 12, on="leader", at=1),
        Send(fetch(1, wait_ms=LONG_MS, min_bytes=1), 12, on="follower", at=2),
        kill(1),
        SETTLED,
        Sleep(0.3),
        wrote(batch(b"y"), at=2),
        Sleep(0.3),
    ]


@case("O25")
def a_leader_stands_still() -> Steps:
    return [
        topic_on([1, 2]),
        wrote(batch(b"x")),
        pause(1),
        *at_each(about("~t"), 13, (2, 3), says=of_listed(leader_id=1)),
        SETTLED,
        *view(nodes=(2, 3)),
        wrote(batch(b"y"), at=2),
        resume(1),
        *view(),
        *at_each(fetch(), 12),
    ]


@case("O26")
def a_broker_starts() -> Steps:
    return [
        topic_on([1, 2, 3]),
        wrote(batch(b"x")),
        stop(1),
        wrote(batch(b"y"), at=2),
        stop(3),
        wrote(batch(b"z"), at=2),
        start(1),
        *view(nodes=(1, 2)),
        wrote(batch(b"z"), at=1, says={"error_code": 6}),
        *at_each(fetch(), 12, (1, 2)),
        start(3),
        *view(),
        Ask(elect(("~t", [0])), 2, at=3),
        *view(),
        wrote(batch(b"z"), at=1, says={"error_code": 0}),
        *in_versions(fetch(), 10, 17),
    ]


@case("O26")
def rolling_restarts() -> Steps:
    steps: Steps = [topic_on([1, 2, 3], [2, 3, 1], [3, 1, 2])]
    for node in (1, 2, 3):
        others = [each for each in (1, 2, 3) if each != node]
        steps += [stop(node), *view(nodes=others)]
        steps += [
            Ask(produce(batch(b"%d" % node), partition=part), 12, at=at)
            for part in range(3)
            for at in others
        ]
        steps += [start(node), *view()]
    return [*steps, *(Ask(fetch(partition=p), 12, at=at) for p in range(3) for at in (1, 2, 3))]
