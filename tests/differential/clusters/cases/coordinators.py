"""O29 to O32: coordinators of groups and transactions, and what is kept when they move.

The internal topics' partition p is on the brokers p+1, p+2, p+3 (in turns), so that a group
`homed("g", 1)` is coordinated by broker 1, and by 2 after that has gone.
"""

from __future__ import annotations

from typing import Any

from odradek.wire import Request
from odradek.wire.api.delete_groups import DeleteGroupsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.list_transactions import ListTransactionsRequest
from odradek.wire.api.offset_delete import OffsetDeleteRequest

from ...ask.cluster import elect, move
from ...ask.clusters import (
    SETTLED,
    at_each,
    in_versions,
    kill,
    of_listed,
    pause,
    resume,
    start,
    stop,
    topic_on,
)
from ...ask.consumer_groups import depart, describe_consumers, enter, heartbeat
from ...ask.groups import beat, commit, describe, join, leave, offsets_of, sync
from ...ask.homes import homed
from ...ask.records import fetch, list_offsets, produce
from ...ask.streams_groups import describe_streams, stream_beat, stream_depart, stream_enter
from ...ask.transactions import (
    add,
    add_offsets,
    end,
    txn_batch,
    txn_offsets,
)
from ...ask.transactions import describe as describe_transactions
from ...engine.steps import Ask, Send, Sleep, Steps, now, seen
from . import case

G, H = homed("g", 1), homed("h", 2)
X, Y = homed("x", 1), homed("y", 2)
_HELD_S = 5.3
"""So long a commit waits, and the follower is still in sync."""
LONG_MS = 300_000
"""Of transactions: so long a real coordinator waits for its own write, too."""


def _at(step: Ask, at: int) -> Ask:
    """The step, asked of this broker."""
    return Ask(step.request, step.version, at=at, keep=step.keep)


def init(at: int, name: Any = X) -> Ask:
    """InitProducerId, whose id and epoch are kept."""
    request = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=LONG_MS)
    return Ask(request, 5, at=at, keep={"producer": "producer_id", "epoch": "producer_epoch"})


def put(sequence: int, at: int, version: int = 11, name: Any = X) -> Ask:
    """One transactional batch to `~t`-0."""
    data = txn_batch(b"%d" % sequence, sequence=sequence, time=now())
    return Ask(produce(data, transactional_id=name), version, at=at)


@case("O29")
def who_coordinates() -> Steps:
    def find(keys: list[Any], kind: int) -> Request:
        return FindCoordinatorRequest(key=keys[0], key_type=kind, coordinator_keys=keys)

    return [
        *in_versions(find([G], 0), 0, 1, 2, 3, 4, 5, 6),
        *in_versions(find([X], 1), 1, 3, 4, 6),
        *at_each(find([G, H, homed("i", 3)], 0), 6),
        *at_each(find([X, Y], 1), 6),
        stop(1),
        *at_each(find([G, H, homed("i", 3)], 0), 6, (2, 3)),
        *at_each(find([X, Y], 1), 6, (2, 3)),
        start(1),
        *at_each(find([G, H, homed("i", 3)], 0), 6),
    ]


@case("O29")
def groups_asked_at_every_broker() -> Steps:
    member = seen("m")
    asked: list[tuple[Request, int]] = [
        (commit(("~t", 0, 1), group=G), 8),
        (commit(("~t", 0, 1), group=G), 2),
        (offsets_of(G), 5),
        (offsets_of(G), 9),
        (offsets_of(G, [("~t", [0])]), 7),
        (join(group=H), 5),
        (sync("m", group=G), 3),
        (beat("m", group=G), 4),
        (leave(("m", None), group=G), 3),
        (describe(G), 5),
        (describe_consumers(G), 1),
        (heartbeat(group=G), 1),
        (enter("a", group=homed("k", 3)), 1),
        (describe_consumers(homed("k", 3)), 1),
        (stream_enter("a", group=homed("l", 3)), 0),
        (stream_beat("a", 2, group=homed("l", 3)), 0),
        (describe_streams(homed("l", 3)), 0),
        (OffsetDeleteRequest(group_id=G, topics=[]), 0),
        (DeleteGroupsRequest(groups_names=[G, H]), 2),
    ]
    steps: Steps = [
        topic_on([1, 2, 3]),
        Ask(join(group=G), 3, at=1, keep={"m": "member_id"}),
        Ask(sync(member, group=G, assignments=[(member, b"all")]), 3, at=1),
        *at_each(ListGroupsRequest(states_filter=[], types_filter=[]), 5),
    ]
    for request, version in asked:
        steps += at_each(request, version)
    return [
        *steps,
        *at_each(ListGroupsRequest(states_filter=[], types_filter=[]), 5),
        Ask(depart("a", group=homed("k", 3)), 1, at=3),
        Ask(stream_depart("a", group=homed("l", 3)), 0, at=3),
    ]


@case("O29")
def transactions_asked_at_every_broker() -> Steps:
    steps: Steps = [topic_on([1, 2, 3]), init(1)]
    lists = ListTransactionsRequest(state_filters=[], producer_id_filters=[], duration_filter=-1)
    for step in (
        add(name=X),
        add_offsets(G, name=X),
        txn_offsets(group=G, name=X),
        describe_transactions(X, Y),
        end(name=X),
    ):
        steps += at_each(step.request, step.version, (2, 3))
        steps += at_each(step.request, step.version, (1,))
        steps += at_each(lists, 1)
    return [
        *steps,
        *at_each(InitProducerIdRequest(transactional_id=Y, transaction_timeout_ms=LONG_MS), 5),
    ]


@case("O30")
def a_classic_group_moves_with_a_stop() -> Steps:
    return _classic(stop(1))


@case("O30")
def a_classic_group_moves_with_a_kill() -> Steps:
    return _classic(kill(1), SETTLED)


@case("O30")
def a_classic_group_moves_with_an_election() -> Steps:
    internal = "__consumer_offsets"
    return _classic(
        Ask(move((internal, [(0, [2, 1, 3])])), 0, at=3),
        Ask(elect((internal, [0])), 2, at=3),
        Sleep(0.5),
        back=(
            Ask(move((internal, [(0, [1, 2, 3])])), 0, at=3),
            Ask(elect((internal, [0])), 2, at=3),
            Sleep(0.5),
        ),
    )


def _classic(*away: Any, back: tuple[Any, ...] = (start(1),)) -> Steps:
    member = seen("m")
    return [
        topic_on([2, 3, 1]),
        Ask(join(group=G), 3, at=1, keep={"m": "member_id"}),
        Ask(sync(member, group=G, assignments=[(member, b"all")]), 3, at=1),
        Ask(commit(("~t", 0, 5), group=G, member=member, generation=1), 7, at=1),
        *away,
        Ask(beat(member, group=G), 4, at=2, says={"error_code": 0}),
        Ask(describe(G), 5, at=2),
        Ask(offsets_of(G, [("~t", [0])]), 7, at=2),
        Ask(
            commit(("~t", 0, 6), group=G, member=member, generation=1),
            7,
            at=2,
            says=of_listed(error_code=0),
        ),
        Ask(beat(member, group=G), 4, at=3, says={"error_code": 16}),
        Ask(join(member, group=G), 3, at=2, says={"generation_id": 2}),
        Ask(sync(member, 2, group=G, assignments=[(member, b"more")]), 3, at=2),
        *back,
        *at_each(beat(member, 2, group=G), 4),
        *at_each(offsets_of(G), 7),
        *at_each(describe(G), 5),
    ]


@case("O30")
def a_join_waits_while_its_coordinator_stops() -> Steps:
    return [
        Ask(join(group=G), 3, at=1, keep={"m": "member_id"}),
        Ask(sync(seen("m"), group=G, assignments=[(seen("m"), b"all")]), 3, at=1),
        Send(join(group=G), 3, on="second", at=1),
        Sleep(0.3),
        stop(1),
        Sleep(0.3),
        Ask(describe(G), 5, at=2),
        Ask(beat(seen("m"), group=G), 4, at=2),
    ]


@case("O30")
def a_consumer_group_moves() -> Steps:
    return [
        topic_on([2, 3, 1], [3, 1, 2]),
        Ask(enter("a", group=G), 1, at=1),
        Ask(heartbeat("a", 1, group=G, owned=[("~t", [0, 1])]), 1, at=1),
        Ask(describe_consumers(G), 1, at=1),
        Ask(commit(("~t", 0, 3), group=G, member="a", generation=1), 9, at=1),
        stop(1),
        Ask(describe_consumers(G), 1, at=2),
        Ask(heartbeat("a", 1, group=G), 1, at=2),
        Ask(commit(("~t", 0, 4), group=G, member="a", generation=1), 9, at=2),
        Ask(heartbeat("a", 1, group=G), 1, at=3),
        start(1),
        *at_each(heartbeat("a", 1, group=G), 1),
        *at_each(offsets_of(G), 7),
        Ask(depart("a", group=G), 1, at=2),
    ]


@case("O30")
def a_streams_group_moves() -> Steps:
    return [
        topic_on([2, 3, 1], [3, 1, 2]),
        Ask(stream_enter("a", group=G), 0, at=1),
        Ask(commit(("~t", 0, 3), group=G, member="a", generation=2), 9, at=1),
        stop(1),
        Ask(describe_streams(G), 0, at=2),
        Ask(stream_beat("a", 2, group=G), 0, at=2),
        Ask(commit(("~t", 0, 4), group=G, member="a", generation=2), 9, at=2),
        Ask(stream_beat("a", 2, group=G), 0, at=3),
        Ask(stream_enter("b", group=G), 0, at=2),
        start(1),
        *at_each(stream_beat("a", 2, group=G), 0),
        *at_each(describe_streams(G), 0),
        *at_each(offsets_of(G), 7),
        Ask(stream_depart("a", group=G), 0, at=2),
    ]


@case("O31")
def offsets_after_a_move() -> Steps:
    steps: Steps = [topic_on([2, 3, 1])]
    for number in range(5):
        steps.append(Ask(commit(("~t", 0, number), group=G), 7, at=1))
    return [
        *steps,
        stop(1),
        Ask(offsets_of(G, [("~t", [0])]), 7, at=2),
        Ask(offsets_of(G, [("~t", [0])], require_stable=True), 7, at=2),
    ]


@case("O31")
def offsets_while_a_follower_stands_still() -> Steps:
    """The high watermark stands still for longer than a commit waits, and is 15 then."""
    asked = Ask(offsets_of(G, [("~t", [0])]), 7, at=1)
    stable = Ask(offsets_of(G, [("~t", [0])], require_stable=True), 7, at=1)
    return [
        topic_on([1]),
        Ask(commit(("~t", 0, 1), group=G), 8, at=1),
        pause(3),
        Ask(commit(("~t", 0, 5), group=G), 8, at=1),
        Sleep(_HELD_S),
        asked,
        resume(3),
        asked,
        stable,
    ]


@case("O32")
def a_transaction_goes_on_after_its_coordinator_stops() -> Steps:
    return _transaction(stop(1))


@case("O32")
def a_transaction_goes_on_after_its_coordinator_is_killed() -> Steps:
    return _transaction(kill(1), SETTLED)


def _transaction(*away: Any) -> Steps:
    return [
        topic_on([3, 2, 1]),
        init(1),
        _at(add(name=X), 1),
        put(0, 3),
        _at(add_offsets(H, name=X), 1),
        _at(txn_offsets(group=H, name=X), 2),
        *away,
        *at_each(describe_transactions(X).request, 0, (2, 3)),
        put(1, 3),
        _at(end(name=X), 2),
        *at_each(fetch(isolation_level=1), 12, (2, 3)),
        Ask(list_offsets(-1, isolation=1), 9, at=3),
        Ask(offsets_of(H), 7, at=2),
        _at(add(name=X), 2),
        put(2, 3),
        start(1),
        _at(end(False, name=X), 2),
        *at_each(fetch(isolation_level=1), 12),
        *at_each(describe_transactions(X).request, 0),
    ]


@case("O32")
def a_transaction_goes_on_after_its_partition_moves() -> Steps:
    return [
        topic_on([3, 2, 1]),
        init(1),
        _at(add(name=X), 1),
        put(0, 3),
        put(1, 3),
        stop(3),
        Ask(list_offsets(-1, isolation=1), 9, at=2, says=of_listed(offset=0)),
        put(1, 2),
        put(2, 2),
        put(4, 2),
        _at(end(name=X), 1),
        Ask(list_offsets(-1, isolation=1), 9, at=2),
        start(3),
        *at_each(fetch(isolation_level=1), 12),
    ]


@case("O32")
def the_second_protocol_of_transactions_moves() -> Steps:
    return [
        topic_on([3, 2, 1]),
        init(1),
        put(0, 3, version=12),
        *at_each(describe_transactions(X).request, 0),
        stop(1),
        put(1, 3, version=12),
        *at_each(describe_transactions(X).request, 0, (2, 3)),
        Ask(end(name=X, version=5).request, 5, at=2, keep={"epoch": "producer_epoch"}),
        put(0, 3, version=12),
        Ask(end(False, name=X, version=5).request, 5, at=2, keep={"epoch": "producer_epoch"}),
        start(1),
        *at_each(fetch(isolation_level=1), 12),
    ]


@case("O33")
def a_transaction_ends_while_a_partition_has_no_leader() -> Steps:
    both = (("~t", (0,)), ("~u", (0,)))
    data = txn_batch(b"u", time=now())
    return [
        topic_on([3]),
        topic_on([1, 2], name="~u"),
        init(1),
        _at(add(both, name=X), 1),
        put(0, 3),
        Ask(produce(data, name="~u", transactional_id=X), 11, at=1),
        stop(3),
        _at(end(name=X), 1),
        Sleep(2.0),
        *at_each(describe_transactions(X).request, 0, (1, 2)),
        Ask(fetch(name="~u", isolation_level=1), 12, at=1),
        start(3),
        Sleep(1.0),
        Ask(list_offsets(-1, isolation=1), 9, at=3),
        Ask(list_offsets(-1), 9, at=3),
        _at(add(name=X), 1),
        put(1, 3),
        _at(end(name=X), 1),
        Ask(list_offsets(-1, isolation=1), 9, at=3),
        Ask(fetch(isolation_level=1), 12, at=3),
    ]
