"""What is kept of transactions and producers that are over: what must be, and packed."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.requests.groups import leave_request, stable
from tests.requests.produce import batch, produce
from tests.support.cluster import client_of, open_cluster
from tests.support.transactional_producer import TxnClient


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    cluster = open_cluster(tmp_path, max_events=20, transaction_state_log_num_partitions="1")
    cluster.create_topic("t", 1, {})
    return cluster


def kept(action: Callable[[int], None], warm_up: int, times: int) -> float:
    """Bytes that stay of an action that is done again and again, each time."""
    tracemalloc.start()  # before the warm-up, or what only grows a little would count as new
    try:
        for number in range(warm_up):
            action(number)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(warm_up, warm_up + times):
            action(number)
        gc.collect()
        return (tracemalloc.get_traced_memory()[0] - before) / times
    finally:
        tracemalloc.stop()


def test_transactions_leave_little(cluster: Cluster) -> None:
    producers = [TxnClient(cluster, f"id-{number}").begin() for number in range(10)]

    def transaction(number: int) -> None:
        producer = producers[number % 10]
        assert producer.write(b"x") is Error.NONE
        assert producer.end(number % 3 > 0) is Error.NONE
        cluster.advance(500)

    assert kept(transaction, 400, 500) < 60


def test_a_producer_leaves_little(cluster: Cluster) -> None:
    client = client_of(cluster)

    def write_once(number: int) -> None:
        one = batch(b"x", producer_id=number, producer_epoch=0, base_sequence=0)
        assert produce(client, one).error_code == Error.NONE

    assert kept(write_once, 600, 500) < 200


def test_a_member_that_is_gone_leaves_nothing(cluster: Cluster) -> None:
    client = client_of(cluster)
    client.ask(FindCoordinatorRequest(key="g"), 2)

    def join_and_leave(number: int) -> None:
        member = stable(client)
        assert client.ask(leave_request(member.member_id), 3).error_code == Error.NONE
        cluster.advance(500)  # its session would have ended by the time that is measured

    assert kept(join_and_leave, 600, 300) < 100
