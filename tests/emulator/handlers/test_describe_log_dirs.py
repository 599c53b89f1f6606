"""DescribeLogDirs (semantics I12): the directory, its room, and what each replica takes of it."""

from __future__ import annotations

import os

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire.api.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse
from odradek.wire.batch import read_header

from tests.requests.produce import batch
from tests.support.clock import NOW
from tests.support.cluster import Client, client_of, open_cluster
from tests.support.versions import first_and_last

Topics = list[tuple[str, list[int]]]


def describe(
    client: Client, topics: Topics | None, version: int = 5
) -> DescribeLogDirsResponse.Result:
    made = DescribeLogDirsRequest
    asked = None if topics is None else [made.Topic(topic=n, partitions=p) for n, p in topics]
    (found,) = client.ask(made(topics=asked), version).results
    result: DescribeLogDirsResponse.Result = found
    return result


def sizes(result: DescribeLogDirsResponse.Result) -> dict[str, dict[int, int]]:
    return {
        t.name: {p.partition_index: p.partition_size for p in t.partitions} for t in result.topics
    }


def test_sizes_are_those_of_the_batches(cluster: Cluster, client: Client) -> None:
    cluster.create_topic("t", 2, {})
    cluster.create_topic("u", 1, {})
    data = batch(b"some", b"thing")
    cluster.partition("t", 1).append(data, read_header(data), NOW)

    found = describe(client, None)
    assert sizes(found) == {"t": {0: 0, 1: len(data)}, "u": {0: 0}}
    assert sizes(describe(client, [("t", [1, 1, 7, -1]), ("none", [0]), ("u", [])])) == {
        "t": {1: len(data)}
    }
    assert sizes(describe(client, [])) == {}


@pytest.mark.parametrize("version", [*first_and_last(DescribeLogDirsRequest), 3, 4])
def test_the_directory_and_its_room_are_reported(on_files: Cluster, version: int) -> None:
    found = describe(client_of(on_files), None, version)
    assert found.log_dir == os.path.abspath(on_files.log_dir.path)
    if version >= 4:
        assert found.total_bytes >= found.usable_bytes > 0
    else:
        assert (found.total_bytes, found.usable_bytes) == (-1, -1)
    assert not found.is_cordoned


def test_a_disk_in_memory_has_no_size() -> None:
    cluster = open_cluster()
    found = describe(client_of(cluster), None)
    assert (found.log_dir, found.total_bytes, found.usable_bytes) == ("memory:", -1, -1)
    cluster.close()
