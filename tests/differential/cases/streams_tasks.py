"""Section N: how tasks and standbys of a streams group are shared, handed over, and told of."""

from __future__ import annotations

from typing import Any

from ..ask.consumer_groups import SETTLED_S, delete_offsets, fetch_offsets_as, known_topic
from ..ask.groups import commit, leave, offsets_of
from ..ask.streams_groups import (
    CREATED_S,
    Topology,
    describe_streams,
    enters,
    internal,
    rounds,
    stateful,
    stream_beat,
    stream_depart,
    stream_enter,
    streams_config,
    streams_group,
    subtopology,
    tells,
    topology,
    words,
)
from ..engine.steps import Ask, Sleep, Steps, seen
from . import case
from .streams_groups import log_of
from .streams_topologies import grown


@case("N33")
def tasks_are_handed_over() -> Steps:
    return [
        *known_topic("~t", 4),
        enters("a"),
        enters("b"),
        Ask(stream_beat("b", 3)),
        Ask(stream_beat("a", 2)),
        Ask(describe_streams()),
        Ask(stream_beat("a", 2, active=[("0", [0, 1, 2, 3])])),
        Ask(stream_beat("a", 2, active=[("0", [0])])),
        Ask(stream_beat("b", 3)),
        Ask(stream_beat("b", 3, active=[("0", [2, 3])])),
        Ask(describe_streams()),
        enters("c"),
        *rounds("a", "b", "c"),
        Ask(describe_streams()),
        Ask(stream_depart("a")),
        *rounds("b", "c"),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N33")
def tasks_that_a_member_cannot_have() -> Steps:
    return [
        *streams_group(2),
        Ask(stream_beat("a", 2, active=[("0", [2])])),
        Ask(stream_beat("a", 2, active=[("0", [-1])])),
        Ask(stream_beat("a", 2, active=[("7", [0])])),
        Ask(stream_beat("a", 2, standby=[("0", [2])])),
        Ask(stream_beat("a", 2, standby=[("7", [])])),
        Ask(stream_beat("a", 2, active=[("0", [0, 0, 1])])),
        Ask(stream_beat("a", 2, active=[("0", [0]), ("0", [1])])),
        Ask(stream_beat("a", 2, active=[("0", [1])], standby=[("0", [0])])),
        Ask(stream_enter("b")),
        Ask(stream_beat("a", 2, active=[("0", [1, 5])])),
        Ask(stream_beat("a", 2, active=[("0", [])])),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N34")
def tasks_are_shared_among_processes() -> Steps:
    """Threads of one process, and processes of different sizes."""
    return [
        *known_topic("~t", 7),
        *(enters(f"one-{n}", words(), process="one") for n in (1, 2, 3)),
        enters("two-1", words(), process="two"),
        Sleep(CREATED_S),
        *rounds("one-1", "one-2", "one-3", "two-1"),
        Ask(describe_streams()),
        enters("two-2", words(), process="two"),
        enters("three-1", words(), process="three"),
        *rounds("two-2", "one-1", "one-2", "one-3", "two-1", "three-1"),
        Ask(describe_streams()),
        Ask(stream_depart("one-2")),
        *rounds("two-2", "one-1", "one-3", "two-1", "three-1"),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N34")
def names_in_the_order_of_a_hash_map() -> Steps:
    members = ("worker-9", "alpha", "Zürich", "worker-10", "x" * 20, "b")
    return [
        *known_topic("~t", 5),
        *(enters(member, process=f"process {member[::-1]}") for member in members),
        *rounds(*members, times=2),
        *rounds(*reversed(members), times=2),
        Ask(describe_streams()),
        Ask(stream_depart("alpha")),
        *rounds(*(member for member in members if member != "alpha")),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N34, N31")
def standbys() -> Steps:
    return [
        *known_topic("~t", 3),
        streams_config(num_standby_replicas="1"),
        enters("a", stateful(), process="p1"),
        Sleep(CREATED_S),
        *rounds("a", times=2),
        enters("b", stateful(), process="p1"),
        *rounds("a", "b"),
        Ask(describe_streams()),
        enters("c", stateful(), process="p2"),
        *rounds("a", "b", "c"),
        Ask(describe_streams()),
        streams_config(num_standby_replicas="2"),
        *rounds("a", "b", "c"),
        enters("d", stateful(), process="p3"),
        *rounds("a", "b", "c", "d", times=4),
        Ask(describe_streams()),
        Ask(stream_depart("c")),
        *rounds("a", "b", "d", times=4),
        Ask(describe_streams()),
        streams_config(num_standby_replicas=None),
        *rounds("a", "b", "d"),
        *log_of(),
    ]


@case("N34")
def standbys_only_of_what_has_state() -> Steps:
    return [
        *known_topic("~t", 2),
        streams_config(num_standby_replicas="1"),
        enters("a", words()),
        Sleep(CREATED_S),
        *rounds("a", times=2),
        enters("b", words()),
        *rounds("a", "b", times=4),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N34, N33")
def a_member_moves_to_another_process() -> Steps:
    return [
        *known_topic("~t", 4),
        streams_config(num_standby_replicas="1"),
        enters("a", stateful(), process="p1"),
        enters("b", stateful(), process="p2"),
        Sleep(CREATED_S),
        *rounds("a", "b"),
        tells("b", process="p1"),
        *rounds("a", "b", times=4),
        Ask(describe_streams()),
        tells("a", process="p2"),
        *rounds("a", "b", times=4),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N35")
def endpoints_are_told() -> Steps:
    here, there = ("here", 1234), ("there", 65535)
    return [
        *known_topic("~t", 3),
        *known_topic("~u", 2),
        Ask(stream_enter("a", _two_topics(), endpoint=here)),
        Ask(stream_beat("a", 2)),
        Ask(stream_beat("a", 2, known=1)),
        Ask(stream_enter("b", _two_topics(), endpoint=there, known=1)),
        Ask(stream_beat("a", 2, known=1, active=[("0", [0, 1, 2])])),
        Ask(stream_beat("a", 2, known=2, active=[("0", [0, 1])])),
        Ask(stream_beat("b", 3, known=2)),
        Ask(stream_beat("b", 3, known=3)),
        Ask(stream_beat("a", 3, known=-1)),
        Ask(stream_enter("c", _two_topics())),
        Ask(stream_beat("c", 4, known=9)),
        Ask(stream_beat("b", 3, known=4, endpoint=here)),
        Ask(stream_depart("a")),
        Ask(stream_beat("b", 4, known=0)),
        Ask(stream_beat("b", 5, known=0, active=[])),
        Ask(describe_streams()),
        *log_of(),
    ]


def _two_topics() -> Topology:
    return topology(subtopology("0", "~t", "~u"))


@case("N35")
def endpoints_of_standbys_and_of_changed_topics() -> Steps:
    return [
        *known_topic("~t", 2),
        streams_config(num_standby_replicas="1"),
        enters("a", words(), endpoint=("a", 1)),
        enters("b", words(), endpoint=("b", 2)),
        Sleep(CREATED_S),
        *rounds("a", "b", times=4),
        Ask(stream_beat("a", seen("epoch a"), known=0)),
        *grown("~t", 3),
        Ask(stream_beat("a", seen("epoch a"), known=0)),
        Ask(stream_beat("b", seen("epoch b"), known=0)),
        Ask(stream_depart("b")),
        Ask(stream_beat("a", seen("epoch a"), known=0)),
    ]


@case("N36")
def offsets_of_a_streams_group() -> Steps:
    def commits(member: Any, epoch: int, version: int = 9) -> Ask:
        return Ask(commit(("~t", 0, 5), member=member, generation=epoch), version)

    return [
        *known_topic("~u", 2),
        *streams_group(2),
        commits("a", 2),
        commits("a", 2, 10),
        commits("a", 2, 8),
        commits("a", 1),
        commits("a", 3),
        commits("a", -1),
        commits("", -1),
        commits("", -1, 8),
        commits("stranger", 2),
        Ask(commit(("~u", 0, 5), ("~none", 0, 1), member="a", generation=2), 9),
        Ask(fetch_offsets_as("a", 2), 9),
        Ask(fetch_offsets_as("a", 1), 9),
        Ask(fetch_offsets_as("stranger", 2), 9),
        Ask(fetch_offsets_as(None, -1), 9),
        Ask(offsets_of("~g"), 7),
        Ask(stream_enter("b")),
        Ask(stream_beat("a", 2)),
        Ask(stream_beat("a", 2, active=[("0", [0])])),
        commits("a", 2),
        commits("a", 3),
        Ask(commit(("~t", 1, 6), member="b", generation=2), 9),
        Ask(commit(("~u", 1, 6), member="a", generation=2), 9),
        Ask(commit(("~t", 1, 6), member="a", generation=2), 9),
        delete_offsets(("~t", [0, 1]), ("~u", [0, 1]), ("~none", [0])),
        Ask(leave(("a", None))),
        Ask(leave(("a", None)), 2),
        Ask(stream_depart("a")),
        Ask(stream_depart("b")),
        commits("", -1),
        commits("a", 3),
        delete_offsets(("~t", [0, 1])),
        *log_of(),
    ]


@case("N36, N33")
def offsets_of_tasks_that_are_given_up() -> Steps:
    by_word = internal("~r", 2)
    stated = topology(subtopology("0", "~t", writes=["~r"]), subtopology("1", reads=[by_word]))

    def commits(name: str, index: int, epoch: int) -> Ask:
        return Ask(commit((name, index, 5), member="a", generation=epoch), 9)

    return [
        *known_topic("~t", 2),
        enters("a", stated),
        Sleep(CREATED_S),
        *rounds("a", times=2),
        enters("b", stated),
        Ask(stream_beat("a", 3)),
        Sleep(SETTLED_S),
        *(commits(name, index, 3) for name in ("~t", "~r") for index in (0, 1)),
        tells("a"),
        tells("a"),
        *(commits(name, index, 3) for name in ("~t", "~r") for index in (0, 1)),
        *(commits(name, index, 4) for name in ("~t", "~r") for index in (0, 1)),
        Ask(describe_streams()),
        *log_of(),
    ]
