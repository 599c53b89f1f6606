"""Section C: what Fetch returns, when it waits, and what wakes it."""

from __future__ import annotations

from typing import Any

from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.fetch import FetchRequest

from ..ask.batches import batch
from ..ask.records import delete_records, fetch, fetch_all, produce, put, wanted
from ..ask.topics import create
from ..ask.transactions import add, end, init, write
from ..engine.steps import Ask, Send, Sleep, Steps
from . import case

LONG_MS = 3000


@case("C1", each=FetchRequest)
def when_it_does_not_wait() -> Steps:
    return [
        create(partitions=2),
        put(b"x"),
        Ask(fetch(1, wait_ms=LONG_MS, min_bytes=0)),
        Ask(fetch(1, wait_ms=0, min_bytes=100)),
        Ask(fetch(1, wait_ms=-1, min_bytes=100)),
        Ask(fetch(0, wait_ms=LONG_MS, min_bytes=1)),
        Ask(fetch(9, wait_ms=LONG_MS, min_bytes=1)),
        Ask(fetch_all(wait_ms=LONG_MS, min_bytes=1)),
        Ask(fetch(name="~none", wait_ms=LONG_MS, min_bytes=1)),
        Ask(fetch(1, wait_ms=LONG_MS, min_bytes=1, current_leader_epoch=5), 12),
    ]


@case("C1", each=FetchRequest)
def an_unknown_topic_does_not_cut_the_wait() -> Steps:
    idle = fetch_all(("~none", [wanted()]), ("~t", [wanted()]), wait_ms=300, min_bytes=1)
    return [create(), Send(idle), Sleep(0.15), Sleep(0.3)]


@case("C2", each=FetchRequest)
def enough_from_two_partitions_wakes() -> Steps:
    request = fetch_all(("~t", [wanted(), wanted(partition=1)]), wait_ms=LONG_MS, min_bytes=150)
    return [
        create(partitions=2),
        Send(request, on="f"),
        put(b"x", key=None),
        Sleep(0.05),
        put(bytes(50), partition=1),
        Sleep(0.1),
    ]


@case("C2")
def a_roll_wakes_and_so_does_deletion() -> Steps:
    big = bytes(600_000)
    return [
        create(segment_bytes="1048576"),
        put(b"x"),
        Send(fetch(1, wait_ms=LONG_MS, min_bytes=10_000_000, max_bytes=20_000_000), 12, on="f"),
        put(big),
        Sleep(0.05),
        put(big),
        Sleep(0.1),
        Send(fetch(3, wait_ms=LONG_MS, min_bytes=1), 12, on="g"),
        Sleep(0.05),
        Ask(DeleteTopicsRequest(topic_names=["~t"], timeout_ms=5000), 5),
        Sleep(0.1),
    ]


@case("C2")
def a_roll_wakes_a_fetch_that_was_at_the_end() -> Steps:
    """As on an older segment, so whatever is missing; but not before there is more to read."""
    big = bytes(600_000)
    return [
        create(segment_bytes="1048576"),
        put(big),
        Send(fetch(1, wait_ms=LONG_MS, min_bytes=10_000_000, max_bytes=20_000_000), 12, on="f"),
        Send(
            fetch_all(
                ("~t", [wanted(1)]),
                wait_ms=LONG_MS,
                min_bytes=10_000_000,
                max_bytes=20_000_000,
                isolation_level=1,
            ),
            12,
            on="g",
        ),
        Sleep(0.05),
        put(big),
        Sleep(0.1),
    ]


@case("C2", each=FetchRequest)
def what_counts_towards_enough() -> Steps:
    """As much as lies in a segment, up to each partition's limit, even where a batch is cut."""

    def waiting(on: str, first: int, second: int, min_bytes: int) -> Ask:
        both = [
            wanted(partition_max_bytes=first),
            wanted(partition=1, partition_max_bytes=second),
        ]
        return Send(fetch_all(("~t", both), wait_ms=LONG_MS, min_bytes=min_bytes), on=on)

    return [
        create(partitions=2),
        put(bytes(100)),
        waiting("a", 1000, 1000, 300),
        waiting("b", 1000, 50, 220),
        waiting("c", 50, 50, 220),
        waiting("d", 50, 50, 180),
        Sleep(0.05),
        put(bytes(100), partition=1),
        Sleep(0.1),
        put(bytes(100), partition=1),
        Sleep(0.1),
        waiting("e", 50, 50, 101),
        waiting("f", 50, 50, 100),
        waiting("g", 1000, 50, 210),
        Sleep(0.1),
    ]


@case("C2, C7")
def committed_fetches_that_wait() -> Steps:
    """One beyond the last stable offset is answered at once; others when enough is stable."""
    big = bytes(600_000)

    def waiting(on: str, offset: int, **more: int) -> Ask:
        given: Any = {"wait_ms": LONG_MS, "min_bytes": 10_000_000, "max_bytes": 20_000_000, **more}
        return Send(fetch(offset, isolation_level=1, **given), 12, on=on)

    return [
        create(segment_bytes="1048576"),
        init(),
        put(big),
        add(),
        write(b"x"),
        waiting("a", 2),
        waiting("b", 1),
        waiting("c", 0),
        waiting("d", 0, min_bytes=600_000),
        Sleep(0.1),
        put(big),
        waiting("e", 0),
        Sleep(0.1),
        put(big),
        Sleep(0.1),
        end(True, 4),
        Sleep(0.1),
    ]


@case("C2")
def deleted_records_do_not_wake() -> Steps:
    return [
        create(),
        put(b"x"),
        put(b"y"),
        Send(fetch(0, wait_ms=700, min_bytes=100_000), 12, on="f"),
        Sleep(0.05),
        Ask(delete_records(("~t", 0, 1))),
        Sleep(0.3),
        Sleep(0.6),
    ]


@case("C2")
def an_older_segment_is_not_waited_for() -> Steps:
    big = bytes(600_000)
    return [
        create(segment_bytes="1048576"),
        put(big),
        put(big),
        put(b"x"),
        Ask(fetch(0, wait_ms=LONG_MS, min_bytes=10_000_000, max_bytes=20_000_000), 12),
        Ask(fetch(0, max_bytes=20_000_000, partition_max_bytes=20_000_000), 12),
        Ask(fetch(1, max_bytes=20_000_000, partition_max_bytes=20_000_000), 12),
    ]


@case("C4", each=FetchRequest)
def limits_and_cut_batches() -> Steps:
    both = [wanted(), wanted(partition=1)]
    return [
        create("~e"),
        Ask(fetch(name="~e", partition_max_bytes=-1)),
        Ask(fetch(name="~e", max_bytes=-1)),
        create(partitions=2),
        put(b"a" * 100),
        put(b"b" * 100),
        put(b"c" * 100, partition=1),
        *(
            Ask(fetch_all(("~t", both), max_bytes=size))
            for size in (-1, 0, 1, 100, 169, 170, 250, 400, 600)
        ),
        *(Ask(fetch(partition_max_bytes=size)) for size in (-1, 0, 1, 100, 200, 339, 340, 341)),
        Ask(
            fetch_all(("~t", [wanted(2), wanted(partition=1, partition_max_bytes=5)]), max_bytes=50)
        ),
        *(
            Ask(fetch_all(("~t", [first, wanted(), wanted(partition=1)]), max_bytes=-1))
            for first in (wanted(partition=7), wanted(99), wanted(partition=1))
        ),
    ]


@case("C5", each=FetchRequest)
def reads_start_at_the_batch_that_holds_the_offset() -> Steps:
    return [
        create(),
        put(b"a", b"b", b"c"),
        put(b"d", b"e", codec=1),
        *(Ask(fetch(offset)) for offset in range(6)),
    ]


@case("C6", each=FetchRequest)
def offsets_out_of_range() -> Steps:
    return [
        create(),
        *(put(b"%d" % n) for n in range(3)),
        Ask(delete_records(("~t", 0, 2))),
        *(Ask(fetch(offset)) for offset in (-2, -1, 0, 1, 2, 3, 4, 2**62)),
        *(Ask(fetch(0, partition=index)) for index in (1, -1)),
        Ask(fetch(name="")),
    ]


@case("C7", each=FetchRequest)
def isolation_levels() -> Steps:
    return [
        create(),
        put(b"a"),
        *(Ask(fetch(isolation_level=level)) for level in (0, 1, 2, -1)),
        *(Ask(fetch(1, isolation_level=level)) for level in (0, 1)),
        Ask(fetch(9, isolation_level=1)),
        Ask(fetch(name="~none", isolation_level=1)),
    ]


@case("C8", each=FetchRequest)
def leader_epochs() -> Steps:
    return [
        create(),
        put(b"a"),
        *(Ask(fetch(current_leader_epoch=epoch)) for epoch in (-2, -1, 0, 1, 2**31 - 1)),
        *(Ask(fetch(last_fetched_epoch=epoch)) for epoch in (-2, -1, 0, 1)),
        *(Ask(fetch(offset, last_fetched_epoch=0)) for offset in (1, 2, 50)),
    ]


@case("C9", each=FetchRequest)
def ids_of_deleted_topics() -> Steps:
    return [
        create(),
        put(b"a"),
        Ask(DeleteTopicsRequest(topic_names=["~t"], timeout_ms=5000), 5),
        Ask(fetch()),
        create("~u"),
        Ask(fetch_all(("~t", [wanted()]), ("~u", [wanted()]), ("", [wanted()]))),
    ]


@case("C12", each=FetchRequest)
def the_same_partition_fetched_twice() -> Steps:
    return [
        create(),
        put(b"a"),
        put(b"b"),
        Ask(fetch_all(("~t", [wanted(0), wanted(1)]))),
        Ask(fetch_all(("~t", [wanted(1)]), ("~t", [wanted(0)]))),
    ]


@case("C14", each=FetchRequest)
def replicas() -> Steps:
    return [
        create(),
        put(b"a"),
        *(Ask(fetch(replica_id=replica), 12) for replica in (1, 7, -1, -2, -3)),
        *(
            Ask(
                fetch(replica_state=FetchRequest.ReplicaState(replica_id=replica, replica_epoch=1)),
                17,
            )
            for replica in (1, 7, -1, -2)
        ),
        Ask(fetch(cluster_id="another")),
        Ask(fetch(rack_id="rack")),
    ]


@case("C2")
def new_partitions_can_be_read() -> Steps:
    grow = CreatePartitionsRequest.Topic(name="~t", count=3, assignments=None)
    return [
        create(),
        Ask(fetch(partition=2), 12),
        Ask(CreatePartitionsRequest(topics=[grow], timeout_ms=5000, validate_only=False), 3),
        Ask(fetch(partition=2), 12),
        Ask(produce(batch(b"x"), partition=2), 9),
        Ask(fetch(partition=2), 12),
    ]
