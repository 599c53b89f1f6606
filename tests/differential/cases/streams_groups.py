"""Section N: streams groups: who may join, epochs, records in `__consumer_offsets`, configs."""

from __future__ import annotations

from typing import Any

from odradek.wire.api.list_groups import ListGroupsRequest

from ..ask.consumer_groups import delete_groups, known_topic
from ..ask.group_records import WRITTEN_S, written
from ..ask.groups import FAR_MS
from ..ask.streams_groups import (
    CREATED_S,
    LEAVES,
    describe_streams,
    enters,
    internal,
    plain,
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
from ..engine.steps import Ask, Restart, Sleep, Steps, seen
from . import case

LOG = 12


def log_of(group: str = "~g") -> Steps:
    """Everything written of a group."""
    return [Sleep(WRITTEN_S), Ask(written(group), LOG)]


@case("N27")
def what_a_streams_member_must_say() -> Steps:
    return [
        *known_topic(),
        Ask(stream_enter("")),
        Ask(stream_enter("a", group="")),
        Ask(stream_enter(" ", group="~blank")),
        Ask(stream_enter("m" * 37, group="~long")),
        Ask(stream_enter("a", group=" ")),
        Ask(stream_enter("a", timeout_ms=-1)),
        Ask(stream_enter("a", timeout_ms=-2, group="~negative")),
        Ask(stream_enter("a", timeout_ms=0, group="~zero")),
        Ask(stream_enter("a", topology=None)),
        Ask(stream_enter("a", active=None)),
        Ask(stream_enter("a", warmup_tasks=None)),
        Ask(stream_enter("a", standby_tasks=None)),
        Ask(stream_enter("a", active_tasks=None)),
        Ask(stream_enter("a", active=[("0", [0])])),
        Ask(stream_enter("a", standby=[("0", [0])])),
        Ask(stream_enter("a", rack="")),
        Ask(stream_enter("a", rack=" ", group="~rack")),
        Ask(stream_enter("a", instance="")),
        Ask(stream_enter("a", instance="i")),
        Ask(stream_enter("a", process=None, group="~process")),
        Ask(stream_enter("a", process="", group="~process")),
        Ask(stream_enter("a", group="~tags")),
        Ask(stream_beat("a", -3)),
        Ask(stream_beat("a", -2)),
        Ask(stream_beat("a", -2, instance="i")),
        Ask(stream_beat("a", -1)),
        Ask(stream_beat("a", 1)),
        Ask(describe_streams("~g", "~blank", "", "~none")),
    ]


@case("N27")
def what_a_streams_member_must_not_say() -> Steps:
    patterned = topology(subtopology("0", "~t", patterns=["~t.*"]))
    offset = stream_beat().TaskOffset(subtopology_id="0", partition=0, offset=5)
    warm = [stream_beat().TaskIds(subtopology_id="0", partitions=[0])]
    return [
        *streams_group(),
        Ask(stream_beat("a", 2, topology=plain())),
        Ask(stream_beat("a", 2, instance="i")),
        Ask(stream_beat("a", 2, task_offsets=[offset])),
        Ask(stream_beat("a", 2, task_offsets=[])),
        Ask(stream_beat("a", 2, task_end_offsets=[])),
        Ask(stream_beat("a", 2, active=[("0", [0, 1])], warmup_tasks=warm)),
        Ask(stream_beat("a", 2, warmup_tasks=[])),
        Ask(stream_enter("b", patterned)),
        Ask(stream_beat("a", 2, active=[("0", [0])], standby_tasks=None)),
        Ask(stream_beat("a", 2, rack="")),
        Ask(stream_beat("", 2)),
        Ask(stream_beat("stranger", 2)),
        Ask(stream_beat("stranger", -1)),
        Ask(stream_beat("a", 2)),
        *log_of(),
    ]


@case("N31")
def epochs_of_a_streams_group() -> Steps:
    return [
        *streams_group(3),
        Ask(stream_beat("a", 2)),
        Ask(stream_beat("a", 1)),
        Ask(stream_beat("a", 0)),
        Ask(stream_enter("a")),
        Ask(stream_beat("a", 2, timeout_ms=FAR_MS + 1)),
        Ask(stream_beat("a", 3, rack="r")),
        Ask(stream_beat("a", 4, process="other")),
        Ask(stream_beat("a", 5, tags={"zone": "z", "area": "y"})),
        Ask(stream_beat("a", 6, endpoint=("here", 1234))),
        Ask(stream_beat("a", 7, endpoint=("here", 1234), rack="r", process="other")),
        Ask(stream_beat("a", 7), client_id="renamed"),
        Ask(stream_beat("a", 8), client_id="renamed"),
        Ask(describe_streams()),
        Ask(stream_enter("b")),
        Ask(stream_beat("a", 8)),
        Ask(stream_depart("b")),
        Ask(stream_beat("a", 9)),
        Ask(stream_depart("a")),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N31")
def fencing_in_a_streams_group() -> Steps:
    return [
        *streams_group(4),
        Ask(stream_beat("a", 3)),
        Ask(stream_beat("a", 1)),
        Ask(stream_beat("a", 0)),
        Ask(stream_beat("a", 2, rack="r")),
        Ask(stream_beat("a", 2)),
        Ask(stream_beat("a", 2, active=[("0", [0, 1])])),
        Ask(stream_beat("a", 2, active=[("0", [0, 9])])),
        Ask(stream_beat("a", 2, standby=[("0", [0])])),
        Ask(stream_beat("a", 1, active=[])),
        Ask(stream_enter("b")),
        Ask(stream_beat("b", 3)),
        Ask(stream_beat("a", 3)),
        Ask(stream_beat("a", 3, active=[("0", [0, 1, 2, 3])])),
        Ask(stream_beat("a", 2, active=[("0", [0, 1])])),
        Ask(stream_beat("a", 3, active=[("0", [0, 1])])),
        Ask(stream_beat("a", 3, active=[("0", [0, 1])])),
        Ask(stream_beat("a", 3, active=[("0", [0, 1, 2, 3])])),
        Ask(stream_beat("b", 4)),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N31, N29")
def the_first_assignment_is_delayed() -> Steps:
    return [
        *known_topic("~t", 2),
        streams_config(initial_rebalance_delay_ms="1000"),
        Ask(stream_enter("a")),
        Ask(stream_enter("b")),
        Ask(stream_beat("a", 1)),
        Ask(describe_streams()),
        *log_of(),
        Sleep(1.3),
        Ask(describe_streams()),
        Ask(stream_beat("a", 1)),
        Ask(stream_beat("b", 1)),
        Ask(stream_beat("a", 2)),
        Ask(stream_enter("c")),
        Ask(stream_depart("a")),
        Ask(stream_depart("b")),
        Ask(stream_depart("c")),
        Ask(stream_enter("d")),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N29")
def assignments_have_an_interval() -> Steps:
    return [
        *streams_group(2),
        streams_config(assignment_interval_ms="1500"),
        Ask(stream_enter("b")),
        Ask(stream_beat("a", 2)),
        Ask(stream_beat("a", 2, rack="r")),
        Ask(describe_streams()),
        *log_of(),
        Sleep(1.7),
        Ask(stream_beat("a", 3)),
        Ask(stream_beat("a", 2)),
        Ask(stream_beat("b", 1)),
        Ask(stream_beat("b", 2)),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N29")
def an_application_is_shut_down() -> Steps:
    return [
        *streams_group(2),
        Ask(stream_enter("b")),
        Ask(stream_beat("a", 2, shutdown=True)),
        Ask(stream_beat("b", 3, shutdown=True)),
        Ask(stream_beat("b", 3)),
        Ask(stream_enter("c")),
        Ask(stream_depart("a")),
        Ask(stream_beat("b", 3)),
        Ask(stream_depart("b")),
        Ask(stream_depart("c", shutdown=True)),
        Ask(stream_enter("d")),
        Ask(stream_enter("e")),
        Ask(stream_depart("d", shutdown=True)),
        Ask(stream_beat("e", 8)),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N38")
def configs_of_streams_groups() -> Steps:
    values = {
        "heartbeat_interval_ms": ("4999", "5000", "15000", "15001"),
        "session_timeout_ms": ("44999", "45000", "60000", "60001"),
        "num_standby_replicas": ("-1", "0", "2", "3"),
        "initial_rebalance_delay_ms": ("-1", "0", "100000000", "x"),
        "assignment_interval_ms": ("-1", "0", "15000", "15001"),
        "num_warmup_replicas": ("1",),
        "assignor_offload_enable": ("no", "true", "false"),
        "task_offset_interval_ms": ("1",),
        "acceptable_recovery_lag": ("1",),
    }
    return [streams_config(**{name: value}) for name, each in values.items() for value in each]


@case("N38")
def a_streams_group_s_own_heartbeat_interval() -> Steps:
    return [
        *known_topic(),
        streams_config(heartbeat_interval_ms="6000"),
        Ask(stream_enter()),
        streams_config(heartbeat_interval_ms="7000"),
        Ask(stream_beat("a", 2)),
        Ask(stream_beat("a", LEAVES)),
    ]


@case("N39")
def how_a_streams_group_is_written() -> Steps:
    return [
        *known_topic("~t", 2),
        Ask(stream_enter("a", words(), rack="r", tags={"zone": "z"}, endpoint=("here", 80))),
        *log_of(),
        Sleep(CREATED_S),
        Ask(stream_beat("a", 2)),
        *log_of(),
        Ask(stream_depart("a")),
        *log_of(),
        Sleep(WRITTEN_S),
        delete_groups("~g", "~none"),
        *log_of(),
        Ask(describe_streams()),
        Ask(stream_enter("b", words())),
        *log_of(),
    ]


@case("N39, N35")
def a_streams_group_comes_back_after_a_restart() -> Steps:
    return [
        *known_topic("~t", 2),
        enters("a", words(), endpoint=("here", 80)),
        *rounds("a", times=2),
        enters("b", words(), endpoint=("there", 81), shutdown=True),
        *rounds("a", "b", times=2),
        Ask(describe_streams()),
        Restart(),
        Ask(describe_streams()),
        tells("a"),
        Ask(describe_streams()),
        *rounds("b", "a", times=2),
        Ask(stream_beat("a", seen("epoch a"), known=9)),
        enters("c", words()),
        *rounds("a", "b", "c"),
        *log_of(),
    ]


@case("N39, N7")
def a_streams_group_is_deleted() -> Steps:
    return [
        *streams_group(2, stateful()),
        delete_groups(),
        Ask(stream_enter("b", stateful())),
        Ask(stream_depart("a")),
        delete_groups(),
        Ask(stream_depart("b")),
        Sleep(WRITTEN_S),
        delete_groups("~g", "~g"),
        Sleep(WRITTEN_S),
        delete_groups(),
        Ask(stream_beat("b", 5)),
        *log_of(),
    ]


@case("N29")
def streams_groups_are_listed() -> Steps:
    def listed(states: list[str], types: list[str]) -> Any:
        return Ask(ListGroupsRequest(states_filter=states, types_filter=types))

    return [
        *streams_group(2),
        Ask(stream_enter("a", plain("~none"), group="~missing")),
        Ask(stream_enter("a", group="~left")),
        Ask(stream_depart("a", group="~left")),
        Ask(stream_enter("a", group="~moving")),
        Ask(stream_enter("b", group="~moving")),
        *(Ask(ListGroupsRequest(), version) for version in (3, 4, 5)),
        listed(["not_ready"], []),
        listed(["NotReady"], ["Streams"]),
        listed(["notready"], ["streams"]),
        listed(["Stable", "EMPTY"], ["STREAMS"]),
        listed(["reconciling"], ["streams"]),
        listed([], ["consumer", "classic"]),
        Ask(describe_streams("~g", "~missing", "~left", "~moving")),
    ]


@case("N31")
def a_member_that_is_not_heard_of() -> Steps:
    """Its tasks are released once its rebalance timeout is over."""
    return [
        *known_topic("~t", 2),
        Ask(stream_enter("a", timeout_ms=700)),
        Ask(stream_enter("b")),
        Ask(stream_beat("a", 2)),
        Ask(stream_beat("b", 3)),
        Sleep(1.2),
        Ask(stream_beat("b", 3)),
        Ask(stream_beat("a", 2)),
        Ask(stream_beat("b", 4)),
        Ask(describe_streams()),
        *log_of(),
    ]


@case("N28")
def topologies_that_are_refused() -> Steps:
    two = internal("~r", 2)
    return [
        *known_topic("~t", 2),
        Ask(stream_enter("a", topology(subtopology("0", "~t", changelogs=[internal("~c", 2)])))),
        Ask(stream_enter("a", topology(subtopology("0", "~t"), subtopology("0", "~t")))),
        Ask(stream_enter("a", plain(epoch=-1))),
        Ask(stream_enter("a", topology(subtopology("0", "~t", together=[([1], [])])))),
        Ask(stream_enter("a", topology(subtopology("0", "~t", together=[([0], [0])])))),
        Ask(stream_enter("a", topology(subtopology("0", "~t", together=[([-1], [])])))),
        Ask(stream_enter("a", topology(subtopology("0", reads=[internal("~r")])))),
        Ask(stream_enter("a", topology(subtopology("0", reads=[internal("~r")], writes=["~r"])))),
        Ask(stream_enter("a", topology(subtopology("0", changelogs=[internal("~c")])))),
        Ask(describe_streams()),
        Ask(stream_enter("a", topology(), group="~empty")),
        Ask(stream_enter("a", topology(subtopology("0")), group="~sourceless")),
        Ask(stream_enter("a", topology(subtopology("", "~t")), group="~nameless")),
        Ask(stream_enter("a", topology(subtopology("0", "")), group="~odd")),
        Ask(stream_enter("a", topology(subtopology("0", reads=[two])), group="~alone")),
        Ask(describe_streams("~empty", "~sourceless", "~nameless", "~odd", "~alone")),
        *(
            step
            for name in ("~empty", "~sourceless", "~nameless", "~odd", "~alone", "~g")
            for step in log_of(name)
        ),
    ]


@case("N32")
def topologies_have_epochs() -> Steps:
    other = topology(subtopology("0", "~t"), subtopology("1", "~t"), epoch=3)
    return [
        *known_topic("~t", 2),
        Ask(stream_enter("a", plain(epoch=3))),
        Ask(stream_enter("b", plain(epoch=3))),
        Ask(stream_enter("c", plain(epoch=2))),
        Ask(stream_beat("c", 4)),
        Ask(stream_enter("d", topology(subtopology("9", "~none"), epoch=1))),
        Ask(stream_enter("e", plain(epoch=4))),
        Ask(stream_enter("e", other)),
        Ask(stream_enter("a", plain(epoch=2))),
        Ask(stream_enter("a", plain(epoch=3))),
        Ask(stream_enter("a", plain(epoch=4))),
        Ask(describe_streams()),
        *(Ask(stream_depart(member)) for member in "abcd"),
        Ask(stream_enter("e", plain(epoch=4))),
        Ask(stream_enter("e", plain(epoch=3))),
        *log_of(),
    ]
