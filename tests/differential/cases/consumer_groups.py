"""Section G: consumer groups of KIP-848, their members and assignments."""

from __future__ import annotations

from odradek.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest

from tests.requests.configs import change_request

from ..ask.consumer_groups import (
    SETTLED_S,
    depart,
    describe_consumers,
    enter,
    heartbeat,
    known_topic,
    two_members,
)
from ..ask.groups import leave
from ..engine.steps import Ask, Sleep, Steps, seen
from . import case

ALL = [("~t", [0, 1, 2, 3])]


@case("G15", each=ConsumerGroupHeartbeatRequest)
def what_a_first_heartbeat_refuses() -> Steps:
    return [
        *known_topic(),
        Ask(enter("a", timeout_ms=-1)),
        Ask(enter("a", owned=None)),
        Ask(enter("a", owned=[("~t", [0])])),
        Ask(enter("a", names=None)),
        Ask(enter("a", names=None, regex=None)),
        Ask(enter("a", instance="")),
        Ask(enter("a", instance=" ")),
        Ask(enter("a", rack="")),
        Ask(enter("a", group="")),
        Ask(enter("", group="")),
        Ask(enter("a", assignor="sticky")),
        Ask(enter("a", assignor="")),
        Ask(enter("a", timeout_ms=-1, assignor="sticky")),
        Ask(heartbeat("a", -3)),
        Ask(heartbeat("a", -2)),
        Ask(heartbeat("", 1)),
        Ask(heartbeat("", -1)),
        Ask(heartbeat("", -2)),
        Ask(heartbeat("", -2, instance="i")),
        Ask(heartbeat("", -3)),
        Ask(heartbeat("a", 1)),
        Ask(heartbeat("a", -1)),
        Ask(heartbeat("a", -2, instance="i")),
        Ask(heartbeat("a", 1, assignor="x")),
        Ask(describe_consumers(), 1),
        Ask(enter("a", timeout_ms=-2)),
        Ask(describe_consumers(), 1),
    ]


@case("G15")
def a_broker_chooses_ids_in_the_first_version() -> Steps:
    return [
        *known_topic(),
        Ask(enter(""), 0, keep={"m": "member_id"}),
        Ask(heartbeat(seen("m"), 2), 0),
        Ask(enter(""), 1),
        Ask(depart(seen("m")), 0),
    ]


@case("G16")
def epochs_of_a_group() -> Steps:
    return [
        *known_topic(),
        Ask(enter("a", names=[])),
        Ask(describe_consumers()),
        Ask(heartbeat("a", 1)),
        Ask(heartbeat("a", 1, names=["~none"])),
        Ask(describe_consumers()),
        Ask(heartbeat("a", 2, names=["~none", "~t"])),
        Ask(heartbeat("a", 3, names=["~t", "~none", "~t"])),
        Ask(heartbeat("a", 3, rack="r")),
        Ask(heartbeat("a", 3, timeout_ms=5)),
        Ask(heartbeat("a", 3, assignor="range")),
        Ask(heartbeat("a", 3)),
        Ask(enter("a", "~none", "~t")),
        Ask(describe_consumers()),
        Ask(enter("b", names=[], group="~h")),
        Ask(enter("c", names=["~none"], group="~i")),
        Ask(describe_consumers("~h", "~i")),
    ]


@case("G16")
def topics_that_change() -> Steps:
    grow = CreatePartitionsRequest(
        topics=[CreatePartitionsRequest.Topic(name="~t", count=3, assignments=None)],
        timeout_ms=9000,
        validate_only=False,
    )
    gone = DeleteTopicsRequest(
        topics=[DeleteTopicsRequest.Topic(name="~t", topic_id=bytes(16))],
        topic_names=["~t"],
        timeout_ms=9000,
    )
    return [
        *known_topic("~t", 2),
        Ask(enter("a", "~t", "~u")),
        Ask(heartbeat("a", 2)),
        Ask(grow),
        Sleep(SETTLED_S),
        Ask(heartbeat("a", 2)),
        *known_topic("~other", 1),
        Ask(heartbeat("a", 3)),
        *known_topic("~u", 1),
        Ask(heartbeat("a", 3)),
        Ask(describe_consumers()),
        Ask(gone),
        Sleep(0.3),
        Ask(heartbeat("a", 4)),
        Ask(describe_consumers()),
        Ask(heartbeat("a", 4, owned=[("~u", [0])])),
        Ask(describe_consumers()),
    ]


@case("G17, G25")
def a_target_is_computed_once_an_interval() -> Steps:
    return [
        *known_topic(),
        Ask(set_for_group("consumer.assignment.interval.ms", "1200")),
        Sleep(0.3),
        Ask(enter("a")),
        Ask(enter("b")),
        Ask(describe_consumers()),
        Ask(heartbeat("a", 2)),
        Ask(heartbeat("b", 2)),
        Sleep(1.5),
        Ask(heartbeat("b", 2)),
        Ask(heartbeat("a", 2)),
        Ask(describe_consumers()),
    ]


@case("G25")
def a_group_with_times_of_its_own() -> Steps:
    change = set_for_group("consumer.heartbeat.interval.ms", "7000")
    return [*known_topic(), Ask(change), Sleep(0.3), Ask(enter("a")), Ask(heartbeat("a", 2))]


def set_for_group(name: str, value: str) -> IncrementalAlterConfigsRequest:
    return change_request((32, "~g", [(name, 0, value)]))


@case("G18")
def partitions_are_handed_over() -> Steps:
    return [
        *known_topic(),
        Ask(enter("p")),
        Ask(heartbeat("p", 2, owned=ALL)),
        Ask(enter("q")),
        Ask(describe_consumers()),
        Ask(heartbeat("p", 2)),
        Ask(describe_consumers(), 0),
        Ask(heartbeat("p", 2)),
        Ask(heartbeat("p", 2, owned=ALL)),
        Ask(heartbeat("q", 3)),
        Ask(heartbeat("p", 2, owned=[("~t", [0, 1])])),
        Ask(describe_consumers()),
        Ask(heartbeat("p", 3)),
        Ask(heartbeat("q", 3)),
        Ask(describe_consumers()),
    ]


@case("G18")
def a_slow_member_is_fenced() -> Steps:
    return [
        *known_topic(),
        Ask(enter("p", timeout_ms=600)),
        Ask(enter("q")),
        Ask(heartbeat("p", 2)),
        Sleep(0.3),
        Ask(describe_consumers()),
        Sleep(0.7),
        Ask(describe_consumers()),
        Ask(heartbeat("p", 2, owned=[("~t", [0, 1])])),
        Ask(heartbeat("q", 3)),
        Ask(describe_consumers()),
    ]


@case("G19")
def what_is_answered() -> Steps:
    return [
        *known_topic(),
        Ask(enter("a")),
        Ask(heartbeat("a", 2)),
        Ask(heartbeat("a", 2, timeout_ms=60_000, names=["~t"], owned=ALL)),
        Ask(heartbeat("a", 2, timeout_ms=60_000, names=["~t"])),
        Ask(heartbeat("a", 2, timeout_ms=60_000, regex="", owned=ALL)),
        Ask(heartbeat("a", 2, owned=[("~t", [7, 8])])),
        Ask(heartbeat("a", 2, owned=[])),
        Ask(heartbeat("a", 2, names=[])),
        Ask(heartbeat("a", 3, owned=[])),
        Ask(describe_consumers()),
        Ask(heartbeat("a", 3)),
        Ask(heartbeat("a", 3, names=["~t"])),
        Ask(heartbeat("a", 3, names=["~t"], owned=[])),
        Ask(describe_consumers()),
    ]


@case("G20")
def epochs_that_are_fenced() -> Steps:
    return [
        *two_members(),
        Ask(heartbeat("a", 4)),
        Ask(heartbeat("a", 2)),
        Ask(heartbeat("a", 2, owned=[("~t", [0, 1])])),
        Ask(heartbeat("a", 2, owned=[("~t", [0])])),
        Ask(heartbeat("a", 2, owned=[])),
        Ask(heartbeat("a", 2, owned=[("~t", [2])])),
        Ask(heartbeat("a", 2, owned=[("~none", [])])),
        Ask(heartbeat("a", 1, owned=[])),
        Ask(heartbeat("stranger", 3)),
        Ask(heartbeat("a", 3)),
        Ask(describe_consumers()),
    ]


@case("G21")
def members_leave() -> Steps:
    return [
        *two_members(),
        Ask(depart("stranger")),
        Ask(depart("b", instance="i")),
        Ask(depart("b")),
        Ask(describe_consumers()),
        Ask(heartbeat("b", 3)),
        Ask(heartbeat("a", 3)),
        Ask(describe_consumers()),
        Ask(depart("a", owned=[])),
        Ask(describe_consumers()),
        Ask(enter("c")),
        Ask(describe_consumers()),
    ]


@case("G21")
def a_static_consumer_comes_back() -> Steps:
    return [
        *known_topic(),
        Ask(enter("a", instance="i")),
        Ask(heartbeat("a", 2, instance="i")),
        Ask(heartbeat("a", 2)),
        Ask(enter("b", instance="i")),
        Ask(heartbeat("b", 2, instance="i")),
        Ask(heartbeat("a", 2, instance="j")),
        Ask(depart("b", -2, instance="i")),
        Ask(depart("a", -2, instance="j")),
        Ask(depart("a", -2, instance="i")),
        Ask(describe_consumers()),
        Ask(heartbeat("a", 2, instance="i")),
        Ask(enter("b", instance="i")),
        Ask(describe_consumers()),
        Ask(heartbeat("a", 2, instance="i")),
        Ask(heartbeat("b", 2, instance="i")),
        Ask(depart("b", -2, instance="i")),
        Ask(enter("b", instance="i")),
        Ask(depart("b", -2, instance="i")),
        Ask(enter("c", "~t", "~none", instance="i")),
        Ask(describe_consumers()),
        Ask(depart("c", -1, instance="i")),
        Ask(describe_consumers()),
    ]


@case("G21")
def a_static_member_is_away_while_others_rebalance() -> Steps:
    return [
        *known_topic(),
        Ask(enter("a", instance="i")),
        Ask(enter("b", instance="j")),
        Ask(heartbeat("a", 2, instance="i")),
        Ask(depart("a", -2, instance="i")),
        Ask(describe_consumers()),
        Ask(heartbeat("b", 3, instance="j")),
        Ask(enter("c", instance="i")),
        Ask(heartbeat("b", 3, instance="j")),
        Ask(heartbeat("c", 3, instance="i")),
        Ask(describe_consumers()),
        Ask(depart("b", instance="j")),
        Ask(heartbeat("c", 3, instance="i")),
        Ask(describe_consumers()),
    ]


@case("G21")
def an_administrator_removes_members() -> Steps:
    return [
        *known_topic(),
        Ask(enter("a")),
        Ask(enter("b", instance="i")),
        Ask(enter("c")),
        Ask(leave(("x", None), ("", None), ("", "j"), ("x", "i"))),
        Ask(leave(("", "i"), ("", "i"), ("b", "i"))),
        Ask(describe_consumers()),
        Ask(leave(("a", None), ("c", None), ("a", None))),
        Ask(describe_consumers()),
        Ask(leave(("a", None)), 2),
    ]


@case("G22")
def uniform_is_sticky() -> Steps:
    six = [("~t", [0, 1, 2])]
    return [
        *known_topic("~t", 6),
        Ask(enter("a")),
        Ask(enter("b")),
        Ask(heartbeat("a", 2)),
        Ask(heartbeat("a", 2, owned=six)),
        Ask(heartbeat("b", 3)),
        Ask(enter("c")),
        Ask(heartbeat("a", 3)),
        Ask(heartbeat("b", 3)),
        Ask(describe_consumers()),
        Ask(heartbeat("a", 3, owned=[("~t", [0, 1])])),
        Ask(heartbeat("b", 3, owned=[("~t", [3, 4])])),
        Ask(heartbeat("c", 4)),
        Ask(describe_consumers()),
        Ask(depart("b")),
        Ask(heartbeat("c", 4)),
        Ask(heartbeat("a", 4)),
        Ask(describe_consumers()),
    ]


@case("G22")
def which_assignor_is_used() -> Steps:
    steps: Steps = [*known_topic("~t", 5)]
    votes: list[list[str | None]] = [
        ["range"],
        ["range", "uniform"],
        ["uniform", None],
        [None, "range"],
        ["range"] * 2,
    ]
    for number, names in enumerate(votes):
        group = f"~g{number}"
        for member, name in zip("abc", names, strict=False):
            steps.append(Ask(enter(member, assignor=name, group=group)))
        steps.append(Ask(describe_consumers(group)))
    return steps


@case("G22")
def range_with_many_members() -> Steps:
    steps: Steps = [*known_topic("~t", 5), *known_topic("~u", 5), *known_topic("~v", 2)]
    topics = {"a": ["~t", "~u"], "b": ["~u"], "c": ["~t", "~v", "~u"], "d": ["~v", "~none"]}
    for member, names in topics.items():
        instance = "z" if member == "c" else None
        steps.append(Ask(enter(member, *names, assignor="range", instance=instance)))
        steps.append(Ask(describe_consumers()))
    return steps


@case("G22")
def members_with_different_topics() -> Steps:
    steps: Steps = [*known_topic("~t", 7), *known_topic("~u", 3), *known_topic("~v", 1)]
    topics = {"a": ["~t"], "b": ["~t", "~u"], "c": ["~u", "~v"], "d": ["~t", "~u", "~v"], "e": []}
    for member, names in topics.items():
        steps += [Ask(enter(member, names=names)), Ask(describe_consumers())]
    return [*steps, Ask(depart("b")), Ask(heartbeat("a", 2)), Ask(describe_consumers())]
