"""Section N: what members of share groups acquire and acknowledge."""

from __future__ import annotations

from typing import Any

from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.share_acknowledge import ShareAcknowledgeRequest
from odradek.wire.api.share_fetch import ShareFetchRequest

from ..ask.group_records import WRITTEN_S, state_written
from ..ask.records import delete_records, put
from ..ask.share_groups import (
    ACCEPT,
    GAP,
    LEAVES,
    REJECT,
    RELEASE,
    RENEW,
    Acks,
    share_ack,
    share_beat,
    share_config,
    share_fetch,
    share_group,
    share_state,
)
from ..ask.topics import create
from ..ask.transactions import add, end, init, write
from ..engine.steps import Ask, Close, Sleep, Steps
from . import case

T0 = ("~t", 0)
LOCK_S = 1.3
"""How long the shortest lock lasts, and a little more."""
LOG = 12
ROWS = [b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"h"]


def opened(member: str = "a", on: str = "main", **more: Any) -> Ask:
    """Open a session of partition 0; a real broker loads the partition first."""
    return Ask(share_fetch({T0: ()}, 0, member, max_wait_ms=600, **more), on=on)


def state_log() -> Steps:
    """Everything written of the group's state in partition 0."""
    return [Sleep(WRITTEN_S), Ask(state_written(), LOG)]


def ack(epoch: int, *batches: tuple[int, int, list[int]], **more: Any) -> Ask:
    """Acknowledge batches of partition 0."""
    found: Acks = list(batches)
    return Ask(share_ack({T0: found}, epoch, **more))


@case("N9", each=ShareFetchRequest)
def share_sessions() -> Steps:
    return [
        *share_group(2),
        *(Ask(share_fetch({T0: ()}, epoch)) for epoch in (-1, 1, -2, 7)),
        Ask(share_fetch({T0: [(0, 0, [ACCEPT])]})),
        Ask(share_fetch({T0: ()}, member="")),
        Ask(share_fetch({T0: ()}, member=None)),
        Ask(share_fetch({T0: ()}, member="m" * 37)),
        Ask(share_fetch({T0: ()}, group_id=None)),
        opened(),
        Ask(share_fetch({}, 2)),
        Ask(share_fetch({}, -2)),
        Ask(share_fetch({}, 1)),
        Ask(share_fetch({T0: ()}, 2)),
        Ask(share_fetch({}, 3, forgotten={"~t": [0]})),
        Ask(share_fetch({T0: ()}, 4)),
        Ask(share_fetch({}, 5)),
        opened(),
        Ask(share_fetch({}, 1)),
        Ask(share_fetch({}, -1)),
        Ask(share_fetch({}, -1)),
        opened("nobody"),
        Ask(share_beat("a", LEAVES)),
        Ask(share_fetch({}, 1, "nobody")),
    ]


@case("N9")
def another_connection_takes_a_session_over() -> Steps:
    return [
        *share_group(),
        put(*ROWS),
        opened(on="first"),
        opened(on="second"),
        Close("first"),
        Sleep(WRITTEN_S),
        Ask(share_fetch({}, 1), on="second"),
        opened("b", on="third"),
        Close("second"),
        Sleep(WRITTEN_S),
        Ask(share_fetch({}, 1, "b", max_wait_ms=300), on="third"),
    ]


@case("N10, N11", each=ShareFetchRequest)
def partitions_that_are_not_there() -> Steps:
    gone = DeleteTopicsRequest(
        topics=[DeleteTopicsRequest.Topic(name="~t", topic_id=bytes(16))],
        topic_names=["~t"],
        timeout_ms=9000,
    )
    return [
        *share_group(),
        create("~u", 1),
        Ask(share_fetch({T0: (), ("~t", 9): ()}, max_wait_ms=600)),
        Ask(share_fetch({}, 1)),
        Ask(share_fetch({("~none", 0): ()})),
        Ask(share_fetch({}, 2)),
        opened(),
        Ask(share_fetch({("~none", 0): ()}, 1)),
        Ask(share_fetch({}, 1)),
        Ask(share_fetch({("~u", 0): ()}, max_wait_ms=300)),
        opened(),
        Ask(gone),
        Sleep(WRITTEN_S),
        Ask(share_fetch({}, 1)),
        Ask(share_fetch({}, 2)),
    ]


@case("N10, N19", each=ShareFetchRequest)
def a_topic_is_deleted_under_a_session() -> Steps:
    """Its answers fail; what it acknowledges counts, and what it acquires stays acquired."""
    waits: dict[str, Any] = {"max_wait_ms": 600, "min_bytes": 100_000}
    renewal: dict[str, Any] = {
        "is_renew_ack": True,
        "max_bytes": 0,
        "max_records": 0,
        "batch_size": 0,
    }
    return [
        *share_group(),
        create("~u", 1),
        put(*ROWS),
        opened(max_records=1),
        Ask(share_fetch({("~u", 0): ()}, 1, **waits)),
        Ask(DeleteTopicsRequest(topic_names=["~u"], timeout_ms=9000), 5),
        Sleep(WRITTEN_S),
        Ask(share_fetch({T0: [(0, 2, [ACCEPT]), (3, 4, [RELEASE])]}, 2, **waits)),
        Ask(share_fetch({T0: [(5, 5, [RENEW])]}, 3, **renewal)),
        Ask(share_fetch({T0: [(0, 2, [ACCEPT]), (9, 9, [ACCEPT])]}, 4, **waits)),
        ack(5, (3, 7, [ACCEPT])),
        Ask(share_ack({("~u", 0): [(0, 0, [ACCEPT])]}, 6)),
        put(*ROWS),
        Ask(share_fetch({}, 7, max_wait_ms=300, min_bytes=1)),
        Ask(share_fetch({("~t", 9): ()}, 8, max_records=0)),
        Ask(share_fetch({}, 9, forgotten={"~u": [0]})),
        ack(10, (8, 15, [ACCEPT])),
        Ask(share_fetch({("~u", 0): ()}, 11)),
        Ask(share_fetch({T0: ()}, -1)),
        *state_log(),
    ]


@case("N11")
def how_long_a_share_fetch_waits() -> Steps:
    return [
        *share_group(),
        opened(),
        Ask(share_fetch({}, 1, max_wait_ms=200, min_bytes=1)),
        put(*ROWS),
        Ask(share_fetch({}, 2, max_wait_ms=300, min_bytes=100_000)),
        Ask(share_fetch({}, 3, max_wait_ms=200, min_bytes=1)),
    ]


@case("N12", each=ShareFetchRequest)
def how_much_is_acquired() -> Steps:
    steps: Steps = [*share_group(), opened()]
    steps += [put(b"a", b"b", b"c") for _ in range(14)]
    wishes: list[dict[str, Any]] = [
        {"max_records": 0},
        {"max_records": -1},
        {"max_records": 1},
        {"max_records": 4},
        {"max_records": 6, "batch_size": 1},
        {"max_records": 9, "batch_size": 4},
        {"max_records": 3, "batch_size": 0},
        {"max_bytes": 0},
        {"max_bytes": 1},
        {"max_bytes": -1},
        {"max_bytes": 250},
        {},
    ]
    return steps + [Ask(share_fetch({}, n, **wish)) for n, wish in enumerate(wishes, 1)]


@case("N12")
def exactly_so_many() -> Steps:
    exact: dict[str, Any] = {"share_acquire_mode": 1}
    return [
        *share_group(record_lock_duration_ms="1000"),
        opened(max_records=4, **exact),
        put(*ROWS),
        put(*ROWS),
        Ask(share_fetch({}, 1, max_records=3, **exact)),
        Ask(share_fetch({}, 2, max_records=10, **exact)),
        Ask(share_fetch({}, 3, max_records=2, **exact)),
        Ask(share_fetch({}, 4)),
        Sleep(LOCK_S),
        Ask(share_fetch({}, 5, max_records=5, **exact)),
        Ask(share_fetch({}, 6, max_records=5, share_acquire_mode=2)),
        *state_log(),
    ]


@case("N13")
def the_limit_of_locks() -> Steps:
    return [
        *share_group(partition_max_record_locks="100"),
        opened(),
        *(put(*[b"v"] * 30) for _ in range(5)),
        Ask(share_fetch({}, 1, max_records=1000)),
        Ask(share_fetch({}, 2, max_wait_ms=200)),
        ack(3, (90, 119, [RELEASE])),
        Ask(share_fetch({}, 4, max_wait_ms=200)),
        ack(5, (30, 59, [ACCEPT])),
        Ask(share_fetch({}, 6, max_wait_ms=200)),
        ack(7, (0, 29, [ACCEPT])),
        Ask(share_fetch({}, 8, max_wait_ms=200)),
    ]


@case("N14")
def a_group_begins_at_the_end() -> Steps:
    return [
        *share_group(auto_offset_reset="latest"),
        put(*ROWS),
        opened(),
        put(b"x"),
        Ask(share_fetch({}, 1)),
    ]


@case("N14")
def a_group_begins_so_long_ago() -> Steps:
    return [
        *share_group(auto_offset_reset="by_duration:PT1H"),
        opened(),
        put(*ROWS),
        Ask(share_fetch({}, 1, max_wait_ms=300)),
    ]


@case("N14")
def records_are_deleted_meanwhile() -> Steps:
    return [
        *share_group(record_lock_duration_ms="1000"),
        put(*ROWS),
        opened(),
        put(b"x", b"y"),
        Ask(delete_records(("~t", 0, 9))),
        Ask(share_fetch({}, 1)),
        ack(2, (0, 7, [ACCEPT])),
        Ask(share_fetch({}, 3)),
        Sleep(LOCK_S),
        Ask(share_fetch({}, 4, max_wait_ms=200)),
        Ask(share_fetch({}, 5, max_wait_ms=200)),
        *state_log(),
    ]


@case("N17, N19")
def acknowledging_across_a_start_that_nobody_read() -> Steps:
    return [
        *share_group(),
        opened(),
        put(b"a", b"b"),
        Ask(delete_records(("~t", 0, 2))),
        Sleep(WRITTEN_S),
        Ask(share_fetch({}, 1, max_wait_ms=200)),
        put(*ROWS),
        ack(2, (0, 4, [ACCEPT])),
        ack(3, (0, 1, [ACCEPT])),
        Ask(share_fetch({T0: [(1, 3, [ACCEPT])]}, 4)),
        ack(LEAVES, (1, 3, [ACCEPT])),
        Ask(share_fetch({}, 5)),
        *state_log(),
    ]


@case("N14")
def transactions_and_what_is_acquired() -> Steps:
    steps: Steps = []
    for level in ("read_uncommitted", "read_committed"):
        steps += [share_config(isolation_level=level), opened(level[:8], max_records=1000)]
        steps += [Ask(share_fetch({}, 1, level[:8])), Ask(share_fetch({}, -1, level[:8]))]
    return [
        *share_group(),
        put(b"plain"),
        init(),
        add(),
        write(b"kept"),
        end(True, 3),
        Sleep(WRITTEN_S),
        add(),
        write(b"gone", b"gone", sequence=1),
        end(False, 3),
        Sleep(WRITTEN_S),
        put(b"more"),
        *steps,
        *state_log(),
    ]


@case("N15, N16")
def deliveries_up_to_the_limit() -> Steps:
    steps: Steps = [*share_group(record_lock_duration_ms="1000"), put(*ROWS), opened()]
    for epoch in range(1, 14):
        ack_or_wait: Steps = [Sleep(LOCK_S)]
        steps += [*ack_or_wait, Ask(share_fetch({}, epoch))]
    return [*steps, *state_log()]


@case("N15")
def deliveries_with_a_limit_of_ten() -> Steps:
    steps: Steps = [*share_group(delivery_count_limit="10"), put(*ROWS), opened()]
    epoch = 1
    for _ in range(12):
        steps += [
            Ask(share_fetch({T0: ()}, epoch)),
            Ask(share_fetch({}, -1)),
            Sleep(WRITTEN_S),
            opened(),
        ]
    return [*steps, *state_log()]


@case("N15")
def deliveries_with_a_limit_of_two() -> Steps:
    steps: Steps = [*share_group(delivery_count_limit="2"), put(*ROWS), opened()]
    for _ in range(2):
        steps += [Ask(share_fetch({}, -1)), Sleep(WRITTEN_S), opened()]
    return [*steps, *state_log()]


@case("N16")
def what_releases_records() -> Steps:
    return [
        *share_group(),
        put(*ROWS),
        opened(),
        ack(1, (0, 1, [RELEASE])),
        Ask(share_fetch({}, 2)),
        Ask(share_beat("a", LEAVES)),
        Ask(share_fetch({T0: ()}, 0, "b", max_wait_ms=200)),
        opened(),
        Ask(share_fetch({}, 1, "b", max_wait_ms=200)),
        Ask(share_ack({}, -1)),
        Sleep(WRITTEN_S),
        Ask(share_fetch({}, 2, "b", max_wait_ms=200)),
        *state_log(),
    ]


@case("N17", each=ShareAcknowledgeRequest)
def types_of_acknowledgements() -> Steps:
    return [
        *share_group(),
        put(*ROWS),
        opened(),
        ack(1, (0, 7, [5])),
        ack(2, (0, 7, [-1])),
        ack(3, (0, 7, [])),
        ack(4, (0, 7, [ACCEPT, ACCEPT])),
        ack(5, (3, 2, [ACCEPT])),
        ack(6, (3, 4, [ACCEPT]), (0, 1, [ACCEPT])),
        ack(7, (0, 8, [ACCEPT])),
        ack(8, (9, 9, [ACCEPT])),
        ack(9, (0, 1, [ACCEPT]), (1, 2, [ACCEPT])),
        ack(10, (0, 3, [ACCEPT, RELEASE, REJECT, GAP]), (5, 5, [9])),
        ack(11, (0, 3, [ACCEPT, RELEASE, REJECT, GAP]), (5, 5, [RELEASE])),
        ack(12, (0, 0, [ACCEPT])),
        ack(13, (1, 1, [ACCEPT])),
        ack(14, (4, 4, [RENEW])),
        ack(15),
        Ask(share_fetch({}, 16)),
        ack(17, (1, 7, [ACCEPT])),
        ack(18, (1, 1, [ACCEPT]), (4, 4, [ACCEPT]), (5, 5, [REJECT]), (6, 7, [ACCEPT])),
        *state_log(),
    ]


@case("N17")
def another_member_s_records() -> Steps:
    return [
        *share_group(),
        put(*ROWS),
        opened(),
        opened("b", on="other"),
        Ask(share_ack({T0: [(0, 7, [ACCEPT])]}, 1, "b"), on="other"),
        Ask(share_ack({T0: [(2, 3, [ACCEPT])]}, 2, "b"), on="other"),
        ack(1, (2, 3, [ACCEPT])),
        Ask(share_ack({T0: [(0, 1, [ACCEPT])]}, 3, "b"), on="other"),
    ]


@case("N18", each=ShareAcknowledgeRequest)
def sessions_of_acknowledgements() -> Steps:
    return [
        *share_group(),
        put(*ROWS),
        opened(),
        ack(0, (0, 0, [ACCEPT])),
        ack(3, (0, 0, [ACCEPT])),
        ack(-2, (0, 0, [ACCEPT])),
        ack(1, (0, 0, [ACCEPT]), member="nobody"),
        ack(1, (0, 0, [ACCEPT]), member=""),
        ack(1, (0, 0, [ACCEPT]), group_id=None),
        Ask(share_ack({T0: [(0, 0, [ACCEPT])], ("~t", 7): [(0, 0, [ACCEPT])]}, 1)),
        Ask(share_ack({("~none", 0): [(0, 0, [ACCEPT])], T0: [(1, 1, [ACCEPT])]}, 2)),
        ack(-1, (2, 2, [ACCEPT])),
        Sleep(WRITTEN_S),
        ack(4, (3, 3, [ACCEPT])),
        opened(),
        *state_log(),
    ]


@case("N17, N24", each=ShareAcknowledgeRequest)
def what_the_share_coordinator_refuses() -> Steps:
    return [
        *share_group(),
        put(*ROWS),
        opened(),
        share_state("delete"),
        ack(1, (0, 0, [ACCEPT])),
        Ask(share_fetch({T0: [(1, 1, [ACCEPT])]}, 2)),
        ack(3, (0, 7, [RELEASE])),
        share_state("initialize", state_epoch=9),
        ack(4, (0, 0, [ACCEPT])),
        ack(5, (0, 0, [ACCEPT])),
        opened(),
        share_state("read", leader_epoch=9),
        ack(1, (0, 0, [ACCEPT])),
        ack(2, (0, 0, [ACCEPT])),
    ]


@case("N19")
def renewals() -> Steps:
    nothing: dict[str, Any] = {
        "is_renew_ack": True,
        "max_bytes": 0,
        "max_records": 0,
        "batch_size": 0,
    }
    return [
        *share_group(record_lock_duration_ms="1000"),
        put(*ROWS),
        opened(),
        Sleep(LOCK_S / 2),
        ack(1, (0, 1, [RENEW])),
        ack(2, (0, 1, [RENEW]), is_renew_ack=True),
        Ask(share_fetch({T0: [(2, 3, [RENEW])]}, 3, **nothing)),
        Ask(share_fetch({T0: [(2, 3, [RENEW])]}, 4, **{**nothing, "max_bytes": 1})),
        Ask(share_fetch({T0: [(2, 3, [RENEW])]}, 4, **{**nothing, "max_wait_ms": 1})),
        Ask(share_fetch({T0: [(2, 3, [RENEW])]}, 4, **{**nothing, "min_bytes": 1})),
        Ask(share_fetch({T0: [(2, 3, [RENEW])]}, 4, **{**nothing, "batch_size": 1})),
        Sleep(LOCK_S / 2),
        opened("b"),
        share_config(renew_acknowledge_enable="false"),
        Sleep(LOCK_S),
        Ask(share_fetch({}, 1, "b")),
        Ask(share_ack({T0: [(0, 0, [RENEW])]}, 2, "b", is_renew_ack=True)),
    ]


@case("N12, N18")
def acknowledging_with_a_fetch() -> Steps:
    return [
        *share_group(),
        put(*ROWS),
        opened(),
        put(b"x", b"y"),
        Ask(share_fetch({T0: [(0, 3, [ACCEPT]), (4, 5, [RELEASE]), (6, 7, [REJECT])]}, 1)),
        Ask(share_fetch({T0: [(0, 0, [ACCEPT])], ("~t", 9): [(0, 0, [ACCEPT])]}, 2)),
        Ask(share_fetch({}, 3)),
        Ask(share_fetch({T0: [(4, 4, [ACCEPT])]}, -1)),
        Sleep(WRITTEN_S),
        opened(),
        *state_log(),
    ]


@case("N25")
def a_leader_that_forgets() -> Steps:
    """All sessions of the group have ended with their connections: the state is read again."""
    return [
        *share_group(),
        put(*ROWS),
        opened(on="first"),
        Ask(
            share_ack(
                {T0: [(1, 1, [ACCEPT]), (3, 4, [RELEASE]), (6, 6, [REJECT])]},
                1,
            ),
            on="first",
        ),
        Close("first"),
        Sleep(WRITTEN_S),
        opened("b"),
        Ask(share_fetch({}, 1, "b")),
        Ask(share_ack({T0: [(0, 0, [ACCEPT]), (2, 5, [ACCEPT])]}, 2, "b")),
        *state_log(),
    ]
