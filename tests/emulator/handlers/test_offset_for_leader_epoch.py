"""OffsetForLeaderEpoch, semantics D3 and D4."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire.api.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from odradek.wire.batch import read_header

from tests.requests.offsets import epoch_end_request
from tests.requests.produce import batch
from tests.support.clock import NOW
from tests.support.cluster import Client
from tests.support.versions import first_and_last


@pytest.fixture(autouse=True)
def _topics(cluster: Cluster) -> None:
    """t-0: epoch 2 from offset 0, epoch 5 from 3, epoch 7 from 4; the log ends at 6."""
    partition = cluster.topics.create("t").partitions[0]
    partition.log.epochs.truncate_from_end(0)
    for epoch, count in ((2, 3), (5, 1), (7, 2)):
        partition.leader_epoch = epoch
        data = batch(*[b"v"] * count)
        partition.append(data, read_header(data), NOW)
    cluster.topics.create("empty")


def ask(
    client: Client, *asked: tuple[str, int, int, int], version: int = 4
) -> list[tuple[int, int, int, int]]:
    """Topic, partition, current epoch and epoch; error, partition, epoch and end offset."""
    request = epoch_end_request(*asked)
    return [
        (p.error_code, p.partition, p.leader_epoch, p.end_offset)
        for topic in client.ask(request, version).topics
        for p in topic.partitions
    ]


@pytest.mark.parametrize(
    ("name", "epoch", "answer"),
    [
        ("t", 7, (7, 6)),
        ("t", 6, (5, 4)),
        ("t", 5, (5, 4)),
        ("t", 4, (2, 3)),
        ("t", 2, (2, 3)),
        ("t", 1, (1, 0)),
        ("t", 8, (-1, -1)),
        ("t", -1, (-1, -1)),
        ("empty", 0, (0, 0)),
        ("empty", 1, (-1, -1)),
    ],
)
@pytest.mark.parametrize("version", [2, 3, 4])
def test_an_epoch_ends_where_the_next_begins(
    client: Client, name: str, epoch: int, answer: tuple[int, int], version: int
) -> None:
    assert ask(client, (name, 0, -1, epoch), version=version) == [(0, 0, *answer)]


def test_an_emptied_log_ends_its_epoch_at_its_end(client: Client, cluster: Cluster) -> None:
    cluster.partition("t", 0).delete_records(-1)
    assert ask(client, ("t", 0, -1, 7)) == [(0, 0, 7, 6)]


@pytest.mark.parametrize(
    ("name", "index", "current", "error"),
    [
        ("t", 0, 7, 0),
        ("t", 0, 6, 74),
        ("t", 0, -2, 74),
        ("t", 0, 8, 75),
        ("t", 1, -1, 3),
        ("t", -1, -1, 3),
        ("x", 0, -1, 3),
        ("a b", 0, -1, 3),
    ],
)
def test_a_partition_is_refused(
    client: Client, name: str, index: int, current: int, error: int
) -> None:
    ((found, *rest),) = ask(client, (name, index, current, 7))
    assert found == error
    assert rest == ([index, 7, 6] if error == 0 else [index, -1, -1])


def test_a_partition_that_another_broker_leads_is_refused(client: Client, cluster: Cluster) -> None:
    cluster.partition("t", 0).leader = 2
    assert ask(client, ("t", 0, -1, 7)) == [(6, 0, -1, -1)]


def test_a_partition_asked_twice_is_answered_twice(client: Client) -> None:
    assert ask(client, ("t", 0, -1, 7), ("t", 0, -1, 5)) == [(0, 0, 7, 6), (0, 0, 5, 4)]


@pytest.mark.parametrize("version", first_and_last(OffsetForLeaderEpochRequest))
def test_the_end_of_an_epoch_is_reported_in_every_version(client: Client, version: int) -> None:
    assert ask(client, ("t", 0, -1, 5), version=version) == [(0, 0, 5, 4)]
