"""The broker's process: killed, without power, started again at the same address."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator

import pytest
from odradek.emulator import Emulator, ManualClock
from odradek.storage import MemoryDisk

from tests.requests.produce import batch, produce
from tests.support.connection import Connection
from tests.support.sockets import api_versions, connect, is_alive, receive

SYNCED = {"flush.messages": 1}


@pytest.fixture(params=["directory", "memory"])
def kafka(request: pytest.FixtureRequest) -> Iterator[Emulator]:
    disk = MemoryDisk() if request.param == "memory" else None
    with Emulator(disk=disk, clock=ManualClock(1_600_000_000_000), topics={"orders": 1}) as kafka:
        yield kafka


def address(kafka: Emulator) -> tuple[str, int]:
    host, port = kafka.bootstrap_servers.rsplit(":", 1)
    return host, int(port)


def test_a_killed_broker_resets_its_connections_and_refuses_new_ones(kafka: Emulator) -> None:
    with connect(kafka) as sock:
        sock.sendall(api_versions())
        assert receive(sock)
        kafka.kill()
        with pytest.raises(ConnectionResetError):
            sock.recv(1)
    with pytest.raises(ConnectionRefusedError):
        connect(kafka)
    assert kafka.is_down


@pytest.mark.parametrize("reuse", [0, 1])
def test_nobody_else_gets_the_port_of_a_broker_that_is_down(kafka: Emulator, reuse: int) -> None:
    before = kafka.bootstrap_servers
    for _ in range(2):
        kafka.kill()
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
            with pytest.raises(OSError, match="in use"):
                other.bind(address(kafka))
        kafka.restart()
        assert is_alive(kafka)
    assert kafka.bootstrap_servers == before


def test_what_was_written_is_kept_when_it_is_killed(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    orders.produce_all([b"a", b"b"])
    kafka.group("billing").commit({("orders", 0): 1})
    kafka.kill()
    kafka.restart()
    assert orders.values() == [b"a", b"b"]
    assert kafka.group("billing").committed()["orders", 0].offset == 1


def test_without_power_what_was_not_synced_is_lost(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    orders.produce(b"a")
    kafka.restart()  # a clean stop syncs
    orders.produce(b"b")
    kafka.crash(power=True)
    assert kafka.is_down
    kafka.restart()
    assert orders.values() == [b"a"]


@pytest.mark.parametrize("seed", [None, *range(8)])
def test_what_is_acknowledged_with_flush_messages_1_survives(
    kafka: Emulator, seed: int | None
) -> None:
    safe = kafka.create_topic("safe", configs=SYNCED)
    with Connection(kafka.bootstrap_servers) as client:
        for value in (b"a", b"b"):
            assert produce(client, batch(value), topic="safe").error_code == 0
    kafka.crash(power=True, seed=seed)
    kafka.restart()
    assert safe.values() == [b"a", b"b"]


@pytest.mark.slow
def test_a_seed_decides_what_is_left(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    state = kafka.snapshot()

    def left(seed: int) -> int:
        kafka.restore(state)
        for number in range(20):
            orders.produce(b"%d" % number)
        kafka.crash(power=True, seed=seed)
        kafka.restart()
        found = orders.values()
        assert found == [b"%d" % number for number in range(len(found))]
        return len(found)

    counts = [left(seed) for seed in range(12)]
    assert counts[:4] == [left(seed) for seed in range(4)]
    assert len(set(counts)) > 2, "some lose a few, some lose all"


@pytest.mark.slow
def test_a_broker_starts_again_whatever_a_power_cut_has_left(kafka: Emulator) -> None:
    for seed in range(12):
        kafka.create_topic(f"t{seed}", 2)
        for _ in range(3):
            kafka.topic(f"t{seed}").produce(b"x" * 100)
        kafka.group("billing").commit({(f"t{seed}", 0): seed})
        kafka.crash(power=True, seed=seed)
        kafka.restart()
        assert is_alive(kafka)
        kafka.topic(f"t{seed}").produce(b"after")
        assert kafka.topic(f"t{seed}").values()[-1:] == [b"after"]


def test_time_passes_while_it_is_down(kafka: Emulator) -> None:
    kafka.kill()
    kafka.restart(after=90)
    assert kafka.now == 1_600_000_090_000
    kafka.restart(after=0.5)
    assert kafka.now == 1_600_000_090_500


def test_what_a_broker_that_is_down_can_be_asked(kafka: Emulator) -> None:
    kafka.kill()
    assert "the broker was killed" in kafka.timeline()
    assert kafka.bootstrap_servers.startswith("127.0.0.1:")
    for verb in (kafka.topics, kafka.kill, kafka.crash, kafka.snapshot, kafka.clients):
        with pytest.raises(RuntimeError, match=r"down.*kafka.restart"):
            verb()
    kafka.restart()
    assert not kafka.is_down
    assert kafka.topics() == ["orders"]


def test_the_timeline_tells_of_it(kafka: Emulator) -> None:
    kafka.restart(after=5)
    kafka.restart(clean=False)
    kafka.crash(power=True, seed=7)
    kafka.restart()
    told = [event.sentence for event in kafka.events if event.kind != "topic created"]
    assert told == [
        "the broker was stopped",
        "the broker started again (5.0 s later)",
        "the broker was killed",
        "the broker started again",
        "the broker lost power (seed 7)",
        "the broker started again",
    ]


def test_a_reset_brings_it_back_as_new(kafka: Emulator) -> None:
    kafka.topic("orders").produce(b"x")
    kafka.kill()
    kafka.reset()
    assert is_alive(kafka)
    assert kafka.topic("orders").values() == []


def test_it_can_be_stopped_while_it_is_down_and_started_anew() -> None:
    disk = MemoryDisk()
    kafka = Emulator(disk=disk, topics={"orders": 1})
    with kafka:
        kafka.topic("orders").produce(b"x")
        kafka.kill()
    with kafka:
        assert not kafka.is_down
        assert kafka.topic("orders").values() == [b"x"]


def test_a_wait_goes_on_over_a_restart(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    found: list[bytes | None] = []
    waiting = threading.Thread(target=lambda: found.append(orders.wait_for(value=b"x").value))
    waiting.start()
    kafka.restart(clean=False)
    orders.produce(b"x")
    waiting.join(30)
    assert found == [b"x"]


def test_what_cannot_be_asked_for_is_refused(kafka: Emulator) -> None:
    with pytest.raises(ValueError, match="power=True"):
        kafka.crash(seed=1)
    with pytest.raises(ValueError, match="-1"):
        kafka.restart(after=-1)
    with pytest.raises(RuntimeError, match="own thread"):
        kafka.run(lambda _: kafka.kill())
    assert not kafka.is_down


def test_a_clock_of_ones_own_is_not_moved() -> None:
    class Own:
        def now(self) -> int:
            return 5

    with Emulator(clock=Own()) as kafka, pytest.raises(TypeError, match="yours to move"):
        kafka.restart(after=1)


def test_nothing_is_left_open(kafka: Emulator) -> None:
    kafka.restart(clean=False)
    before, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(5):
        kafka.restart(clean=False)
    assert len(os.listdir("/proc/self/fd")) == before
    assert threading.active_count() == threads
