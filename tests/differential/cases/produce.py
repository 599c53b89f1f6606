"""Section B: what Produce checks, in which order, and what a producer's state allows."""

from __future__ import annotations

from typing import Any

from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.produce import ProduceRequest

from ..ask.batches import batch, joined
from ..ask.message_sets import edited, message_set
from ..ask.records import (
    delete_records,
    fetch,
    list_offsets,
    new_producer,
    produce,
    produce_all,
    put,
)
from ..ask.topics import create
from ..engine.steps import Ask, Send, Steps, seen
from . import case

PID = seen("pid")
TOO_BIG = bytes(1100)


@case("B1", each=ProduceRequest)
def transactional_batches_need_an_id() -> Steps:
    return [
        create(partitions=2),
        new_producer(),
        Ask(
            produce(batch(b"x", transactional=True, producer_id=PID, producer_epoch=0, sequence=0))
        ),
        Ask(produce_all(("~t", 0, batch(b"x", transactional=True)), ("~t", 1, batch(b"plain")))),
        Ask(list_offsets(-1), 5),
    ]


@case("B2", each=ProduceRequest)
def unknown_topics_and_partitions() -> Steps:
    return [
        create(),
        *(Ask(produce(batch(b"x"), name)) for name in ("~none", "", "a b", ".")),
        *(Ask(produce(batch(b"x"), partition=index)) for index in (1, -1, 2**31 - 1)),
        Ask(produce_all(("~none", 0, batch(b"x")), ("~t", 0, batch(b"y")))),
        Ask(fetch(), 12),
    ]


@case("B2")
def the_id_of_a_deleted_topic() -> Steps:
    return [
        create(),
        Ask(DeleteTopicsRequest(topic_names=["~t"], timeout_ms=5000), 5),
        Ask(produce(batch(b"x")), 13),
        Ask(produce(batch(b"x")), 12),
    ]


@case("B3", each=ProduceRequest)
def not_exactly_one_whole_batch() -> Steps:
    whole = batch(b"x")
    return [
        create(),
        *(
            Ask(produce(records))
            for records in (
                b"",
                b"\0" * 5,
                b"\0" * 16,
                b"\0" * 17,
                b"\0" * 30,
                batch(b"x", cut=1),
                joined(whole, whole),
                joined(whole, batch(b"y", edits={"magic": 5})),
                joined(whole, batch(b"y", edits={"magic": 1})),
                joined(whole, b"\0" * 30),
                joined(whole, b"trailing"),
                joined(whole, batch(b"y", cut=3)),
                batch(b"x", codec=4),
                *(batch(b"x", edits={"magic": magic}) for magic in (-1, 0, 1, 3, 127)),
                *(
                    batch(b"x" * 200, edits={"batch_length": size}, checked=False)
                    for size in (-1, 0, 13, 14, 48, 49, 100)
                ),
            )
        ),
        Ask(fetch(), 12),
    ]


@case("B4", each=ProduceRequest)
def a_batch_too_short_for_a_producer_id() -> Steps:
    """It refuses the whole request; one that is longer only itself."""
    steps: Steps = [create(partitions=2)]
    for length in (1, 5, 6, 14, 15, 30):
        short = edited(message_set(1, (5, b"", b"x" * length)), magic=2)
        steps += [
            Ask(produce(short)),
            Ask(produce(joined(short, b"\0" * 11))),
            Ask(produce(joined(short, batch(b"y", cut=3)))),
            Ask(produce(short, "~none")),
            Ask(produce(short, "__consumer_offsets"), 12),
            Ask(produce_all(("~t", 0, batch(b"x")), ("~t", 1, short), ("~none", 0, b""))),
            Ask(produce_all(("~t", 0, batch(b"x")), ("~t", 1, short), acks=7)),
        ]
    return [*steps, Ask(fetch(), 12)]


@case("B4", each=ProduceRequest)
def acks_that_do_not_exist() -> Steps:
    return [
        create(),
        *(Ask(produce(batch(b"x"), acks=acks)) for acks in (-2, 2, 32767)),
        Ask(produce(batch(b"x"), "~none", acks=5)),
        Ask(produce(b"", acks=5)),
        Ask(produce(batch(b"x", edits={"base_offset": 4}), acks=5)),
        Ask(produce(batch(b"x"), "__consumer_offsets", acks=5), 12),
    ]


@case("B4")
def internal_topics_are_for_the_admin_client() -> Steps:
    request = produce(batch(b"x", edits={"base_offset": 3}), "__consumer_offsets")
    return [Ask(request, 9), Ask(request, 9, client_id="__admin_client")]


@case("B5", each=ProduceRequest)
def more_in_sync_replicas_than_there_are() -> Steps:
    return [
        create(min_insync_replicas="2"),
        *(Ask(produce(batch(b"x"), acks=acks)) for acks in (-1, 1)),
    ]


@case("B6", each=ProduceRequest)
def offset_before_size_before_checksum() -> Steps:
    broken = {"base_offset": 1, "crc": 1}
    return [
        create(max_message_bytes="200"),
        Ask(produce(batch(TOO_BIG, edits=broken))),
        Ask(produce(batch(TOO_BIG, edits={"crc": 1}))),
        Ask(produce(batch(b"x", edits={"crc": 1}))),
        Ask(produce(batch(b"x", edits={"base_offset": -1}))),
        *(Ask(produce(batch(bytes(size)))) for size in range(129, 134)),
        Ask(fetch(), 12),
    ]


@case("B14", each=ProduceRequest)
def the_last_five_batches_are_remembered() -> Steps:
    def nth(n: int, *values: bytes) -> Ask:
        return Ask(produce(batch(*values, producer_id=PID, producer_epoch=0, sequence=n)))

    return [
        create(),
        new_producer(),
        *(nth(n, b"%d" % n) for n in range(7)),
        *(nth(n, b"again") for n in (6, 5, 2, 1, 0)),
        nth(6, b"a", b"b"),
        nth(7, b"a", b"b"),
        nth(7, b"a"),
        nth(8, b"a"),
        Ask(fetch(), 12),
    ]


@case("B14")
def duplicates_of_what_was_deleted() -> Steps:
    delete = delete_records(("~t", 0, -1))
    send = Ask(produce(batch(b"x", producer_id=PID, producer_epoch=0, sequence=0)))
    return [create(), new_producer(), send, Ask(delete), send, Ask(list_offsets(-2, -1))]


@case("B14")
def an_oversized_duplicate() -> Steps:
    options: dict[str, Any] = {"producer_id": PID, "producer_epoch": 0, "sequence": 0}
    return [
        create(max_message_bytes="200"),
        new_producer(),
        Ask(produce(batch(b"x", **options))),
        Ask(produce(batch(TOO_BIG, **options))),
        Ask(produce(batch(b"x", edits={"crc": 1}, **options))),
        Ask(produce(batch(b"other", **options))),
    ]


@case("B15", each=ProduceRequest)
def epochs_and_sequences() -> Steps:
    def send(epoch: int, sequence: int, *values: bytes, pid: object = PID) -> Ask:
        options: dict[str, Any] = {"producer_id": pid, "producer_epoch": epoch}
        return Ask(produce(batch(*values or (b"x",), sequence=sequence, **options)))

    big = 2**31 - 1
    return [
        create(partitions=1),
        new_producer(),
        *(send(*each) for each in ((0, 5), (0, 7), (0, 6), (0, 5), (1, 3), (1, 0), (0, 7))),
        *(send(*each) for each in ((7, 0), (7, 1), (6, 2), (7, 1))),
        *(send(0, n, pid=4_000_001) for n in (big - 1, big, 0, 1, big)),
        send(0, big - 1, b"a", b"b", b"c", pid=4_000_002),
        send(0, 1, pid=4_000_002),
        *(send(-1, n, pid=4_000_003) for n in (0, 1, 5, 1)),
        *(send(0, n, pid=4_000_003) for n in (2, 0)),
        send(-1, 0, pid=4_000_003),
        *(send(3, n, pid=-2) for n in (0, 9)),
        *(send(-1, n, pid=-1) for n in (0, 4)),
        *(send(0, n, pid=4_000_004) for n in (-1, -2)),
        Ask(fetch(), 12),
    ]


@case("B19")
def produce_before_version_3() -> Steps:
    request = produce(batch(b"x"))
    return [create(), *(Ask(request, 3, claim=n, on=f"c{n}") for n in (0, 1, 2))]


@case("B21", each=ProduceRequest)
def the_same_partition_twice() -> Steps:
    return [
        create(partitions=2),
        Ask(
            produce_all(
                ("~t", 0, batch(b"first")), ("~t", 1, batch(b"other")), ("~t", 0, batch(b"last"))
            )
        ),
        Ask(
            produce_all(
                ("~t", 0, batch(b"good")), ("~t", 0, batch(b"bad", edits={"base_offset": 1}))
            )
        ),
        Ask(fetch(), 12),
    ]


@case("B22", each=ProduceRequest)
def acks_0() -> Steps:
    probe = Ask(list_offsets(-1), 5)
    entries = (("~t", 0, batch(b"good")), ("~t", 9, batch(b"bad")))
    return [
        create(),
        Send(ProduceRequest(acks=0, timeout_ms=-5, topic_data=[])),
        probe,
        Send(produce_all(*entries, acks=0)),
        probe,
        Ask(produce(batch(b"x"), acks=1)),
        probe,
    ]


@case("B22", each=ProduceRequest)
def nothing_to_produce() -> Steps:
    no_partition = ProduceRequest.Topic(name="~t", topic_id=seen("~t"), partition_data=[])
    return [
        create(),
        Ask(ProduceRequest(acks=-1, timeout_ms=-1, topic_data=[])),
        Ask(ProduceRequest(acks=1, timeout_ms=0, topic_data=[no_partition])),
        Ask(ProduceRequest(acks=4, timeout_ms=0, topic_data=[no_partition])),
        put(b"x"),
    ]
