"""Section G: consumer groups of KIP-848."""

from __future__ import annotations

from ....wire.api.consumer_group_describe import ConsumerGroupDescribeRequest
from ....wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ....wire.api.create_partitions import CreatePartitionsRequest
from ....wire.api.delete_topics import DeleteTopicsRequest
from ....wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from ....wire.api.list_groups import ListGroupsRequest
from ....wire.api.offset_commit import OffsetCommitRequest
from ....wire.api.offset_fetch import OffsetFetchRequest
from ..asks import beat, commit, create, describe, join, leave, offsets_of, sync
from ..consumer_asks import (
    SETTLED_S,
    classic,
    delete,
    depart,
    enter,
    fetch_as,
    forget,
    looked,
    made,
    subscription,
    tell,
)
from ..steps import Ask, Restart, Sleep, Steps, seen
from . import case

ALL = [("~t", [0, 1, 2, 3])]


def two_members() -> Steps:
    """a and b, both stable in epoch 3 with two partitions each."""
    return [
        *made(),
        Ask(enter("a")),
        Ask(enter("b")),
        Ask(tell("a", 2)),
        Ask(tell("a", 2, owned=[("~t", [0, 1])])),
        Ask(tell("b", 3)),
        Ask(looked()),
    ]


@case("G15", each=ConsumerGroupHeartbeatRequest)
def what_a_first_heartbeat_refuses() -> Steps:
    return [
        *made(),
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
        Ask(tell("a", -3)),
        Ask(tell("a", -2)),
        Ask(tell("", 1)),
        Ask(tell("", -1)),
        Ask(tell("", -2)),
        Ask(tell("", -2, instance="i")),
        Ask(tell("", -3)),
        Ask(tell("a", 1)),
        Ask(tell("a", -1)),
        Ask(tell("a", -2, instance="i")),
        Ask(tell("a", 1, assignor="x")),
        Ask(looked(), 1),
        Ask(enter("a", timeout_ms=-2)),
        Ask(looked(), 1),
    ]


@case("G15")
def a_broker_chooses_ids_in_the_first_version() -> Steps:
    return [
        *made(),
        Ask(enter(""), 0, keep={"m": "member_id"}),
        Ask(tell(seen("m"), 2), 0),
        Ask(enter(""), 1),
        Ask(depart(seen("m")), 0),
    ]


@case("G16")
def epochs_of_a_group() -> Steps:
    return [
        *made(),
        Ask(enter("a", names=[])),
        Ask(looked()),
        Ask(tell("a", 1)),
        Ask(tell("a", 1, names=["~none"])),
        Ask(looked()),
        Ask(tell("a", 2, names=["~none", "~t"])),
        Ask(tell("a", 3, names=["~t", "~none", "~t"])),
        Ask(tell("a", 3, rack="r")),
        Ask(tell("a", 3, timeout_ms=5)),
        Ask(tell("a", 3, assignor="range")),
        Ask(tell("a", 3)),
        Ask(enter("a", "~none", "~t")),
        Ask(looked()),
        Ask(enter("b", names=[], group="~h")),
        Ask(enter("c", names=["~none"], group="~i")),
        Ask(looked("~h", "~i")),
    ]


@case("G16")
def topics_that_change() -> Steps:
    grow = CreatePartitionsRequest(
        topics=[CreatePartitionsRequest.Topic(name="~t", count=3, assignments=None)],
        timeout_ms=9000,
    )
    gone = DeleteTopicsRequest(
        topics=[DeleteTopicsRequest.Topic(name="~t")], topic_names=["~t"], timeout_ms=9000
    )
    return [
        *made("~t", 2),
        Ask(enter("a", "~t", "~u")),
        Ask(tell("a", 2)),
        Ask(grow),
        Sleep(SETTLED_S),
        Ask(tell("a", 2)),
        *made("~other", 1),
        Ask(tell("a", 3)),
        *made("~u", 1),
        Ask(tell("a", 3)),
        Ask(looked()),
        Ask(gone),
        Sleep(0.3),
        Ask(tell("a", 4)),
        Ask(looked()),
        Ask(tell("a", 4, owned=[("~u", [0])])),
        Ask(looked()),
    ]


@case("G17, G25")
def a_target_is_computed_once_an_interval() -> Steps:
    one = IncrementalAlterConfigsRequest.Resource
    change = IncrementalAlterConfigsRequest(
        resources=[
            one(
                resource_type=32,
                resource_name="~g",
                configs=[
                    one.Config(
                        name="consumer.assignment.interval.ms", config_operation=0, value="1200"
                    )
                ],
            )
        ],
        validate_only=False,
    )
    return [
        *made(),
        Ask(change),
        Sleep(0.3),
        Ask(enter("a")),
        Ask(enter("b")),
        Ask(looked()),
        Ask(tell("a", 2)),
        Ask(tell("b", 2)),
        Sleep(1.5),
        Ask(tell("b", 2)),
        Ask(tell("a", 2)),
        Ask(looked()),
    ]


@case("G25")
def a_group_with_times_of_its_own() -> Steps:
    one = IncrementalAlterConfigsRequest.Resource
    change = IncrementalAlterConfigsRequest(
        resources=[
            one(
                resource_type=32,
                resource_name="~g",
                configs=[
                    one.Config(
                        name="consumer.heartbeat.interval.ms", config_operation=0, value="7000"
                    )
                ],
            )
        ],
        validate_only=False,
    )
    return [*made(), Ask(change), Sleep(0.3), Ask(enter("a")), Ask(tell("a", 2))]


@case("G18")
def partitions_are_handed_over() -> Steps:
    return [
        *made(),
        Ask(enter("p")),
        Ask(tell("p", 2, owned=ALL)),
        Ask(enter("q")),
        Ask(looked()),
        Ask(tell("p", 2)),
        Ask(looked(), 0),
        Ask(tell("p", 2)),
        Ask(tell("p", 2, owned=ALL)),
        Ask(tell("q", 3)),
        Ask(tell("p", 2, owned=[("~t", [0, 1])])),
        Ask(looked()),
        Ask(tell("p", 3)),
        Ask(tell("q", 3)),
        Ask(looked()),
    ]


@case("G18")
def a_slow_member_is_taken_out() -> Steps:
    return [
        *made(),
        Ask(enter("p", timeout_ms=600)),
        Ask(enter("q")),
        Ask(tell("p", 2)),
        Sleep(0.3),
        Ask(looked()),
        Sleep(0.7),
        Ask(looked()),
        Ask(tell("p", 2, owned=[("~t", [0, 1])])),
        Ask(tell("q", 3)),
        Ask(looked()),
    ]


@case("G19")
def what_is_answered() -> Steps:
    return [
        *made(),
        Ask(enter("a")),
        Ask(tell("a", 2)),
        Ask(tell("a", 2, timeout_ms=60_000, names=["~t"], owned=ALL)),
        Ask(tell("a", 2, timeout_ms=60_000, names=["~t"])),
        Ask(tell("a", 2, timeout_ms=60_000, regex="", owned=ALL)),
        Ask(tell("a", 2, owned=[("~t", [7, 8])])),
        Ask(tell("a", 2, owned=[])),
        Ask(tell("a", 2, names=[])),
        Ask(tell("a", 3, owned=[])),
        Ask(looked()),
        Ask(tell("a", 3)),
        Ask(tell("a", 3, names=["~t"])),
        Ask(tell("a", 3, names=["~t"], owned=[])),
        Ask(looked()),
    ]


@case("G20")
def epochs_that_are_fenced() -> Steps:
    return [
        *two_members(),
        Ask(tell("a", 4)),
        Ask(tell("a", 2)),
        Ask(tell("a", 2, owned=[("~t", [0, 1])])),
        Ask(tell("a", 2, owned=[("~t", [0])])),
        Ask(tell("a", 2, owned=[])),
        Ask(tell("a", 2, owned=[("~t", [2])])),
        Ask(tell("a", 2, owned=[("~none", [])])),
        Ask(tell("a", 1, owned=[])),
        Ask(tell("stranger", 3)),
        Ask(tell("a", 3)),
        Ask(looked()),
    ]


@case("G21")
def members_leave() -> Steps:
    return [
        *two_members(),
        Ask(depart("stranger")),
        Ask(depart("b", instance="i")),
        Ask(depart("b")),
        Ask(looked()),
        Ask(tell("b", 3)),
        Ask(tell("a", 3)),
        Ask(looked()),
        Ask(depart("a", owned=[])),
        Ask(looked()),
        Ask(enter("c")),
        Ask(looked()),
    ]


@case("G21")
def a_static_member_comes_back() -> Steps:
    return [
        *made(),
        Ask(enter("a", instance="i")),
        Ask(tell("a", 2, instance="i")),
        Ask(tell("a", 2)),
        Ask(enter("b", instance="i")),
        Ask(tell("b", 2, instance="i")),
        Ask(tell("a", 2, instance="j")),
        Ask(depart("b", -2, instance="i")),
        Ask(depart("a", -2, instance="j")),
        Ask(depart("a", -2, instance="i")),
        Ask(looked()),
        Ask(tell("a", 2, instance="i")),
        Ask(enter("b", instance="i")),
        Ask(looked()),
        Ask(tell("a", 2, instance="i")),
        Ask(tell("b", 2, instance="i")),
        Ask(depart("b", -2, instance="i")),
        Ask(enter("b", instance="i")),
        Ask(depart("b", -2, instance="i")),
        Ask(enter("c", "~t", "~none", instance="i")),
        Ask(looked()),
        Ask(depart("c", -1, instance="i")),
        Ask(looked()),
    ]


@case("G21")
def a_static_member_is_away_while_others_rebalance() -> Steps:
    return [
        *made(),
        Ask(enter("a", instance="i")),
        Ask(enter("b", instance="j")),
        Ask(tell("a", 2, instance="i")),
        Ask(depart("a", -2, instance="i")),
        Ask(looked()),
        Ask(tell("b", 3, instance="j")),
        Ask(enter("c", instance="i")),
        Ask(tell("b", 3, instance="j")),
        Ask(tell("c", 3, instance="i")),
        Ask(looked()),
        Ask(depart("b", instance="j")),
        Ask(tell("c", 3, instance="i")),
        Ask(looked()),
    ]


@case("G21")
def an_administrator_removes_members() -> Steps:
    return [
        *made(),
        Ask(enter("a")),
        Ask(enter("b", instance="i")),
        Ask(enter("c")),
        Ask(leave(("x", None), ("", None), ("", "j"), ("x", "i"))),
        Ask(leave(("", "i"), ("", "i"), ("b", "i"))),
        Ask(looked()),
        Ask(leave(("a", None), ("c", None), ("a", None))),
        Ask(looked()),
        Ask(leave(("a", None)), 2),
    ]


@case("G22")
def uniform_is_sticky() -> Steps:
    six = [("~t", [0, 1, 2])]
    return [
        *made("~t", 6),
        Ask(enter("a")),
        Ask(enter("b")),
        Ask(tell("a", 2)),
        Ask(tell("a", 2, owned=six)),
        Ask(tell("b", 3)),
        Ask(enter("c")),
        Ask(tell("a", 3)),
        Ask(tell("b", 3)),
        Ask(looked()),
        Ask(tell("a", 3, owned=[("~t", [0, 1])])),
        Ask(tell("b", 3, owned=[("~t", [3, 4])])),
        Ask(tell("c", 4)),
        Ask(looked()),
        Ask(depart("b")),
        Ask(tell("c", 4)),
        Ask(tell("a", 4)),
        Ask(looked()),
    ]


@case("G22")
def which_assignor_is_used() -> Steps:
    steps: Steps = [*made("~t", 5), *made("~u", 4)]
    votes = [["range"], ["range", "uniform"], ["uniform", None], [None, "range"], ["range"] * 2]
    for number, names in enumerate(votes):
        group = f"~g{number}"
        for member, name in zip("abc", names, strict=False):
            steps.append(Ask(enter(member, "~t", "~u", assignor=name, group=group)))
        steps.append(Ask(looked(group)))
    return steps


@case("G22")
def range_with_many_members() -> Steps:
    steps: Steps = [*made("~t", 5), *made("~u", 5), *made("~v", 2)]
    topics = {"a": ["~t", "~u"], "b": ["~u"], "c": ["~t", "~v", "~u"], "d": ["~v", "~none"]}
    for member, names in topics.items():
        instance = "z" if member == "c" else None
        steps.append(Ask(enter(member, *names, assignor="range", instance=instance)))
        steps.append(Ask(looked()))
    return steps


@case("G22")
def members_with_different_topics() -> Steps:
    steps: Steps = [*made("~t", 7), *made("~u", 3), *made("~v", 1)]
    topics = {"a": ["~t"], "b": ["~t", "~u"], "c": ["~u", "~v"], "d": ["~t", "~u", "~v"], "e": []}
    for member, names in topics.items():
        steps += [Ask(enter(member, names=names)), Ask(looked())]
    return [*steps, Ask(depart("b")), Ask(tell("a", 2)), Ask(looked())]


@case("G23")
def a_regular_expression() -> Steps:
    return [
        *made("~t1", 2),
        *made("~t2", 1),
        *made("~x", 1),
        Ask(enter("a", names=None, regex="~t.*")),
        Sleep(SETTLED_S),
        Ask(looked()),
        Ask(tell("a", 1)),
        Ask(looked()),
        Ask(enter("b", names=["~x"], regex="~t.*")),
        Ask(looked()),
        Ask(tell("a", 2)),
        Ask(tell("b", 3, regex="")),
        Ask(looked()),
        Ask(tell("b", 4, regex="~none.*")),
        Sleep(SETTLED_S),
        Ask(looked()),
        Ask(tell("a", 2, names=["~x"])),
        Ask(looked()),
    ]


@case("G23")
def expressions_that_are_refused() -> Steps:
    wrong = ["(?=a)", "(a)\\1", "a**", "[", "(", "a{1001}", "(?P<n", "\\", ")", "[b-a]", "*"]
    wrong += ["a++", "(?<!a)", "\\pX", "\\8", "x{2}{3}", "(?i", "[[:foo:]]", "(?P<n>a)(?P<n>b)"]
    right = ["(?i)~T1", "[[:alpha:]]+", "\\Qa.b\\E", "a{2,3}?", "\\p{Lu}", "(?:x|y)$", "a{,2}"]
    return [
        *made("~t1", 1),
        *(Ask(enter("a", names=None, regex=text, group="~g")) for text in wrong),
        Ask(looked()),
        *(Ask(enter("a", names=None, regex=t, group=f"~r{n}")) for n, t in enumerate(right)),
    ]


@case("G23")
def a_new_topic_that_matches() -> Steps:
    return [
        *made("~t1", 1),
        Ask(enter("a", names=None, regex="~t.*")),
        Sleep(SETTLED_S),
        Ask(tell("a", 1)),
        *made("~t2", 1),
        Ask(tell("a", 2)),
        Sleep(SETTLED_S),
        Ask(tell("a", 2)),
        Sleep(10.2),
        Ask(tell("a", 2)),
        Sleep(SETTLED_S),
        Ask(tell("a", 2)),
        Ask(looked()),
    ]


@case("G24", each=OffsetCommitRequest)
def commits_of_members() -> Steps:
    one = ("~t", 0, 5)
    return [
        *two_members(),
        Ask(commit(one, member="a", generation=3)),
        Ask(commit(one, member="a", generation=4)),
        Ask(commit(one, member="a", generation=2)),
        Ask(commit(one, member="a", generation=1)),
        Ask(commit(("~t", 0, 1), ("~t", 3, 1), member="a", generation=2)),
        Ask(commit(("~t", 3, 1), member="a", generation=3)),
        Ask(commit(("~t", 3, 1), member="b", generation=2)),
        Ask(commit(one, member="x", generation=3)),
        Ask(commit(one)),
        Ask(commit(one, member="a")),
        Ask(commit(one, generation=3)),
        Ask(commit(one, member="a", generation=3, group_instance_id="i")),
        Ask(offsets_of(), 8),
        Ask(depart("a")),
        Ask(depart("b")),
        Ask(commit(one, member="a", generation=3)),
        Ask(commit(one, member="a")),
        Ask(commit(one)),
        Ask(offsets_of(), 8),
    ]


@case("G24")
def a_partition_that_is_being_revoked_may_be_committed() -> Steps:
    return [
        *made(),
        Ask(enter("a")),
        Ask(enter("b")),
        Ask(tell("a", 2)),
        Ask(commit(("~t", 3, 5), member="a", generation=2)),
        Ask(tell("a", 2, owned=[("~t", [0, 1])])),
        Ask(commit(("~t", 3, 6), member="a", generation=2)),
        Ask(commit(("~t", 0, 7), member="a", generation=2)),
        Ask(offsets_of(), 8),
    ]


@case("G24", each=OffsetFetchRequest)
def fetches_of_members() -> Steps:
    return [
        *two_members(),
        Ask(commit(("~t", 0, 5), member="a", generation=3)),
        *(
            Ask(fetch_as(member, epoch))
            for member, epoch in (
                ("a", 3),
                ("a", 2),
                ("a", 4),
                ("a", -1),
                (None, -1),
                (None, 3),
                ("", -1),
                ("x", 3),
            )
        ),
        Ask(fetch_as("a", 3, group="~none")),
        Ask(offsets_of()),
    ]


@case("G28", each=ConsumerGroupDescribeRequest)
def offsets_and_groups_are_deleted() -> Steps:
    return [
        *made("~t", 2),
        *made("~u", 1),
        forget(("~t", [0])),
        Ask(enter("a")),
        Ask(commit(("~t", 0, 1), ("~u", 0, 1), member="a", generation=2), 9),
        forget(("~t", [0, 1, 7]), ("~u", [0, 1]), ("~none", [0])),
        forget(("~t", [0]), group=""),
        delete(),
        delete("~none", "", "~g", "~g"),
        Ask(looked("~g", "~none", "", "~g", include_authorized_operations=True)),
        Ask(depart("a")),
        forget(("~t", [0, 1])),
        Ask(offsets_of(), 8),
        delete(),
        Ask(looked()),
        Ask(offsets_of(), 8),
        Ask(enter("a")),
    ]


@case("G28")
def offsets_of_classic_groups_are_deleted() -> Steps:
    return [
        *made("~t", 2),
        *made("~u", 1),
        Ask(join(protocols=classic()), 3, keep={"m": "member_id"}),
        forget(("~t", [0]), ("~u", [0])),
        Ask(sync(seen("m"), assignments=[(seen("m"), b"")]), 3),
        Ask(commit(("~t", 0, 1), ("~u", 0, 1), member=seen("m"), generation=1), 8),
        forget(("~t", [0, 1, 2]), ("~u", [0])),
        delete(),
        Ask(join(kind="connect", group="~h"), 3),
        forget(("~t", [0]), group="~h"),
        Ask(join(group="~junk"), 3, keep={"n": "member_id"}),
        Ask(sync(seen("n"), group="~junk", assignments=[(seen("n"), b"")]), 3),
        forget(("~t", [0, 1]), group="~junk"),
        Ask(leave((seen("m"), None)), 3),
        forget(("~t", [0]), ("~t", [1])),
        delete(),
        Ask(describe(), 6),
        Ask(commit(("~t", 0, 1), group="~simple"), 8),
        forget(("~t", [0]), group="~simple"),
        delete("~simple"),
    ]


@case("G13, G26")
def classic_requests_about_a_consumer_group() -> Steps:
    return [
        *made(),
        Ask(enter("a")),
        Ask(describe(), 5),
        Ask(describe(), 6),
        Ask(beat("a", 2)),
        Ask(sync("a", 2)),
        Ask(join("a", protocols=classic()), 5),
        Ask(ListGroupsRequest(states_filter=[], types_filter=[])),
        Ask(ListGroupsRequest(states_filter=["stable"], types_filter=["CONSUMER"])),
        Ask(ListGroupsRequest(states_filter=["Assigning"], types_filter=["consumer"])),
        Ask(ListGroupsRequest(states_filter=[], types_filter=["classic"])),
        Ask(ListGroupsRequest(states_filter=[], types_filter=[]), 4),
    ]


@case("G26")
def a_classic_member_joins_a_consumer_group() -> Steps:
    m = seen("m")
    return [
        *made(),
        Ask(enter("a")),
        Ask(join(kind="connect"), 5),
        Ask(join(), 3),
        Ask(join(protocols=()), 3),
        Ask(join(protocols=classic()), 5, keep={"m": "member_id"}),
        Ask(join(m, protocols=classic()), 5),
        Ask(looked()),
        Ask(sync(m, 3)),
        Ask(beat(m, 3)),
        Ask(tell("a", 2)),
        Ask(tell("a", 2, owned=[("~t", [0, 1])])),
        Ask(looked()),
        Ask(beat(m, 3)),
        Ask(beat(m, 2)),
        Ask(join(m, protocols=classic()), 9),
        Ask(sync(m, 3, protocol="other")),
        Ask(sync(m, 3, kind="connect")),
        Ask(sync(m, 2)),
        Ask(sync(m, 3)),
        Ask(beat(m, 3)),
        Ask(commit(("~t", 2, 5), member=m, generation=3), 2),
        Ask(commit(("~t", 2, 6), member=m, generation=3), 9),
        Ask(commit(("~t", 2, 7), member=m, generation=2), 8),
        Ask(commit(("~t", 2, 7), member=m, generation=4), 9),
        Ask(fetch_as(m, 3), 9),
        Ask(fetch_as(m, 2), 9),
        Ask(join(protocols=classic(protocol="sticky")), 3),
        Ask(join(protocols=(*classic(protocol="sticky"), *classic())), 3),
        Ask(looked()),
        Ask(beat(m, 3)),
        Ask(leave((m, None))),
        Ask(looked()),
    ]


@case("G26")
def a_static_classic_member() -> Steps:
    return [
        *made(),
        Ask(enter("a")),
        Ask(join(protocols=classic(), instance="i"), 7, keep={"m": "member_id"}),
        Ask(sync(seen("m"), 3, instance="i")),
        Ask(beat(seen("m"), 3, instance="i")),
        Ask(beat("x", 3, instance="i")),
        Ask(beat(seen("m"), 3, instance="j")),
        Ask(join("x", protocols=classic(), instance="i"), 7),
        Ask(join("x", protocols=classic(), instance="j"), 7),
        Ask(join(protocols=classic(), instance="i"), 7, keep={"n": "member_id"}),
        Ask(looked()),
        Ask(enter("b", instance="i")),
        Ask(looked()),
        Ask(join(protocols=classic(), instance="i"), 7),
        Ask(looked()),
    ]


@case("G26")
def a_classic_group_is_converted() -> Steps:
    m = seen("m")
    return [
        *made(),
        Ask(join(protocols=classic()), 3, keep={"m": "member_id"}),
        Ask(sync(m, assignments=[(m, b"\0\0\0\0\0\0\0\0\0\0")]), 3),
        Ask(commit(("~t", 0, 5), member=m, generation=1), 8),
        Ask(enter("a")),
        Ask(looked()),
        Ask(describe(), 6),
        Ask(beat(m, 1)),
        Ask(join(m, protocols=classic()), 3),
        Ask(sync(m, 2)),
        Ask(tell("a", 2)),
        Ask(looked()),
        Ask(offsets_of(), 8),
        Ask(depart("a")),
        Ask(describe(), 6),
        Ask(looked()),
        Ask(beat(m, 2)),
        Ask(join(m, protocols=classic()), 3),
        Ask(describe(), 6),
        Ask(sync(m, 3, assignments=[(m, b"")]), 3),
        Ask(describe(), 6),
    ]


@case("G26")
def what_cannot_be_converted() -> Steps:
    return [
        *made(),
        Ask(join(), 3, keep={"m": "member_id"}),
        Ask(enter("a")),
        Ask(sync(seen("m"), assignments=[(seen("m"), b"junk")]), 3),
        Ask(enter("a")),
        Ask(join(group="~h", kind="connect"), 3),
        Ask(enter("a", group="~h")),
        Ask(tell("a", 1)),
        Ask(depart("a")),
        Ask(join(group="~u", protocols=classic()), 3, keep={"n": "member_id"}),
        Ask(
            sync(
                seen("n"),
                group="~u",
                assignments=[(seen("n"), b"\0\0\0\0\0\0\0\0\0\1x")],
            ),
            3,
        ),
        Ask(enter("a", group="~u")),
        Ask(looked()),
    ]


@case("G26")
def empty_groups_change_their_type() -> Steps:
    return [
        *made(),
        Ask(commit(("~t", 0, 5)), 8),
        Ask(enter("a")),
        Ask(offsets_of(), 8),
        Ask(depart("a")),
        Ask(join(protocols=classic()), 3, keep={"m": "member_id"}),
        Ask(describe(), 6),
        Ask(offsets_of(), 8),
        Ask(leave((seen("m"), None))),
        Ask(enter("a")),
        Ask(looked()),
        Ask(offsets_of(), 8),
    ]


@case("G26")
def metadata_that_is_none() -> Steps:
    v0 = subscription(("~t",), version=0)
    return [
        *made(),
        Ask(enter("a")),
        Ask(join(protocols=(("range", b""),)), 3),
        Ask(join(protocols=(("range", b"\0\0"),)), 3),
        Ask(join(protocols=(("range", b"\0\1\0\0\0\0\xff\xff\xff\xff"),)), 3),
        Ask(join(protocols=(("anything", v0),)), 3, keep={"m": "member_id"}),  # type: ignore[arg-type]
        Ask(sync(seen("m"), 3, protocol="anything")),
        Ask(looked()),
    ]


@case("F7")
def members_survive_a_restart() -> Steps:
    return [
        *two_members(),
        Ask(enter("c", instance="i", rack="r", assignor="range")),
        Ask(enter("d", names=None, regex="~t.*", group="~h")),
        Sleep(SETTLED_S),
        Ask(commit(("~t", 0, 5), member="a", generation=3), 9),
        Restart(),
        Ask(looked("~g", "~h")),
        Ask(tell("a", 3)),
        Ask(tell("b", 3)),
        Ask(tell("d", 1, group="~h")),
        Ask(offsets_of(), 8),
        Ask(looked("~g", "~h")),
    ]


@case("L")
def the_group_of_a_topic_that_does_not_exist() -> Steps:
    return [Ask(enter("a", "~none")), Ask(looked()), create("~none"), Sleep(0.1), Ask(tell("a", 2))]
