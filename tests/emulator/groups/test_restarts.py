"""What a restart brings back of classic groups and their offsets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.batch import read_header
from odradek.wire.records import end_transaction_batch

from tests.requests.committed_offsets import commit, committed
from tests.requests.groups import (
    heartbeat_request,
    joined,
    leave_request,
    sync_request,
)
from tests.support.clock import NOW
from tests.support.cluster import Client, client_of, open_cluster


@pytest.fixture
def cluster(on_files: Cluster) -> Cluster:
    return on_files


@pytest.fixture(autouse=True)
def topic(cluster: Cluster) -> None:
    cluster.create_topic("t", 2, {})
    cluster.groups.ensure_topic()


@pytest.fixture
def restart(cluster: Cluster, tmp_path: Path) -> Iterator[Any]:
    """Close the cluster and open its directory again, as another cluster."""
    opened = []

    def reopen() -> Client:
        cluster.close()
        opened.append(open_cluster(tmp_path / "data", now=NOW + 60_000))
        return client_of(opened[0])

    yield reopen
    for again in opened:
        again.close()


def test_a_stable_group_comes_back_with_its_members_and_offsets(
    client: Client, restart: Any
) -> None:
    answer = joined(client)
    client.ask(sync_request(answer, b"all"), 3)
    error = commit(
        client,
        11,
        member_id=answer.member_id,
        generation_id_or_member_epoch=answer.generation_id,
    )
    assert error is Error.NONE

    client = restart()
    assert client.ask(heartbeat_request(answer), 4).error_code == 0
    assert client.ask(sync_request(answer, b""), 3).assignment == b"all"
    assert committed(client).committed_offset == 11


def test_a_group_that_fell_empty_goes_on_with_the_next_generation(
    client: Client, restart: Any
) -> None:
    answer = joined(client)
    client.ask(sync_request(answer, b"all"), 3)
    client.ask(leave_request(answer.member_id), 4)

    client = restart()
    assert client.ask(DescribeGroupsRequest(groups=["g"]), 5).groups[0].group_state == "Empty"
    assert joined(client).generation_id == 3


def test_a_marker_that_compaction_has_emptied_keeps_no_group_from_coming_back(
    cluster: Cluster, client: Client, tmp_path: Path
) -> None:
    client.ask(FindCoordinatorRequest(key="g"), 1)
    offsets = cluster.topics.get("__consumer_offsets")
    assert offsets is not None
    stored = offsets.partitions[cluster.groups.partition_for("g")].log
    stored.config = replace(stored.config, delete_retention_ms=0)
    marker = end_transaction_batch(
        True,
        base_offset=0,
        timestamp=NOW,
        producer_id=5,
        producer_epoch=0,
        coordinator_epoch=0,
        leader_epoch=0,
    )
    stored.append(marker, read_header(marker), NOW)
    commit(client, 7, version=5)
    for later in (1, 2):  # the first pass sets the horizon, the second is behind it
        stored.compactor.compact(NOW + later, force=True)
    headers = [header for header, _, _ in stored.reader.batches_from(0)]
    assert [(h.is_control, h.count) for h in headers] == [(True, 0), (False, 1)]

    cluster.close()
    again = open_cluster(tmp_path / "data")
    found = again.groups.at(1).offsets.fetch("g", [("t", 0)])
    assert [one.offset for one in found] == [7]
    again.close()
