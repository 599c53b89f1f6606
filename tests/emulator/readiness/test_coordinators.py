"""`timing="kafka"`: coordinators that are not there yet, do not know it, and load."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from odradek.emulator.transactions.transaction import Producer
from odradek.storage import MemoryDisk
from odradek.wire import Error
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.join_group import JoinGroupResponse

from tests.requests.committed_offsets import commit, offset_fetch_request
from tests.requests.consumer_groups import beat
from tests.requests.groups import (
    heartbeat_request,
    join_request,
    leave_request,
    sync_request,
)
from tests.requests.streams_groups import streams_beat
from tests.requests.transactions import (
    add_offsets_request,
    add_request,
    end_request,
    init_request,
    txn_commit_request,
)
from tests.support.cluster import open_cluster
from tests.support.patient import Patient, errors_until_none

NOT_THERE = Error.COORDINATOR_NOT_AVAILABLE
NOT_IT = Error.NOT_COORDINATOR
LOADS = Error.COORDINATOR_LOAD_IN_PROGRESS
GROUP, TRANSACTION = 0, 1
AT_ONCE = {"group_initial_rebalance_delay_ms": "0"}
NOBODY = Producer(0, 0)
MEMBER = JoinGroupResponse(member_id="m", generation_id=1)
Ask: TypeAlias = Callable[[Patient], int]


def find(client: Patient, key_type: int, version: int = 4) -> int:
    request = FindCoordinatorRequest(key="g", coordinator_keys=["g"], key_type=key_type)
    answer = client.ask(request, version)
    found = answer.coordinators[0] if version >= 4 else answer
    assert (found.node_id == -1) == bool(found.error_code)
    return int(found.error_code)


def sync(client: Patient) -> int:
    return int(client.ask(sync_request(MEMBER), 3).error_code)


def heart(client: Patient, version: int = 3) -> int:
    return int(client.ask(heartbeat_request(MEMBER), version).error_code)


def txn_commit(client: Patient) -> int:
    answer = client.ask(txn_commit_request(NOBODY, ("t", 0, 1)), 5)
    return int(answer.topics[0].partitions[0].error_code)


def add(client: Patient) -> int:
    answer = client.ask(add_request(NOBODY, [("t", [0])]), 3)
    (topic,) = answer.results_by_topic_v3_and_below
    return int(topic.results_by_partition[0].partition_error_code)


def old_fetch(client: Patient) -> int:
    return int(client.ask(offset_fetch_request(), 5).error_code)


def oldest_fetch(client: Patient) -> int:
    return int(client.ask(offset_fetch_request(), 1).topics[0].partitions[0].error_code)


OF_GROUPS: dict[str, Ask] = {
    "JoinGroup": lambda c: int(c.ask(join_request(), 3).error_code),
    "SyncGroup": sync,
    "LeaveGroup": lambda c: int(c.ask(leave_request("m"), 4).error_code),
    "OffsetCommit": lambda c: commit(c, 1),
    "OffsetFetch v1": oldest_fetch,
    "OffsetFetch v5": old_fetch,
    "OffsetFetch v9": lambda c: int(c.ask(offset_fetch_request(), 9).groups[0].error_code),
    "TxnOffsetCommit": txn_commit,
    "ConsumerGroupHeartbeat": lambda c: beat(c).error_code,
    "StreamsGroupHeartbeat": lambda c: streams_beat(c).error_code,
}
OF_TRANSACTIONS: dict[str, Ask] = {
    "InitProducerId": lambda c: int(c.ask(init_request(), 4).error_code),
    "AddPartitionsToTxn": add,
    "AddOffsetsToTxn": lambda c: int(c.ask(add_offsets_request(NOBODY), 3).error_code),
    "EndTxn": lambda c: int(c.ask(end_request(NOBODY), 3).error_code),
}


def refusals(cluster: Cluster, ask: Callable[[], int]) -> list[Error]:
    """Which errors of a coordinator that is not ready come, in their order, until none does."""

    def one() -> int:
        error = Error(ask())
        return error if error in (NOT_THERE, NOT_IT, LOADS) else Error.NONE

    return errors_until_none(cluster, one)


@pytest.fixture
def cluster() -> Cluster:
    cluster = open_cluster(timing="kafka", **AT_ONCE)
    cluster.create_topic("t", 1, {})
    cluster.advance(1000)
    return cluster


@pytest.mark.parametrize("key_type", [GROUP, TRANSACTION])
@pytest.mark.parametrize("version", [3, 4])
def test_a_coordinator_is_found_once_its_topic_is_there(
    cluster: Cluster, client: Patient, key_type: int, version: int
) -> None:
    assert errors_until_none(cluster, lambda: find(client, key_type, version)) == [NOT_THERE]
    assert find(client, key_type, version) == Error.NONE


@pytest.mark.parametrize("name", OF_GROUPS)
def test_it_then_does_not_know_of_groups_and_then_loads_them(
    cluster: Cluster, client: Patient, name: str
) -> None:
    cluster.topics.ensure_internal(TRANSACTION_STATE)
    cluster.advance(5000)
    errors_until_none(cluster, lambda: find(client, GROUP))
    assert refusals(cluster, lambda: OF_GROUPS[name](client)) == [NOT_IT, LOADS]


@pytest.mark.parametrize("name", OF_TRANSACTIONS)
def test_nor_of_transactions(cluster: Cluster, client: Patient, name: str) -> None:
    errors_until_none(cluster, lambda: find(client, TRANSACTION))
    assert refusals(cluster, lambda: OF_TRANSACTIONS[name](client)) == [NOT_IT, LOADS]


def test_who_does_not_look_for_it_learns_that_it_is_another(
    cluster: Cluster, client: Patient
) -> None:
    find(client, GROUP)
    assert OF_GROUPS["JoinGroup"](client) == NOT_IT


def test_a_heartbeat_is_answered_while_it_loads(cluster: Cluster, client: Patient) -> None:
    errors_until_none(cluster, lambda: find(client, GROUP))
    assert refusals(cluster, lambda: heart(client)) == [NOT_IT]
    assert OF_GROUPS["JoinGroup"](client) == LOADS


def test_groups_do_not_wait_for_the_coordinator_of_transactions(
    cluster: Cluster, client: Patient
) -> None:
    errors_until_none(cluster, lambda: find(client, GROUP))
    refusals(cluster, lambda: commit(client, 1))
    assert find(client, TRANSACTION) == NOT_THERE
    assert commit(client, 1) == Error.NONE


def test_an_idempotent_producer_needs_no_coordinator(client: Patient) -> None:
    assert client.ask(init_request(None), 4).error_code == Error.NONE


def test_after_a_restart_it_is_known_and_loads(disk: MemoryDisk) -> None:
    before = open_cluster(disk)
    before.create_topic("t", 1, {})
    before.topics.ensure_internal(CONSUMER_OFFSETS)
    before.topics.ensure_internal(TRANSACTION_STATE)
    before.close()

    cluster = open_cluster(disk, timing="kafka", **AT_ONCE)
    client = Patient(cluster)
    assert (find(client, GROUP), find(client, TRANSACTION)) == (Error.NONE, Error.NONE)
    init = OF_TRANSACTIONS["InitProducerId"]
    assert refusals(cluster, lambda: commit(client, 1)) == [NOT_IT, LOADS]
    refusals(cluster, lambda: init(client))
    assert init(client) == commit(client, 1) == Error.NONE
