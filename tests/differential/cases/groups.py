"""Section G: classic groups."""

from __future__ import annotations

from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.leave_group import LeaveGroupRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.sync_group import SyncGroupRequest

from ..ask.groups import beat, commit, describe, join, leave, offsets_of, stable_group, sync
from ..ask.topics import create
from ..engine.steps import Ask, Send, Sleep, Steps, asks, seen
from . import case

M, N = seen("m"), seen("n")
TWO = (("range", b"r"), ("sticky", b"s"))


def second_joins() -> Steps:
    """A second member joins, the first joins again, both sync: generation 2."""
    return [
        Send(join(), 3, on="n", keep={"n": "member_id"}),
        Sleep(0.02),
        Ask(beat(M)),
        Ask(join(M), 3),
        Sleep(0.02),
        Send(sync(N, 2), 3, on="n"),
        Ask(sync(M, 2, assignments=[(M, b"one"), (N, b"two")]), 3),
        Sleep(0.02),
    ]


@case("G2", each=JoinGroupRequest)
def what_joining_refuses() -> Steps:
    return [
        Ask(join(group="")),
        Ask(join(session_ms=5999)),
        Ask(join(session_ms=1_800_001)),
        Ask(join("stranger", session_ms=1)),
        Ask(join("stranger")),
        Ask(join(protocols=())),
        Ask(join(kind="")),
        Ask(join("stranger", group="~other")),
        Ask(join("stranger", instance="i")),
        Ask(describe("~g", "~other"), 5),
    ]


@case("G2")
def protocols_that_do_not_fit() -> Steps:
    return [
        *stable_group(),
        Ask(join(kind="connect"), 3),
        Ask(join(protocols=(("sticky", b""),)), 3),
        Ask(join(M, kind="connect"), 3),
        Ask(join(M, protocols=(("sticky", b""),)), 3),
        Ask(describe(), 5),
    ]


@case("G2, G14")
def an_empty_group_takes_any_type() -> Steps:
    return [
        *stable_group(),
        Ask(leave((M, None)), 4),
        Ask(describe(), 6),
        Ask(join(kind="connect", protocols=(("p", b"1"),)), 3, keep={"m": "member_id"}),
        Ask(sync(M, 3, kind="connect", protocol="p"), 5),
        Ask(describe(), 6),
    ]


@case("G3", each=JoinGroupRequest)
def a_member_id_is_given_first() -> Steps:
    return [
        Ask(join(), keep={"m": "member_id"}),
        Ask(beat(M, 0)),
        Ask(describe()),
        Ask(join(M), keep={"m": "member_id"}),
        Ask(describe()),
        Ask(join(instance="i"), on="static", limit_s=0.2),
    ]


@case("G3")
def a_client_without_a_name() -> Steps:
    return [Ask(join(), 4, client_id=""), Ask(join(), 9, client_id="ü-1")]


@case("G3")
def a_pending_member_blocks() -> Steps:
    return [
        Ask(join(), 4, keep={"p": "member_id"}),
        Send(join(), 3, on="m", keep={"m": "member_id"}),
        Sleep(0.1),
        Ask(join(seen("p")), 4),
        Sleep(0.05),
        Ask(describe()),
    ]


@case("G5")
def stable_members_join_again() -> Steps:
    return [
        *stable_group(TWO),
        Ask(join(M, protocols=TWO), 3),
        Ask(describe()),
        Ask(join(M, protocols=TWO), 3),
        Ask(sync(M, 3, assignments=[(M, b"x")]), 3),
        Ask(join(M, protocols=(("range", b"other"),)), 3),
        Ask(describe()),
    ]


@case("G5, G8")
def two_members() -> Steps:
    return [
        *stable_group(),
        *second_joins(),
        *asks(describe(), beat(M, 2), beat(N, 2), beat(N, 1), join(N), version=3),
        Ask(describe(), 6),
    ]


@case("G6")
def which_protocol_is_chosen() -> Steps:
    steps: Steps = []
    lists = [
        ((("range", b""), ("roundrobin", b"")), (("roundrobin", b""), ("range", b""))),
        ((("sticky", b""), ("range", b"")), (("range", b""), ("sticky", b""))),
        (
            (("cooperative-sticky", b""), ("sticky", b"")),
            (("sticky", b""), ("cooperative-sticky", b"")),
        ),
        ((("a", b""), ("b", b""), ("c", b"")), (("c", b""), ("b", b""))),
    ]
    for number, (first, second) in enumerate(lists):
        group = f"~g{number}"
        steps += [
            Ask(join(group=group, protocols=first), 3, keep={"m": "member_id"}),
            Send(join(group=group, protocols=second), 3, on=f"n{number}"),
            Sleep(0.02),
            Ask(join(M, group=group, protocols=first), 3),
            Sleep(0.02),
            Ask(describe(group)),
        ]
    return steps


@case("G7")
def a_static_member_comes_back() -> Steps:
    return [
        *stable_group(instance="i"),
        Ask(join(instance="i"), 9, keep={"n": "member_id"}),
        *asks(beat(M, 1, instance="i"), beat(N, 1, instance="i"), beat(M, 1), version=4),
        Ask(sync(N, 1, instance="i"), 5),
        Ask(join(M, instance="i"), 9),
        Ask(join("wrong", instance="i"), 9),
        Ask(join("x", instance="unknown"), 9),
        Ask(join(instance="i", protocols=(("range", b"new"),)), 8, keep={"o": "member_id"}),
        Ask(commit(group="~g", member=M, generation=1, group_instance_id="i"), 8),
        Ask(describe()),
        Ask(join(instance="i", protocols=(("other", b"new"),)), 9),
        Ask(describe()),
    ]


@case("G8", each=SyncGroupRequest)
def what_syncing_refuses() -> Steps:
    return [
        Ask(sync("x", group="")),
        Ask(sync("x", group="~none")),
        *stable_group(),
        Ask(sync("stranger")),
        Ask(sync("")),
        Ask(sync(M, 0)),
        Ask(sync(M, 2)),
        Ask(sync(M, kind=None)),
        Ask(sync(M, protocol=None)),
        Ask(sync(M, kind="connect")),
        Ask(sync(M, protocol="sticky")),
        Ask(sync(M, instance="i")),
        Ask(sync(M)),
        Ask(sync(M, assignments=[(M, b"changed")])),
        Ask(sync(M)),
    ]


@case("G8")
def syncing_while_rebalancing() -> Steps:
    return [
        *stable_group(),
        Send(join(), 3, on="n", keep={"n": "member_id"}),
        Sleep(0.02),
        *asks(sync(M, 1), sync(M, 7), version=3),
        Ask(beat(M, 1)),
        Ask(beat(M, 9)),
        Ask(commit(("~none", 0, 1), member=M, generation=1), 7),
        Ask(join(M), 3),
        Ask(beat(M, 2)),
        Send(sync(N, 2), 3, on="n"),
        Sleep(0.05),
        Ask(describe()),
        Ask(sync(M, 2, assignments=[("stranger", b"x"), (M, b"y")]), 3),
        Sleep(0.05),
        Ask(describe()),
    ]


@case("G9", each=HeartbeatRequest)
def heartbeats() -> Steps:
    return [
        Ask(beat("x", group="")),
        Ask(beat("x", group="~none")),
        *stable_group(),
        *(Ask(beat(M, generation)) for generation in (0, 1, 2, -1)),
        Ask(beat("stranger")),
        Ask(beat("")),
        Ask(beat(M, instance="i")),
        Ask(leave((M, None)), 3),
        Ask(beat(M)),
    ]


@case("G10", each=OffsetCommitRequest)
def commits_of_members() -> Steps:
    one = ("~t", 0, 4)
    return [
        create(),
        Ask(join(), 3, keep={"m": "member_id"}),
        Ask(commit(one, member=M, generation=1)),
        Ask(commit(one, member=M, generation=0)),
        Ask(sync(M, 1, assignments=[(M, b"")]), 3),
        Ask(commit(one, member=M, generation=1)),
        Ask(commit(one)),
        Ask(commit(one, member=M)),
        Ask(commit(one, generation=1)),
        Ask(commit(one, member="stranger", generation=1)),
        Ask(commit(one, member=M, generation=2)),
        Ask(commit(one, member=M, generation=1, group_instance_id="i")),
        Ask(offsets_of(), 7),
        Ask(leave((M, None)), 3),
        Ask(commit(one, member=M, generation=2)),
        Ask(commit(one, member=M)),
        Ask(commit(one)),
    ]


@case("G11", each=LeaveGroupRequest)
def leaving() -> Steps:
    return [
        Ask(leave(("x", None), group="")),
        Ask(leave(("x", None), group="~none")),
        *stable_group(instance="i"),
        Ask(leave(("stranger", None), ("x", "i"), ("", "other"))),
        Ask(leave(("", "i"), ("", "i"), (M, None))),
        Ask(leave((M, "i"))),
        Ask(leave((M, None))),
        Ask(describe()),
        Ask(leave()),
    ]


@case("G11")
def a_member_leaves_while_its_join_waits() -> Steps:
    return [
        *stable_group(),
        Send(join(), 3, on="n", keep={"n": "member_id"}),
        Sleep(0.02),
        Ask(join(M), 3),
        Send(join(), 3, on="o"),
        Sleep(0.02),
        Send(join(M), 3, on="p"),
        Sleep(0.05),
        Ask(leave((M, None), (N, None)), 4),
        Sleep(0.1),
        Ask(describe()),
    ]


@case("G11")
def a_silent_member_is_removed() -> Steps:
    return [
        Ask(join(session_ms=6000), 3, keep={"m": "member_id"}),
        Ask(sync(M, assignments=[(M, b"x")]), 3),
        Sleep(5.0),
        Ask(describe()),
        Sleep(2.0),
        Ask(describe()),
        Ask(beat(M)),
    ]


@case("G4")
def absent_members_are_dropped_after_the_rebalance_timeout() -> Steps:
    return [
        Ask(join(rebalance_ms=700), 3, keep={"m": "member_id"}),
        Ask(sync(M, assignments=[(M, b"x")]), 3),
        Send(join(rebalance_ms=700), 3, on="n", keep={"n": "member_id"}),
        Sleep(0.3),
        Ask(describe()),
        Sleep(0.8),
        Ask(describe()),
        Ask(beat(M)),
    ]


@case("G13", each=DescribeGroupsRequest)
def descriptions() -> Steps:
    request = DescribeGroupsRequest(
        groups=["~g", "~none", "", "~g"], include_authorized_operations=True
    )
    return [Ask(request), *stable_group(TWO), Ask(request), Ask(describe())]


@case("G13", each=ListGroupsRequest)
def listings() -> Steps:
    def listed(states: list[str] | None = None, types: list[str] | None = None) -> Ask:
        return Ask(ListGroupsRequest(states_filter=states or [], types_filter=types or []))

    return [
        create(),
        *stable_group(),
        Ask(commit(("~t", 0, 1), group="~simple")),
        Ask(join(group="~joining"), 3),
        listed(),
        *(
            listed([state])
            for state in ("Stable", "stable", "Empty", "CompletingRebalance", "Dead", "x", "")
        ),
        *(listed(types=[kind]) for kind in ("classic", "Classic", "consumer", "share", "x", "")),
        listed(["Stable", "Empty"], ["classic"]),
        listed(["Stable"], ["consumer", "x"]),
    ]


@case("F10, I17", each=FindCoordinatorRequest)
def coordinators() -> Steps:
    def find(*keys: str, kind: int = 0) -> Ask:
        return Ask(
            FindCoordinatorRequest(
                key=keys[0] if keys else "", key_type=kind, coordinator_keys=list(keys)
            )
        )

    return [
        find("~g"),
        find(""),
        find("~g", "", "~g"),
        find(),
        find("a", kind=3),
        find("a", kind=-1),
        find("a", "", "g:", "g:no-id:0", ":AAAAAAAAAAAAAAAAAAAAAQ:0", kind=2),
        find("g:AAAAAAAAAAAAAAAAAAAAAQ:x", kind=2),
    ]


@case("F10")
def coordinators_of_share_groups_in_versions_without_them() -> Steps:
    keys = ["~g:AAAAAAAAAAAAAAAAAAAAAQ:0"]
    ask = FindCoordinatorRequest(key=keys[0], key_type=2, coordinator_keys=keys)
    return [Ask(ask, version) for version in range(1, 6)]
