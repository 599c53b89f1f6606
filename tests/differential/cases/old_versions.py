"""Section L: message sets of before 0.11, produced and fetched, as releases up to 3.9 do it.

These run only where both brokers convert: `--kafka-version 3.9`.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from odradek.wire.legacy.message_sets import build_set

from ..ask.batches import TIME, batch, joined
from ..ask.message_sets import edited, message_set
from ..ask.records import fetch, fetch_all, list_offsets, produce, produce_all, put, wanted
from ..ask.topics import create
from ..ask.transactions import add, end, epoch, init, pid
from ..engine.steps import Ask, Steps, now
from . import case

HOUR_MS = 3_600_000
TWO: tuple[tuple[Any, bytes | None, bytes | None], ...] = (
    (TIME, b"a", b"1"),
    (TIME + 1, None, b"2"),
)
ONE = ((TIME, b"k", b"v"),)


def sent(records: Any, version: int = 2, name: str = "~t") -> Ask:
    """Produce a set to partition 0."""
    return Ask(produce(records, name), version)


def all_of_it(name: str = "~t", offset: int = 0) -> Steps:
    """Read in every shape: magic 0 and 1, and as it is stored."""
    return [Ask(fetch(offset, name), version) for version in (0, 1, 2, 3, 4, 10)]


@case("L1")
def answers_of_each_version() -> Steps:
    sets = [
        message_set(0, (0, None, None), (0, b"", b"")),
        message_set(1, (TIME, None, None), (TIME, b"", b"")),
        edited(message_set(1, *ONE), offset=77),
        edited(message_set(1, *ONE), crc=0),
    ]
    return [create(), *(sent(s, v) for s, v in product(sets, (0, 1, 2))), *all_of_it()]


@case("L2")
def loose_messages_become_one_batch() -> Steps:
    times = [(TIME,), (TIME + 5, TIME), (-1,), (-1, TIME), (0,), (TIME, -1), (-5,), (TIME, -2)]
    return [
        create(),
        *(sent(message_set(1, *((t, b"k", b"v") for t in each))) for each in times),
        sent(message_set(0, *TWO)),
        sent(message_set(1, *TWO * 200)),
        sent(message_set(1, (now(), b"k", b"v"))),
        *all_of_it(),
    ]


@case("L3")
def a_wrapper_keeps_its_codec() -> Steps:
    steps: Steps = [create(), create("~u", compression_type="uncompressed")]
    steps.append(create("~z", compression_type="zstd"))
    for name, magic, codec in product(("~t", "~u", "~z"), (0, 1), (1, 2, 3)):
        steps.append(sent(message_set(magic, *TWO, codec=codec, offset=1, key=b"gone"), name=name))
    marked = {"codec": 1, "offset": 1, "time": TIME + 50}
    steps.append(sent(message_set(1, *TWO, attributes=8, **marked)))
    steps.append(sent(message_set(1, *TWO, **marked)))
    return [*steps, *all_of_it(), *all_of_it("~u"), *all_of_it("~z")]


@case("L4")
def inner_offsets() -> Steps:
    firsts = [(0, 1, 0), (0, 1, 1), (0, 1, 5), (5, 1, 4), (5, 1, 6)]
    firsts += [(0, 0, 0), (9, -3, 9), (0, 3, 3), (0, 1, -1)]
    return [
        create(),
        *(
            sent(message_set(magic, *TWO, codec=1, first=first, step=step, offset=offset))
            for magic in (0, 1)
            for first, step, offset in firsts
        ),
        *all_of_it(),
    ]


@case("L5")
def checksums_of_lz4_frames() -> Steps:
    return [
        create(),
        *(
            sent(message_set(magic, *TWO, codec=3, offset=1, right_lz4=right))
            for magic in (0, 1)
            for right in (False, True)
        ),
        *all_of_it(),
    ]


@case("L6")
def sets_that_are_refused() -> Steps:
    wrapper = message_set(1, *TWO, codec=1, offset=1)
    sets = [
        message_set(1, *TWO, codec=4, offset=1),
        message_set(1, codec=1, inner=wrapper, offset=1),
        message_set(1, *ONE, codec=1, inner=wrapper, offset=1),
        joined(wrapper, wrapper),
        joined(wrapper, message_set(1, *ONE)),
        joined(message_set(1, *ONE), wrapper),
        joined(message_set(0, *ONE), message_set(1, *ONE)),
        joined(message_set(1, *ONE), message_set(0, *ONE)),
        joined(message_set(1, *ONE), batch(b"v")),
        joined(batch(b"v"), message_set(1, *ONE)),
        joined(batch(b"v"), batch(b"v")),
        message_set(1, *ONE, codec=1, inner=message_set(0, *ONE), offset=1),
        message_set(1, codec=1),
        message_set(0, codec=2),
        message_set(1, (TIME, None, None), attributes=1),
        message_set(0, (TIME, None, b""), attributes=2),
    ]
    compacted = [
        message_set(1, *ONE),
        message_set(1, *TWO),
        message_set(1, *TWO, codec=1, offset=1),
    ]
    return [
        create(),
        create("~k", cleanup_policy="compact"),
        *(sent(each) for each in sets),
        *(sent(each, name="~k") for each in compacted),
        *all_of_it(),
    ]


@case("L7")
def entries_that_are_damaged() -> Steps:
    one = message_set(1, *ONE)
    sets = [
        edited(one, crc=1),
        joined(one, edited(one, crc=1)),
        message_set(1, *ONE, codec=1, inner=edited(one, crc=1)),
        edited(one, size=13, checked=False),
        edited(one, size=-1, checked=False),
        edited(one, size=20, checked=False),
        edited(one, magic=3),
        edited(one, magic=-1),
        joined(one, bytes(20)),
        joined(one, bytes(12)),
        edited(one, attributes=5),
        edited(one, attributes=7),
        edited(one, attributes=0x70),
        edited(one, key_1=100),
        edited(one, key_1=-2),
        edited(one, key_1=-1),
        edited(message_set(0, *ONE), key_0=5),
        message_set(1, *ONE, codec=1, packed=b"nonsense"),
        message_set(1, *ONE, codec=2, packed=b""),
        message_set(1, *ONE, codec=3, packed=b"nonsense"),
        message_set(1, codec=1, inner=edited(one, size=13, checked=False)),
        message_set(1, codec=1, inner=edited(one, attributes=5)),
    ]
    return [create(), *(sent(each) for each in sets), *all_of_it()]


@case("L8")
def nothing_whole() -> Steps:
    one = message_set(1, *ONE)
    sets = [
        b"",
        b"\0" * 11,
        edited(one, cut=1),
        edited(one, size=100, checked=False),
        joined(one, edited(one, cut=1)),
        joined(one, edited(one, cut=25)),
        message_set(1, *ONE, codec=1, inner=edited(one, cut=3)),
        message_set(1, codec=1, inner=edited(one, cut=3)),
    ]
    return [create(), *(sent(s, v) for s in sets for v in (0, 2)), *all_of_it()]


@case("L9")
def sizes() -> Steps:
    steps: Steps = [create("~m", max_message_bytes="100"), create("~s", segment_bytes="200")]
    of_values = {"~m": (30, 31, 32, 33, 34, 65, 66, 67, 90), "~s": (120, 132, 133, 150)}
    for name, sizes_ in of_values.items():
        steps += [
            sent(message_set(magic, (TIME, None, bytes(size))), name=name)
            for magic in (0, 1)
            for size in sizes_
        ]
    steps.append(sent(message_set(1, (TIME, None, bytes(1000)), codec=1), name="~m"))
    good, bad = message_set(1, *ONE), edited(message_set(1, *ONE), crc=1)
    both = produce_all(("~m", 0, bad), ("~s", 0, good))
    return [*steps, Ask(both, 2), *all_of_it("~m"), *all_of_it("~s")]


@case("L10, L11")
def times_and_the_bit_of_append_time() -> Steps:
    bounded: dict[str, Any] = {"message_timestamp_before_max_ms": "1000000"}
    steps: Steps = [
        create("~b", message_timestamp_after_max_ms="1000000", **bounded),
        create("~l", message_timestamp_type="LogAppendTime"),
        create("~t"),
    ]
    sets = [
        message_set(1, (now(), b"k", b"v")),
        message_set(1, (now(), b"k", b"v"), (TIME, b"k", b"v")),
        message_set(1, (now(2 * HOUR_MS), b"k", b"v")),
        message_set(1, (-1, b"k", b"v")),
        message_set(0, *ONE),
        message_set(1, (now(), b"k", b"v"), codec=1, time=TIME),
        message_set(1, *ONE, codec=1, time=now()),
        message_set(1, (now(), b"k", b"v"), attributes=8),
        message_set(1, (-1, b"k", b"v"), attributes=8),
        message_set(0, *ONE, attributes=8),
        message_set(1, *TWO, codec=1, offset=1, attributes=8, time=TIME),
        message_set(1, codec=1, inner=message_set(1, *ONE, attributes=8)),
        message_set(0, *TWO, codec=2, attributes=0x78),
    ]
    steps += [sent(s, name=name) for s in sets for name in ("~b", "~l", "~t")]
    steps.append(sent(message_set(1, *ONE), 1, "~l"))
    return [*steps, *all_of_it("~b"), *all_of_it("~l"), *all_of_it()]


@case("L12")
def batches_in_old_requests() -> Steps:
    sets = [
        batch(b"v"),
        batch(b"v", codec=4),
        batch(b"v", codec=1),
        batch(b"v", edits={"base_offset": 1}),
        batch(b"v", edits={"crc": 1}),
        batch(b"v", edits={"count": 3}),
        batch(b"v", producer_id=4_000_001, producer_epoch=0, sequence=0),
        batch(b"v", producer_id=4_000_001, producer_epoch=0, sequence=0),
        batch(b"v", producer_id=4_000_001, producer_epoch=0, sequence=7),
        batch(b"v", edits={"batch_length": 49}, checked=False),
        batch(b"v", edits={"batch_length": 30}, checked=False),
        batch(b"v", extra=b"\0\0\0"),
        batch(b"v", cut=2),
    ]
    steps: Steps = [create(), *(sent(s, v) for s in sets for v in (0, 1, 2))]
    transactional = batch(b"v", producer_id=5, producer_epoch=0, sequence=0, transactional=True)
    steps += [sent(transactional, v) for v in (0, 2)]
    olds = (message_set(0, *ONE), message_set(1, *ONE), b"")
    steps += [sent(s, v) for s in olds for v in (3, 4, 7, 9, 11)]
    steps += [sent(batch(b"v", codec=4), v) for v in (2, 3, 6, 7, 11)]
    return [*steps, *all_of_it()]


@case("L12")
def whole_requests_and_acks() -> Steps:
    one, two = message_set(1, *ONE), message_set(1, *TWO)
    bad_size = edited(one, size=3, checked=False)
    entries: list[tuple[tuple[str, int, Any], ...]] = [
        (("~t", 0, one), ("~t", 1, bad_size)),
        (("~t", 0, joined(one, bad_size)), ("~t", 1, one)),
        (("~t", 0, joined(one, edited(batch(b"v"), size=40, checked=False))), ("~t", 1, one)),
        (("~t", 0, one), ("~none", 0, bad_size)),
        (("~t", 0, one), ("~none", 0, joined(one, bad_size))),
        (("~t", 0, one), ("~t", 7, one), ("~none", 0, one), ("", 0, one), ("a b", 0, one)),
        (("~t", 0, one), ("~t", 0, two)),
        (("~t", 0, one), ("~t", 0, edited(one, crc=1))),
        (("~t", 0, edited(one, crc=1)), ("~t", 0, one)),
        (("__consumer_offsets", 0, one),),
        (("~t", 0, joined(one, batch(b"v", transactional=True, producer_id=4, producer_epoch=0))),),
        (),
    ]
    steps: Steps = [create(partitions=2)]
    steps += [Ask(produce_all(*each), version) for each in entries for version in (0, 2)]
    steps += [Ask(produce_all(*each, acks=2), 2) for each in entries]
    steps += [Ask(produce(one, acks=acks), 1) for acks in (1, -2)]
    return [*steps, *all_of_it(), Ask(list_offsets(-1), 5)]


@case("L13")
def the_order_of_checks() -> Steps:
    steps: Steps = [
        create("~z", compression_type="zstd"),
        create("~n", message_downconversion_enable="false"),
        create("~b", compression_type="zstd", message_downconversion_enable="false"),
        create("~t"),
    ]
    names = ("~z", "~n", "~b", "~t")
    versions = (0, 1, 2, 3, 4, 6, 7, 9, 10, 11, 12)
    steps += [Ask(fetch(at, n), v) for n in names for v in versions for at in (0, 9)]
    steps += [put(b"v", name=name) for name in names]
    steps += [Ask(fetch(at, n), v) for n in names for v in versions for at in (0, 1, 9)]
    steps.append(put(b"z", codec=4))
    steps += [Ask(fetch(at), v) for v in versions for at in (0, 1)]
    many = [(name, [wanted(0), wanted(0, 5)]) for name in (*names, "~none", "", "a b")]
    steps += [Ask(fetch_all(*many), version) for version in (0, 1, 2, 3, 4, 9)]
    return [*steps, *(Ask(fetch_all(*many, wait_ms=30, min_bytes=10**6), v) for v in (0, 3))]


@case("L14")
def transactions_as_old_clients_see_them() -> Steps:
    who: dict[str, Any] = {"producer_id": pid(), "producer_epoch": epoch(), "transactional": True}

    def write(value: bytes, sequence: int) -> Ask:
        made = batch(value, time=now(), sequence=sequence, **who)
        return Ask(produce(made, transactional_id="~x"), 9)

    return [
        create(),
        put(b"plain"),
        init(version=4),
        add([("~t", [0])], version=3),
        write(b"1", 0),
        end(False, version=3),
        *all_of_it(),
        add([("~t", [0])], version=3),
        write(b"2", 1),
        *all_of_it(),
        *all_of_it(offset=2),
        end(True, version=3),
        *all_of_it(),
        *all_of_it(offset=2),
        *all_of_it(offset=4),
        *(Ask(fetch(2, partition_max_bytes=limit), v) for v in (0, 3) for limit in (70, 90, 200)),
    ]


@case("L15, L16, L17")
def stored_batches_are_converted() -> Steps:
    steps: Steps = [create(), create("~l", message_timestamp_type="LogAppendTime")]
    headers = (("h", b"1"),)
    for name in ("~t", "~l"):
        steps += [put(b"a", None, b"", headers=headers, name=name)]
        steps += [put(b"a", b"b", codec=codec, name=name) for codec in (1, 2, 3)]
        steps += [put(b"a", b"b", times=(TIME + 5, -1), name=name)]
        steps += [put(b"a", b"b", b"c", offsets=(0, 5, 9), name=name)]
        steps += [put(b"a", key=None, time=-1, codec=1, name=name)]
    offsets = (0, 1, 2, 3, 4, 5, 6, 9, 10, 12, 13, 14)
    asked = product(("~t", "~l"), offsets, (0, 1, 2, 3))
    return [*steps, *(Ask(fetch(at, name), version) for name, at, version in asked)]


@case("L18, L19, L23")
def lengths_and_filling() -> Steps:
    steps: Steps = [create(partitions=2)]
    steps += [put(*[b"v"] * count) for count in (1, 2, 50, 1)]
    steps += [put(bytes(200), partition=1), put(b"w", partition=1)]
    limits = (0, 1, 12, 40, 61, 69, 70, 71, 100, 150, 200, 300, 400, 600, 2000)
    for version, limit in product((0, 1, 2, 3), limits):
        steps.append(Ask(fetch(partition_max_bytes=limit), version))
    for version, limit in product((0, 2, 3), limits):
        both = [("~t", [wanted(1, partition_max_bytes=limit), wanted(0, 1)])]
        steps.append(Ask(fetch_all(*both, max_bytes=limit), version))
    steps += [create("~l"), *(put(*[b"x" * 1000] * 100, name="~l") for _ in range(5))]
    return [*steps, *(Ask(fetch(at, "~l"), v) for v in (0, 1, 3) for at in (0, 150))]


@case("L20")
def zstd_after_what_can_be_converted() -> Steps:
    steps: Steps = [create(), put(b"a"), put(b"b", codec=4), put(b"c"), create("~z")]
    steps += [put(b"z", codec=4, name="~z"), put(b"a", name="~z")]
    return [*steps, *all_of_it(), *all_of_it("~z"), *all_of_it(offset=1), *all_of_it(offset=2)]


@case("L23")
def deltas_that_do_not_rise() -> Steps:
    steps: Steps = []
    for number, offsets in enumerate(((0, 0, 2), (0, 2, 1, 3), (2, 0, 1, 3), (0, 5, 9))):
        name = f"~{number}"
        steps.append(create(name))
        made = batch(*[b"v"] * len(offsets), offsets=offsets, last_offset_delta=len(offsets) - 1)
        steps.append(Ask(produce(made, name), 9))
        steps += [Ask(fetch(at, name), v) for at in (0, 1, 2, 3) for v in (0, 3)]
    return steps


@case("L17")
def heads_of_compressed_messages() -> Steps:
    inner = build_set([(0, TIME, b"k", b"v")], 1)
    sets = [message_set(1, codec=codec, inner=inner) for codec in (1, 2, 3)]
    return [create(), *(sent(each) for each in sets), *all_of_it()]


@case("L30")
def configs_of_old_topics() -> Steps:
    odd: dict[str, Any] = {"message_timestamp_difference_max_ms": "1000"}
    return [
        create("~d", **odd),
        create("~e", message_format_version="0.10.0"),
        create("~f", message_format_version="9.9"),
        create("~g", message_downconversion_enable="maybe"),
        create("~h", message_timestamp_before_max_ms="5000", **odd),
        *(sent(message_set(1, (now(at), b"k", b"v")), name="~d") for at in (0, -HOUR_MS, HOUR_MS)),
        *(Ask(produce(batch(b"v", time=now(at)), "~d")) for at in (0, -HOUR_MS, HOUR_MS)),
        *(Ask(produce(batch(b"v", time=now(at)), "~h")) for at in (0, -3000, -HOUR_MS, HOUR_MS)),
        *(Ask(produce(batch(b"v", time=now(at)), "~e")) for at in (0, HOUR_MS * 10**6)),
        *all_of_it("~e"),
    ]
