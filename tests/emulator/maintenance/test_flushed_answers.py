"""Where `flush.messages` asks for it, what is acknowledged is on disk; nobody else waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from odradek import Emulator
from odradek.storage import LogDirectoryError, MemoryDisk
from odradek.wire import Error
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.requests.committed_offsets import commit, committed
from tests.requests.fetch import fetch, values
from tests.requests.produce import batch, produce, produce_all, produce_request
from tests.support.cluster import client_of, open_cluster
from tests.support.connection import Connection
from tests.support.slow_disk import Disk

WAIT_S = 0.05
"""What has not been answered by then waits."""


class Asked:
    """A request in a thread of its own."""

    def __init__(self, action: Callable[[], Any]) -> None:
        self._found: list[Any] = []
        self._thread = threading.Thread(target=lambda: self._found.append(action()), daemon=True)
        self._thread.start()

    @property
    def waits(self) -> bool:
        self._thread.join(WAIT_S)
        return self._thread.is_alive()

    def answer(self) -> Any:
        self._thread.join(30)
        (found,) = self._found
        return found


@pytest.fixture
def kafka(disk: Disk) -> Iterator[Emulator]:
    with Emulator({"offsets.topic.num.partitions": "1"}) as kafka:
        kafka.create_topic("t", configs={"flush.messages": 1})
        kafka.create_topic("three", configs={"flush.messages": 3})
        kafka.create_topic("never")
        try:
            yield kafka
        finally:
            disk.go.set()


@pytest.fixture
def client(kafka: Emulator) -> Iterator[Connection]:
    with Connection(kafka.bootstrap_servers) as connection:
        yield connection


def flush_offsets(kafka: Emulator) -> None:
    """Every record of `__consumer_offsets` is flushed from now on."""

    def change(cluster: Any) -> None:
        log = cluster.partition("__consumer_offsets", 0).log
        log.config = replace(log.config, flush_messages=1)

    kafka.run(change)


@pytest.mark.parametrize("acks", [1, -1])
@pytest.mark.parametrize("numbers", [{}, {"producer_id": 7, "producer_epoch": 0}])
def test_an_answer_waits_for_the_sync_and_others_do_not(
    kafka: Emulator, client: Connection, disk: Disk, acks: int, numbers: dict[str, int]
) -> None:
    numbers = numbers and {**numbers, "base_sequence": 0}
    disk.go.clear()
    asked = Asked(lambda: produce(client, batch(b"x", **numbers), acks=acks))  # type: ignore[arg-type]
    assert asked.waits
    with Connection(kafka.bootstrap_servers) as other:
        assert produce(other, batch(b"y"), topic="never").error_code == 0
        assert values(fetch(other)) == [b"x"]
    assert asked.waits
    disk.go.set()
    assert asked.answer().error_code == 0


def test_a_retry_of_what_is_not_yet_on_disk_waits_too(
    kafka: Emulator, client: Connection, disk: Disk
) -> None:
    disk.go.clear()
    data = bytes(batch(b"x", producer_id=7, producer_epoch=0, base_sequence=0))
    first = Asked(lambda: produce(client, data))
    assert first.waits
    with Connection(kafka.bootstrap_servers) as other:
        again = Asked(lambda: produce(other, data))
        assert again.waits
        disk.go.set()
        assert again.answer().base_offset == first.answer().base_offset == 0


def test_only_the_record_that_completes_the_number_waits(client: Connection, disk: Disk) -> None:
    disk.go.clear()
    for _ in range(2):
        assert produce(client, batch(b"x"), topic="three").error_code == 0
    third = Asked(lambda: produce(client, batch(b"x"), topic="three"))
    assert third.waits
    disk.go.set()
    assert third.answer().base_offset == 2


def test_one_that_waits_for_several_partitions_is_answered_after_the_last(
    kafka: Emulator, client: Connection, disk: Disk
) -> None:
    kafka.create_topic("u", configs={"flush.messages": 1})
    request = produce_all(*((name, 0, batch(b"x")) for name in ("t", "never", "u")))
    disk.go.clear()
    asked = Asked(lambda: client.ask(request, 9))
    assert asked.waits
    disk.go.set()
    codes = {
        topic.name: [each.error_code for each in topic.partition_responses]
        for topic in asked.answer().responses
    }
    assert codes == {"t": [0], "never": [0], "u": [0]}
    assert kafka.run(lambda cluster: cluster.partition("u", 0).log.recovery_point) == 1


def test_what_could_not_be_synced_is_refused(
    kafka: Emulator, client: Connection, disk: Disk
) -> None:
    assert produce(client, batch(b"x")).error_code == 0  # the metadata is on disk by now
    disk.error = OSError(5, "Input/output error")
    request = produce_all(*((name, 0, batch(b"x")) for name in ("t", "never")))
    answer = client.ask(request, 9)
    (broken,), (whole,) = (topic.partition_responses for topic in answer.responses)
    assert (broken.error_code, broken.base_offset) == (Error.KAFKA_STORAGE_ERROR, -1)
    assert broken.log_start_offset == -1
    assert broken.error_message == "t-0: [Errno 5] Input/output error"
    assert (whole.error_code, whole.base_offset) == (0, 0)
    disk.error = None
    kafka.run(lambda cluster: cluster.topics.delete(cluster.topic("t")))  # else the stop fails too


def test_a_commit_of_offsets_waits(kafka: Emulator, client: Connection, disk: Disk) -> None:
    client.ask(FindCoordinatorRequest(key="g"), 2)
    flush_offsets(kafka)
    disk.go.clear()
    asked = Asked(lambda: commit(client, 5))
    assert asked.waits
    disk.go.set()
    assert asked.answer() == Error.NONE
    assert committed(client).committed_offset == 5


def test_a_commit_that_could_not_be_synced_is_refused(
    kafka: Emulator, client: Connection, disk: Disk
) -> None:
    client.ask(FindCoordinatorRequest(key="g"), 2)
    flush_offsets(kafka)
    assert commit(client, 4) == Error.NONE  # the metadata is on disk by now
    disk.error = OSError(5, "Input/output error")
    assert commit(client, 5) == Error.NOT_COORDINATOR
    disk.error = None
    kafka.run(lambda cluster: cluster.topics.delete(cluster.topic("__consumer_offsets")))


def test_a_client_that_has_left_is_no_trouble(
    kafka: Emulator, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    disk.go.clear()
    with Connection(kafka.bootstrap_servers) as leaving:
        leaving.send(produce_request(batch(b"x")), 9)
        with Connection(kafka.bootstrap_servers) as other:
            while values(fetch(other)) != [b"x"]:
                continue
    disk.go.set()
    with Connection(kafka.bootstrap_servers) as other:
        assert produce(other, batch(b"y")).base_offset == 1
    assert caplog.text == ""


@pytest.mark.parametrize("seed", [None, *range(5)])
@pytest.mark.parametrize("acks", [1, -1])
@pytest.mark.parametrize("numbers", [{}, {"producer_id": 7, "producer_epoch": 0}])
def test_what_is_acknowledged_outlives_a_power_cut(
    seed: int | None, acks: int, numbers: dict[str, int]
) -> None:
    memory = MemoryDisk()
    cluster = open_cluster(memory.directory())
    cluster.create_topic("t", 1, {"flush.messages": "1", "segment.bytes": "1048576"})
    client = client_of(cluster)
    for number in range(5):
        numbered = numbers and {**numbers, "base_sequence": number}
        data = batch(bytes(300_000), **numbered)  # type: ignore[arg-type]
        assert produce(client, data, acks=acks).base_offset == number
        after = memory.crash(None if seed is None else Random(seed))
        again = open_cluster(after.directory())
        assert again.partition("t", 0).log_end_offset == number + 1
        again.close()
    cluster.close()


def test_what_a_killed_broker_had_not_flushed_is_flushed_before_it_is_acknowledged() -> None:
    memory = MemoryDisk()
    cluster = open_cluster(memory.directory())
    cluster.create_topic("t", 1, {"flush.messages": "1"})
    data = batch(b"x", producer_id=7, producer_epoch=0, base_sequence=0)
    memory.fail_syncs()
    assert produce(client_of(cluster), data).error_code == Error.KAFKA_STORAGE_ERROR
    killed = memory.kill()
    with pytest.raises(LogDirectoryError):
        cluster.close()

    again = open_cluster(killed.directory())
    retried = produce(client_of(again), data)
    assert (retried.error_code, retried.base_offset) == (Error.NONE, 0)
    after = open_cluster(killed.crash().directory())
    assert after.partition("t", 0).log_end_offset == 1
    for each in (again, after):
        each.close()
