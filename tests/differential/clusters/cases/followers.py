"""O21 to O23: reads from followers (KIP-392). Racks a, b, c are those of the brokers 1, 2, 3."""

from __future__ import annotations

from ...ask.batches import batch
from ...ask.cluster import elect, move
from ...ask.clusters import (
    SETTLED,
    at_each,
    in_versions,
    of_fetched,
    pause,
    resume,
    start,
    stop,
    topic_on,
    wrote,
)
from ...ask.records import fetch
from ...engine.steps import Ask, Send, Sleep, Steps
from . import case

LONG_MS = 20_000
RACKS = ("a", "b", "c", "z", "")


@case("O21")
def the_leader_names_the_replica_in_the_rack() -> Steps:
    return [
        topic_on([1, 2]),
        wrote(batch(b"x")),
        *(
            Ask(fetch(rack_id=rack), version, at=1)
            for rack in RACKS
            for version in (10, 11, 12, 17)
        ),
        Ask(
            fetch(rack_id="b"),
            12,
            at=1,
            says=of_fetched(preferred_read_replica=2, high_watermark=1, records=[]),
        ),
        Ask(fetch(rack_id="a"), 12, at=1, says=of_fetched(preferred_read_replica=-1)),
        Ask(fetch(rack_id="c"), 12, at=1, says=of_fetched(preferred_read_replica=-1)),
        Ask(fetch(1, rack_id="b", wait_ms=LONG_MS, min_bytes=1), 12, at=1),
        Ask(fetch(0, rack_id="b", isolation_level=1), 12, at=1),
        Ask(fetch(5, rack_id="b"), 12, at=1, says=of_fetched(error_code=1)),
        Ask(fetch(0, rack_id="b", current_leader_epoch=0), 12, at=1),
        Ask(fetch(0, rack_id="b", last_fetched_epoch=0), 12, at=1),
        *(Ask(fetch(rack_id=rack), 12, at=2) for rack in RACKS),
        *(Ask(fetch(rack_id=rack), 12, at=3) for rack in RACKS),
        stop(2),
        Ask(fetch(rack_id="b"), 12, at=1, says=of_fetched(preferred_read_replica=-1)),
        start(2),
        Ask(fetch(rack_id="b"), 12, at=1),
    ]


@case("O21")
def an_empty_log_and_a_rack() -> Steps:
    return [
        topic_on([1, 2, 3]),
        *(Ask(fetch(rack_id=rack), 12, at=at) for rack in RACKS for at in (1, 2, 3)),
    ]


@case("O22")
def what_followers_serve() -> Steps:
    return [
        topic_on([1, 2]),
        wrote(batch(b"a")),
        wrote(batch(b"b")),
        *(Ask(fetch(offset), version, at=2) for offset in (-1, 0, 1, 2, 3) for version in (11, 17)),
        Ask(fetch(2), 12, at=2, says=of_fetched(error_code=0, records=[])),
        Ask(fetch(3), 12, at=2, says=of_fetched(error_code=1)),
        Ask(fetch(-1), 12, at=2, says=of_fetched(error_code=1)),
        Ask(fetch(isolation_level=1), 12, at=2),
        Send(fetch(2, wait_ms=LONG_MS, min_bytes=1), 12, on="reader", at=2),
        wrote(batch(b"c")),
        Sleep(0.5),
        Ask(fetch(3), 12, at=2),
    ]


@case("O22")
def a_follower_has_a_high_watermark_of_its_own() -> Steps:
    return [
        topic_on([1, 2, 3]),
        wrote(batch(b"a")),
        pause(3),
        wrote(batch(b"b"), acks=1),
        *(Ask(fetch(offset), 12, at=2) for offset in (0, 1, 2, 3)),
        Ask(fetch(1, rack_id="b"), 12, at=1),
        SETTLED,
        *(Ask(fetch(offset), 12, at=2) for offset in (0, 1, 2, 3)),
        resume(3),
        *at_each(fetch(1), 12),
    ]


@case("O23")
def a_fetch_waits_while_the_leader_moves() -> Steps:
    return [
        topic_on([1, 2]),
        wrote(batch(b"x")),
        Ask(move(("~t", [(0, [2, 1])])), 0, at=1),
        Send(fetch(1, wait_ms=LONG_MS, min_bytes=1), 10, on="old", at=1),
        Send(fetch(1, wait_ms=LONG_MS, min_bytes=1), 11, on="new", at=1),
        Send(fetch(1, wait_ms=LONG_MS, min_bytes=1), 17, on="newest", at=1),
        Ask(elect(("~t", [0])), 2, at=1),
        Sleep(0.5),
        wrote(batch(b"y"), at=2),
        Sleep(0.5),
        *in_versions(fetch(1), 10, 12, nodes=(1, 2)),
    ]


@case("O23")
def a_fetch_waits_while_its_replica_is_taken_away() -> Steps:
    return [
        topic_on([1, 2]),
        Send(fetch(0, wait_ms=5000, min_bytes=1), 12, on="leader", at=1),
        Send(fetch(0, wait_ms=5000, min_bytes=1), 12, on="follower", at=2),
        Ask(move(("~t", [(0, [2, 3])])), 0, at=3),
        Sleep(0.5),
        *at_each(fetch(), 12),
        wrote(batch(b"y"), at=2),
        Sleep(6.0),
    ]
