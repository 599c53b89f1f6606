"""O14 to O20: high watermarks, the least number in sync, eligible leaders, what is lost."""

from __future__ import annotations

from ...ask.batches import TIME, batch
from ...ask.cluster import elect, move
from ...ask.clusters import (
    SETTLED,
    at_each,
    described,
    epoch_end,
    in_versions,
    kill,
    of_fetched,
    of_listed,
    pause,
    resume,
    set_config,
    start,
    stop,
    topic_on,
    view,
    wrote,
)
from ...ask.records import fetch, list_offsets, produce
from ...engine.steps import Ask, Send, Sleep, Steps
from . import case

ABC = [1, 2, 3]
SHORT_MS = 400


@case("O14")
def a_follower_in_sync_stands_still() -> Steps:
    return [
        topic_on(ABC),
        wrote(batch(b"a")),
        pause(3),
        wrote(batch(b"b"), acks=1, says={"error_code": 0, "base_offset": 1}),
        Ask(list_offsets(-1), 9, at=1, says=of_listed(offset=1)),
        Ask(fetch(1), 12, at=1, says=of_fetched(high_watermark=1, records=[])),
        Ask(fetch(2), 12, at=1, says=of_fetched(error_code=0, records=[])),
        Ask(fetch(3), 12, at=1, says=of_fetched(error_code=1)),
        Ask(epoch_end(0), 4, at=1, says=of_listed(end_offset=2)),
        Ask(list_offsets(TIME), 9, at=1),
        Ask(list_offsets(-3), 9, at=1),
        wrote(batch(b"c"), timeout_ms=SHORT_MS, says={"error_code": 7, "base_offset": 2}),
        Ask(fetch(), 12, at=1),
        SETTLED,
        Ask(list_offsets(-1), 9, at=1, says=of_listed(offset=3)),
        Ask(fetch(), 12, at=1),
        Ask(fetch(), 12, at=2),
        resume(3),
        *at_each(fetch(), 12),
        *view(),
    ]


@case("O14")
def whoever_waits_is_woken_when_a_follower_is_dropped() -> Steps:
    return [
        topic_on(ABC),
        wrote(batch(b"a")),
        pause(3),
        Send(fetch(1, wait_ms=25_000, min_bytes=1), 12, on="reader", at=1),
        Send(produce(batch(b"b"), timeout_ms=25_000), 12, on="writer", at=1),
        SETTLED,
        Sleep(0.3),
        resume(3),
    ]


@case("O15")
def fewer_in_sync_than_there_must_be() -> Steps:
    return [
        topic_on(ABC, min_insync_replicas="2"),
        wrote(batch(b"a")),
        stop(3),
        stop(2),
        *(
            wrote(batch(b"b"), version=version, says={"error_code": 19, "base_offset": -1})
            for version in (3, 9, 12, 13)
        ),
        wrote(batch(b"b"), acks=1, says={"error_code": 0, "base_offset": 1}),
        wrote(batch(b"b"), acks=1),
        Ask(list_offsets(-1), 9, at=1, says=of_listed(offset=1)),
        Ask(fetch(), 12, at=1, says=of_fetched(high_watermark=1)),
        *view(nodes=(1,)),
        set_config("min.insync.replicas", "1"),
        wrote(batch(b"c"), says={"error_code": 0, "base_offset": 3}),
        Ask(list_offsets(-1), 9, at=1),
        set_config("min.insync.replicas", "2"),
        wrote(batch(b"d"), says={"error_code": 19}),
        start(3),
        wrote(batch(b"e"), says={"error_code": 0}),
        *view(nodes=(1, 3)),
        start(2),
        *at_each(fetch(), 12),
    ]


@case("O16")
def in_sync_become_too_few_while_a_produce_waits() -> Steps:
    return [
        topic_on([1, 2], min_insync_replicas="2"),
        wrote(batch(b"a")),
        pause(2),
        Send(produce(batch(b"b"), timeout_ms=9_000), 12, on="writer", at=1),
        SETTLED,
        *view(nodes=(1, 3)),
        Sleep(4.0),
        Ask(list_offsets(-1), 9, at=1),
        Ask(epoch_end(0), 4, at=1),
        resume(2),
        *at_each(fetch(), 12),
        *view(),
    ]


@case("O17")
def the_leader_moves_while_a_produce_waits() -> Steps:
    return [
        topic_on(ABC),
        wrote(batch(b"a")),
        Ask(move(("~t", [(0, [2, 1, 3])])), 0, at=1),
        pause(3),
        Send(produce(batch(b"b"), timeout_ms=30_000), 12, on="writer", at=1),
        Ask(elect(("~t", [0])), 2, at=1),
        Sleep(0.2),
        Ask(list_offsets(-1), 5, at=2),
        SETTLED,
        *at_each(fetch(), 12, (1, 2)),
        resume(3),
        *at_each(fetch(), 12),
    ]


@case("O18")
def a_new_leader_does_not_know_the_end() -> Steps:
    return [
        topic_on(ABC),
        wrote(batch(b"a")),
        Ask(move(("~t", [(0, [2, 1, 3])])), 0, at=1),
        pause(3),
        wrote(batch(b"b"), acks=1),
        Ask(elect(("~t", [0])), 2, at=1),
        *(Ask(list_offsets(-1), version, at=2) for version in (1, 4, 5, 9)),
        Ask(list_offsets(-1, isolation=1), 9, at=2),
        Ask(list_offsets(TIME + 100), 9, at=2),
        Ask(list_offsets(-2), 9, at=2, says=of_listed(error_code=0)),
        Ask(list_offsets(TIME), 9, at=2, says=of_listed(error_code=0)),
        Ask(fetch(), 12, at=2, says=of_fetched(high_watermark=1)),
        SETTLED,
        Ask(list_offsets(-1), 9, at=2, says=of_listed(error_code=0, offset=2)),
        resume(3),
        *at_each(fetch(), 12),
    ]


@case("O19")
def who_left_is_eligible() -> Steps:
    return [
        topic_on(ABC, min_insync_replicas="2"),
        wrote(batch(b"a")),
        stop(3),
        stop(2),
        *at_each(described("~t"), 0, (1,)),
        wrote(batch(b"lost"), acks=1),
        start(3),
        stop(3),
        *at_each(described("~t"), 0, (1,)),
        start(2),
        *view(nodes=(1, 2)),
        start(3),
        *view(),
    ]


@case("O19")
def an_eligible_one_leads_and_what_only_the_last_had_is_lost() -> Steps:
    return [
        topic_on([1, 2], min_insync_replicas="2"),
        wrote(batch(b"a")),
        stop(2),
        wrote(batch(b"b"), acks=1, says={"error_code": 0}),
        Ask(fetch(), 12, at=1),
        stop(1),
        *view(nodes=(3,)),
        start(2),
        *view(nodes=(2, 3)),
        Ask(fetch(), 12, at=2),
        Ask(list_offsets(-1), 9, at=2),
        wrote(batch(b"c"), at=2, acks=1),
        start(1),
        *at_each(fetch(), 12),
        *(Ask(epoch_end(epoch), 4, at=2) for epoch in range(4)),
        *view(),
    ]


@case("O19")
def a_killed_one_is_not_eligible() -> Steps:
    return [
        topic_on([1, 2], min_insync_replicas="2"),
        wrote(batch(b"a")),
        kill(2),
        SETTLED,
        *view(nodes=(1, 3)),
        stop(1),
        start(2),
        *view(nodes=(2, 3)),
        Ask(fetch(), 12, at=2),
        start(1),
        *view(),
    ]


@case("O20")
def an_unclean_election_by_request() -> Steps:
    return [
        *_only_the_first_has_all(),
        Ask(
            elect(("~t", [0]), kind=1),
            2,
            at=3,
            says={"replica_election_results.0.partition_result.0.error_code": 0},
        ),
        *_after_an_unclean_election(),
    ]


@case("O20")
def an_unclean_election_by_config() -> Steps:
    return [
        *_only_the_first_has_all(),
        set_config("unclean.leader.election.enable", "true", at=3),
        *_after_an_unclean_election(),
    ]


def _only_the_first_has_all() -> Steps:
    """1 and 2 have the records a and b, 1 also c to e; 1 is stopped, and 2 has come back."""
    return [
        topic_on([1, 2]),
        wrote(batch(b"a", b"b")),
        stop(2),
        wrote(batch(b"c", b"d")),
        wrote(batch(b"e")),
        stop(1),
        start(2),
        *view(nodes=(2, 3)),
    ]


def _after_an_unclean_election() -> Steps:
    return [
        *view(nodes=(2, 3)),
        Ask(fetch(), 12, at=2),
        Ask(
            fetch(4, last_fetched_epoch=0),
            12,
            at=2,
            says=of_fetched(**{"diverging_epoch.epoch": 0, "diverging_epoch.end_offset": 2}),
        ),
        *in_versions(fetch(4), 4, 11, 12, nodes=(2,)),
        wrote(batch(b"C", b"D", b"E"), at=2),
        *in_versions(fetch(4), 4, 11, 12, nodes=(2,)),
        Ask(fetch(4, last_fetched_epoch=0), 12, at=2),
        *(Ask(epoch_end(epoch), 4, at=2) for epoch in range(5)),
        start(1),
        *at_each(fetch(), 12),
        *view(),
    ]
