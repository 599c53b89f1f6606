"""What a broker of release 3.9 writes to internal topics, where 4.3 writes something else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.internal_topics import CONSUMER_OFFSETS
from odradek.emulator.metadata.snapshot import image_records
from odradek.wire import Error
from odradek.wire.api.delete_groups import DeleteGroupsRequest
from odradek.wire.api.update_features import UpdateFeaturesRequest
from odradek.wire.records import read_records
from odradek.wire.stored.cluster import (
    EndTransactionRecord,
    FeatureLevelRecord,
    MetadataRecord,
    ZkMigrationStateRecord,
    read_record,
)

from tests.requests.committed_offsets import commit, commit_request
from tests.requests.groups import joined, sync_request
from tests.support.clock import NOW
from tests.support.cluster import Client, client_of, open_cluster
from tests.support.releases import KAFKA_3_9


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    cluster = open_cluster(release=KAFKA_3_9, group_initial_rebalance_delay_ms="0")
    cluster.create_topic("t", 1, {})
    cluster.groups.ensure_topic()
    yield cluster
    cluster.close()


@pytest.fixture
def client(cluster: Cluster) -> Client:
    return client_of(cluster)


def written(cluster: Cluster, group: str = "g") -> list[tuple[int, int, int]]:
    """Of each record of the partition that keeps a group: its type, the version of its value (-1:
    none), the sequence of its batch."""
    partition = cluster.partition(CONSUMER_OFFSETS, cluster.groups.partition_for(group))
    found = []
    for header, data, pos in partition.log.reader.batches_from(0):
        for record in read_records(data, pos):
            version = -1 if record.value is None else record.value[1]
            assert record.key is not None
            found.append((record.key[1], version, header.base_sequence))
    return found


OFFSET, GROUP, NONE = 1, 2, -1


def test_offsets_are_v3_and_v1_with_a_retention_of_their_own(
    cluster: Cluster, client: Client
) -> None:
    for version in range(1, 10):
        stamped = commit_request(5)
        stamped.topics[0].partitions[0].commit_timestamp = NOW - 7
        answer = client.ask(stamped, version)
        assert answer.topics[0].partitions[0].error_code == 0
    for version in (2, 3, 4):
        assert commit(client, 5, version=version, retention_time_ms=60_000) is Error.NONE
    assert written(cluster) == [(OFFSET, 3, 0)] * 9 + [(OFFSET, 1, 0)] * 3


def test_groups_are_written_with_their_first_generation_and_without_a_sequence(
    cluster: Cluster, client: Client
) -> None:
    member = joined(client)
    assert written(cluster) == []
    assert client.ask(sync_request(member), 3).error_code == 0
    assert written(cluster) == [(GROUP, 3, NONE)]


def test_a_group_without_a_generation_leaves_no_tombstone(cluster: Cluster, client: Client) -> None:
    commit(client, 5)
    deleted = client.ask(DeleteGroupsRequest(groups_names=["g"]), 2)
    assert [result.error_code for result in deleted.results] == [0]
    assert written(cluster) == [(OFFSET, 3, 0), (OFFSET, NONE, NONE)]


def test_a_generation_of_a_missing_group_is_an_illegal_one(client: Client) -> None:
    refused = commit(client, 5, version=9, generation_id_or_member_epoch=1)
    assert refused is Error.ILLEGAL_GENERATION


# The metadata log


def metadata_records(cluster: Cluster) -> list[MetadataRecord]:
    log = cluster.metadata._log
    return [
        read_record(record.value or b"")[0]
        for header, data, pos in log.reader.batches_from(0)
        if not header.is_control
        for record in read_records(data, pos)
    ]


def test_a_new_cluster_says_that_it_did_not_come_from_zookeeper(cluster: Cluster) -> None:
    state = ZkMigrationStateRecord(zk_migration_state=0)
    records = metadata_records(cluster)
    level, said, end = records[1:4]
    assert isinstance(level, FeatureLevelRecord)
    assert (said, end) == (state, EndTransactionRecord())
    assert list(image_records(cluster.metadata.image))[1] == state
    later = open_cluster()
    assert state not in metadata_records(later)
    later.close()


def test_levels_that_change_nothing_are_written(cluster: Cluster, client: Client) -> None:
    update = UpdateFeaturesRequest.FeatureUpdate
    names = ("kraft.version", "nonsense")
    updates = [update(feature=name, max_version_level=0, upgrade_type=1) for name in names]
    client.ask(UpdateFeaturesRequest(timeout_ms=1000, feature_updates=updates), 1)
    assert metadata_records(cluster)[-2:] == [
        FeatureLevelRecord(name=name, feature_level=0) for name in names
    ]


def test_the_quorum_s_own_version_is_a_feature_like_others(
    cluster: Cluster, client: Client
) -> None:
    def ask(level: int, kind: int) -> int:
        update = UpdateFeaturesRequest.FeatureUpdate(
            feature="kraft.version", max_version_level=level, upgrade_type=kind
        )
        asked = UpdateFeaturesRequest(timeout_ms=1000, feature_updates=[update])
        return int(client.ask(asked, 1).results[0].error_code)

    assert ask(1, 1) == 0
    assert cluster.features.finalized["kraft.version"] == 1
    assert cluster.features.quorum_version == 0
    assert (ask(0, 1), ask(0, 2)) == (Error.INVALID_UPDATE_VERSION, 0)
    assert "kraft.version" not in cluster.features.finalized
