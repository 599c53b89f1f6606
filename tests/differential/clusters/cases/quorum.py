"""O27: the controller is gone. Brokers serve what they have; what it has to do waits for it."""

from __future__ import annotations

from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest

from ...ask.batches import batch
from ...ask.clusters import (
    LOSE_QUORUM,
    REGAIN_QUORUM,
    about,
    at_each,
    kill,
    of_listed,
    start,
    topic_on,
    view,
    wrote,
)
from ...ask.homes import homed
from ...ask.records import fetch, produce
from ...engine.steps import Ask, Send, Sleep, Steps
from . import case

FIND = FindCoordinatorRequest(key=homed("g", 1), key_type=0)
LIST = MetadataRequest(topics=[])


@case("O27")
def the_quorum_is_lost() -> Steps:
    return [
        topic_on([1, 2, 3]),
        topic_on([2], name="~one"),
        wrote(batch(b"x")),
        LOSE_QUORUM,
        *at_each(LIST, 13),
        *at_each(about("~t"), 13, says=of_listed(leader_id=1, leader_epoch=0)),
        wrote(batch(b"y"), says={"error_code": 0}),
        Ask(produce(batch(b"y"), "~one"), 12, at=2),
        *at_each(FIND, 3, says={"node_id": 1}),
        *at_each(fetch(), 12),
        REGAIN_QUORUM,
        *view(),
    ]


@case("O27")
def a_leader_is_killed_without_a_quorum() -> Steps:
    """Nobody can be elected, and nobody can leave those in sync."""
    return [
        topic_on([1, 2, 3], [2, 3, 1]),
        wrote(batch(b"x")),
        LOSE_QUORUM,
        kill(1),
        Sleep(8.0),  # longer than its session
        *at_each(about("~t"), 13, (2, 3), says=of_listed(leader_id=1, leader_epoch=0)),
        *at_each(LIST, 13, (2, 3)),
        wrote(batch(b"y"), at=2, says={"error_code": 6, "current_leader.leader_id": 1}),
        Ask(produce(batch(b"y"), partition=1, acks=1), 12, at=2),
        Ask(produce(batch(b"z"), partition=1, acks=-1, timeout_ms=1000), 12, at=2),
        *at_each(fetch(), 12, (2, 3)),
        REGAIN_QUORUM,
        Sleep(8.0),
        start(1),
        *view(),
    ]


@case("O27")
def what_the_controller_has_to_do_waits() -> Steps:
    made = CreateTopicsRequest.Topic
    placed = [made.Assignment(partition_index=0, broker_ids=[1, 2])]
    topic = made(
        name="~late", num_partitions=-1, replication_factor=-1, assignments=placed, configs=[]
    )
    create = CreateTopicsRequest(topics=[topic], timeout_ms=1500)
    return [
        topic_on([1, 2, 3]),
        LOSE_QUORUM,
        Send(create, 7, on="new", at=2),
        Sleep(3.0),  # longer than it names; from when the controller is there, it has so long
        *at_each(LIST, 13),
        REGAIN_QUORUM,
        Sleep(2.0),
        *view(),
    ]
