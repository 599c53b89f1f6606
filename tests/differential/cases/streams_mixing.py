"""Section N: streams groups and groups of other types, under one id."""

from __future__ import annotations

from typing import Any

from odradek.wire.api.list_groups import ListGroupsRequest

from ..ask.consumer_groups import (
    classic,
    delete_offsets,
    depart,
    describe_consumers,
    enter,
    known_topic,
)
from ..ask.group_records import WRITTEN_S
from ..ask.groups import beat, commit, describe, join, leave, offsets_of, sync
from ..ask.share_groups import INITIALIZED_S, describe_shares, share_beat, share_enter
from ..ask.streams_groups import (
    LEAVES,
    describe_streams,
    plain,
    stream_beat,
    stream_depart,
    stream_enter,
    streams_group,
)
from ..ask.transactions import init, txn_offsets
from ..engine.steps import Ask, Sleep, Steps, seen
from . import case
from .streams_groups import log_of


@case("N37")
def streams_members_where_another_type_is() -> Steps:
    joins = join(group="~classic", protocols=classic())
    return [
        *known_topic(),
        Ask(enter("c", group="~consumers")),
        Ask(share_enter("s", group="~shares")),
        Sleep(INITIALIZED_S),
        Ask(joins, 3, keep={"m": "member_id"}),
        Ask(commit(("~t", 0, 5), group="~simple")),
        *(Ask(stream_enter("a", group=f"~{name}")) for name in _TYPES),
        *(Ask(stream_beat("a", 1, group=f"~{name}")) for name in _TYPES),
        *(Ask(stream_depart("a", group=f"~{name}")) for name in _TYPES),
        Ask(describe_streams(*(f"~{name}" for name in _TYPES))),
        Ask(depart("c", group="~consumers")),
        Ask(share_beat("s", LEAVES, group="~shares")),
        Ask(leave((seen("m"), None), group="~classic"), 3),
        *(Ask(stream_enter("b", group=f"~{name}")) for name in _TYPES),
        Ask(offsets_of("~simple"), 7),
        Sleep(WRITTEN_S),
        *(step for name in _TYPES for step in log_of(f"~{name}")),
    ]


_TYPES = ("consumers", "shares", "classic", "simple")


@case("N37")
def members_of_another_type_in_a_streams_group() -> Steps:
    return [
        *streams_group(),
        Ask(enter("c")),
        Ask(share_enter("s")),
        Ask(join("")),
        Ask(join("x")),
        Ask(beat("a", 2)),
        Ask(sync("a", 2)),
        Ask(leave(("a", None))),
        Ask(leave(("a", None)), 1),
        Ask(describe(), 5),
        Ask(describe(), 6),
        Ask(describe_consumers()),
        Ask(describe_shares("~g")),
        Ask(ListGroupsRequest(states_filter=[], types_filter=[])),
        Ask(stream_beat("a", 2)),
        *log_of(),
    ]


@case("N37")
def an_empty_streams_group_takes_classic_members() -> Steps:
    m = seen("m")
    return [
        *streams_group(),
        Ask(commit(("~t", 0, 5), member="a", generation=2), 9),
        Ask(stream_depart("a")),
        Ask(enter("c")),
        Ask(share_enter("s")),
        Ask(describe(), 6),
        Ask(commit(("~t", 0, 6))),
        Ask(join("", protocols=classic()), 3, keep={"m": "member_id"}),
        Ask(describe_streams()),
        Ask(describe(), 5),
        Ask(offsets_of("~g"), 7),
        Ask(stream_enter("b")),
        Ask(leave((m, None)), 3),
        Ask(stream_enter("b", plain(epoch=4))),
        Ask(offsets_of("~g"), 7),
        Sleep(WRITTEN_S),
        *log_of(),
    ]


@case("N36, N37")
def transactional_offsets_of_a_streams_group() -> Steps:
    def commits(**more: Any) -> Ask:
        return txn_offsets(("~t", 0, 10), version=5, **more)

    return [
        *streams_group(),
        init(),
        commits(),
        commits(member="a", generation=2),
        commits(member="a", generation=1),
        commits(member="a", generation=3),
        commits(member="stranger", generation=2),
        Ask(stream_depart("a")),
        commits(),
        commits(member="a", generation=2),
        delete_offsets(("~t", [0])),
    ]
