"""A clock that is set: what is timed goes on, and ages change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from odradek.emulator import Emulator, Error, Snapshot
from odradek.emulator.cluster import Cluster
from odradek.emulator.transactions.states import State
from odradek.storage import MemoryDisk
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.requests.consumer_groups import beat
from tests.requests.groups import heartbeat_request, stable
from tests.requests.produce import batch, produce
from tests.support.cluster import client_of, open_cluster
from tests.support.connection import Connection
from tests.support.transactional_producer import TxnClient

HOUR_MS = 3_600_000


@pytest.fixture
def cluster() -> Any:
    cluster = open_cluster()
    cluster.create_topic("t", 1, {})
    yield cluster
    cluster.close()


@pytest.mark.parametrize("jump_ms", [HOUR_MS, -HOUR_MS])
def test_a_session_is_as_long_as_it_was(cluster: Cluster, jump_ms: int) -> None:
    client = client_of(cluster)
    client.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
    member = stable(client)
    cluster.advance(9_000)
    cluster.jump(jump_ms)
    assert client.ask(heartbeat_request(member), 4).error_code == Error.NONE
    cluster.jump(jump_ms)
    cluster.advance(9_999)
    group: Any = cluster.groups.at(1).runtime.shard_for("g").groups["g"]
    assert len(group.roster) == 1
    cluster.advance(1)
    assert len(group.roster) == 0


@pytest.mark.parametrize("jump_ms", [HOUR_MS, -HOUR_MS])
def test_so_is_one_of_the_newer_protocol(cluster: Cluster, jump_ms: int) -> None:
    client = client_of(cluster)
    client.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
    assert beat(client).error_code == Error.NONE
    cluster.jump(jump_ms)
    cluster.advance(44_999)
    groups = cluster.groups.at(1).runtime.shard_for("g").groups
    found: Any = groups["g"]
    assert len(found.members) == 1
    cluster.advance(1)
    assert len(found.members) == 0


def test_a_transaction_is_older_when_the_clock_is_set_forward(cluster: Cluster) -> None:
    x = TxnClient(cluster).begin(timeout_ms=60_000)
    x.write(b"a")
    cluster.jump(HOUR_MS)
    assert x.state.state is State.ONGOING  # until the broker looks, every 10 s
    cluster.advance(10_000)
    assert x.state.state is State.COMPLETE_ABORT


def test_a_transaction_is_younger_when_it_is_set_back(cluster: Cluster) -> None:
    x = TxnClient(cluster).begin(timeout_ms=60_000)
    x.write(b"a")
    cluster.jump(-HOUR_MS)
    cluster.advance(HOUR_MS)
    assert x.state.state is State.ONGOING
    cluster.advance(80_000)
    assert x.state.state is State.COMPLETE_ABORT


def test_retention_finds_what_is_old_now(kafka: Emulator) -> None:
    orders = kafka.create_topic("old", configs={"segment.bytes": 1024 * 1024})
    orders.produce_all([b"a", b"b"])
    assert orders.retain() == 0
    kafka.situations.clock_jump(8 * 86_400)
    orders.produce(b"c")
    assert orders.retain() == 1
    assert orders.values() in ([b"c"], [])


def test_records_of_a_client_that_is_ahead_now_are_refused(kafka: Emulator) -> None:
    now = kafka.now
    kafka.situations.clock_jump(-2 * 3600)
    with Connection(kafka.bootstrap_servers) as client:
        error = produce(client, batch(b"x", time=now), topic="orders").error_code
        assert error == Error.INVALID_TIMESTAMP
        there = batch(b"x", time=kafka.now)
        assert produce(client, there, topic="orders").error_code == Error.NONE


def test_a_jump_that_ends_with_its_block(kafka: Emulator) -> None:
    with kafka.paused():
        before = kafka.now
        with kafka.situations.clock_jump(-2 * 3600) as there:
            assert kafka.now == there == before - 2 * HOUR_MS
        assert kafka.now == before
        there.remove()
        assert kafka.now == before  # once


@pytest.mark.parametrize("jump", [7200, -7200])
def test_a_jump_that_lasts_a_while(kafka: Emulator, jump: int) -> None:
    with kafka.paused():
        before = kafka.now
        kafka.situations.clock_jump(jump, lasts=60)
        kafka.advance(seconds=59)
        assert kafka.now == before + jump * 1000 + 59_000
        kafka.restart()
        kafka.advance(seconds=1)
        assert kafka.now == before + 60_000
        kafka.advance(seconds=1)
        assert kafka.now == before + 61_000


def test_a_snapshot_keeps_how_far_it_was_set(kafka: Emulator, tmp_path: Path) -> None:
    back_ms = kafka.situations.clock_jump(-2 * 3600)
    path = tmp_path / "state"
    kafka.snapshot().save(path)
    with Emulator(state=Snapshot.load(path), disk=MemoryDisk()) as other:
        assert 0 <= other.now - back_ms < HOUR_MS


def test_regular_checks_go_on(kafka: Emulator) -> None:
    """Those that are due every few minutes do not stop when the clock is set back."""
    before = len(kafka.run(lambda cluster: cluster.timers))
    kafka.situations.clock_jump(-30 * 86_400)
    with kafka.paused():
        next_ms = kafka.run(lambda cluster: cluster.timers.next())
        assert next_ms is not None
        assert 0 <= next_ms - kafka.now <= HOUR_MS
        kafka.advance(hours=1)
    assert len(kafka.run(lambda cluster: cluster.timers)) == before
