"""Section N: share groups, their members, offsets, and records in `__consumer_offsets`."""

from __future__ import annotations

from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.list_groups import ListGroupsRequest

from ..ask.consumer_groups import (
    SETTLED_S,
    delete_groups,
    delete_offsets,
    depart,
    enter,
    known_topic,
)
from ..ask.group_records import WRITTEN_S, written
from ..ask.groups import beat, commit, describe, join, leave, offsets_of
from ..ask.records import put
from ..ask.share_groups import (
    ACCEPT,
    INITIALIZED_S,
    LEAVES,
    alter_share_offsets,
    delete_share_offsets,
    describe_shares,
    share_ack,
    share_beat,
    share_config,
    share_enter,
    share_fetch,
    share_group,
    share_offsets,
)
from ..engine.steps import Ask, Sleep, Steps
from . import case

LOG = 12
T0 = ("~t", 0)


def log_of(group: str = "~g") -> Steps:
    """Everything written of a group."""
    return [Sleep(INITIALIZED_S), Sleep(WRITTEN_S), Ask(written(group), LOG)]


@case("N1")
def what_a_share_member_must_say() -> Steps:
    return [
        *known_topic(),
        Ask(share_enter("a", names=None)),
        Ask(share_enter("a", names=[])),
        Ask(share_enter("")),
        Ask(share_enter(" ")),
        Ask(share_enter("m" * 36)),
        Ask(share_enter("m" * 37)),
        Ask(share_enter("a", group="")),
        Ask(share_enter("a", group=" ")),
        Ask(share_enter("a", rack="")),
        Ask(share_beat("a", -2)),
        Ask(share_beat("a", -1, group="~none")),
        Ask(share_beat("a", 1, group="~none")),
        Ask(share_beat("a", 1)),
        Ask(share_beat("a", -1)),
        Ask(describe_shares("~none", "", "~g")),
        Ask(share_enter("~😀 x", group="~h")),
    ]


@case("N2, N3, N4")
def epochs_of_a_share_group() -> Steps:
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
        Ask(share_enter("a")),
        Sleep(INITIALIZED_S),
        Ask(share_beat("a", 2)),
        Ask(share_beat("a", 2)),
        Ask(share_beat("a", 1)),
        Ask(share_beat("a", 4)),
        Ask(share_beat("a", 3, names=["~t"])),
        Ask(share_beat("a", 3, rack="r")),
        Ask(share_enter("a")),
        Ask(share_beat("a", 3, names=["~none", "~t"])),
        Ask(share_beat("a", 4, names=["~t", "~none"])),
        Ask(describe_shares()),
        Ask(grow),
        Sleep(SETTLED_S),
        Ask(share_beat("a", 4)),
        Sleep(INITIALIZED_S),
        Ask(share_beat("a", 5)),
        Ask(share_beat("a", 6)),
        Ask(gone),
        Sleep(INITIALIZED_S),
        Ask(share_beat("a", 6)),
        Ask(describe_shares()),
        Ask(share_beat("a", LEAVES)),
        Ask(describe_shares()),
        *log_of(),
    ]


@case("N2")
def a_group_of_missing_topics() -> Steps:
    return [
        Ask(share_enter("a", "~none")),
        Sleep(INITIALIZED_S),
        Ask(share_beat("a", 2)),
        Ask(describe_shares()),
        *known_topic("~none", 1),
        Ask(share_beat("a", 2)),
        Sleep(INITIALIZED_S),
        Ask(share_beat("a", 3)),
        Ask(share_beat("a", 4)),
        *log_of(),
    ]


@case("N6")
def share_groups_and_others() -> Steps:
    return [
        *known_topic(),
        Ask(enter("c", group="~consumers")),
        Ask(commit(("~t", 0, 5), group="~simple")),
        Ask(share_enter("a", group="~consumers")),
        Ask(share_enter("a", group="~simple")),
        Ask(share_beat("a", 1, group="~consumers")),
        Ask(share_beat("a", -1, group="~simple")),
        Ask(share_enter("a")),
        Ask(enter("c")),
        Ask(depart("c")),
        Ask(join("")),
        Ask(join("x")),
        Ask(beat("a", 1)),
        Ask(leave(("a", None))),
        Ask(commit(("~t", 0, 5)), 8),
        Ask(commit(("~t", 0, 5), generation=2, member="a"), 9),
        Ask(offsets_of("~g"), 7),
        delete_offsets(("~t", [0])),
        Ask(describe(), 5),
        Ask(describe(), 6),
        Ask(describe_shares("~consumers", "~simple", "~none", "")),
        Ask(ListGroupsRequest(states_filter=[], types_filter=[])),
        Ask(ListGroupsRequest(states_filter=["stable"], types_filter=["Share"])),
        Ask(share_beat("a", LEAVES)),
        Ask(enter("c")),
        Ask(join("")),
        Ask(share_enter("b", group="~consumers")),
        Ask(ListGroupsRequest(states_filter=["EMPTY"], types_filter=["share"])),
    ]


@case("N7, N26")
def a_share_group_is_deleted() -> Steps:
    return [
        *share_group(2),
        delete_groups("~g", "~none"),
        Ask(share_beat("a", LEAVES)),
        Sleep(WRITTEN_S),
        delete_groups("~g", "~g"),
        Sleep(WRITTEN_S),
        delete_groups("~g"),
        *log_of(),
        Ask(share_enter("b")),
        *log_of(),
    ]


@case("N8")
def configs_of_share_groups() -> Steps:
    values = {
        "record_lock_duration_ms": ("999", "1000", "60000", "60001"),
        "heartbeat_interval_ms": ("4999", "5000", "15000", "15001"),
        "session_timeout_ms": ("44999", "45000", "60000", "60001"),
        "delivery_count_limit": ("1", "2", "10", "11"),
        "partition_max_record_locks": ("99", "100", "4000", "4001"),
        "assignment_interval_ms": ("-1", "0", "15000", "15001"),
        "auto_offset_reset": ("none", "by_duration:PT1H", "by_duration:-PT1H", "earliest"),
        "isolation_level": ("READ_COMMITTED", "read_committed"),
        "renew_acknowledge_enable": ("no", "false"),
    }
    return [share_config(**{name: value}) for name, each in values.items() for value in each]


@case("N8")
def a_share_group_s_own_heartbeat_interval() -> Steps:
    return [
        *known_topic(),
        share_config(heartbeat_interval_ms="6000"),
        Ask(share_enter()),
        share_config(heartbeat_interval_ms="7000"),
        Ask(share_beat("a", 2)),
    ]


@case("N20")
def offsets_before_and_after_acknowledgements() -> Steps:
    return [
        Ask(share_offsets()),
        Ask(share_offsets({"~none": [0, 3]})),
        *share_group(2),
        Ask(share_offsets()),
        Ask(share_offsets({"~t": [1, 0], "~none": [1]})),
        Ask(share_offsets({})),
        put(b"a", b"b", b"c", b"d", b"e"),
        Ask(share_fetch({T0: ()}, max_wait_ms=400)),
        Ask(share_offsets()),
        Ask(share_ack({T0: [(0, 0, [ACCEPT]), (3, 3, [ACCEPT])]}, 1)),
        Ask(share_offsets()),
        Ask(share_ack({T0: [(1, 1, [ACCEPT])]}, 2)),
        Ask(share_offsets()),
        Ask(share_offsets(), 0),
        Ask(share_ack({T0: [(2, 2, [ACCEPT]), (4, 4, [ACCEPT])]}, 3)),
        Ask(share_offsets({"~t": [0]})),
        Ask(share_offsets(group="")),
    ]


@case("N21, N26")
def offsets_that_are_set() -> Steps:
    return [
        *known_topic("~t", 2),
        Ask(alter_share_offsets({T0: 3}, group="")),
        Ask(alter_share_offsets({T0: 3, ("~t", 5): 1, ("~none", 0): 1})),
        Ask(describe_shares()),
        Ask(share_offsets()),
        *log_of(),
        put(b"a", b"b", b"c", b"d", b"e"),
        Ask(share_fetch({T0: ()}, max_wait_ms=400)),
        Ask(share_enter()),
        Sleep(INITIALIZED_S),
        Ask(share_beat("a", 2)),
        Ask(alter_share_offsets({T0: 3})),
        Ask(share_beat("a", LEAVES)),
        Sleep(WRITTEN_S),
        Ask(alter_share_offsets({T0: 1000, ("~t", 1): -5})),
        Ask(share_offsets()),
        Ask(enter("c", group="~consumers")),
        Ask(alter_share_offsets({T0: 3}, group="~consumers")),
        *log_of(),
    ]


@case("N21, N26")
def offsets_of_partitions_below_zero() -> Steps:
    """A topic that is there is refused as a whole, and with it the request."""
    return [
        *known_topic("~t", 2),
        Ask(alter_share_offsets({("~t", -1): 3})),
        Ask(describe_shares()),
        Ask(alter_share_offsets({("~none", -1): 3})),
        Ask(alter_share_offsets({T0: 3, ("~t", -7): 1, ("~none", 0): 1})),
        Ask(describe_shares()),
        Ask(share_offsets()),
        *log_of(),
        Ask(alter_share_offsets({("~t", -1): 3, ("~t", -2): 3})),
        Ask(alter_share_offsets({T0: 4})),
        Sleep(WRITTEN_S),
        Ask(alter_share_offsets({T0: 5, ("~t", -1): 3})),
        Sleep(WRITTEN_S),
        Ask(share_offsets()),
        *log_of(),
    ]


@case("N21, N26")
def offsets_that_are_deleted() -> Steps:
    return [
        *known_topic("~u", 1),
        *share_group(2),
        Ask(delete_share_offsets("~t", group="")),
        Ask(delete_share_offsets("~t", group="~none")),
        Ask(delete_share_offsets("~t")),
        Ask(share_beat("a", LEAVES)),
        Sleep(WRITTEN_S),
        Ask(delete_share_offsets("~t", "~u", "~none")),
        Ask(share_offsets()),
        Ask(delete_share_offsets("~t")),
        *log_of(),
        Ask(share_enter("b")),
        Sleep(INITIALIZED_S),
        Ask(share_beat("b", 5)),
        *log_of(),
    ]


@case("N23")
def share_coordinators_are_found() -> Steps:
    keys = (
        "",
        "g",
        "g:t:0",
        "~g:AAAAAAAAAAAAAAAAAAAAAA:0",
        ":AAAAAAAAAAAAAAAAAAAAAA:0",
        "a:b:AAAAAAAAAAAAAAAAAAAAAQ:3",
        "~g:AAAAAAAAAAAAAAAAAAAAAQ:x",
        "~g:AAAAAAAAAAAAAAAAAAAAAQ:-1",
    )
    many = FindCoordinatorRequest(key_type=2, coordinator_keys=list(keys))
    return [
        *(Ask(many, version) for version in (6, 5, 4)),
        Ask(FindCoordinatorRequest(key_type=2, key="~g:AAAAAAAAAAAAAAAAAAAAAQ:0"), 3),
    ]
