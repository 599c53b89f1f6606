"""O12 and O13: elections and reassignments that are asked for."""

from __future__ import annotations

from odradek.wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest

from ...ask.batches import batch
from ...ask.cluster import elect, move
from ...ask.clusters import (
    SETTLED,
    at_each,
    kill,
    moves,
    of_fetched,
    of_listed,
    set_config,
    start,
    stop,
    topic_on,
    view,
    wrote,
)
from ...ask.records import fetch, list_offsets
from ...engine.steps import Ask, Steps
from . import case

BOTH = (0, 1)
ELECTED = "replica_election_results.0.partition_result.0.error_code"
MOVED = "responses.0.partitions.0.error_code"


def _elect(kind: int, at: int, says: int | None = None, version: int = 2) -> Ask:
    said = {} if says is None else {ELECTED: says}
    return Ask(elect(("~t", [0]), kind=kind), version, at=at, says=said)


def _move(*replicas: int, at: int = 1, says: int | None = None) -> Ask:
    said = {} if says is None else {MOVED: says}
    return Ask(move(("~t", [(0, list(replicas) or None)])), 0, at=at, says=said)


@case("O12")
def elections_asked_for() -> Steps:
    return [
        topic_on([1, 2], [2, 3]),
        *(_elect(0, at, says=84) for at in (1, 2, 3)),
        *(_elect(1, at, says=84) for at in (1, 2, 3)),
        *(_elect(0, 1, version=version) for version in (0, 1, 2)),
        Ask(elect(("~t", [0, 1, 7]), ("~none", [0])), 2, at=2),
        Ask(elect(("~t", [0, 0])), 2, at=2),
        Ask(elect(("~t", [0]), kind=7), 2, at=2),
        Ask(elect(("~t", [])), 2, at=2),
        stop(1),
        _elect(0, 2, says=80),
        _elect(1, 3, says=84),
        stop(2),
        _elect(0, 3, says=80),
        _elect(1, 3, says=83),
        Ask(elect(("~t", [0, 1])), 2, at=3),
        start(1),
        _elect(0, 3),
        _elect(1, 3, says=0),
        *view(nodes=(1, 3)),
    ]


@case("O12")
def an_election_gives_the_preferred_one_the_lead() -> Steps:
    return [
        topic_on([1, 2]),
        wrote(batch(b"x")),
        stop(1),
        start(1),
        *view(),
        _elect(0, 3, says=0),
        *view(),
        _elect(0, 3, says=84),
    ]


@case("O13")
def moved_to_other_brokers() -> Steps:
    return [
        topic_on([1, 2]),
        wrote(batch(b"x")),
        _move(2, 1, says=0),
        *view(),
        Ask(list_offsets(-1), 9, at=1, says=of_listed(error_code=0)),
        _move(2, 3, says=0),
        *view(),
        wrote(batch(b"y"), at=1, says={"error_code": 6, "current_leader.leader_id": 2}),
        Ask(fetch(), 12, at=1, says=of_fetched(error_code=6)),
        *at_each(fetch(), 17),
        wrote(batch(b"y"), at=2, says={"error_code": 0, "base_offset": 1}),
        *at_each(moves(), 0),
        _move(says=85),
        _move(3),
        *view(),
        _move(1, 2, 3),
        *view(),
        *at_each(fetch(), 12),
    ]


@case("O13")
def what_is_refused_of_moves() -> Steps:
    return [
        topic_on([1, 2], [2, 3]),
        *(_move(*replicas, at=2) for replicas in ((4,), (1, 1), (-1, 2), (1, 2, 3, 4))),
        Ask(move(("~t", [(0, [])])), 0, at=3),
        Ask(move(("~t", [(7, [1])]), ("~none", [(0, [1])])), 0, at=3),
        Ask(move(("~t", [(0, [1, 2, 3])]), allow_replication_factor_change=False), 1, at=3),
        Ask(move(("~t", [(0, [2, 3]), (1, None)]), allow_replication_factor_change=False), 1, at=3),
        Ask(ListPartitionReassignmentsRequest(topics=None), 0, at=2),
        *view(),
    ]


@case("O13")
def the_only_replica_is_stopped() -> Steps:
    others = (2, 3)
    return [
        topic_on([1]),
        wrote(batch(b"x")),
        stop(1),
        _move(2, 3, at=2),
        *view(nodes=others),
        *at_each(moves(), 0, nodes=others),
        _move(at=2, says=39),
        start(1),
        *view(),
        *at_each(moves(), 0),
    ]


@case("O13")
def one_that_removes_what_it_adds_waits() -> Steps:
    return [
        topic_on([1]),
        stop(1),
        _move(2, 3, at=2),
        _move(3, at=2),
        start(1),
        *view(),
        *at_each(moves(), 0),
        _move(says=0),
        *view(),
    ]


@case("O13")
def one_that_is_moved_away_may_stay_eligible() -> Steps:
    return [
        topic_on([2], min_insync_replicas="2"),
        wrote(batch(b"x"), at=2, acks=1),
        _move(3),
        *view(),
        stop(3),
        *view(nodes=(1, 2)),
        start(3),
        *view(),
        topic_on([1, 2, 3], name="~u", min_insync_replicas="3"),
        Ask(move(("~u", [(0, [1, 2])])), 0, at=1),
        *view("~u"),
        stop(2),
        *view("~u", nodes=(1, 3)),
        start(2),
        *view("~u"),
    ]


@case("O13")
def a_move_in_progress() -> Steps:
    return [
        topic_on([1, 2]),
        wrote(batch(b"x")),
        stop(3),
        _move(2, 3, says=0),
        *view(nodes=(1, 2)),
        *at_each(moves(), 0, (1, 2)),
        wrote(batch(b"y"), says={"error_code": 0}),
        _move(3, 1, at=2, says=0),
        *view(nodes=(1, 2)),
        *at_each(moves(), 0, (1, 2)),
        _elect(0, 1, says=80),
        _move(says=0),
        *view(nodes=(1, 2)),
        _move(says=85),
        _move(3, says=0),
        *view(nodes=(1, 2)),
        wrote(batch(b"z"), at=2),
        start(3),
        *view(),
        *at_each(fetch(), 12),
    ]


@case("O13")
def a_move_while_its_leader_dies() -> Steps:
    return [
        topic_on([1, 2]),
        wrote(batch(b"x")),
        set_config("min.insync.replicas", "2"),
        stop(3),
        _move(3, 2, says=0),
        kill(1),
        SETTLED,
        *view(nodes=(2,)),
        wrote(batch(b"y"), at=2, says={"error_code": 19}),
        start(3),
        *view(nodes=(2, 3)),
        start(1),
        *view(),
    ]
