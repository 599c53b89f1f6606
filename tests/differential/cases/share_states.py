"""Section N: the share coordinator, asked as brokers ask it, and its records."""

from __future__ import annotations

from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest

from ..ask.consumer_groups import known_topic
from ..ask.group_records import STATES, WRITTEN_S, state_written
from ..ask.records import put
from ..ask.share_groups import STATE_KINDS, share_state
from ..engine.steps import Ask, Sleep, Steps
from . import case

LOG = 12
KEY = "~g:AAAAAAAAAAAAAAAAAAAAAQ:0"


def coordinators() -> Steps:
    """A topic "~t" of two partitions, and share coordinators."""
    found = FindCoordinatorRequest(key_type=2, coordinator_keys=[KEY])
    return [*known_topic("~t", 2), Ask(found, 6), Sleep(0.5)]


@case("N24")
def what_there_is_no_state_of() -> Steps:
    steps: Steps = [*coordinators()]
    for kind in ("read", "write", "summary", "delete"):
        steps.append(share_state(kind))
    for kind in STATE_KINDS:
        steps += [
            share_state(kind, partition=-1),
            share_state(kind, partition=2),
            share_state(kind, "~none"),
            share_state(kind, group=""),
            share_state(kind, group=" "),
            Ask(STATE_KINDS[kind](group_id="~g", topics=[])),
        ]
    return steps


@case("N24, N25")
def epochs_of_states() -> Steps:
    return [
        *coordinators(),
        share_state("initialize", state_epoch=3),
        share_state("initialize", state_epoch=2),
        share_state("initialize", state_epoch=-1),
        share_state("initialize", state_epoch=4, start_offset=-1),
        share_state("summary"),
        share_state("write", state_epoch=3),
        share_state("write", state_epoch=5, leader_epoch=2, start_offset=7),
        share_state("write", state_epoch=4, leader_epoch=1),
        share_state("read", leader_epoch=1),
        share_state("read", leader_epoch=6),
        share_state("write", state_epoch=4, leader_epoch=5),
        share_state("read", leader_epoch=5),
        share_state("read", leader_epoch=-1),
        share_state("write", state_epoch=-1, leader_epoch=-1, start_offset=-1),
        share_state("summary"),
        share_state("delete"),
        share_state("summary"),
        share_state("initialize", state_epoch=0),
        share_state("summary"),
        Sleep(WRITTEN_S),
        Ask(state_written(), LOG),
    ]


@case("N24")
def batches_laid_over_each_other() -> Steps:
    writes = [
        [(0, 9, 0, 1)],
        [(2, 4, 2, 1)],
        [(3, 6, 0, 2), (8, 12, 4, 1)],
        [(0, 12, 0, 1)],
        [(5, 5, 2, 3), (1, 1, 2, 3), (5, 7, 0, 3)],
        [(10, 10, 0, 1), (11, 20, 0, 1), (21, 30, 0, 1)],
        [(15, 25, 1, 0)],
        [(9, 3, 0, 1)],
    ]
    steps: Steps = [*coordinators(), share_state("initialize")]
    for at, batches in enumerate(writes):
        write = share_state("write", batches=batches, delivery_complete_count=at)
        steps += [write, share_state("read")]
    steps += [
        share_state("write", start_offset=4),
        share_state("read"),
        share_state("write", start_offset=-1, batches=[(40, 41, 2, 1)]),
        share_state("read"),
        share_state("summary"),
        Sleep(WRITTEN_S),
        Ask(state_written(), LOG),
    ]
    return steps


@case("N25")
def the_topic_of_states() -> Steps:
    name = MetadataRequest.Topic(name=STATES)
    return [
        *coordinators(),
        Ask(MetadataRequest(topics=[name], allow_auto_topic_creation=False), 9),
        put(b"x", name=STATES),
    ]


@case("N25")
def states_of_a_deleted_topic() -> Steps:
    gone = DeleteTopicsRequest(
        topics=[DeleteTopicsRequest.Topic(name="~t", topic_id=bytes(16))],
        topic_names=["~t"],
        timeout_ms=9000,
    )
    return [
        *coordinators(),
        share_state("initialize"),
        Ask(gone),
        Sleep(0.5),
        share_state("read"),
        share_state("summary"),
        Ask(state_written(), LOG),
    ]
