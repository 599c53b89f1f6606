"""Stock clients at three brokers of which one stops, dies, or is replaced while they work.

With ODRADEK_REAL=1 the same tests run at three nodes of Apache Kafka too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from odradek.compat import Client, NewRecord
from odradek.compat.clients import Consumer, wait_until

from tests.clients.support.ground import IDS, TRANSACTION, UNCLEAN, Emulated, Ground, Real
from tests.clients.support.wanted import WANT_REAL

pytestmark = pytest.mark.client

READ_S = 90.0
MANY = 20
TIDY = str.maketrans("[]", "--")


@pytest.fixture(
    scope="module",
    params=["odradek", *([pytest.param("real", marks=pytest.mark.real)] if WANT_REAL else [])],
)
def brokers(request: pytest.FixtureRequest) -> Iterator[Ground]:
    with Real() if request.param == "real" else Emulated() as ground:
        yield ground


@pytest.fixture
def ground(brokers: Ground) -> Iterator[Ground]:
    """All brokers run when a test begins."""
    brokers.start_all()
    yield brokers
    brokers.start_all()


@pytest.fixture
def name(client: Client, request: pytest.FixtureRequest) -> str:
    """What this test's topic and group are called."""
    return request.node.name.replace("test_", "", 1).translate(TIDY)


class Work:
    """A client that writes numbers to a topic, and a consumer of its that reads them."""

    def __init__(self, client: Client, ground: Ground, topic: str) -> None:
        self.written = 0
        self._client = client
        self._ground = ground
        self._topic = topic

    def write(self, count: int = MANY) -> None:
        """The next ones, by a new producer that is idempotent."""
        numbers = range(self.written, self.written + count)
        records = [NewRecord(b"%d" % number) for number in numbers]
        places = self._client.produce(
            self._ground.bootstrap_servers, self._topic, records, partition=0, idempotent=True
        )
        assert len(places) == count
        self.written += count

    def consumer(self, *, group: str | None = None, from_beginning: bool = True) -> Consumer:
        return self._client.consumer(
            self._ground.bootstrap_servers,
            self._topic,
            group=group,
            from_beginning=from_beginning,
        )

    def read(self, consumer: Consumer, upto: int | None = None) -> list[int]:
        """Poll until that number has come, by default the last one written; all that came."""
        last = (self.written if upto is None else upto) - 1
        found: list[int] = []

        def has_come() -> bool:
            records = consumer.poll(self._client.poll_s)
            found.extend(int(record.value or b"-1") for record in records)
            return last in found

        wait_until(has_come, f"{last} is read", READ_S)
        return found

    def read_anew(self) -> list[int]:
        """What a new consumer finds from the beginning on."""
        with self.consumer() as consumer:
            return self.read(consumer)


@pytest.fixture
def work(client: Client, ground: Ground, name: str) -> Callable[..., Work]:
    """Makes the topic, on these brokers."""

    def make(*replicas: int, **configs: object) -> Work:
        ground.create(name, replicas or IDS, **configs)
        return Work(client, ground, name)

    return make


def test_brokers_restart_one_after_the_other_under_a_producer_and_a_consumer(
    ground: Ground, work: Callable[..., Work], name: str
) -> None:
    working = work()
    over = threading.Event()

    def restart_each() -> None:
        for node_id in IDS:
            ground.do("stop", node_id)
            ground.start_all()
        over.set()

    with ThreadPoolExecutor(1) as pool, working.consumer(group=name) as consumer:
        working.write()
        read = working.read(consumer)
        restarting = pool.submit(restart_each)
        while not over.is_set() and not restarting.done():
            working.write()
            read += working.read(consumer)
        restarting.result()
        working.write()
        read += working.read(consumer)
    assert sorted(set(read)) == list(range(working.written))
    assert working.read_anew() == list(range(working.written))


def test_the_leader_dies_while_records_are_on_their_way(
    client: Client, ground: Ground, work: Callable[..., Work], name: str
) -> None:
    working = work()
    leader = ground.place(name).leader
    records = (NewRecord(b"%d" % number, b"k" * 100) for number in range(20_000))
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(
            client.produce,
            ground.bootstrap_servers,
            name,
            records,
            partition=0,
            idempotent=True,
        )
        wait_until(lambda: sending.done() or ground.end(name) > 0, "the first records are there")
        ground.do("kill", leader)
        places = sending.result()
    ground.await_led(name, but_not_by=leader)
    working.written = len(places)
    assert [offset for _, offset in places] == list(range(20_000))
    assert working.read_anew() == list(range(20_000))


def test_the_leader_dies_before_it_has_answered_what_followers_have(
    client: Client, ground: Ground, work: Callable[..., Work], name: str
) -> None:
    """The client sends it again, to the next leader, which has it already."""
    working = work(3, 1, 2)
    working.write()
    ground.do("pause", 2)  # the leader waits for it before it answers
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(working.write)
        ground.do("kill", 3)
        ground.do("resume", 2)
        ground.await_led(name, but_not_by=3)
        sending.result()
    assert working.read_anew() == list(range(working.written))


def test_the_coordinator_of_a_group_dies(
    client: Client, ground: Ground, work: Callable[..., Work], name: str
) -> None:
    working = work()
    working.write()
    with working.consumer(group=name) as consumer:
        read = working.read(consumer)
        consumer.commit()
        ground.do("kill", ground.coordinator(name))
        working.write()
        read += working.read(consumer)

        def is_committed() -> bool:
            consumer.commit()
            return True

        _again(is_committed, "the group commits")
    assert sorted(set(read)) == list(range(working.written))
    found = client.committed(ground.bootstrap_servers, name, name)
    assert found == {0: working.written}


def test_the_coordinator_of_transactions_dies_between_two_of_them(
    client: Client, ground: Ground, work: Callable[..., Work], name: str
) -> None:
    working = work()

    def transact(values: list[bytes], *, abort: bool = False) -> None:
        client.produce(
            ground.bootstrap_servers,
            name,
            [NewRecord(value) for value in values],
            partition=0,
            transactional_id=name,
            abort=abort,
        )

    transact([b"0", b"1"])
    coordinator = ground.coordinator(name, TRANSACTION)
    ground.do("kill", coordinator)
    if client.name == "kafka-python":  # 3.0.12 waits 30 s for the one it was told of first
        ground.await_coordinated(name, TRANSACTION, but_not_by=coordinator)
    transact([b"aborted"], abort=True)
    transact([b"2", b"3"])
    working.written = 4
    with client.consumer(ground.bootstrap_servers, name, isolation="read_committed") as consumer:
        assert working.read(consumer) == [0, 1, 2, 3]


def test_a_partition_moves_to_other_brokers_under_a_producer_and_a_consumer(
    ground: Ground, work: Callable[..., Work], name: str
) -> None:
    working = work(1, 2, min_insync_replicas=1)
    with working.consumer(group=name) as consumer:
        read: list[int] = []
        for replicas in ((2, 3), (3, 1), (2, 1)):
            working.write()
            ground.reassign(name, replicas)
            working.write()
            read += working.read(consumer)
            assert ground.place(name).leader in replicas
    assert sorted(set(read)) == list(range(working.written))
    assert working.read_anew() == list(range(working.written))


def test_too_few_replicas_in_sync_and_then_enough(
    ground: Ground, work: Callable[..., Work], name: str
) -> None:
    """The producer tries again until a follower is back."""
    working = work(1, 2)
    with working.consumer(group=name) as consumer:
        working.write()
        read = working.read(consumer)
        ground.do("stop", 2)
        ground.await_isr(name, [1])
        with ThreadPoolExecutor(1) as pool:
            sending = pool.submit(working.write)
            ground.do("start", 2)
            sending.result()
        read += working.read(consumer)
    assert read == list(range(working.written))
    assert working.read_anew() == list(range(working.written))


@pytest.mark.parametrize("resets_to", ["earliest", "latest"])
def test_a_consumer_that_has_read_what_an_unclean_election_loses(
    ground: Ground, work: Callable[..., Work], name: str, resets_to: str
) -> None:
    """It goes on, and is given what is written from then on."""
    working = work(1, 2, min_insync_replicas=1)
    working.write()
    with working.consumer(group=name, from_beginning=resets_to == "earliest") as consumer:
        if resets_to == "latest":
            _until_it_is_at(consumer, working.written)
        ground.do("stop", 2)
        ground.await_isr(name, [1])
        working.write(5)
        read = working.read(consumer)
        ground.do("stop", 1)
        ground.do("start", 2)
        ground.elect(name, UNCLEAN)
        assert ground.await_led(name, but_not_by=1) == 2
        before = working.written
        working.write()
        read += working.read(consumer)
    kept = [*range(MANY), *range(before, working.written)]
    assert working.read_anew() == kept
    assert set(range(MANY, before)) <= set(read)


@pytest.mark.parametrize("node_id", IDS)
def test_each_broker_alone_is_enough_to_begin_with(
    client: Client, ground: Ground, work: Callable[..., Work], name: str, node_id: int
) -> None:
    working = work(*IDS[node_id % 3 :], *IDS[: node_id % 3])  # another one leads
    assert ground.place(name).leader != node_id
    records = [NewRecord(b"%d" % number) for number in range(3)]
    client.produce(ground.address(node_id), name, records, partition=0)
    working.written = 3
    with client.consumer(ground.address(node_id), name, group=name) as consumer:
        assert working.read(consumer) == [0, 1, 2]


@pytest.mark.parametrize("node_id", IDS)
def test_one_of_three_addresses_is_dead(
    ground: Ground, work: Callable[..., Work], name: str, node_id: int
) -> None:
    working = work()
    ground.do("stop", node_id)
    working.write()
    with working.consumer(group=name) as consumer:
        assert working.read(consumer) == list(range(MANY))


def _again(condition: Callable[[], bool], what: str) -> None:
    """Until it raises nothing, and holds."""

    def holds() -> bool:
        try:
            return condition()
        except Exception:  # each client's own
            return False

    wait_until(holds, what, READ_S)


def _until_it_is_at(consumer: Consumer, offset: int) -> None:
    def is_there() -> bool:
        assert consumer.poll(0.2) == []
        return consumer.positions() == {0: offset}

    _again(is_there, f"the consumer is at {offset}")
