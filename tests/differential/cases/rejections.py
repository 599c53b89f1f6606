"""Section B, what other modules leave out: unknown topic ids, several producers in one request,
refusals by a log whose start has moved, batches that are too large once they are recompressed."""

from __future__ import annotations

import gzip
from random import Random
from typing import Any

from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.primitives import write_varint

from ..ask.batches import TIME, batch, joined, record_bytes
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
from ..ask.transactions import epoch, init, mark, pid
from ..engine.steps import Ask, Close, Send, Sleep, Steps, now, seen
from . import case

PID = seen("pid")
DAY_MS = 86_400_000
NOISE = Random(11).randbytes(1500).hex().encode()  # gzip halves it


@case("B2")
def ids_that_no_topic_has() -> Steps:
    def entry(topic_id: Any, index: int = 0) -> ProduceRequest.Topic:
        part = ProduceRequest.Topic.Partition(index=index, records=batch(b"x"))
        return ProduceRequest.Topic(name="", topic_id=topic_id, partition_data=[part])

    def send(*entries: ProduceRequest.Topic) -> Ask:
        return Ask(ProduceRequest(acks=-1, timeout_ms=5000, topic_data=list(entries)), 13)

    return [
        create(),
        send(entry(bytes(16))),
        send(entry(b"\x07" * 16)),
        send(entry(seen("~t"), 5)),
        send(entry(seen("~t"), -1)),
        send(entry(b"\x07" * 16), entry(seen("~t"))),
        Ask(list_offsets(-1), 7),
    ]


@case("B4", each=ProduceRequest)
def several_transactional_producers_in_one_request() -> Steps:
    def of(producer_id: Any, its_epoch: Any, **more: Any) -> Any:
        return batch(
            b"x",
            transactional=True,
            producer_id=producer_id,
            producer_epoch=its_epoch,
            sequence=0,
            **more,
        )

    first = (pid(), epoch())
    second = (pid("2"), epoch("2"))
    name: dict[str, Any] = {"transactional_id": "~x"}
    return [
        create(partitions=3),
        init(),
        init("~y", label="2"),
        Ask(produce_all(("~t", 0, of(*first)), ("~t", 1, of(*second)), **name)),
        Ask(produce_all(("~t", 0, of(*first)), ("~t", 1, of(pid(), 7)), **name)),
        Ask(produce_all(("~t", 0, of(*first)), ("~none", 0, of(*second)), **name)),
        Ask(produce_all(("~t", 0, of(*first)), ("~t", 1, of(*second)), acks=5, **name)),
        Ask(produce_all(("~t", 0, of(*first)), ("~t", 1, batch(b"plain")), **name)),
        Ask(produce_all(("~t", 0, of(*first)), ("~t", 1, b""), ("~t", 9, batch(b"x")), **name)),
        Ask(list_offsets(-1), 7),
    ]


@case("B8", each=ProduceRequest)
def keys_and_times_on_topics_of_their_kind() -> Steps:
    no_key = record_bytes(key=b"", key_length=-2)
    keyed = [record_bytes(offset_delta=n) for n in range(2)]
    return [
        create("~k", cleanup_policy="compact"),
        create("~b", cleanup_policy="compact,delete"),
        create("~l", message_timestamp_type="LogAppendTime", cleanup_policy="compact"),
        *(Ask(produce(batch(b"v", payload=no_key, time=now()), name)) for name in ("~k", "~b")),
        Ask(produce(batch(b"v", b"v", payload=b"".join(keyed), time=now()), "~k")),
        Ask(produce(batch(b"v", key=None, time=now(10 * DAY_MS)), "~k")),
        Ask(produce(batch(b"v", key=None, time=now(-DAY_MS)), "~l")),
        Ask(produce(batch(b"v", time=now(400 * DAY_MS)), "~l")),
        Ask(produce(batch(b"v", time=-1), "~l")),
        Ask(produce(batch(b"v", key=None, time=now(), codec=2), "~l")),
        Ask(list_offsets(-1, name="~k"), 7),
    ]


@case("B11", each=ProduceRequest)
def too_large_once_it_is_recompressed() -> Steps:
    return [
        create("~plain", compression_type="uncompressed", max_message_bytes="2000"),
        create("~small", compression_type="gzip", max_message_bytes="2000"),
        create("~short", compression_type="uncompressed"),
        Ask(produce(batch(NOISE, codec=1), "~plain")),
        Ask(produce(batch(b"x" * 1500, codec=1), "~plain")),
        Ask(produce(batch(NOISE), "~small")),
        Ask(produce(batch(b"x" * 1500), "~small")),
        Ask(
            produce(
                batch(b"v", edits={"attributes": 1}, payload=_zipped(b"\x16\x01" + _rest())),
                "~short",
            )
        ),
        Ask(fetch(name="~plain"), 12),
        Ask(fetch(name="~short"), 12),
    ]


def _rest() -> bytes:
    """A record after its length and attributes: times, key, value."""
    return b"\0\0" + write_varint(1) + b"k" + write_varint(4) + b"good" + b"\0"


def _zipped(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


@case("B20", each=ProduceRequest)
def refusals_tell_where_the_log_begins() -> Steps:
    own: dict[str, Any] = {"producer_id": PID, "producer_epoch": 1}
    young = now()
    return [
        create(max_message_bytes="300", message_timestamp_before_max_ms="1000000"),
        new_producer(),
        *(put(b"%d" % n, time=young) for n in range(4)),
        Ask(delete_records(("~t", 0, 2)), 2),
        Ask(produce(batch(b"first", sequence=0, time=young, **own))),
        Ask(produce(batch(b"first", sequence=0, time=young, **own))),
        Ask(produce(batch(b"gap", sequence=9, time=young, **own))),
        Ask(produce(batch(b"old", sequence=1, time=young, producer_id=PID, producer_epoch=0))),
        Ask(produce(batch(b"late", time=TIME))),
        Ask(produce(batch(b"x", time=young, edits={"count": 2}))),
        Ask(produce(batch(b"x", time=young, edits={"attributes": 0x20}))),
        Ask(produce(batch(b"x", time=young, edits={"attributes": 5}))),
        Ask(produce(batch(b"x", time=young, edits={"attributes": 6}))),
        Ask(produce(batch(b"x", time=young, edits={"base_offset": 1}))),
        Ask(produce(batch(b"x", time=young, edits={"crc": 1}))),
        Ask(produce(batch(b"x", time=young, edits={"magic": 1}))),
        Ask(produce(batch(bytes(400), time=young))),
        Ask(produce(joined(batch(b"x", time=young), batch(b"y", time=young)))),
        Ask(produce(b"")),
        Ask(produce(batch(b"x", time=young), acks=3)),
        Ask(produce(batch(b"x", time=young, transactional=True))),
        Ask(list_offsets(-2, -1), 7),
    ]


@case("B23", each=ProduceRequest)
def invalid_producer_ids() -> Steps:
    name: dict[str, Any] = {"transactional_id": "~x"}

    def of(producer_id: Any, its_epoch: int, sequence: int, *, transactional: bool = True) -> Ask:
        records = batch(
            b"x",
            transactional=transactional,
            producer_id=producer_id,
            producer_epoch=its_epoch,
            sequence=sequence,
        )
        return Ask(produce(records, **name))

    return [
        create(),
        init(),
        of(-1, -1, -1),
        of(4711, 0, 0),
        of(4711, -1, 0),
        of(-1, -1, -1, transactional=False),
        Ask(produce(batch(b"plain"), **name)),
        Ask(list_offsets(-1), 7),
    ]


BIG = bytes(600_000)
"""Two of these do not fit into a segment, but one and a little do."""
ALL_BUT_72 = bytes(1_048_431)
"""With this, 72 bytes of a segment are left: enough for a batch of nothing, not for a marker."""


def read_from(*offsets: int) -> Steps:
    """What lies in the segments of these offsets, for a read never crosses the end of one."""
    return [
        Ask(fetch(at, max_bytes=4_000_000, partition_max_bytes=4_000_000), 12) for at in offsets
    ]


@case("E6, B15")
def who_is_refused_may_have_rolled() -> Steps:
    """The segment is rolled before the producer is asked for, and after everything else."""
    who = {"producer_id": PID, "producer_epoch": 3}
    first = batch(BIG, sequence=0, **who)
    refused: list[Any] = [
        first,
        batch(BIG, sequence=5, **who),
        batch(BIG, sequence=1, producer_id=PID, producer_epoch=2),
        batch(BIG, sequence=1, edits={"count": 2}, **who),
        batch(BIG, time=now(10 * DAY_MS), sequence=1, **who),
        batch(bytes(1_048_600), sequence=1, **who),
        batch(b"small", sequence=5, **who),
    ]
    steps: Steps = [new_producer()]
    for each in refused:
        steps += [
            create(segment_bytes="1048576"),
            Ask(produce(first)),
            Send(fetch(1, wait_ms=3000, min_bytes=5_000_000, max_bytes=9_000_000), 12, on="f"),
            Ask(produce(each)),
            Sleep(0.05),
            put(b"fits"),
            Sleep(0.05),
            *read_from(0, 1),
            Close("f"),
            Ask(DeleteTopicsRequest(topic_names=["~t"], timeout_ms=5000), 5),
        ]
    return steps


@case("E6, H8")
def a_refused_marker_may_have_rolled() -> Steps:
    who = {"producer_id": PID, "producer_epoch": 3}
    steps: Steps = [new_producer()]
    for marked in (
        mark(who=(PID, 2)),
        mark(who=(PID, 3)),
        mark(who=(PID, -1)),
        mark(who=(PID, 3), generation=-1),
    ):
        steps += [
            create(segment_bytes="1048576"),
            Ask(produce(batch(ALL_BUT_72, sequence=0, **who))),
            marked,
            put(None, key=None),
            *read_from(0, 1, 2),
            Ask(DeleteTopicsRequest(topic_names=["~t"], timeout_ms=5000), 5),
        ]
    return steps
