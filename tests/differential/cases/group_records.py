"""Sections F1-F4, G27: what is written in `__consumer_offsets`, key by key and field by field.

The partition is compared too: each group is read from the one that follows from its id.
"""

from __future__ import annotations

from typing import Any

from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest

from ..ask.consumer_groups import (
    RESOLVED_S,
    classic,
    delete_groups,
    delete_offsets,
    depart,
    enter,
    heartbeat,
    known_topic,
    subscription,
)
from ..ask.group_records import WRITTEN_S, written
from ..ask.groups import commit, describe, join, leave, stable_group, sync
from ..ask.topics import create
from ..ask.transactions import end, init, txn_offsets
from ..engine.steps import Ask, Sleep, Steps, seen
from . import case

LOG = 12
"""The last version of Fetch that names topics."""


def log_of(*groups: str) -> Steps:
    """Everything written of these groups; a real broker may answer before it has written."""
    return [Sleep(WRITTEN_S), *(Ask(written(group), LOG) for group in groups or ("~g",))]


@case("F1, F2", each=OffsetCommitRequest)
def how_offsets_are_written() -> Steps:
    odd = ("~g", "~grüppe", "~😀", "~a b", "~polygenelubricants")
    return [
        create(partitions=3),
        *(Ask(commit(("~t", 1, 5), group=group)) for group in odd),
        Ask(commit(("~t", 2, -7), ("~t", 0, 1 << 40), metadata=None)),
        Ask(commit(("~t", 0, 6), ("~none", 0, 5), metadata="mé😀")),
        Ask(commit(("~t", 0, 7), metadata="m" * 4097)),
        *log_of(*odd),
    ]


@case("F2")
def offsets_with_a_retention_of_their_own() -> Steps:
    asked = commit(("~t", 0, 5), retention_time_ms=60_000)
    return [create(), *(Ask(asked, version) for version in (2, 3, 4)), *log_of()]


@case("F3")
def how_a_classic_group_is_written() -> Steps:
    m = seen("m")
    return [
        Ask(join(), 5, keep={"m": "member_id"}),
        *log_of(),
        Ask(join(m), 5),
        *log_of(),
        Ask(sync(m, assignments=[(m, b"all"), ("stranger", b"x")]), 5),
        Ask(join(m), 5),
        Ask(sync(m, 2, assignments=[(m, b"again")]), 5),
        Ask(leave((m, None)), 5),
        *log_of(),
        delete_groups(),
        *log_of(),
    ]


@case("F3, G7")
def how_a_static_member_that_comes_back_is_written() -> Steps:
    m = seen("m")
    other: Any = (("range", b"other"),)
    return [
        *stable_group(instance="i"),
        Ask(join(instance="i", protocols=other), 9, keep={"m": "member_id"}),
        *log_of(),
        Ask(leave((m, "i")), 5),
        *log_of(),
    ]


@case("F3")
def refused_joins_are_not_written() -> Steps:
    return [
        Ask(join("unknown"), 5),
        Ask(join(session_ms=1), 5),
        *log_of(),
        Ask(join(protocols=()), 5),
        *log_of(),
    ]


@case("F3, F4")
def what_deleting_writes() -> Steps:
    return [
        create("~t", 2),
        create("~u"),
        Ask(commit(("~t", 0, 5), ("~t", 1, 6), ("~u", 0, 7))),
        delete_offsets(("~t", [0, 1]), ("~u", [])),
        delete_offsets(("~t", [0])),
        *log_of(),
        Ask(DeleteTopicsRequest(topic_names=["~u"], timeout_ms=5000), 5),
        *log_of(),
        Ask(commit(("~t", 0, 5))),
        delete_groups(),
        *log_of(),
    ]


@case("F4, F8")
def what_transactions_write() -> Steps:
    return [
        create(partitions=2),
        init(),
        Ask(commit(("~t", 0, 15)), 8),
        txn_offsets(("~t", 1, 10), version=5),
        end(True, 4),
        txn_offsets(("~t", 1, 11), version=5),
        delete_groups(),
        *log_of(),
        end(True, 4),
        *log_of(),
    ]


@case("G27")
def how_a_consumer_group_is_written() -> Steps:
    return [
        *known_topic(),
        Ask(enter("a", rack="r", assignor="range")),
        *log_of(),
        Ask(commit(("~t", 0, 5), member="a", generation=2), 9),
        Ask(enter("b", instance="i")),
        Ask(heartbeat("a", 2)),
        Ask(heartbeat("a", 2, owned=[("~t", [0, 1])])),
        Ask(heartbeat("b", 3)),
        *log_of(),
        Ask(depart("b", -2, instance="i")),
        Ask(enter("c", instance="i")),
        *log_of(),
        Ask(depart("a")),
        Ask(depart("c", instance="i")),
        delete_groups(),
        *log_of(),
    ]


@case("G21, G24, G27")
def when_a_static_member_got_its_partitions_is_forgotten() -> Steps:
    return [
        *known_topic(),
        Ask(enter("a", instance="i")),
        Ask(commit(("~t", 0, 5), member="a", generation=1), 9),
        Ask(depart("a", -2, instance="i")),
        Ask(enter("b", instance="i")),
        *(Ask(commit(("~t", 0, 5), member="b", generation=epoch), 9) for epoch in (0, 1, 2, 3)),
        *log_of(),
    ]


@case("G23, G27")
def how_a_regular_expression_is_written() -> Steps:
    return [
        *known_topic("~t1", 1),
        Ask(enter("a", names=None, regex="~t.*")),
        Sleep(RESOLVED_S),
        Ask(heartbeat("a", 1)),
        Ask(heartbeat("a", 2, regex="")),
        *log_of(),
        Ask(enter("b", names=None, regex="~t.*")),
        Sleep(RESOLVED_S),
        Ask(depart("b")),
        Ask(depart("a")),
        delete_groups(),
        *log_of(),
    ]


@case("G26, G27")
def how_conversions_are_written() -> Steps:
    m = seen("m")
    nothing: Any = b""
    wants: Any = (("range", subscription(("~t",))),)
    return [
        *known_topic(),
        Ask(join(protocols=wants), 3, keep={"m": "member_id"}),
        Ask(sync(m, assignments=[(m, nothing)]), 3),
        # Not compared: the assignment of one topic follows from an id that the broker draws.
        Ask(enter("a", names=["~none"])),
        *log_of(),
        Ask(depart("a")),
        Ask(describe(), 6),
        *log_of(),
        Ask(commit(("~t", 0, 5), group="~h"), 8),
        Ask(enter("a", group="~h")),
        Ask(depart("a", group="~h")),
        Ask(join("", group="~h", protocols=classic()), 3, keep={"n": "member_id"}),
        *log_of("~h"),
    ]
