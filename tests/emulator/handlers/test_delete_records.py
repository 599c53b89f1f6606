"""DeleteRecords, semantics E8."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire.api.delete_records import DeleteRecordsRequest
from odradek.wire.batch import read_header

from tests.requests.offsets import delete_records_request
from tests.requests.produce import batch
from tests.support.clock import NOW
from tests.support.cluster import Client
from tests.support.versions import first_and_last


@pytest.fixture(autouse=True)
def _topics(cluster: Cluster) -> None:
    cluster.topics.create("t", partitions=2)
    cluster.topics.create("compacted", configs={"cleanup.policy": "compact"})
    cluster.topics.create("both", configs={"cleanup.policy": "compact,delete"})
    cluster.topics.create("neither", configs={"cleanup.policy": ""})
    cluster.topics.ensure_internal("__consumer_offsets")
    for name in ("t", "compacted", "both", "neither"):
        for _ in range(5):
            data = batch(b"v")
            cluster.partition(name, 0).append(data, read_header(data), NOW)


def delete(
    client: Client, *topics: tuple[str, list[tuple[int, int]]]
) -> list[tuple[str, list[tuple[int, int, int]]]]:
    request = delete_records_request(*topics)
    return [
        (t.name, [(p.partition_index, p.low_watermark, p.error_code) for p in t.partitions])
        for t in client.ask(request, 2).topics
    ]


@pytest.mark.parametrize(
    ("name", "index", "offset", "low_watermark", "error"),
    [
        ("t", 0, 3, 3, 0),
        ("t", 0, 0, 0, 0),
        ("t", 0, -1, 5, 0),
        ("t", 0, 5, 5, 0),
        ("t", 0, 6, -1, 1),
        ("t", 0, -2, -1, 1),
        ("t", 2, 0, -1, 3),
        ("t", -1, 0, -1, 3),
        ("x", 0, 0, -1, 3),
        ("a b", 0, 0, -1, 3),
        ("compacted", 0, 0, -1, 44),
        ("compacted", 0, 9, -1, 44),
        ("both", 0, 1, 1, 0),
        ("neither", 0, 1, 1, 0),
        ("__consumer_offsets", 0, 0, -1, 17),
        ("__consumer_offsets", 99, 0, -1, 3),
    ],
)
def test_a_partition_begins_later_or_is_refused(
    client: Client, name: str, index: int, offset: int, low_watermark: int, error: int
) -> None:
    found = delete(client, (name, [(index, offset)]))
    assert found == [(name, [(index, low_watermark, error)])]


def test_the_start_never_goes_back(client: Client, cluster: Cluster) -> None:
    delete(client, ("t", [(0, 4)]))
    assert delete(client, ("t", [(0, 2)])) == [("t", [(0, 4, 0)])]
    assert cluster.partition("t", 0).log_start_offset == 4


def test_a_partition_named_twice_is_answered_once_and_the_last_offset_counts(
    client: Client,
) -> None:
    found = delete(
        client, ("t", [(0, 9), (0, 1)]), ("compacted", [(0, 0)]), ("t", [(0, 2), (1, 0)])
    )
    assert found == [("t", [(0, 2, 0), (1, 0, 0)]), ("compacted", [(0, -1, 44)])]


def test_a_topic_without_partitions_is_not_answered(client: Client) -> None:
    assert delete(client, ("t", [])) == []


@pytest.mark.parametrize("version", first_and_last(DeleteRecordsRequest))
def test_records_are_deleted_in_every_version(
    client: Client, cluster: Cluster, version: int
) -> None:
    (topic,) = client.ask(delete_records_request(("t", [(0, 2)])), version).topics
    (found,) = topic.partitions
    assert (found.partition_index, found.low_watermark, found.error_code) == (0, 2, 0)
    assert cluster.partition("t", 0).log_start_offset == 2
