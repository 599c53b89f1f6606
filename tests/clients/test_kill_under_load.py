"""`kill -9` in the middle of a load: what was acknowledged is there afterwards, byte for byte.

The moment of a kill is a number of acknowledgements, not a time. Only the process is killed, so
what it handed to the operating system is kept; losing power is another matter (storage tests).
"""

from __future__ import annotations

import random
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from odradek.compat import Client, NewRecord
from odradek.compat.clients import wait_until
from odradek.wire import Error
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.batch import batches

from tests.clients.support.broker_process import Served, free_port
from tests.clients.support.lossy_proxy import Proxy
from tests.requests.committed_offsets import commit_request
from tests.requests.offsets import LATEST, look_up
from tests.support.connection import BrokerAt, Connection, ask

pytestmark = [pytest.mark.client, pytest.mark.slow]

PARTITIONS = 3
TIMEOUT_S = 90.0
CONFIGS = {"num.partitions": str(PARTITIONS), "log.segment.bytes": "1048576"}
TORN = random.Random(1)


def sampled(*values: Any) -> list[Any]:
    """Values of which others are a sample."""
    return [pytest.param(value, marks=pytest.mark.long) for value in values]


Stored = dict[tuple[int, int], bytes | None]  # (partition, offset): value


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A broker on a port and a directory that it keeps, with small segments."""
    with Served(tmp_path / "data", CONFIGS) as served:
        yield served


class Load:
    """A confluent-kafka producer with acks=all that always has some hundred records on their way.

    `acknowledged` says where each record is that the broker has acknowledged. A record's value is
    its number and a few hundred bytes that follow from it.
    """

    def __init__(self, bootstrap: str, **options: Any) -> None:
        confluent = pytest.importorskip("confluent_kafka")
        self.acknowledged: Stored = {}
        self.twice: list[tuple[int, int]] = []
        self.errors: list[str] = []
        self.count = 0
        self._reported = 0
        self._producer = confluent.Producer(
            {
                "bootstrap.servers": bootstrap,
                "acks": "all",
                "linger.ms": 1,
                "batch.num.messages": 50,
                "reconnect.backoff.max.ms": 200,
                "log_level": 0,
                **options,
            }
        )

    def run(self, until: int) -> None:
        """Produce until that many are acknowledged."""
        deadline = time.monotonic() + TIMEOUT_S
        while len(self.acknowledged) < until:
            assert time.monotonic() < deadline, f"{len(self.acknowledged)} of {until}"
            if self.count < self._reported + 1000:
                self.send(1)
                self._producer.poll(0)
            else:
                self._producer.poll(0.1)

    def send(self, count: int) -> None:
        """Give the producer that many more records."""
        for _ in range(count):
            partition = self.count % PARTITIONS
            self._producer.produce(
                "t", value(self.count), partition=partition, on_delivery=self._report
            )
            self.count += 1

    def poll(self) -> None:
        """Take note of what has been acknowledged."""
        self._producer.poll(0)

    def give_up(self) -> None:
        """Forget the records that are still to be sent or acknowledged."""
        deadline = time.monotonic() + TIMEOUT_S
        self._producer.purge()
        while left := self._producer.flush(0.5):
            assert time.monotonic() < deadline, f"{left} records are not forgotten"
            self._producer.purge()  # again: what was about to be sent once more escapes it

    def finish(self) -> None:
        """Wait until every record is acknowledged."""
        assert self._producer.flush(TIMEOUT_S) == 0
        assert self.errors == []

    def _report(self, error: Any, message: Any) -> None:
        self._reported += 1
        if error is not None:
            self.errors.append(str(error))
            return
        place = message.partition(), message.offset()
        if place in self.acknowledged:
            self.twice.append(place)
        self.acknowledged[place] = message.value()


def value(number: int) -> bytes:
    return b"%08d" % number + bytes([number % 251]) * (200 + number % 300)


def stored(any_client: Client, bootstrap: str) -> Stored:
    """All that can be read, which must be dense: each offset up to the end, once."""
    records = any_client.consume(bootstrap, "t", timeout_s=TIMEOUT_S)
    for partition, end in any_client.end_offsets(bootstrap, "t").items():
        found = [record.offset for record in records if record.partition == partition]
        assert found == list(range(end)), f"partition {partition}"
    values = [record.value for record in records]
    assert len(set(values)) == len(values), "a record is there twice"
    return {(record.partition, record.offset): record.value for record in records}


class Commits:
    """A group that commits ever larger offsets, one request after the other, in its own thread."""

    def __init__(self, bootstrap: str) -> None:
        self.acknowledged = 0
        self.error: Error | None = None
        self._bootstrap = bootstrap
        self._thread = threading.Thread(target=self._run, name="commits", daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait until the thread has seen that the broker is gone."""
        self._thread.join(TIMEOUT_S)
        assert not self._thread.is_alive()
        assert self.error is None

    def _run(self) -> None:
        find_coordinator(self._bootstrap)
        with suppress(OSError, EOFError), Connection(self._bootstrap) as connection:
            while True:
                answer = connection.ask(commit(self.acknowledged + 1), 8)
                error = Error(answer.topics[0].partitions[0].error_code)
                if error is not Error.NONE:
                    self.error = error
                    return
                self.acknowledged += 1


def find_coordinator(bootstrap: str) -> None:
    """Ask for it as every client does: that creates the internal topic."""
    request = FindCoordinatorRequest(coordinator_keys=["g"])

    def is_found() -> bool:
        return bool(ask(bootstrap, request, 4).coordinators[0].error_code == Error.NONE)

    wait_until(is_found, "there is a coordinator", TIMEOUT_S)


def commit(offset: int) -> OffsetCommitRequest:
    return commit_request(offset, metadata=f"note {offset}")


def committed(bootstrap: str) -> tuple[int, str | None]:
    asked = OffsetFetchRequest.Group(group_id="g", topics=None)
    [group] = ask(bootstrap, OffsetFetchRequest(groups=[asked]), 8).groups
    assert group.error_code == Error.NONE
    [partition] = group.topics[0].partitions
    return partition.committed_offset, partition.metadata


@pytest.mark.parametrize("moment", [1, 3_000, *sampled(60, 500, 1_500, 6_000, 10_000, 20_000)])
def test_what_was_acknowledged_before_a_kill_is_there_after_it(
    served: Served, any_client: Client, moment: int
) -> None:
    address = served.bootstrap_servers
    any_client.create_topic(address, "t", PARTITIONS)
    commits = Commits(address)
    load = Load(address)
    load.run(moment)
    wait_until(lambda: commits.acknowledged > 0, "a commit is acknowledged", TIMEOUT_S)
    served.kill()
    commits.join()
    load.give_up()
    assert len(load.acknowledged) >= moment
    assert load.twice == []

    served.start()
    found = stored(any_client, address)
    assert {place: found.get(place) for place in load.acknowledged} == load.acknowledged
    assert set(found.values()) <= {value(number) for number in range(load.count)}
    # A commit may have been written and not acknowledged: the one that was under way.
    offset, note = committed(address)
    assert offset - commits.acknowledged in (0, 1)
    assert note == f"note {offset}"

    again = Load(address)
    again.run(300)
    again.finish()
    served.restart()
    after = stored_again(any_client, address)
    assert found.items() <= after.items()
    assert again.acknowledged.items() <= after.items()
    assert len(after) == len(found) + again.count


def stored_again(any_client: Client, bootstrap: str) -> Stored:
    """As `stored`; the values of a second load are those of the first again."""
    records = any_client.consume(bootstrap, "t", timeout_s=TIMEOUT_S)
    return {(record.partition, record.offset): record.value for record in records}


@pytest.mark.parametrize("how", ["killed", *sampled("stopped")])
def test_lost_acknowledgements_do_not_duplicate(
    tmp_path: Path, any_client: Client, how: str
) -> None:
    """What was written but not acknowledged is sent again after the restart, and recognised.

    After a restart Kafka knows only the last batch of a producer, so one is under way at a time.
    """
    port = free_port()
    with (
        Proxy(port) as proxy,
        Served(tmp_path / "data", CONFIGS, port=port, advertised=proxy.address) as served,
    ):
        address = served.bootstrap_servers
        any_client.create_topic(address, "t", PARTITIONS)
        load = Load(address, **{"enable.idempotence": True, "max.in.flight": 1})
        for _ in range(3):
            load.run(len(load.acknowledged) + 2_000)
            proxy.loses_answers = True
            await_a_lost_answer(load, proxy, f"127.0.0.1:{port}")
            if how == "stopped":
                served.stop()
            else:
                served.kill()
            proxy.loses_answers = False
            served.start()
        load.finish()
        assert load.twice == []
        assert len(load.acknowledged) == load.count
        assert stored(any_client, address) == load.acknowledged
    for partition in range(PARTITIONS):
        places = sorted(place for place in load.acknowledged if place[0] == partition)
        numbers = range(partition, load.count, PARTITIONS)
        assert [load.acknowledged[place] for place in places] == [value(n) for n in numbers]


def await_a_lost_answer(load: Load, proxy: Proxy, broker: str) -> None:
    """Wait until the broker has written more than it could acknowledge."""
    load.send(500)

    def is_lost() -> bool:
        load.poll()
        written = sum(end_offset(broker, partition) for partition in range(PARTITIONS))
        return proxy.lost > 0 and written > len(load.acknowledged)

    wait_until(is_lost, "an acknowledgement is lost", TIMEOUT_S)
    proxy.lost = 0


def end_offset(broker: str, partition: int) -> int:
    """As the broker itself says, not through the proxy."""
    return look_up(BrokerAt(broker), LATEST, partition=partition).offset


def half_a_batch(log: bytes) -> bytes:
    """The front half of a batch that would have come next."""
    pos, header = list(batches(log))[-1]
    torn = bytearray(log[pos : pos + header.size])
    struct.pack_into(">q", torn, 0, header.last_offset + 1)
    return bytes(torn[: len(torn) // 2])


def a_batch_with_a_wrong_bit(log: bytes) -> bytes:
    pos, header = list(batches(log))[-1]
    torn = bytearray(log[pos : pos + header.size])
    struct.pack_into(">q", torn, 0, header.last_offset + 1)
    torn[-1] ^= 1
    return bytes(torn)


TAILS: dict[str, Callable[[bytes], bytes]] = {
    "half a batch": half_a_batch,
    "seven bytes of a batch": lambda log: half_a_batch(log)[:7],
    "a whole batch with a wrong bit": a_batch_with_a_wrong_bit,
    "random bytes": lambda _: TORN.randbytes(5000),
    "zeros": lambda _: bytes(100_000),
    "a batch again": lambda log: log[list(batches(log))[-1][0] :],
}


SAMPLE = ("half a batch", "a whole batch with a wrong bit", "a batch again")


@pytest.mark.parametrize("tail", [*SAMPLE, *sampled(*sorted(TAILS.keys() - SAMPLE))])
def test_a_torn_tail_is_cut_and_the_rest_served(
    served: Served, any_client: Client, tail: str
) -> None:
    address = served.bootstrap_servers
    any_client.create_topic(address, "t", PARTITIONS)
    load = Load(address)
    load.run(12_000)
    load.finish()
    any_client.create_topic(address, "second", 1)
    find_coordinator(address)
    assert ask(address, commit(17), 8).topics[0].partitions[0].error_code == Error.NONE
    expected = stored(any_client, address)
    assert expected == load.acknowledged
    served.kill()

    whole: dict[Path, bytes] = {}
    for directory in sorted(path for path in served.data_dir.iterdir() if path.is_dir()):
        newest = max(directory.glob("*.log"))
        if content := newest.read_bytes():
            whole[newest] = content
            with newest.open("ab") as file:
                file.write(TAILS[tail](content))
    names = {path.parent.name.rpartition("-")[0] for path in whole}
    assert names == {"t", "__consumer_offsets", "__cluster_metadata"}
    assert any(int(path.stem) > 0 for path in whole), "there is only one segment"

    served.start()
    for path, content in whole.items():
        if path.parent.name != "__cluster_metadata-0":  # a start may write there
            assert path.read_bytes() == content, path
        assert path.read_bytes().startswith(content)
    assert stored(any_client, address) == expected
    assert committed(address) == (17, "note 17")
    assert any_client.list_topics(address) >= {"t", "second"}
    [(partition, offset)] = any_client.produce(address, "t", [NewRecord(b"next")], partition=1)
    assert offset == len([place for place in expected if place[0] == 1])
    served.restart()
    assert stored(any_client, address) == {**expected, (partition, offset): b"next"}
