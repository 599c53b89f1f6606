"""Section B: what a batch must be like (B7-B13), and what is stored of it."""

from __future__ import annotations

from odradek.wire.api.produce import ProduceRequest
from odradek.wire.primitives import write_varint

from ..ask.batches import TIME, batch, record_bytes
from ..ask.records import fetch, list_offsets, produce
from ..ask.topics import create
from ..engine.steps import Ask, Steps, now
from . import case

HOUR_MS = 3_600_000


@case("B7", each=ProduceRequest)
def the_header_against_the_records() -> Steps:
    edits: list[dict[str, int]] = [
        {"last_offset_delta": 0},
        {"last_offset_delta": 5},
        {"count": 0},
        {"count": -1},
        {"count": 1},
        {"count": 3},
        {"count": 1, "last_offset_delta": 0},
        {"count": 3, "last_offset_delta": 2},
        {"attributes": 0x20},
        {"attributes": 0x40},
        {"attributes": 0x80},
        {"attributes": 0x4000},
        {"attributes": -0x8000},
        {"attributes": 5},
        {"attributes": 7},
        {"attributes": 1},
        {"attributes": 0x08},
        {"producer_id": 4_000_001},
        {"producer_id": 4_000_002, "producer_epoch": -1, "base_sequence": 0},
        {"producer_epoch": 7, "base_sequence": 9},
        {"leader_epoch": 99},
        {"max_timestamp": 0},
        {"max_timestamp": TIME + 999_999},
        {"base_timestamp": -5},
    ]
    return [
        create(),
        *(Ask(produce(batch(b"a", b"b", edits=each))) for each in edits),
        Ask(fetch(), 12),
    ]


@case("B7", each=ProduceRequest)
def records_that_are_broken() -> Steps:
    header = write_varint(1) + b"h" + write_varint(1) + b"v"
    payloads = [
        record_bytes(),
        record_bytes(length=0),
        record_bytes(length=3),
        record_bytes(length=100),
        record_bytes(length=-1),
        record_bytes(key_length=50),
        record_bytes(value_length=50),
        record_bytes(key=b"", key_length=-2),
        record_bytes(value=b"", value_length=-7),
        record_bytes(headers=write_varint(-1)),
        record_bytes(headers=write_varint(2)),
        record_bytes(headers=write_varint(1) + header),
        record_bytes(headers=write_varint(1) + write_varint(-1) + write_varint(1) + b"v"),
        record_bytes(headers=write_varint(1) + write_varint(1) + b"h" + write_varint(-1)),
        record_bytes(headers=write_varint(1) + write_varint(1) + b"\xff" + write_varint(-1)),
        record_bytes() + b"more",
        record_bytes(offset_delta=7),
        record_bytes(time_delta=-(2**40)),
        b"\xff\xff\xff\xff\xff\x01" + record_bytes(),
        b"",
    ]
    return [
        create(),
        *(Ask(produce(batch(b"v", payload=each))) for each in payloads),
        Ask(fetch(), 12),
    ]


@case("B7", each=ProduceRequest)
def compressed_data_that_is_broken() -> Steps:
    return [
        create(),
        *(
            Ask(produce(batch(b"v", edits={"attributes": codec}, payload=payload)))
            for codec in (1, 2, 3, 4)
            for payload in (b"", b"nonsense", record_bytes())
        ),
        *(Ask(produce(batch(b"a", b"b", codec=c, edits={"count": 1}))) for c in (1, 2, 3)),
    ]


@case("B8", each=ProduceRequest)
def record_errors_on_a_compacted_topic() -> Steps:
    return [
        create(cleanup_policy="compact", message_timestamp_before_max_ms="1000"),
        Ask(produce(batch(b"a", b"b", key=None, time=now()))),
        Ask(produce(batch(b"a", b"b", key=b"k", time=now(-HOUR_MS)))),
        Ask(produce(batch(*[b"x"] * 5, key=None, time=now(-HOUR_MS)))),
        Ask(produce(batch(b"a", key=b"", time=now()))),
        Ask(produce(batch(b"a", key=None, time=now(), codec=1))),
        Ask(list_offsets(-1), 5),
    ]


@case("B8", each=ProduceRequest)
def times_out_of_bounds() -> Steps:
    def at(*times: object) -> Ask:
        return Ask(produce(batch(*[b"v"] * len(times), times=times)))

    return [
        create(message_timestamp_before_max_ms="1000000", message_timestamp_after_max_ms="1000000"),
        *(at(now(delta)) for delta in (0, -900_000, 900_000, -1_100_000, 1_100_000)),
        at(now(), now(-2_000_000), now(2_000_000)),
        at(-1),
        at(-1, now()),
        at(-5),
        at(0),
    ]


@case("B8")
def the_bit_of_log_append_time() -> Steps:
    marked = batch(b"v", edits={"attributes": 8})
    return [
        create("~c"),
        create("~l", message_timestamp_type="LogAppendTime"),
        Ask(produce(marked, "~c")),
        Ask(produce(marked, "~l")),
        Ask(produce(batch(b"v", time=-1, edits={"attributes": 8}), "~c")),
        Ask(fetch(name="~c"), 12),
        Ask(fetch(name="~l"), 12),
    ]


@case("B9")
def times_in_the_future() -> Steps:
    deltas = (3_500_000, 3_700_000, 10**12)
    return [create(), *(Ask(produce(batch(b"v", time=now(delta)))) for delta in deltas)]


@case("B10", each=ProduceRequest)
def what_is_stored() -> Steps:
    headers = (("h", b"1"), ("n", None))
    return [
        create("~t"),
        create("~l", message_timestamp_type="LogAppendTime"),
        *(
            Ask(produce(records, name))
            for name in ("~t", "~l")
            for records in (
                batch(b"a", None, b"", headers=headers, leader_epoch=5),
                batch(b"a", b"b", times=(TIME + 5, TIME)),
                batch(b"a", b"b", times=(TIME, TIME + 5), edits={"max_timestamp": TIME}),
                batch(b"a", b"b", codec=1, edits={"max_timestamp": 1}),
                batch(b"a", edits={"base_timestamp": TIME + 7}),
            )
        ),
        Ask(fetch(name="~t"), 12),
        Ask(fetch(name="~l"), 12),
        Ask(list_offsets(-3, TIME + 6, 0, name="~t"), 7),
    ]


@case("B11")
def topics_that_recompress() -> Steps:
    steps: Steps = []
    for kind in ("uncompressed", "gzip", "snappy", "lz4", "zstd"):
        name = f"~{kind}"
        steps.append(create(name, compression_type=kind))
        steps += [
            Ask(produce(batch(b"a" * 50, b"b" * 50, codec=codec), name))
            for codec in (0, 1, 2, 3, 4)
        ]
        steps.append(Ask(produce(batch(b"a", b"b", offsets=(0, 1), edits={"attributes": 8}), name)))
        steps.append(Ask(fetch(name=name), 12))
    return steps


@case("B11")
def larger_than_a_segment() -> Steps:
    return [
        create(segment_bytes="1048576", max_message_bytes="4000000"),
        Ask(produce(batch(bytes(1_048_576)))),
        Ask(produce(batch(bytes(1_048_000)))),
        Ask(produce(batch(bytes(1_048_000)))),
        Ask(list_offsets(-2, -1), 7),
    ]


@case("B12, B13", each=ProduceRequest)
def inner_offsets_with_gaps() -> Steps:
    gaps = (0, 2)
    return [
        create("~t"),
        create("~z", compression_type="gzip"),
        *(
            Ask(produce(batch(b"a", b"b", offsets=gaps, last_offset_delta=1, codec=codec), name))
            for name in ("~t", "~z")
            for codec in (0, 1, 2)
        ),
        Ask(fetch(name="~t"), 12),
    ]
