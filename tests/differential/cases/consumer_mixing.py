"""Section G26: both protocols in one group, and conversions; restarts (F7)."""

from __future__ import annotations

from typing import Any

from odradek.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.wire.api.list_groups import ListGroupsRequest

from ..ask.cluster import features
from ..ask.consumer_groups import (
    RESOLVED_S,
    assigned,
    classic,
    delete_groups,
    delete_offsets,
    depart,
    describe_consumers,
    enter,
    fetch_offsets_as,
    heartbeat,
    known_topic,
    subscription,
    two_members,
)
from ..ask.groups import beat, commit, describe, join, leave, offsets_of, sync
from ..ask.topics import create
from ..ask.transactions import add_offsets, init, txn_offsets
from ..engine.steps import Ask, Restart, Send, Sleep, Steps, seen
from . import case
from .group_records import log_of

UP, UNSAFE = 1, 3
LEVEL_KNOWN_S = 0.5
"""How long a real broker's coordinator takes at most to learn of a feature's level."""


@case("G26")
def a_classic_member_joins_a_consumer_group() -> Steps:
    m = "m"  # of its own choice, so that both brokers keep the members in the same order
    return [
        *known_topic(),
        Ask(enter("a")),
        Ask(join(kind="connect"), 5),
        Ask(join(), 3),
        Ask(join(protocols=()), 3),
        Ask(join(protocols=classic()), 5),
        Ask(join(m, protocols=classic()), 5),
        Ask(describe_consumers()),
        Ask(sync(m, 3)),
        Ask(beat(m, 3)),
        Ask(heartbeat("a", 2)),
        Ask(heartbeat("a", 2, owned=[("~t", [0, 1])])),
        Ask(describe_consumers()),
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
        Ask(fetch_offsets_as(m, 3), 9),
        Ask(fetch_offsets_as(m, 2), 9),
        Ask(join(protocols=classic(protocol="sticky")), 3),
        Ask(join("n", protocols=(*classic(protocol="sticky"), *classic())), 3),
        Ask(describe_consumers()),
        Ask(beat(m, 3)),
        Ask(leave((m, None))),
        Ask(describe_consumers()),
    ]


@case("G26")
def a_classic_member_that_names_a_protocol_twice() -> Steps:
    twice = (*classic(), *classic())
    m, n = "m", "n"
    return [
        *known_topic(),
        Ask(enter("a")),
        Ask(join(m, protocols=twice), 5),
        Ask(sync(m, 2)),
        Ask(join(n, protocols=classic()), 5),
        Ask(join(m, protocols=classic()), 5),
        Ask(describe_consumers()),
        Ask(depart("a")),
        Ask(describe(), 6),
        Ask(describe_consumers()),
        Ask(beat(m, 3)),
    ]


@case("G26")
def a_static_classic_member() -> Steps:
    return [
        *known_topic(),
        Ask(enter("a")),
        Ask(join(protocols=classic(), instance="i"), 7, keep={"m": "member_id"}),
        Ask(sync(seen("m"), 3, instance="i")),
        Ask(beat(seen("m"), 3, instance="i")),
        Ask(beat("x", 3, instance="i")),
        Ask(beat(seen("m"), 3, instance="j")),
        Ask(join("x", protocols=classic(), instance="i"), 7),
        Ask(join("x", protocols=classic(), instance="j"), 7),
        Ask(join(protocols=classic(), instance="i"), 7, keep={"n": "member_id"}),
        Ask(describe_consumers()),
        Ask(enter("b", instance="i")),
        Ask(describe_consumers()),
        Ask(join(protocols=classic(), instance="i"), 7),
        Ask(describe_consumers()),
    ]


@case("G26")
def a_classic_group_is_converted() -> Steps:
    m = seen("m")
    all_of_it: Any = assigned((("~t", (0, 1, 2, 3)),))
    return [
        *known_topic(),
        Ask(join(protocols=classic()), 3, keep={"m": "member_id"}),
        Ask(sync(m, assignments=[(m, all_of_it)]), 3),
        Ask(commit(("~t", 0, 5), member=m, generation=1), 8),
        Ask(enter("a")),
        Ask(describe_consumers()),
        Ask(describe(), 6),
        Ask(beat(m, 1)),
        Ask(join(m, protocols=classic()), 3),
        Ask(sync(m, 2)),
        Ask(heartbeat("a", 2)),
        Ask(describe_consumers()),
        Ask(offsets_of(), 8),
        Ask(depart("a")),
        Ask(describe(), 6),
        Ask(describe_consumers()),
        Ask(beat(m, 2)),
        Ask(join(m, protocols=classic()), 3),
        Ask(describe(), 6),
        Ask(sync(m, 3, assignments=[(m, b"")]), 3),
        Ask(describe(), 6),
    ]


@case("G26")
def what_cannot_be_converted() -> Steps:
    return [
        *known_topic(),
        Ask(join(), 3, keep={"m": "member_id"}),
        Ask(enter("a")),
        Ask(sync(seen("m"), assignments=[(seen("m"), b"junk")]), 3),
        Ask(enter("a")),
        Ask(join(group="~h", kind="connect"), 3),
        Ask(enter("a", group="~h")),
        Ask(heartbeat("a", 1)),
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
        Ask(describe_consumers()),
    ]


@case("G26")
def a_group_is_converted_while_a_member_changes_its_protocols() -> Steps:
    """Its protocol is still one that the member no longer supports; then the round is over."""
    both = (*classic(), *classic(protocol="roundrobin"))
    one = classic(protocol="roundrobin")
    a, b = seen("a"), seen("b")
    return [
        *known_topic(),
        Ask(join(protocols=both), 3, "a", keep={"a": "member_id"}),
        Ask(sync(a, assignments=[(a, b"")]), 3, "a"),
        Send(join(protocols=both), 3, "b", keep={"b": "member_id"}),
        Sleep(0.1),
        Ask(join(a, protocols=both), 3, "a"),
        Ask(sync(b, 2), 3, "b", waits=False),
        Ask(sync(a, 2, assignments=[(a, b""), (b, b"")]), 3, "a"),
        Ask(describe(), 6),
        Send(join(a, protocols=one), 3, "a"),
        Ask(describe(), 6),
        Ask(enter("c")),
        Ask(describe(), 6),
        Ask(describe_consumers()),
        Ask(beat(b, 2), 3),
        Ask(heartbeat("c", 1)),
    ]


@case("G26")
def empty_groups_change_their_type() -> Steps:
    return [
        *known_topic(),
        Ask(commit(("~t", 0, 5)), 8),
        Ask(enter("a")),
        Ask(offsets_of(), 8),
        Ask(depart("a")),
        Ask(join(protocols=classic()), 3, keep={"m": "member_id"}),
        Ask(describe(), 6),
        Ask(offsets_of(), 8),
        Ask(leave((seen("m"), None))),
        Ask(enter("a")),
        Ask(describe_consumers()),
        Ask(offsets_of(), 8),
    ]


@case("G26")
def an_empty_group_that_makes_way_for_nobody() -> Steps:
    """Refused as an unknown member, a classic one leaves no group behind, until the next start; but
    those who only look see it until something is written."""
    tries: dict[str, Steps] = {
        "~g0": [Ask(enter("b", group="~g0"))],
        "~g1": [Ask(heartbeat("a", 1, group="~g1")), Ask(depart("a", group="~g1"))],
        "~g2": [
            Ask(commit(("~t", 0, 7), group="~g2", member="a", generation=1), 9),
            Ask(commit(("~t", 0, 7), group="~g2"), 9),
        ],
        "~g3": [Ask(commit(("~t", 0, 7), group="~g3", metadata="x" * 5000), 9)],
        "~g4": [init(), add_offsets("~g4"), txn_offsets(("~t", 0, 9), version=3, group="~g4")],
        "~g5": [delete_groups("~g5"), delete_offsets(("~t", [0]), group="~g5")],
        "~g6": [Ask(beat("x", group="~g6"), 4), Ask(leave(("x", None), group="~g6"), 5)],
        "~g7": [Ask(join("x", group="~g7", protocols=classic()), 5)],
        "~g8": [Ask(join("", group="~g8", protocols=classic()), 3)],
        "~g9": [Restart()],
    }
    steps: Steps = known_topic()
    for group, tried in tries.items():
        looks: Steps = [
            Ask(describe(group), 6),
            Ask(describe_consumers(group)),
            Ask(ListGroupsRequest(), 5),
            Ask(offsets_of(group=group, topics=None), 7),
            Ask(fetch_offsets_as("a", 1, group)),
        ]
        steps += [
            Ask(enter("a", group=group)),
            Ask(commit(("~t", 0, 5), group=group, member="a", generation=1), 9),
            Ask(depart("a", group=group)),
            Ask(join("x", group=group, protocols=classic()), 5),
            *looks,
            *tried,
            *looks,
            Ask(commit(("~t", 0, 7), group=group), 9),
            *looks,
            *log_of(group),
        ]
    return steps


@case("G26")
def metadata_that_cannot_be_read() -> Steps:
    v0: Any = subscription(("~t",), version=0)
    return [
        *known_topic(),
        Ask(enter("a")),
        Ask(join(protocols=(("range", b""),)), 3),
        Ask(join(protocols=(("range", b"\0\0"),)), 3),
        Ask(join(protocols=(("range", b"\0\1\0\0\0\0\xff\xff\xff\xff"),)), 3),
        Ask(join(protocols=(("anything", v0),)), 3, keep={"m": "member_id"}),
        Ask(sync(seen("m"), 3, protocol="anything")),
        Ask(describe_consumers()),
    ]


@case("G15, I12", each=ConsumerGroupHeartbeatRequest)
def consumer_groups_without_their_feature() -> Steps:
    return [
        Ask(join(group="~h"), 3),
        Ask(features(("group.version", 0, UNSAFE))),
        Sleep(LEVEL_KNOWN_S),
        Ask(enter("a")),
        Ask(heartbeat("a", -5)),
        Ask(describe_consumers("~g", "~h")),
        Ask(describe("~g", "~h"), 6),
        Ask(features(("group.version", 1, UP))),
        Sleep(LEVEL_KNOWN_S),
        Ask(enter("a")),
    ]


@case("F7")
def members_survive_a_restart() -> Steps:
    return [
        *two_members(),
        Ask(enter("c", instance="i", rack="r", assignor="range")),
        Ask(enter("d", names=None, regex="~t.*", group="~h")),
        Sleep(RESOLVED_S),
        Ask(commit(("~t", 0, 5), member="a", generation=3), 9),
        Restart(),
        Ask(describe_consumers("~g", "~h")),
        Ask(heartbeat("a", 3)),
        Ask(heartbeat("b", 3)),
        Ask(heartbeat("d", 1, group="~h")),
        Ask(offsets_of(), 8),
        Ask(describe_consumers("~g", "~h")),
    ]


@case("L")
def the_group_of_a_topic_that_does_not_exist() -> Steps:
    return [
        Ask(enter("a", "~none")),
        Ask(describe_consumers()),
        create("~none"),
        Sleep(0.1),
        Ask(heartbeat("a", 2)),
    ]
