"""AlterReplicaLogDirs (semantics I17): there is one directory, where replicas stay."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire.api.alter_replica_log_dirs import AlterReplicaLogDirsRequest

from tests.support.cluster import Client
from tests.support.versions import first_and_last

Topics = list[tuple[str, list[int]]]


def move(client: Client, path: str, topics: Topics, version: int = 2) -> dict[str, dict[int, int]]:
    made = AlterReplicaLogDirsRequest
    wanted = [made.Dir.Topic(name=name, partitions=parts) for name, parts in topics]
    answer = client.ask(made(dirs=[made.Dir(path=path, topics=wanted)]), version)
    return {
        t.topic_name: {p.partition_index: p.error_code for p in t.partitions}
        for t in answer.results
    }


@pytest.fixture
def cluster(on_files: Cluster) -> Cluster:
    return on_files


@pytest.mark.parametrize("version", first_and_last(AlterReplicaLogDirsRequest))
def test_replicas_stay_where_they_are(
    cluster: Cluster, client: Client, tmp_path: Path, version: int
) -> None:
    cluster.create_topic("t", 1, {})
    own = os.path.abspath(cluster.log_dir.path)
    assert move(client, own, [("t", [0, 7]), ("none", [0])], version) == {
        "t": {0: 0, 7: 3},
        "none": {0: 3},
    }
    assert move(client, str(tmp_path), [("t", [0, 7])], version) == {"t": {0: 57, 7: 57}}
