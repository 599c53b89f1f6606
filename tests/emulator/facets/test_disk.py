"""Rules on the disk, in memory and in a directory: what fails, how often, and what clients get."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from time import monotonic
from typing import Any

import pytest
from odradek.emulator import Emulator, NeverMatched
from odradek.storage import MemoryDisk
from odradek.wire import Error, Refused

from tests.requests.produce import batch, produce
from tests.support.connection import Connection


@pytest.fixture(params=["directory", "memory"])
def kafka(request: pytest.FixtureRequest) -> Iterator[Emulator]:
    disk = MemoryDisk() if request.param == "memory" else None
    with Emulator(disk=disk, topics={"orders": 2, "bills": 1}) as kafka:
        yield kafka


def send(kafka: Emulator, value: bytes = b"x", topic: str = "orders", partition: int = 0) -> Error:
    """Of a producer with acks=all."""
    with Connection(kafka.bootstrap_servers) as client:
        data = batch(value, time=kafka.now)
        return Error(produce(client, data, topic=topic, partition=partition).error_code)


def test_one_append_fails_and_is_not_there(kafka: Emulator) -> None:
    failed = kafka.disk.on("append", topic="orders").once().fail()
    assert send(kafka, b"lost") == Error.KAFKA_STORAGE_ERROR
    assert send(kafka, b"kept") == Error.NONE
    assert failed.hits == 1
    assert kafka.topic("orders").values() == [b"kept"]
    kafka.restart(clean=False)
    assert kafka.topic("orders").values() == [b"kept"]


def test_only_what_is_meant_fails(kafka: Emulator) -> None:
    with kafka.disk.on("append", topic="orders", partition=1).fail():
        assert send(kafka) == Error.NONE
        assert send(kafka, topic="bills") == Error.NONE
        assert send(kafka, partition=1) == Error.KAFKA_STORAGE_ERROR
    assert send(kafka, partition=1) == Error.NONE


@pytest.mark.parametrize(
    ("counted", "fails"),
    [
        (lambda it: it.once(), "100000"),
        (lambda it: it.times(2), "110000"),
        (lambda it: it.after(2).times(3), "001110"),
        (lambda it: it.every(3), "001001"),
        (lambda it: it.after(1).every(2), "001010"),
        (lambda it: it.with_probability(0.5, seed=1), "100111"),
    ],
)
def test_counting(kafka: Emulator, counted: Any, fails: str) -> None:
    counted(kafka.disk.on("append", topic="orders")).fail()
    found = "".join("01"[send(kafka) != Error.NONE] for _ in range(6))
    assert found == fails


def test_for_a_while(kafka: Emulator) -> None:
    with kafka.paused():
        failed = kafka.disk.on("append", topic="orders").during(5).fail()
        assert repr(failed) == "kafka.disk.on('append', topic='orders').during(5).fail()"
        assert send(kafka) == Error.KAFKA_STORAGE_ERROR
        kafka.advance(seconds=4.9)
        assert send(kafka) == Error.KAFKA_STORAGE_ERROR
        kafka.advance(seconds=0.1)
        assert send(kafka) == Error.NONE
    assert failed.hits == 2
    full = kafka.disk.full(seconds=2.5).optional().called("the disk is full")
    assert repr(full) == "the disk is full"
    with pytest.raises(ValueError, match="seconds is a number"):
        kafka.disk.full(seconds=-1)


def test_a_torn_write_is_cut_off_again(kafka: Emulator) -> None:
    send(kafka, b"before")
    with kafka.disk.on("append", topic="orders").torn(keep=30) as torn:
        assert send(kafka, b"torn") == Error.KAFKA_STORAGE_ERROR
        assert torn.hits == 1
        kafka.kill()
    kafka.restart()
    assert send(kafka, b"after") == Error.NONE
    assert kafka.topic("orders").values() == [b"before", b"after"]


def test_a_read_fails(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    orders.produce(b"x", partition=0)
    with kafka.disk.on("read", topic="orders", file="*.log").fail(), pytest.raises(Refused):
        orders.values()
    assert orders.values() == [b"x"]


def test_after_a_sync_that_failed_a_log_takes_nothing_more(kafka: Emulator) -> None:
    safe = kafka.create_topic("safe", configs={"flush.messages": 1})
    with kafka.disk.on("sync", topic="safe").once().fail():
        assert send(kafka, topic="safe") == Error.KAFKA_STORAGE_ERROR
        assert send(kafka, topic="safe") == Error.KAFKA_STORAGE_ERROR
    kafka.restart(clean=False)
    assert send(kafka, topic="safe") == Error.NONE
    assert len(safe.values()) >= 1


def test_a_slow_sync_delays_who_waits_for_it(kafka: Emulator) -> None:
    kafka.create_topic("safe", configs={"flush.messages": 1})
    with kafka.disk.on("sync", topic="safe").delay(0.2) as slow:
        begin = monotonic()
        assert send(kafka, topic="safe") == Error.NONE
        assert monotonic() - begin >= 0.2
        hits = slow.hits
        assert send(kafka) == Error.NONE
        assert slow.hits == hits >= 1, "nobody else waits for one"


def test_a_directory_that_cannot_be_created(kafka: Emulator) -> None:
    kafka.create_topic("new")  # its directories come with its records
    with kafka.disk.on("create", topic="new").fail():
        assert send(kafka, topic="new") == Error.KAFKA_STORAGE_ERROR
    assert send(kafka, topic="new") == Error.NONE


def test_a_full_disk(kafka: Emulator) -> None:
    with kafka.disk.full(after_bytes=300) as full:
        codes = [send(kafka) for _ in range(6)]
        assert set(codes) == {Error.NONE, Error.KAFKA_STORAGE_ERROR}
        assert codes == sorted(codes, key=bool)
        assert full.hits
        with pytest.raises(Refused):
            kafka.create_topic("new")
    assert send(kafka) == Error.NONE
    kafka.create_topic("new")
    kafka.restart(clean=False)
    assert len(kafka.topic("orders").values()) == codes.count(Error.NONE) + 1


def test_a_commit_whose_append_fails(kafka: Emulator) -> None:
    group = kafka.group("g")
    group.commit({("orders", 0): 1})
    with kafka.disk.on("append", topic="__consumer_offsets").fail(), pytest.raises(Refused):
        group.commit({("orders", 0): 2})
    assert group.offsets() == {("orders", 0): 1}


def test_a_rule_that_never_took_effect_fails_the_test(kafka: Emulator) -> None:
    rule = kafka.disk.on("append", topic="order").once().fail()
    send(kafka)
    with pytest.raises(NeverMatched, match=r"topic='order'\).once\(\).fail\(\) never took effect"):
        kafka.check_faults()
    kafka.check_faults()  # told once
    rule.remove()
    kafka.disk.on("append").after(9).fail()
    send(kafka)
    with pytest.raises(NeverMatched, match="matched 1 operation"):
        kafka.check_faults()
    kafka.disk.on("list").fail().optional()


def test_a_reset_and_heal_end_them(kafka: Emulator) -> None:
    kafka.disk.on("append").fail()
    kafka.reset()
    assert send(kafka) == Error.NONE
    kafka.disk.on("append").fail().optional()
    kafka.heal()
    assert send(kafka) == Error.NONE


def test_it_is_told(kafka: Emulator) -> None:
    failed = kafka.disk.on("append", topic="orders").after(1).times(1).fail(errno.ENOSPC)
    said = "kafka.disk.on('append', topic='orders').after(1).times(1).fail(errno.ENOSPC)"
    assert repr(failed) == said
    send(kafka)
    send(kafka)
    (told,) = [each.sentence for each in kafka.events if each.kind == "disk"]
    assert told == f"the disk's write of orders-0/00000000000000000000.log met {said}"


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda disk: disk.on("appends"), ValueError),
        (lambda disk: disk.on("append", partition=-1), ValueError),
        (lambda disk: disk.on("sync").torn(), ValueError),
        (lambda disk: disk.on("append").times(0), ValueError),
        (lambda disk: disk.on("append").times(1.5), TypeError),
        (lambda disk: disk.on("append").with_probability(2), ValueError),
        (lambda disk: disk.on("append").delay("1"), TypeError),
        (lambda disk: disk.on("append").fail(12345), ValueError),
    ],
)
def test_what_cannot_be_meant_is_refused(make: Any, error: type[Exception]) -> None:
    with Emulator() as kafka, pytest.raises(error):
        make(kafka.disk)


def test_without_a_rule_storage_tells_nobody(kafka: Emulator) -> None:
    assert kafka._disk_rules.watch.told is None
    with kafka.disk.on("append").fail().optional():
        assert kafka._disk_rules.watch.told is not None
    assert kafka._disk_rules.watch.told is None
