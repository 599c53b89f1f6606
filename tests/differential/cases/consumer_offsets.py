"""Sections F and G: expressions and offsets of consumer groups of KIP-848; administrators."""

from __future__ import annotations

from odradek.wire.api.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest

from ..ask.consumer_groups import (
    RESOLVED_S,
    classic,
    delete_groups,
    delete_offsets,
    depart,
    describe_consumers,
    enter,
    fetch_offsets_as,
    heartbeat,
    known_topic,
    two_members,
)
from ..ask.groups import beat, commit, describe, join, leave, offsets_of, sync
from ..ask.transactions import add_offsets, end, init, txn_offsets
from ..engine.steps import Ask, Sleep, Steps, seen
from . import case


@case("F5", each=OffsetCommitRequest)
def a_group_of_commits_that_were_refused() -> Steps:
    """Metadata that is too long is found only when the group is there."""
    steps: Steps = [*known_topic("~t", 1)]
    for group in ("~g", "~empty", ""):
        refused = commit(("~t", 0, 8), metadata="m" * 4097, group=group)
        steps += [
            Ask(refused),
            Ask(describe(group)),
            Ask(offsets_of(group), 7),
            delete_offsets(("~t", [0]), group=group),
            Ask(ListGroupsRequest(states_filter=[], types_filter=[])),
            delete_groups(group),
            Ask(describe(group)),
            Ask(ListGroupsRequest(states_filter=[], types_filter=[])),
        ]
    return steps


@case("H4")
def a_group_of_transactional_commits_that_were_refused() -> Steps:
    return [
        *known_topic("~t", 1),
        init(),
        add_offsets(),
        txn_offsets(("~t", 0, 5), metadata="x" * 4097),
        Ask(describe()),
        Ask(ListGroupsRequest(states_filter=[], types_filter=[])),
        end(True, 4),
        delete_groups(),
        Ask(ListGroupsRequest(states_filter=[], types_filter=[])),
    ]


@case("G23")
def a_regular_expression() -> Steps:
    return [
        *known_topic("~t1", 2),
        *known_topic("~t2", 1),
        *known_topic("~x", 1),
        Ask(enter("a", names=None, regex="~t.*")),
        Sleep(RESOLVED_S),
        Ask(describe_consumers()),
        Ask(heartbeat("a", 1)),
        Ask(describe_consumers()),
        Ask(enter("b", names=["~x"], regex="~t.*")),
        Ask(describe_consumers()),
        Ask(heartbeat("a", 2)),
        Ask(heartbeat("b", 3, regex="")),
        Ask(describe_consumers()),
        Ask(heartbeat("b", 4, regex="~none.*")),
        Sleep(RESOLVED_S),
        Ask(describe_consumers()),
        Ask(heartbeat("a", 2, names=["~x"])),
        Ask(describe_consumers()),
    ]


@case("G23")
def expressions_that_are_refused() -> Steps:
    wrong = ["(?=a)", "(a)\\1", "a**", "[", "(", "a{1001}", "(?P<n", "\\", ")", "[b-a]", "*"]
    wrong += ["a++", "(?<!a)", "\\pX", "\\8", "x{2}{3}", "(?i", "[[:foo:]]", "(?P<n>a)(?P<n>b)"]
    wrong += ["a{99999999999}", "[[:]", "\\x{110000}", "\\x{1", "a|*", "(?-)", "a{{2}", "(?)*"]
    right = ["(?i)~T1", "[[:alpha:]]+", "\\Qa.b\\E", "a{2,3}?", "\\p{Lu}", "(?:x|y)$", "a{,2}"]
    right += [
        "(((a{0,9}){0,9}){0,9}){0,9}b",
        "(a{1000}){2}",
        "(" * 250 + "a" + ")" * 250,
        "\\p{Han}",
    ]
    return [
        *known_topic("~t1", 1),
        *(Ask(enter("a", names=None, regex=text, group="~g")) for text in wrong),
        Ask(describe_consumers()),
        *(Ask(enter("a", names=None, regex=t, group=f"~r{n}")) for n, t in enumerate(right)),
    ]


@case("G23")
def a_new_topic_that_matches() -> Steps:
    return [
        *known_topic("~t1", 1),
        Ask(enter("a", names=None, regex="~t.*")),
        Sleep(RESOLVED_S),
        Ask(heartbeat("a", 1)),
        *known_topic("~t2", 1),
        Ask(heartbeat("a", 2)),
        Sleep(RESOLVED_S),
        Ask(heartbeat("a", 2)),
        Sleep(10.2),
        Ask(heartbeat("a", 2)),
        Sleep(RESOLVED_S),
        Ask(heartbeat("a", 2)),
        Ask(describe_consumers()),
    ]


@case("G24", each=OffsetCommitRequest)
def commits_of_consumers() -> Steps:
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
        *known_topic(),
        Ask(enter("a")),
        Ask(enter("b")),
        Ask(heartbeat("a", 2)),
        Ask(commit(("~t", 3, 5), member="a", generation=2)),
        Ask(heartbeat("a", 2, owned=[("~t", [0, 1])])),
        Ask(commit(("~t", 3, 6), member="a", generation=2)),
        Ask(commit(("~t", 0, 7), member="a", generation=2)),
        Ask(offsets_of(), 8),
    ]


@case("G24")
def fetches_of_members() -> Steps:
    return [
        *two_members(),
        Ask(commit(("~t", 0, 5), member="a", generation=3)),
        *(
            Ask(fetch_offsets_as(member, epoch), version)
            for version in (8, 9, 10)
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
        Ask(fetch_offsets_as("a", 3, group="~none")),
        Ask(offsets_of()),
    ]


@case("G24")
def transactions_of_members() -> Steps:
    one = ("~t", 0, 5)
    steps: Steps = [*two_members(), init(), add_offsets()]
    for generation, member in ((2, "a"), (3, "a"), (4, "a"), (1, "a"), (3, "x"), (-1, ""), (3, "")):
        steps += [
            txn_offsets(one, generation=generation, member=member),
            txn_offsets(("~t", 3, 5), generation=generation, member=member),
        ]
    return [*steps, end(), Ask(offsets_of(), 8)]


@case("G28", each=ConsumerGroupDescribeRequest)
def offsets_and_groups_are_deleted() -> Steps:
    return [
        *known_topic("~t", 2),
        *known_topic("~u", 1),
        delete_offsets(("~t", [0])),
        Ask(enter("a")),
        Ask(commit(("~t", 0, 1), ("~u", 0, 1), member="a", generation=2), 9),
        delete_offsets(("~t", [0, 1, 7]), ("~u", [0, 1]), ("~none", [0])),
        delete_offsets(("~t", [0]), group=""),
        delete_groups(),
        delete_groups("~none", "", "~g", "~g"),
        Ask(describe_consumers("~g", "~none", "", "~g", include_authorized_operations=True)),
        Ask(depart("a")),
        delete_offsets(("~t", [0, 1])),
        Ask(offsets_of(), 8),
        delete_groups(),
        Ask(describe_consumers()),
        Ask(offsets_of(), 8),
        Ask(enter("a")),
    ]


@case("G28")
def offsets_of_classic_groups_are_deleted() -> Steps:
    return [
        *known_topic("~t", 2),
        *known_topic("~u", 1),
        Ask(join(protocols=classic()), 3, keep={"m": "member_id"}),
        delete_offsets(("~t", [0]), ("~u", [0])),
        Ask(sync(seen("m"), assignments=[(seen("m"), b"")]), 3),
        Ask(commit(("~t", 0, 1), ("~u", 0, 1), member=seen("m"), generation=1), 8),
        delete_offsets(("~t", [0, 1, 2]), ("~u", [0])),
        delete_groups(),
        Ask(join(kind="connect", group="~h"), 3),
        delete_offsets(("~t", [0]), group="~h"),
        Ask(join(group="~junk"), 3, keep={"n": "member_id"}),
        Ask(sync(seen("n"), group="~junk", assignments=[(seen("n"), b"")]), 3),
        delete_offsets(("~t", [0, 1]), group="~junk"),
        Ask(leave((seen("m"), None)), 3),
        delete_offsets(("~t", [0]), ("~t", [1])),
        delete_groups(),
        Ask(describe(), 6),
        Ask(commit(("~t", 0, 1), group="~simple"), 8),
        delete_offsets(("~t", [0]), group="~simple"),
        delete_groups("~simple"),
    ]


@case("G13, G26")
def classic_requests_about_a_consumer_group() -> Steps:
    return [
        *known_topic(),
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


@case("F6, G28")
def subscriptions_that_are_odd() -> Steps:
    """Whether a broker can read a member's metadata shows in what it lets be deleted."""
    odd = (
        b"\0\0\0\0\0\1\0\1\xff\0\0\0\0",  # a name that is no UTF-8
        b"\0\x63\0\0\0\1\0\1x\0\0\0\0",  # a version that is not known
        b"\xff\xff\0\0\0\1\0\1x\0\0\0\0",  # a negative one
        b"\0\3\0\0\0\1\0\1x\0\0\0\0\xff",  # fields of a later version cut short
        b"\0\0\0\0\0\1\0\1x\xff\xff\xff\xfe",  # user data of length -2
        b"\0\0\0\0\0\1\0\1x",  # no user data
    )
    steps = known_topic("~t", 1)
    for number, metadata in enumerate(odd):
        group, kept = f"~g{number}", f"m{number}"
        protocols = (("range", metadata),)
        steps += [
            Ask(join(protocols=protocols, group=group), 3, keep={kept: "member_id"}),
            Ask(sync(seen(kept), group=group, assignments=[(seen(kept), b"")]), 3),
            delete_offsets(("~t", [0]), group=group),
        ]
    return steps
